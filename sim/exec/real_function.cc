// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, copysign, testp. PTX ISA 9.7.3. The .approx forms are computed by the
// host's library in double and rounded once, so they are at least as accurate as a device's; the last bits may differ.
#include <cmath>

#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

inline float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }

template <double (*F)(double), bool Ftz>
struct Apply {
  float operator()(float a) const {
    const float r = static_cast<float>(F(Ftz ? flush(a) : a));
    return Ftz ? flush(r) : r;
  }
  double operator()(double a) const { return F(a); }
  Half operator()(Half a) const { return {static_cast<float>(F(a.v))}; }
  Bfloat operator()(Bfloat a) const { return {static_cast<float>(F(a.v))}; }
  Half2 operator()(Half2 a) const { return {static_cast<float>(F(a.lo)), static_cast<float>(F(a.hi))}; }
  Bfloat2 operator()(Bfloat2 a) const { return {static_cast<float>(F(a.lo)), static_cast<float>(F(a.hi))}; }
};
double reciprocal(double x) { return 1 / x; }
double square_root(double x) { return std::sqrt(x); }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double log_2(double x) { return std::log2(x); }
double exp_2(double x) { return std::exp2(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }

template <double (*F)(double)>
ExecFn apply_for(Type t, bool ftz) {
  switch (t) {
    case Type::f32: return ftz ? unary<float, Apply<F, true>> : unary<float, Apply<F, false>>;
    case Type::f64: return unary<double, Apply<F, false>>;
    case Type::f16: return unary<Half, Apply<F, false>>;
    case Type::f16x2: return unary<Half2, Apply<F, false>>;
    case Type::bf16: return unary<Bfloat, Apply<F, false>>;
    case Type::bf16x2: return unary<Bfloat2, Apply<F, false>>;
    default: return nullptr;
  }
}
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

enum class Test : uint8_t { finite, infinite, number, notanumber, normal, subnormal };
template <class T>
Step testp(Warp& w, const Insn& i) {
  const auto* a = w.reg<typename Lane<T>::Slot>(i.src[0]);
  uint32_t bits = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const int c = std::fpclassify(Lane<T>::get(a[l]));
    bool r = false;
    switch (static_cast<Test>(i.a)) {
      case Test::finite: r = c != FP_NAN && c != FP_INFINITE; break;
      case Test::infinite: r = c == FP_INFINITE; break;
      case Test::number: r = c != FP_NAN; break;
      case Test::notanumber: r = c == FP_NAN; break;
      case Test::normal: r = c == FP_NORMAL; break;
      case Test::subnormal: r = c == FP_SUBNORMAL; break;
    }
    bits |= static_cast<uint32_t>(r) << l;
  }
  w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | bits;
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

}  // namespace

void build_real_function(Builder& b) {
  const std::string& op = b.mnemonic();
  const auto type = b.mods().take_type();
  if (!type || !is_real(*type)) return b.unsupported_form(b.insn().opcode);
  const Type t = *type;
  if (op == "testp") return build_testp(b, t);
  const bool ftz = b.mods().take("ftz");
  b.mods().take("approx"), b.mods().take("rn");
  if (op == "copysign") {
    const uint32_t dst = b.destination(0, t), x = b.source(1, t), y = b.source(2, t);
    Insn& i = b.emit(t == Type::f64 ? binary<double, CopySign> : binary<float, CopySign>);
    i.dst = dst, i.src = {x, y, kNone, kNone};
    return;
  }
  ExecFn exec = nullptr;
  if (op == "rcp") exec = apply_for<reciprocal>(t, ftz);
  if (op == "sqrt") exec = apply_for<square_root>(t, ftz);
  if (op == "rsqrt") exec = apply_for<reciprocal_root>(t, ftz);
  if (op == "sin") exec = apply_for<sine>(t, ftz);
  if (op == "cos") exec = apply_for<cosine>(t, ftz);
  if (op == "lg2") exec = apply_for<log_2>(t, ftz);
  if (op == "ex2") exec = apply_for<exp_2>(t, ftz);
  if (op == "tanh") exec = apply_for<hyperbolic_tangent>(t, ftz);
  if (!exec) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(2, 2);
  const uint32_t dst = b.destination(0, t), a = b.source(1, t);
  Insn& i = b.emit(exec);
  i.dst = dst, i.src[0] = a;
}

}  // namespace tc::sim
