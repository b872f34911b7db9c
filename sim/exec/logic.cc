// and, or, xor, not, cnot, lop3, shifts. PTX ISA 9.7.8. Predicates are operated on as masks of lanes.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};
// Shift amounts beyond the width are clamped to it.
template <class T>
Step shift_left(Warp& w, const Insn& i) {
  using Slot = typename Lane<T>::Slot;
  const auto* a = w.reg<Slot>(i.src[0]);
  const auto* n = w.reg<uint32_t>(i.src[1]);
  auto* d = w.reg<Slot>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) {
    d[l] = n[l] >= 8 * sizeof(T) ? 0 : Lane<T>::put(static_cast<T>(Lane<T>::get(a[l]) << n[l]));
  });
  return Step::next;
}
template <class T>
Step shift_right(Warp& w, const Insn& i) {
  using Slot = typename Lane<T>::Slot;
  const auto* a = w.reg<Slot>(i.src[0]);
  const auto* n = w.reg<uint32_t>(i.src[1]);
  auto* d = w.reg<Slot>(i.dst);
  constexpr uint32_t kTop = 8 * sizeof(T) - 1;
  for_lanes(w.mask, [&](uint32_t l) {
    const T v = Lane<T>::get(a[l]);
    if (std::is_signed_v<T>) d[l] = Lane<T>::put(static_cast<T>(v >> std::min(n[l], kTop)));
    else d[l] = n[l] > kTop ? 0 : Lane<T>::put(static_cast<T>(v >> n[l]));
  });
  return Step::next;
}
// shf: the funnel {b, a} moved by c; .clamp stops at 32, .wrap takes c modulo 32.
template <bool Left, bool Clamp>
struct Funnel {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t n = Clamp ? std::min(c, 32u) : c & 31;
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(Left ? (both << n) >> 32 : both >> n);
  }
};
Step lop3(Warp& w, const Insn& i) {
  const auto *a = w.reg<uint32_t>(i.src[0]), *b = w.reg<uint32_t>(i.src[1]), *c = w.reg<uint32_t>(i.src[2]);
  auto* d = w.reg<uint32_t>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) {
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; ++k)
      if (i.a >> k & 1) r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    d[l] = r;
  });
  return Step::next;
}

template <class F>
Step on_predicates(Warp& w, const Insn& i) {
  const uint32_t a = i.a & 1 ? ~w.pred(i.src[0]) : w.pred(i.src[0]);
  uint32_t r;
  if constexpr (std::is_same_v<F, Not>) r = ~a;
  else r = F{}(a, i.a & 2 ? ~w.pred(i.src[1]) : w.pred(i.src[1]));
  w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | (r & w.mask);
  return Step::next;
}

template <class F>
ExecFn binary_bits(Type t) {
  switch (row(t).bits) {
    case 16: return binary<uint16_t, F>;
    case 32: return binary<uint32_t, F>;
    case 64: return binary<uint64_t, F>;
    default: return nullptr;
  }
}
template <class F>
ExecFn unary_bits(Type t) {
  switch (row(t).bits) {
    case 16: return unary<uint16_t, F>;
    case 32: return unary<uint32_t, F>;
    case 64: return unary<uint64_t, F>;
    default: return nullptr;
  }
}
ExecFn left_for(Type t) {
  switch (row(t).bits) {
    case 16: return shift_left<uint16_t>;
    case 32: return shift_left<uint32_t>;
    case 64: return shift_left<uint64_t>;
    default: return nullptr;
  }
}
ExecFn right_for(Type t) {
  switch (row(t).bits) {
    case 16: return is_signed(t) ? shift_right<int16_t> : shift_right<uint16_t>;
    case 32: return is_signed(t) ? shift_right<int32_t> : shift_right<uint32_t>;
    case 64: return is_signed(t) ? shift_right<int64_t> : shift_right<uint64_t>;
    default: return nullptr;
  }
}

void emit(Builder& b, ExecFn exec, std::initializer_list<Type> sources, Type result) {
  if (!exec) return b.unsupported_form(b.insn().opcode);
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  const uint32_t dst = b.destination(0, result);
  size_t k = 0;
  for (Type t : sources) src[k] = b.source(k + 1, t), ++k;
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = src;
}

void build_predicate_logic(Builder& b) {
  const std::string& op = b.mnemonic();
  bool not_a = false, not_b = false, ignored = false;
  b.expect_operands(op == "not" ? 2 : 3, op == "not" ? 2 : 3);
  const uint32_t dst = b.predicate(b.operand(0), ignored), x = b.predicate(b.operand(1), not_a);
  const uint32_t y = op == "not" ? kNone : b.predicate(b.operand(2), not_b);
  const ExecFn exec = op == "and"   ? on_predicates<And>
                      : op == "or"  ? on_predicates<Or>
                      : op == "xor" ? on_predicates<Xor>
                      : op == "not" ? on_predicates<Not>
                                    : nullptr;
  if (!exec) return b.unsupported_form(b.insn().opcode);
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = {x, y, kNone, kNone};
  i.a = static_cast<uint8_t>(not_a | not_b << 1);
}

void build_funnel(Builder& b) {
  const bool left = b.mods().take("l"), right = b.mods().take("r");
  const bool clamp = b.mods().take("clamp"), wrap = b.mods().take("wrap");
  if (left == right || clamp == wrap) return b.unsupported_form(b.insn().opcode);
  b.mods().take("b32");
  const ExecFn exec = left ? (clamp ? ternary<uint32_t, Funnel<true, true>> : ternary<uint32_t, Funnel<true, false>>)
                           : (clamp ? ternary<uint32_t, Funnel<false, true>> : ternary<uint32_t, Funnel<false, false>>);
  emit(b, exec, {Type::b32, Type::b32, Type::u32}, Type::b32);
}

}  // namespace

void build_logic(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "shf") return build_funnel(b);
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (t == Type::pred) return build_predicate_logic(b);
  if (op == "lop3") {
    b.expect_operands(5, 5);
    const auto table = b.literal(b.operand(4));
    if (!table || *table > 255) return b.fail("lop3 needs a table of 0 to 255");
    emit(b, lop3, {t, t, t}, t);
    if (!b.failed()) b.program().code.back().a = static_cast<uint8_t>(*table);
    return;
  }
  if (op == "and") return emit(b, binary_bits<And>(t), {t, t}, t);
  if (op == "or") return emit(b, binary_bits<Or>(t), {t, t}, t);
  if (op == "xor") return emit(b, binary_bits<Xor>(t), {t, t}, t);
  if (op == "not") return emit(b, unary_bits<Not>(t), {t}, t);
  if (op == "cnot") return emit(b, unary_bits<Cnot>(t), {t}, t);
  if (op == "shl") return emit(b, left_for(t), {t, Type::u32}, t);
  emit(b, right_for(t), {t, Type::u32}, t);
}

}  // namespace tc::sim
