// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, copysign, testp. PTX ISA 9.7.3, 9.7.4. Forms with a rounding mode are
// exact; the .approx ones are computed by the host's library in double and rounded once, so they are within a device's
// documented error; how far an H200 is from that is in docs/simulator.md. f64 approximations keep 20 bits of mantissa,
// as a device does.
#include "sim/exec/builder.h"
#include "sim/exec/half_lanes.h"

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
  Bfloat operator()(Bfloat a) const {
    const float r = bf16_value(pack<kBf16, Rounding::rn>(of(Ftz ? flush(a.v) : a.v)));
    return {Ftz ? flush(r) : r};
  }
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
// 2^n of the nearest integer n, times the series of 2^r for what is left, |r| ≤ 1/2: its error is 2^-51. No branches,
// so that loops over lanes become vector code.
[[gnu::always_inline]] inline double exp_2(double x) {
  constexpr double kMost = 1000, kShifter = 0x1.8p52;  // x + kShifter has n in its last bits
  constexpr std::array kSeries = {1.0,
                                  0.693147180559945309417,
                                  0.240226506959100712334,
                                  0.0555041086648215799531,
                                  0.00961812910762847716198,
                                  0.00133335581464284434234,
                                  0.000154035303933816099544,
                                  1.52527338040598402800e-5,
                                  1.32154867901443094884e-6,
                                  1.01780860092396997275e-7,
                                  7.05491162080112332987e-9,
                                  4.44553827187081149760e-10,
                                  2.56784359934882051420e-11};  // (ln 2)^k / k!
  const double low = x < -kMost ? -kMost : x, v = low > kMost ? kMost : low;
  const double shifted = v + kShifter, r = v - (shifted - kShifter);
  double sum = kSeries.back();
#pragma GCC unroll 16
  for (size_t k = kSeries.size() - 1; k-- > 0;) sum = sum * r + kSeries[k];
  const double scaled = as_double(bits_of(sum) + (bits_of(shifted) << 52));
  return x == x ? scaled : x;
}
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <double (*F)(double)>
ExecFn apply_for(Type t, bool ftz) {
  switch (t) {
    case Type::f32: return ftz ? unary<float, Apply<F, true>> : unary<float, Apply<F, false>>;
    case Type::f16: return looked_up<Half, Apply<F, false>>;
    case Type::f16x2: return looked_up<Half2, Apply<F, false>>;
    case Type::bf16: return ftz ? looked_up<Bfloat, Apply<F, true>> : looked_up<Bfloat, Apply<F, false>>;
    case Type::bf16x2: return ftz ? looked_up<Bfloat2, Apply<F, true>> : looked_up<Bfloat2, Apply<F, false>>;
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
