// and, or, xor, not, cnot, lop3, shifts. PTX ISA 9.7.8. Predicates are operated on as masks of lanes.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
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
  constexpr uint32_t kBits = 8 * sizeof(T);
  write_lanes(w.mask, d, [=](uint32_t l) {
    const Slot shifted = Lane<T>::put(static_cast<T>(Lane<T>::get(a[l]) << (n[l] & (kBits - 1))));
    return n[l] >= kBits ? Slot{0} : shifted;
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
  write_lanes(w.mask, d, [=](uint32_t l) {
    const T v = Lane<T>::get(a[l]);
    const Slot shifted = Lane<T>::put(static_cast<T>(v >> std::min(n[l], kTop)));
    return !std::is_signed_v<T> && n[l] > kTop ? Slot{0} : shifted;
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
// lop3: bit k of the table is the result for the bits of a, b, c that k spells. Three levels of choices between columns
// that are all ones or zeros: f = x ? g : h is ((g ^ h) & x) ^ h.
struct Table {
  std::array<uint32_t, 8> column;
  explicit Table(uint8_t bits) {
    for (uint32_t k = 0; k < 8; ++k) column[k] = bits >> k & 1 ? ~0u : 0;
  }
  static uint32_t choose(uint32_t x, uint32_t yes, uint32_t no) { return ((yes ^ no) & x) ^ no; }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t high = choose(b, choose(c, column[7], column[6]), choose(c, column[5], column[4]));
    const uint32_t low = choose(b, choose(c, column[3], column[2]), choose(c, column[1], column[0]));
    return choose(a, high, low);
  }
};
Step lop3(Warp& w, const Insn& i) {
  const auto *a = w.reg<uint32_t>(i.src[0]), *b = w.reg<uint32_t>(i.src[1]), *c = w.reg<uint32_t>(i.src[2]);
  const Table table(i.a);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) { return table(a[l], b[l], c[l]); });
  return Step::next;
}
// lop3.and / .or d|p, ...: p = (d != 0) with src[3], both predicates; list: d and p. Insn::b: or; Insn::c: !q.
Step lop3_test(Warp& w, const Insn& i) {
  const auto *a = w.reg<uint32_t>(i.src[0]), *b = w.reg<uint32_t>(i.src[1]), *c = w.reg<uint32_t>(i.src[2]);
  const uint32_t q = i.c ? ~w.pred(i.src[3]) : w.pred(i.src[3]);
  const Table table(i.a);
  alignas(64) std::array<uint32_t, 32> result;
  uint32_t set = 0;
  for (uint32_t l = 0; l < 32; ++l) result[l] = table(a[l], b[l], c[l]), set |= result[l] ? 1u << l : 0;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) { return result[l]; });
  const uint32_t p = w.cta->program.lists[i.list];
  w.pred(p) = (w.pred(p) & ~w.mask) | ((i.b ? set | q : set & q) & w.mask);
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

void build_lop3(Builder& b) {
  const bool both = b.mods().take("and"), either = b.mods().take("or"), tests = both || either;
  b.expect_operands(tests ? 6 : 5, tests ? 6 : 5);
  const auto table = b.literal(b.operand(4));
  if (!table || *table > 255) return b.fail("lop3 needs a table of 0 to 255");
  const Operand& d = b.operand(0);
  if (tests && (d.kind != Operand::Kind::pair || d.parts.size() != 2)) return b.fail("lop3 with a predicate needs d|p");
  bool ignored = false, negated = false;
  const uint32_t dst = b.destination(tests ? d.parts[0] : d, Type::b32);
  const uint32_t p = tests ? b.predicate(d.parts[1], ignored) : kNone;
  const uint32_t x = b.source(1, Type::b32), y = b.source(2, Type::b32), z = b.source(3, Type::b32);
  const uint32_t q = tests ? b.predicate(b.operand(5), negated) : kNone;
  Insn& i = b.emit(tests ? lop3_test : lop3);
  i.dst = dst, i.src = {x, y, z, q};
  i.a = static_cast<uint8_t>(*table), i.b = either, i.c = negated;
  if (tests) i.list = b.list({p}), i.list_count = i.list_dst = 1;
}

}  // namespace

void build_logic(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "shf") return build_funnel(b);
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (t == Type::pred) return build_predicate_logic(b);
  if (op == "lop3") return build_lop3(b);
  if (op == "and") return emit(b, binary_bits<And>(t), {t, t}, t);
  if (op == "or") return emit(b, binary_bits<Or>(t), {t, t}, t);
  if (op == "xor") return emit(b, binary_bits<Xor>(t), {t, t}, t);
  if (op == "not") return emit(b, unary_bits<Not>(t), {t}, t);
  if (op == "cnot") return emit(b, unary_bits<Cnot>(t), {t}, t);
  if (op == "shl") return emit(b, left_for(t), {t, Type::u32}, t);
  emit(b, right_for(t), {t, Type::u32}, t);
}

}  // namespace tc::sim
