// add, sub, mul, mad, div, rem, abs, neg, min, max over integers, and the carry chains. PTX ISA 9.7.1, 9.7.2. Floats
// are in real_arithmetic.cc. Integers wrap unless .sat; division and remainder by zero give all ones, as an H200 does
// (the ISA leaves it open). Pairs of 16 bits (.u16x2, .s16x2) work half by half.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <class T>
using Wrap = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
};
inline int32_t to_s32(int64_t v) {
  return static_cast<int32_t>(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
struct AddSat {
  int32_t operator()(int32_t a, int32_t b) const { return to_s32(int64_t{a} + b); }
};
struct SubSat {
  int32_t operator()(int32_t a, int32_t b) const { return to_s32(int64_t{a} - b); }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return to_s32((int64_t{a} * b >> 32) + c); }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) <= 4) return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    else return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) <= 4) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((Wide{a} * Wide{b}) >> (8 * sizeof(T)));
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
    }
  }
};
template <class D>
struct MulWide {
  template <class T>
  D operator()(T a, T b) const {
    return static_cast<D>(static_cast<D>(a) * static_cast<D>(b));
  }
};
template <class M>
struct MadOf {
  template <class T, class C>
  C operator()(T a, T b, C c) const {
    return Add{}(static_cast<C>(M{}(a, b)), c);
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Sub{}(T{0}, a) : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
template <class F>
struct Relu {
  template <class T>
  T operator()(T a, T b) const {
    const T r = F{}(a, b);
    return r < 0 ? T{0} : r;
  }
};
// F on both halves of a register.
template <class H, class F>
struct Pairwise {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto low = static_cast<uint16_t>(F{}(static_cast<H>(a), static_cast<H>(b)));
    const auto high = static_cast<uint16_t>(F{}(static_cast<H>(a >> 16), static_cast<H>(b >> 16)));
    return low | uint32_t{high} << 16;
  }
};

enum class Arity : uint8_t { one, two, three };
template <Arity N, class T, class F>
ExecFn run() {
  if constexpr (N == Arity::one) return unary<T, F>;
  else if constexpr (N == Arity::two) return binary<T, F>;
  else return ternary<T, F>;
}

template <Arity N, class F>
ExecFn for_integer(Type t) {
  switch (t) {
    case Type::u16: return run<N, uint16_t, F>();
    case Type::s16: return run<N, int16_t, F>();
    case Type::u32: return run<N, uint32_t, F>();
    case Type::s32: return run<N, int32_t, F>();
    case Type::u64: return run<N, uint64_t, F>();
    case Type::s64: return run<N, int64_t, F>();
    default: return nullptr;
  }
}
template <class F>
ExecFn for_integer_or_pair(Type t) {
  if (t == Type::u16x2) return binary<uint32_t, Pairwise<uint16_t, F>>;
  if (t == Type::s16x2) return binary<uint32_t, Pairwise<int16_t, F>>;
  return for_integer<Arity::two, F>(t);
}
template <class F>
ExecFn for_extreme(Type t, bool relu) {
  if (!relu) return for_integer_or_pair<F>(t);
  if (t == Type::s16x2) return binary<uint32_t, Pairwise<int16_t, Relu<F>>>;
  return t == Type::s32 ? binary<int32_t, Relu<F>> : nullptr;
}

template <class D, class T, class F, Arity N>
ExecFn widening() {
  if constexpr (N == Arity::two) return binary<T, F, D>;
  else return ternary<T, F, D, D>;
}
template <Arity N, template <class> class F>
ExecFn for_wide(Type t) {
  switch (t) {
    case Type::u16: return widening<uint32_t, uint16_t, F<uint32_t>, N>();
    case Type::s16: return widening<int32_t, int16_t, F<int32_t>, N>();
    case Type::u32: return widening<uint64_t, uint32_t, F<uint64_t>, N>();
    case Type::s32: return widening<int64_t, int32_t, F<int64_t>, N>();
    default: return nullptr;
  }
}
template <class D>
using MadWide = MadOf<MulWide<D>>;

Type widened(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

// mul and mad: .lo, .hi, .wide.
void build_multiply(Builder& b, Type t, bool add) {
  std::vector<Type> sources(add ? 3 : 2, t);
  if (b.mods().take("lo"))
    return b.emit_typed(add ? for_integer<Arity::three, MadOf<Mul>>(t) : for_integer<Arity::two, Mul>(t), t, sources);
  if (b.mods().take("hi")) {
    if (add && b.mods().take("sat")) return b.emit_typed(ternary<int32_t, MadHiSat>, t, sources);
    return b.emit_typed(add ? for_integer<Arity::three, MadOf<MulHi>>(t) : for_integer<Arity::two, MulHi>(t), t,
                        sources);
  }
  if (!b.mods().take("wide")) return b.unsupported_form(b.insn().opcode);
  if (add) sources[2] = widened(t);
  b.emit_typed(add ? for_wide<Arity::three, MadWide>(t) : for_wide<Arity::two, MulWide>(t), widened(t), sources);
}

// ---- carry chains: a carry bit a lane in Warp::carry; subtraction stores the borrow.
// Insn::a: subtract 1, carry in 2, carry out 4, multiply the first two sources 8, the high half of the product 16.
enum CarryFlag : uint8_t { kSubtract = 1, kCarryIn = 2, kCarryOut = 4, kMultiply = 8, kHigh = 16 };
template <class T>
Step carry_chain(Warp& w, const Insn& i) {
  using U = std::make_unsigned_t<T>;
  const U *a = w.reg<U>(i.src[0]), *b = w.reg<U>(i.src[1]), *c = w.reg<U>(i.src[2] == kNone ? i.src[1] : i.src[2]);
  U* d = w.reg<U>(i.dst);
  uint32_t carry = w.carry;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    Uint128 x = a[l], y = b[l];
    if (i.a & kMultiply) {
      const T p = static_cast<T>(a[l]), q = static_cast<T>(b[l]);
      x = static_cast<U>(i.a & kHigh ? MulHi{}(p, q) : Mul{}(p, q)), y = c[l];
    }
    const Uint128 in = i.a & kCarryIn ? (w.carry >> l) & 1 : 0;
    const Uint128 r = i.a & kSubtract ? x - y - in : x + y + in;
    d[l] = static_cast<U>(r);
    const bool bit = (r >> (8 * sizeof(U))) & 1;
    carry = (carry & ~(1u << l)) | (bit ? 1u << l : 0);
  }
  if (i.a & kCarryOut) w.carry = carry;
  return Step::next;
}
void emit_carry(Builder& b, Type t, uint8_t flags) {
  const bool wide = row(t).bits == 64;
  ExecFn exec = wide ? carry_chain<uint64_t> : carry_chain<uint32_t>;
  if (is_signed(t)) exec = wide ? carry_chain<int64_t> : carry_chain<int32_t>;
  b.emit_typed(exec, t, std::vector<Type>(flags & kMultiply ? 3 : 2, t));
  if (!b.failed()) b.program().code.back().a = flags;
}

}  // namespace

void build_carry(Builder& b) {
  const std::string& op = b.mnemonic();
  uint8_t flags = kCarryIn;
  if (b.mods().take("cc")) flags |= kCarryOut;
  if (op == "subc") flags |= kSubtract;
  if (op == "madc") flags |= kMultiply;
  if (b.mods().take("hi")) flags |= kHigh;
  b.mods().take("lo");
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  emit_carry(b, *type, flags);
}

void build_arithmetic(Builder& b) {
  const std::string& op = b.mnemonic();
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (is_real(t)) return build_real_arithmetic(b, t);
  if (b.mods().take("cc")) {
    uint8_t flags = kCarryOut;
    if (op == "sub") flags |= kSubtract;
    if (op == "mad") flags |= kMultiply;
    if (b.mods().take("hi")) flags |= kHigh;
    b.mods().take("lo");
    return emit_carry(b, t, flags);
  }
  if (op == "mul" || op == "mad") return build_multiply(b, t, op == "mad");
  if (b.mods().take("sat")) {
    if (t != Type::s32) return b.unsupported_form(b.insn().opcode);
    return b.emit_typed(op == "add"   ? binary<int32_t, AddSat>
                        : op == "sub" ? binary<int32_t, SubSat>
                                      : nullptr,
                        t, {t, t});
  }
  if (op == "add") return b.emit_typed(for_integer_or_pair<Add>(t), t, {t, t});
  if (op == "sub") return b.emit_typed(for_integer<Arity::two, Sub>(t), t, {t, t});
  if (op == "neg") return b.emit_typed(for_integer<Arity::one, Neg>(t), t, {t});
  if (op == "abs") return b.emit_typed(for_integer<Arity::one, Abs>(t), t, {t});
  if (op == "min") return b.emit_typed(for_extreme<Min>(t, b.mods().take("relu")), t, {t, t});
  if (op == "max") return b.emit_typed(for_extreme<Max>(t, b.mods().take("relu")), t, {t, t});
  if (op == "div") return b.emit_typed(for_integer<Arity::two, Div>(t), t, {t, t});
  if (op == "rem") return b.emit_typed(for_integer<Arity::two, Rem>(t), t, {t, t});
  b.unsupported_form(b.insn().opcode);
}

}  // namespace tc::sim
