// Lane-wise execution: operand fetch, active mask and write-back, once for all instructions.
// Registers hold raw bits. A type says how to read and write them:
//   Lane<int32_t>  slot uint32_t      Lane<float>  slot uint32_t, bit cast      Lane<Half> slot uint32_t, low 16 bits
// Values narrower than 32 bits sit in the low bits of a 32-bit slot; what is above is ignored on reading.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sim/exec/real.h"
#include "sim/machine/cta.h"

namespace tc::sim {

// Values of half types are computed in float and rounded once, where that is exact: see sim/exec/real.h.
struct Half {
  float v;
};
struct Bfloat {
  float v;
};
struct Half2 {
  float lo, hi;
};
struct Bfloat2 {
  float lo, hi;
};

template <class T>
struct Lane {
  using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static T get(Slot s) {
    if constexpr (std::is_floating_point_v<T>) return std::bit_cast<T>(s);
    else return static_cast<T>(s);
  }
  static Slot put(T v) {
    if constexpr (std::is_floating_point_v<T>) return std::bit_cast<Slot>(v);
    else return static_cast<Slot>(static_cast<std::make_unsigned_t<T>>(v));
  }
};
template <>
struct Lane<Half> {
  using Slot = uint32_t;
  static Half get(Slot s) { return {half_value(s)}; }
  static Slot put(Half h) { return half_bits(h.v); }
};
template <>
struct Lane<Bfloat> {
  using Slot = uint32_t;
  static Bfloat get(Slot s) { return {bf16_value(s)}; }
  static Slot put(Bfloat h) { return bf16_bits(h.v); }
};
template <>
struct Lane<Half2> {
  using Slot = uint32_t;
  static Half2 get(Slot s) { return {half_value(s), half_value(s >> 16)}; }
  static Slot put(Half2 h) { return half_bits(h.lo) | half_bits(h.hi) << 16; }
};
template <>
struct Lane<Bfloat2> {
  using Slot = uint32_t;
  static Bfloat2 get(Slot s) { return {bf16_value(s), as_float(s & 0xFFFF0000)}; }
  static Slot put(Bfloat2 h) { return bf16_bits(h.lo) | bf16_bits(h.hi) << 16; }
};

template <class Body>
inline void for_lanes(uint32_t mask, Body body) {
  if (mask == ~0u) {
#pragma GCC ivdep
    for (uint32_t l = 0; l < 32; ++l) body(l);
  } else {
    for (; mask; mask &= mask - 1) body(static_cast<uint32_t>(std::countr_zero(mask)));
  }
}

// d[l] = value(l) for the lanes of the mask. With some lanes missing all 32 values are computed and blended, which is
// cheaper than a loop over lanes from about four lanes on; `value` must be harmless for lanes that do not take part.
template <class S, class Value>
inline void write_lanes(uint32_t mask, S* d, Value value) {
  if (mask == ~0u) {
#pragma GCC ivdep
    for (uint32_t l = 0; l < 32; ++l) d[l] = value(l);
    return;
  }
  if ((mask & (mask - 1)) == 0) {
    const auto l = static_cast<uint32_t>(std::countr_zero(mask));
    d[l] = value(l);
    return;
  }
  alignas(64) S all[32];
#pragma GCC ivdep
  for (uint32_t l = 0; l < 32; ++l) all[l] = value(l);
  for (uint32_t l = 0; l < 32; ++l) d[l] = (mask >> l & 1) ? all[l] : d[l];
}

// F is a stateless function object over T; the result type D defaults to T.
template <class T, class F, class D = T>
Step unary(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  auto* d = w.reg<typename Lane<D>::Slot>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) { return Lane<D>::put(F{}(Lane<T>::get(a[l]))); });
  return Step::next;
}
template <class T, class F, class D = T>
Step binary(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  const auto* b = w.reg<typename Lane<T>::Slot>(i.src[1]);
  auto* d = w.reg<typename Lane<D>::Slot>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) { return Lane<D>::put(F{}(Lane<T>::get(a[l]), Lane<T>::get(b[l]))); });
  return Step::next;
}
template <class T, class F, class D = T, class C = T>
Step ternary(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  const auto* b = w.reg<typename Lane<T>::Slot>(i.src[1]);
  const auto* c = w.reg<typename Lane<C>::Slot>(i.src[2]);
  auto* d = w.reg<typename Lane<D>::Slot>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) {
    return Lane<D>::put(F{}(Lane<T>::get(a[l]), Lane<T>::get(b[l]), Lane<C>::get(c[l])));
  });
  return Step::next;
}

inline uint32_t lowest_lane(uint32_t mask) { return static_cast<uint32_t>(std::countr_zero(mask)); }

}  // namespace tc::sim
