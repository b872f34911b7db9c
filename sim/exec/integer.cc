// Bits, fields and short products: sad, popc, clz, bfind, brev, bfe, bfi, szext, bmsk, fns, mul24, mad24, dp4a, dp2a.
// PTX ISA 9.7.1. 32-bit field instructions take position and length from the low 8 bits of their operands, 64-bit ones
// (which ptxas makes from several instructions) from all 32, as an H200 shows.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

struct Popc {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
struct Brev {
  template <class T>
  T operator()(T a) const {
    T r = 0;
    for (size_t k = 0; k < 8 * sizeof(T); ++k) r = static_cast<T>(r << 1 | ((a >> k) & 1));
    return r;
  }
};
// The position of the leading bit that differs from the sign, all ones for none; Shift: how far it is from the top.
template <bool Shift>
struct Bfind {
  template <class T>
  uint32_t operator()(T a) const {
    const auto u = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    if (u == 0) return ~0u;
    const auto top = static_cast<uint32_t>(8 * sizeof(T) - 1), at = top - static_cast<uint32_t>(std::countl_zero(u));
    return Shift ? top - at : at;
  }
};
template <class T>
uint32_t field_operand(uint32_t v) {
  return sizeof(T) == 4 ? v & 255 : v;
}
// The field is sign-extended for signed types: what lies beyond the top is a copy of the value's sign.
template <class T>
T extract_field(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const uint32_t pos = field_operand<T>(position), len = field_operand<T>(length);
  if constexpr (std::is_signed_v<T>) {
    const uint32_t from = std::min(pos, kBits - 1), most = kBits - from;
    const uint32_t unused = kBits - std::min(std::max(len, 1u), most);
    const T shifted = static_cast<T>(static_cast<std::make_unsigned_t<T>>(a >> from) << unused);
    return len == 0 ? T{0} : static_cast<T>(shifted >> unused);
  } else {
    const T value = pos >= kBits ? T{0} : static_cast<T>(a >> pos);
    return len >= kBits ? value : static_cast<T>(value & ((T{1} << len) - 1));
  }
}
template <class T>
Step bfe(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  const auto *p = w.reg<uint32_t>(i.src[1]), *n = w.reg<uint32_t>(i.src[2]);
  auto* d = w.reg<typename Lane<T>::Slot>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) { return Lane<T>::put(extract_field(Lane<T>::get(a[l]), p[l], n[l])); });
  return Step::next;
}
template <class T>
Step bfi(Warp& w, const Insn& i) {
  const auto *a = w.reg<T>(i.src[0]), *b = w.reg<T>(i.src[1]);
  const auto *p = w.reg<uint32_t>(i.src[2]), *n = w.reg<uint32_t>(i.src[3]);
  auto* d = w.reg<T>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t pos = field_operand<T>(p[l]), len = field_operand<T>(n[l]);
    const T ones = len >= kBits ? static_cast<T>(-1) : static_cast<T>((T{1} << (len & (kBits - 1))) - 1);
    const T mask = pos >= kBits ? T{0} : static_cast<T>(ones << (pos & (kBits - 1)));
    return static_cast<T>((b[l] & ~mask) | ((a[l] << (pos & (kBits - 1))) & mask));
  });
  return Step::next;
}
struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(c) +
                          (a > b ? static_cast<U>(a) - static_cast<U>(b) : static_cast<U>(b) - static_cast<U>(a)));
  }
};
// The low n bits, extended; n = 0 gives 0. Clamp: n of 32 and more leaves the value; wrap: n modulo 32.
template <bool Signed, bool Clamp>
struct Szext {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t n = Clamp ? std::min(b, 32u) : b & 31, unused = (32 - n) & 31, v = a << unused;
    const uint32_t r = Signed ? static_cast<uint32_t>(static_cast<int32_t>(v) >> unused) : v >> unused;
    return n == 0 ? 0 : r;
  }
};
// b ones from bit a on.
template <bool Clamp>
struct Bmsk {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t pos = Clamp ? std::min(a, 32u) : a & 31, n = Clamp ? std::min(b, 32u) : b & 31;
    return static_cast<uint32_t>(((uint64_t{1} << n) - 1) << pos);
  }
};
// The position of the offset-th set bit of a mask, counted from bit `base` up or down; ~0 for none.
struct Fns {
  uint32_t operator()(uint32_t mask, uint32_t base, uint32_t offset) const {
    const auto steps = static_cast<int32_t>(offset);
    if (steps == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
    uint32_t left = static_cast<uint32_t>(steps > 0 ? offset : -offset);
    for (uint32_t at = base; at < 32; at += steps > 0 ? 1u : ~0u)
      if ((mask >> at & 1) && --left == 0) return at;
    return ~0u;
  }
};
template <class A>
uint32_t extended(uint32_t v) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(v)));
}
template <class A, class B>
struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int k = 0; k < 4; ++k) c += extended<A>(a >> (8 * k)) * extended<B>(b >> (8 * k));
    return c;
  }
};
// Two 16-bit values of a times the low or high two bytes of b.
template <class A, class B, bool High>
struct Dp2a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int k = 0; k < 2; ++k) c += extended<A>(a >> (16 * k)) * extended<B>(b >> (8 * k + (High ? 16 : 0)));
    return c;
  }
};
// The low 32 bits of a 24-bit product, or its bits 16 to 47.
template <bool Signed, bool High>
struct Mul24 {
  static int64_t cut(uint32_t v) { return Signed ? static_cast<int32_t>(v << 8) >> 8 : int64_t{v & 0xFFFFFF}; }
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return static_cast<uint32_t>((cut(a) * cut(b)) >> (High ? 16 : 0));
  }
};
template <bool Signed, bool High, bool Sat>
struct Mad24 {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t p = Mul24<Signed, High>{}(a, b);
    if constexpr (!Sat) return p + c;
    const int64_t sum = int64_t{static_cast<int32_t>(p)} + static_cast<int32_t>(c);
    return static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};

template <bool Shift>
ExecFn bfind_for(Type t) {
  switch (t) {
    case Type::u32: return unary<uint32_t, Bfind<Shift>, uint32_t>;
    case Type::s32: return unary<int32_t, Bfind<Shift>, uint32_t>;
    case Type::u64: return unary<uint64_t, Bfind<Shift>, uint32_t>;
    case Type::s64: return unary<int64_t, Bfind<Shift>, uint32_t>;
    default: return nullptr;
  }
}
ExecFn bfe_for(Type t) {
  switch (t) {
    case Type::u32: return bfe<uint32_t>;
    case Type::s32: return bfe<int32_t>;
    case Type::u64: return bfe<uint64_t>;
    case Type::s64: return bfe<int64_t>;
    default: return nullptr;
  }
}
ExecFn sad_for(Type t) {
  switch (t) {
    case Type::u16: return ternary<uint16_t, Sad>;
    case Type::s16: return ternary<int16_t, Sad>;
    case Type::u32: return ternary<uint32_t, Sad>;
    case Type::s32: return ternary<int32_t, Sad>;
    case Type::u64: return ternary<uint64_t, Sad>;
    case Type::s64: return ternary<int64_t, Sad>;
    default: return nullptr;
  }
}
template <class A>
ExecFn dp2a_for(bool signed_b, bool high) {
  if (signed_b) return high ? ternary<uint32_t, Dp2a<A, int8_t, true>> : ternary<uint32_t, Dp2a<A, int8_t, false>>;
  return high ? ternary<uint32_t, Dp2a<A, uint8_t, true>> : ternary<uint32_t, Dp2a<A, uint8_t, false>>;
}
void build_dot_product(Builder& b, Type first) {
  const auto second = b.mods().take_type();
  if (!second) return b.unsupported_form(b.insn().opcode);
  const bool sa = is_signed(first), sb = is_signed(*second);
  ExecFn exec = nullptr;
  if (b.mnemonic() == "dp4a") {
    if (sa) exec = sb ? ternary<uint32_t, Dp4a<int8_t, int8_t>> : ternary<uint32_t, Dp4a<int8_t, uint8_t>>;
    else exec = sb ? ternary<uint32_t, Dp4a<uint8_t, int8_t>> : ternary<uint32_t, Dp4a<uint8_t, uint8_t>>;
  } else {
    const bool high = b.mods().take("hi");
    if (!high && !b.mods().take("lo")) return b.unsupported_form(b.insn().opcode);
    exec = sa ? dp2a_for<int16_t>(sb, high) : dp2a_for<uint16_t>(sb, high);
  }
  b.emit_typed(exec, Type::b32, {Type::b32, Type::b32, Type::b32});
}
void build_24_bits(Builder& b, Type t) {
  const bool high = b.mods().take("hi"), sat = b.mods().take("sat"), sign = t == Type::s32;
  if (!high && !b.mods().take("lo")) return b.unsupported_form(b.insn().opcode);
  if (b.mnemonic() == "mul24") {
    if (sign)
      return b.emit_typed(high ? binary<uint32_t, Mul24<true, true>> : binary<uint32_t, Mul24<true, false>>, t, {t, t});
    return b.emit_typed(high ? binary<uint32_t, Mul24<false, true>> : binary<uint32_t, Mul24<false, false>>, t, {t, t});
  }
  ExecFn exec = high ? ternary<uint32_t, Mad24<false, true, false>> : ternary<uint32_t, Mad24<false, false, false>>;
  if (sign) exec = high ? ternary<uint32_t, Mad24<true, true, false>> : ternary<uint32_t, Mad24<true, false, false>>;
  if (sat) exec = sign && high ? ternary<uint32_t, Mad24<true, true, true>> : nullptr;
  b.emit_typed(exec, t, {t, t, t});
}
void build_extension(Builder& b, Type t) {
  const bool clamp = b.mods().take("clamp");
  if (!clamp && !b.mods().take("wrap")) return b.unsupported_form(b.insn().opcode);
  if (b.mnemonic() == "bmsk")
    return b.emit_typed(clamp ? binary<uint32_t, Bmsk<true>> : binary<uint32_t, Bmsk<false>>, t, {t, t});
  ExecFn exec = clamp ? binary<uint32_t, Szext<false, true>> : binary<uint32_t, Szext<false, false>>;
  if (is_signed(t)) exec = clamp ? binary<uint32_t, Szext<true, true>> : binary<uint32_t, Szext<true, false>>;
  b.emit_typed(exec, t, {t, Type::u32});
}

}  // namespace

void build_integer(Builder& b) {
  const std::string& op = b.mnemonic();
  const bool shift = op == "bfind" && b.mods().take("shiftamt");
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  const bool wide = row(t).bits == 64;
  if (op == "popc") return b.emit_typed(wide ? unary<uint64_t, Popc, uint32_t> : unary<uint32_t, Popc>, Type::u32, {t});
  if (op == "clz") return b.emit_typed(wide ? unary<uint64_t, Clz, uint32_t> : unary<uint32_t, Clz>, Type::u32, {t});
  if (op == "brev") return b.emit_typed(wide ? unary<uint64_t, Brev> : unary<uint32_t, Brev>, t, {t});
  if (op == "bfind") return b.emit_typed(shift ? bfind_for<true>(t) : bfind_for<false>(t), Type::u32, {t});
  if (op == "bfe") return b.emit_typed(bfe_for(t), t, {t, Type::u32, Type::u32});
  if (op == "bfi") return b.emit_typed(wide ? bfi<uint64_t> : bfi<uint32_t>, t, {t, t, Type::u32, Type::u32});
  if (op == "sad") return b.emit_typed(sad_for(t), t, {t, t, t});
  if (op == "szext" || op == "bmsk") return build_extension(b, t);
  if (op == "fns") return b.emit_typed(ternary<uint32_t, Fns>, t, {t, Type::b32, Type::s32});
  if (op == "dp4a" || op == "dp2a") return build_dot_product(b, t);
  if (op == "mul24" || op == "mad24") return build_24_bits(b, t);
  b.unsupported_form(b.insn().opcode);
}

}  // namespace tc::sim
