// Floats as a GPU computes them, without branches or library calls, so that loops over lanes become vector code.
//   NaN results of f32, f16 and bf16 are canonical: 0x7FFFFFFF, 0x7FFF (H200: payloads are not kept); f64 keeps the
//   payload of its last NaN operand, quieted rounding other than to nearest: the exact result in double, rounded to odd
//   (its last bit says "inexact"), then cut to the target; right for every mode because 53 bits hold the target's bits
//   and two more
//     1 + 2^-30 toward +inf as f32: odd(1, 2^-30) = 1 + 2^-30 exactly, narrow<rp> = 1 + 2^-23
// Formats are (exponent bits, mantissa bits): f16 (5, 10), bf16 (8, 7), tf32 (8, 10), e4m3 (4, 3), e5m2 (5, 2), e2m1, e2m3, e3m2.
// Source: PTX ISA 9.7.3, 9.7.9.21; what it leaves open is as recorded from an H200 (testdata/gpu/probe).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tc::sim {

enum class Rounding : uint8_t { rn, rz, rm, rp, rna };  // rna: to nearest, ties away from zero

inline constexpr uint32_t kNan32 = 0x7FFFFFFF, kNan16 = 0x7FFF;
inline constexpr uint64_t kNan64 = 0xFFF8'0000'0000'0000, kQuiet64 = 0x0008'0000'0000'0000;

inline uint32_t bits_of(float v) { return std::bit_cast<uint32_t>(v); }
inline uint64_t bits_of(double v) { return std::bit_cast<uint64_t>(v); }
inline float as_float(uint32_t b) { return std::bit_cast<float>(b); }
inline double as_double(uint64_t b) { return std::bit_cast<double>(b); }

inline float canonical(float v) { return as_float(v == v ? bits_of(v) : kNan32); }
inline bool is_subnormal(float v) { return (bits_of(v) & 0x7F800000) == 0; }  // zero too
inline float flush(float v) { return as_float(is_subnormal(v) ? bits_of(v) & 0x80000000 : bits_of(v)); }
inline float flush_half(float v) { return std::fabs(v) < 0x1p-14f ? std::copysign(0.0f, v) : v; }
// [0, 1], NaN to 0, no -0.
template <class T>
T saturate(T v) {
  const T low = v > 0 ? v : T{0};
  return low < 1 ? low : T{1};
}
// The operands' NaN that an f64 operation returns (the last one's, as an H200 does), or the result.
inline double quieted(double v) { return as_double(bits_of(v) | kQuiet64); }
inline double with_nan(double r, double a, double b) {
  return b != b ? quieted(b) : a != a ? quieted(a) : r != r ? as_double(kNan64) : r;
}

// ---- exact results in double, rounded to odd
// s + e, where e is what rounding lost: an even last bit of s moves one step toward e.
inline double odd(double s, double e) {
  const uint64_t b = bits_of(s);
  const bool away = (e > 0) == (s > 0);
  const bool moves = (e > 0 || e < 0) && (b & 1) == 0;
  return as_double(moves ? (away ? b + 1 : b - 1) : b);
}
inline double odd_sum(double a, double b) {
  const double s = a + b, part = s - a, e = (a - (s - part)) + (b - part);
  return odd(s, e);
}
inline double odd_quotient(double a, double b) {
  const double q = a / b, rest = std::fma(-q, b, a);
  return odd(q, b < 0 ? -rest : rest);
}
inline double odd_root(double a) {
  const double q = std::sqrt(a);
  return odd(q, std::fma(-q, q, a));
}
// A zero sum of operands that are not both +0 is -0 toward minus infinity.
template <Rounding R>
double zero_signed(double s, double a, double b) {
  if constexpr (R != Rounding::rm) return s;
  else return s == 0 && (std::signbit(a) || std::signbit(b)) ? -0.0 : s;
}

template <Rounding R>
float narrow(double d) {
  const auto r = static_cast<float>(d);
  if constexpr (R == Rounding::rn) return r;
  const double back = r;
  const uint32_t b = bits_of(r);
  const bool negative = b >> 31;
  if constexpr (R == Rounding::rz) return as_float(std::fabs(back) > std::fabs(d) ? b - 1 : b);
  if constexpr (R == Rounding::rm) return as_float(back > d ? (negative ? b + 1 : b - 1) : b);
  return as_float(back < d ? (negative ? b - 1 : b + 1) : b);
}

// ---- small formats
struct Format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;  // e4m3 has none: its largest pattern is the NaN, 448 the largest number
  bool has_nan = true;  // the 4- and 6-bit formats have neither; a NaN becomes their largest number
  constexpr int least_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  constexpr uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  constexpr uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
  constexpr uint32_t nan() const { return sign() - 1; }
  constexpr uint32_t largest() const { return has_infinity ? infinity() - 1 : has_nan ? nan() - 1 : nan(); }
};
inline constexpr Format kF16{5, 10, true}, kBf16{8, 7, true}, kTf32{8, 10, true}, kE4m3{4, 3, false}, kE5m2{5, 2, true},
    kE2m1{2, 1, false, false}, kE2m3{2, 3, false, false}, kE3m2{3, 2, false, false};

// A double (rounded to odd where it stands for an exact value) as the bits of a format. Satfinite: the largest number
// instead of infinity, also for an infinite operand.
template <Format F, Rounding R, bool Satfinite = false>
uint32_t pack(double v) {
  const uint64_t b = bits_of(v);
  const bool negative = b >> 63;
  const auto raw = static_cast<int32_t>(b >> 52 & 0x7FF);
  const uint64_t fraction = b & 0xF'FFFF'FFFF'FFFF;
  const uint64_t mantissa = raw ? fraction | uint64_t{1} << 52 : fraction;
  const int32_t exponent = (raw ? raw : 1) - 1023, least = F.least_exponent();
  const int32_t below = exponent < least ? least - exponent : 0;
  const int32_t base = 52 - F.mantissa_bits;
  const int32_t shift = base + below > 60 ? 60 : base + below;
  uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
  if constexpr (R == Rounding::rn) kept += rest > half || (rest == half && (kept & 1));
  if constexpr (R == Rounding::rna) kept += rest >= half;
  if constexpr (R == Rounding::rm) kept += negative && rest != 0;
  if constexpr (R == Rounding::rp) kept += !negative && rest != 0;
  const auto scaled = static_cast<uint64_t>(exponent < least ? 0 : exponent - least);
  const uint64_t magnitude = (scaled << F.mantissa_bits) + kept;
  const bool to_infinity =
      R == Rounding::rn || R == Rounding::rna || (R == Rounding::rm && negative) || (R == Rounding::rp && !negative);
  const uint32_t past = Satfinite ? F.largest() : F.has_infinity ? (to_infinity ? F.infinity() : F.largest()) : F.nan();
  const uint32_t infinite = Satfinite ? F.largest() : F.has_infinity ? F.infinity() : F.nan();
  uint32_t out = magnitude > F.largest() ? past : static_cast<uint32_t>(magnitude);
  if (raw == 0x7FF) out = infinite;
  return (raw == 0x7FF && fraction) ? F.nan() : out | (negative ? F.sign() : 0);
}

// The value of a pattern, exactly; NaN stays NaN.
template <Format F>
float unpack(uint32_t bits) {
  constexpr int kShift = 23 - F.mantissa_bits;
  const uint32_t magnitude = bits & (F.sign() - 1), sign = bits & F.sign() ? 0x80000000u : 0;
  // Subnormals: the mantissa behind the least exponent, minus that; no host arithmetic on subnormals, which is slow.
  constexpr uint32_t kLeast = static_cast<uint32_t>(127 + F.least_exponent()) << 23;
  const uint32_t shifted = magnitude << kShift, small = bits_of(as_float(kLeast + shifted) - as_float(kLeast));
  const uint32_t scaled = magnitude < (1u << F.mantissa_bits) ? small : shifted + kLeast - (1u << 23);
  const bool special = F.has_infinity ? magnitude >= F.infinity() : F.has_nan && magnitude == F.nan();
  const uint32_t out = special ? 0x7F800000 | (F.has_infinity ? shifted : F.nan() << kShift) : scaled;
  return as_float(out | sign);
}

// ---- f16 and bf16 to and from f32, the frequent ones
inline float half_value(uint32_t h) { return unpack<kF16>(h & 0xFFFF); }
inline float bf16_value(uint32_t h) { return as_float(h << 16); }
inline uint32_t half_bits(float v) {
  const uint32_t b = bits_of(v), sign = b >> 16 & 0x8000, magnitude = b & 0x7FFFFFFF;
  // Subnormal halves: adding 1/2 leaves the value in units of 2^-24 in the low bits, rounded.
  const uint32_t small = bits_of(as_float(magnitude) + 0.5f) - 0x3F000000;
  const uint32_t normal = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  uint32_t out = magnitude < 0x38800000 ? small : normal;
  out = magnitude >= 0x477FF000 ? 0x7C00 : out;  // 65520 and more
  return magnitude > 0x7F800000 ? kNan16 : out | sign;
}
inline uint32_t bf16_bits(float v) {
  const uint32_t b = bits_of(v), out = (b + 0x7FFF + (b >> 16 & 1)) >> 16;
  return v == v ? out : kNan16;
}
// a * b + c rounded to odd, where the product is exact in f32 and nothing overflows; right for f16 and bf16, as 24 bits
// hold theirs and two more. In integers: the last bit of an inexact sum moves one step toward what was lost.
inline float half_fma(float a, float b, float c) {
  const float p = a * b, s = p + c, part = s - p, e = (p - (s - part)) + (c - part);
  const uint32_t bits = bits_of(s), lost = bits_of(e), magnitude = lost & 0x7FFFFFFF;
  const uint32_t inexact = magnitude - 1 < 0x7F7FFFFF ? 1 : 0;  // neither 0 nor NaN
  const uint32_t step = inexact & ~bits, toward_zero = (lost ^ bits) >> 31;
  return as_float(bits + step - 2 * (step & toward_zero));
}

}  // namespace tc::sim
