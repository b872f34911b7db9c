// wgmma of sm_90a: shapes, the 64-bit matrix descriptor, canonical operand layouts, the accumulator fragment.
// Sources: PTX ISA 9.7.15; rules WGMMA-01 ... 09, SMEM-20 ... 28. Witness: every layout row and the fragment map ran on
// an H200 with 0 mismatches of 4096 elements (wgmma probe, results_sm90).
//
//   63 62 61        49 48  46 45        32 31 30 29        16 15 14 13         0
//   [swz] [   0      ]bo[ 0 ] [enc(SBO)  ]  [ 0 ] [enc(LBO)  ]  [ 0 ] [enc(addr)]     enc(x) = (x & 0x3FFFF) >> 4
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "specs/mma.h"
#include "specs/swizzle.h"

namespace tc {

inline constexpr uint32_t kWgmmaM = 64, kWarpgroupWarps = 4;

// Kinds of operation. N runs in steps of 8 to 256; integer ones above 32 in steps of 16. Sparse A doubles K.
struct WgmmaKind {
  MmaGroup group;
  uint8_t accumulators;  // of kAccF16 ...
  uint16_t k;
  bool integer;       // no scales, .satfinite allowed (not b1)
  bool transposable;  // MN-major operands
  uint8_t selectors;  // sparse: 0 ... selectors-1; 0: no sparse form
  std::string_view rule, witness;
};
inline constexpr std::array kWgmmaKinds = {
    WgmmaKind{kF16Group, kAccF16 | kAccF32, 16, false, true, 2, "WGMMA-03", "ptxas 13.0; H200"},
    WgmmaKind{kBf16Group, kAccF32, 16, false, true, 2, "WGMMA-03", "ptxas 13.0; H200"},
    WgmmaKind{kTf32Group, kAccF32, 8, false, false, 2, "WGMMA-03", "ptxas 13.0"},
    WgmmaKind{kFp8Group, kAccF16 | kAccF32, 32, false, false, 1, "WGMMA-03", "ptxas 13.0"},
    WgmmaKind{kInt8Group, kAccS32, 32, true, false, 1, "WGMMA-03", "ptxas 13.0"},
    WgmmaKind{kB1Group, kAccS32, 256, true, false, 0, "WGMMA-03", "ptxas 13.0"},
};
inline constexpr uint32_t kWgmmaMaxN = 256;
// A row of dense A, kept or not, is 32 bytes of every type; so is a row of dense B, of sparse B 64.
inline constexpr uint32_t kWgmmaRowBytes = 32;
static_assert(std::ranges::all_of(kWgmmaKinds, [](const WgmmaKind& k) {
  for (const MmaTypeRow& t : kMmaTypes)
    if ((k.group.types & bit(t.type)) && k.k * t.bits != 8 * kWgmmaRowBytes) return false;
  return true;
}));
// WGMMA-02.
constexpr bool wgmma_has_n(const WgmmaKind& kind, uint32_t n) {
  if (n == 0 || n > kWgmmaMaxN || n % 8) return false;
  return !kind.integer || n <= 16 || n == 24 || n % 16 == 0;
}
static_assert(wgmma_has_n(kWgmmaKinds[4], 24) && !wgmma_has_n(kWgmmaKinds[4], 40) && wgmma_has_n(kWgmmaKinds[0], 40));

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

// Byte address, before the XOR, of a 16-byte chunk of an operand, relative to start. SMEM-20 ... 23.
// K-major: chunk number `chunk` along k of row mn, T = 16 / element bytes elements.
constexpr uint32_t wgmma_chunk_k_major(const WgmmaDescriptor& d, uint32_t mn, uint32_t chunk) {
  const uint32_t pitch = d.swizzle == SwizzleMode::none ? 16 : row(d.swizzle).span_bytes;
  const uint32_t step = d.swizzle == SwizzleMode::none ? d.leading_bytes : 16;
  return (mn % 8) * pitch + (mn / 8) * d.stride_bytes + chunk * step;
}
// MN-major (16-bit elements): the chunk of elements mn ... mn + 7 (mn % 8 == 0) at k.
constexpr uint32_t wgmma_chunk_mn_major(const WgmmaDescriptor& d, uint32_t mn, uint32_t k) {
  if (d.swizzle == SwizzleMode::none) return (mn / 8) * d.stride_bytes + (k % 8) * 16 + (k / 8) * d.leading_bytes;
  const uint32_t width = row(d.swizzle).span_bytes / 16;  // chunks in a row of the pattern
  return ((mn / 8) % width) * 16 + (mn / (8 * width)) * d.leading_bytes + (k % 8) * 16 * width +
         (k / 8) * d.stride_bytes;
}
// The absolute address after the XOR. A base offset says that the pattern starts that many 128-byte lines behind a
// boundary of its repeat (SMEM-26), so the line bits count from there.
constexpr uint32_t wgmma_address(const WgmmaDescriptor& d, uint32_t chunk) {
  const uint32_t address = d.start + chunk;
  return address ^ (((address - 128 * d.base_offset) >> 3) & row(d.swizzle).mask);
}
// Row 9, chunk 1 of a 128B-swizzled K-major tile: line 1 of the second group of eight.
static_assert(wgmma_chunk_k_major({0, 16, 1024, 0, SwizzleMode::b128}, 9, 1) == 1024 + 128 + 16);
static_assert(wgmma_address({0x480, 16, 1024, 1, SwizzleMode::b128}, 0) == 0x480);

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
