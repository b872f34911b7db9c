// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, copysign, testp. PTX ISA 9.7.3, 9.7.4. Forms with a rounding mode are
// exact; the .approx ones are computed by the host's library in double and rounded once, so they are within a device's
// documented error; how far an H200 is from that is in docs/simulator.md. f64 approximations keep 20 bits of mantissa,
// as a device does.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

template <double (*F)(double), bool Ftz>
struct Apply {
  static double of(float v) { return F(v); }
  float operator()(float a) const {
    const auto r = static_cast<float>(F(Ftz ? flush(a) : a));
    return canonical(Ftz ? flush(r) : r);
  }
  Half operator()(Half a) const { return {half_value(pack<kF16, Rounding::rn>(of(a.v)))}; }
  Half2 operator()(Half2 a) const { return {(*this)(Half{a.lo}).v, (*this)(Half{a.hi}).v}; }
  Bfloat operator()(Bfloat a) const {
    const float r = bf16_value(pack<kBf16, Rounding::rn>(of(Ftz ? flush(a.v) : a.v)));
    return {Ftz ? flush(r) : r};
  }
  Bfloat2 operator()(Bfloat2 a) const { return {(*this)(Bfloat{a.lo}).v, (*this)(Bfloat{a.hi}).v}; }
};
double reciprocal(double x) { return 1 / x; }
double square_root(double x) { return std::sqrt(x); }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
// A device takes the argument in turns: x times 1/(2 pi) as f32, rounded toward zero. This makes its error for large
// arguments (2^-16.6 at 100), and an H200 is within 2^-21.4 of the function of what is left.
double in_turns(double x) {
  constexpr float kTurn = 0.15915494f;
  constexpr double kTwoPi = 6.283185307179586477;
  return kTwoPi * narrow<Rounding::rz>(x * kTurn);
}
double sine(double x) { return std::sin(in_turns(x)); }
double cosine(double x) { return std::cos(in_turns(x)); }
double log_2(double x) { return std::log2(x); }
double exp_2(double x) { return std::exp2(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <double (*F)(double)>
ExecFn apply_for(Type t, bool ftz) {
  switch (t) {
    case Type::f32: return ftz ? unary<float, Apply<F, true>> : unary<float, Apply<F, false>>;
    case Type::f16: return unary<Half, Apply<F, false>>;
    case Type::f16x2: return unary<Half2, Apply<F, false>>;
    case Type::bf16: return ftz ? unary<Bfloat, Apply<F, true>> : unary<Bfloat, Apply<F, false>>;
    case Type::bf16x2: return ftz ? unary<Bfloat2, Apply<F, true>> : unary<Bfloat2, Apply<F, false>>;
    default: return nullptr;
  }
}

// rcp.approx.ftz.f64 and rsqrt.approx.f64 look at the upper word of the operand and give one; the lower is zero.
template <double (*F)(double), bool Ftz>
struct ApplyUpper {
  double operator()(double a) const {
    const uint64_t upper = bits_of(a) & 0xFFFF'FFFF'0000'0000;
    const bool tiny = Ftz && (upper & 0x7FF0'0000'0000'0000) == 0;
    const double r = F(as_double(tiny ? upper & 0x8000'0000'0000'0000 : upper));
    const uint64_t b = bits_of(r);
    if (r != r) return as_double(0x7FFF'FFFF'0000'0000);
    if (Ftz && (b & 0x7FF0'0000'0000'0000) == 0) return as_double(b & 0x8000'0000'0000'0000);
    return as_double(b & 0xFFFF'FFFF'0000'0000);
  }
};

template <class T>
struct CopySign {
  using Bits = typename Lane<T>::Slot;
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  T operator()(T a, T b) const {
    return std::bit_cast<T>((std::bit_cast<Bits>(a) & kSign) | (std::bit_cast<Bits>(b) & ~kSign));
  }
};

enum class Test : uint8_t { finite, infinite, number, notanumber, normal, subnormal };
template <class T>
bool passes(Test test, T v) {
  const T magnitude = std::fabs(v);
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kLeast = std::numeric_limits<T>::min();
  switch (test) {
    case Test::finite: return magnitude < kInfinity;
    case Test::infinite: return magnitude == kInfinity;
    case Test::number: return v == v;
    case Test::notanumber: return v != v;
    case Test::normal: return magnitude < kInfinity && (magnitude >= kLeast || v == 0);  // zero is normal here
    case Test::subnormal: return magnitude < kLeast && v != 0;
  }
  return false;
}
template <class T>
Step testp(Warp& w, const Insn& i) {
  const auto* a = w.reg<T>(i.src[0]);
  uint32_t bits = 0;
  for (uint32_t l = 0; l < 32; ++l) bits |= passes(static_cast<Test>(i.a), a[l]) ? 1u << l : 0;
  w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | (bits & w.mask);
  return Step::next;
}

void build_testp(Builder& b, Type t) {
  constexpr std::string_view kNames[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (uint8_t k = 0; k < std::size(kNames); ++k) {
    if (!b.mods().take(kNames[k])) continue;
    bool ignored = false;
    const uint32_t dst = b.predicate(b.operand(0), ignored), a = b.source(1, t);
    Insn& i = b.emit(t == Type::f64 ? testp<double> : testp<float>);
    i.dst = dst, i.src[0] = a, i.a = k;
    return;
  }
  b.unsupported_form(b.insn().opcode);
}

ExecFn approximation(const std::string& op, Type t, bool ftz) {
  if (op == "rcp") return t == Type::f64 ? unary<double, ApplyUpper<reciprocal, true>> : apply_for<reciprocal>(t, ftz);
  if (op == "sqrt") return apply_for<square_root>(t, ftz);
  if (op == "rsqrt") {
    if (t != Type::f64) return apply_for<reciprocal_root>(t, ftz);
    return ftz ? unary<double, ApplyUpper<reciprocal_root, true>> : unary<double, ApplyUpper<reciprocal_root, false>>;
  }
  if (op == "sin") return apply_for<sine>(t, ftz);
  if (op == "cos") return apply_for<cosine>(t, ftz);
  if (op == "lg2") return apply_for<log_2>(t, ftz);
  if (op == "ex2") return apply_for<exp_2>(t, ftz);
  return op == "tanh" ? apply_for<hyperbolic_tangent>(t, ftz) : nullptr;
}

}  // namespace

void build_real_function(Builder& b) {
  const std::string& op = b.mnemonic();
  const auto type = b.mods().take_type();
  if (!type || !is_real(*type)) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (op == "testp") return build_testp(b, t);
  if (op == "copysign")
    return b.emit_typed(t == Type::f64 ? binary<double, CopySign<double>> : binary<float, CopySign<float>>, t, {t, t});
  if (!b.mods().take("approx")) return build_real_arithmetic(b, t);
  b.emit_typed(approximation(op, t, b.mods().take("ftz")), t, {t});
}

}  // namespace tc::sim
