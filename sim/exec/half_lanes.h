// Arithmetic of f16, bf16 and their pairs on a whole warp: all operands become floats, the operation runs over plain
// arrays, the results are rounded once.
//   load_halves   32 registers → 64 floats, in an order of its own that store_halves knows
//   store_halves  64 floats → 32 registers, to nearest even; NaN is 0x7FFF; a single value leaves 0 in the upper half
//   f16x2 0x3C00'4000 * 0x4200'3800: 1.0 * 3.0 and 2.0 * 0.5 as f32, 0x4200'3C00
// Operations: function objects over Half or Bfloat, of which each_half takes the float inside. Functions of one f16 or
// bf16 that are dear (ex2, tanh) are looked up among their 65,536 values.
#pragma once
#include <array>
#include <memory>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "sim/exec/lanes.h"

namespace tc::sim {

template <class T>
inline constexpr bool kIsBf16 = std::is_same_v<T, Bfloat> || std::is_same_v<T, Bfloat2>;
template <class T>
inline constexpr bool kIsPair = std::is_same_v<T, Half2> || std::is_same_v<T, Bfloat2>;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Half2> || kIsBf16<T>;

using Floats64 = std::array<float, 64>;

template <class T>
void load_halves(const uint32_t* a, Floats64& out) {
  if constexpr (kIsBf16<T>) {
    for (uint32_t l = 0; l < 32; ++l) out[l] = bf16_value(a[l]);
    for (uint32_t l = 0; l < 32; ++l) out[32 + l] = as_float(a[l] & 0xFFFF0000);
  } else {
#ifdef __F16C__
    for (uint32_t k = 0; k < 64; k += 8)
      _mm256_store_ps(&out[k], _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(a + k / 2))));
#else
    for (uint32_t l = 0; l < 32; ++l) out[l] = half_value(a[l]);
    for (uint32_t l = 0; l < 32; ++l) out[32 + l] = half_value(a[l] >> 16);
#endif
  }
}

template <class T>
void store_halves(Floats64& v, uint32_t mask, uint32_t* d) {
  alignas(64) std::array<uint32_t, 32> bits;
  if constexpr (kIsBf16<T>) {
    for (uint32_t l = 0; l < 32; ++l) bits[l] = bf16_bits(v[l]) | bf16_bits(v[32 + l]) << 16;
  } else {
#ifdef __F16C__
    for (float& f : v) f = canonical(f);
    for (uint32_t k = 0; k < 64; k += 8)
      _mm_store_si128(reinterpret_cast<__m128i*>(&bits[k / 2]),
                      _mm256_cvtps_ph(_mm256_load_ps(&v[k]), _MM_FROUND_TO_NEAREST_INT));
#else
    for (uint32_t l = 0; l < 32; ++l) bits[l] = half_bits(v[l]) | half_bits(v[32 + l]) << 16;
#endif
  }
  constexpr uint32_t kUsed = kIsPair<T> ? ~0u : 0xFFFF;
  for (uint32_t l = 0; l < 32; ++l) d[l] = (mask >> l & 1) ? bits[l] & kUsed : d[l];
}

// The result of F in each half of the sources; a register is a source and the destination without harm.
template <class T, class F, size_t Sources>
Step halves(Warp& w, const Insn& i) {
  using One = std::conditional_t<kIsBf16<T>, Bfloat, Half>;
  alignas(64) std::array<Floats64, Sources> in;
  alignas(64) Floats64 out;
  for (size_t s = 0; s < Sources; ++s) load_halves<T>(w.reg<uint32_t>(i.src[s]), in[s]);
  for (uint32_t k = 0; k < 64; ++k) {
    if constexpr (Sources == 1) out[k] = F{}(One{in[0][k]}).v;
    if constexpr (Sources == 2) out[k] = F{}(One{in[0][k]}, One{in[1][k]}).v;
    if constexpr (Sources == 3) out[k] = F{}(One{in[0][k]}, One{in[1][k]}, One{in[2][k]}).v;
  }
  store_halves<T>(out, w.mask, w.reg<uint32_t>(i.dst));
  return Step::next;
}

// F by table: 128 KiB, made when it is first used.
template <class T, class F>
Step looked_up(Warp& w, const Insn& i) {
  using One = std::conditional_t<kIsBf16<T>, Bfloat, Half>;
  using Table = std::array<uint16_t, 1 << 16>;
  static const std::unique_ptr<const Table> values = [] {
    auto t = std::make_unique<Table>();
    for (uint32_t x = 0; x < t->size(); ++x)
      (*t)[x] = static_cast<uint16_t>(Lane<One>::put(F{}(Lane<One>::get(x))));
    return t;
  }();
  const Table& table = *values;
  const auto* a = w.reg<uint32_t>(i.src[0]);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) {
    const uint32_t low = table[a[l] & 0xFFFF];
    return kIsPair<T> ? low | static_cast<uint32_t>(table[a[l] >> 16]) << 16 : low;
  });
  return Step::next;
}

}  // namespace tc::sim
