// More of Python's own functions, as far as host code and factories use them: conversions, questions about values,
// iteration, super. Behaviour: Python's library reference, "Built-in Functions".
#include <cmath>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

const OpaqueObject* unknown(const Value& v) {
  const auto* o = v.as<const OpaqueObject*>();
  return o ? *o : nullptr;
}

// round(x), round(x, digits): half to even, as Python does.
Value py_round(Session& s, Scope&, Args& a) {
  const Value& x = a.need("x");
  if (const auto* o = unknown(x)) return opaque(s, "round(" + o->what + ")", a.where);
  if (x.is<MetaInt>()) return x;
  double d = to_double(x, a.where, "the number");
  if (!a.given("digits")) {
    if (!(std::fabs(d) < 9e18)) fail(a.where, "the number does not fit 64 bits");
    return integer(static_cast<int64_t>(std::nearbyint(d)));
  }
  double scale = std::pow(10.0, static_cast<double>(to_int(s, a.need("digits"), a.where, "the digits").value));
  return real(std::nearbyint(d * scale) / scale);
}

Value py_sorted(Session& s, Scope& scope, Args& a) {
  const Value& all = a.need("x");
  if (const auto* o = unknown(all)) return opaque(s, "sorted(" + o->what + ")", a.where);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& v : to_items(s, all, a.where, "the argument of sorted"))
    keyed.emplace_back(a.given("key") ? apply(s, scope, a.need("key"), {v}, {}, a.where) : v, v);
  const OpaqueObject* open = nullptr;
  auto less = [&](const Value& x, const Value& y) {
    Value c = compare(s, ast::CmpOp::lt, x, y, a.where);
    if (const auto* o = unknown(c)) open = o;
    return !open && to_bool(s, c, a.where, "the comparison");
  };
  auto before = [&](const auto& x, const auto& y) {
    count_step(s, a.where);
    const auto *p = x.first.template as<const TupleObject*>(), *q = y.first.template as<const TupleObject*>();
    if (!p || !q) return less(x.first, y.first);
    for (size_t i = 0; i < std::min((*p)->items.size(), (*q)->items.size()); ++i)
      if (!equal_values((*p)->items[i], (*q)->items[i])) return less((*p)->items[i], (*q)->items[i]);
    return (*p)->items.size() < (*q)->items.size();
  };
  // Insertion by halves: bounded work whatever the comparisons say.
  std::vector<std::pair<Value, Value>> out;
  for (auto& item : keyed) {
    auto at = std::upper_bound(out.begin(), out.end(), item, before);
    out.insert(at, item);
  }
  if (open) return opaque(s, "sorted by " + open->what, a.where);
  if (a.given("reverse") && to_bool(s, a.need("reverse"), a.where, "reverse")) std::reverse(out.begin(), out.end());
  std::vector<Value> items;
  for (auto& [key, v] : out) items.push_back(std::move(v));
  return list(s, std::move(items));
}

Value py_reversed(Session& s, Scope&, Args& a) {
  std::vector<Value> items = to_items(s, a.need("x"), a.where, "the argument of reversed");
  std::reverse(items.begin(), items.end());
  return list(s, std::move(items));
}

// Is `v` of the type? nullopt: not known.
std::optional<bool> is_of(const Value& v, const Value& type, int depth = 0) {
  if (const auto* t = type.as<const TupleObject*>()) {
    bool open = false;
    for (const Value& one : (*t)->items) {
      auto is = depth < 8 ? is_of(v, one, depth + 1) : std::nullopt;
      if (is && *is) return true;
      open |= !is;
    }
    return open ? std::nullopt : std::optional(false);
  }
  if (v.is<const OpaqueObject*>()) return std::nullopt;
  if (const auto* b = type.as<const Builtin*>()) {
    std::string_view name = (*b)->name;
    if (name == "int") return v.is<MetaInt>() || v.is<BoolV>();
    if (name == "float") return v.is<FloatV>();
    if (name == "bool") return v.is<BoolV>();
    if (name == "str") return v.is<std::string>();
    if (name == "list") return v.is<ListObject*>();
    if (name == "tuple") return v.is<const TupleObject*>();
    if (name == "dict") return v.is<DictObject*>() && !(*v.as<DictObject*>())->is_set;
    if (name == "set") return v.is<DictObject*>() && (*v.as<DictObject*>())->is_set;
  }
  if (auto* const* c = type.as<ClassObject*>()) {
    auto* const* o = v.as<ObjectObject*>();
    return o && ((*o)->type == *c || derives_from(*(*o)->type, (*c)->name));
  }
  if (const auto* o = unknown(type)) {
    if (o->what.ends_with("Tensor") || o->what.ends_with("Parameter")) return v.is<const HostTensor*>();
    if (o->what.ends_with("dtype")) return v.is<DType>();
    bool plain = v.is<MetaInt>() || v.is<std::string>() || v.is<FloatV>() || v.is<NoneV>() || v.is<BoolV>();
    if (plain && !o->what.starts_with("numbers")) return false;
  }
  return std::nullopt;
}

Value py_isinstance(Session& s, Scope&, Args& a) {
  if (auto known = is_of(a.need("x"), a.need("type"))) return boolean(*known);
  if (!s.host) fail_unsupported(a.where, "isinstance with " + kind_name(a.need("type")));
  return opaque(s, "isinstance(...)", a.where);
}

bool has_attribute(Session& s, const Value& base, const std::string& name, const SourceRange& where) {
  try {
    get_attribute(s, base, name, where);
    return true;
  } catch (const Failure& failure) {
    if (failure.fatal) throw;
    return failure.diag.kind == DiagKind::unsupported;
  }
}
Value py_hasattr(Session& s, Scope&, Args& a) {
  const Value& base = a.need("x");
  std::string name = to_text(a.need("name"), a.where, "the name");
  if (const auto* o = unknown(base)) return opaque(s, "hasattr(" + o->what + ", '" + name + "')", a.where);
  if (auto* const* o = base.as<ObjectObject*>())
    return boolean((*o)->attrs.contains(name) || class_lookup(*(*o)->type, name) != nullptr);
  if (auto* const* o = base.as<HostObject*>()) return boolean((*o)->attrs.contains(name));
  return boolean(has_attribute(s, base, name, a.where));
}
Value py_getattr(Session& s, Scope& scope, Args& a) {
  std::string name = to_text(a.need("name"), a.where, "the name");
  if (a.named.size() > 2) {
    Args question{a.builtin, a.where, {{"x", a.need("x")}, {"name", a.need("name")}}, {}};
    Value has = py_hasattr(s, scope, question);
    if (const auto* b = has.as<BoolV>(); b && !b->value) return a.given("otherwise") ? a.need("otherwise") : none();
  }
  return get_attribute(s, a.need("x"), name, a.where);
}
Value py_setattr(Session& s, Scope&, Args& a) {
  std::string name = to_text(a.need("name"), a.where, "the name");
  if (auto* const* o = a.need("x").as<ObjectObject*>()) (*o)->attrs[name] = a.need("value");
  else if (auto* const* h = a.need("x").as<HostObject*>()) (*h)->attrs[name] = a.need("value");
  else if (!s.host) fail_unsupported(a.where, "setattr of " + kind_name(a.need("x")));
  return none();
}

Value py_dict(Session& s, Scope& scope, Args& a) {
  DictObject& d = dict(s);
  Value out{&d};
  // As the method update: a dict or pairs, and keywords.
  const MethodObject update{out, "update"};
  call_python_method(s, scope, update, a.rest, a.named, a.where);
  return out;
}
Value py_set(Session& s, Scope& scope, Args& a) {
  DictObject& d = dict(s);
  d.is_set = true;
  Value out{&d};
  if (!a.given("x")) return out;
  if (const auto* o = unknown(a.need("x"))) return opaque(s, "set(" + o->what + ")", a.where);
  const MethodObject update{out, "update"};
  call_python_method(s, scope, update, {list(s, to_items(s, a.need("x"), a.where, "the argument"))}, {}, a.where);
  return out;
}

Value py_map(Session& s, Scope& scope, Args& a) {
  std::vector<std::vector<Value>> columns;
  if (a.rest.size() < 2) fail(a.where, "map takes a function and what it is applied to");
  for (size_t i = 1; i < a.rest.size(); ++i) {
    if (const auto* o = unknown(a.rest[i])) return opaque(s, "map over " + o->what, a.where);
    columns.push_back(to_items(s, a.rest[i], a.where, "an argument of map"));
  }
  size_t n = columns[0].size();
  for (const auto& column : columns) n = std::min(n, column.size());
  std::vector<Value> out;
  for (size_t i = 0; i < n; ++i) {
    count_step(s, a.where);
    std::vector<Value> args;
    for (const auto& column : columns) args.push_back(column[i]);
    out.push_back(apply(s, scope, a.rest[0], std::move(args), {}, a.where));
  }
  return list(s, std::move(out));
}
Value py_filter(Session& s, Scope& scope, Args& a) {
  std::vector<Value> out;
  for (const Value& v : to_items(s, a.need("x"), a.where, "the argument of filter")) {
    count_step(s, a.where);
    Value keep = a.given("function") ? apply(s, scope, a.need("function"), {v}, {}, a.where) : v;
    if (to_bool(s, keep, a.where, "the condition")) out.push_back(v);
  }
  return list(s, std::move(out));
}
Value py_divmod(Session& s, Scope&, Args& a) {
  return tuple(s, {binary(s, ast::BinOp::floordiv, a.need("a"), a.need("b"), a.where),
                   binary(s, ast::BinOp::mod, a.need("a"), a.need("b"), a.where)});
}
Value py_pow(Session& s, Scope&, Args& a) { return binary(s, ast::BinOp::pow, a.need("a"), a.need("b"), a.where); }
Value py_callable(Session&, Scope&, Args& a) {
  const Value& v = a.need("x");
  return boolean(v.is<FunctionObject*>() || v.is<const Builtin*>() || v.is<const PartialObject*>() ||
                 v.is<const MethodObject*>() || v.is<ClassObject*>() || v.is<Instance*>());
}
Value py_type(Session& s, Scope&, Args& a) {
  const Value& v = a.need("x");
  if (auto* const* o = v.as<ObjectObject*>()) return Value{(*o)->type};
  static constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {"an integer", "int"}, {"a float", "float"}, {"a string", "str"}, {"a truth value", "bool"},
      {"a list", "list"},    {"a tuple", "tuple"}, {"a dict", "dict"}};
  std::string kind = kind_name(v);
  for (auto [what, name] : kTypes)
    if (kind == what) return Value{find_builtin("builtins", name)};
  return opaque(s, "the type of " + kind, a.where);
}
Value py_next(Session& s, Scope&, Args& a) {
  if (const auto* o = unknown(a.need("x"))) return opaque(s, "next(" + o->what + ")", a.where);
  std::vector<Value> items = to_items(s, a.need("x"), a.where, "the argument of next");
  if (!items.empty()) return items[0];
  if (a.named.size() > 1) return a.given("otherwise") ? a.need("otherwise") : none();
  fail(a.where, "next of nothing");
}
Value py_iter(Session& s, Scope&, Args& a) {
  if (unknown(a.need("x")) || a.need("x").is<const HostTensor*>()) return a.need("x");
  return list(s, to_items(s, a.need("x"), a.where, "the argument of iter"));
}
Value py_vars(Session& s, Scope&, Args& a) {
  const Value& v = a.need("x");
  const std::unordered_map<std::string, Value>* attrs = nullptr;
  if (auto* const* h = v.as<HostObject*>()) attrs = &(*h)->attrs;
  if (auto* const* o = v.as<ObjectObject*>()) attrs = &(*o)->attrs;
  if (!attrs) return opaque(s, "vars(" + kind_name(v) + ")", a.where);
  DictObject& d = dict(s);
  std::vector<std::string> names;
  for (const auto& [name, value] : *attrs) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) d.items.emplace_back(text(name), attrs->at(name));
  return Value{&d};
}
// super(): the bases of the class whose method runs, and its object.
Value py_super(Session& s, Scope& scope, Args& a) {
  HostObject& o = host_object(s, HostKind::super, "super()", a.where);
  if (const Value* type = lookup(scope, "__class__"); type && type->is<ClassObject*>()) o.attrs["class"] = *type;
  for (const char* name : {"cls", "self"})
    if (const Value* self = lookup(scope, name)) o.attrs["self"] = *self;
  if (a.rest.size() == 2) o.attrs["self"] = a.rest[1];
  return Value{&o};
}
Value py_repr(Session& s, Scope&, Args& a) { return text(format(s, a.need("x"))); }
Value py_ord(Session& s, Scope&, Args& a) {
  std::string t = to_text(a.need("x"), a.where, "the argument");
  if (t.size() != 1) fail_unsupported(a.where, "ord of anything but one ASCII character");
  (void)s;
  return integer(static_cast<unsigned char>(t[0]));
}
Value math_log10(Session& s, Scope&, Args& a) {
  (void)s;
  return real(std::log10(to_double(a.need("x"), a.where, "the argument")));
}
Value math_prod(Session& s, Scope&, Args& a) {
  Value out = integer(1);
  for (const Value& v : to_items(s, a.need("x"), a.where, "the argument of prod"))
    out = binary(s, ast::BinOp::mult, out, v, a.where);
  return out;
}
Value math_isclose(Session& s, Scope&, Args& a) {
  for (const char* name : {"a", "b"})
    if (const auto* o = unknown(a.need(name))) return opaque(s, "isclose(" + o->what + ")", a.where);
  double x = to_double(a.need("a"), a.where, "the argument"), y = to_double(a.need("b"), a.where, "the argument");
  return boolean(std::fabs(x - y) <= 1e-9 * std::max(std::fabs(x), std::fabs(y)));
}
template <double (*F)(double)>
Value math_real(Session&, Scope&, Args& a) {
  return real(F(to_double(a.need("x"), a.where, "the argument")));
}
template <double (*F)(double)>
Value math_test(Session&, Scope&, Args& a) {
  return boolean(F(to_double(a.need("x"), a.where, "the argument")) != 0);
}
double is_inf(double d) { return std::isinf(d); }
double is_nan(double d) { return std::isnan(d); }
Value math_pow(Session& s, Scope&, Args& a) {
  (void)s;
  return real(
      std::pow(to_double(a.need("a"), a.where, "the argument"), to_double(a.need("b"), a.where, "the argument")));
}

constexpr Builtin kRows[] = {
    {"builtins", "round", "x, digits=", py_round},
    {"builtins", "sorted", "x, *, key=, reverse=", py_sorted},
    {"builtins", "reversed", "x", py_reversed},
    {"builtins", "isinstance", "x, type", py_isinstance},
    {"builtins", "hasattr", "x, name", py_hasattr},
    {"builtins", "getattr", "x, name, otherwise=", py_getattr},
    {"builtins", "setattr", "x, name, value", py_setattr},
    {"builtins", "dict", "*args, **", py_dict},
    {"builtins", "set", "x=", py_set},
    {"builtins", "frozenset", "x=", py_set},
    {"builtins", "map", "*args", py_map},
    {"builtins", "filter", "function, x", py_filter},
    {"builtins", "divmod", "a, b", py_divmod},
    {"builtins", "pow", "a, b", py_pow},
    {"builtins", "callable", "x", py_callable},
    {"builtins", "type", "x", py_type},
    {"builtins", "next", "x, otherwise=", py_next},
    {"builtins", "iter", "x", py_iter},
    {"builtins", "vars", "x", py_vars},
    {"builtins", "super", "*args", py_super},
    {"builtins", "repr", "x", py_repr},
    {"builtins", "ord", "x", py_ord},
    {"math", "log10", "x", math_log10},
    {"math", "prod", "x", math_prod},
    {"math", "isclose", "a, b, rel_tol=, abs_tol=", math_isclose},
    {"math", "sin", "x", math_real<std::sin>},
    {"math", "cos", "x", math_real<std::cos>},
    {"math", "tanh", "x", math_real<std::tanh>},
    {"math", "fabs", "x", math_real<std::fabs>},
    {"math", "isinf", "x", math_test<is_inf>},
    {"math", "isnan", "x", math_test<is_nan>},
    {"math", "pow", "a, b", math_pow},
};
}  // namespace

std::span<const Builtin> python_builtins() { return kRows; }

}  // namespace tc::eval
