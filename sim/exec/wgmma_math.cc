#include "sim/exec/wgmma_math.h"

#include <cmath>
#include <cstring>

#include "runtime/dtype.h"

namespace tc::sim {
namespace {

typedef float F8 __attribute__((vector_size(32), aligned(4)));
typedef float F4 __attribute__((vector_size(16), aligned(4)));
typedef int I4 __attribute__((vector_size(16)));
typedef uint16_t H8 __attribute__((vector_size(16), aligned(2)));
typedef short S8 __attribute__((vector_size(16), aligned(2)));

// Four rows by 16 columns at a time: eight accumulators, two loads of B a step.
[[gnu::target("avx2,fma")]] void multiply_rows_avx2(float* d, const float* a, const float* b, uint32_t n) {
  for (uint32_t r = 0; r < 16; r += 4) {
    uint32_t c = 0;
    for (; c + 16 <= n; c += 16) {
      F8 acc[4][2];
      for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t h = 0; h < 2; ++h) acc[k][h] = *reinterpret_cast<const F8*>(d + (r + k) * n + c + 8 * h);
      for (uint32_t k = 0; k < kWgmmaK; ++k) {
        const F8 b0 = *reinterpret_cast<const F8*>(b + k * n + c), b1 = *reinterpret_cast<const F8*>(b + k * n + c + 8);
        for (uint32_t q = 0; q < 4; ++q) {
          const float x = a[(r + q) * kWgmmaK + k];
          const F8 v = {x, x, x, x, x, x, x, x};
          acc[q][0] = v * b0 + acc[q][0];  // contracted to fma: this file is compiled with -ffp-contract=fast
          acc[q][1] = v * b1 + acc[q][1];
        }
      }
      for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t h = 0; h < 2; ++h) *reinterpret_cast<F8*>(d + (r + k) * n + c + 8 * h) = acc[k][h];
    }
    for (; c < n; c += 8)
      for (uint32_t q = 0; q < 4; ++q) {
        F8 acc = *reinterpret_cast<const F8*>(d + (r + q) * n + c);
        for (uint32_t k = 0; k < kWgmmaK; ++k) {
          const float x = a[(r + q) * kWgmmaK + k];
          acc = F8{x, x, x, x, x, x, x, x} * *reinterpret_cast<const F8*>(b + k * n + c) + acc;
        }
        *reinterpret_cast<F8*>(d + (r + q) * n + c) = acc;
      }
  }
}

void multiply_rows_portable(float* d, const float* a, const float* b, uint32_t n) {
  for (uint32_t r = 0; r < 16; ++r)
    for (uint32_t k = 0; k < kWgmmaK; ++k)
      for (uint32_t c = 0; c < n; ++c) d[r * n + c] = std::fma(a[r * kWgmmaK + k], b[k * n + c], d[r * n + c]);
}

[[gnu::target("avx2,fma,f16c")]] void widen_halves_f16c(const uint16_t* from, float* to) {
  *reinterpret_cast<F8*>(to) = __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const S8*>(from));
}

bool host_is_wide() {
  static const bool wide =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return wide;
}

}  // namespace

void multiply_rows(float* d, const float* a, const float* b, uint32_t n) {
  host_is_wide() ? multiply_rows_avx2(d, a, b, n) : multiply_rows_portable(d, a, b, n);
}

void widen(const uint16_t* from, float* to, MmaOperand type) {
  if (type == MmaOperand::bf16) {
    for (int k = 0; k < 8; ++k) to[k] = runtime::bf16_to_float(from[k]);
  } else if (host_is_wide()) {
    widen_halves_f16c(from, to);
  } else {
    for (int k = 0; k < 8; ++k) to[k] = runtime::half_to_float(from[k]);
  }
}

// Lanes 4g ... 4g+3 of registers 4j + 2h and 4j + 2h + 1, interleaved, are columns 8j ... 8j+7 of row 8h + g.
void fragment_to_rows(const float* const* registers, float* rows, uint32_t n) {
  for (uint32_t j = 0; j < n / 8; ++j)
    for (uint32_t h = 0; h < 2; ++h)
      for (uint32_t g = 0; g < 8; ++g) {
        const F4 even = *reinterpret_cast<const F4*>(registers[4 * j + 2 * h] + 4 * g);
        const F4 odd = *reinterpret_cast<const F4*>(registers[4 * j + 2 * h + 1] + 4 * g);
        float* to = rows + (8 * h + g) * n + 8 * j;
        *reinterpret_cast<F4*>(to) = __builtin_shuffle(even, odd, I4{0, 4, 1, 5});
        *reinterpret_cast<F4*>(to + 4) = __builtin_shuffle(even, odd, I4{2, 6, 3, 7});
      }
}

void rows_to_fragment(const float* rows, float* const* registers, uint32_t n) {
  for (uint32_t j = 0; j < n / 8; ++j)
    for (uint32_t h = 0; h < 2; ++h)
      for (uint32_t g = 0; g < 8; ++g) {
        const float* from = rows + (8 * h + g) * n + 8 * j;
        const F4 low = *reinterpret_cast<const F4*>(from), high = *reinterpret_cast<const F4*>(from + 4);
        *reinterpret_cast<F4*>(registers[4 * j + 2 * h] + 4 * g) = __builtin_shuffle(low, high, I4{0, 2, 4, 6});
        *reinterpret_cast<F4*>(registers[4 * j + 2 * h + 1] + 4 * g) = __builtin_shuffle(low, high, I4{1, 3, 5, 7});
      }
}

}  // namespace tc::sim
