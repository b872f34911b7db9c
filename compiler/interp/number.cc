// Scalar arithmetic of the interpreter: one row an operation.
#include "compiler/interp/number.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <iterator>

#include "compiler/ir/floor_div.h"
#include "runtime/dtype.h"

namespace tc::ir::interp {
namespace {

bool is_unsigned(DType t) { return info(t).kind == NumberKind::uint || t == DType::b1; }

double largest(const DTypeInfo& t) {
  int top = (1 << t.exponent_bits) - 1 - static_cast<int>(t.bias);  // of the codes with all exponent bits set
  double ones = 2.0 - std::ldexp(1.0, -static_cast<int>(t.mantissa_bits));
  if (t.form == FloatForm::ieee) return std::ldexp(ones, top - 1);
  if (t.form == FloatForm::fn) return std::ldexp(ones - std::ldexp(1.0, -static_cast<int>(t.mantissa_bits)), top);
  if (t.form == FloatForm::e8m0) return std::ldexp(1.0, 127);
  return std::ldexp(ones, top);
}

// Floats of at most 8 bits: to nearest even, saturating. e8m0: up to the next power of two.
double round_narrow(const DTypeInfo& t, double v) {
  if (std::isnan(v)) return t.form == FloatForm::finite ? largest(t) : v;
  double top = largest(t);
  if (t.form == FloatForm::e8m0) {
    if (!(v > 0)) return std::ldexp(1.0, -127);
    int e = 0;
    double m = std::frexp(v, &e);
    return std::min(top, std::max(std::ldexp(1.0, -127), std::ldexp(1.0, m == 0.5 ? e - 1 : e)));
  }
  if (std::fabs(v) >= top) return std::copysign(top, v);
  int exponent = v == 0 ? 0 : std::ilogb(v);
  exponent = std::max(exponent, 1 - static_cast<int>(t.bias));
  double step = std::ldexp(1.0, exponent - static_cast<int>(t.mantissa_bits));
  return std::copysign(std::min(top, std::fabs(std::nearbyint(v / step) * step)), v);
}

runtime::SmallFloat format_of(const DTypeInfo& t) {
  runtime::SmallForm form = t.form == FloatForm::ieee   ? runtime::SmallForm::ieee
                            : t.form == FloatForm::fn   ? runtime::SmallForm::fn
                            : t.form == FloatForm::fnuz ? runtime::SmallForm::fnuz
                                                        : runtime::SmallForm::finite;
  return {static_cast<int>(t.exponent_bits), static_cast<int>(t.mantissa_bits), static_cast<int>(t.bias), form};
}

uint64_t encode_narrow(const DTypeInfo& t, double v) {
  if (t.form == FloatForm::e8m0) return std::isnan(v) ? 0xFF : static_cast<uint64_t>(std::ilogb(v) + 127);
  return runtime::encode_small(format_of(t), v);
}

double decode_narrow(const DTypeInfo& t, uint64_t bits) {
  if (t.form == FloatForm::e8m0) return bits == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
  return runtime::decode_small(format_of(t), static_cast<uint32_t>(bits));
}

template <class T>
T read(const uint8_t* base, int64_t index) {
  return std::atomic_ref(*reinterpret_cast<T*>(const_cast<uint8_t*>(base) + index * static_cast<int64_t>(sizeof(T))))
      .load(std::memory_order_relaxed);
}
template <class T>
void write(uint8_t* base, int64_t index, T v) {
  std::atomic_ref(*reinterpret_cast<T*>(base + index * static_cast<int64_t>(sizeof(T))))
      .store(v, std::memory_order_relaxed);
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  return tc::ir::floor_div(a, b);
}
uint64_t u(Number n) { return static_cast<uint64_t>(n.i); }
Number wrapped(DType t, uint64_t v) { return of(wrap_to(t, static_cast<int64_t>(v))); }
Number truth(bool b) { return of(int64_t{b}); }
}  // namespace

double largest_of(DType type) { return largest(info(type)); }

double round_to(DType type, double v) {
  switch (type) {
    case DType::f64: return v;
    case DType::f32: return static_cast<float>(v);
    case DType::f16: return runtime::half_to_float(runtime::float_to_half(static_cast<float>(v)));
    case DType::bf16: return runtime::bf16_to_float(runtime::float_to_bf16(static_cast<float>(v)));
    case DType::tf32: return static_cast<float>(v);
    default: return round_narrow(info(type), v);
  }
}

int64_t wrap_to(DType type, int64_t v) {
  uint32_t bits = info(type).bits;
  if (type == DType::b1) return v != 0;
  if (bits == 64) return v;
  uint64_t low = static_cast<uint64_t>(v) << (64 - bits);
  return is_unsigned(type) ? static_cast<int64_t>(low >> (64 - bits)) : static_cast<int64_t>(low) >> (64 - bits);
}

Number round_to(DType type, Number n) { return is_float(type) ? of(round_to(type, n.f)) : of(wrap_to(type, n.i)); }

Number convert(DType from, DType to, Number n) {
  if (from == to) return n;
  if (to == DType::b1) return truth(is_float(from) ? n.f != 0 : n.i != 0);
  if (is_float(to)) return of(round_to(to, as_double(from, n)));
  if (!is_float(from)) return of(wrap_to(to, n.i));
  // As CUDA's casts: toward zero, NaN is 0, saturated to 64 bits and then to the type where it has 32 bits or more.
  if (std::isnan(n.f)) return of(int64_t{0});
  double v = std::trunc(n.f);
  uint32_t bits = std::max(32u, info(to).bits);
  bool positive = is_unsigned(to);
  double top = std::ldexp(1.0, static_cast<int>(positive ? bits : bits - 1)), bottom = positive ? 0 : -top;
  if (v >= top)
    return of(wrap_to(to, positive ? (bits == 64 ? -1 : (int64_t{1} << bits) - 1)
                                   : (bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1)));
  v = std::max(v, bottom);
  return of(wrap_to(
      to, v >= 9223372036854775808.0 ? static_cast<int64_t>(static_cast<uint64_t>(v)) : static_cast<int64_t>(v)));
}

Number load(DType type, const uint8_t* base, int64_t index) {
  const DTypeInfo& t = info(type);
  switch (type) {
    case DType::f64: return of(std::bit_cast<double>(read<uint64_t>(base, index)));
    case DType::f32:
    case DType::tf32: return of(static_cast<double>(std::bit_cast<float>(read<uint32_t>(base, index))));
    case DType::f16: return of(static_cast<double>(runtime::half_to_float(read<uint16_t>(base, index))));
    case DType::bf16: return of(static_cast<double>(runtime::bf16_to_float(read<uint16_t>(base, index))));
    default: break;
  }
  uint64_t bits = 0;
  switch (t.bits) {
    case 64: bits = read<uint64_t>(base, index); break;
    case 32: bits = read<uint32_t>(base, index); break;
    case 16: bits = read<uint16_t>(base, index); break;
    case 8: bits = read<uint8_t>(base, index); break;
    default: {  // 4 and 6 bits, from the low end
      int64_t bit = index * t.bits;
      uint64_t pair = read<uint8_t>(base, bit / 8);
      if (bit % 8 + t.bits > 8) pair |= static_cast<uint64_t>(read<uint8_t>(base, bit / 8 + 1)) << 8;
      bits = pair >> (bit % 8) & ((uint64_t{1} << t.bits) - 1);
    }
  }
  if (is_float(type)) return of(decode_narrow(t, bits & (type == DType::e2m1_unpacked ? 0xF : ~uint64_t{0})));
  return of(wrap_to(type, static_cast<int64_t>(bits)));
}

void load_doubles(DType type, const uint8_t* base, int64_t first, int64_t stride, int64_t count, double* out) {
  auto each = [&](auto decode) {
    for (int64_t i = 0; i < count; ++i) out[i] = decode(first + i * stride);
  };
  switch (type) {
    case DType::f32: return each([&](int64_t i) { return double{std::bit_cast<float>(read<uint32_t>(base, i))}; });
    case DType::f16: return each([&](int64_t i) { return double{runtime::half_to_float(read<uint16_t>(base, i))}; });
    case DType::bf16: return each([&](int64_t i) { return double{runtime::bf16_to_float(read<uint16_t>(base, i))}; });
    default: return each([&](int64_t i) { return as_double(type, load(type, base, i)); });
  }
}

void store(DType type, uint8_t* base, int64_t index, Number n) {
  const DTypeInfo& t = info(type);
  uint64_t bits = static_cast<uint64_t>(n.i);
  if (type == DType::f32 || type == DType::tf32) bits = std::bit_cast<uint32_t>(static_cast<float>(n.f));
  else if (type == DType::f16) bits = runtime::float_to_half(static_cast<float>(n.f));
  else if (type == DType::bf16) bits = runtime::float_to_bf16(static_cast<float>(n.f));
  else if (is_float(type) && type != DType::f64) bits = encode_narrow(t, n.f);
  switch (t.bits) {
    case 64: return write(base, index, bits);
    case 32: return write(base, index, static_cast<uint32_t>(bits));
    case 16: return write(base, index, static_cast<uint16_t>(bits));
    case 8: return write(base, index, static_cast<uint8_t>(bits));
    default: break;
  }
  for (uint32_t k = 0; k < t.bits; ++k) {  // one bit after the other: an element may straddle bytes
    int64_t bit = index * t.bits + k;
    std::atomic_ref byte(base[bit / 8]);
    uint8_t mask = static_cast<uint8_t>(1u << (bit % 8));
    if (bits >> k & 1) byte.fetch_or(mask, std::memory_order_relaxed);
    else byte.fetch_and(static_cast<uint8_t>(~mask), std::memory_order_relaxed);
  }
}

Number reinterpret(DType from, DType to, Number n) {
  alignas(8) uint8_t bytes[8] = {};
  store(from, bytes, 0, n);
  return load(to, bytes, 0);
}

void fill_unwritten(DType type, uint8_t* base, int64_t bytes) {
  bool has_nan = is_float(type) && info(type).form != FloatForm::finite;
  std::memset(base, has_nan ? (info(type).form == FloatForm::fnuz ? 0x80 : 0xFF) : 0x5A, static_cast<size_t>(bytes));
}

// ---------------------------------------------------------------------------------------------- operations
namespace {
struct FloatRow {
  OpKind kind;
  double (*apply)(double, double);
};
double smaller(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b); }
double larger(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b); }

template <double (*F)(double, double)>
Number float_op(DType t, Number a, Number b) {
  return of(round_to(t, F(a.f, b.f)));
}
template <uint64_t (*F)(uint64_t, uint64_t)>
Number wrap_op(DType t, Number a, Number b) {
  return wrapped(t, F(u(a), u(b)));
}
template <int64_t (*F)(int64_t, int64_t)>
Number int_op(DType t, Number a, Number b) {
  return of(wrap_to(t, F(a.i, b.i)));
}

double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double mul(double a, double b) { return a * b; }
double div(double a, double b) { return a / b; }
double float_floordiv(double a, double b) { return std::floor(a / b); }
double float_floormod(double a, double b) { return a - std::floor(a / b) * b; }
uint64_t uadd(uint64_t a, uint64_t b) { return a + b; }
uint64_t usub(uint64_t a, uint64_t b) { return a - b; }
uint64_t umul(uint64_t a, uint64_t b) { return a * b; }
uint64_t udiv(uint64_t a, uint64_t b) { return b ? a / b : 0; }
uint64_t umod(uint64_t a, uint64_t b) { return b ? a % b : 0; }
uint64_t uand(uint64_t a, uint64_t b) { return a & b; }
uint64_t uor(uint64_t a, uint64_t b) { return a | b; }
uint64_t uxor(uint64_t a, uint64_t b) { return a ^ b; }
uint64_t ushl(uint64_t a, uint64_t b) { return b > 63 ? 0 : a << b; }
uint64_t ushr(uint64_t a, uint64_t b) { return b > 63 ? 0 : a >> b; }
int64_t sshr(int64_t a, int64_t b) { return a >> std::clamp<int64_t>(b, 0, 63); }
int64_t smin(int64_t a, int64_t b) { return std::min(a, b); }
int64_t smax(int64_t a, int64_t b) { return std::max(a, b); }
uint64_t umin(uint64_t a, uint64_t b) { return std::min(a, b); }
uint64_t umax(uint64_t a, uint64_t b) { return std::max(a, b); }
int64_t floormod(int64_t a, int64_t b) { return b ? a - floor_div(a, b) * b : 0; }
int64_t truncdiv(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? floor_div(a, b) : a / b; }
int64_t truncmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

struct ArithmeticRow {
  OpKind kind;
  Binary floats, ints, uints;
};
constexpr ArithmeticRow kArithmetic[] = {
    {OpKind::add, float_op<add>, wrap_op<uadd>, wrap_op<uadd>},
    {OpKind::sub, float_op<sub>, wrap_op<usub>, wrap_op<usub>},
    {OpKind::mul, float_op<mul>, wrap_op<umul>, wrap_op<umul>},
    {OpKind::div, float_op<div>, int_op<truncdiv>, wrap_op<udiv>},
    {OpKind::floordiv, float_op<float_floordiv>, int_op<floor_div>, wrap_op<udiv>},
    {OpKind::floormod, float_op<float_floormod>, int_op<floormod>, wrap_op<umod>},
    {OpKind::min, float_op<smaller>, int_op<smin>, wrap_op<umin>},
    {OpKind::max, float_op<larger>, int_op<smax>, wrap_op<umax>},
    {OpKind::bit_and, nullptr, wrap_op<uand>, wrap_op<uand>},
    {OpKind::bit_or, nullptr, wrap_op<uor>, wrap_op<uor>},
    {OpKind::bit_xor, nullptr, wrap_op<uxor>, wrap_op<uxor>},
    {OpKind::shift_left, nullptr, wrap_op<ushl>, wrap_op<ushl>},
    {OpKind::shift_right, nullptr, int_op<sshr>, wrap_op<ushr>},
};

template <class Compare>
Number compare(DType t, Number a, Number b) {
  if (is_float(t)) return truth(Compare{}(a.f, b.f));
  return truth(is_unsigned(t) ? Compare{}(u(a), u(b)) : Compare{}(a.i, b.i));
}
Number both(DType, Number a, Number b) { return truth(a.i != 0 && b.i != 0); }
Number either(DType, Number a, Number b) { return truth(a.i != 0 || b.i != 0); }
struct LogicRow {
  OpKind kind;
  Binary apply;
};
constexpr LogicRow kLogic[] = {
    {OpKind::eq, compare<std::equal_to<>>},
    {OpKind::ne, compare<std::not_equal_to<>>},
    {OpKind::lt, compare<std::less<>>},
    {OpKind::le, compare<std::less_equal<>>},
    {OpKind::gt, compare<std::greater<>>},
    {OpKind::ge, compare<std::greater_equal<>>},
    {OpKind::logical_and, both},
    {OpKind::logical_or, either},
};

template <double (*F)(double)>
Number float_fn(DType t, Number a) {
  return of(round_to(t, F(is_float(t) ? a.f : as_double(t, a))));
}
double reciprocal_root(double a) { return 1 / std::sqrt(a); }
double reciprocal(double a) { return 1 / a; }
double power_of_ten(double a) { return std::pow(10.0, a); }
Number negative(DType t, Number a) { return is_float(t) ? of(-a.f) : wrapped(t, -u(a)); }
Number absolute(DType t, Number a) {
  return is_float(t) ? of(std::fabs(a.f)) : a.i < 0 && !is_unsigned(t) ? wrapped(t, -u(a)) : a;
}
Number logical_not(DType t, Number a) { return truth(is_float(t) ? a.f == 0 : a.i == 0); }
struct UnaryRow {
  OpKind kind;
  Unary apply;
};
constexpr UnaryRow kUnary[] = {
    {OpKind::neg, negative},
    {OpKind::abs, absolute},
    {OpKind::logical_not, logical_not},
    {OpKind::exp, float_fn<std::exp>},
    {OpKind::exp2, float_fn<std::exp2>},
    {OpKind::log, float_fn<std::log>},
    {OpKind::log2, float_fn<std::log2>},
    {OpKind::sqrt, float_fn<std::sqrt>},
    {OpKind::rsqrt, float_fn<reciprocal_root>},
    {OpKind::tanh, float_fn<std::tanh>},
};

// ---- intrinsics
Number is_nan(DType, Number a) { return truth(std::isnan(a.f)); }
Number is_inf(DType, Number a) { return truth(std::isinf(a.f)); }
Number is_finite(DType, Number a) { return truth(std::isfinite(a.f)); }
Number bit_not(DType t, Number a) { return t == DType::b1 ? truth(a.i == 0) : wrapped(t, ~u(a)); }
uint64_t masked(DType t, Number a) { return info(t).bits == 64 ? u(a) : u(a) & ((uint64_t{1} << info(t).bits) - 1); }
Number popcount(DType t, Number a) { return of(int64_t{std::popcount(masked(t, a))}); }
Number clz(DType t, Number a) { return of(int64_t{std::countl_zero(masked(t, a))} - (64 - int64_t{info(t).bits})); }
Number next_after(DType t, Number a, Number b) {
  if (t == DType::f32) return of(double{std::nextafterf(static_cast<float>(a.f), static_cast<float>(b.f))});
  return of(std::nextafter(a.f, b.f));
}
double ldexp2(double a, double b) { return std::ldexp(a, static_cast<int>(b)); }
Number fused(DType t, Number a, Number b, Number c) {
  if (!is_float(t)) return wrapped(t, u(a) * u(b) + u(c));
  return of(t == DType::f64 ? std::fma(a.f, b.f, c.f) : round_to(t, std::fma(a.f, b.f, c.f)));
}

// CUDA's __ffs and __fns: places of set bits.
Number find_first(DType t, Number a) {
  uint64_t bits = masked(t, a);
  return of(int64_t{bits ? std::countr_zero(bits) + 1 : 0});
}
Number find_nth(DType, Number mask, Number base, Number offset) {
  const int64_t none = 0xFFFFFFFF;
  auto set = [&](int64_t bit) { return bit >= 0 && bit < 32 && (u(mask) >> bit & 1); };
  if (offset.i == 0) return of(set(base.i) ? base.i : none);
  int64_t step = offset.i > 0 ? 1 : -1, left = offset.i > 0 ? offset.i : -offset.i;
  for (int64_t bit = base.i; bit >= 0 && bit < 32; bit += step)
    if (set(bit) && --left == 0) return of(bit);
  return of(none);
}

constexpr Pure kPure[] = {
    {"exp10", float_fn<power_of_ten>, nullptr, nullptr},
    {"log10", float_fn<std::log10>, nullptr, nullptr},
    {"log1p", float_fn<std::log1p>, nullptr, nullptr},
    {"sin", float_fn<std::sin>, nullptr, nullptr},
    {"cos", float_fn<std::cos>, nullptr, nullptr},
    {"tan", float_fn<std::tan>, nullptr, nullptr},
    {"sinh", float_fn<std::sinh>, nullptr, nullptr},
    {"cosh", float_fn<std::cosh>, nullptr, nullptr},
    {"asin", float_fn<std::asin>, nullptr, nullptr},
    {"acos", float_fn<std::acos>, nullptr, nullptr},
    {"atan", float_fn<std::atan>, nullptr, nullptr},
    {"asinh", float_fn<std::asinh>, nullptr, nullptr},
    {"acosh", float_fn<std::acosh>, nullptr, nullptr},
    {"atanh", float_fn<std::atanh>, nullptr, nullptr},
    {"erf", float_fn<std::erf>, nullptr, nullptr},
    {"floor", float_fn<std::floor>, nullptr, nullptr},
    {"ceil", float_fn<std::ceil>, nullptr, nullptr},
    {"trunc", float_fn<std::trunc>, nullptr, nullptr},
    {"round", float_fn<std::nearbyint>, nullptr, nullptr},
    {"nearbyint", float_fn<std::nearbyint>, nullptr, nullptr},
    {"isnan", is_nan, nullptr, nullptr},
    {"isinf", is_inf, nullptr, nullptr},
    {"isfinite", is_finite, nullptr, nullptr},
    {"pow", nullptr, float_op<std::pow>, nullptr},
    {"fmod", nullptr, float_op<std::fmod>, nullptr},
    {"atan2", nullptr, float_op<std::atan2>, nullptr},
    {"hypot", nullptr, float_op<std::hypot>, nullptr},
    {"copysign", nullptr, float_op<std::copysign>, nullptr},
    {"nextafter", nullptr, next_after, nullptr},
    {"ldexp", nullptr, float_op<ldexp2>, nullptr},
    {"fma", nullptr, nullptr, fused},
    {"bit_not", bit_not, nullptr, nullptr},
    {"popcount", popcount, nullptr, nullptr},
    {"clz", clz, nullptr, nullptr},
    {"round_away", float_fn<std::round>, nullptr, nullptr},
    {"fast_exp", float_fn<std::exp>, nullptr, nullptr},
    {"fast_exp10", float_fn<power_of_ten>, nullptr, nullptr},
    {"fast_log", float_fn<std::log>, nullptr, nullptr},
    {"fast_log2", float_fn<std::log2>, nullptr, nullptr},
    {"fast_log10", float_fn<std::log10>, nullptr, nullptr},
    {"fast_sin", float_fn<std::sin>, nullptr, nullptr},
    {"fast_cos", float_fn<std::cos>, nullptr, nullptr},
    {"fast_tan", float_fn<std::tan>, nullptr, nullptr},
    {"fast_rcp", float_fn<reciprocal>, nullptr, nullptr},
    {"fmul", nullptr, float_op<mul>, nullptr},
    {"bitfield_ffs", find_first, nullptr, nullptr},
    {"bitfield_fns", nullptr, nullptr, find_nth},
    {"truncdiv", nullptr, int_op<truncdiv>, nullptr},
    {"truncmod", nullptr, int_op<truncmod>, nullptr},
};
}  // namespace

Binary binary_function(OpKind kind, DType type) {
  for (const LogicRow& row : kLogic)
    if (row.kind == kind) return row.apply;
  for (const ArithmeticRow& row : kArithmetic)
    if (row.kind == kind) return is_float(type) ? row.floats : is_unsigned(type) ? row.uints : row.ints;
  return nullptr;
}

Unary unary_function(OpKind kind, DType) {
  for (const UnaryRow& row : kUnary)
    if (row.kind == kind) return row.apply;
  return nullptr;
}

const Pure* pure_intrinsic(std::string_view name) {
  for (const Pure& row : kPure)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace tc::ir::interp
