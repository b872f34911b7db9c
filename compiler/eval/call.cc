// Calls: Python functions, builtins, methods, dtypes as casts; attributes of values.
#include <cmath>

#include "compiler/eval/builtin.h"
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {

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
  std::vector<std::string> prim_funcs;
  std::vector<InnerKernel> kernels;
  bool returns_one = false, launch = false;
};
bool mentions(const ast::Expr& e, const std::vector<std::string>& names) {
  auto any = [&](const ast::Exprs& all) {
    return std::any_of(all.begin(), all.end(), [&](ast::ExprRef x) { return x && mentions(*x, names); });
  };
  return std::visit(Overload{
                        [&](const ast::Name& n) { return std::find(names.begin(), names.end(), n.id) != names.end(); },
                        [&](const ast::Attribute& n) { return mentions(*n.value, names); },
                        [&](const ast::Call& n) {
                          return mentions(*n.func, names) || any(n.args) ||
                                 std::any_of(n.keywords.begin(), n.keywords.end(),
                                             [&](const ast::Keyword& k) { return mentions(*k.value, names); });
                        },
                        [&](const ast::IfExpr& n) { return mentions(*n.body, names) || mentions(*n.orelse, names); },
                        [&](const ast::TupleExpr& n) { return any(n.items); },
                        [&](const ast::ListExpr& n) { return any(n.items); },
                        [](const auto&) { return false; },
                    },
                    e.node);
}
bool is_launch(const ast::WithItem& item) {
  const auto* call = std::get_if<ast::Call>(&item.context->node);
  const auto* a = call ? std::get_if<ast::Attribute>(&call->func->node) : nullptr;
  return a && (a->attr == "Kernel" || a->attr == "ClusterKernel");
}
void scan(const ast::Body& body, Contents& found) {
  for (const ast::Stmt* stmt : body)
    std::visit(Overload{
                   [&](const ast::FunctionDef& f) {
                     if (decorated_with(f, "prim_func")) return found.prim_funcs.push_back(f.name);
                     Contents inner;
                     scan(f.body, inner);
                     if (inner.returns_one || decorated_with(f, "jit")) found.kernels.push_back({f.name, f.name_where});
                     else found.kernels.insert(found.kernels.end(), inner.kernels.begin(), inner.kernels.end());
                   },
                   [&](const ast::Return& r) { found.returns_one |= r.value && mentions(*r.value, found.prim_funcs); },
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
// An attribute of a plain value of Python, of the kernel's values and types.
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
  if (full == "torch.inf" || full == "numpy.inf") return real(HUGE_VAL);
  if (full == "torch.pi" || full == "numpy.pi") return real(3.14159265358979323846);
  if (o.what == "numpy")
    if (auto t = dtype_from_name(name)) return Value{*t};
  if (o.cause) return derived(s, o, std::move(full));
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
  // A plain function that defines a kernel and does not return it is host code: a test, say.
  f.is_factory = contents.returns_one || (!contents.prim_funcs.empty() && decorated_with(def, "jit"));
  f.is_eager = contents.launch || (decorated_with(def, "jit") && !f.is_factory && declares_parameter(f));
  if (!f.is_factory && !f.is_eager) f.inner_kernels = std::move(contents.kernels);
  f.of_trace = !s.host;
  for (const ast::Param& p : def.params.list)
    f.defaults.push_back(p.default_value ? std::optional(eval(s, scope, *p.default_value)) : std::nullopt);
  if (!def.params.vararg.empty()) f.defaults.push_back(tuple(s, {}));
  if (!def.params.kwarg.empty()) f.defaults.push_back(Value{&dict(s)});
  s.heap.functions.push_back(std::move(f));
  Value value{&s.heap.functions.back()};
  for (auto d = def.decorators.rbegin(); d != def.decorators.rend(); ++d)
    value = decorate(s, eval(s, scope, **d), value, (*d)->where);
  auto* const* made = value.as<FunctionObject*>();
  if (s.host && made && (*made)->kind == FunctionKind::prim_func && scope.parent) add_literal(s, **made);
  return value;
}

std::string param_name(const FunctionObject& f, size_t i) {
  const ast::Params& p = *f.params;
  if (i < p.list.size()) return p.list[i].name;
  return i == p.list.size() && !p.vararg.empty() ? p.vararg : p.kwarg;
}

std::vector<std::optional<Value>> bind_params(Session& s, const FunctionObject& f, const std::vector<Value>& positional,
                                              const std::vector<std::pair<std::string, Value>>& keywords,
                                              const SourceRange& where, bool allow_missing) {
  const auto& params = f.params->list;
  std::vector<std::optional<Value>> bound(f.defaults.size());
  size_t places = static_cast<size_t>(
      std::count_if(params.begin(), params.end(), [](const ast::Param& p) { return !p.keyword_only; }));
  if (positional.size() > places && f.params->vararg.empty())
    fail(where, "'" + f.name + "' takes " + std::to_string(places) + " positional arguments, " +
                    std::to_string(positional.size()) + " are given");
  for (size_t i = 0; i < std::min(places, positional.size()); ++i) bound[i] = positional[i];
  if (positional.size() > places)
    bound[params.size()] = tuple(s, {positional.begin() + static_cast<std::ptrdiff_t>(places), positional.end()});
  DictObject* rest = nullptr;
  for (const auto& [name, value] : keywords) {
    auto p = std::find_if(params.begin(), params.end(), [&](const ast::Param& q) { return q.name == name; });
    if (p == params.end() && !f.params->kwarg.empty()) {
      if (!rest) bound.back() = Value{rest = &dict(s)};
      rest->items.emplace_back(text(name), value);
      continue;
    }
    if (p == params.end()) {
      std::vector<std::string> names;
      for (const ast::Param& q : params) names.push_back(q.name);
      fail(where, "'" + f.name + "' has no parameter '" + name + "'" + did_you_mean(name, names));
    }
    auto& slot = bound[static_cast<size_t>(p - params.begin())];
    if (slot) fail(where, "'" + name + "' of '" + f.name + "' is given twice");
    slot = value;
  }
  std::string missing;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i]) bound[i] = f.defaults[i];
    if (!bound[i]) missing += (missing.empty() ? "" : ", ") + param_name(f, i);
  }
  if (!missing.empty() && !allow_missing) fail(where, "'" + f.name + "' needs a value for " + missing);
  return bound;
}

namespace {
// x: T.Ref (T.Var in older programs).
bool is_by_reference(const FunctionObject& f, size_t i) {
  if (i >= f.params->list.size() || !f.params->list[i].annotation) return false;
  const ast::Expr& e = *f.params->list[i].annotation;
  const auto* attribute = std::get_if<ast::Attribute>(&e.node);
  const auto* name = std::get_if<ast::Name>(&e.node);
  return (attribute && (attribute->attr == "Ref" || attribute->attr == "Var")) || (name && name->id == "Ref");
}

// Scalars by value, read where the macro is called; buffers and regions, and what a T.Ref stands for, by reference.
Value macro_argument(Session& s, const FunctionObject& f, size_t i, const Value& value, const SourceRange& where) {
  if (!is_by_reference(f, i)) return is_runtime(value) ? scalar(to_scalar(s, value, where, "the argument")) : value;
  const auto* var = value.as<BufferV>();
  if (var && var->is_var) return value;
  const auto* region = value.as<const RegionObject*>();
  if (!region)
    fail(where, "'" + param_name(f, i) + "' of '" + f.name + "' is a T.Ref: it takes a variable, an element or a " +
                    "region of a buffer, not " + kind_name(value));
  if ((*region)->has_slice) return value;
  RegionObject& ref = s.heap.regions.emplace_back(**region);
  ref.is_ref = true;
  return Value{static_cast<const RegionObject*>(&ref)};
}
}  // namespace

Value call_function(Session& s, FunctionObject& f, std::vector<std::optional<Value>> args, const SourceRange& where) {
  if (static_cast<int64_t>(s.calls.size()) >= s.options->bounds.calls)
    fail_bound(where, "calls nested more than " + std::to_string(s.options->bounds.calls) +
                          " deep; --bound calls=N allows more");
  check_stack(s, where);
  count_step(s, where);
  bool staged = f.kind == FunctionKind::macro;
  if (staged && s.trace && s.trace->lazy_depth > 0)
    fail(where, "the macro '" + f.name + "' in an operand that is evaluated only where it counts; an `if` can choose");
  struct Leave {
    Session& s;
    size_t depth;
    ~Leave() { s.calls.resize(depth); }
  } leave{s, s.calls.size()};
  s.calls.push_back({f.name, where});
  Scope& scope = s.heap.scopes.emplace_back(Scope{
      .parent = f.closure, .names = {}, .is_function = true, .is_loop = false, .staged = staged, .outer_reads = {}});
  for (size_t i = 0; i < args.size(); ++i) {
    scope.names[param_name(f, i)] = staged ? macro_argument(s, f, i, *args[i], where) : *args[i];
  }
  if (f.lambda_body) return eval(s, scope, *f.lambda_body);
  Outcome o = exec(s, scope, *f.body);
  Value result = o.flow == Flow::returned ? o.value : none();
  for (const Value& v : scope.maybe_returned) result = merged(s, result, v, "how '" + f.name + "' returns", where);
  return result;
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
    } else if (auto* const* o = v.as<HostObject*>(); o && (*o)->kind == HostKind::record) {  // ** of vars(args)
      for (const auto& [name, item] : (*o)->attrs) keywords.emplace_back(name, item);
    } else if (!callee.is<const OpaqueObject*>()) {
      if (const auto* unknown = v.as<const OpaqueObject*>()) fail_opaque(**unknown, k.where, "what ** unpacks");
      fail_unsupported(k.where, "** of " + kind_name(v));
    }
  }
  return apply(s, scope, callee, std::move(positional), std::move(keywords), where);
}

namespace {
// A function that nobody knows may call those that it is given: do_bench(lambda: kernel(a, b)).
void call_back(Session& s, Scope& scope, const std::vector<Value>& positional,
               const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  auto call = [&](const Value& v) {
    const FunctionObject* f = nullptr;
    size_t given = 0;
    if (auto* const* g = v.as<FunctionObject*>()) f = *g;
    if (const auto* p = v.as<const PartialObject*>())
      if (auto* const* g = (*p)->callee.as<FunctionObject*>()) f = *g, given = (*p)->positional.size();
    if (!f || f->kind != FunctionKind::plain || f->is_factory) return;
    size_t needed = static_cast<size_t>(std::count_if(f->params->list.begin(), f->params->list.end(),
                                                      [](const ast::Param& p) { return !p.default_value; }));
    if (needed > given) return;
    try {
      apply(s, scope, v, {}, {}, where);
    } catch (const Failure& failure) {
      if (failure.fatal) throw;  // else: it may never be called
    }
  };
  for (const Value& v : positional) call(v);
  for (const auto& [name, v] : keywords) call(v);
}

Value apply_opaque(Session& s, Scope& scope, const OpaqueObject& o, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  if (auto known = call_host(s, scope, o.what, positional, keywords, where)) return *known;
  if (s.host) call_back(s, scope, positional, keywords, where);
  if (o.cause) return derived(s, o, o.what + "(...)");
  return opaque(s, o.what + "(...)", where);
}

Value apply_object(Session& s, Scope& scope, const Value& self, const ObjectObject& o, std::vector<Value> positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  for (const char* name : {"__call__", "forward"}) {
    const Value* method = class_lookup(*o.type, name);
    if (!method) continue;
    positional.insert(positional.begin(), self);
    return apply(s, scope, *method, std::move(positional), keywords, where);
  }
  return opaque(s, "a call of an object of '" + o.type->name + "'", where);
}
}  // namespace

Value apply(Session& s, Scope& scope, const Value& callee, std::vector<Value> positional,
            std::vector<std::pair<std::string, Value>> keywords, const SourceRange& where) {
  check_stack(s, where);
  if (const auto* builtin = callee.as<const Builtin*>())
    return call_builtin(s, scope, **builtin, positional, keywords, where);
  if (const auto* o = callee.as<const OpaqueObject*>()) return apply_opaque(s, scope, **o, positional, keywords, where);
  if (const auto* p = callee.as<const PartialObject*>()) {
    positional.insert(positional.begin(), (*p)->positional.begin(), (*p)->positional.end());
    for (const auto& k : (*p)->keywords)
      if (std::none_of(keywords.begin(), keywords.end(), [&](const auto& given) { return given.first == k.first; }))
        keywords.push_back(k);
    return apply(s, scope, (*p)->callee, std::move(positional), std::move(keywords), where);
  }
  if (auto* const* type = callee.as<ClassObject*>()) return instantiate(s, scope, **type, positional, keywords, where);
  if (auto* const* o = callee.as<ObjectObject*>())
    return apply_object(s, scope, callee, **o, std::move(positional), keywords, where);
  if (auto* const* kernel = callee.as<Instance*>()) return kernel_result(s, **kernel, positional, where);
  if (const auto* m = callee.as<const MethodObject*>()) return call_method(s, scope, **m, positional, keywords, where);
  if (auto* const* o = callee.as<HostObject*>())
    return call_object_method(s, **o, "__call__", positional, keywords, where);
  if (const auto* t = callee.as<DType>()) {
    // T.ptr(T.float16, …), T.handle("float32", "global"): the type of an address.
    bool named = !positional.empty() && (positional[0].is<std::string>() || positional[0].is<DType>());
    if (named && (*t == DType::i64 || *t == DType::u64)) return callee;
    if (positional.size() != 1) fail(where, "a dtype as a cast takes one argument");
    return cast_to(s, positional[0], {*t, 1}, where);
  }
  if (const auto* t = callee.as<VectorTypeV>()) {
    if (positional.size() == t->lanes) {
      std::vector<ir::ValueId> lanes;
      for (const Value& v : positional) lanes.push_back(convert(s, to_scalar(s, v, where, "a lane"), t->element));
      return scalar(vector_of(s, lanes, where));
    }
    if (positional.size() != 1)
      fail(where, "a vector type takes one value, or one for each of its " + std::to_string(t->lanes) + " lanes");
    ir::ValueId vector = to_scalar(s, positional[0], where, "the value");
    if (s.module[vector].type.lanes == t->lanes) return scalar(convert(s, vector, t->element));
    return call_builtin(s, scope, *find_builtin("T", "broadcast"),
                        {cast_to(s, positional[0], {t->element, 1}, where), integer(static_cast<int64_t>(t->lanes))},
                        {}, where);
  }
  if (const auto* o = callee.as<const LibraryObject*>()) {
    bool is_layout = (*o)->kind == LibraryKind::layout || (*o)->kind == LibraryKind::fragment;
    if (is_layout) return call_layout(s, **o, positional, where);
  }
  if (const auto* d = callee.as<const DecoratorObject*>()) {
    if (positional.size() != 1) fail(where, "a decorator takes one function");
    return decorate(s, Value{*d}, positional[0], where);
  }
  if (const auto* f = callee.as<FunctionObject*>()) {
    if (s.host && ((*f)->is_factory || (*f)->kind == FunctionKind::jit)) {
      Value made = call_factory(s, **f, positional, keywords, where);
      return (*f)->is_eager && !(*f)->is_factory ? kernel_result(s, **made.as<Instance*>(), positional, where) : made;
    }
    if ((*f)->kind == FunctionKind::prim_func) fail_unsupported(where, "a call of the prim_func '" + (*f)->name + "'");
    struct Main {
      Session& s;
      bool outer;
      ~Main() { s.in_main = outer; }
    } in_main{s, s.in_main};
    if (s.host && (*f)->name == "main") s.in_main = s.main_ran = true;
    return call_function(s, **f, bind_params(s, **f, positional, keywords, where, false), where);
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
  if (auto* const* type = base.as<ClassObject*>()) return class_attribute(s, **type, name, where);
  if (auto* const* o = base.as<ObjectObject*>()) return object_attribute(s, **o, name, where);
  if (auto* const* o = base.as<HostObject*>()) {
    if ((*o)->kind == HostKind::super) return super_attribute(s, **o, name, where);
    auto known = (*o)->attrs.find(name);
    if (known != (*o)->attrs.end()) return known->second;
    return (*o)->kind == HostKind::record || (*o)->kind == HostKind::layer ? opaque(s, (*o)->what + "." + name, where)
                                                                           : method(s, base, name);
  }
  if (base.is<BufferV>() || base.is<const TensorType*>()) {
    const auto* b = base.as<BufferV>();
    const std::vector<ir::MetaInt> shape = b ? s.module[b->id].type.shape : (*base.as<const TensorType*>())->shape;
    DType dtype = b ? s.module[b->id].type.dtype : (*base.as<const TensorType*>())->dtype;
    uint32_t lanes = b ? s.module[b->id].type.lanes : (*base.as<const TensorType*>())->lanes;
    if (name == "dtype") return lanes == 1 ? Value{dtype} : Value{VectorTypeV{dtype, lanes}};
    if (name == "shape") {
      std::vector<Value> items;
      for (const ir::MetaInt& e : shape) items.push_back(s.trace ? extent(s, e) : integer(e));
      return tuple(s, std::move(items));
    }
    if (b)
      if (auto known = buffer_attribute(s, base, name, where)) return *known;
    if (b && (name == "scope" || name == "access_ptr")) return method(s, base, name);
  }
  if (base.is<const Builtin*>())
    return namespace_attribute(s, NamespaceV{(*base.as<const Builtin*>())->name}, name, where);
  if (name == "dtype" && is_runtime(base)) {
    const ir::Type type = s.module[to_scalar(s, base, where, "the value")].type;
    return type.lanes == 1 ? Value{type.dtype} : Value{VectorTypeV{type.dtype, type.lanes}};
  }
  if (const auto* r = base.as<const RegionObject*>(); r && name == "buffer") return Value{(*r)->buffer};
  if (const auto* t = base.as<DType>(); t && name == "bits") return integer(static_cast<int64_t>(info(*t).bits));
  if (const auto* t = base.as<DType>(); t && name == "lanes") return integer(1);
  if (const auto* t = base.as<VectorTypeV>(); t && name == "lanes") return integer(static_cast<int64_t>(t->lanes));
  if (const auto* t = base.as<VectorTypeV>(); t && name == "bits") return integer(info(t->element).bits);
  if (const auto* t = base.as<const TupleObject*>(); t && s.host && (*t)->items.size() == 2) {  // of topk, sort, max
    if (name == "values") return (*t)->items[0];
    if (name == "indices") return (*t)->items[1];
  }
  if (name == "astype" || has_python_method(base, name)) return method(s, base, name);
  if (const auto* t = base.as<DType>(); t && name == "itemsize") return integer(static_cast<int64_t>(bytes_of(*t)));
  if (base.is<DType>() && name == "as_torch") return method(s, base, name);
  // Host code fastens attributes to functions and asks for them (kernel.get_profiler, matmul.compile).
  if (const auto* f = base.as<FunctionObject*>(); f && (s.host || (*f)->kind == FunctionKind::prim_func)) {
    if ((name == "compile" || name == "get_tir") && ((*f)->kind == FunctionKind::jit || (*f)->is_factory))
      return method(s, base, name);
    if (name == "__name__") return text((*f)->name);
    return opaque(s, (*f)->name + "." + name, where);
  }
  if (s.host && (base.is<const Builtin*>() || base.is<const PartialObject*>() || base.is<const MethodObject*>()))
    return opaque(s, kind_name(base) + "'s ." + name, where);
  // Layouts are made by their functions; those made of other layouts are not followed.
  static constexpr std::string_view kLayoutMethods[] = {"expand",
                                                        "repeat",
                                                        "replicate",
                                                        "inverse",
                                                        "reshape",
                                                        "is_equal",
                                                        "index",
                                                        "thread",
                                                        "get_thread_size",
                                                        "get_input_shape",
                                                        "get_output_shape",
                                                        "get_forward_vars",
                                                        "condense_rep_var",
                                                        "map_forward_index",
                                                        "map_forward_thread",
                                                        "get_forward_index",
                                                        "get_linearized_forward_index"};
  const auto* object = base.as<const LibraryObject*>();
  if (object && ((*object)->kind == LibraryKind::layout || (*object)->kind == LibraryKind::fragment))
    if (std::find(std::begin(kLayoutMethods), std::end(kLayoutMethods), name) != std::end(kLayoutMethods))
      fail_unsupported(where, "'" + name + "' of a layout");
  fail(where, kind_name(base) + " has no attribute '" + name + "'");
}

}  // namespace tc::eval
