// wgmma of sm_90a: shapes, the 64-bit matrix descriptor, canonical operand layouts, the accumulator fragment.
// Sources: PTX ISA 9.7.15; rules WGMMA-01 ... 09, SMEM-20 ... 28. Witness: every layout row and the fragment map ran on
// an H200 with 0 mismatches of 4096 elements (wgmma probe, results_sm90).
//
//   63 62 61        49 48  46 45        32 31 30 29        16 15 14 13         0
//   [swz] [   0      ]bo[ 0 ] [enc(SBO)  ]  [ 0 ] [enc(LBO)  ]  [ 0 ] [enc(addr)]     enc(x) = (x & 0x3FFFF) >> 4
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "specs/swizzle.h"

namespace tc {

inline constexpr uint32_t kWgmmaM = 64, kWarpgroupWarps = 4;

enum class MmaOperand : uint8_t { f16, bf16 };
struct WgmmaKind {
  std::string_view d, ab;
  uint32_t k;
  uint32_t n_step, n_max;
  bool transposable;
  std::string_view source, witness;
};
// Kinds that the simulator executes. WGMMA-01, -02, -03, -05.
inline constexpr std::array kWgmmaKinds = {
    WgmmaKind{"f32", "f16", 16, 8, 256, true, "9.7.15.5", "ptxas 13.0; H200"},
    WgmmaKind{"f16", "f16", 16, 8, 256, true, "9.7.15.5", "ptxas 13.0"},
    WgmmaKind{"f32", "bf16", 16, 8, 256, true, "9.7.15.5", "ptxas 13.0"},
};

struct WgmmaDescriptor {
  uint32_t start = 0, leading_bytes = 0, stride_bytes = 0;
  uint32_t base_offset = 0;  // in units of 128 bytes
  SwizzleMode swizzle = SwizzleMode::none;
};
constexpr WgmmaDescriptor decode_wgmma_descriptor(uint64_t d) {
  auto field = [&](int at) { return static_cast<uint32_t>((d >> at) & 0x3FFF) << 4; };
  WgmmaDescriptor out{field(0), field(16), field(32), static_cast<uint32_t>((d >> 49) & 7), SwizzleMode::none};
  for (const SwizzleRow& r : kSwizzles)
    if (r.wgmma_code == d >> 62) out.swizzle = r.mode;
  return out;
}
// The descriptor of a 128B-swizzled K-major tile at 0x400: rows of 128 bytes, 8 rows = 1024 bytes.
static_assert(decode_wgmma_descriptor(0x4000004000010040).start == 0x400 &&
              decode_wgmma_descriptor(0x4000004000010040).stride_bytes == 1024 &&
              decode_wgmma_descriptor(0x4000004000010040).swizzle == SwizzleMode::b128);

// Byte address, before the XOR, of the 16-byte chunk that holds element (mn, k) of a 16-bit operand, relative to start.
// K-major: chunk = 8 elements along k (k % 8 == 0). MN-major: 8 elements along mn (mn % 8 == 0). SMEM-20 ... 23.
constexpr uint32_t wgmma_chunk_k_major(const WgmmaDescriptor& d, uint32_t mn, uint32_t k) {
  const uint32_t pitch = d.swizzle == SwizzleMode::none ? 16 : row(d.swizzle).span_bytes;
  const uint32_t step = d.swizzle == SwizzleMode::none ? d.leading_bytes : 16;
  return (mn % 8) * pitch + (mn / 8) * d.stride_bytes + (k / 8) * step;
}
constexpr uint32_t wgmma_chunk_mn_major(const WgmmaDescriptor& d, uint32_t mn, uint32_t k) {
  if (d.swizzle == SwizzleMode::none) return (mn / 8) * d.stride_bytes + (k % 8) * 16 + (k / 8) * d.leading_bytes;
  const uint32_t width = row(d.swizzle).span_bytes / 16;  // chunks in a row of the pattern
  return ((mn / 8) % width) * 16 + (mn / (8 * width)) * d.leading_bytes + (k % 8) * 16 * width +
         (k / 8) * d.stride_bytes;
}
// Row 9, k = 8 of a 128B-swizzled K-major tile: line 1 of the second group of eight, chunk 1.
static_assert(wgmma_chunk_k_major({0, 16, 1024, 0, SwizzleMode::b128}, 9, 8) == 1024 + 128 + 16);

// WGMMA-08: accumulator i (0 ... N/2-1, 32-bit) of lane l of warp w holds this row and column of D.
struct FragmentPlace {
  uint32_t row, col;
};
constexpr FragmentPlace wgmma_accumulator(uint32_t warp, uint32_t lane, uint32_t i) {
  return {16 * warp + lane / 4 + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * (lane & 3) + (i & 1)};
}
static_assert(wgmma_accumulator(1, 5, 6).row == 25 && wgmma_accumulator(1, 5, 6).col == 10);

// MMA-30: register r (0..3), half j of the A fragment of a 16x16 tile of 16-bit elements; also WGMMA-09 per warp.
constexpr FragmentPlace mma_a_fragment(uint32_t lane, uint32_t r, uint32_t j) {
  return {lane / 4 + 8 * (r & 1), 2 * (lane & 3) + j + 8 * (r >> 1)};
}

}  // namespace tc
