// Shared-memory swizzles of TMA and the matrix descriptors: an XOR on the absolute shared address (SMEM-01 ...
// SMEM-04).
//   32B: bit 4 ^= bit 7     64B: bits 5:4 ^= bits 8:7     128B: bits 6:4 ^= bits 9:7
//   128B: 0x0090 -> 0x0080 (line 1, chunk 1 becomes chunk 0)
// With a swizzle, rows of a box are `span_bytes` apart even where the box is narrower (SMEM-09).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tc {

enum class SwizzleMode : uint8_t { none, b32, b64, b128 };

struct SwizzleRow {
  SwizzleMode mode;
  std::string_view name;
  uint32_t mask;          // address bits that change, after shifting the line bits down by 3
  uint32_t span_bytes;    // one row of the pattern; 0: no pattern
  uint32_t repeat_bytes;  // the pattern repeats
  uint8_t wgmma_code;     // bits 62-63 of the wgmma descriptor
  std::string_view source, witness;
};
inline constexpr std::array kSwizzles = {
    SwizzleRow{SwizzleMode::none, "none", 0x00, 0, 0, 0, "SMEM-01", "H200: load and wgmma probes"},
    SwizzleRow{SwizzleMode::b32, "32B", 0x10, 32, 256, 3, "SMEM-02", "H200: load and wgmma probes"},
    SwizzleRow{SwizzleMode::b64, "64B", 0x30, 64, 512, 2, "SMEM-03", "H200: load and wgmma probes"},
    SwizzleRow{SwizzleMode::b128, "128B", 0x70, 128, 1024, 1, "SMEM-04", "H200: load and wgmma probes"},
};
constexpr const SwizzleRow& row(SwizzleMode m) { return kSwizzles[static_cast<size_t>(m)]; }
constexpr uint32_t swizzled(SwizzleMode m, uint32_t address) { return address ^ ((address >> 3) & row(m).mask); }

static_assert(swizzled(SwizzleMode::b128, 0x0090) == 0x0080 && swizzled(SwizzleMode::b128, 0x03F0) == 0x0380);
static_assert(swizzled(SwizzleMode::b32, 0x0080) == 0x0090 && swizzled(SwizzleMode::b64, 0x01B0) == 0x0180);

}  // namespace tc
