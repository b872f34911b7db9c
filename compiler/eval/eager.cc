// Eager kernels: functions under @tilelang.jit that launch a kernel themselves. Their run-time parameters are declared
// in the body (`A: T.Tensor((M, K), dtype)`), extents are named by T.const, results come from T.empty and are returned.
//
// A call is traced twice, as in the reference (tilelang/language/eager/builder.py, TirTemplate): the first run goes up
// to the launch with a symbol for every T.const and shows that, say, M is extent 0 of A; M then is extent 0 of the
// tensor that the call gives for A, or the keyword M. The second run has these numbers.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

const ast::AnnAssign* find_declaration(const ast::Body& body, const std::string& name) {
  const ast::AnnAssign* found = nullptr;
  auto look = [&](auto& self, const ast::Body& b) -> void {
    for (const ast::Stmt* stmt : b)
      std::visit(Overload{
                     [&](const ast::AnnAssign& n) {
                       const auto* target = std::get_if<ast::Name>(&n.target->node);
                       if (target && target->id == name && !n.value && !found) found = &n;
                     },
                     [&](const ast::If& n) { self(self, n.body), self(self, n.orelse); },
                     [&](const ast::With& n) { self(self, n.body); },
                     [](const auto&) {},
                 },
                 stmt->node);
  };
  look(look, body);
  return found;
}

// The type that the signature states, if it makes the parameter a run-time one.
std::optional<Value> signature_type(Session& s, const FunctionObject& f, const ast::Param& p) {
  if (!p.annotation) return std::nullopt;
  try {
    Value type = eval(s, *f.closure, *p.annotation);
    if (type.is<const TensorType*>() || type.is<DType>()) return type;
  } catch (const Failure&) {
    // Annotations of other kinds (Optional[int], forward references) do not matter.
  }
  return std::nullopt;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names(1);
  for (char c : text) {
    if (c != ',' && c != ' ') names.back() += c;
    else if (!names.back().empty()) names.emplace_back();
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

Value one_or_tuple(Session& s, std::vector<Value> values) {
  return values.size() == 1 ? values[0] : tuple(s, std::move(values));
}

void note_name(Session& s, const std::string& name) {
  if (std::find(s.constant_names.begin(), s.constant_names.end(), name) == s.constant_names.end())
    s.constant_names.push_back(name);
}

// --arg NAME=VALUE for a name of T.const or T.dynamic.
std::optional<int64_t> given_by_arg(const Session& s, const std::string& name) {
  for (const auto& [n, v] : s.options->args) {
    if (n != name) continue;
    ArgValue value = parse_arg(v);
    if (const auto* i = std::get_if<int64_t>(&value)) return *i;
    fail({}, "--arg " + name + "=" + v + ": '" + name + "' is an extent, an integer");
  }
  return std::nullopt;
}

Value const_(Session& s, Scope&, Args& a) {
  Eager* eager = s.trace ? s.trace->eager : nullptr;
  if (!eager || s.host || eager->function != eager->instance->factory)
    fail(a.where, "T.const is for eager kernels: functions under @tilelang.jit that launch a kernel");
  DType dtype = a.given("dtype") ? to_dtype(s, a.need("dtype"), a.where) : DType::i32;
  std::vector<Value> out;
  for (const std::string& name : split_names(to_text(a.need("name"), a.where, "the name of T.const"))) {
    note_name(s, name);
    if (eager->probing) {
      if (std::find(eager->consts.begin(), eager->consts.end(), name) == eager->consts.end())
        eager->consts.push_back(name);
      out.push_back(symbol(s, name, dtype, a.where));
      continue;
    }
    auto known = std::find_if(eager->instance->consts.begin(), eager->instance->consts.end(),
                              [&](const auto& c) { return c.first == name; });
    if (known == eager->instance->consts.end()) fail(a.where, "'" + name + "' of T.const has no value");
    out.push_back(integer(ir::meta_param(s.module, name, known->second)));
  }
  if (out.empty()) fail(a.where, "T.const needs a name");
  return one_or_tuple(s, std::move(out));
}

Value dynamic(Session& s, Scope&, Args& a) {
  DType dtype = a.given("dtype") ? to_dtype(s, a.need("dtype"), a.where) : DType::i32;
  std::vector<Value> out;
  for (const std::string& name : split_names(to_text(a.need("name"), a.where, "the name of T.dynamic"))) {
    note_name(s, name);
    if (auto value = given_by_arg(s, name)) out.push_back(integer(ir::meta_param(s.module, name, *value)));
    else out.push_back(symbol(s, name, dtype, a.where));
  }
  if (out.empty()) fail(a.where, "T.dynamic needs a name");
  return one_or_tuple(s, std::move(out));
}

// T.empty(shape, dtype), T.empty(d0, d1, dtype=…).
Value empty(Session& s, Scope&, Args& a) {
  Trace& t = need_trace(s, a.where, "T.empty");
  if (!t.eager) fail(a.where, "T.empty is only possible in a kernel");
  if (!t.threads.empty())
    fail(a.where, "T.empty inside of the launch; T.alloc_shared, T.alloc_fragment … allocate there");
  std::vector<Value> dims = a.rest;
  DType dtype = a.given("dtype") ? to_dtype(s, a.need("dtype"), a.where) : DType::f32;
  bool listed = !dims.empty() && (dims[0].is<ListObject*>() || dims[0].is<const TupleObject*>());
  if (listed && dims.size() == 2 && !a.given("dtype")) {
    dtype = to_dtype(s, dims[1], a.where);
    dims.pop_back();
  }
  if (listed && dims.size() != 1) fail(a.where, "T.empty takes a shape and a dtype, or extents and dtype=");
  Value shape = listed ? dims[0] : tuple(s, dims);
  ir::ValueId id = s.module.new_value(ir::Type::buffer(ir::Space::global, dtype, to_shape(s, shape, a.where)), "");
  t.eager->empties.push_back(id);
  t.eager->empties_at.push_back(a.where);
  return Value{BufferV{id, false}};
}

constexpr Builtin kRows[] = {
    {"T", "const", "name, dtype=", const_},
    {"T", "dynamic", "name, dtype=", dynamic},
    {"T", "symbolic", "name, dtype=", dynamic},
    {"T", "empty", "*shape, dtype=", empty},
};

// The value of a T.const from the extents (or strides) of the tensors that the call gave.
std::optional<int64_t> from_tensors(Session& s, const Eager& eager, const std::string& name) {
  for (const auto& [param, id] : eager.params) {
    auto given = std::find_if(eager.instance->tensors.begin(), eager.instance->tensors.end(),
                              [&](const auto& t) { return t.first == param; });
    if (given == eager.instance->tensors.end() || !given->second || !given->second->shape) continue;
    const ir::Type type = s.module[id].type;
    const std::vector<Value>& shape = *given->second->shape;
    if (shape.size() != type.rank()) continue;
    for (size_t i = 0; i < shape.size(); ++i) {
      const MetaInt& e = type.shape[i];
      bool is = e.dynamic() && s.module[e.expr].kind == ir::MetaKind::symbol && s.module[e.expr].name == name;
      if (const auto* value = shape[i].as<MetaInt>(); is && value) return value->value;
    }
  }
  return std::nullopt;
}

// Why the extents of the call's tensors are not known, for a message.
const OpaqueObject* unknown_extent(const Instance& instance) {
  for (const auto& [name, tensor] : instance.tensors)
    if (tensor && tensor->shape)
      for (const Value& v : *tensor->shape)
        if (const auto* o = v.as<const OpaqueObject*>()) return *o;
  return nullptr;
}
}  // namespace

std::span<const Builtin> eager_builtins() { return kRows; }

bool declares_parameter(const FunctionObject& f) {
  return std::any_of(f.params->list.begin(), f.params->list.end(),
                     [&](const ast::Param& p) { return find_declaration(*f.body, p.name); });
}

bool is_runtime_param(Session& s, const FunctionObject& f, const ast::Param& p) {
  return (f.body && find_declaration(*f.body, p.name)) || signature_type(s, f, p).has_value();
}

bool declare_eager_param(Session& s, const std::string& name, const Value& type, Scope& scope,
                         const SourceRange& where) {
  Eager& eager = *s.trace->eager;
  const auto& list = eager.function->params->list;
  if (std::none_of(list.begin(), list.end(), [&](const ast::Param& p) { return p.name == name; })) return false;
  ir::ValueId id;
  if (const auto* t = type.as<const TensorType*>()) {
    ir::Type buffer = ir::Type::buffer(ir::Space::global, (*t)->dtype, (*t)->shape);
    buffer.strides = (*t)->strides;
    buffer.lanes = (*t)->lanes;
    id = s.module.new_value(buffer, name);
    scope.names[name] = Value{BufferV{id, false}};
  } else if (type.is<DType>() || type.is<std::string>()) {
    id = s.module.new_value(ir::Type::scalar(to_dtype(s, type, where)), name);
    scope.names[name] = scalar(id);
  } else {
    fail(where, "the type of parameter '" + name + "' has to be T.Tensor or a dtype, not " + kind_name(type));
  }
  std::erase_if(eager.params, [&](const auto& p) { return p.first == name; });
  eager.params.emplace_back(name, id);
  return true;
}

// Before the body runs: parameters with a type in the signature, and the arguments.
void declare_eager_params(Session& s, Scope& scope) {
  Eager& eager = *s.trace->eager;
  const FunctionObject& f = *eager.function;
  for (const ast::Param& p : f.params->list) {
    if (find_declaration(*f.body, p.name)) {
      scope.names[p.name] = opaque(s, "the parameter '" + p.name + "' before its type is declared", p.where);
      continue;
    }
    if (auto type = signature_type(s, f, p)) declare_eager_param(s, p.name, *type, scope, p.where);
  }
  if (&f != eager.instance->factory) return;  // a prim_func: the arguments are its factory's
  for (const auto& [name, value] : eager.instance->args) {
    const auto* i = value.as<MetaInt>();
    scope.names[name] = i && !eager.probing ? integer(ir::meta_param(s.module, name, i->value)) : value;
  }
}

void return_from_eager(Session& s, const Value& value, const SourceRange& where) {
  Eager& eager = *s.trace->eager;
  std::vector<Value> items = value.is<NoneV>()                ? std::vector<Value>()
                             : value.is<const TupleObject*>() ? to_items(s, value, where, "the result")
                                                              : std::vector{value};
  for (const Value& item : items) {
    const auto* b = item.as<BufferV>();
    if (!b || std::find(eager.empties.begin(), eager.empties.end(), b->id) == eager.empties.end())
      fail(where, "a kernel returns tensors of T.empty, not " + kind_name(item));
    eager.returned.push_back(b->id);
  }
}

// A tensor of the call with another number of dimensions than its parameter.
void check_ranks(Session& s, const Eager& eager) {
  for (const auto& [param, id] : eager.params)
    for (const auto& [name, given] : eager.instance->tensors) {
      const ir::Type type = s.module[id].type;
      if (name != param || !given || !given->shape || type.rank() == 0 || given->shape->size() == type.rank()) continue;
      fail(eager.instance->where, "'" + name + "' of '" + eager.function->name + "' has " +
                                      std::to_string(type.rank()) + " dimensions, the tensor of this call " +
                                      std::to_string(given->shape->size()));
    }
}

void probe_eager(Session& s, Instance& instance) {
  if (instance.options.out_idx)
    fail(instance.factory->where, "out_idx with an eager kernel: its results are what it returns");
  Trace t(s.module, s.module.new_block());
  Eager eager{.function = instance.factory, .instance = &instance, .probing = true};
  t.eager = &eager;
  Trace* outer = std::exchange(s.trace, &t);
  bool host = std::exchange(s.host, false);
  auto calls = s.calls;
  Scope& scope = s.heap.scopes.emplace_back(Scope{.parent = instance.factory->closure, .staged = true});
  try {
    declare_eager_params(s, scope);
    exec_until_launch(s, scope, *instance.factory->body);
  } catch (const LaunchReached&) {  // in a macro
  } catch (...) {
    s.trace = outer, s.host = host, s.calls = calls;
    throw;
  }
  s.trace = outer, s.host = host, s.calls = calls;
  std::string missing;
  for (const std::string& name : eager.consts) {
    auto known =
        std::find_if(instance.consts.begin(), instance.consts.end(), [&](const auto& c) { return c.first == name; });
    std::optional<int64_t> value = given_by_arg(s, name);
    if (value && known != instance.consts.end()) known->second = *value;
    if (known != instance.consts.end()) continue;
    if (!value) value = from_tensors(s, eager, name);
    if (value) instance.consts.emplace_back(name, *value);
    else missing += (missing.empty() ? "" : ", ") + name;
  }
  if (missing.empty()) return;
  check_ranks(s, eager);
  Diag d = input_error(instance.where,
                       "'" + instance.factory->name + "' needs a value for " + missing +
                           " of T.const: a call with tensors of known shape, --arg or a manifest can give it");
  if (const OpaqueObject* o = unknown_extent(instance))
    d.notes.push_back({o->where, "an extent of a tensor of this call is unknown: it comes from " + o->what});
  throw Failure{d};
}

}  // namespace tc::eval
