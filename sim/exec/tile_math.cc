#include "sim/exec/tile_math.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/dtype.h"

namespace tc::sim {
namespace {

typedef float F8 __attribute__((vector_size(32), aligned(4)));
typedef float F4 __attribute__((vector_size(16), aligned(4)));
typedef int I8 __attribute__((vector_size(32)));
typedef short S8 __attribute__((vector_size(16), aligned(2)));
typedef int8_t B8 __attribute__((vector_size(8), aligned(1)));
typedef uint8_t U8 __attribute__((vector_size(8), aligned(1)));

#if defined(__x86_64__)
#define TC_WIDE [[gnu::target("avx2,fma,f16c")]]
bool host_is_wide() {
  static const bool wide =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return wide;
}
TC_WIDE void widen_halves_wide(const uint8_t* from, uint32_t count, float* to) {
  for (uint32_t k = 0; k < count; k += 8)
    *reinterpret_cast<F8*>(to + k) = __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const S8*>(from + 2 * k));
}
TC_WIDE void widen_half_panel_wide(const uint8_t* from, float* to, size_t ld) {
  for (uint32_t g = 0; g < 8; ++g)
    *reinterpret_cast<F8*>(to + g * ld) =
        __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const S8*>(from + kPanelBytes * g));
}
TC_WIDE void narrow_halves_wide(const float* from, uint16_t* to) {
  *reinterpret_cast<S8*>(to) = __builtin_ia32_vcvtps2ph256(*reinterpret_cast<const F8*>(from), 0);
}
#else
#define TC_WIDE
bool host_is_wide() { return false; }
void widen_halves_wide(const uint8_t*, uint32_t, float*) {}
void widen_half_panel_wide(const uint8_t*, float*, size_t) {}
void narrow_halves_wide(const float*, uint16_t*) {}
#endif

// ---------------------------------------------------------------- D += A B

// R rows by 8 C columns, all sums in registers. This file is compiled with -ffp-contract=fast, so x * y + z is one fma.
template <int R, int C>
TC_WIDE inline __attribute__((always_inline)) void block_wide(float* d, size_t ldd, const float* a, size_t lda,
                                                              const float* b, size_t ldb, uint32_t k) {
  F8 sum[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c] = *reinterpret_cast<const F8*>(d + r * ldd + 8 * c);
  for (uint32_t x = 0; x < k; ++x) {
    F8 row[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) row[c] = *reinterpret_cast<const F8*>(b + x * ldb + 8 * c);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const float v = a[r * lda + x];
      const F8 all = {v, v, v, v, v, v, v, v};
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[r][c] = all * row[c] + sum[r][c];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) *reinterpret_cast<F8*>(d + r * ldd + 8 * c) = sum[r][c];
}

TC_WIDE void multiply_wide(float* d, size_t ldd, const float* a, size_t lda, const float* b, size_t ldb, Extents e) {
  uint32_t c = 0;
  for (; c + 16 <= e.n; c += 16)
    for (uint32_t r = 0; r < e.rows; r += 4) block_wide<4, 2>(d + r * ldd + c, ldd, a + r * lda, lda, b + c, ldb, e.k);
  for (; c < e.n; c += 8) {
    uint32_t r = 0;
    for (; r + 8 <= e.rows; r += 8) block_wide<8, 1>(d + r * ldd + c, ldd, a + r * lda, lda, b + c, ldb, e.k);
    for (; r < e.rows; r += 4) block_wide<4, 1>(d + r * ldd + c, ldd, a + r * lda, lda, b + c, ldb, e.k);
  }
}

void multiply_portable(float* d, size_t ldd, const float* a, size_t lda, const float* b, size_t ldb, Extents e) {
  for (uint32_t r = 0; r < e.rows; ++r)
    for (uint32_t x = 0; x < e.k; ++x)
      for (uint32_t c = 0; c < e.n; ++c) d[r * ldd + c] = std::fma(a[r * lda + x], b[x * ldb + c], d[r * ldd + c]);
}

// ---------------------------------------------------------------- elements

// IEEE-like: sign, exponent, mantissa. e4m3 has no infinity and one NaN a sign; e3m2, e2m3, e2m1 have neither.
struct SmallFormat {
  int exponent_bits, mantissa_bits, bias;
};
constexpr SmallFormat format_of(MmaType t) {
  switch (t) {
    case MmaType::e4m3: return {4, 3, 7};
    case MmaType::e5m2: return {5, 2, 15};
    case MmaType::e3m2: return {3, 2, 3};
    case MmaType::e2m3: return {2, 3, 1};
    case MmaType::e2m1: return {2, 1, 1};
    case MmaType::f16:
    case MmaType::bf16:
    case MmaType::tf32:
    case MmaType::f64:
    case MmaType::f32:
    case MmaType::s32:
    case MmaType::s8:
    case MmaType::u8:
    case MmaType::s4:
    case MmaType::u4:
    case MmaType::b1: break;
  }
  return {0, 0, 0};
}

float decode_small(MmaType t, uint32_t raw) {
  const SmallFormat f = format_of(t);
  const int exponent = static_cast<int>(raw >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = static_cast<int>(raw) & ((1 << f.mantissa_bits) - 1);
  const float sign = raw >> (f.exponent_bits + f.mantissa_bits) & 1 ? -1.0f : 1.0f;
  if (t == MmaType::e4m3 && (raw & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  if (t == MmaType::e5m2 && exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  const int significand = exponent ? mantissa + (1 << f.mantissa_bits) : mantissa;
  return sign * std::ldexp(static_cast<float>(significand), (exponent ? exponent : 1) - f.bias - f.mantissa_bits);
}

using ByteTable = std::array<float, 256>;
// e2m1 sits in bits 5:2 of its byte, e3m2 and e2m3 in bits 5:0 (MMA-20).
ByteTable byte_table(MmaType t) {
  ByteTable out{};
  for (uint32_t raw = 0; raw < 256; ++raw) {
    const uint32_t bits = t == MmaType::e2m1                         ? raw >> 2 & 0xF
                          : t == MmaType::e3m2 || t == MmaType::e2m3 ? raw & 0x3F
                                                                     : raw;
    out[raw] = decode_small(t, bits);
  }
  return out;
}
const ByteTable& table_of(MmaType t) {
  static const std::array<ByteTable, 5> tables = {byte_table(MmaType::e4m3), byte_table(MmaType::e5m2),
                                                  byte_table(MmaType::e3m2), byte_table(MmaType::e2m3),
                                                  byte_table(MmaType::e2m1)};
  return tables[static_cast<size_t>(t) - static_cast<size_t>(MmaType::e4m3)];
}

void widen_nibbles(MmaType t, const uint8_t* from, uint32_t count, float* to) {
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t raw = from[k / 2] >> (4 * (k & 1)) & 0xF;
    if (t == MmaType::e2m1) to[k] = table_of(t)[raw << 2];
    else to[k] = static_cast<float>(t == MmaType::s4 ? static_cast<int>(raw ^ 8) - 8 : static_cast<int>(raw));
  }
}

template <class Bytes>
void widen_bytes(const uint8_t* from, uint32_t count, float* to) {
  for (uint32_t k = 0; k < count; k += 8)
    *reinterpret_cast<F8*>(to + k) =
        __builtin_convertvector(__builtin_convertvector(*reinterpret_cast<const Bytes*>(from + k), I8), F8);
}

}  // namespace

float small_float(MmaType type, uint32_t raw) { return decode_small(type, raw); }
float scale_value(bool ue4m3, uint8_t raw) {
  if (ue4m3) return decode_small(MmaType::e4m3, raw & 0x7F);
  return raw == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, int{raw} - 127);
}

void multiply(float* d, size_t ldd, const float* a, size_t lda, const float* b, size_t ldb, Extents e) {
  host_is_wide() ? multiply_wide(d, ldd, a, lda, b, ldb, e) : multiply_portable(d, ldd, a, lda, b, ldb, e);
}

void widen(MmaType type, uint32_t bits, const uint8_t* from, uint32_t count, float* to) {
  if (bits == 4) return widen_nibbles(type, from, count, to);
  switch (type) {
    case MmaType::f16:
      if (host_is_wide()) return widen_halves_wide(from, count, to);
      for (uint32_t k = 0; k < count; ++k) {
        uint16_t h;
        std::memcpy(&h, from + 2 * k, 2);
        to[k] = runtime::half_to_float(h);
      }
      return;
    case MmaType::bf16:
      for (uint32_t k = 0; k < count; ++k) {
        uint16_t h;
        std::memcpy(&h, from + 2 * k, 2);
        to[k] = std::bit_cast<float>(uint32_t{h} << 16);
      }
      return;
    case MmaType::tf32:  // the low 13 bits do not count (WGMMA-17)
      for (uint32_t k = 0; k < count; ++k) {
        uint32_t f;
        std::memcpy(&f, from + 4 * k, 4);
        to[k] = std::bit_cast<float>(f & 0xFFFFE000u);
      }
      return;
    case MmaType::s8: return widen_bytes<B8>(from, count, to);
    case MmaType::u8: return widen_bytes<U8>(from, count, to);
    case MmaType::e4m3:
    case MmaType::e5m2:
    case MmaType::e3m2:
    case MmaType::e2m3:
    case MmaType::e2m1: {
      const ByteTable& table = table_of(type);
      for (uint32_t k = 0; k < count; ++k) to[k] = table[from[k]];
      return;
    }
    case MmaType::s4:
    case MmaType::u4:
    case MmaType::b1:
    case MmaType::f32:
    case MmaType::s32:
    case MmaType::f64: break;
  }
  assert(false && "elements of this type are not computed in f32");
}

void widen_panel(MmaType type, uint32_t bits, const uint8_t* from, float* to, size_t ld) {
  if (type == MmaType::f16 && host_is_wide()) return widen_half_panel_wide(from, to, ld);
  for (uint32_t g = 0; g < 8; ++g) widen(type, bits, from + kPanelBytes * g, 8 * kPanelBytes / bits, to + g * ld);
}

void narrow_halves(const float* from, uint16_t* to) {
  if (host_is_wide()) return narrow_halves_wide(from, to);
  for (int k = 0; k < 8; ++k) to[k] = runtime::float_to_half(from[k]);
}

void transpose8(const float* from, size_t ld_from, uint32_t columns, float* to, size_t ld_to) {
  for (uint32_t c = 0; c < columns; c += 4)
    for (uint32_t r = 0; r < 8; r += 4) {  // a block of 4 by 4
      const float* p = from + r * ld_from + c;
      const F4 a = *reinterpret_cast<const F4*>(p), b = *reinterpret_cast<const F4*>(p + ld_from),
               x = *reinterpret_cast<const F4*>(p + 2 * ld_from), y = *reinterpret_cast<const F4*>(p + 3 * ld_from);
      const F4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               xy_low = __builtin_shufflevector(x, y, 0, 4, 1, 5), xy_high = __builtin_shufflevector(x, y, 2, 6, 3, 7);
      float* q = to + c * ld_to + r;
      *reinterpret_cast<F4*>(q) = __builtin_shufflevector(ab_low, xy_low, 0, 1, 4, 5);
      *reinterpret_cast<F4*>(q + ld_to) = __builtin_shufflevector(ab_low, xy_low, 2, 3, 6, 7);
      *reinterpret_cast<F4*>(q + 2 * ld_to) = __builtin_shufflevector(ab_high, xy_high, 0, 1, 4, 5);
      *reinterpret_cast<F4*>(q + 3 * ld_to) = __builtin_shufflevector(ab_high, xy_high, 2, 3, 6, 7);
    }
}

// Lanes 4g ... 4g+3 of the two registers, interleaved, are row g.
void block_to_rows(const float* even, const float* odd, float* rows, size_t ld) {
  for (uint32_t g = 0; g < 8; ++g) {
    const F4 e = *reinterpret_cast<const F4*>(even + 4 * g), o = *reinterpret_cast<const F4*>(odd + 4 * g);
    *reinterpret_cast<F4*>(rows + g * ld) = __builtin_shufflevector(e, o, 0, 4, 1, 5);
    *reinterpret_cast<F4*>(rows + g * ld + 4) = __builtin_shufflevector(e, o, 2, 6, 3, 7);
  }
}
void rows_to_block(const float* rows, size_t ld, float* even, float* odd) {
  for (uint32_t g = 0; g < 8; ++g) {
    const F4 low = *reinterpret_cast<const F4*>(rows + g * ld), high = *reinterpret_cast<const F4*>(rows + g * ld + 4);
    *reinterpret_cast<F4*>(even + 4 * g) = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    *reinterpret_cast<F4*>(odd + 4 * g) = __builtin_shufflevector(low, high, 1, 3, 5, 7);
  }
}
void half_block_to_rows(const uint32_t* pairs, float* rows, size_t ld) {
  for (uint32_t g = 0; g < 8; ++g)
    widen(MmaType::f16, 16, reinterpret_cast<const uint8_t*>(pairs + 4 * g), 8, rows + g * ld);
}
void rows_to_half_block(const float* rows, size_t ld, uint32_t* pairs) {
  for (uint32_t g = 0; g < 8; ++g) {
    uint16_t halves[8];
    narrow_halves(rows + g * ld, halves);
    std::memcpy(pairs + 4 * g, halves, sizeof halves);
  }
}

}  // namespace tc::sim
