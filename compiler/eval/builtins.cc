// Name spaces, argument binding, imports, decorators, methods: what all builtins share.
#include <cmath>

#include "compiler/eval/builtin.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {
namespace {
constexpr std::span<const Builtin> (*kTables[])() = {
    host_builtins, python_builtins, eager_builtins,     alloc_builtins,  view_builtins,     copy_builtins,
    gemm_builtins, tile_builtins,   atomic_builtins,    layout_builtins, schedule_builtins, launch_builtins,
    loop_builtins, sync_builtins,   intrinsic_builtins, memory_builtins, scalar_builtins, node_builtins,   dtype_builtins};

struct Param {
  std::string name;
  bool optional, keyword_only, star;
  char other = 0;  // '~', '!': of other versions
};

std::vector<Param> parse_params(std::string_view spec) {
  std::vector<Param> out;
  bool keyword_only = false;
  while (!spec.empty()) {
    size_t end = spec.find(", ");
    std::string_view item = spec.substr(0, end);
    spec = end == std::string_view::npos ? std::string_view() : spec.substr(end + 2);
    if (item == "*" || item == "**") {
      keyword_only = true;
      continue;
    }
    char other = item.ends_with('~') || item.ends_with('!') ? item.back() : '\0';
    if (other) item.remove_suffix(1);
    bool optional = item.ends_with('='), star = item.starts_with('*');
    if (optional) item.remove_suffix(1);
    if (star) item.remove_prefix(1);
    out.push_back({std::string(item), optional, keyword_only, star, other});
    keyword_only |= star;
  }
  return out;
}

std::string full_name(const Builtin& b) {
  return std::string(b.space) == "builtins" ? b.name : std::string(b.space) + "." + b.name;
}

// Name spaces inside name spaces: (T, GemmWarpPolicy) is GemmWarpPolicy.
struct SubSpace {
  std::string_view space, name;
  const char* is;
};
constexpr SubSpace kSubSpaces[] = {
    {"tilelang", "language", "T"},
    {"T", "GemmWarpPolicy", "GemmWarpPolicy"},
    {"tilelang", "PassConfigKey", "PassConfigKey"},
    {"tilelang", "layout", "layout"},
    {"tilelang", "math", "tilelang"},
    {"tilelang", "transform", "tilelang"},
    {"tilelang", "tileop", "tilelang"},
    {"tilelang", "base", "tilelang"},
    {"tilelang", "GemmWarpPolicy", "GemmWarpPolicy"},
    {"tilelang", "tvm", "tvm"},
    {"tilelang", "cuda", "cuda"},
    {"tilelang", "intrinsics", "intrinsics"},
    {"cuda", "intrinsics", "intrinsics"},
    {"cuda", "language", "T"},
    {"cuda", "layout", "layout"},
    {"intrinsics", "layout", "intrinsics"},
    {"intrinsics", "macro", "intrinsics"},
    {"intrinsics", "mma_layout", "intrinsics"},
    {"intrinsics", "mma_macro_generator", "intrinsics"},
    {"T", "intrinsics", "intrinsics"},
    {"intrinsics", "utils", "intrinsics"},
    {"intrinsics", "sparse_layout", "intrinsics"},
    {"tvm", "tir", "tir"},
    {"tvm", "tirx", "tir"},
    {"tvm", "script", "tvm"},
    {"tir", "op", "tir"},
    {"T", "tir", "tir"},
    {"T", "WSSyncKind", "WSSyncKind"},
};
// Members of the library that are texts.
struct TextMember {
  std::string_view space, name;
  const char* text;
};
constexpr TextMember kTexts[] = {
    {"T", "WSID", "tl.ws_op_id"},
    {"WSScope", "ROOT", "tl.ws_scope_root"},
    {"WSSyncKind", "PRODUCER_ACQUIRE", "producer_acquire"},
    {"WSSyncKind", "PRODUCER_COMMIT", "producer_commit"},
    {"WSSyncKind", "CONSUMER_WAIT", "consumer_wait"},
    {"WSSyncKind", "CONSUMER_RELEASE", "consumer_release"},
};
constexpr PolicyV kPolicies[] = {PolicyV::square, PolicyV::full_row, PolicyV::full_col};

Value language_attribute(Session& s, const std::string& name, const SourceRange& where) {
  static constexpr std::pair<std::string_view, DType> kAliases[] = {
      {"float", DType::f32}, {"half", DType::f16}, {"double", DType::f64}, {"int", DType::i32},
      {"uint", DType::u32},  {"long", DType::i64}, {"short", DType::i16}};
  for (auto [alias, type] : kAliases)
    if (name == alias) return Value{type};
  if (auto t = dtype_from_name(name)) return Value{*t};
  if (auto t = vector_type(name)) return Value{VectorTypeV{t->dtype, t->lanes}};
  if (name == "ptr" || name == "handle") return Value{DType::i64};  // an address
  if (is_language_name(name)) {
    if (const Value* v = library_name(s, "T", name)) return *v;
    if (s.host) return opaque(s, "T." + name, where);
    fail_unsupported(where, "T." + name);
  }
  fail(where, "tilelang.language has no name '" + name + "'" + did_you_mean(name, language_names()));
}
}  // namespace

const Value* Args::get(std::string_view name) const {
  for (const auto& [n, v] : named)
    if (n == name) return v.is<NoneV>() ? nullptr : &v;
  return nullptr;
}
const Value& Args::need(std::string_view name) const {
  const Value* v = get(name);
  if (!v) fail(where, full_name(*builtin) + " needs '" + std::string(name) + "'");
  return *v;
}
void Args::refuse(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names) {
    const Value* v = get(name);
    const auto* b = v ? v->as<BoolV>() : nullptr;
    if (v && !(b && !b->value))
      fail_unsupported(where, "argument '" + std::string(name) + "' of " + full_name(*builtin));
  }
}

const Builtin* find_builtin(std::string_view space, std::string_view name) {
  for (auto table : kTables)
    for (const Builtin& b : table())
      if (name == b.name && space == b.space) return &b;
  return nullptr;
}

Value namespace_attribute(Session& s, const NamespaceV& ns, const std::string& name, const SourceRange& where) {
  std::string_view space = ns.name;
  if (const Builtin* b = find_builtin(space, name)) return Value{b};
  for (const SubSpace& sub : kSubSpaces)
    if (sub.space == space && sub.name == name) return Value{NamespaceV{sub.is}};
  for (const TextMember& member : kTexts)
    if (member.space == space && member.name == name) return text(member.text);
  if (space == "tir") {
    if (const Builtin* b = find_builtin("T", name)) return Value{b};
    return is_language_name(name) ? language_attribute(s, name, where) : opaque(s, "tvm.tir." + name, where);
  }
  if (space == "intrinsics") {  // its own, and what it shares with T; the rest is not known
    if (const Builtin* b = find_builtin("T", name)) return Value{b};
    if (const Value* v = library_name(s, "intrinsics", name)) return *v;
  }
  if (space == "tvm" && name == "DataType") return Value{find_builtin("T", "dtype")};
  if (space == "T") {
    const OtherName* other = other_name(name);
    if (!other) return language_attribute(s, name, where);
    warn(s, where, "T." + name + " is a name of other versions; release 0.1.15 has T." + std::string(other->row));
    return Value{find_builtin("T", other->row)};
  }
  if (space == "GemmWarpPolicy") {
    for (PolicyV policy : kPolicies)
      if (name == policy_name(policy)) return Value{policy};
    fail(where, "GemmWarpPolicy has no member '" + name + "'");
  }
  if (space == "PassConfigKey") {
    std::string key = pass_config_of_member(name);
    if (key.empty()) fail(where, "there is no pass config '" + name + "'" + did_you_mean(name, pass_configs()));
    return text(key);
  }
  if (space == "math" && name == "pi") return real(3.14159265358979323846);
  if (space == "math" && name == "inf") return real(HUGE_VAL);
  if (space == "math" && name == "e") return real(2.71828182845904523536);
  if (space == "builtins" && !s.host) {
    std::vector<std::string> names;
    for (const Builtin& row : host_builtins())
      if (std::string_view(row.space) == "builtins") names.push_back(row.name);
    if (s.globals)
      for (const auto& [n, v] : s.globals->names) names.push_back(n);
    fail(where, "name '" + name + "' is not defined" + did_you_mean(name, names));
  }
  return opaque(s, space == "builtins" ? name : std::string(space) + "." + name, where);
}

Value call_builtin(Session& s, Scope& scope, const Builtin& b, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  std::vector<Param> params = parse_params(b.params);
  Args args{&b, where, {}, {}};
  size_t next = 0;
  for (const Value& v : positional) {
    while (next < params.size() && params[next].keyword_only) ++next;
    if (next == params.size())
      fail(where,
           full_name(b) + " takes fewer positional arguments than the " + std::to_string(positional.size()) + " given");
    if (params[next].star) args.rest.push_back(v);
    else args.named.emplace_back(params[next++].name, v);
  }
  for (const auto& [name, value] : keywords) {
    auto p = std::find_if(params.begin(), params.end(), [&](const Param& q) { return q.name == name && !q.star; });
    bool any = std::string_view(b.params).ends_with("**");
    if (p == params.end() && !any) {
      std::vector<std::string> names;
      for (const Param& q : params) names.push_back(q.name);
      std::string meant = did_you_mean(name, names), all;
      for (const std::string& n : names) all += (all.empty() ? "; it has " : ", ") + n;
      fail(where, full_name(b) + " has no parameter '" + name + "'" + (meant.empty() ? all : meant));
    }
    for (const auto& [n, v] : args.named)
      if (n == name) fail(where, "'" + name + "' of " + full_name(b) + " is given twice");
    if (p != params.end() && p->other)
      warn(s, where,
           "'" + name + "' of " + full_name(b) + " is a parameter of other versions, not of release 0.1.15" +
               (p->other == '!' ? ": it means nothing here" : ""));
    args.named.emplace_back(name, value);
  }
  for (const Param& p : params)
    if (!p.optional && !p.star &&
        std::none_of(args.named.begin(), args.named.end(), [&](const auto& n) { return n.first == p.name; }))
      fail(where, full_name(b) + " needs '" + p.name + "'");
  if (!b.call) fail(where, full_name(b) + " is not possible here");
  return b.call(s, scope, args);
}

namespace {
// A module beside the input, or an unknown one.
Value other_module(Session& s, const ast::ImportName& name, const std::string& path, const SourceRange& where) {
  if (Scope* module = local_module(s, name.module, where)) {
    if (name.name.empty()) {
      HostObject& o = host_object(s, HostKind::record, "module " + name.module, where);
      for (const auto& [n, v] : module->names) o.attrs.emplace(n, v);
      return Value{&o};
    }
    auto found = module->names.find(name.name);
    if (found != module->names.end()) return found->second;
    if (Scope* inner = local_module(s, path, where)) {
      HostObject& o = host_object(s, HostKind::record, "module " + path, where);
      for (const auto& [n, v] : inner->names) o.attrs.emplace(n, v);
      return Value{&o};
    }
  }
  return opaque(s, path, where);
}
}  // namespace

// from MODULE import *
void import_all(Session& s, Scope& scope, const ast::ImportName& name, const SourceRange& where) {
  if (name.module == "tilelang.autotuner") {
    for (const char* n : {"autotune", "AutoTuner"})
      scope.names[n] = namespace_attribute(s, NamespaceV{"tilelang"}, n, where);
    return;
  }
  if (name.module.starts_with("tilelang")) return;
  if (Scope* module = local_module(s, name.module, where))
    for (const auto& [n, v] : module->names)
      if (!n.starts_with('_')) scope.names[n] = v;
}

// tilelang and its parts by name, modules beside the input; everything else is unknown.
Value import_value(Session& s, const ast::ImportName& name, const SourceRange& where) {
  std::string path = name.name.empty() ? name.module : name.module + "." + name.name;
  if (path == "tilelang") return Value{NamespaceV{"tilelang"}};
  if (path == "tvm" || path.starts_with("tvm.")) {
    Value value{NamespaceV{"tvm"}};
    for (size_t dot = 3; dot != std::string::npos && dot < path.size();) {
      size_t next = path.find('.', dot + 1);
      value = get_attribute(s, value, path.substr(dot + 1, next == std::string::npos ? next : next - dot - 1), where);
      dot = next;
    }
    return value;
  }
  if (path == "math" || path.starts_with("math.")) {
    Value math{NamespaceV{"math"}};
    return path == "math" ? math : get_attribute(s, math, name.name, where);
  }
  if (!path.starts_with("tilelang.")) return other_module(s, name, path, where);
  Value value{NamespaceV{"tilelang"}};
  std::string rest = path.substr(9);
  while (!rest.empty()) {
    size_t dot = rest.find('.');
    bool last = dot == std::string::npos;
    // Files inside of the library are not told apart: tilelang.language.fp8.x is T.x where T has an x.
    try {
      Value part = get_attribute(s, value, rest.substr(0, dot), where);
      if (last || part.is<NamespaceV>()) value = part;
    } catch (const Failure& failure) {
      if (failure.fatal) throw;
      if (last) value = opaque(s, path, where);
    }
    rest = last ? std::string() : rest.substr(dot + 1);
  }
  return value;
}

namespace {
// property, staticmethod, classmethod; of others (functools.wraps, lru_cache, pytest marks, torch.no_grad()) the
// function is called as it is written. Those of other languages for kernels make something else of it.
Value decorate_unknown(Session& s, const OpaqueObject& decorator, const Value& function, const SourceRange& where) {
  auto* const* f = function.as<FunctionObject*>();
  if (!f || decorator.what.starts_with("triton"))
    return opaque(s, "a function decorated with " + decorator.what, where);
  static constexpr std::pair<std::string_view, MethodRole> kRoles[] = {{"property", MethodRole::property},
                                                                       {"cached_property", MethodRole::property},
                                                                       {"staticmethod", MethodRole::static_method},
                                                                       {"classmethod", MethodRole::class_method}};
  for (auto [name, role] : kRoles) {
    if (decorator.what != name && !decorator.what.ends_with("." + std::string(name))) continue;
    FunctionObject& method = s.heap.functions.emplace_back(**f);
    method.role = role;
    return Value{&method};
  }
  return function;
}
}  // namespace

Value decorate(Session& s, const Value& decorator, const Value& function, const SourceRange& where) {
  const auto* f = function.as<FunctionObject*>();
  if (const auto* b = decorator.as<const Builtin*>()) {
    Scope none_scope;
    return call_builtin(s, none_scope, **b, {function}, {}, where);
  }
  if (const auto* d = decorator.as<const DecoratorObject*>()) {
    if (!f) fail(where, "a decorator takes a function, not " + kind_name(function));
    if ((*d)->kind == FunctionKind::plain) {
      if (!(*d)->configs) return function;
      s.heap.functions.push_back(**f);
      s.heap.functions.back().configs = (*d)->configs;
      return Value{&s.heap.functions.back()};
    }
    s.heap.functions.push_back(**f);
    FunctionObject& decorated = s.heap.functions.back();
    decorated.kind = (*d)->kind;
    decorated.options = (*d)->options;
    if ((*d)->configs) decorated.configs = (*d)->configs;
    return Value{&decorated};
  }
  if (const auto* o = decorator.as<const OpaqueObject*>()) return decorate_unknown(s, **o, function, where);
  if (auto* const* marker = decorator.as<HostObject*>(); marker && (*marker)->kind == HostKind::marker && f) {
    FunctionObject& marked = s.heap.functions.emplace_back(**f);
    marked.test_values.emplace_back(*(*marker)->attrs["names"].as<std::string>(), (*marker)->attrs["values"]);
    return Value{&marked};
  }
  if (decorator.is<FunctionObject*>() || decorator.is<const PartialObject*>() || decorator.is<ClassObject*>()) {
    Scope none_scope;
    return apply(s, none_scope, decorator, {function}, {}, where);
  }
  fail(where, kind_name(decorator) + " is no decorator");
}

Value call_method(Session& s, Scope& scope, const MethodObject& m, const std::vector<Value>& positional,
                  const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  if (const auto* t = m.self.as<const HostTensor*>())
    return call_tensor_method(s, **t, m.name, positional, keywords, where);
  if (auto* const* o = m.self.as<HostObject*>()) return call_object_method(s, **o, m.name, positional, keywords, where);
  if (auto* const* f = m.self.as<FunctionObject*>())
    if (m.name == "compile" || m.name == "get_tir") return call_factory(s, **f, positional, keywords, where);
  if (m.self.is<BufferV>() && m.name != "astype")
    return call_buffer_method(s, m.self, m.name, positional, keywords, where);
  if (m.name == "astype") {
    if (positional.size() != 1) fail(where, "astype takes one argument");
    return scalar(cast_value(s, to_scalar(s, m.self, where, "the value"), to_element(s, positional[0], where), where));
  }
  if (m.self.is<DType>()) return m.self;  // as_torch
  if (m.self.is<ObjectObject*>()) return m.self;
  if (auto* const* type = m.self.as<ClassObject*>())
    return apply_autograd(s, scope, **type, positional, keywords, where);
  return call_python_method(s, scope, m, positional, keywords, where);
}

}  // namespace tc::eval
