// Scalar functions of the language. On compile-time numbers they compute, on run-time values they are ops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::MetaKind;
using ir::OpKind;

bool is_static(const Value& v) { return is_static_number(v); }

// The two operands, whatever the function calls them.
const Value& left(const Args& a) { return a.given("a") ? a.need("a") : a.given("lhs") ? a.need("lhs") : a.need("x"); }
const Value& right(const Args& a) { return a.given("b") ? a.need("b") : a.given("rhs") ? a.need("rhs") : a.need("y"); }

Value two(Session& s, Args& a, OpKind kind, MetaKind folded) {
  const Value &x = left(a), &y = right(a);
  for (const Value* v : {&x, &y})
    if (const auto* o = v->as<const OpaqueObject*>()) {
      if (!s.host) fail_opaque(**o, a.where, "the argument");
      return opaque(s, (*o)->what, a.where);
    }
  if (x.is<MetaInt>() && y.is<MetaInt>()) return integer(meta(s, folded, *x.as<MetaInt>(), *y.as<MetaInt>(), a.where));
  ir::ValueId p = to_scalar(s, x, a.where, "the argument"), q = to_scalar(s, y, a.where, "the argument");
  return scalar(scalar_binary(s, kind, p, q, a.where));
}
Value max(Session& s, Scope&, Args& a) { return two(s, a, OpKind::max, MetaKind::max); }
Value min(Session& s, Scope&, Args& a) { return two(s, a, OpKind::min, MetaKind::min); }
Value floordiv(Session& s, Scope&, Args& a) { return two(s, a, OpKind::floordiv, MetaKind::floordiv); }
Value floormod(Session& s, Scope&, Args& a) { return two(s, a, OpKind::floormod, MetaKind::floormod); }
Value shift_left(Session& s, Scope&, Args& a) { return two(s, a, OpKind::shift_left, MetaKind::shift_left); }
Value shift_right(Session& s, Scope&, Args& a) { return two(s, a, OpKind::shift_right, MetaKind::shift_right); }
Value bitwise_and(Session& s, Scope&, Args& a) { return two(s, a, OpKind::bit_and, MetaKind::bit_and); }
Value bitwise_or(Session& s, Scope&, Args& a) { return two(s, a, OpKind::bit_or, MetaKind::bit_or); }
Value bitwise_xor(Session& s, Scope&, Args& a) { return two(s, a, OpKind::bit_xor, MetaKind::bit_xor); }

// On run-time values (a + b - 1) // b.
Value ceildiv(Session& s, Scope&, Args& a) {
  const Value &x = left(a), &y = right(a);
  for (const Value* v : {&x, &y})
    if (const auto* o = v->as<const OpaqueObject*>()) return opaque(s, "T.ceildiv of " + (*o)->what, a.where);
  if (is_static(x) && is_static(y))
    return integer(meta(s, MetaKind::ceildiv, to_int(s, x, a.where, "the dividend"),
                        to_int(s, y, a.where, "the divisor"), a.where));
  ir::ValueId p = to_scalar(s, x, a.where, "the dividend"), q = to_scalar(s, y, a.where, "the divisor");
  std::tie(p, q) = promote(s, OpKind::floordiv, p, q, a.where);
  const ir::Type type = s.module[p].type;
  ir::ValueId unit = in_lanes(s, constant(s, MetaInt(1), type.dtype), type.lanes);
  ir::Builder& b = s.trace->builder;
  return scalar(b.binary(OpKind::floordiv, b.binary(OpKind::sub, b.binary(OpKind::add, p, q), unit), q));
}

// Of integers, toward zero: compile-time numbers as run-time ones.
Value truncated(Session& s, Args& a, std::string_view row, OpKind like) {
  ir::ValueId p = to_scalar(s, left(a), a.where, "the argument"), q = to_scalar(s, right(a), a.where, "the argument");
  std::tie(p, q) = promote(s, like, p, q, a.where);
  return scalar(s.trace->builder.call(row, {p, q}, s.module[p].type));
}
Value truncdiv(Session& s, Scope&, Args& a) { return truncated(s, a, "truncdiv", OpKind::floordiv); }
Value truncmod(Session& s, Scope&, Args& a) { return truncated(s, a, "truncmod", OpKind::floordiv); }

Value one(Session& s, Args& a, OpKind kind, double (*compute)(double)) {
  const Value& x = a.need("x");
  if (is_static(x)) {
    const auto* f = x.as<FloatV>();
    return Value{FloatV{compute(to_double(x, a.where, "the argument")), f ? f->params : nullptr}};
  }
  ir::ValueId v = to_scalar(s, x, a.where, "the argument");
  if (!is_float(dtype_of(s, v))) v = convert(s, v, DType::f32);
  return scalar(s.trace->builder.unary(kind, v));
}
Value exp(Session& s, Scope&, Args& a) { return one(s, a, OpKind::exp, std::exp); }
Value exp2(Session& s, Scope&, Args& a) { return one(s, a, OpKind::exp2, std::exp2); }
Value log(Session& s, Scope&, Args& a) { return one(s, a, OpKind::log, std::log); }
Value log2(Session& s, Scope&, Args& a) { return one(s, a, OpKind::log2, std::log2); }
Value sqrt(Session& s, Scope&, Args& a) { return one(s, a, OpKind::sqrt, std::sqrt); }
Value rsqrt(Session& s, Scope&, Args& a) {
  return one(s, a, OpKind::rsqrt, [](double x) { return 1 / std::sqrt(x); });
}
Value tanh(Session& s, Scope&, Args& a) { return one(s, a, OpKind::tanh, std::tanh); }
Value sigmoid(Session& s, Scope&, Args& a) {
  ir::ValueId x = to_scalar(s, a.need("x"), a.where, "the argument");
  if (!is_float(dtype_of(s, x))) x = convert(s, x, DType::f32);
  ir::Builder& b = s.trace->builder;
  ir::ValueId unit = b.constant(1.0, dtype_of(s, x));
  return scalar(
      b.binary(OpKind::div, unit, b.binary(OpKind::add, unit, b.unary(OpKind::exp, b.unary(OpKind::neg, x)))));
}
Value abs(Session& s, Scope&, Args& a) {
  const Value& x = a.need("x");
  if (is_static(x)) return to_double(x, a.where, "the argument") < 0 ? unary(s, ast::UnaryOp::usub, x, a.where) : x;
  return scalar(s.trace->builder.unary(OpKind::abs, to_scalar(s, x, a.where, "the argument")));
}
Value clamp(Session& s, Scope&, Args& a) {
  ir::ValueId x = to_scalar(s, a.need("dst"), a.where, "the value");
  x = scalar_binary(s, OpKind::max, x, to_scalar(s, a.need("min_val"), a.where, "the lower bound"));
  return scalar(scalar_binary(s, OpKind::min, x, to_scalar(s, a.need("max_val"), a.where, "the upper bound")));
}
Value infinity(Session& s, Scope&, Args& a) {
  if (!is_float(to_dtype(s, a.need("dtype"), a.where))) fail(a.where, "an integer type has no infinity");
  return real(std::numeric_limits<double>::infinity());
}

// T.cast(value, dtype, round="", sat=True, rbits=None): to nearest and saturating where nothing else is said.
Value cast(Session& s, Scope&, Args& a) {
  std::string round = a.given("round") ? to_text(a.need("round"), a.where, "round") : "";
  bool saturates = flag(s, a, "sat", true), stochastic = round == "rs";
  ElementType type = to_element(s, a.need("dtype"), a.where);
  if (round.empty() && saturates && !a.given("rbits")) return cast_to(s, a.need("value"), type, a.where);
  static constexpr std::string_view kModes[] = {"", "rn", "rz", "ru", "rd", "ra", "rs"};
  if (std::find(std::begin(kModes), std::end(kModes), round) == std::end(kModes))
    fail(a.where, "there is no rounding '" + round + "'");
  if (stochastic != a.given("rbits")) fail(a.where, "rbits goes with round=\"rs\"");
  std::vector<ir::ValueId> operands{scalar_arg(s, a, "value")};
  if (stochastic) operands.push_back(convert(s, scalar_arg(s, a, "rbits"), DType::u32));
  ir::Type result = ir::Type::scalar(type.dtype, s.module[operands[0]].type.lanes);
  ir::ValueId v = s.trace->builder.call("cast_rounded", std::move(operands), result);
  set(s, s.module[v].def, "round", round.empty() ? std::string("rn") : round);
  set(s, s.module[v].def, "sat", MetaInt(saturates));
  return scalar(v);
}
Value big_cast(Session& s, Scope&, Args& a) {
  return cast_to(s, a.need("value"), to_element(s, a.need("dtype"), a.where), a.where);
}
Value dtype(Session& s, Scope&, Args& a) {
  ElementType t = to_element(s, a.need("name"), a.where);
  return t.lanes == 1 ? Value{t.dtype} : Value{VectorTypeV{t.dtype, t.lanes}};
}

// T.reinterpret(value, dtype); an older order was (dtype, value). "handle" is an address.
Value reinterpret(Session& s, Scope&, Args& a) {
  Value value = a.need("value"), type = a.need("dtype");
  if (value.is<DType>() || value.is<std::string>() || value.is<VectorTypeV>()) std::swap(value, type);
  ElementType element = to_element(s, type, a.where);
  ir::ValueId v = to_scalar(s, value, a.where, "the value");
  const ir::Type from = s.module[v].type;
  if (info(from.dtype).bits * from.lanes != info(element.dtype).bits * element.lanes)
    fail(a.where, "T.reinterpret of " + std::to_string(info(from.dtype).bits * from.lanes) + " bits as " +
                      std::to_string(info(element.dtype).bits * element.lanes));
  if (from.dtype == element.dtype && from.lanes == element.lanes) return scalar(v);
  return scalar(s.trace->builder.call("reinterpret", {v}, ir::Type::scalar(element.dtype, element.lanes)));
}

// T.pow: products where the exponent is a positive integer known when the kernel is built.
Value pow(Session& s, Scope&, Args& a) {
  const Value &x = a.need("x"), &y = a.need("y");
  bool positive = is_static(y) && !y.is<FloatV>() && to_int(s, y, a.where, "the exponent").value >= 1;
  if ((is_static(x) && is_static(y)) || (positive && !is_static(x))) return power(s, x, y, a.where);
  ir::ValueId p = to_scalar(s, x, a.where, "the base"), q = to_scalar(s, y, a.where, "the exponent");
  std::tie(p, q) = promote(s, OpKind::mul, p, q, a.where);
  const ir::Type type = s.module[p].type;
  if (type.dtype != DType::f16 && type.dtype != DType::f32 && type.dtype != DType::f64)
    fail(a.where, "T.pow takes float16, float32 or float64, not " + std::string(info(type.dtype).name));
  return scalar(s.trace->builder.call("pow", {p, q}, ir::Type::scalar(type.dtype, type.lanes)));
}

Value round(Session& s, Scope&, Args& a) {
  std::string mode =
      a.given("rounding_mode") ? to_text(a.need("rounding_mode"), a.where, "rounding_mode") : "ties-to-even";
  bool even = mode == "ties-to-even";
  if (!even && mode != "ties-away-from-zero")
    fail(a.where, "rounding_mode is ties-to-even or ties-away-from-zero, not '" + mode + "'");
  const Value& x = a.need("x");
  if (is_static(x)) {
    double v = to_double(x, a.where, "the argument");
    return real(even ? std::nearbyint(v) : std::round(v));
  }
  ir::ValueId v = to_scalar(s, x, a.where, "the argument");
  if (!is_float(dtype_of(s, v))) return scalar(v);
  return scalar(s.trace->builder.call(even ? "round" : "round_away", {v}, ir::Type::scalar(dtype_of(s, v))));
}

// The largest finite value of a type, and the smallest.
Value limit(Session& s, Args& a, bool largest) {
  DType type = to_dtype(s, a.need("dtype"), a.where);
  const DTypeInfo& t = info(type);
  if (type == DType::b1) return integer(largest ? 1 : 0);
  if (is_integer(type)) {
    bool is_signed = t.kind == NumberKind::sint;
    if (!largest) return integer(is_signed ? -(INT64_C(1) << (t.bits - 1)) : 0);
    if (type == DType::u64) fail_unsupported(a.where, "the largest uint64 as a compile-time number");
    return integer(is_signed ? static_cast<int64_t>((UINT64_C(1) << (t.bits - 1)) - 1)
                             : static_cast<int64_t>((UINT64_C(1) << t.bits) - 1));
  }
  double value = largest_finite(type);
  return real(largest ? value : -value);
}
Value max_value(Session& s, Scope&, Args& a) { return limit(s, a, true); }
Value min_value(Session& s, Scope&, Args& a) { return limit(s, a, false); }

Value likely(Session&, Scope&, Args& a) { return a.need("cond"); }
Value make_const(Session& s, Scope&, Args& a) {
  const Value& v = a.need("value");
  return a.given("dtype") ? cast_to(s, v, to_element(s, a.need("dtype"), a.where), a.where) : v;
}
Value align_up(Session& s, Scope&, Args& a) {
  const Value &x = a.need("x"), &y = a.need("y");
  Value more = binary(s, ast::BinOp::sub, binary(s, ast::BinOp::add, x, y, a.where), integer(1), a.where);
  return binary(s, ast::BinOp::mult, binary(s, ast::BinOp::floordiv, more, y, a.where), y, a.where);
}

// Of a row-major number the place in a shape, last dimension fastest.
Value index_to_coordinates(Session& s, Scope&, Args& a) {
  Value index = a.need("index");
  std::vector<Value> shape = to_items(s, a.need("shape"), a.where, "the shape"), out(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = binary(s, ast::BinOp::mod, index, shape[i], a.where);
    index = binary(s, ast::BinOp::floordiv, index, shape[i], a.where);
  }
  return list(s, std::move(out));
}

// ---------------------------------------------------------------------------------------------- vectors
Value broadcast(Session& s, Scope&, Args& a) {
  ir::ValueId v = scalar_arg(s, a, "value");
  MetaInt lanes = to_int(s, a.need("lanes"), a.where, "the lanes");
  if (lanes.value < 1 || lanes.value > 64) fail(a.where, "a vector of " + std::to_string(lanes.value) + " lanes");
  ir::Type type = ir::Type::scalar(dtype_of(s, v), static_cast<uint32_t>(lanes.value));
  return lanes.value == 1 ? scalar(v) : scalar(s.trace->builder.call("broadcast", {v}, type));
}
// As a subscript: lanes elements from base on, stride apart.
Value ramp(Session& s, Scope&, Args& a) {
  MetaInt stride = to_int(s, a.need("stride"), a.where, "the stride"),
          lanes = to_int(s, a.need("lanes"), a.where, "the lanes");
  if (stride.value < 1 || lanes.value < 1 || lanes.value > 64)
    fail_unsupported(a.where, "T.Ramp with stride " + std::to_string(stride.value) + " and " +
                                  std::to_string(lanes.value) + " lanes");
  const Value& base = a.need("base");
  Value end = binary(s, ast::BinOp::add, base, integer(meta(s, ir::MetaKind::mul, stride, lanes, a.where)), a.where);
  return slice_object(s, base, end, integer(stride));
}
Value extract_lane(Session& s, Scope&, Args& a) {
  ir::ValueId v = scalar_arg(s, a, "vector"), lane = index_arg(s, a, "lane");
  auto known = ir::constant_value(s.module, lane);
  if (known && (known->value < 0 || known->value >= static_cast<int64_t>(s.module[v].type.lanes)))
    fail(a.where, "lane " + std::to_string(known->value) + " of " + std::to_string(s.module[v].type.lanes));
  return scalar(s.trace->builder.call("lane_of", {v, lane}, ir::Type::scalar(dtype_of(s, v))));
}
Value half(Session& s, const Args& a, std::string_view row) {
  ir::ValueId v = scalar_arg(s, a, "vec");
  uint32_t lanes = s.module[v].type.lanes;
  if (lanes % 2 != 0) fail(a.where, "half of a vector of " + std::to_string(lanes) + " lanes");
  return scalar(s.trace->builder.call(row, {v}, ir::Type::scalar(dtype_of(s, v), lanes / 2)));
}
Value vectorlow(Session& s, Scope&, Args& a) { return half(s, a, "vector_low"); }
Value vectorhigh(Session& s, Scope&, Args& a) { return half(s, a, "vector_high"); }
Value vectorcombine(Session& s, Scope&, Args& a) {
  ir::ValueId x = scalar_arg(s, a, "vec1"), y = scalar_arg(s, a, "vec2");
  const ir::Type p = s.module[x].type, q = s.module[y].type;
  if (p.dtype != q.dtype || p.lanes != q.lanes) fail(a.where, "T.vectorcombine of different vectors");
  return scalar(s.trace->builder.call("vector_combine", {x, y}, ir::Type::scalar(p.dtype, p.lanes * 2)));
}

Value assume(Session& s, Scope&, Args& a) {
  Trace& t = need_trace(s, a.where, "T.assume");
  t.builder.op(OpKind::assume, {as_condition(s, a.need("cond"), a.where)});
  return none();
}

Value if_then_else(Session& s, Scope& scope, const ast::Call& call, const SourceRange& where) {
  std::vector<ast::ExprRef> parts = call.args;
  for (const char* name : {"cond", "t", "f"})
    for (const ast::Keyword& k : call.keywords)
      if (k.name == name) parts.push_back(k.value);
  if (parts.size() != 3) fail(where, "T.if_then_else takes a condition and two values");
  Value condition = eval(s, scope, *parts[0]);
  if (auto known = truth(s, condition, where)) return eval(s, scope, *parts[*known ? 1 : 2]);
  return choose(
      s, as_condition(s, condition, where), [&] { return eval(s, scope, *parts[1]); },
      [&] { return eval(s, scope, *parts[2]); }, where);
}
Value select(Session& s, Scope&, Args& a) {
  // Both values are computed, whichever is taken.
  ir::ValueId c = as_condition(s, a.need("condition"), a.where);
  Value x = a.need("true_value"), y = a.need("false_value");
  ir::ValueId p = to_scalar(s, x, a.where, "the value"), q = to_scalar(s, y, a.where, "the value");
  const ir::Type left = s.module[p].type, right = s.module[q].type;
  if (left.dtype != right.dtype || left.lanes != right.lanes) fail(a.where, "the values of T.Select differ in type");
  x = scalar(p), y = scalar(q);
  return choose(
      s, c, [&] { return x; }, [&] { return y; }, a.where);
}

constexpr Builtin kRows[] = {
    {"T", "max", "a, b", max},
    {"T", "min", "a, b", min},
    {"T", "ceildiv", "lhs, rhs, span=", ceildiv},
    {"T", "cdiv", "lhs, rhs, span=", ceildiv},
    {"T", "floordiv", "a, b, span=", floordiv},
    {"T", "floormod", "a, b, span=", floormod},
    {"T", "truncdiv", "a, b, span=", truncdiv},
    {"T", "truncmod", "a, b, span=", truncmod},
    {"T", "shift_left", "x, y, span=", shift_left},
    {"T", "shift_right", "x, y, span=", shift_right},
    {"T", "bitwise_and", "x, y, span=", bitwise_and},
    {"T", "bitwise_or", "x, y, span=", bitwise_or},
    {"T", "bitwise_xor", "x, y, span=", bitwise_xor},
    {"T", "exp", "x", exp},
    {"T", "exp2", "x", exp2},
    {"T", "log", "x", log},
    {"T", "log2", "x", log2},
    {"T", "sqrt", "x", sqrt},
    {"T", "rsqrt", "x", rsqrt},
    {"T", "tanh", "x", tanh},
    {"T", "sigmoid", "x", sigmoid},
    {"T", "abs", "x, span=", abs},
    {"T", "clamp", "dst, min_val, max_val", clamp},
    {"T", "infinity", "dtype, span=", infinity},
    {"T", "cast", "value, dtype, round=, sat=, rbits=, span=", cast},
    {"T", "Cast", "dtype, value", big_cast},
    {"T", "dtype", "name", dtype},
    {"T", "assume", "cond", assume},
    {"T", "reinterpret", "value, dtype, span=", reinterpret},
    {"T", "pow", "x, y, span=", pow},
    {"T", "round", "x, rounding_mode=, span=", round},
    {"T", "fabs", "x, span=", abs},
    {"T", "max_value", "dtype, span=", max_value},
    {"T", "min_value", "dtype, span=", min_value},
    {"T", "likely", "cond, span=", likely},
    {"T", "align_up", "x, y", align_up},
    {"tir", "const", "value, dtype=", make_const},
    {"T", "broadcast", "value, lanes, span=", broadcast},
    {"T", "Broadcast", "value, lanes, span=", broadcast},
    {"T", "Ramp", "base, stride, lanes, span=", ramp},
    {"T", "index_to_coordinates", "index, shape", index_to_coordinates},
    {"T", "extract_lane", "vector, lane, span=", extract_lane},
    {"T", "vectorlow", "dtype, vec", vectorlow},
    {"T", "vectorhigh", "dtype, vec", vectorhigh},
    {"T", "vectorcombine", "dtype, vec1, vec2", vectorcombine},
    {"T", "if_then_else", "cond, t, f, span=", nullptr, if_then_else},
    {"T", "Select", "condition, true_value, false_value, span=", select},
};
}  // namespace

Value cast_to(Session& s, const Value& v, const ElementType& type, const SourceRange& where) {
  ir::ValueId id = to_scalar(s, v, where, "the value");
  auto known = ir::constant_value(s.module, id);
  bool narrow = is_integer(type.dtype) && dtype_of(s, id) != DType::b1;
  if (known && narrow && !known->dynamic() && !holds(type.dtype, known->value))
    fail(where, std::to_string(known->value) + " is no " + std::string(info(type.dtype).name));
  return scalar(cast_value(s, id, type, where));
}

// E.g. float8_e4m3fn: exponent field 15, mantissa 6 of 7 (7 is the NaN): 1.75 * 2^8 = 448.
double largest_finite(DType type) {
  const DTypeInfo& t = info(type);
  bool top_reserved = t.form == FloatForm::ieee || t.form == FloatForm::e8m0;
  int exponent = (1 << t.exponent_bits) - 1 - (top_reserved ? 1 : 0) - static_cast<int>(t.bias);
  double ulp = std::ldexp(1.0, -static_cast<int>(t.mantissa_bits));
  return std::ldexp(t.form == FloatForm::fn ? 2 - 2 * ulp : t.mantissa_bits == 0 ? 1 : 2 - ulp, exponent);
}

std::span<const Builtin> scalar_builtins() { return kRows; }

}  // namespace tc::eval
