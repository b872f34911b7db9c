// Python's own functions as far as factories use them, tilelang's top level, and module math.
#include <cmath>

#include "compiler/eval/builtin.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::MetaKind;

// ---- decorators
Value decorator(Session& s, FunctionKind kind, const CompileOptions& options, const Value* function,
                const SourceRange& where) {
  s.heap.decorators.push_back({kind, options});
  Value d{static_cast<const DecoratorObject*>(&s.heap.decorators.back())};
  return function ? decorate(s, d, *function, where) : d;
}
Value prim_func(Session& s, Scope&, Args& a) {
  return decorator(s, FunctionKind::prim_func, {}, a.get("func"), a.where);
}
Value macro(Session& s, Scope&, Args& a) { return decorator(s, FunctionKind::macro, {}, a.get("func"), a.where); }
Value jit(Session& s, Scope&, Args& a) {
  CompileOptions options = compile_options(s, a);
  return decorator(s, FunctionKind::jit, options, a.get("func"), a.where);
}
// What the configurations state is given to the factory where a call does not say it.
Value autotune(Session& s, Scope&, Args& a) {
  const Value* configs = a.get("configs");
  if (configs) {
    Value items = *configs;
    if (auto* const* f = configs->as<FunctionObject*>(); f && (*f)->params->list.empty())
      items = call_function(s, **f, bind_params(s, **f, {}, {}, a.where, false), a.where);
    s.heap.values.push_back(items);
    configs = &s.heap.values.back();
  }
  s.heap.decorators.push_back({FunctionKind::plain, {}, configs});
  Value d{static_cast<const DecoratorObject*>(&s.heap.decorators.back())};
  return a.given("func") ? decorate(s, d, a.need("func"), a.where) : d;
}

// Simplification changes nothing that a kernel means.
Value same(Session&, Scope&, Args& a) { return a.need("func"); }

Value compile(Session& s, Scope&, Args& a) {
  const Value& what = a.need("func");
  const auto* instance = what.as<Instance*>();
  CompileOptions options = compile_options(s, a);
  const auto* f = what.as<FunctionObject*>();
  if (f && (*f)->kind == FunctionKind::prim_func && !s.host) {  // a factory compiles what it returns
    Instance& built = s.heap.built.emplace_back();
    built.prim_func = *f;
    built.options = std::move(options);
    return Value{&built};
  }
  if (f && (*f)->kind == FunctionKind::prim_func) {
    Instance& literal = add_literal(s, **f);
    literal.options = std::move(options);
    return Value{&literal};
  }
  if (!instance) return opaque(s, "a compiled " + kind_name(what), a.where);
  if (options.out_idx) (*instance)->options.out_idx = options.out_idx;
  for (const ir::Attr& attr : options.pass_configs)
    ir::set_attr((*instance)->options.pass_configs, attr.name, attr.value);
  return what;
}

// ---- numbers
Value cdiv(Session& s, Scope&, Args& a) {
  return integer(meta(s, MetaKind::ceildiv, to_int(s, a.need("a"), a.where, "the dividend"),
                      to_int(s, a.need("b"), a.where, "the divisor"), a.where));
}
Value next_power_of_2(Session& s, Scope&, Args& a) {
  MetaInt x = to_int(s, a.need("x"), a.where, "the argument");
  pin(s, x, a.where);
  int64_t p = 1;
  while (p < x.value && p < (int64_t{1} << 62)) p *= 2;
  return integer(p);
}

Value range(Session& s, Scope& scope, Args& a) {
  if (a.rest.empty() || a.rest.size() > 3) fail(a.where, "range takes one to three arguments");
  Value start = a.rest.size() > 1 ? a.rest[0] : integer(0), stop = a.rest[a.rest.size() > 1 ? 1 : 0];
  if (scope.staged && s.trace && !s.trace->threads.empty()) {
    LoopObject loop;
    loop.bounds = {{to_index(s, start, a.where, "the start"), to_index(s, stop, a.where, "the end")}};
    if (a.rest.size() == 3) loop.step = to_index(s, a.rest[2], a.where, "the step");
    s.heap.loops.push_back(std::move(loop));
    return Value{static_cast<const LoopObject*>(&s.heap.loops.back())};
  }
  for (const Value& v : a.rest)
    if (const auto* o = v.as<const OpaqueObject*>(); o && s.host) return opaque(s, "range over " + (*o)->what, a.where);
  RangeObject r{to_int(s, start, a.where, "the start"), to_int(s, stop, a.where, "the end"),
                a.rest.size() == 3 ? to_int(s, a.rest[2], a.where, "the step") : MetaInt(1)};
  if (r.step.value == 0) fail(a.where, "the step of range is 0");
  s.heap.ranges.push_back(r);
  return Value{static_cast<const RangeObject*>(&s.heap.ranges.back())};
}

Value len(Session& s, Scope&, Args& a) {
  const Value& v = a.need("x");
  if (const auto* l = v.as<ListObject*>(); l && (*l)->length_expr.expr.valid()) return integer((*l)->length_expr);
  if (const auto* t = v.as<std::string>()) return integer(static_cast<int64_t>(t->size()));
  if (const auto* t = v.as<const HostTensor*>(); t && (*t)->shape && !(*t)->shape->empty()) return (*t)->shape->front();
  if (const auto* l = v.as<ListObject*>(); l && (*l)->uncertain && s.host)
    return opaque(s, "the length of a list that is not known", a.where);
  if (const OpaqueObject* o = unknown_condition(s, v, a.where)) return opaque(s, "len(" + o->what + ")", a.where);
  if (v.is<BufferV>()) return integer(s.module[v.as<BufferV>()->id].type.shape[0]);
  if (auto n = special_method(s, v, "__len__", {}, a.where)) return *n;
  return integer(static_cast<int64_t>(to_items(s, v, a.where, "the argument of len").size()));
}

Value extreme(Session& s, Scope& scope, Args& a, bool want_max) {
  if (a.rest.size() == 1 && s.host)
    if (const OpaqueObject* o = unknown_condition(s, a.rest[0], a.where))
      return opaque(s, (want_max ? "max(" : "min(") + o->what + ")", a.where);
  std::vector<Value> items = a.rest.size() == 1 ? to_items(s, a.rest[0], a.where, "the argument") : a.rest;
  if (items.empty() && a.given("default")) return a.need("default");
  if (!items.empty() && a.given("key")) {  // the first of the largest, or of the smallest
    Value best = items[0], best_key = apply(s, scope, a.need("key"), {best}, {}, a.where);
    for (size_t i = 1; i < items.size(); ++i) {
      Value key = apply(s, scope, a.need("key"), {items[i]}, {}, a.where);
      Value better = compare(s, want_max ? ast::CmpOp::gt : ast::CmpOp::lt, key, best_key, a.where);
      if (const OpaqueObject* o = unknown_condition(s, better, a.where)) return derived(s, *o, o->what);
      if (to_bool(s, better, a.where, "the comparison")) best = items[i], best_key = key;
    }
    return best;
  }
  if (items.empty()) fail(a.where, "min and max need arguments");
  Value best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (best.is<MetaInt>() && items[i].is<MetaInt>()) {
      best = integer(
          meta(s, want_max ? MetaKind::max : MetaKind::min, *best.as<MetaInt>(), *items[i].as<MetaInt>(), a.where));
    } else if (is_runtime(best) || is_runtime(items[i])) {
      ir::ValueId x = to_scalar(s, best, a.where, "the argument"), y = to_scalar(s, items[i], a.where, "the argument");
      best = scalar(scalar_binary(s, want_max ? ir::OpKind::max : ir::OpKind::min, x, y));
    } else {
      Value bigger = compare(s, ast::CmpOp::gt, items[i], best, a.where);
      if (const OpaqueObject* o = unknown_condition(s, bigger, a.where)) return derived(s, *o, o->what);
      if (bigger.is<const OpaqueObject*>()) return bigger;
      if (to_bool(s, bigger, a.where, "the comparison") == want_max) best = items[i];
    }
  }
  return best;
}
Value py_max(Session& s, Scope& scope, Args& a) { return extreme(s, scope, a, true); }
Value py_min(Session& s, Scope& scope, Args& a) { return extreme(s, scope, a, false); }

// int("0x1f", 16)
Value int_in_base(Session& s, Args& a) {
  int64_t base = to_int(s, a.need("base"), a.where, "the base").value;
  if (base != 0 && (base < 2 || base > 36)) fail(a.where, "a base of " + std::to_string(base));
  const std::string& given = to_text(a.need("x"), a.where, "the digits");
  std::string digits;
  for (char c : given)
    if (c != '_' && c != ' ') digits += c;
  // strtoll takes 0x, but neither 0b nor 0o.
  size_t sign = !digits.empty() && (digits[0] == '-' || digits[0] == '+') ? 1 : 0;
  for (auto [mark, of] : {std::pair{'b', 2}, std::pair{'o', 8}})
    if ((base == of || base == 0) && digits.size() > sign + 1 && digits[sign] == '0' &&
        (digits[sign + 1] | 32) == mark) {
      digits.erase(sign, 2);
      base = of;
    }
  char* end = nullptr;
  errno = 0;
  int64_t value = std::strtoll(digits.c_str(), &end, static_cast<int>(base));
  if (digits.empty() || *end || errno) fail_raised(a.where, "ValueError", "int of '" + given + "'");
  return integer(value);
}

Value py_int(Session& s, Scope&, Args& a) {
  if (!a.given("x")) return integer(0);
  const Value& v = a.need("x");
  if (a.given("base")) return int_in_base(s, a);
  if (const auto* t = v.as<std::string>()) {
    size_t first = t->find_first_not_of(" \t\n"), last = t->find_last_not_of(" \t\n");
    ArgValue parsed = parse_arg(first == std::string::npos ? "" : t->substr(first, last - first + 1));
    if (const auto* i = std::get_if<int64_t>(&parsed)) return integer(*i);
    fail_raised(a.where, "ValueError", "int of '" + *t + "'");
  }
  if (const auto* t = v.as<const HostTensor*>()) {
    if ((*t)->values && (*t)->values->size() == 1) return integer((*t)->values->front());
    return opaque(s, "int(" + (*t)->what + ")", a.where);
  }
  if (v.is<const OpaqueObject*>())
    return derived(s, **v.as<const OpaqueObject*>(), "int(" + (*v.as<const OpaqueObject*>())->what + ")");
  const auto* f = v.as<FloatV>();
  if (!f) return integer(to_int(s, v, a.where, "the argument"));
  if (f->params) {
    std::string fixed;
    for (const std::string& p : *f->params) fixed += (fixed.empty() ? "" : " and ") + p + " as given";
    add_precondition(s, fixed, *f->params, a.where);
  }
  if (!(std::fabs(f->value) < 9e18)) fail(a.where, "the number does not fit 64 bits");
  return integer(static_cast<int64_t>(f->value));
}
Value py_float(Session& s, Scope&, Args& a) {
  if (!a.given("x")) return real(0);
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return opaque(s, "float(" + o->what + ")", a.where);
  if (a.need("x").is<FloatV>()) return a.need("x");
  if (const auto* t = a.need("x").as<std::string>()) {  // strtod takes what Python does, and hexadecimal digits
    char* end = nullptr;
    double value = std::strtod(t->c_str(), &end);
    while (*end == ' ' || *end == '\n' || *end == '\t') ++end;
    if (end == t->c_str() || *end || t->find_first_of("xX(") != std::string::npos)
      fail_raised(a.where, "ValueError", "float of '" + *t + "'");
    return real(value);
  }
  return binary(s, ast::BinOp::mult, a.need("x"), real(1.0), a.where);
}
Value py_bool(Session& s, Scope&, Args& a) {
  if (!a.given("x")) return boolean(false);
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return opaque(s, "bool(" + o->what + ")", a.where);
  return boolean(to_bool(s, a.need("x"), a.where, "the argument"));
}
Value py_str(Session& s, Scope&, Args& a) { return text(a.given("x") ? format(s, a.need("x")) : ""); }
// list(x), tuple(x) of what is not known.
std::optional<Value> unknown_sequence(Session& s, const Args& a) {
  if (!a.given("x")) return std::nullopt;
  const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where);
  return o ? std::optional(opaque(s, "the items of " + o->what, a.where)) : std::nullopt;
}
Value py_list(Session& s, Scope&, Args& a) {
  if (auto open = unknown_sequence(s, a)) return *open;
  return list(s, a.given("x") ? to_items(s, a.need("x"), a.where, "the argument") : std::vector<Value>());
}
Value py_tuple(Session& s, Scope&, Args& a) {
  if (auto open = unknown_sequence(s, a)) return *open;
  return tuple(s, a.given("x") ? to_items(s, a.need("x"), a.where, "the argument") : std::vector<Value>());
}
Value py_abs(Session& s, Scope&, Args& a) {
  const Value& v = a.need("x");
  if (const OpaqueObject* o = unknown_condition(s, v, a.where)) return opaque(s, "abs(" + o->what + ")", a.where);
  if (is_runtime(v)) return scalar(s.trace->builder.unary(ir::OpKind::abs, to_scalar(s, v, a.where, "the argument")));
  return to_double(v, a.where, "the argument") < 0 ? unary(s, ast::UnaryOp::usub, v, a.where) : v;
}
Value py_sum(Session& s, Scope&, Args& a) {
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return opaque(s, "sum(" + o->what + ")", a.where);
  Value total = a.given("start") ? a.need("start") : integer(0);
  for (const Value& v : to_items(s, a.need("x"), a.where, "the argument of sum"))
    total = binary(s, ast::BinOp::add, total, v, a.where);
  return total;
}
Value quantified(Session& s, Args& a, bool all) {
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return opaque(s, (all ? "all(" : "any(") + o->what + ")", a.where);
  for (const Value& v : to_items(s, a.need("x"), a.where, "the argument"))
    if (const OpaqueObject* o = unknown_condition(s, v, a.where))
      return opaque(s, (all ? "all(" : "any(") + o->what + ")", a.where);
    else if (to_bool(s, v, a.where, "the condition") != all) return boolean(!all);
  return boolean(all);
}
Value py_all(Session& s, Scope&, Args& a) { return quantified(s, a, true); }
Value py_any(Session& s, Scope&, Args& a) { return quantified(s, a, false); }
// While a kernel is built it prints then, once.
Value py_print(Session& s, Scope&, Args& a) {
  if (!s.host) warn(s, a.where, "print runs when the kernel is built, not in it; T.print does that");
  return none();
}
Value py_slice(Session& s, Scope&, Args& a) {
  auto item = [&](size_t i) { return i < a.rest.size() ? a.rest[i] : none(); };
  if (a.rest.empty() || a.rest.size() > 3) fail(a.where, "slice takes one to three arguments");
  return a.rest.size() == 1 ? slice_object(s, none(), item(0), none()) : slice_object(s, item(0), item(1), item(2));
}
Value enumerate(Session& s, Scope&, Args& a) {
  std::vector<Value> out;
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return opaque(s, "the items of " + o->what, a.where);
  int64_t start = a.given("start") ? to_int(s, a.need("start"), a.where, "the start").value : 0;
  for (const Value& v : to_items(s, a.need("x"), a.where, "the argument"))
    out.push_back(tuple(s, {integer(start + static_cast<int64_t>(out.size())), v}));
  return list(s, std::move(out));
}
Value zip(Session& s, Scope&, Args& a) {
  std::vector<std::vector<Value>> columns;
  for (const Value& v : a.rest) {
    if (const OpaqueObject* o = unknown_condition(s, v, a.where)) return opaque(s, "the items of " + o->what, a.where);
    columns.push_back(to_items(s, v, a.where, "an argument of zip"));
  }
  std::vector<Value> out;
  for (size_t i = 0; !columns.empty(); ++i) {
    std::vector<Value> row;
    for (const auto& column : columns)
      if (i < column.size()) row.push_back(column[i]);
    if (row.size() < columns.size()) break;
    out.push_back(tuple(s, std::move(row)));
  }
  return list(s, std::move(out));
}

// ---- math
template <double (*F)(double)>
Value math_fn(Session& s, Scope&, Args& a) {
  if (const OpaqueObject* o = unknown_condition(s, a.need("x"), a.where))
    return derived(s, *o, std::string("math.") + a.builtin->name + "(" + o->what + ")");
  Value x = binary(s, ast::BinOp::mult, a.need("x"), real(1.0), a.where);  // a float that remembers its parameters
  if (x.is<const OpaqueObject*>()) return x;
  const auto* f = x.as<FloatV>();
  if (!f) fail(a.where, "a function of module math takes numbers, not " + kind_name(a.need("x")));
  return Value{FloatV{F(f->value), f->params}};
}
template <double (*F)(double)>
Value math_int_fn(Session& s, Scope& scope, Args& a) {
  Value x = math_fn<F>(s, scope, a);
  if (x.is<const OpaqueObject*>()) return x;
  Args inner{a.builtin, a.where, {{"x", x}}, {}};
  return py_int(s, scope, inner);
}
Value gcd(Session& s, Scope&, Args& a) {
  MetaInt x = to_int(s, a.need("a"), a.where, "the argument"), y = to_int(s, a.need("b"), a.where, "the argument");
  pin(s, x, a.where);
  pin(s, y, a.where);
  int64_t p = std::abs(x.value), q = std::abs(y.value);
  while (q) std::tie(p, q) = std::pair(q, p % q);
  return integer(p);
}
Value math_log(Session& s, Scope& scope, Args& a) {
  Value top = math_fn<std::log>(s, scope, a);
  if (!a.given("base")) return top;
  return binary(s, ast::BinOp::div, top, real(std::log(to_double(a.need("base"), a.where, "the base"))), a.where);
}

constexpr const char* kJitParams =
    "func=, *, out_idx=, target=, target_host=, execution_backend=, verbose=, pass_configs=, debug_root_path=, "
    "compile_flags=, supply_type=!, ref_prog=!, supply_prog=!, rtol=!, atol=!, max_mismatched_ratio=!, skip_check=!, "
    "profiler=!";
constexpr const char* kCompileParams =
    "func=, out_idx=, execution_backend=, target=, target_host=, verbose=, pass_configs=, compile_flags=";
constexpr const char* kAutotuneParams =
    "func=, *, configs=, warmup=, rep=, timeout=, supply_type=, ref_prog=, supply_prog=, rtol=, atol=, "
    "max_mismatched_ratio=, "
    "skip_check=, manual_check_prog=, cache_input_tensors=, do_not_specialize=, early_stop=, early_stop_factor=";
constexpr Builtin kRows[] = {
    {"T", "prim_func", "func=, *, eager_jit=, private=!, check_well_formed=!", prim_func},
    {"T", "macro", "func=, *, hygienic=!", macro},
    {"tilelang", "jit", kJitParams, jit},
    {"tilelang", "compile", kCompileParams, compile},
    {"tilelang", "autotune", kAutotuneParams, autotune},
    {"tilelang", "cdiv", "a, b", cdiv},
    {"tilelang", "apply_simplify", "func, inline_let=", same},
    {"tilelang", "simplify_prim_func", "func", same},
    {"tilelang", "next_power_of_2", "x", next_power_of_2},
    {"builtins", "range", "*args", range},
    {"builtins", "len", "x", len},
    {"builtins", "max", "*args, key=, default=", py_max},
    {"builtins", "min", "*args, key=, default=", py_min},
    {"builtins", "int", "x=, base=", py_int},
    {"builtins", "float", "x=", py_float},
    {"builtins", "bool", "x=", py_bool},
    {"builtins", "str", "x=", py_str},
    {"builtins", "list", "x=", py_list},
    {"builtins", "tuple", "x=", py_tuple},
    {"builtins", "slice", "*args", py_slice},
    {"builtins", "abs", "x", py_abs},
    {"builtins", "sum", "x, start=", py_sum},
    {"builtins", "all", "x", py_all},
    {"builtins", "any", "x", py_any},
    {"builtins", "print", "*args, **", py_print},
    {"builtins", "enumerate", "x, start=", enumerate},
    {"builtins", "zip", "*args, strict=", zip},
    {"math", "sqrt", "x", math_fn<std::sqrt>},
    {"math", "exp", "x", math_fn<std::exp>},
    {"math", "log", "x, base=", math_log},
    {"math", "log2", "x", math_fn<std::log2>},
    {"math", "ceil", "x", math_int_fn<std::ceil>},
    {"math", "floor", "x", math_int_fn<std::floor>},
    {"math", "gcd", "a, b", gcd},
};
}  // namespace

std::span<const Builtin> host_builtins() { return kRows; }

CompileOptions compile_options(Session& s, const Args& a) {
  CompileOptions options;
  if (const Value* out = a.get("out_idx")) {
    options.out_idx.emplace();
    if (out->is<MetaInt>()) options.out_idx->push_back(to_int(s, *out, a.where, "out_idx").value);
    else
      for (const Value& v : to_items(s, *out, a.where, "out_idx"))
        options.out_idx->push_back(to_int(s, v, a.where, "an item of out_idx").value);
  }
  if (const Value* target = a.get("target"))
    if (const auto* t = target->as<std::string>(); t && *t != "auto" && !t->starts_with("cuda"))
      fail_unsupported(a.where, "target '" + *t + "'");
  if (const Value* flags = a.get("compile_flags")) {
    std::string joined;
    for (const Value& v :
         flags->is<std::string>() ? std::vector{*flags} : to_items(s, *flags, a.where, "compile_flags"))
      if (v.is<const OpaqueObject*>())
        warn(s, a.where,
             "a compile flag is not known without running the file, and left out: " +
                 (*v.as<const OpaqueObject*>())->what);
      else joined += (joined.empty() ? "" : " ") + to_text(v, a.where, "an item of compile_flags");
    ir::set_attr(options.pass_configs, "tl.device_compile_flags", joined);
  }
  const Value* configs = a.get("pass_configs");
  if (!configs) return options;
  const auto* d = configs->as<DictObject*>();
  if (!d) fail(a.where, "pass_configs has to be a dict, not " + kind_name(*configs));
  for (const auto& [key, value] : (*d)->items) {
    std::string name = to_text(key, a.where, "a key of pass_configs");
    if (!is_pass_config(name))
      fail(a.where, "there is no pass config '" + name + "'" + did_you_mean(name, pass_configs()));
    if (const auto* t = value.as<std::string>()) ir::set_attr(options.pass_configs, name, *t);
    else
      ir::set_attr(options.pass_configs, name, MetaInt(to_int(s, value, a.where, "the value of a pass config").value));
  }
  return options;
}

}  // namespace tc::eval
