// Bit counting and fields: sad, popc, clz, bfind, brev, bfe, bfi, mul24, dp4a. PTX ISA 9.7.1.
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
// a: value, b: position, c: length, both in their low 8 bits. The field is sign-extended for signed types: bits beyond
// the top are copies of the sign bit of the field, or of the value.
struct Bfe {
  template <class T>
  T operator()(T a, uint32_t position, uint32_t length) const {
    constexpr uint32_t kTop = 8 * sizeof(T) - 1;
    const uint32_t pos = position & 255, len = length & 255;
    using U = std::make_unsigned_t<T>;
    const bool sign = std::is_signed_v<T> && len != 0 && ((static_cast<U>(a) >> std::min(pos + len - 1, kTop)) & 1);
    U r = 0;
    for (uint32_t k = 0; k <= kTop; ++k) {
      const bool bit = k < len && pos + k <= kTop ? (static_cast<U>(a) >> (pos + k)) & 1 : sign;
      r |= static_cast<U>(bit) << k;
    }
    return static_cast<T>(r);
  }
};
struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(c) +
                          (a > b ? static_cast<U>(a) - static_cast<U>(b) : static_cast<U>(b) - static_cast<U>(a)));
  }
};
template <class T>
Step bfe(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  const auto *p = w.reg<uint32_t>(i.src[1]), *n = w.reg<uint32_t>(i.src[2]);
  auto* d = w.reg<typename Lane<T>::Slot>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = Lane<T>::put(Bfe{}(Lane<T>::get(a[l]), p[l], n[l])); });
  return Step::next;
}
template <class T>
Step bfi(Warp& w, const Insn& i) {
  const auto *a = w.reg<T>(i.src[0]), *b = w.reg<T>(i.src[1]);
  const auto *p = w.reg<uint32_t>(i.src[2]), *n = w.reg<uint32_t>(i.src[3]);
  auto* d = w.reg<T>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) {
    const uint32_t pos = p[l] & 255, len = n[l] & 255, bits = 8 * sizeof(T);
    const T ones = len >= bits ? static_cast<T>(-1) : static_cast<T>((T{1} << len) - 1);
    const T mask = pos >= bits ? 0 : static_cast<T>(ones << pos);
    d[l] = static_cast<T>((b[l] & ~mask) | (pos >= bits ? 0 : (a[l] << pos) & mask));
  });
  return Step::next;
}
template <bool Signed>
struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int k = 0; k < 4; ++k) {
      const auto x = static_cast<uint8_t>(a >> (8 * k)), y = static_cast<uint8_t>(b >> (8 * k));
      c += Signed ? static_cast<uint32_t>(static_cast<int8_t>(x) * static_cast<int8_t>(y)) : uint32_t{x} * y;
    }
    return c;
  }
};
template <bool Signed>
struct Mul24 {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    auto cut = [](uint32_t v) {
      return Signed ? static_cast<uint32_t>(static_cast<int32_t>(v << 8) >> 8) : v & 0xFFFFFF;
    };
    return cut(a) * cut(b);
  }
};

template <class F>
void emit_count(Builder& b, Type t) {
  const uint32_t dst = b.destination(0, Type::u32), a = b.source(1, t);
  Insn& i = b.emit(row(t).bits == 64 ? unary<uint64_t, F, uint32_t> : unary<uint32_t, F, uint32_t>);
  i.dst = dst, i.src[0] = a;
}
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
    case Type::u32: return ternary<uint32_t, Sad>;
    case Type::s32: return ternary<int32_t, Sad>;
    case Type::u64: return ternary<uint64_t, Sad>;
    case Type::s64: return ternary<int64_t, Sad>;
    default: return nullptr;
  }
}

void emit_typed(Builder& b, ExecFn exec, std::initializer_list<Type> types, Type result) {
  b.expect_operands(types.size() + 1, types.size() + 1);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  const uint32_t dst = b.destination(0, result);
  size_t k = 0;
  for (Type t : types) src[k] = b.source(k + 1, t), ++k;
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = src;
}

}  // namespace

void build_integer(Builder& b) {
  const std::string& op = b.mnemonic();
  const bool shift = op == "bfind" && b.mods().take("shiftamt");
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (op == "popc") return emit_count<Popc>(b, t);
  if (op == "clz") return emit_count<Clz>(b, t);
  if (op == "brev") return emit_typed(b, row(t).bits == 64 ? unary<uint64_t, Brev> : unary<uint32_t, Brev>, {t}, t);
  if (op == "bfind") return emit_typed(b, shift ? bfind_for<true>(t) : bfind_for<false>(t), {t}, Type::u32);
  if (op == "bfe") return emit_typed(b, bfe_for(t), {t, Type::u32, Type::u32}, t);
  if (op == "bfi")
    return emit_typed(b, row(t).bits == 64 ? bfi<uint64_t> : bfi<uint32_t>, {t, t, Type::u32, Type::u32}, t);
  if (op == "sad") return emit_typed(b, sad_for(t), {t, t, t}, t);
  if (op == "dp4a") {
    const auto second = b.mods().take_type();
    if (second != type) return b.unsupported_form(b.insn().opcode);
    return emit_typed(b, t == Type::s32 ? ternary<uint32_t, Dp4a<true>> : ternary<uint32_t, Dp4a<false>>, {t, t, t}, t);
  }
  if (op == "mul24" && b.mods().take("lo"))
    return emit_typed(b, t == Type::s32 ? binary<uint32_t, Mul24<true>> : binary<uint32_t, Mul24<false>>, {t, t}, t);
  b.unsupported_form(b.insn().opcode);
}

}  // namespace tc::sim
