// Arithmetic of the tensor cores on float tiles, for mma.sync, wmma and wgmma alike: elements to floats, D += A B,
// accumulator registers to rows and back. Rows are row-major.
// Products of elements of at most 16 bits and of tf32 are exact in f32; sums are f32, one fused multiply-add an
// element, k ascending. (The order inside the tensor cores is not documented; results agree with a device up to that.)
// Integer products go the same way: sums of up to 64 products of two bytes stay below 2^24, so they are exact.
// Cost: 131,000 multiply-adds (m64n128k16) take 5 to 8 microseconds with AVX2. Two versions of each loop: for AVX2, FMA
// and F16C, chosen at run time, and a portable one; both give the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "specs/mma.h"

namespace tc::sim {

inline constexpr uint32_t kPanelBytes = 16;  // of one row of a fragment register (specs/mma.h)

// `count` elements of `bits` (a type's own, or 4 for packed e2m1) from memory to floats; count * bits a multiple of
// 128.
void widen(MmaType type, uint32_t bits, const uint8_t* from, uint32_t count, float* to);
// One fragment register: eight rows of 16 bytes each, to rows `ld` floats apart.
void widen_panel(MmaType type, uint32_t bits, const uint8_t* from, float* to, size_t ld);
// Eight floats to halves, rounded to nearest even.
void narrow_halves(const float* from, uint16_t* to);
// d[rows][n] += a[rows][k] b[k][n]; rows a multiple of 4, n of 8. ldd: floats between rows of d, likewise.
struct Extents {
  uint32_t rows, n, k;
};
void multiply(float* d, size_t ldd, const float* a, size_t lda, const float* b, size_t ldb, Extents e);
// to[c][r] = from[r][c] for 8 rows of `columns` floats (a multiple of 4).
void transpose8(const float* from, size_t ld_from, uint32_t columns, float* to, size_t ld_to);

// One 8x8 block of accumulators: registers of its even and its odd columns, to rows and back.
void block_to_rows(const float* even, const float* odd, float* rows, size_t ld);
void rows_to_block(const float* rows, size_t ld, float* even, float* odd);
// The same of f16 accumulators, both columns in one register.
void half_block_to_rows(const uint32_t* pairs, float* rows, size_t ld);
void rows_to_half_block(const float* rows, size_t ld, uint32_t* pairs);

// The value of one element of an 8-bit or narrower float type; `raw` in the low bits.
float small_float(MmaType type, uint32_t raw);
// The value of a scale: ue8m0 2^(x - 127), ue4m3 as e4m3 without a sign.
float scale_value(bool ue4m3, uint8_t raw);

}  // namespace tc::sim
