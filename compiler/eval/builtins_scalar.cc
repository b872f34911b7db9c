// Scalar functions of the language. On compile-time numbers they compute, on run-time values they are ops.
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
  return scalar(
      scalar_binary(s, kind, to_scalar(s, x, a.where, "the argument"), to_scalar(s, y, a.where, "the argument")));
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
  ir::ValueId p = to_index(s, x, a.where, "the dividend"), q = to_index(s, y, a.where, "the divisor");
  ir::ValueId top = scalar_binary(s, OpKind::sub, scalar_binary(s, OpKind::add, p, q), constant(s, MetaInt(1)));
  return scalar(scalar_binary(s, OpKind::floordiv, top, q));
}

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

Value cast_to(Session& s, const Value& v, DType type, const SourceRange& where) {
  return scalar(convert(s, to_scalar(s, v, where, "the value"), type));
}
Value cast(Session& s, Scope&, Args& a) {
  if (const Value* r = a.get("round"); r && !to_text(*r, a.where, "round").empty())
    fail_unsupported(a.where, "argument 'round' of T.cast");
  if (const Value* sat = a.get("sat"); sat && !to_bool(s, *sat, a.where, "sat"))
    fail_unsupported(a.where, "T.cast with sat=False");
  a.refuse({"rbits"});
  return cast_to(s, a.need("value"), to_dtype(s, a.need("dtype"), a.where), a.where);
}
Value big_cast(Session& s, Scope&, Args& a) {
  return cast_to(s, a.need("value"), to_dtype(s, a.need("dtype"), a.where), a.where);
}
Value dtype(Session& s, Scope&, Args& a) { return Value{to_dtype(s, a.need("name"), a.where)}; }

Value assume(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.assume");
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
  ir::ValueId c = as_condition(s, a.need("condition"), a.where);
  Value x = a.need("true_value"), y = a.need("false_value");
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
    {"T", "abs", "x", abs},
    {"T", "clamp", "dst, min_val, max_val", clamp},
    {"T", "infinity", "dtype, span=", infinity},
    {"T", "cast", "value, dtype, round=, sat=, rbits=, span=", cast},
    {"T", "Cast", "dtype, value", big_cast},
    {"T", "dtype", "name", dtype},
    {"T", "assume", "cond", assume},
    {"T", "if_then_else", "cond, t, f, span=", nullptr, if_then_else},
    {"T", "Select", "condition, true_value, false_value, span=", select},
};
}  // namespace

std::span<const Builtin> scalar_builtins() { return kRows; }

}  // namespace tc::eval
