// Operators. On compile-time numbers: Python's arithmetic on 64-bit integers with their expressions (overflow is an
// error, never a wrap) and on doubles. With a run-time operand: an op of the kernel. Unknown operands make unknown
// results. Where the evaluator freezes something that depends on a factory parameter and no expression can say it, the
// parameter's value becomes a precondition (`pin`).
#include <cmath>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::MetaKind;
using ir::OpKind;

std::vector<std::string> params_of(Session& s, const Value& v) {
  std::vector<std::string> out;
  if (const auto* i = v.as<MetaInt>()) ir::meta_params(s.module, i->expr, out);
  if (const auto* f = v.as<FloatV>(); f && f->params) out = *f->params;
  if (const auto* b = v.as<BoolV>(); b && b->decision) out = b->decision->params;
  return out;
}

void merge(std::vector<std::string>& into, const std::vector<std::string>& more) {
  for (const std::string& p : more)
    if (std::find(into.begin(), into.end(), p) == into.end()) into.push_back(p);
}

Value real_of(Session& s, double value, std::vector<std::string> params) {
  if (params.empty()) return real(value);
  s.heap.param_lists.push_back(std::move(params));
  return Value{FloatV{value, &s.heap.param_lists.back()}};
}

Value decided(Session& s, bool value, std::string if_true, std::string if_false, std::vector<std::string> params) {
  if (params.empty()) return boolean(value);
  s.heap.decisions.push_back({std::move(if_true), std::move(if_false), std::move(params)});
  return Value{BoolV{value, &s.heap.decisions.back()}};
}

std::optional<MetaKind> meta_kind(ast::BinOp op) {
  using ast::BinOp;
  switch (op) {
    case BinOp::add: return MetaKind::add;
    case BinOp::sub: return MetaKind::sub;
    case BinOp::mult: return MetaKind::mul;
    case BinOp::floordiv: return MetaKind::floordiv;
    case BinOp::mod: return MetaKind::floormod;
    case BinOp::lshift: return MetaKind::shift_left;
    case BinOp::rshift: return MetaKind::shift_right;
    case BinOp::bit_and: return MetaKind::bit_and;
    case BinOp::bit_or: return MetaKind::bit_or;
    case BinOp::bit_xor: return MetaKind::bit_xor;
    case BinOp::div:
    case BinOp::pow:
    case BinOp::matmult: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<OpKind> op_kind(ast::BinOp op) {
  using ast::BinOp;
  switch (op) {
    case BinOp::add: return OpKind::add;
    case BinOp::sub: return OpKind::sub;
    case BinOp::mult: return OpKind::mul;
    case BinOp::floordiv: return OpKind::floordiv;
    case BinOp::mod: return OpKind::floormod;
    case BinOp::lshift: return OpKind::shift_left;
    case BinOp::rshift: return OpKind::shift_right;
    case BinOp::bit_and: return OpKind::bit_and;
    case BinOp::bit_or: return OpKind::bit_or;
    case BinOp::bit_xor: return OpKind::bit_xor;
    case BinOp::div: return OpKind::div;
    case BinOp::pow:
    case BinOp::matmult: return std::nullopt;
  }
  return std::nullopt;
}

bool overflows(MetaKind kind, int64_t a, int64_t b) {
  int64_t out;
  switch (kind) {
    case MetaKind::add: return __builtin_add_overflow(a, b, &out);
    case MetaKind::sub: return __builtin_sub_overflow(a, b, &out);
    case MetaKind::mul: return __builtin_mul_overflow(a, b, &out);
    case MetaKind::shift_left: return b > 62 || (a != 0 && __builtin_mul_overflow(a, int64_t{1} << b, &out));
    case MetaKind::neg:
    case MetaKind::floordiv:
    case MetaKind::floormod:
    case MetaKind::ceildiv: return a == INT64_MIN;
    case MetaKind::shift_right: return b > 62;
    case MetaKind::min:
    case MetaKind::max:
    case MetaKind::bit_and:
    case MetaKind::bit_or:
    case MetaKind::bit_xor:
    case MetaKind::literal:
    case MetaKind::param:
    case MetaKind::symbol: return false;
  }
  return false;
}

// Python's float // and %: floor.
std::optional<double> float_op(ast::BinOp op, double a, double b, const SourceRange& where) {
  using ast::BinOp;
  switch (op) {
    case BinOp::add: return a + b;
    case BinOp::sub: return a - b;
    case BinOp::mult: return a * b;
    case BinOp::pow: return std::pow(a, b);
    case BinOp::div:
    case BinOp::floordiv:
    case BinOp::mod:
      if (b == 0) fail(where, "division by zero");
      return op == BinOp::div ? a / b : op == BinOp::floordiv ? std::floor(a / b) : a - std::floor(a / b) * b;
    case BinOp::matmult:
    case BinOp::lshift:
    case BinOp::rshift:
    case BinOp::bit_or:
    case BinOp::bit_xor:
    case BinOp::bit_and: return std::nullopt;
  }
  return std::nullopt;
}

Value int_power(Session& s, const MetaInt& base, const MetaInt& exponent, const SourceRange& where) {
  if (exponent.value > 64 && (base.value > 1 || base.value < -1)) fail(where, "the integer does not fit 64 bits");
  pin(s, exponent, where);
  MetaInt out(1);
  for (int64_t i = 0; i < std::min<int64_t>(exponent.value, 64); ++i) out = meta(s, MetaKind::mul, out, base, where);
  return integer(out);
}

Value static_binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  bool ints = !a.is<FloatV>() && !b.is<FloatV>();
  if (ints) {
    MetaInt x = to_int(s, a, where, "the left side"), y = to_int(s, b, where, "the right side");
    if (auto kind = meta_kind(op)) return integer(meta(s, *kind, x, y, where));
    if (op == ast::BinOp::pow && y.value >= 0) return int_power(s, x, y, where);
  }
  std::vector<std::string> params = params_of(s, a);
  merge(params, params_of(s, b));
  double x = to_double(a, where, "the left side"), y = to_double(b, where, "the right side");
  auto value = float_op(op, x, y, where);
  if (!value)
    fail(where, "operator " + std::string(symbol(op)) + " does not take " + kind_name(a) + " and " + kind_name(b));
  return real_of(s, *value, std::move(params));
}

Value repeat(Session& s, const Value& sequence, const Value& times, const SourceRange& where) {
  MetaInt n = to_int(s, times, where, "the number of repetitions");
  if (const auto* t = sequence.as<std::string>()) {
    if (n.value > 0 && static_cast<int64_t>(t->size()) > 1000000 / n.value)
      fail(where, "the string would have more than a million characters");
    std::string out;
    for (int64_t i = 0; i < n.value; ++i) out += *t;
    return text(out);
  }
  std::vector<Value> items = to_items(s, sequence, where, "the left side"), out;
  if (n.value > 0 && static_cast<int64_t>(items.size()) > 1000000 / n.value)
    fail(where, "the list would have more than a million items");
  for (int64_t i = 0; i < n.value; ++i) out.insert(out.end(), items.begin(), items.end());
  MetaInt length =
      n.value > 0 ? meta(s, MetaKind::mul, MetaInt(static_cast<int64_t>(items.size())), n, where) : MetaInt(0);
  if (sequence.is<const TupleObject*>()) {
    pin(s, n, where);
    return tuple(s, std::move(out));
  }
  Value result = list(s, std::move(out));
  (*result.as<ListObject*>())->length_expr = length;
  return result;
}

bool is_sequence(const Value& v) { return v.is<std::string>() || v.is<ListObject*>() || v.is<const TupleObject*>(); }

Value sequence_binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  if (op == ast::BinOp::mult && is_sequence(a) && is_static_number(b)) return repeat(s, a, b, where);
  if (op == ast::BinOp::mult && is_sequence(b) && is_static_number(a)) return repeat(s, b, a, where);
  if (op == ast::BinOp::add && a.v.index() == b.v.index()) {
    if (const auto* t = a.as<std::string>()) {
      count_items(s, t->size() + b.as<std::string>()->size(), where);
      return text(*t + *b.as<std::string>());
    }
    std::vector<Value> items = to_items(s, a, where, "the left side"), more = to_items(s, b, where, "the right side");
    items.insert(items.end(), more.begin(), more.end());
    return a.is<ListObject*>() ? list(s, std::move(items)) : tuple(s, std::move(items));
  }
  fail(where, "operator " + std::string(symbol(op)) + " does not take " + kind_name(a) + " and " + kind_name(b));
}

// Sets have | & -, dicts |.
Value dict_binary(Session& s, ast::BinOp op, const DictObject& a, const DictObject& b, const SourceRange& where) {
  auto has = [](const DictObject& d, const Value& key) {
    return std::any_of(d.items.begin(), d.items.end(), [&](const auto& i) { return equal_values(i.first, key); });
  };
  DictObject out{{}, a.is_set};
  bool both = op == ast::BinOp::bit_or, common = op == ast::BinOp::bit_and && a.is_set;
  if (!both && !common && !(op == ast::BinOp::sub && a.is_set))
    fail_unsupported(where, "operator " + std::string(symbol(op)) + " on dicts or sets");
  for (const auto& item : a.items)
    if (both ? a.is_set || !has(b, item.first) : has(b, item.first) == common) out.items.push_back(item);
  for (const auto& item : b.items)
    if (both && !(a.is_set && has(a, item.first))) out.items.push_back(item);
  count_items(s, out.items.size(), where);
  DictObject& made = dict(s);
  made = std::move(out);
  return Value{&made};
}

Value runtime_binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  if (op == ast::BinOp::pow) fail(where, "operator ** does not take run-time values; T.pow does");
  auto kind = op_kind(op);
  if (!kind) fail_unsupported(where, "operator " + std::string(symbol(op)) + " on run-time values");
  ir::ValueId x = to_scalar(s, a, where, "the left side"), y = to_scalar(s, b, where, "the right side");
  if (*kind == OpKind::floordiv || *kind == OpKind::floormod) {
    auto divisor = ir::constant_value(s.module, y);
    if (divisor && divisor->value == 0) fail(where, "division by zero");
  }
  return scalar(scalar_binary(s, *kind, x, y, where));
}

std::string_view negated(ast::CmpOp op) {
  using ast::CmpOp;
  switch (op) {
    case CmpOp::eq: return "!=";
    case CmpOp::ne: return "==";
    case CmpOp::lt: return ">=";
    case CmpOp::le: return ">";
    case CmpOp::gt: return "<=";
    case CmpOp::ge: return "<";
    case CmpOp::is: return "is not";
    case CmpOp::is_not: return "is";
    case CmpOp::in: return "not in";
    case CmpOp::not_in: return "in";
  }
  return "";
}

bool ordered(ast::CmpOp op, double a, double b) {
  using ast::CmpOp;
  if (op == CmpOp::eq || op == CmpOp::is) return a == b;
  if (op == CmpOp::ne || op == CmpOp::is_not) return a != b;
  if (op == CmpOp::lt) return a < b;
  if (op == CmpOp::le) return a <= b;
  if (op == CmpOp::gt) return a > b;
  return a >= b;
}
bool ordered(ast::CmpOp op, int64_t a, int64_t b) {
  if (op == ast::CmpOp::lt) return a < b;
  if (op == ast::CmpOp::le) return a <= b;
  if (op == ast::CmpOp::gt) return a > b;
  if (op == ast::CmpOp::ge) return a >= b;
  return (a == b) == (op == ast::CmpOp::eq || op == ast::CmpOp::is);
}

std::string operand_text(Session& s, const Value& v) {
  if (const auto* i = v.as<MetaInt>()) return ir::meta_text(s.module, *i);
  return format(s, v);
}

Value compare_numbers(Session& s, ast::CmpOp op, const Value& a, const Value& b, const SourceRange& where) {
  bool ints = !a.is<FloatV>() && !b.is<FloatV>();
  bool value =
      ints ? ordered(op, to_int(s, a, where, "the left side").value, to_int(s, b, where, "the right side").value)
           : ordered(op, to_double(a, where, "the left side"), to_double(b, where, "the right side"));
  std::vector<std::string> params = params_of(s, a);
  merge(params, params_of(s, b));
  if (params.empty()) return boolean(value);
  if (!ints) {  // a float's expression is not kept: the parameters themselves are pinned when the branch is taken
    std::string fixed;
    for (const std::string& p : params) fixed += (fixed.empty() ? "" : " and ") + p + " as given";
    return decided(s, value, fixed, fixed, params);
  }
  std::string left = operand_text(s, a), right = operand_text(s, b);
  return decided(s, value, left + " " + std::string(symbol(op)) + " " + right,
                 left + " " + std::string(negated(op)) + " " + right, params);
}

std::optional<OpKind> comparison_kind(ast::CmpOp op) {
  using ast::CmpOp;
  switch (op) {
    case CmpOp::eq: return OpKind::eq;
    case CmpOp::ne: return OpKind::ne;
    case CmpOp::lt: return OpKind::lt;
    case CmpOp::le: return OpKind::le;
    case CmpOp::gt: return OpKind::gt;
    case CmpOp::ge: return OpKind::ge;
    case CmpOp::is:
    case CmpOp::is_not:
    case CmpOp::in:
    case CmpOp::not_in: return std::nullopt;
  }
  return std::nullopt;
}

Value contains(Session& s, ast::CmpOp op, const Value& a, const Value& b, const SourceRange& where) {
  bool found = false;
  if (const auto* haystack = b.as<std::string>()) {
    found = haystack->find(to_text(a, where, "the left side of 'in'")) != std::string::npos;
  } else {
    for (const Value& item : to_items(s, b, where, "the right side of 'in'")) found |= equal_values(a, item);
  }
  if (const auto* i = a.as<MetaInt>()) pin(s, *i, where);
  return boolean(found == (op == ast::CmpOp::in));
}

}  // namespace

MetaInt meta(Session& s, MetaKind kind, const MetaInt& a, const MetaInt& b, const SourceRange& where) {
  if (a.dynamic() || b.dynamic()) return ir::meta_binary(s.module, kind, a, b);
  bool divides = kind == MetaKind::floordiv || kind == MetaKind::floormod || kind == MetaKind::ceildiv;
  if (divides && b.value == 0) fail(where, "division by zero");
  bool shifts = kind == MetaKind::shift_left || kind == MetaKind::shift_right;
  if (shifts && b.value < 0) fail(where, "shift by a negative number");
  if (overflows(kind, a.value, b.value)) fail(where, "the integer does not fit 64 bits");
  return ir::meta_binary(s.module, kind, a, b);
}

void add_precondition(Session& s, const std::string& text, const std::vector<std::string>& params,
                      const SourceRange& where) {
  if (params.empty() || !s.trace) return;
  for (const ir::Precondition& p : s.trace->preconditions)
    if (p.text == text) return;
  s.trace->preconditions.push_back({text, params, where});
}

void pin(Session& s, const MetaInt& value, const SourceRange& where) {
  std::vector<std::string> params;
  ir::meta_params(s.module, value.expr, params);
  add_precondition(s, ir::meta_text(s.module, value) + " == " + std::to_string(value.value), params, where);
}

bool require_equal(Session& s, const MetaInt& a, const MetaInt& b, const SourceRange& where) {
  if (a.value != b.value) return false;
  if (a.expr == b.expr) return true;
  if (a.dynamic()) return false;
  std::vector<std::string> params;
  ir::meta_params(s.module, a.expr, params);
  ir::meta_params(s.module, b.expr, params);
  add_precondition(s, ir::meta_text(s.module, a) + " == " + ir::meta_text(s.module, b), params, where);
  return true;
}

bool is_static_number(const Value& v) { return v.is<MetaInt>() || v.is<BoolV>() || v.is<FloatV>(); }

std::optional<bool> truth(Session& s, const Value& v, const SourceRange& where) {
  if (const auto* b = v.as<BoolV>()) {
    if (b->decision)
      add_precondition(s, b->value ? b->decision->if_true : b->decision->if_false, b->decision->params, where);
    return b->value;
  }
  if (const auto* i = v.as<MetaInt>()) {
    std::vector<std::string> params;
    ir::meta_params(s.module, i->expr, params);
    add_precondition(s, ir::meta_text(s.module, *i) + (i->value ? " != 0" : " == 0"), params, where);
    return i->value != 0;
  }
  if (const auto* f = v.as<FloatV>()) return f->value != 0;
  if (v.is<NoneV>()) return false;
  if (const auto* t = v.as<std::string>()) return !t->empty();
  if (const auto* l = v.as<ListObject*>()) return !(*l)->items.empty();
  if (const auto* t = v.as<const TupleObject*>()) return !(*t)->items.empty();
  if (const auto* d = v.as<DictObject*>()) return !(*d)->items.empty();
  if (const auto* o = v.as<const OpaqueObject*>()) fail_opaque(**o, where, "the condition");
  if (const auto* t = v.as<const HostTensor*>(); t && (*t)->values && (*t)->values->size() == 1)
    return (*t)->values->front() != 0;
  if (v.is<ObjectObject*>()) {
    if (Value plain = plain_member(v); !plain.is<ObjectObject*>()) return truth(s, plain, where);
    if (auto b = special_method(s, v, "__bool__", {}, where)) return truth(s, *b, where);
    if (auto n = special_method(s, v, "__len__", {}, where)) return truth(s, *n, where);
  }
  if (v.is<FunctionObject*>() || v.is<DType>() || v.is<const Builtin*>() || v.is<NamespaceV>() ||
      v.is<ClassObject*>() || v.is<ObjectObject*>() || v.is<const PartialObject*>() || v.is<const MethodObject*>() ||
      v.is<HostObject*>() || v.is<Instance*>() || v.is<const TensorType*>())
    return true;
  if (is_runtime(v)) return std::nullopt;
  fail(where, kind_name(v) + " is no condition");
}

namespace {
constexpr int kMaxNesting = 20;  // of lists in lists that are compared; deeper ones are different
bool equal_nested(const Value& a, const Value& b, int depth) {
  if (is_static_number(a) && is_static_number(b)) return to_double(a, {}, "") == to_double(b, {}, "");
  auto is_type = [](const Value& v) { return v.is<DType>() || v.is<VectorTypeV>(); };
  if (is_type(a) || is_type(b)) {  // dtype == "float16" holds
    auto name = [](const Value& v) -> std::string {
      if (const auto* t = v.as<DType>()) return std::string(info(*t).name);
      if (const auto* t = v.as<VectorTypeV>())
        return std::string(info(t->element).name) + "x" + std::to_string(t->lanes);
      const auto* t = v.as<std::string>();
      return t ? *t : std::string();
    };
    return !name(a).empty() && name(a) == name(b);
  }
  if (a.v.index() != b.v.index()) return false;
  auto same_items = [depth](const std::vector<Value>& x, const std::vector<Value>& y) {
    return depth < kMaxNesting &&
           (&x == &y || std::equal(x.begin(), x.end(), y.begin(), y.end(),
                                   [depth](const Value& p, const Value& q) { return equal_nested(p, q, depth + 1); }));
  };
  return std::visit(
      Overload{
          [](NoneV) { return true; },
          [&](const std::string& t) { return t == *b.as<std::string>(); },
          [&](const TupleObject* t) { return same_items(t->items, (*b.as<const TupleObject*>())->items); },
          [&](ListObject* t) { return same_items(t->items, (*b.as<ListObject*>())->items); },
          [&](PolicyV p) { return p == *b.as<PolicyV>(); },
          [&](const SymbolObject* o) { return o->name == (*b.as<const SymbolObject*>())->name; },
          [&](const HostTensor* o) { return o == *b.as<const HostTensor*>(); },
          [&](HostObject* o) { return o == *b.as<HostObject*>(); },
          [&](ClassObject* o) { return o == *b.as<ClassObject*>(); },
          [&](ObjectObject* o) { return o == *b.as<ObjectObject*>(); },
          [&](Instance* o) { return o == *b.as<Instance*>(); },
          [&](NamespaceV o) { return std::string_view(o.name) == b.as<NamespaceV>()->name; },
          [&](const PartialObject* o) { return o == *b.as<const PartialObject*>(); },
          [&](const MethodObject* o) { return o == *b.as<const MethodObject*>(); },
          [&](const DecoratorObject* o) { return o == *b.as<const DecoratorObject*>(); },
          [&](const TensorType* o) { return o == *b.as<const TensorType*>(); },
          [&](DictObject* o) { return o == *b.as<DictObject*>(); },
          [&](const RangeObject* o) { return o == *b.as<const RangeObject*>(); },
          [&](FunctionObject* f) { return f == *b.as<FunctionObject*>(); },
          [&](const Builtin* f) { return f == *b.as<const Builtin*>(); },
          [&](const OpaqueObject* o) { return o == *b.as<const OpaqueObject*>(); },
          [&](const BufferV& x) { return x.id == b.as<BufferV>()->id; },
          [](const auto&) { return false; },
      },
      a.v);
}
}  // namespace

bool equal_values(const Value& a, const Value& b) { return equal_nested(a, b, 0); }

Value power(Session& s, const Value& base, const Value& exponent, const SourceRange& where) {
  if (is_static_number(base) && is_static_number(exponent))
    return static_binary(s, ast::BinOp::pow, base, exponent, where);
  ir::ValueId x = to_scalar(s, base, where, "the base"), out;
  for (int64_t n = to_int(s, exponent, where, "the exponent").value; n > 0; n /= 2) {
    if (n % 2 == 1) out = out.valid() ? scalar_binary(s, OpKind::mul, out, x, where) : x;
    if (n > 1) x = scalar_binary(s, OpKind::mul, x, x, where);
  }
  return scalar(out);
}

namespace {
// The first unknown value in a value or in its items.
const OpaqueObject* unknown_in(const Value& v, int depth = 0) {
  if (const auto* o = v.as<const OpaqueObject*>()) return *o;
  const auto* t = v.as<const TupleObject*>();
  auto* const* l = v.as<ListObject*>();
  if ((!t && !l) || depth >= kMaxNesting) return nullptr;
  for (const Value& item : t ? (*t)->items : (*l)->items)
    if (const OpaqueObject* o = unknown_in(item, depth + 1)) return o;
  return nullptr;
}

Value tensor_binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  const auto *x = a.as<const HostTensor*>(), *y = b.as<const HostTensor*>();
  if (op == ast::BinOp::matmult && x && y) return *call_tensor_operation(s, **x, "matmul", {b}, {}, where);
  Value out = tensor_arithmetic(s, a, b, false, where);
  if (auto values = tensor_values(op, a, b)) {
    HostTensor valued = **out.as<const HostTensor*>();
    valued.values = std::move(values);
    return host_tensor(s, std::move(valued));
  }
  return out;
}
}  // namespace

Value binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  if (a.is<const OpaqueObject*>() || b.is<const OpaqueObject*>()) {
    const auto* o = a.as<const OpaqueObject*>();
    const OpaqueObject& from = o ? **o : **b.as<const OpaqueObject*>();
    return derived(s, from, from.what + " " + std::string(symbol(op)) + " ...");
  }
  if (a.is<const HostTensor*>() || b.is<const HostTensor*>()) return tensor_binary(s, op, a, b, where);
  if (is_static_number(a) && is_static_number(b)) return static_binary(s, op, a, b, where);
  if (auto v = object_binary(s, op, a, b, where)) return *v;
  if (a.is<DType>() && b.is<std::string>()) return sequence_binary(s, op, text(format(s, a)), b, where);
  if (a.is<std::string>() && b.is<DType>()) return sequence_binary(s, op, a, text(format(s, b)), where);
  if (is_sequence(a) || is_sequence(b)) return sequence_binary(s, op, a, b, where);
  if (a.is<DictObject*>() && b.is<DictObject*>())
    return dict_binary(s, op, **a.as<DictObject*>(), **b.as<DictObject*>(), where);
  bool slices = a.is<const RegionObject*>() || b.is<const RegionObject*>();
  if (is_runtime(a) || is_runtime(b) || slices) return runtime_binary(s, op, a, b, where);
  fail(where, "operator " + std::string(symbol(op)) + " does not take " + kind_name(a) + " and " + kind_name(b));
}

namespace {
// -x is x * -1, which types without negative values do not take; ~x takes integers and truth values.
Value runtime_unary(Session& s, ast::UnaryOp op, ir::ValueId x, const SourceRange& where) {
  DType type = dtype_of(s, x);
  const DTypeInfo& t = info(type);
  bool negates =
      op == ast::UnaryOp::usub && t.kind != NumberKind::uint && type != DType::b1 && t.form != FloatForm::e8m0;
  if (negates) return scalar(s.trace->builder.unary(OpKind::neg, x));
  if (op != ast::UnaryOp::invert || is_float(type))
    fail(where, "operator " + std::string(symbol(op)) + " does not take " + std::string(t.name));
  if (type == DType::b1) return scalar(s.trace->builder.unary(OpKind::logical_not, x));
  ir::ValueId mask = in_lanes(s, convert(s, constant(s, MetaInt(-1)), type), s.module[x].type.lanes);
  return scalar(s.trace->builder.binary(OpKind::bit_xor, x, mask));
}
}  // namespace

Value unary(Session& s, ast::UnaryOp op, const Value& a, const SourceRange& where) {
  using ast::UnaryOp;
  if (const auto* o = a.as<const OpaqueObject*>()) return derived(s, **o, std::string(symbol(op)) + " " + (*o)->what);
  if (a.is<const HostTensor*>()) return a;
  if (op == UnaryOp::not_) {
    if (const auto* b = a.as<BoolV>(); b && b->decision)
      return decided(s, !b->value, b->decision->if_false, b->decision->if_true, b->decision->params);
    if (auto known = truth(s, a, where)) return boolean(!*known);
    return scalar(s.trace->builder.unary(ir::OpKind::logical_not, as_condition(s, a, where)));
  }
  if (op == UnaryOp::uadd && is_static_number(a)) return a;
  if (const auto* f = a.as<FloatV>(); f && op == UnaryOp::usub) return Value{FloatV{-f->value, f->params}};
  if (is_static_number(a) && !a.is<FloatV>()) {
    MetaInt negative = meta(s, MetaKind::sub, MetaInt(0), to_int(s, a, where, "the operand"), where);
    return integer(op == UnaryOp::usub ? negative : meta(s, MetaKind::sub, negative, MetaInt(1), where));
  }
  if (is_runtime(a)) return runtime_unary(s, op, to_scalar(s, a, where, "the operand"), where);
  fail(where, "operator " + std::string(symbol(op)) + " does not take " + kind_name(a));
}

Value compare(Session& s, ast::CmpOp op, const Value& a, const Value& b, const SourceRange& where) {
  using ast::CmpOp;
  bool identity = op == CmpOp::is || op == CmpOp::is_not;
  for (const Value* side : {&a, &b}) {
    const auto* itself = side->as<const OpaqueObject*>();
    if (const OpaqueObject* o = itself ? *itself : identity ? nullptr : unknown_in(*side))
      return derived(s, *o, o->what + " " + std::string(symbol(op)) + " ...");
  }
  if ((a.is<const HostTensor*>() || b.is<const HostTensor*>()) && comparison_kind(op))
    return tensor_arithmetic(s, a, b, true, where);
  if (auto v = object_compare(s, op, a, b, where)) return *v;
  if (op == CmpOp::in || op == CmpOp::not_in) return contains(s, op, a, b, where);
  if (is_static_number(a) && is_static_number(b)) return compare_numbers(s, op, a, b, where);
  if ((is_runtime(a) || is_runtime(b)) && !a.is<NoneV>() && !b.is<NoneV>()) {
    auto kind = comparison_kind(op);
    if (!kind) fail(where, "'" + std::string(symbol(op)) + "' does not compare run-time values");
    ir::ValueId x = to_scalar(s, a, where, "the left side"), y = to_scalar(s, b, where, "the right side");
    return scalar(scalar_binary(s, *kind, x, y, where));
  }
  if (op == CmpOp::eq || op == CmpOp::is) return boolean(equal_values(a, b));
  if (op == CmpOp::ne || op == CmpOp::is_not) return boolean(!equal_values(a, b));
  if (const auto* x = a.as<std::string>())
    if (const auto* y = b.as<std::string>())
      return boolean(ordered(op, static_cast<int64_t>(x->compare(*y)), int64_t{0}));
  fail(where, "'" + std::string(symbol(op)) + "' does not compare " + kind_name(a) + " with " + kind_name(b));
}

}  // namespace tc::eval
