// One instance → one function of the module: the factory is run with its integer arguments as parameters of meta
// expressions, the prim_func that it returns is traced, dead scalars are swept out. An eager kernel is traced itself.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

Value as_parameter(Session& s, const std::string& name, const Value& v) {
  const auto* i = v.as<MetaInt>();
  if (i) s.trace->param_values.emplace_back(name, i->value);
  return i ? integer(ir::meta_param(s.module, name, i->value)) : v;
}

FunctionObject& run_factory(Session& s, Instance& instance) {
  FunctionObject& f = *instance.factory;
  std::vector<std::optional<Value>> args;
  for (const auto& [name, value] : instance.args) args.push_back(as_parameter(s, name, value));
  Value result = call_function(s, f, std::move(args), instance.where);
  // A factory may have compiled what it returns.
  if (const auto* built = result.as<Instance*>(); built && (*built)->prim_func) {
    CompileOptions& options = instance.options;
    if (!options.out_idx) options.out_idx = (*built)->options.out_idx;
    for (const ir::Attr& a : (*built)->options.pass_configs) ir::set_attr(options.pass_configs, a.name, a.value);
    return *(*built)->prim_func;
  }
  const auto* g = result.as<FunctionObject*>();
  if (const auto* o = result.as<const OpaqueObject*>()) fail_opaque(**o, f.where, "what '" + f.name + "' returns");
  if (!g || (*g)->kind != FunctionKind::prim_func)
    fail(f.where, "'" + f.name + "' returns " + kind_name(result) + ", not a @T.prim_func");
  return **g;
}

// Parameters of the prim_func from their annotations.
void make_params(Session& s, Scope& scope, const FunctionObject& f, ir::Func& func) {
  if (f.params->has_varargs()) fail_unsupported(f.where, "*args or **kwargs of a prim_func");
  for (const ast::Param& p : f.params->list) {
    if (!p.annotation) fail(p.where, "parameter '" + p.name + "' of a prim_func needs a type");
    if (p.default_value) fail_unsupported(p.where, "a default value of a prim_func's parameter");
    Value type = eval(s, *f.closure, *p.annotation);
    if (const auto* t = type.as<const TensorType*>()) {
      ir::Type buffer = ir::Type::buffer(ir::Space::global, (*t)->dtype, (*t)->shape);
      buffer.strides = (*t)->strides;
      buffer.lanes = (*t)->lanes;
      func.params.push_back(s.module.new_value(buffer, p.name));
      scope.names[p.name] = Value{BufferV{func.params.back(), false}};
    } else if (type.is<DType>() || type.is<std::string>()) {
      func.params.push_back(s.module.new_value(ir::Type::scalar(to_dtype(s, type, p.annotation->where)), p.name));
      scope.names[p.name] = scalar(func.params.back());
    } else {
      fail(p.annotation->where,
           "the type of parameter '" + p.name + "' has to be T.Tensor or a dtype, not " + kind_name(type));
    }
  }
}

// Pure ops whose results nobody uses: the upper bounds of slices, conditions that became sections.
bool removable(const ir::Op& op) {
  const ir::OpInfo& row = ir::row_of(op);
  return row.results == 1 && row.blocks == 0 && row.proxy == ir::Proxy::none && row.sync == ir::Sync::none &&
         op.kind != OpKind::alloc;
}
void sweep(ir::Module& m, ir::BlockId body) {
  std::vector<uint32_t> uses(m.values.size(), 0);
  ir::walk(m, body, [&](ir::OpId id) {
    for (ir::ValueId v : m[id].operands) ++uses[v.index];
  });
  // Users come after their operands in the order of creation, so one pass backwards finds all.
  std::vector<bool> dead(m.ops.size(), false);
  std::vector<ir::OpId> order;
  ir::walk(m, body, [&](ir::OpId id) { order.push_back(id); });
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const ir::Op& op = m[*id];
    if (!removable(op) || uses[op.results[0].index] > 0) continue;
    dead[id->index] = true;
    for (ir::ValueId v : op.operands) --uses[v.index];
  }
  std::vector<ir::BlockId> blocks{body};
  for (ir::OpId id : order) blocks.insert(blocks.end(), m[id].blocks.begin(), m[id].blocks.end());
  for (ir::BlockId b : blocks) std::erase_if(m[b].ops, [&](ir::OpId id) { return dead[id.index]; });
}

std::vector<int64_t> written_params(const ir::Module& m, const ir::Func& func) {
  std::vector<bool> written(func.params.size(), false);
  ir::walk(m, func.body, [&](ir::OpId id) {
    const ir::Op& op = m[id];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      char role = ir::operand_role(op, i);
      if (role != 'w' && role != 'u') continue;
      ir::ValueId behind = ir::buffer_of(m, op.operands[i]);
      for (ir::OpId def = m[behind].def; def.valid() && m[def].kind == OpKind::view; def = m[behind].def)
        behind = ir::buffer_of(m, m[def].operands[0]);
      auto p = std::find(func.params.begin(), func.params.end(), behind);
      if (p != func.params.end()) written[static_cast<size_t>(p - func.params.begin())] = true;
    }
  });
  std::vector<int64_t> out;
  for (size_t i = 0; i < written.size(); ++i)
    if (written[i]) out.push_back(static_cast<int64_t>(i));
  return out;
}

std::vector<int64_t> outputs(const ir::Module& m, const ir::Func& func, const Instance& instance,
                             const SourceRange& where) {
  if (!instance.options.out_idx) return written_params(m, func);
  std::vector<int64_t> out;
  int64_t count = static_cast<int64_t>(func.params.size());
  for (int64_t i : *instance.options.out_idx) {
    int64_t index = i < 0 ? i + count : i;
    if (index < 0 || index >= count)
      fail(where, "out_idx " + std::to_string(i) + " of a kernel with " + std::to_string(count) + " parameters");
    out.push_back(index);
  }
  return out;
}

int count_launches(const ir::Module& m, ir::BlockId body) {
  int n = 0;
  ir::walk(m, body, [&](ir::OpId id) { n += m[id].kind == OpKind::launch; });
  return n;
}

// What is reported already makes the rest meaningless.
void stop_after_errors(const Session& s) {
  if (s.trace->errors > 0) throw Failure{{}, true};
}

// Parameters that the body declared, in the order of the signature, then the tensors of T.empty.
void take_params(Session& s, const FunctionObject& f, const Eager& eager, ir::Func& func) {
  for (const ast::Param& p : f.params->list)
    for (const auto& [name, id] : eager.params)
      if (name == p.name) func.params.push_back(id);
  stop_after_errors(s);
  for (size_t i = 0; i < eager.empties.size(); ++i) {
    ir::ValueId id = eager.empties[i];
    if (std::find(eager.returned.begin(), eager.returned.end(), id) == eager.returned.end())
      fail(eager.empties_at[i], "'" + s.module[id].name + "' of T.empty is not returned");
    func.params.push_back(id);
  }
  for (ir::ValueId id : eager.returned)
    func.outputs.push_back(std::find(func.params.begin(), func.params.end(), id) - func.params.begin());
}

// The second run of an eager kernel.
void trace_eager(Session& s, Instance& instance, ir::Func& func) {
  const FunctionObject& f = *instance.factory;
  Eager eager{.function = &f, .instance = &instance};
  s.trace->eager = &eager;
  s.trace->builder.loc = f.where;
  Scope& scope = s.heap.scopes.emplace_back(Scope{.parent = f.closure, .staged = true});
  declare_eager_params(s, scope);
  Outcome o = exec(s, scope, *f.body);
  for (const auto& [name, id] : eager.params) instance.params.push_back(id);
  instance.results = eager.empties;
  if (o.flow == Flow::returned && !o.value.is<const OpaqueObject*>()) {
    return_from_eager(s, o.value, o.where);
    instance.results = eager.returned;
  }
  take_params(s, f, eager, func);
  for (const auto& [name, value] : instance.consts) func.args.emplace_back(name, value);
  s.trace->eager = nullptr;
}

// The parameters of a prim_func have their types in the signature, or like those of an eager kernel in its body; it
// may return tensors of T.empty.
void trace_prim_func(Session& s, Instance& instance, ir::Func& func) {
  if (instance.factory) instance.prim_func = &run_factory(s, instance);
  const FunctionObject& f = *instance.prim_func;
  Eager eager{.function = &f, .instance = &instance};
  s.trace->eager = &eager;
  s.trace->builder.loc = f.where;
  Scope& scope = s.heap.scopes.emplace_back(Scope{.parent = f.closure, .staged = true});
  bool declared = declares_parameter(f);
  if (declared) declare_eager_params(s, scope);
  else make_params(s, scope, f, func);
  instance.params = func.params;
  if (instance.options.out_idx && !declared)
    for (int64_t i : outputs(s.module, func, instance, f.where))
      instance.results.push_back(func.params[static_cast<size_t>(i)]);
  Outcome o = exec(s, scope, *f.body);
  if (o.flow == Flow::returned && !o.value.is<const OpaqueObject*>()) return_from_eager(s, o.value, o.where);
  take_params(s, f, eager, func);
  s.trace->eager = nullptr;
}

void trace(Session& s, Instance& instance, ir::Func& func) {
  bool eager = instance.factory && instance.factory->is_eager && !instance.factory->is_factory;
  if (eager) trace_eager(s, instance, func);
  else trace_prim_func(s, instance, func);
  stop_after_errors(s);
  const FunctionObject& f = eager ? *instance.factory : *instance.prim_func;
  if (count_launches(s.module, func.body) == 0) fail(f.where, "'" + f.name + "' launches no kernel");
  sweep(s.module, func.body);
  for (const auto& [name, id] : s.trace->symbols) func.symbols.push_back(id);
  bool of_factory = instance.factory && instance.factory->kind == FunctionKind::jit;
  func.name = of_factory ? instance.factory->name : f.name;
  func.instance = instance_text(s, func.name, instance);
  func.specialisation = instance.from;
  for (const auto& [name, value] : instance.args)
    if (const auto* i = value.as<MetaInt>()) func.args.emplace_back(name, i->value);
  func.attrs = instance.options.pass_configs;
  func.loc = f.where;
  if (func.outputs.empty()) func.outputs = outputs(s.module, func, instance, f.where);
}
}  // namespace

std::string instance_text(Session& s, const std::string& name, const Instance& instance) {
  std::string args;
  for (const auto& [param, value] : instance.consts)
    args += (args.empty() ? "" : ", ") + param + "=" + std::to_string(value);
  for (const auto& [param, value] : instance.args) args += (args.empty() ? "" : ", ") + param + "=" + format(s, value);
  std::string made_by = instance.factory && !instance.factory->made_by.empty() ? instance.factory->made_by + "." : "";
  return made_by + (args.empty() ? name : name + "[" + args + "]");
}

// May be called while host code runs that asks for the kernel's result.
void trace_instance(Session& s, Instance& instance) {
  if (std::exchange(instance.traced, true)) return;
  ir::Func func;
  func.body = s.module.new_block();
  Trace t(s.module, func.body);
  Trace* outer = std::exchange(s.trace, &t);
  bool host = std::exchange(s.host, false);
  int64_t steps = std::exchange(s.steps, 0);
  auto calls = std::exchange(s.calls, {});
  int uncertain = std::exchange(s.uncertain, 0);
  auto tries = std::exchange(s.tries, {});
  t.instance = &instance;
  std::optional<int64_t> sms = std::exchange(s.sm_count, instance.sm_count ? instance.sm_count : s.sm_count);
  try {
    trace(s, instance, func);
    func.preconditions = t.preconditions;
    instance.func = s.traced.size();
    s.traced.push_back(std::move(func));
  } catch (const Failure& failure) {
    t.eager = nullptr;  // it went with the run of the body
    Failure located = failure;
    if (!located.diag.where.valid()) located.diag.where = instance.where;
    report(s, located);
    instance.failed = true;
    if (instance.error.empty()) instance.error = located.diag.message;
  }
  s.trace = outer;
  s.host = host;
  s.steps = steps;
  s.calls = std::move(calls);
  s.uncertain = uncertain;
  s.tries = std::move(tries);
  s.sm_count = sms;
}

namespace {
using Extents = std::vector<std::pair<std::string, Value>>;

// Run-time extents by name, from the tensors of the call: (M, 4) given for T.Tensor((m, 4)) says m = M.
Extents known_extents(const Session& s, const Instance& instance, const std::vector<Value>& given) {
  Extents out;
  size_t next = 0;
  bool eager = instance.factory && instance.factory->is_eager && !instance.factory->is_factory;
  for (ir::ValueId id : instance.params) {
    bool is_result = std::find(instance.results.begin(), instance.results.end(), id) != instance.results.end();
    if (is_result) continue;
    if (eager) {  // other arguments stand between the tensors
      const auto& params = instance.factory->params->list;
      next = static_cast<size_t>(
          std::find_if(params.begin(), params.end(), [&](const ast::Param& p) { return p.name == s.module[id].name; }) -
          params.begin());
    }
    if (next >= given.size()) continue;
    const auto* tensor = given[next++].as<const HostTensor*>();
    const ir::Type type = s.module[id].type;
    if (!tensor || !(*tensor)->shape || (*tensor)->shape->size() != type.shape.size()) continue;
    for (size_t d = 0; d < type.shape.size(); ++d)
      if (type.shape[d].dynamic()) out.emplace_back(ir::meta_text(s.module, type.shape[d]), (*(*tensor)->shape)[d]);
  }
  return out;
}

Value extent_of(Session& s, const MetaInt& e, const Extents& known, const std::string& name, const SourceRange& where) {
  if (!e.dynamic()) return integer(e.value);
  std::string wanted = ir::meta_text(s.module, e);
  for (const auto& [symbol, value] : known)
    if (symbol == wanted) return value;
  return opaque(s, "a dynamic extent of '" + name + "'", where);
}
}  // namespace

Value kernel_result(Session& s, Instance& instance, const std::vector<Value>& given, const SourceRange& where) {
  trace_instance(s, instance);
  if (instance.params.empty() && instance.results.empty())
    return opaque(s, "the result of a kernel that has an error", where);
  Extents known = known_extents(s, instance, given);
  std::vector<Value> results;
  for (ir::ValueId id : instance.results) {
    const ir::Value p = s.module[id];
    if (p.type.kind != ir::TypeKind::buffer) continue;
    std::vector<Value> shape;
    for (const MetaInt& e : p.type.shape) shape.push_back(extent_of(s, e, known, p.name, where));
    const std::string& of = instance.factory ? instance.factory->name : instance.prim_func->name;
    results.push_back(host_tensor(s, {"'" + p.name + "' of '" + of + "'", where, p.type.dtype, shape}));
  }
  if (results.empty()) return none();
  return results.size() == 1 ? results[0] : tuple(s, std::move(results));
}

}  // namespace tc::eval
