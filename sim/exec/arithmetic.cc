// add, sub, mul, mad, div, rem, abs, neg, min, max, fma over integers, floats and halves. PTX ISA 9.7.1, 9.7.3, 9.7.4.
// Integers wrap; division by zero gives all ones, as sm_90 does (the ISA leaves it open). Floats follow IEEE in the
// rounding mode asked for; .ftz flushes subnormal operands and results to signed zero; .approx is computed exactly.
// add and mul without .rn may be fused by ptxas on a device, so the last bit may differ there.
#include <cfenv>
#include <cmath>

#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <class T>
struct Halved {  // what to do with the two members of a packed type
  static constexpr bool packed = std::is_same_v<T, Half2> || std::is_same_v<T, Bfloat2>;
  static constexpr bool single = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
};
template <class T, class F, class... A>
T map_floats(F f, A... a) {
  if constexpr (Halved<T>::packed) return T{f(a.lo...), f(a.hi...)};
  else if constexpr (Halved<T>::single) return T{f(a.v...)};
  else return f(a...);
}

template <class T>
concept Integer = std::is_integral_v<T>;
template <class T>
using Wrap = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
    else return map_floats<T>([](auto x, auto y) { return x + y; }, a, b);
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
    else return map_floats<T>([](auto x, auto y) { return x - y; }, a, b);
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return map_floats<T>([](auto x, auto y) { return x * y; }, a, b);
  }
};
struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
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
struct Fma {
  template <class T>
  T operator()(T a, T b, T c) const {
    if constexpr (sizeof(T) == 8 && std::is_same_v<T, double>) return std::fma(a, b, c);
    else return map_floats<T>([](float x, float y, float z) { return std::fma(x, y, z); }, a, b, c);
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!Integer<T>) return map_floats<T>([](auto x, auto y) { return x / y; }, a, b);
    else if (b == 0) return static_cast<T>(-1);
    else if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub{}(T{0}, a);
    else return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return Sub{}(T{0}, a);
    else return map_floats<T>([](auto x) { return -x; }, a);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return a < 0 ? Sub{}(T{0}, a) : a;
    else return map_floats<T>([](auto x) { return std::fabs(x); }, a);
  }
};
// The number where one operand is NaN; -0 is below +0.
template <bool Max, bool Nan>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return Max ? (a > b ? a : b) : (a < b ? a : b);
    else
      return map_floats<T>(
          [](auto x, auto y) {
            if (Nan && (std::isnan(x) || std::isnan(y))) return std::numeric_limits<decltype(x)>::quiet_NaN();
            if (std::isnan(x)) return y;
            if (std::isnan(y)) return x;
            if (x == y) return std::signbit(x) == Max ? y : x;
            return (x > y) == Max ? x : y;
          },
          a, b);
  }
};
using Max = Extreme<true, false>;
using Min = Extreme<false, false>;

// ---- flushing, saturating, and rounding other than to nearest: Op wrapped
inline float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
template <class Op, bool Saturate>
struct Flushed {
  template <class... T>
  float operator()(T... a) const {
    const float v = flush(Op{}(flush(a)...));
    return !Saturate ? v : v > 0 ? (v < 1 ? v : 1.0f) : 0.0f;
  }
};
template <class Op>
struct Clamped {
  template <class T, class... U>
  T operator()(T a, U... b) const {
    return map_floats<T>([](auto v) { return v > 0 ? (v < 1 ? v : decltype(v){1}) : decltype(v){0}; }, Op{}(a, b...));
  }
};
template <class Op>
struct Relu {
  template <class T, class... U>
  T operator()(T a, U... b) const {
    return map_floats<T>([](auto v) { return v > 0 ? v : decltype(v){0}; }, Op{}(a, b...));
  }
};
// The rounding mode of the host is set around each operation; `volatile` keeps the operation inside.
template <class Op, int Mode>
struct Rounded {
  template <class T, class... U>
  T operator()(T a, U... b) const {
    std::fesetround(Mode);
    volatile T x = a;
    volatile T r = Op{}(static_cast<T>(x), b...);
    std::fesetround(FE_TONEAREST);
    return r;
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
    case Type::u32:
    case Type::b32: return run<N, uint32_t, F>();
    case Type::s32: return run<N, int32_t, F>();
    case Type::u64:
    case Type::b64: return run<N, uint64_t, F>();
    case Type::s64: return run<N, int64_t, F>();
    default: return nullptr;
  }
}

struct RealForm {
  std::string_view rounding = "rn";
  bool ftz = false, sat = false, relu = false;
};

template <Arity N, class F>
ExecFn for_real(Type t, const RealForm& f) {
  const bool nearest = f.rounding == "rn";
  if (t == Type::f32) {
    if (f.rounding == "rz") return run<N, float, Rounded<F, FE_TOWARDZERO>>();
    if (f.rounding == "rm") return run<N, float, Rounded<F, FE_DOWNWARD>>();
    if (f.rounding == "rp") return run<N, float, Rounded<F, FE_UPWARD>>();
    if (f.ftz) return f.sat ? run<N, float, Flushed<F, true>>() : run<N, float, Flushed<F, false>>();
    return f.sat ? run<N, float, Clamped<F>>() : run<N, float, F>();
  }
  if (t == Type::f64) {
    if (f.rounding == "rz") return run<N, double, Rounded<F, FE_TOWARDZERO>>();
    if (f.rounding == "rm") return run<N, double, Rounded<F, FE_DOWNWARD>>();
    if (f.rounding == "rp") return run<N, double, Rounded<F, FE_UPWARD>>();
    return run<N, double, F>();
  }
  if (!nearest) return nullptr;
  auto half = [&]<class T>(T*) -> ExecFn {
    if (f.sat) return run<N, T, Clamped<F>>();
    return f.relu ? run<N, T, Relu<F>>() : run<N, T, F>();
  };
  switch (t) {
    case Type::f16: return half(static_cast<Half*>(nullptr));
    case Type::f16x2: return half(static_cast<Half2*>(nullptr));
    case Type::bf16: return half(static_cast<Bfloat*>(nullptr));
    case Type::bf16x2: return half(static_cast<Bfloat2*>(nullptr));
    default: return nullptr;
  }
}

RealForm real_form(Builder& b) {
  RealForm f;
  for (std::string_view r : {"rn", "rz", "rm", "rp"})
    if (b.mods().take(r)) f.rounding = r;
  f.ftz = b.mods().take("ftz");
  f.sat = b.mods().take("sat");
  f.relu = b.mods().take("relu");
  b.mods().take("noftz");
  return f;
}

template <Arity N, class F>
ExecFn for_any(Builder& b, Type t) {
  if (is_real(t)) return for_real<N, F>(t, real_form(b));
  return for_integer<N, F>(t);
}

// fma.rn.f32 with the instruction of the host where it has one: a library call a lane otherwise.
[[gnu::target("fma,avx2")]] Step fma_f32_native(Warp& w, const Insn& i) {
  const auto *a = w.reg<float>(i.src[0]), *b = w.reg<float>(i.src[1]), *c = w.reg<float>(i.src[2]);
  auto* d = w.reg<float>(i.dst);
  if (w.mask != ~0u) {
    for (uint32_t m = w.mask; m; m &= m - 1) {
      const uint32_t l = lowest_lane(m);
      d[l] = __builtin_fmaf(a[l], b[l], c[l]);
    }
    return Step::next;
  }
#pragma GCC ivdep
  for (uint32_t l = 0; l < 32; ++l) d[l] = __builtin_fmaf(a[l], b[l], c[l]);
  return Step::next;
}
bool host_has_fma() {
  static const bool has = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  return has;
}

void emit(Builder& b, ExecFn exec, Type t, size_t sources) {
  b.expect_operands(sources + 1, sources + 1);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  const uint32_t dst = b.destination(0, t);
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  for (size_t k = 0; k < sources; ++k) src[k] = b.source(k + 1, t);
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = src;
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

// mul and mad: .lo, .hi, .wide for integers.
void build_multiply(Builder& b, Type t, bool add) {
  const size_t sources = add ? 3 : 2;
  if (is_real(t)) {
    const RealForm f = real_form(b);
    return emit(b, add ? for_real<Arity::three, Fma>(t, f) : for_real<Arity::two, Mul>(t, f), t, sources);
  }
  if (b.mods().take("lo"))
    return emit(b, add ? for_integer<Arity::three, MadOf<Mul>>(t) : for_integer<Arity::two, Mul>(t), t, sources);
  if (b.mods().take("hi"))
    return emit(b, add ? for_integer<Arity::three, MadOf<MulHi>>(t) : for_integer<Arity::two, MulHi>(t), t, sources);
  if (!b.mods().take("wide")) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(sources + 1, sources + 1);
  const ExecFn exec = add ? for_wide<Arity::three, MadWide>(t) : for_wide<Arity::two, MulWide>(t);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  const uint32_t dst = b.destination(0, widened(t)), x = b.source(1, t), y = b.source(2, t);
  const uint32_t z = add ? b.source(3, widened(t)) : kNone;
  Insn& i = b.emit(exec);
  i.dst = dst, i.src = {x, y, z, kNone};
}

struct CarryForm {
  bool subtract, carry_in, carry_out;
};
// 32 or 64 bits; a carry bit a lane in Warp::carry. Subtraction stores the borrow.
template <class T>
Step carry_chain(Warp& w, const Insn& i) {
  const T *a = w.reg<T>(i.src[0]), *b = w.reg<T>(i.src[1]);
  T* d = w.reg<T>(i.dst);
  const bool subtract = i.a & 1, in = i.a & 2, out = i.a & 4;
  uint32_t carry = w.carry;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Uint128 x = a[l], y = b[l], c = in ? (w.carry >> l) & 1 : 0;
    const Uint128 r = subtract ? x - y - c : x + y + c;
    d[l] = static_cast<T>(r);
    const bool bit = (r >> (8 * sizeof(T))) & 1;
    carry = (carry & ~(1u << l)) | (bit ? 1u << l : 0);
  }
  if (out) w.carry = carry;
  return Step::next;
}
void emit_carry(Builder& b, CarryForm f) {
  const Type t = b.mods().take_type().value_or(Type::u32);
  b.expect_operands(3, 3);
  const uint32_t dst = b.destination(0, t), x = b.source(1, t), y = b.source(2, t);
  Insn& i = b.emit(row(t).bits == 64 ? carry_chain<uint64_t> : carry_chain<uint32_t>);
  i.dst = dst, i.src = {x, y, kNone, kNone};
  i.a = static_cast<uint8_t>(f.subtract | f.carry_in << 1 | f.carry_out << 2);
}

}  // namespace

void build_carry(Builder& b) { emit_carry(b, {b.mnemonic() == "subc", true, b.mods().take("cc")}); }

void build_arithmetic(Builder& b) {
  const std::string& op = b.mnemonic();
  if (b.mods().take("cc")) {
    if (op == "add" || op == "sub") return emit_carry(b, {op == "sub", false, true});
    return b.unsupported_form(b.insn().opcode);
  }
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (op == "mul" || op == "mad") return build_multiply(b, t, op == "mad");
  if (op == "fma") {
    const RealForm f = real_form(b);
    if (t == Type::f32 && f.rounding == "rn" && !f.ftz && !f.sat && host_has_fma())
      return emit(b, fma_f32_native, t, 3);
    return emit(b, for_real<Arity::three, Fma>(t, f), t, 3);
  }
  if (op == "add") return emit(b, for_any<Arity::two, Add>(b, t), t, 2);
  if (op == "sub") return emit(b, for_any<Arity::two, Sub>(b, t), t, 2);
  if (op == "neg") return emit(b, for_any<Arity::one, Neg>(b, t), t, 1);
  if (op == "abs") {
    if (is_real(t)) return emit(b, for_real<Arity::one, Abs>(t, real_form(b)), t, 1);
    return emit(b, for_integer<Arity::one, Abs>(t), t, 1);
  }
  if (op == "min" || op == "max") {
    const bool max = op == "max";
    if (b.mods().take("NaN"))
      return emit(
          b, max ? for_any<Arity::two, Extreme<true, true>>(b, t) : for_any<Arity::two, Extreme<false, true>>(b, t), t,
          2);
    return emit(b, max ? for_any<Arity::two, Max>(b, t) : for_any<Arity::two, Min>(b, t), t, 2);
  }
  if (op == "div") {
    b.mods().take("full"), b.mods().take("approx");
    if (t == Type::f32 || t == Type::f64) return emit(b, for_real<Arity::two, Div>(t, real_form(b)), t, 2);
    return emit(b, for_integer<Arity::two, Div>(t), t, 2);
  }
  if (op == "rem") return emit(b, for_integer<Arity::two, Rem>(t), t, 2);
  b.unsupported_form(b.insn().opcode);
}

}  // namespace tc::sim
