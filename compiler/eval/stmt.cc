// Statements. One that fails makes its names unknown, with the failure as the reason, and the run goes on: in host code
// (module level, main) silently, in factories and kernels with a diagnostic. What then follows only from unknown names
// is not reported again.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;
constexpr size_t kMaxOps = 4'000'000;          // of all kernels of a file
constexpr int64_t kMaxItems = 10'000'000;      // of all lists, tuples and texts together
constexpr ptrdiff_t kMaxStackBytes = 5 << 20;  // of the 8 MiB that a thread usually has

// From the start of a compound statement to the end of its header.
SourceRange header(const Stmt& stmt, ExprRef last) {
  return {stmt.where.file, stmt.where.line, stmt.where.column, last->where.end_line, last->where.end_column};
}
SourceRange op_range(const Stmt& stmt) {
  return std::visit(Overload{
                        [&](const For& n) { return header(stmt, n.iter); },
                        [&](const While& n) { return header(stmt, n.test); },
                        [&](const If& n) { return header(stmt, n.test); },
                        [&](const With& n) {
                          return header(stmt, n.items.back().target ? n.items.back().target : n.items.back().context);
                        },
                        [&](const FunctionDef& n) { return n.name_where; },
                        [&](const auto&) { return stmt.where; },
                    },
                    stmt.node);
}

Outcome exec_if(Session& s, Scope& scope, const If& n, const SourceRange& where) {
  Value condition = eval(s, scope, *n.test);
  if (const OpaqueObject* o = unknown_condition(s, condition, where)) return exec_unknown_if(s, scope, n, *o, where);
  auto known = truth(s, condition, where);
  if (!known) return exec_if_runtime(s, scope, n, condition, where);
  bool was_main = s.in_main;
  s.in_main |= s.host && is_main_test(*n.test);
  Outcome o = exec(s, scope, *known ? n.body : n.orelse);
  s.in_main = was_main;
  return o;
}

Outcome exec_while(Session& s, Scope& scope, const While& n, const SourceRange& where) {
  if (scope.staged && s.trace && !s.host && !s.trace->threads.empty()) return exec_while_runtime(s, scope, n, where);
  while (true) {
    count_step(s, where);
    Value condition = eval(s, scope, *n.test);
    if (const OpaqueObject* o = unknown_condition(s, condition, where))
      return exec_unknown_loop(s, scope, nullptr, none(), n.body, o->what, where);
    auto known = truth(s, condition, where);
    if (!known) fail(where, "a condition known at run time only, in a plain Python function");
    if (!*known) return exec(s, scope, n.orelse);
    Outcome o = exec(s, scope, n.body);
    if (o.flow == Flow::returned) return o;
    if (o.flow == Flow::broke) return {};
  }
}

Outcome exec_assert(Session& s, Scope& scope, const Assert& n, const SourceRange& where) {
  Value condition = eval(s, scope, *n.test);
  if (unknown_condition(s, condition, where)) return {};
  auto known = truth(s, condition, where);
  if (!known) fail_unsupported(where, "assert of a run-time value; T.device_assert and T.assume are meant for that");
  if (*known) return {};
  std::string message = "the assertion does not hold";
  if (n.message) message += ": " + format(s, eval(s, scope, *n.message));
  fail(where, message);
}

Outcome exec_aug_assign(Session& s, Scope& scope, const AugAssign& n, const SourceRange& where) {
  if (const auto* sub = std::get_if<Subscript>(&n.target->node)) {
    Value base = eval(s, scope, *sub->value);
    if (const auto* buffer = base.as<BufferV>()) {
      Value old = load_element(s, index_buffer(s, scope, *buffer, *sub->index, n.target->where), where);
      store_element(s, scope, *buffer, *sub->index, binary(s, n.op, old, eval(s, scope, *n.value), where), where);
      return {};
    }
  }
  Value old = eval(s, scope, *n.target);
  if (const auto* b = old.as<BufferV>(); b && !b->is_var) fail(where, "an augmented assignment to a whole buffer");
  assign(s, scope, *n.target, binary(s, n.op, old, eval(s, scope, *n.value), where));
  return {};
}

Outcome exec_ann_assign(Session& s, Scope& scope, const AnnAssign& n, const SourceRange& where) {
  if (n.value) {
    assign(s, scope, *n.target, eval(s, scope, *n.value));
    return {};
  }
  const auto* name = std::get_if<Name>(&n.target->node);
  if (scope.staged && s.trace && s.trace->eager && name && s.trace->threads.empty())
    declare_eager_param(s, name->id, eval(s, scope, *n.annotation), scope, where);
  return {};
}

// What a loop of host code runs over is not known: one item stands for all. None: it is known.
Value unknown_item(Session& s, const Value& iterable, const SourceRange& where) {
  if (const auto* o = iterable.as<const OpaqueObject*>()) return derived(s, **o, "an item of " + (*o)->what);
  if (const auto* t = iterable.as<const HostTensor*>()) {
    HostTensor item{"an item of " + (*t)->what, where, (*t)->dtype, {}};
    if ((*t)->shape && !(*t)->shape->empty()) item.shape.emplace((*t)->shape->begin() + 1, (*t)->shape->end());
    return host_tensor(s, std::move(item));
  }
  if (const auto* l = iterable.as<ListObject*>(); l && (*l)->uncertain && !(*l)->items.empty())
    return (*l)->items.size() == 1 ? (*l)->items[0] : opaque(s, "an item of a list that is not known", where);
  if (iterable.is<HostObject*>() || iterable.is<ObjectObject*>() || iterable.is<Instance*>())
    return opaque(s, "an item of " + kind_name(iterable), where);
  return none();
}

Outcome exec_for_any(Session& s, Scope& scope, const For& n, const SourceRange& where) {
  if (s.host) {
    Value iterable = eval(s, scope, *n.iter);
    Value item = unknown_item(s, iterable, where);
    if (!item.is<NoneV>()) return exec_unknown_loop(s, scope, n.target, item, n.body, kind_name(iterable), where);
  }
  return exec_for(s, scope, n, where);
}

Outcome exec_with_any(Session& s, Scope& scope, const With& n, const SourceRange& where) {
  if (!s.host) return exec_with(s, scope, n, where);
  for (const WithItem& item : n.items) {
    Value context = eval(s, scope, *item.context);
    Value entered = opaque(s, "the context " + kind_name(context), where);
    if (auto* const* o = context.as<ObjectObject*>()) {
      entered = context;
      if (const Value* enter = class_lookup(*(*o)->type, "__enter__"))
        entered = apply(s, scope, *enter, {context}, {}, where);
    }
    if (item.target) assign(s, scope, *item.target, entered);
  }
  return exec(s, scope, n.body);
}

Outcome exec_try(Session& s, Scope& scope, const Try& n, const SourceRange& where) {
  if (!s.host) fail_unsupported(where, "try");
  for (const Body* body : {&n.body, &n.orelse, &n.finally}) {
    Outcome o = exec(s, scope, *body);
    if (o.flow != Flow::normal) return o;
  }
  return {};
}

// global and nonlocal: where the names are bound instead.
Outcome exec_outer(Scope& scope, const Outer& n) {
  Scope* root = &scope;
  while (root->parent) root = root->parent;
  for (const std::string& name : n.names) {
    Scope* at = n.global ? root : scope.parent;
    while (at && !n.global && !at->names.contains(name)) at = at->parent;
    if (at) scope.elsewhere[name] = at;
  }
  return {};
}

Outcome exec_delete(Session& s, Scope& scope, const Delete& n, const SourceRange& where) {
  for (ExprRef target : n.targets) {
    if (const auto* name = std::get_if<Name>(&target->node)) {
      scope.names.erase(name->id);
    } else if (const auto* sub = std::get_if<Subscript>(&target->node)) {
      Value base = eval(s, scope, *sub->value), key = eval(s, scope, *sub->index);
      if (auto* const* d = base.as<DictObject*>())
        std::erase_if((*d)->items, [&](const auto& item) { return equal_values(item.first, key); });
      else if (!s.host) fail_unsupported(where, "del of an item of " + kind_name(base));
    }
  }
  return {};
}

// break and continue: of a run-time loop ops, else Python's.
Outcome leave_iteration(Session& s, Scope& scope, Flow flow, const SourceRange& where) {
  bool leaves = flow == Flow::broke;
  for (Scope* at = &scope; at && scope.staged; at = at->parent) {
    if (at->is_loop) {
      if (s.trace->parallel_depth > 0) fail(where, leaves ? "break inside T.Parallel" : "continue inside T.Parallel");
      s.trace->builder.op(leaves ? ir::OpKind::break_ : ir::OpKind::continue_, {});
      return {};
    }
    if (at->is_function) break;
  }
  return {flow, {}};
}

// A call of something unknown in a kernel may have been meant to build a part of it.
Outcome exec_expression(Session& s, Scope& scope, const ExprStmt& n, const SourceRange& where) {
  Value value = eval(s, scope, *n.value);
  const auto* o = value.as<const OpaqueObject*>();
  bool builds = !s.host && scope.staged && s.trace && !s.trace->threads.empty();
  if (!o || !builds || !std::holds_alternative<Call>(n.value->node)) return {};
  if (is_instrumentation(**o)) return warn(s, where, (*o)->what + " does nothing here"), Outcome{};
  fail_opaque(**o, where, "what this call does");
}

Outcome exec_stmt(Session& s, Scope& scope, const Stmt& stmt) {
  SourceRange where = place_in_program(s, op_range(stmt));
  count_step(s, where);
  if (s.trace) s.trace->builder.loc = where;
  return std::visit(Overload{
                        [&](const FunctionDef& n) -> Outcome {
                          return bind_name(s, scope, n.name, make_function(s, scope, n, where), where), Outcome{};
                        },
                        [&](const Return& n) -> Outcome {
                          return {Flow::returned, n.value ? eval(s, scope, *n.value) : none(), where};
                        },
                        [&](const Assign& n) -> Outcome {
                          Value value = eval(s, scope, *n.value);
                          if (n.targets.size() > 1 && s.trace && is_runtime(value))
                            value = scalar(to_scalar(s, value, where, "the value"));
                          for (ExprRef target : n.targets) assign(s, scope, *target, value);
                          return {};
                        },
                        [&](const AugAssign& n) { return exec_aug_assign(s, scope, n, where); },
                        [&](const AnnAssign& n) { return exec_ann_assign(s, scope, n, where); },
                        [&](const For& n) { return exec_for_any(s, scope, n, where); },
                        [&](const While& n) { return exec_while(s, scope, n, where); },
                        [&](const If& n) { return exec_if(s, scope, n, where); },
                        [&](const With& n) { return exec_with_any(s, scope, n, where); },
                        [&](const Assert& n) { return exec_assert(s, scope, n, where); },
                        [&](const Raise& n) -> Outcome {
                          std::string what = n.exception && s.host ? "" : "the program raises an error";
                          if (const auto* call = n.exception ? std::get_if<Call>(&n.exception->node) : nullptr;
                              call && !call->args.empty())
                            what = "the program raises: " + format(s, eval(s, scope, *call->args[0]));
                          fail(where, what.empty() ? "the program raises an error" : what);
                        },
                        [&](const ExprStmt& n) { return exec_expression(s, scope, n, where); },
                        [&](const Import& n) -> Outcome {
                          for (const ImportName& name : n.names)
                            if (name.name != "*") bind_name(s, scope, name.bound, import_value(s, name, where), where);
                            else import_all(s, scope, name, where);
                          return {};
                        },
                        [&](const Try& n) { return exec_try(s, scope, n, where); },
                        [&](const ClassDef& n) -> Outcome {
                          return bind_name(s, scope, n.name, make_class(s, scope, n, where), where), Outcome{};
                        },
                        [&](const Outer& n) { return exec_outer(scope, n); },
                        [&](const Delete& n) { return exec_delete(s, scope, n, where); },
                        [&](const Pass&) -> Outcome { return {}; },
                        [&](const Break&) { return leave_iteration(s, scope, Flow::broke, where); },
                        [&](const Continue&) -> Outcome { return leave_iteration(s, scope, Flow::continued, where); },
                        [&](const OtherStmt& n) -> Outcome { fail_unsupported(where, "Python's " + n.kind); },
                    },
                    stmt.node);
}

void make_unknown(Session& s, Scope& scope, const std::string& name, const SourceRange& where, const Failure& cause) {
  s.heap.opaques.push_back({"'" + name + "'", where, cause.diag, !s.host});
  scope.names[name] = Value{static_cast<const OpaqueObject*>(&s.heap.opaques.back())};
}

void make_unknown(Session& s, Scope& scope, const Expr& target, const Failure& cause) {
  if (const auto* name = std::get_if<Name>(&target.node)) {
    // A buffer or variable of the kernel stays one: an assignment to it was to store, or was wrong.
    const Value* known = lookup(scope, name->id);
    if (!known || !known->is<BufferV>()) make_unknown(s, scope, name->id, target.where, cause);
  }
  if (const auto* t = std::get_if<TupleExpr>(&target.node))
    for (ExprRef item : t->items) make_unknown(s, scope, *item, cause);
  if (const auto* star = std::get_if<Starred>(&target.node)) make_unknown(s, scope, *star->value, cause);
  if (const auto* a = std::get_if<Attribute>(&target.node)) {
    const auto* base = std::get_if<Name>(&a->value->node);
    const Value* object = base ? lookup(scope, base->id) : nullptr;
    s.heap.opaques.push_back({"'" + a->attr + "'", target.where, cause.diag, !s.host});
    Value unknown{static_cast<const OpaqueObject*>(&s.heap.opaques.back())};
    if (auto* const* o = object ? object->as<ObjectObject*>() : nullptr) (*o)->attrs[a->attr] = unknown;
    if (auto* const* o = object ? object->as<HostObject*>() : nullptr) (*o)->attrs[a->attr] = unknown;
  }
}

// A statement failed: what it would have bound is unknown, inside of it too.
void recover(Session& s, Scope& scope, const Stmt& stmt, const Failure& cause) {
  auto all = [&](const Body& body) {
    for (const Stmt* inner : body) recover(s, scope, *inner, cause);
  };
  std::visit(Overload{
                 [&](const Assign& n) {
                   for (ExprRef target : n.targets) make_unknown(s, scope, *target, cause);
                 },
                 [&](const AugAssign& n) { make_unknown(s, scope, *n.target, cause); },
                 [&](const AnnAssign& n) { make_unknown(s, scope, *n.target, cause); },
                 [&](const FunctionDef& n) { make_unknown(s, scope, n.name, n.name_where, cause); },
                 [&](const ClassDef& n) { make_unknown(s, scope, n.name, n.name_where, cause); },
                 [&](const Import& n) {
                   for (const ImportName& i : n.names)
                     if (i.bound != "*") make_unknown(s, scope, i.bound, stmt.where, cause);
                 },
                 [&](const For& n) {
                   make_unknown(s, scope, *n.target, cause);
                   all(n.body), all(n.orelse);
                 },
                 [&](const While& n) { all(n.body), all(n.orelse); },
                 [&](const If& n) { all(n.body), all(n.orelse); },
                 [&](const With& n) {
                   for (const WithItem& item : n.items)
                     if (item.target) make_unknown(s, scope, *item.target, cause);
                   all(n.body);
                 },
                 [](const auto&) {},
             },
             stmt.node);
}

// The place in the kernel that is built, to go back to where a statement has failed.
class BuilderState {
 public:
  explicit BuilderState(Session& s) : s_(s), calls_(s.calls.size()), in_main_(s.in_main), uncertain_(s.uncertain) {
    if (!s.trace) return;
    block_ = s.trace->builder.block;
    constants_ = s.trace->constants.size();
    here_ = s.trace->here;
    parallel_depth_ = s.trace->parallel_depth;
    in_launch_ = !s.trace->threads.empty();
  }
  void restore() const {
    s_.calls.resize(std::min(calls_, s_.calls.size()));
    s_.in_main = in_main_;
    s_.uncertain = uncertain_;
    if (!s_.trace) return;
    s_.trace->builder.block = block_;
    s_.trace->constants.resize(std::min(constants_, s_.trace->constants.size()));
    s_.trace->here = here_;
    s_.trace->parallel_depth = parallel_depth_;
    if (!in_launch_) s_.trace->threads.clear();
  }

 private:
  Session& s_;
  size_t calls_;
  bool in_main_;
  int uncertain_;
  ir::BlockId block_{};
  size_t constants_ = 0;
  ThreadRanges here_;
  int parallel_depth_ = 0;
  bool in_launch_ = false;
};

// A statement of host code. Where it was to define a kernel the failure is a diagnostic of its own.
void note_not_followed(Session& s, const Stmt& stmt, const Diag& d) {
  if (const auto* def = std::get_if<FunctionDef>(&stmt.node)) {
    bool kernel = std::any_of(s.heap.functions.begin(), s.heap.functions.end(), [&](const FunctionObject& f) {
      return f.where == def->name_where && (f.is_factory || f.is_eager || f.kind == FunctionKind::prim_func);
    });
    bool known = std::find(s.failed.begin(), s.failed.end(), def->name_where) != s.failed.end();
    if (kernel && !known) {
      s.failed.push_back(def->name_where);
      s.unresolved.emplace_back(def->name_where, d.message);
      s.diags.push_back(d);
    }
  }
  constexpr size_t kMost = 100;
  bool known = std::any_of(s.not_followed.begin(), s.not_followed.end(),
                           [&](const Diag& k) { return k.where == d.where && k.message == d.message; });
  if (!known && s.not_followed.size() < kMost) s.not_followed.push_back(d);
}

// A statement that fails in a trace is reported here. A return then gives an unknown value.
Outcome exec_recovering(Session& s, Scope& scope, const Stmt& stmt) {
  BuilderState state(s);
  try {
    return exec_stmt(s, scope, stmt);
  } catch (const Failure& failure) {
    if (failure.fatal) throw;
    if (s.library && stmt.where.file == s.library) {  // the statement of the program that called it fails
      Failure of_call = failure;
      of_call.diag.where = place_in_program(s, failure.diag.where);
      throw of_call;
    }
    if (!s.host) report(s, failure);
    else note_not_followed(s, stmt, failure.diag);
    state.restore();
    recover(s, scope, stmt, failure);
    if (!std::holds_alternative<Return>(stmt.node)) return {};
    s.heap.opaques.push_back({"a result that is not known", stmt.where, failure.diag, !s.host});
    return {Flow::returned, Value{static_cast<const OpaqueObject*>(&s.heap.opaques.back())}};
  }
}
}  // namespace

// if __name__ == "__main__":
bool is_main_test(const Expr& test) {
  const auto* c = std::get_if<Compare>(&test.node);
  const auto* name = c ? std::get_if<Name>(&c->first->node) : nullptr;
  return name && name->id == "__name__";
}

void fail_bound(const SourceRange& where, std::string message) {
  Failure f{input_error(where, std::move(message))};
  f.fatal = true;
  throw f;
}

void count_step(Session& s, const SourceRange& where) {
  if (++s.steps > s.options->max_steps)
    fail_bound(where, "the evaluation takes more than " + std::to_string(s.options->max_steps) +
                          " steps; --max-steps allows more");
  if (s.module.ops.size() > kMaxOps)
    fail_bound(where, "the kernels have more than " + std::to_string(kMaxOps) + " operations");
}

void count_items(Session& s, size_t n, const SourceRange& where) {
  s.items += static_cast<int64_t>(n);
  if (s.items > kMaxItems)
    fail_bound(where, "the lists and texts of the file have more than " + std::to_string(kMaxItems) + " items");
}

void check_stack(Session& s, const SourceRange& where) {
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  if (s.stack && std::abs(s.stack - here) > kMaxStackBytes) fail_bound(where, "the evaluation is nested too deeply");
}

namespace {
void assign_list_item(Session& s, Scope& scope, ListObject& list, const Expr& index, Value value,
                      const SourceRange& where) {
  Value at = eval(s, scope, index);
  if (s.uncertain > list.level || unknown_condition(s, at, where)) {
    list.uncertain = true;
    return;
  }
  ir::MetaInt i = to_int(s, at, where, "the index");
  pin(s, i, where);
  int64_t size = static_cast<int64_t>(list.items.size()), place = i.value < 0 ? i.value + size : i.value;
  if (place < 0 || place >= size)
    fail(where, "index " + std::to_string(i.value) + " of " + std::to_string(size) + " items");
  list.items[static_cast<size_t>(place)] = std::move(value);
}

// a, *rest, z = items
bool assign_starred(Session& s, Scope& scope, const Exprs& targets, const std::vector<Value>& items,
                    const SourceRange& where) {
  auto star =
      std::find_if(targets.begin(), targets.end(), [](ExprRef t) { return std::holds_alternative<Starred>(t->node); });
  if (star == targets.end()) return false;
  size_t before = static_cast<size_t>(star - targets.begin()), after = targets.size() - before - 1;
  if (items.size() < before + after)
    fail(where, std::to_string(items.size()) + " values for " + std::to_string(before + after) + " names");
  for (size_t i = 0; i < before; ++i) assign(s, scope, *targets[i], items[i]);
  auto first = items.begin() + static_cast<std::ptrdiff_t>(before),
       last = items.end() - static_cast<std::ptrdiff_t>(after);
  assign(s, scope, *std::get<Starred>((*star)->node).value, list(s, {first, last}));
  for (size_t i = 0; i < after; ++i)
    assign(s, scope, *targets[before + 1 + i], *(last + static_cast<std::ptrdiff_t>(i)));
  return true;
}
}  // namespace

void assign(Session& s, Scope& scope, const Expr& target, Value value) {
  if (const auto* name = std::get_if<Name>(&target.node))
    return bind_name(s, scope, name->id, std::move(value), target.where);
  if (const auto* sub = std::get_if<Subscript>(&target.node)) {
    Value base = eval(s, scope, *sub->value);
    if (const auto* buffer = base.as<BufferV>())
      return store_element(s, scope, *buffer, *sub->index, value, target.where);
    if (const auto* d = base.as<DictObject*>()) {
      Value key = eval(s, scope, *sub->index);
      s.steps += static_cast<int64_t>((*d)->items.size() / 16);  // it is searched from the front
      for (auto& [k, v] : (*d)->items)
        if (equal_values(k, key))
          return static_cast<void>(v = s.uncertain ? merged(s, v, value, "an unknown condition", target.where) : value);
      (*d)->items.emplace_back(key, value);
      return;
    }
    if (auto* const* l = base.as<ListObject*>(); l && !std::holds_alternative<Slice>(sub->index->node))
      return assign_list_item(s, scope, **l, *sub->index, std::move(value), target.where);
    if (base.is<const OpaqueObject*>()) return;
    if (const auto* t = base.as<const HostTensor*>())  // the one kind of tensor that changes: its values are followed
      return store_tensor_item(s, scope, const_cast<HostTensor&>(**t), *sub->index, value);
    if (s.host) return;
    fail_unsupported(target.where, "an assignment to an item of " + kind_name(base));
  }
  const auto* t = std::get_if<TupleExpr>(&target.node);
  const auto* l = std::get_if<ListExpr>(&target.node);
  if (t || l) {
    const Exprs& targets = t ? t->items : l->items;
    if (const auto* o = value.as<const OpaqueObject*>()) {
      for (ExprRef item : targets) assign(s, scope, *item, derived(s, **o, (*o)->what));
      return;
    }
    if (const auto* tensor = value.as<const HostTensor*>()) {
      for (ExprRef item : targets) assign(s, scope, *item, unknown_item(s, Value{*tensor}, target.where));
      return;
    }
    std::vector<Value> items = to_items(s, value, target.where, "what is unpacked");
    if (assign_starred(s, scope, targets, items, target.where)) return;
    if (items.size() != targets.size())
      fail(target.where, std::to_string(items.size()) + " values for " + std::to_string(targets.size()) + " names");
    // All right sides are read before the first name changes: a swap of two variables works.
    for (Value& item : items)
      if (s.trace && is_runtime(item)) item = scalar(to_scalar(s, item, target.where, "the value"));
    for (size_t i = 0; i < items.size(); ++i) assign(s, scope, *targets[i], items[i]);
    return;
  }
  if (const auto* a = std::get_if<Attribute>(&target.node)) {
    Value base = eval(s, scope, *a->value);
    std::unordered_map<std::string, Value>* attrs = nullptr;
    if (auto* const* object = base.as<HostObject*>()) attrs = &(*object)->attrs;
    if (auto* const* object = base.as<ObjectObject*>()) attrs = &(*object)->attrs;
    if (auto* const* type = base.as<ClassObject*>()) attrs = &(*type)->attrs;
    if (attrs) {
      auto [it, fresh] = attrs->try_emplace(a->attr, value);
      if (!fresh) it->second = s.uncertain ? merged(s, it->second, value, "an unknown condition", target.where) : value;
      return;
    }
  }
  if (s.host) return;  // an attribute of some object
  fail_unsupported(target.where, "this target of an assignment");
}

void exec_until_launch(Session& s, Scope& scope, const Body& body) {
  for (const Stmt* stmt : body) {
    if (std::holds_alternative<With>(stmt->node)) return;
    if (exec_recovering(s, scope, *stmt).flow != Flow::normal) return;
  }
}

Outcome exec(Session& s, Scope& scope, const Body& body) {
  for (const Stmt* stmt : body) {
    Outcome o = exec_recovering(s, scope, *stmt);
    if (o.flow != Flow::normal) return o;
  }
  return {};
}

}  // namespace tc::eval
