// Whole-tile arithmetic of wgmma m64nNk16: D += A B on float tiles. Products of 16-bit elements are exact in f32; sums
// are f32, one fused multiply-add an element, k ascending. (The order inside the tensor cores is not documented;
// results agree with a device up to that.) Cost: about 131,000 multiply-adds for n = 128, 5 to 8 microseconds with
// AVX2. Two versions of each loop: for AVX2 + FMA + F16C, chosen at run time, and a portable one; both give the same
// bits, since the portable one calls fma as well.
#pragma once
#include <cstdint>

#include "specs/wgmma.h"

namespace tc::sim {

inline constexpr uint32_t kWgmmaK = 16;

// d[16][n] += a[16][16] b[16][n], all row-major without padding; n a multiple of 8.
void multiply_rows(float* d, const float* a, const float* b, uint32_t n);
// Eight 16-bit elements to floats.
void widen(const uint16_t* from, float* to, MmaOperand type);
// The accumulator registers of one warp to rows of D (16 x n) and back. WGMMA-08: register i of a block of 8 columns.
void fragment_to_rows(const float* const* registers, float* rows, uint32_t n);
void rows_to_fragment(const float* rows, float* const* registers, uint32_t n);

}  // namespace tc::sim
