// setp, set, selp, slct. PTX ISA 9.7.6. Comparisons of floats are false with NaN, their u-forms true; num and nan ask
// for it. setp writes a predicate (one bit a lane), optionally combined with another, and its complement; of pairs of
// halves one predicate a half.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

enum class Relation : uint8_t { eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };
constexpr std::string_view kRelations[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                           "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// What is compared: the values of a lane, subnormals flushed where asked for.
template <class T, bool Ftz>
struct Side {
  using Slot = typename Lane<T>::Slot;
  static auto get(Slot s) {
    if constexpr (std::is_same_v<T, Half>) return Ftz ? flush_half(half_value(s)) : half_value(s);
    else if constexpr (std::is_same_v<T, Bfloat>) return bf16_value(s);
    else if constexpr (std::is_same_v<T, float>) return Ftz ? flush(as_float(s)) : as_float(s);
    else return Lane<T>::get(s);
  }
};

template <Relation R, class T>
bool holds(T a, T b) {
  if constexpr (R == Relation::eq) return a == b;
  if constexpr (R == Relation::ne) return std::is_floating_point_v<T> ? a < b || a > b : a != b;
  if constexpr (R == Relation::lt || R == Relation::lo) return a < b;
  if constexpr (R == Relation::le || R == Relation::ls) return a <= b;
  if constexpr (R == Relation::gt || R == Relation::hi) return a > b;
  if constexpr (R == Relation::ge || R == Relation::hs) return a >= b;
  if constexpr (R == Relation::equ) return !(a < b || a > b);
  if constexpr (R == Relation::neu) return a != b;
  if constexpr (R == Relation::ltu) return !(a >= b);
  if constexpr (R == Relation::leu) return !(a > b);
  if constexpr (R == Relation::gtu) return !(a <= b);
  if constexpr (R == Relation::geu) return !(a < b);
  if constexpr (R == Relation::num) return a == a && b == b;
  if constexpr (R == Relation::nan) return a != a || b != b;
}

// Bits of the lanes where the relation holds; of pairs: between their upper halves (High) or their lower ones.
template <class T, bool Ftz, Relation R, bool High>
uint32_t compare_lanes(Warp& w, const Insn& i) {
  using Slot = typename Side<T, Ftz>::Slot;
  const auto* a = w.reg<Slot>(i.src[0]);
  const auto* b = w.reg<Slot>(i.src[1]);
  uint32_t bits = 0;
  for (uint32_t l = 0; l < 32; ++l) {
    const Slot x = High ? a[l] >> 16 : a[l], y = High ? b[l] >> 16 : b[l];
    bits |= holds<R>(Side<T, Ftz>::get(x), Side<T, Ftz>::get(y)) ? 1u << l : 0;
  }
  return bits;
}

enum class Combine : uint8_t { none, and_, or_, xor_ };
uint32_t combined(Warp& w, const Insn& i, uint32_t bits, uint32_t at) {
  if (at == kNone) return bits;
  const uint32_t c = i.b ? ~w.pred(at) : w.pred(at);
  switch (static_cast<Combine>(i.a)) {
    case Combine::none: return bits;
    case Combine::and_: return bits & c;
    case Combine::or_: return bits | c;
    case Combine::xor_: return bits ^ c;
  }
  return bits;
}
void write(Warp& w, uint32_t at, uint32_t bits) { w.pred(at) = (w.pred(at) & ~w.mask) | (bits & w.mask); }

// p and its complement; src[2] is the predicate to combine with, src[3] the second result.
template <class T, bool Ftz, Relation R>
Step setp(Warp& w, const Insn& i) {
  const uint32_t bits = compare_lanes<T, Ftz, R, false>(w, i);
  const uint32_t p = combined(w, i, bits, i.src[2]), q = combined(w, i, ~bits, i.src[2]);
  write(w, i.dst, p);
  if (i.src[3] != kNone) write(w, i.src[3], q);
  return Step::next;
}
// Pairs: the first result is that of the lower halves, the second that of the upper ones.
template <class T, bool Ftz, Relation R>
Step setp_pair(Warp& w, const Insn& i) {
  const uint32_t low = combined(w, i, compare_lanes<T, Ftz, R, false>(w, i), i.src[2]);
  const uint32_t high = combined(w, i, compare_lanes<T, Ftz, R, true>(w, i), i.src[2]);
  write(w, i.dst, low);
  if (i.src[3] != kNone) write(w, i.src[3], high);
  return Step::next;
}
// Insn::imm: the value for "holds".
template <class T, bool Ftz, Relation R>
Step set(Warp& w, const Insn& i) {
  const uint32_t bits = combined(w, i, compare_lanes<T, Ftz, R, false>(w, i), i.src[2]);
  const auto yes = static_cast<uint32_t>(i.imm);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) { return bits >> l & 1 ? yes : 0; });
  return Step::next;
}
template <class T, bool Ftz, Relation R>
Step set_pair(Warp& w, const Insn& i) {
  const uint32_t low = combined(w, i, compare_lanes<T, Ftz, R, false>(w, i), i.src[2]);
  const uint32_t high = combined(w, i, compare_lanes<T, Ftz, R, true>(w, i), i.src[2]);
  const auto yes = static_cast<uint32_t>(i.imm);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst),
              [=](uint32_t l) { return (low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0); });
  return Step::next;
}

enum class Use : uint8_t { setp, set, setp_pair, set_pair };
template <class T, bool Ftz, Relation R>
ExecFn body_of(Use use) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    if (use == Use::setp_pair) return setp_pair<T, Ftz, R>;
    if (use == Use::set_pair) return set_pair<T, Ftz, R>;
  }
  return use == Use::setp ? setp<T, Ftz, R> : set<T, Ftz, R>;
}
template <class T, bool Ftz = false>
ExecFn relation_for(Relation r, Use use) {
  constexpr bool kReal = !std::is_integral_v<T>;
#define TC_RELATION(name) \
  case Relation::name: return body_of<T, Ftz, Relation::name>(use);
  switch (r) {
    TC_RELATION(eq)
    TC_RELATION(ne) TC_RELATION(lt) TC_RELATION(le) TC_RELATION(gt) TC_RELATION(ge) default : break;
  }
  if constexpr (std::is_unsigned_v<T>) {
    switch (r) {
      TC_RELATION(lo)
      TC_RELATION(ls) TC_RELATION(hi) TC_RELATION(hs) default : break;
    }
  }
  if constexpr (kReal) {
    switch (r) {
      TC_RELATION(equ)
      TC_RELATION(neu)
      TC_RELATION(ltu) TC_RELATION(leu) TC_RELATION(gtu) TC_RELATION(geu) TC_RELATION(num) TC_RELATION(nan) default
          : break;
    }
  }
#undef TC_RELATION
  return nullptr;
}
ExecFn compare_for(Type t, Relation r, bool ftz, bool is_set) {
  const Use use = is_set ? Use::set : Use::setp, pairs = is_set ? Use::set_pair : Use::setp_pair;
  switch (t) {
    case Type::b16:
    case Type::u16: return relation_for<uint16_t>(r, use);
    case Type::b32:
    case Type::u32: return relation_for<uint32_t>(r, use);
    case Type::b64:
    case Type::u64: return relation_for<uint64_t>(r, use);
    case Type::s16: return relation_for<int16_t>(r, use);
    case Type::s32: return relation_for<int32_t>(r, use);
    case Type::s64: return relation_for<int64_t>(r, use);
    case Type::f32: return ftz ? relation_for<float, true>(r, use) : relation_for<float>(r, use);
    case Type::f64: return relation_for<double>(r, use);
    case Type::f16: return ftz ? relation_for<Half, true>(r, use) : relation_for<Half>(r, use);
    case Type::bf16: return relation_for<Bfloat>(r, use);
    case Type::f16x2: return ftz ? relation_for<Half, true>(r, pairs) : relation_for<Half>(r, pairs);
    case Type::bf16x2: return relation_for<Bfloat>(r, pairs);
    default: return nullptr;
  }
}

template <class S>
Step selp(Warp& w, const Insn& i) {
  const S *a = w.reg<S>(i.src[0]), *b = w.reg<S>(i.src[1]);
  const uint32_t p = i.a ? ~w.pred(i.src[2]) : w.pred(i.src[2]);
  S* d = w.reg<S>(i.dst);
  write_lanes(w.mask, d, [=](uint32_t l) { return p >> l & 1 ? a[l] : b[l]; });
  return Step::next;
}
template <class S, bool Real>
Step slct(Warp& w, const Insn& i) {
  const S *a = w.reg<S>(i.src[0]), *b = w.reg<S>(i.src[1]);
  const auto* c = w.reg<uint32_t>(i.src[2]);
  const bool ftz = i.a;
  write_lanes(w.mask, w.reg<S>(i.dst), [=](uint32_t l) {
    const float real = ftz ? flush(as_float(c[l])) : as_float(c[l]);
    const bool first = Real ? real >= 0 : static_cast<int32_t>(c[l]) >= 0;
    return first ? a[l] : b[l];
  });
  return Step::next;
}

Combine take_combine(Builder& b) {
  if (b.mods().take("and")) return Combine::and_;
  if (b.mods().take("or")) return Combine::or_;
  return b.mods().take("xor") ? Combine::xor_ : Combine::none;
}

void build_setp(Builder& b, Type t, Relation r, bool ftz) {
  const Combine combine = take_combine(b);
  b.expect_operands(combine == Combine::none ? 3 : 4, combine == Combine::none ? 3 : 4);
  const ExecFn exec = compare_for(t, r, ftz, false);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  bool ignored = false, negated = false;
  const Operand& d = b.operand(0);
  const bool pair = d.kind == Operand::Kind::pair;
  const auto target = [&](const Operand& o) {
    return o.kind == Operand::Kind::sink ? b.scratch(1) : b.predicate(o, ignored);
  };
  const uint32_t p = target(pair ? d.parts[0] : d), q = pair ? target(d.parts[1]) : kNone;
  const uint32_t x = b.source(1, t), y = b.source(2, t);
  const uint32_t c = combine == Combine::none ? kNone : b.predicate(b.operand(3), negated);
  Insn& i = b.emit(exec);
  i.dst = p, i.src = {x, y, c, q};
  i.a = static_cast<uint8_t>(combine), i.b = negated;
}

// What set stores where the relation holds: all ones, or 1.0 of the type; of a half for pairs.
uint32_t truth(Type to, bool pair) {
  switch (to) {
    case Type::f32: return 0x3F800000;
    case Type::f16:
    case Type::f16x2: return 0x3C00;
    case Type::bf16:
    case Type::bf16x2: return 0x3F80;
    case Type::u16:
    case Type::s16: return 0xFFFF;
    default: return pair ? 0xFFFF : ~0u;
  }
}
void build_set(Builder& b, Type to, Relation r, bool ftz) {
  const Combine combine = take_combine(b);
  const auto from = b.mods().take_type();
  const ExecFn exec = from ? compare_for(*from, r, ftz, true) : nullptr;
  if (!exec || row(to).bits > 32) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(combine == Combine::none ? 3 : 4, combine == Combine::none ? 3 : 4);
  bool negated = false;
  const uint32_t dst = b.destination(0, to), x = b.source(1, *from), y = b.source(2, *from);
  const uint32_t c = combine == Combine::none ? kNone : b.predicate(b.operand(3), negated);
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = {x, y, c, kNone};
  i.a = static_cast<uint8_t>(combine), i.b = negated;
  i.imm = truth(to, *from == Type::f16x2 || *from == Type::bf16x2);
}

}  // namespace

void build_compare(Builder& b) {
  const std::string& op = b.mnemonic();
  const bool ftz = b.mods().take("ftz");
  if (op == "setp" || op == "set") {
    Relation r = Relation::eq;
    bool found = false;
    for (size_t k = 0; k < std::size(kRelations) && !found; ++k)
      if (b.mods().take(kRelations[k])) r = static_cast<Relation>(k), found = true;
    const auto first = b.mods().take_type();
    if (!found || !first) return b.unsupported_form(b.insn().opcode);
    return op == "setp" ? build_setp(b, *first, r, ftz) : build_set(b, *first, r, ftz);
  }
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(4, 4);
  const bool wide = row(*type).bits == 64;
  if (op == "selp") {
    bool negated = false;
    const uint32_t dst = b.destination(0, *type), x = b.source(1, *type), y = b.source(2, *type);
    const uint32_t p = b.predicate(b.operand(3), negated);
    Insn& i = b.emit(wide ? selp<uint64_t> : selp<uint32_t>);
    i.dst = dst, i.src = {x, y, p, kNone}, i.a = negated;
    return;
  }
  const auto control = b.mods().take_type();
  if (control != Type::s32 && control != Type::f32) return b.unsupported_form(b.insn().opcode);
  const bool real = control == Type::f32;
  b.emit_typed(wide ? (real ? slct<uint64_t, true> : slct<uint64_t, false>)
                    : (real ? slct<uint32_t, true> : slct<uint32_t, false>),
               *type, {*type, *type, *control});
  if (!b.failed()) b.program().code.back().a = ftz;
}

}  // namespace tc::sim
