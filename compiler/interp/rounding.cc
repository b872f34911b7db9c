// Operations with a stated rounding: ieee_* {rounding=rn|rz|ru|rd} and cast_rounded {round=rn|rz|ru|rd|ra|rs, sat}.
// rn is to nearest even, ra to nearest and away from zero on a tie, rz toward zero, ru up, rd down.
//   3.3 as f16: rn 3.30078125, rz and rd 3.298828125;  2.5 as int32: rn 2, ra 3, ru 3
// rs adds random bits to what is cut off and then cuts: 13 bits for f16, 16 for bf16 (PTX ISA, cvt.rs). Without `sat` a
// value beyond the largest becomes infinite, NaN where the type has no infinity, or the largest if it has neither.
#include <cfenv>
#include <cmath>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

// A whole number of units, for a magnitude of `units` of them. `negative` decides which way up and down are.
double whole_units(std::string_view mode, double units, bool negative, double random) {
  if (mode == "rs") return std::floor(units + random);
  if (mode == "ra") return std::round(units);
  if (mode == "rz" || mode == (negative ? "ru" : "rd")) return std::floor(units);
  if (mode == "ru" || mode == "rd") return std::ceil(units);
  return std::nearbyint(units);
}

double cast_float(DType type, double v, std::string_view mode, bool saturates, double random) {
  if (std::isnan(v) || type == DType::f64) return v;
  const DTypeInfo& t = info(type);
  double top = largest_of(type);
  bool negative = std::signbit(v), exact_infinity = std::isinf(v);
  double magnitude = std::fabs(v);
  if (!exact_infinity) {
    int exponent = std::max(magnitude == 0 ? -2000 : std::ilogb(magnitude), 1 - static_cast<int>(t.bias));
    double unit = std::ldexp(1.0, exponent - static_cast<int>(t.mantissa_bits));
    magnitude = whole_units(mode, magnitude / unit, negative, random) * unit;
    bool inward = mode == "rz" || mode == (negative ? "ru" : "rd");
    if (magnitude > top && inward) magnitude = top;
  }
  if (magnitude > top)
    magnitude = saturates || t.form == FloatForm::finite ? top : t.form == FloatForm::ieee ? HUGE_VAL : std::nan("");
  return std::copysign(magnitude, v);
}

double cast_integer(double v, std::string_view mode) {
  if (mode == "rz") return std::trunc(v);
  if (mode == "ru") return std::ceil(v);
  if (mode == "rd") return std::floor(v);
  return mode == "ra" ? std::round(v) : std::nearbyint(v);
}

void cast_rounded(Call& c) {
  DType from = c.type(0), to = c.cta.p.m[c.op.results[0]].type.dtype;
  std::string_view mode = text_attr(c.op, "round", "rn");
  bool saturates = int_attr(c.op, "sat", 1) != 0;
  if (mode == "rs" && to != DType::f16 && to != DType::bf16)
    stop_unsupported(c.op, "stochastic rounding to " + std::string(info(to).name) + ", in the tile interpreter");
  double scale = to == DType::f16 ? 0x1p-13 : 0x1p-16;
  auto random_of = [&](size_t l) {
    if (mode != "rs") return 0.0;
    return static_cast<double>(c.at(1, l).i & (to == DType::f16 ? 0x1FFF : 0xFFFF)) * scale;
  };
  uint32_t width = c.cta.p.m[c.op.operands[0]].type.lanes;
  Slot out{{}, std::vector<Number>(c.g.lanes * width), width};
  const Slot& value = slot(c.cta.p, c.g, c.op.operands[0]);
  c.each([&](size_t l) {
    for (uint32_t k = 0; k < width; ++k) {
      Number v = value.at(l, k);
      out.lanes[l * width + k] = is_float(to) ? of(cast_float(to, as_double(from, v), mode, saturates, random_of(l)))
                                 : is_float(from) ? convert(DType::f64, to, of(cast_integer(v.f, mode)))
                                                  : convert(from, to, v);
    }
  });
  if (width == 1 && !c.mask) set_lanes(slot(c.cta.p, c.g, c.op.results[0]), std::move(out.lanes));
  else slot(c.cta.p, c.g, c.op.results[0]) = std::move(out);
}

// ---- arithmetic under a rounding mode of the host
template <class T>
T compute(std::string_view name, T x, T y, T z) {
  volatile T a = x, b = y, c = z;  // computed where the rounding mode is set, not before
  volatile T r = name == "ieee_add"     ? a + b
                 : name == "ieee_sub"   ? a - b
                 : name == "ieee_mul"   ? a * b
                 : name == "ieee_fdiv"  ? a / b
                 : name == "ieee_fmaf"  ? std::fma(T{a}, T{b}, T{c})
                 : name == "ieee_frcp"  ? T{1} / a
                 : name == "ieee_fsqrt" ? std::sqrt(T{a})
                                        : static_cast<T>(1 / std::sqrt(static_cast<long double>(T{a})));
  return r;
}

int host_mode(const Op& op) {
  std::string_view mode = text_attr(op, "rounding", "rn");
  if (mode == "rz") return FE_TOWARDZERO;
  if (mode == "ru") return FE_UPWARD;
  return mode == "rd" ? FE_DOWNWARD : FE_TONEAREST;
}

void ieee(Call& c) {
  std::string_view name = text_attr(c.op, "name", "");
  DType type = c.type(0);
  if (type != DType::f32 && type != DType::f64)
    stop_unsupported(c.op,
                     "arithmetic of " + std::string(info(type).name) + " with a rounding, in the tile interpreter");
  auto in = [&](size_t n, size_t l) { return n < c.op.operands.size() ? c.at(n, l).f : 0.0; };
  int before = std::fegetround();
  std::fesetround(host_mode(c.op));
  c.result([&](size_t l) {
    if (type == DType::f64) return of(compute<double>(name, in(0, l), in(1, l), in(2, l)));
    return of(double{compute<float>(name, static_cast<float>(in(0, l)), static_cast<float>(in(1, l)),
                                    static_cast<float>(in(2, l)))});
  });
  std::fesetround(before);
}

constexpr CallRow kRows[] = {
    {"cast_rounded", cast_rounded, true},
    {"ieee_add", ieee, true},
    {"ieee_sub", ieee, true},
    {"ieee_mul", ieee, true},
    {"ieee_fdiv", ieee, true},
    {"ieee_fmaf", ieee, true},
    {"ieee_frcp", ieee, true},
    {"ieee_fsqrt", ieee, true},
    {"ieee_frsqrt", ieee, true},
};
}  // namespace

std::span<const CallRow> rounding_rows() { return kRows; }

}  // namespace tc::ir::interp
