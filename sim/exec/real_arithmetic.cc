// add, sub, mul, fma, mad, div, min, max, abs, neg over floats of 16, 32 and 64 bits. PTX ISA 9.7.3, 9.7.4, 9.7.5.
// IEEE in the rounding mode asked for; .ftz flushes subnormal operands and results to signed zero; .sat clamps to [0,
// 1] and turns NaN into 0; .relu clamps to 0 and keeps NaN. min and max give the number where one operand is NaN, and
// -0 is below +0. add and mul without .rn may be fused by ptxas on a device, so the last bit may differ there.
#include <cfenv>

#include "sim/exec/builder.h"
#include "sim/exec/half_lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

enum class Clamp : uint8_t { none, sat, relu };
enum class Arity : uint8_t { one = 1, two, three };

// ---- meaning: f32 to nearest (`nearest`), the exact f32 result in double rounded to odd (`exact`), f64, and halves as
// a float whose rounding to the half is the result (`half`; `bf16` where that needs more than f32 has)
struct Add {
  static float nearest(float a, float b) { return a + b; }
  template <Rounding R>
  static double exact(double a, double b) {
    return zero_signed<R>(odd_sum(a, b), a, b);
  }
  static double wide(double a, double b) { return with_nan(a + b, a, b); }
  static float half(float a, float b) { return a + b; }
  static float bf16(float a, float b) { return a + b; }
};
struct Sub {
  static float nearest(float a, float b) { return a - b; }
  template <Rounding R>
  static double exact(double a, double b) {
    return Add::exact<R>(a, -b);
  }
  static double wide(double a, double b) { return with_nan(a - b, a, b); }
  static float half(float a, float b) { return a - b; }
  static float bf16(float a, float b) { return a - b; }
};
inline float as_bf16(double exact) { return bf16_value(pack<kBf16, Rounding::rn>(exact)); }
constexpr float kScale = 0x1p64f;
struct Mul {
  static float nearest(float a, float b) { return a * b; }
  static float scaled(float a, float b) { return a * kScale * b; }
  template <Rounding R>
  static double exact(double a, double b) {
    return a * b;
  }
  static double wide(double a, double b) { return with_nan(a * b, a, b); }
  static float half(float a, float b) { return a * b; }
  static float bf16(float a, float b) { return as_bf16(double{a} * b); }
};
struct Fma {
  static float nearest(float a, float b, float c) { return std::fma(a, b, c); }
  static float scaled(float a, float b, float c) { return std::fma(a * kScale, b, c * kScale); }
  template <Rounding R>
  static double exact(double a, double b, double c) {
    return Add::exact<R>(a * b, c);
  }
  static double wide(double a, double b, double c) { return b != b ? quieted(b) : with_nan(std::fma(a, b, c), a, c); }
  static float half(float a, float b, float c) { return half_fma(a, b, c); }
  static float bf16(float a, float b, float c) { return as_bf16(odd_sum(double{a} * b, c)); }
};
struct Div {
  static float nearest(float a, float b) { return a / b; }
  template <Rounding R>
  static double exact(double a, double b) {
    return odd_quotient(a, b);
  }
  static double wide(double a, double b) { return a != a ? quieted(a) : with_nan(a / b, a, b); }
};
// div.approx: a times the reciprocal of b, which is flushed to 0 from 2^126 on; div.full scales such operands first.
template <bool Full>
struct FastDiv {
  static float nearest(float a, float b) {
    const bool large = std::fabs(b) > 0x1p126f;
    if constexpr (!Full) return a * (large ? std::copysign(0.0f, b) : 1 / b);
    const float scale = large ? 0.25f : std::fabs(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    return a * scale * (1 / (b * scale));
  }
};
struct Rcp {
  static float nearest(float a) { return 1 / a; }
  template <Rounding R>
  static double exact(double a) {
    return odd_quotient(1, a);
  }
  static double wide(double a) { return with_nan(1 / a, a, a); }
};
struct Sqrt {
  static float nearest(float a) { return std::sqrt(a); }
  template <Rounding R>
  static double exact(double a) {
    return odd_root(a);
  }
  static double wide(double a) { return with_nan(std::sqrt(a), a, a); }
};

// ---- the modifiers around it
template <class Op, Rounding R, bool Ftz, Clamp C>
struct Single {
  static float in(float v) { return Ftz ? flush(v) : v; }
  template <class... T>
  float operator()(T... a) const {
    if constexpr (R == Rounding::rn) {
      const float r = Op::nearest(in(a)...);
      if constexpr (!Ftz) return finish(r);
      else if constexpr (requires { Op::scaled(a...); }) return finish(flush_tiny(r, Op::scaled(in(a)...)));
      else return finish(flush(r));
    } else {
      const double exact = Op::template exact<R>(double{in(a)}...);
      const float r = narrow<R>(exact);
      return finish(Ftz ? flush_tiny(r, narrow<R>(exact * kScale)) : r);
    }
  }

 private:
  // Tiny is what has an exponent below that of 2^-126 after rounding to 24 bits, also where the subnormal rounds up to
  // it; `scaled` is the result times 2^64, which shows it.
  static float flush_tiny(float r, float scaled) {
    const bool tiny = std::fabs(r) <= 0x1p-126f && std::fabs(scaled) < 0x1p-62f;
    return as_float(tiny ? bits_of(r) & 0x80000000 : bits_of(r));
  }
  static float finish(float r) { return C == Clamp::sat ? saturate(r) : canonical(r); }
};
template <class Op>
struct Wide {
  template <class... T>
  double operator()(T... a) const {
    return Op::wide(a...);
  }
};
template <class F, class T, class... A>
T each_half(F f, T a, A... b) {
  if constexpr (kIsPair<T>) return T{f(a.lo, b.lo...), f(a.hi, b.hi...)};
  else return T{f(a.v, b.v...)};
}
template <Clamp C>
float clamp_half(float r) {
  if constexpr (C == Clamp::sat) return saturate(r);
  if constexpr (C == Clamp::relu) return r > 0 ? r : r == r ? 0.0f : r;
  return r;
}
// As for f32: tiny is what has an exponent below that of 2^-14 after rounding to 11 bits.
inline float flush_tiny(float v) {
  const float scaled = half_value(half_bits(v * 0x1p10f));
  return std::fabs(scaled) < 0x1p-4f ? std::copysign(0.0f, v) : v;
}
template <class Op, bool Ftz, Clamp C>
struct Halves {
  template <class T, class... A>
  T operator()(T a, A... b) const {
    auto one = [](auto... v) {
      if constexpr (kIsBf16<T>) return clamp_half<C>(Op::bf16(v...));
      else if constexpr (!Ftz) return clamp_half<C>(Op::half(v...));
      else return clamp_half<C>(flush_tiny(Op::half(flush_half(v)...)));
    };
    return each_half(one, a, b...);
  }
};
// fma.oob: where a or b is the NaN that stands for "out of bounds" (0x7FF7, either sign), the result is +0.
template <Clamp C>
struct OobFma {
  template <class T>
  T operator()(T a, T b, T c) const {
    constexpr uint32_t kOut = kIsBf16<T> ? 0x7FF70000 : 0x7FFEE000;
    auto one = [](float x, float y, float z) {
      const bool out = (bits_of(x) & 0x7FFFFFFF) == kOut || (bits_of(y) & 0x7FFFFFFF) == kOut;
      const float r = kIsBf16<T> ? Fma::bf16(x, y, z) : Fma::half(x, y, z);
      return clamp_half<C>(out ? 0.0f : r);
    };
    return each_half(one, a, b, c);
  }
};

// Is every product of bf16 exact in f32, and the sum with z away from overflow?
template <size_t Sources>
bool exact_in_single(const std::array<Floats64, Sources>& in) {
  constexpr uint32_t kLeast = 0x0880'0000, kMost = 0x7E80'0000;  // 2^-110, 2^126
  uint32_t outside = 0;
  for (uint32_t k = 0; k < 64; ++k) {
    const uint32_t x = bits_of(in[0][k]) << 1, y = bits_of(in[1][k]) << 1;
    const uint32_t p = bits_of(in[0][k] * in[1][k]) & 0x7FFF'FFFF;
    const uint32_t not_zero = (x != 0 ? 1u : 0u) & (y != 0 ? 1u : 0u);
    outside |= p - kLeast >= kMost - kLeast ? not_zero | (p != 0 ? 1u : 0u) : 0u;
    if constexpr (Sources == 3) outside |= (bits_of(in[2][k]) & 0x7FFF'FFFF) >= kMost ? 1u : 0u;
  }
  return outside == 0;
}
// mul and fma of bf16: in f32 where that is right for all lanes, else in f64.
template <class T, class Op, Clamp C, size_t Sources>
Step bf16_product(Warp& w, const Insn& i) {
  alignas(64) std::array<Floats64, Sources> in;
  alignas(64) Floats64 out;
  for (size_t s = 0; s < Sources; ++s) load_halves<T>(w.reg<uint32_t>(i.src[s]), in[s]);
  if constexpr (!kIsPair<T>)  // what is above a single value does not count
    for (Floats64& f : in) std::fill(f.begin() + 32, f.end(), 0.0f);
  if (!exact_in_single(in)) return halves<T, Halves<Op, false, C>, Sources>(w, i);
  for (uint32_t k = 0; k < 64; ++k) {
    if constexpr (Sources == 2) out[k] = clamp_half<C>(Op::half(in[0][k], in[1][k]));
    else out[k] = clamp_half<C>(Op::half(in[0][k], in[1][k], in[2][k]));
  }
  store_halves<T>(out, w.mask, w.reg<uint32_t>(i.dst));
  return Step::next;
}

template <Arity N, class T, class F>
ExecFn run() {
  if constexpr (kIsHalf<T>) return halves<T, F, static_cast<size_t>(N)>;
  else if constexpr (N == Arity::one) return unary<T, F>;
  else if constexpr (N == Arity::two) return binary<T, F>;
  else return ternary<T, F>;
}

// The body between two changes of the host's rounding mode; called through a pointer so that nothing moves across.
template <ExecFn Body, int Mode>
Step in_mode(Warp& w, const Insn& i) {
  ExecFn volatile body = Body;
  std::fesetround(Mode);
  const Step s = body(w, i);
  std::fesetround(FE_TONEAREST);
  return s;
}
template <Arity N, class Op, int Mode>
ExecFn wide_in_mode() {
  if constexpr (N == Arity::one) return in_mode<unary<double, Wide<Op>>, Mode>;
  else if constexpr (N == Arity::two) return in_mode<binary<double, Wide<Op>>, Mode>;
  else return in_mode<ternary<double, Wide<Op>>, Mode>;
}

struct Form {
  Rounding rounding = Rounding::rn;
  bool ftz = false;
  Clamp clamp = Clamp::none;
};
Form take_form(Builder& b) {
  Form f;
  constexpr std::pair<std::string_view, Rounding> kModes[] = {
      {"rn", Rounding::rn}, {"rz", Rounding::rz}, {"rm", Rounding::rm}, {"rp", Rounding::rp}};
  for (const auto& [name, mode] : kModes)
    if (b.mods().take(name)) f.rounding = mode;
  f.ftz = b.mods().take("ftz");
  if (b.mods().take("sat")) f.clamp = Clamp::sat;
  else if (b.mods().take("relu")) f.clamp = Clamp::relu;
  return f;
}

template <Arity N, class Op, Rounding R>
ExecFn single_rounded(const Form& f) {
  const bool sat = f.clamp == Clamp::sat;
  if (f.ftz)
    return sat ? run<N, float, Single<Op, R, true, Clamp::sat>>() : run<N, float, Single<Op, R, true, Clamp::none>>();
  return sat ? run<N, float, Single<Op, R, false, Clamp::sat>>() : run<N, float, Single<Op, R, false, Clamp::none>>();
}
template <Arity N, class Op>
ExecFn for_single(const Form& f) {
  switch (f.rounding) {
    case Rounding::rna:
    case Rounding::rn: return single_rounded<N, Op, Rounding::rn>(f);
    case Rounding::rz: return single_rounded<N, Op, Rounding::rz>(f);
    case Rounding::rm: return single_rounded<N, Op, Rounding::rm>(f);
    case Rounding::rp: return single_rounded<N, Op, Rounding::rp>(f);
  }
  return nullptr;
}
template <Arity N, class Op>
ExecFn for_wide(const Form& f) {
  switch (f.rounding) {
    case Rounding::rna:
    case Rounding::rn: return run<N, double, Wide<Op>>();
    case Rounding::rz: return wide_in_mode<N, Op, FE_TOWARDZERO>();
    case Rounding::rm: return wide_in_mode<N, Op, FE_DOWNWARD>();
    case Rounding::rp: return wide_in_mode<N, Op, FE_UPWARD>();
  }
  return nullptr;
}
template <Arity N, class Op, class T>
ExecFn for_halves(const Form& f) {
  constexpr bool kFlushes = !kIsBf16<T>;
  if (f.ftz && kFlushes) {
    if (f.clamp == Clamp::sat) return run<N, T, Halves<Op, true, Clamp::sat>>();
    return f.clamp == Clamp::relu ? run<N, T, Halves<Op, true, Clamp::relu>>()
                                  : run<N, T, Halves<Op, true, Clamp::none>>();
  }
  if constexpr (N != Arity::one && requires { Op::scaled; } && kIsBf16<T>) {
    constexpr auto kSources = static_cast<size_t>(N);
    return f.clamp == Clamp::relu ? bf16_product<T, Op, Clamp::relu, kSources> : bf16_product<T, Op, Clamp::none, kSources>;
  }
  if (f.clamp == Clamp::sat) return run<N, T, Halves<Op, false, Clamp::sat>>();
  return f.clamp == Clamp::relu ? run<N, T, Halves<Op, false, Clamp::relu>>()
                                : run<N, T, Halves<Op, false, Clamp::none>>();
}
template <Arity N, class Op>
ExecFn for_floats(Type t, const Form& f) {  // f32 and f64
  if (t == Type::f32) return for_single<N, Op>(f);
  return t == Type::f64 ? for_wide<N, Op>(f) : nullptr;
}
template <Arity N, class Op>
ExecFn for_reals(Type t, const Form& f) {
  switch (t) {
    case Type::f16: return for_halves<N, Op, Half>(f);
    case Type::f16x2: return for_halves<N, Op, Half2>(f);
    case Type::bf16: return for_halves<N, Op, Bfloat>(f);
    case Type::bf16x2: return for_halves<N, Op, Bfloat2>(f);
    default: return for_floats<N, Op>(t, f);
  }
}

// ---- abs, neg, min, max: nothing is rounded
struct Negate {
  static float single(float v) { return -v; }
  static double wide(double v) { return v == v ? -v : quieted(v); }
};
struct Magnitude {
  static float single(float v) { return std::fabs(v); }
  static double wide(double v) { return v == v ? std::fabs(v) : quieted(v); }
};
template <bool Max, bool Nan, bool XorSign>
struct Extreme {
  // Of equal operands only the sign can differ: -0 is the smaller.
  template <class T>
  static T either(T a, T b) {
    const T x = XorSign ? std::fabs(a) : a, y = XorSign ? std::fabs(b) : b;
    const auto bx = bits_of(x), by = bits_of(y);
    const T tie = std::bit_cast<T>(Max ? bx & by : bx | by);
    T r = x == y ? tie : (x < y) == Max ? y : x;
    r = x != x ? y : y != y ? x : r;
    if constexpr (XorSign) {
      constexpr auto kSign = decltype(bx){1} << (8 * sizeof(T) - 1);
      r = std::bit_cast<T>((bits_of(r) & ~kSign) | ((bits_of(a) ^ bits_of(b)) & kSign));
    }
    return r;
  }
  static float single(float a, float b) { return Nan && (a != a || b != b) ? as_float(kNan32) : either(a, b); }
  static double wide(double a, double b) { return a != a && b != b ? with_nan(a, a, b) : either(a, b); }
};
template <class Op, bool Ftz>
struct Exact {
  template <class... A>
  float operator()(float a, A... b) const {
    return Ftz ? canonical(Op::single(flush(a), flush(b)...)) : canonical(Op::single(a, b...));
  }
  template <class... A>
  double operator()(double a, A... b) const {
    return Op::wide(a, b...);
  }
  template <class T, class... A>
  T operator()(T a, A... b) const {
    auto one = [](auto... v) { return Ftz && !kIsBf16<T> ? Op::single(flush_half(v)...) : Op::single(v...); };
    return each_half(one, a, b...);
  }
};
template <Arity N, class F>
ExecFn for_types(Type t) {
  switch (t) {
    case Type::f16: return run<N, Half, F>();
    case Type::f16x2: return run<N, Half2, F>();
    case Type::bf16: return run<N, Bfloat, F>();
    case Type::bf16x2: return run<N, Bfloat2, F>();
    case Type::f32: return run<N, float, F>();
    case Type::f64: return run<N, double, F>();
    default: return nullptr;
  }
}
template <Arity N, class Op>
ExecFn for_exact(Type t, bool ftz) {
  return ftz ? for_types<N, Exact<Op, true>>(t) : for_types<N, Exact<Op, false>>(t);
}
template <bool Max>
ExecFn for_extreme(Type t, bool ftz, bool nan, bool xor_sign) {
  if (xor_sign)
    return nan ? for_exact<Arity::two, Extreme<Max, true, true>>(t, ftz)
               : for_exact<Arity::two, Extreme<Max, false, true>>(t, ftz);
  return nan ? for_exact<Arity::two, Extreme<Max, true, false>>(t, ftz)
             : for_exact<Arity::two, Extreme<Max, false, false>>(t, ftz);
}

ExecFn oob_fma(Type t, const Form& f) {
  const bool relu = f.clamp == Clamp::relu;
  switch (t) {
    case Type::f16: return relu ? ternary<Half, OobFma<Clamp::relu>> : ternary<Half, OobFma<Clamp::none>>;
    case Type::f16x2: return relu ? ternary<Half2, OobFma<Clamp::relu>> : ternary<Half2, OobFma<Clamp::none>>;
    case Type::bf16: return relu ? ternary<Bfloat, OobFma<Clamp::relu>> : ternary<Bfloat, OobFma<Clamp::none>>;
    case Type::bf16x2: return relu ? ternary<Bfloat2, OobFma<Clamp::relu>> : ternary<Bfloat2, OobFma<Clamp::none>>;
    default: return nullptr;
  }
}

ExecFn min_or_max(Builder& b, Type t, bool max) {
  const bool ftz = b.mods().take("ftz"), nan = b.mods().take("NaN");
  const bool xor_sign = b.mods().take("xorsign") && b.mods().take("abs");
  return max ? for_extreme<true>(t, ftz, nan, xor_sign) : for_extreme<false>(t, ftz, nan, xor_sign);
}

}  // namespace

void build_real_arithmetic(Builder& b, Type t) {
  const std::string& op = b.mnemonic();
  ExecFn exec = nullptr;
  size_t sources = 2;
  if (op == "min" || op == "max") exec = min_or_max(b, t, op == "max");
  else if (op == "neg" || op == "abs") {
    sources = 1;
    const bool ftz = b.mods().take("ftz");
    exec = op == "neg" ? for_exact<Arity::one, Negate>(t, ftz) : for_exact<Arity::one, Magnitude>(t, ftz);
  } else {
    const Form f = take_form(b);
    if (op == "add") exec = for_reals<Arity::two, Add>(t, f);
    if (op == "sub") exec = for_reals<Arity::two, Sub>(t, f);
    if (op == "mul") exec = for_reals<Arity::two, Mul>(t, f);
    if (op == "fma" || op == "mad")
      exec = b.mods().take("oob") ? oob_fma(t, f) : for_reals<Arity::three, Fma>(t, f), sources = 3;
    if (op == "div") {
      if (b.mods().take("full")) exec = single_rounded<Arity::two, FastDiv<true>, Rounding::rn>(f);
      else if (b.mods().take("approx")) exec = single_rounded<Arity::two, FastDiv<false>, Rounding::rn>(f);
      else exec = for_floats<Arity::two, Div>(t, f);
    }
    if (op == "rcp") exec = for_floats<Arity::one, Rcp>(t, f), sources = 1;
    if (op == "sqrt") exec = for_floats<Arity::one, Sqrt>(t, f), sources = 1;
  }
  b.emit_typed(exec, t, std::vector<Type>(sources, t));
}

}  // namespace tc::sim
