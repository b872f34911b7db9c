// setp, set, selp, slct. PTX ISA 9.7.6. Comparisons of floats are false with NaN, their u-forms true; num and nan ask
// for it. setp writes a predicate (one bit a lane), optionally combined with another, and its complement.
#include <cmath>

#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

enum class Relation : uint8_t { eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };
constexpr std::string_view kRelations[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                           "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class T>
auto plain(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) return v.v;
  else return v;
}

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

// Bits of the lanes where the relation holds.
template <class T, Relation R>
uint32_t compare_lanes(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  const auto* b = w.reg<typename Lane<T>::Slot>(i.src[1]);
  uint32_t bits = 0;
  for (uint32_t l = 0; l < 32; ++l)
    bits |= static_cast<uint32_t>(holds<R>(plain(Lane<T>::get(a[l])), plain(Lane<T>::get(b[l])))) << l;
  return bits;
}

enum class Combine : uint8_t { none, and_, or_, xor_ };

void write(Warp& w, uint32_t at, uint32_t bits) { w.pred(at) = (w.pred(at) & ~w.mask) | (bits & w.mask); }

template <class T, Relation R>
Step setp(Warp& w, const Insn& i) {
  uint32_t bits = compare_lanes<T, R>(w, i), other = ~bits;
  if (i.src[2] != kNone) {
    const uint32_t c = i.b ? ~w.pred(i.src[2]) : w.pred(i.src[2]);
    auto combined = [&](uint32_t v) {
      switch (static_cast<Combine>(i.a)) {
        case Combine::none: return v;
        case Combine::and_: return v & c;
        case Combine::or_: return v | c;
        case Combine::xor_: return v ^ c;
      }
      return v;
    };
    bits = combined(bits), other = combined(other);
  }
  write(w, i.dst, bits);
  if (i.src[3] != kNone) write(w, i.src[3], other);
  return Step::next;
}
template <class T, Relation R>
Step set(Warp& w, const Insn& i) {
  const uint32_t bits = compare_lanes<T, R>(w, i);
  auto* d = w.reg<uint32_t>(i.dst);
  const uint32_t yes = i.a ? 0x3F800000 : ~0u;
  for_lanes(w.mask, [&](uint32_t l) { d[l] = bits >> l & 1 ? yes : 0; });
  return Step::next;
}

template <class T, bool Set>
ExecFn relation_for(Relation r) {
  constexpr bool kReal = !std::is_integral_v<T>;
#define TC_RELATION(name) \
  case Relation::name: return Set ? set<T, Relation::name> : setp<T, Relation::name>;
  switch (r) {
    TC_RELATION(eq)
    TC_RELATION(ne) TC_RELATION(lt) TC_RELATION(le) TC_RELATION(gt) TC_RELATION(ge) TC_RELATION(lo) TC_RELATION(ls)
        TC_RELATION(hi) TC_RELATION(hs) default : break;
  }
  if constexpr (kReal) {
    switch (r) {
      TC_RELATION(equ)
      TC_RELATION(neu) TC_RELATION(ltu) TC_RELATION(leu) TC_RELATION(gtu) TC_RELATION(geu) TC_RELATION(num)
          TC_RELATION(nan) default : break;
    }
  }
#undef TC_RELATION
  return nullptr;
}
template <bool Set>
ExecFn compare_for(Type t, Relation r) {
  const bool below = r == Relation::lo || r == Relation::ls || r == Relation::hi || r == Relation::hs;
  switch (t) {
    case Type::b16:
    case Type::u16: return relation_for<uint16_t, Set>(r);
    case Type::b32:
    case Type::u32: return relation_for<uint32_t, Set>(r);
    case Type::b64:
    case Type::u64: return relation_for<uint64_t, Set>(r);
    case Type::s16: return below ? nullptr : relation_for<int16_t, Set>(r);
    case Type::s32: return below ? nullptr : relation_for<int32_t, Set>(r);
    case Type::s64: return below ? nullptr : relation_for<int64_t, Set>(r);
    case Type::f32: return below ? nullptr : relation_for<float, Set>(r);
    case Type::f64: return below ? nullptr : relation_for<double, Set>(r);
    case Type::f16: return below ? nullptr : relation_for<Half, Set>(r);
    case Type::bf16: return below ? nullptr : relation_for<Bfloat, Set>(r);
    default: return nullptr;
  }
}

template <class S>
Step selp(Warp& w, const Insn& i) {
  const S *a = w.reg<S>(i.src[0]), *b = w.reg<S>(i.src[1]);
  const uint32_t p = i.a ? ~w.pred(i.src[2]) : w.pred(i.src[2]);
  S* d = w.reg<S>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
  return Step::next;
}
template <class S, bool Real>
Step slct(Warp& w, const Insn& i) {
  const S *a = w.reg<S>(i.src[0]), *b = w.reg<S>(i.src[1]);
  const auto* c = w.reg<uint32_t>(i.src[2]);
  S* d = w.reg<S>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) {
    const bool first = Real ? std::bit_cast<float>(c[l]) >= 0 : static_cast<int32_t>(c[l]) >= 0;
    d[l] = first ? a[l] : b[l];
  });
  return Step::next;
}

void build_setp(Builder& b, Type t, Relation r) {
  Combine combine = Combine::none;
  if (b.mods().take("and")) combine = Combine::and_;
  if (b.mods().take("or")) combine = Combine::or_;
  if (b.mods().take("xor")) combine = Combine::xor_;
  b.expect_operands(combine == Combine::none ? 3 : 4, combine == Combine::none ? 3 : 4);
  const ExecFn exec = compare_for<false>(t, r);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  bool ignored = false, negated = false;
  const Operand& d = b.operand(0);
  const bool pair = d.kind == Operand::Kind::pair;
  const uint32_t p = b.predicate(pair ? d.parts[0] : d, ignored);
  const uint32_t q = pair ? b.predicate(d.parts[1], ignored) : kNone;
  const uint32_t x = b.source(1, t), y = b.source(2, t);
  const uint32_t c = combine == Combine::none ? kNone : b.predicate(b.operand(3), negated);
  Insn& i = b.emit(exec);
  i.dst = p, i.src = {x, y, c, q};
  i.a = static_cast<uint8_t>(combine), i.b = negated;
}

}  // namespace

void build_compare(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "setp" || op == "set") {
    b.mods().take("ftz");
    Relation r = Relation::eq;
    bool found = false;
    for (size_t k = 0; k < std::size(kRelations) && !found; ++k)
      if (b.mods().take(kRelations[k])) r = static_cast<Relation>(k), found = true;
    const auto first = b.mods().take_type();
    if (!found || !first) return b.unsupported_form(b.insn().opcode);
    if (op == "setp") return build_setp(b, *first, r);
    const auto second = b.mods().take_type();
    const ExecFn exec = second ? compare_for<true>(*second, r) : nullptr;
    if (!exec || row(*first).bits != 32) return b.unsupported_form(b.insn().opcode);
    const uint32_t dst = b.destination(0, *first), x = b.source(1, *second), y = b.source(2, *second);
    Insn& i = b.emit(exec);
    i.dst = dst, i.src = {x, y, kNone, kNone}, i.a = *first == Type::f32;
    return;
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
  b.mods().take("ftz");
  const auto control = b.mods().take_type();
  if (control != Type::s32 && control != Type::f32) return b.unsupported_form(b.insn().opcode);
  const bool real = control == Type::f32;
  const uint32_t dst = b.destination(0, *type), x = b.source(1, *type), y = b.source(2, *type),
                 c = b.source(3, *control);
  Insn& i = b.emit(wide ? (real ? slct<uint64_t, true> : slct<uint64_t, false>)
                        : (real ? slct<uint32_t, true> : slct<uint32_t, false>));
  i.dst = dst, i.src = {x, y, c, kNone};
}

}  // namespace tc::sim
