// Calls: Python functions, builtins, methods, dtypes as casts; attributes of values.
#include "compiler/eval/builtin.h"
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
constexpr int kMaxCallDepth = 100;

// Is there a @T.prim_func def (or a T.Kernel launch) directly in this body, not in a nested decorated factory?
bool decorated_with(const ast::FunctionDef& def, std::string_view name) {
  for (ast::ExprRef d : def.decorators) {
    const ast::Expr* e = d;
    if (const auto* call = std::get_if<ast::Call>(&e->node)) e = call->func;
    if (const auto* a = std::get_if<ast::Attribute>(&e->node); a && a->attr == name) return true;
    if (const auto* n = std::get_if<ast::Name>(&e->node); n && n->id == name) return true;
  }
  return false;
}

struct Contents {
  bool prim_func = false, launch = false;
};
bool is_launch(const ast::WithItem& item) {
  const auto* call = std::get_if<ast::Call>(&item.context->node);
  const auto* a = call ? std::get_if<ast::Attribute>(&call->func->node) : nullptr;
  return a && (a->attr == "Kernel" || a->attr == "ClusterKernel");
}
void scan(const ast::Body& body, Contents& found) {
  for (const ast::Stmt* stmt : body)
    std::visit(Overload{
                   [&](const ast::FunctionDef& f) { found.prim_func |= decorated_with(f, "prim_func"); },
                   [&](const ast::If& i) { scan(i.body, found), scan(i.orelse, found); },
                   [&](const ast::For& i) { scan(i.body, found); },
                   [&](const ast::While& i) { scan(i.body, found); },
                   [&](const ast::With& w) {
                     for (const ast::WithItem& item : w.items) found.launch |= is_launch(item);
                     scan(w.body, found);
                   },
                   [](const auto&) {},
               },
               stmt->node);
}

}  // namespace

namespace {
Value method(Session& s, const Value& self, const std::string& name) {
  s.heap.methods.push_back({self, name});
  return Value{static_cast<const MethodObject*>(&s.heap.methods.back())};
}

// torch.float16 is a dtype; there is no HIP.
Value opaque_attribute(Session& s, const OpaqueObject& o, const std::string& name, const SourceRange& where) {
  std::string full = o.what + "." + name;
  if (o.what == "torch") {
    static constexpr std::pair<std::string_view, DType> kNames[] = {{"half", DType::f16},   {"float", DType::f32},
                                                                    {"double", DType::f64}, {"int", DType::i32},
                                                                    {"long", DType::i64},   {"short", DType::i16}};
    for (auto [alias, type] : kNames)
      if (name == alias) return Value{type};
    if (auto t = dtype_from_name(name)) return Value{*t};
  }
  if (full == "torch.version.hip") return none();
  return opaque(s, std::move(full), where);
}
}  // namespace

Value make_function(Session& s, Scope& scope, const ast::FunctionDef& def, const SourceRange&) {
  FunctionObject f;
  f.name = def.name;
  f.params = &def.params;
  f.body = &def.body;
  f.closure = &scope;
  f.where = def.name_where;
  Contents contents;
  scan(def.body, contents);
  f.is_factory = contents.prim_func;
  f.is_eager = contents.launch;
  for (const ast::Param& p : def.params.list)
    f.defaults.push_back(p.default_value ? std::optional(eval(s, scope, *p.default_value)) : std::nullopt);
  s.heap.functions.push_back(std::move(f));
  Value value{&s.heap.functions.back()};
  for (auto d = def.decorators.rbegin(); d != def.decorators.rend(); ++d)
    value = decorate(s, eval(s, scope, **d), value, (*d)->where);
  return value;
}

std::vector<std::optional<Value>> bind_params(const FunctionObject& f, const std::vector<Value>& positional,
                                              const std::vector<std::pair<std::string, Value>>& keywords,
                                              const SourceRange& where, bool allow_missing) {
  if (f.params->has_varargs) fail_unsupported(f.where, "*args or **kwargs of '" + f.name + "'");
  const auto& params = f.params->list;
  std::vector<std::optional<Value>> bound(params.size());
  size_t places = static_cast<size_t>(
      std::count_if(params.begin(), params.end(), [](const ast::Param& p) { return !p.keyword_only; }));
  if (positional.size() > places)
    fail(where, "'" + f.name + "' takes " + std::to_string(places) + " positional arguments, " +
                    std::to_string(positional.size()) + " are given");
  for (size_t i = 0; i < positional.size(); ++i) bound[i] = positional[i];
  for (const auto& [name, value] : keywords) {
    auto p = std::find_if(params.begin(), params.end(), [&](const ast::Param& q) { return q.name == name; });
    if (p == params.end()) fail(where, "'" + f.name + "' has no parameter '" + name + "'");
    auto& slot = bound[static_cast<size_t>(p - params.begin())];
    if (slot) fail(where, "'" + name + "' of '" + f.name + "' is given twice");
    slot = value;
  }
  std::string missing;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i]) bound[i] = f.defaults[i];
    if (!bound[i]) missing += (missing.empty() ? "" : ", ") + params[i].name;
  }
  if (!missing.empty() && !allow_missing) fail(where, "'" + f.name + "' needs a value for " + missing);
  return bound;
}

Value call_function(Session& s, FunctionObject& f, std::vector<std::optional<Value>> args, const SourceRange& where) {
  if (s.call_depth >= kMaxCallDepth) fail(where, "calls nested more than " + std::to_string(kMaxCallDepth) + " deep");
  ++s.call_depth;
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{s.call_depth};
  bool staged = f.kind == FunctionKind::macro;
  Scope& scope = s.heap.scopes.emplace_back(Scope{
      .parent = f.closure, .names = {}, .is_function = true, .is_loop = false, .staged = staged, .outer_reads = {}});
  for (size_t i = 0; i < args.size(); ++i) {
    Value value = *args[i];
    if (staged && is_runtime(value) && !value.is<BufferV>()) value = scalar(to_scalar(s, value, where, "the argument"));
    scope.names[f.params->list[i].name] = std::move(value);
  }
  if (f.lambda_body) return eval(s, scope, *f.lambda_body);
  Outcome o = exec(s, scope, *f.body);
  return o.flow == Flow::returned ? o.value : none();
}

Value call_value(Session& s, Scope& scope, const Value& callee, const ast::Call& call, const SourceRange& where) {
  const auto* builtin = callee.as<const Builtin*>();
  if (builtin && (*builtin)->lazy) return (*builtin)->lazy(s, scope, call, where);
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
  for (ast::ExprRef arg : call.args) {
    if (const auto* star = std::get_if<ast::Starred>(&arg->node)) {
      Value items = eval(s, scope, *star->value);
      if (items.is<const OpaqueObject*>() && callee.is<const OpaqueObject*>()) continue;
      for (Value& v : to_items(s, items, arg->where, "what * unpacks")) positional.push_back(std::move(v));
    } else {
      positional.push_back(eval(s, scope, *arg));
    }
  }
  for (const ast::Keyword& k : call.keywords) {
    Value v = eval(s, scope, *k.value);
    if (!k.name.empty()) {
      keywords.emplace_back(k.name, std::move(v));
    } else if (const auto* d = v.as<DictObject*>()) {
      for (const auto& [key, item] : (*d)->items) keywords.emplace_back(to_text(key, k.where, "the keyword"), item);
    } else if (!callee.is<const OpaqueObject*>()) {
      fail_unsupported(k.where, "** of " + kind_name(v));
    }
  }
  if (builtin) return call_builtin(s, scope, **builtin, positional, keywords, where);
  if (const auto* o = callee.as<const OpaqueObject*>()) {
    if (auto known = call_host(s, (*o)->what, positional, keywords, where)) return *known;
    return opaque(s, (*o)->what + "(...)", where);
  }
  if (auto* const* kernel = callee.as<Instance*>()) return kernel_result(s, **kernel, where);
  if (const auto* m = callee.as<const MethodObject*>()) return call_method(s, **m, positional, keywords, where);
  if (const auto* t = callee.as<DType>()) {
    if (positional.size() != 1) fail(where, "a dtype as a cast takes one argument");
    return scalar(convert(s, to_scalar(s, positional[0], where, "the value"), *t));
  }
  if (const auto* d = callee.as<const DecoratorObject*>()) {
    if (positional.size() != 1) fail(where, "a decorator takes one function");
    return decorate(s, Value{*d}, positional[0], where);
  }
  if (const auto* f = callee.as<FunctionObject*>()) {
    if (s.host && ((*f)->is_factory || (*f)->kind == FunctionKind::jit)) {
      Value made = call_factory(s, **f, positional, keywords, where);
      return (*f)->is_eager && !(*f)->is_factory ? kernel_result(s, **made.as<Instance*>(), where) : made;
    }
    if ((*f)->kind == FunctionKind::prim_func) fail_unsupported(where, "a call of the prim_func '" + (*f)->name + "'");
    bool was_main = s.in_main;
    if (s.host && (*f)->name == "main") s.in_main = true;
    Value result = call_function(s, **f, bind_params(**f, positional, keywords, where, false), where);
    s.in_main = was_main;
    return result;
  }
  fail(where, kind_name(callee) + " cannot be called");
}

Value get_attribute(Session& s, const Value& base, const std::string& name, const SourceRange& where) {
  if (const auto* ns = base.as<NamespaceV>()) return namespace_attribute(s, *ns, name, where);
  if (const auto* o = base.as<const OpaqueObject*>()) return opaque_attribute(s, **o, name, where);
  if (base.is<Instance*>()) return opaque(s, "a kernel's ." + name, where);
  if (const auto* t = base.as<const HostTensor*>()) {
    if (auto known = tensor_attribute(s, **t, name, where)) return *known;
    return method(s, base, name);
  }
  if (auto* const* o = base.as<HostObject*>()) {
    auto known = (*o)->attrs.find(name);
    if (known != (*o)->attrs.end()) return known->second;
    return (*o)->kind == HostKind::record ? opaque(s, (*o)->what + "." + name, where) : method(s, base, name);
  }
  if (base.is<BufferV>() || base.is<const TensorType*>()) {
    const auto* b = base.as<BufferV>();
    const std::vector<ir::MetaInt> shape = b ? s.module[b->id].type.shape : (*base.as<const TensorType*>())->shape;
    DType dtype = b ? s.module[b->id].type.dtype : (*base.as<const TensorType*>())->dtype;
    if (name == "dtype") return Value{dtype};
    if (name == "shape") {
      std::vector<Value> items;
      for (const ir::MetaInt& e : shape) items.push_back(s.trace ? extent(s, e) : integer(e));
      return tuple(s, std::move(items));
    }
  }
  if (name == "dtype" && is_runtime(base)) return Value{dtype_of(s, to_scalar(s, base, where, "the value"))};
  if (const auto* t = base.as<DType>(); t && name == "bits") return integer(static_cast<int64_t>(info(*t).bits));
  static constexpr std::string_view kMethods[] = {"astype", "append", "format", "get", "items", "keys", "values"};
  if (std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods)) {
    return method(s, base, name);
  }
  // Host code fastens attributes to functions and asks for them (kernel.get_profiler, matmul.compile).
  if (const auto* f = base.as<FunctionObject*>(); f && s.host) {
    if ((name == "compile" || name == "get_tir") && ((*f)->kind == FunctionKind::jit || (*f)->is_factory))
      return method(s, base, name);
    return opaque(s, (*f)->name + "." + name, where);
  }
  fail(where, kind_name(base) + " has no attribute '" + name + "'");
}

}  // namespace tc::eval
