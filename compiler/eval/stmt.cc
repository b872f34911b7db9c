// Statements. One that fails makes its names unknown, with the failure as the reason, and the run goes on: in host code
// (module level, main) silently, in factories and kernels with a diagnostic. What then follows only from unknown names
// is not reported again.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;
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

// Of a `while` of host code; one that waits for something outside of the program never ends here.
constexpr int kMostHostRounds = 4096;

Outcome exec_while(Session& s, Scope& scope, const While& n, const SourceRange& where) {
  if (scope.staged && s.trace && !s.host && !s.trace->threads.empty()) return exec_while_runtime(s, scope, n, where);
  Leaving leaving(s, scope);
  for (int round = 0;; ++round) {
    count_step(s, where);
    if (s.host && (leaving.loop() || round == kMostHostRounds)) return {};
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

// m == n of one run-time value, whatever it is (and such equations joined by `and`).
bool same_sides(Session& s, ir::ValueId condition, const SourceRange& where) {
  if (auto known = ir::constant_value(s.module, condition)) return known->value != 0;
  ir::OpId def = s.module[condition].def;
  if (!def.valid()) return false;
  const ir::Op op = s.module[def];
  if (op.kind == ir::OpKind::logical_and)
    return same_sides(s, op.operands[0], where) && same_sides(s, op.operands[1], where);
  if (op.kind != ir::OpKind::eq) return false;
  auto difference = constant_difference(s, op.operands[0], op.operands[1], where);
  return difference && !difference->dynamic() && difference->value == 0;
}
bool same_sides(Session& s, const Value& condition, const SourceRange& where) {
  const auto* c = condition.as<ScalarV>();
  return c && same_sides(s, c->id, where);
}

Outcome exec_assert(Session& s, Scope& scope, const Assert& n, const SourceRange& where) {
  Value condition = eval(s, scope, *n.test);
  if (unknown_condition(s, condition, where)) return {};
  auto known = truth(s, condition, where);
  if (!known && same_sides(s, condition, where)) return {};
  if (!known) fail_unsupported(where, "assert of a run-time value; T.device_assert and T.assume are meant for that");
  if (*known) return {};
  std::string message = "the assertion does not hold";
  if (n.message) message += ": " + format(s, eval(s, scope, *n.message));
  fail_raised(where, "AssertionError", message);
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
  if (const auto* b = old.as<BufferV>(); b && !b->is_var && !b->fresh) fail(where, "an augmented assignment to a whole buffer");
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
  bool expected = false;
  for (const WithItem& item : n.items) {
    Value context = eval(s, scope, *item.context);
    expected |= expects_failure(context);
    Value entered = opaque(s, "the context " + kind_name(context), where);
    if (auto* const* o = context.as<ObjectObject*>()) {
      entered = context;
      if (const Value* enter = class_lookup(*(*o)->type, "__enter__"))
        entered = apply(s, scope, *enter, {context}, {}, where);
    }
    if (item.target) assign(s, scope, *item.target, entered);
  }
  return expected ? exec_expecting_failure(s, scope, n.body) : exec(s, scope, n.body);
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
      if (at->is_parallel) fail(where, leaves ? "break inside T.Parallel" : "continue inside T.Parallel");
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

Outcome exec_try_body(Session& s, Scope& scope, const Try& n);

Outcome exec_try(Session& s, Scope& scope, const Try& n, const SourceRange& where) {
  if (scope.staged) fail_unsupported(where, "try in a kernel");
  auto finally = [&](const Outcome& o) {
    Outcome last = exec(s, scope, n.finally);
    return last.flow == Flow::normal ? o : last;
  };
  try {
    return finally(exec_try_body(s, scope, n));
  } catch (const Failure& failure) {
    if (!failure.fatal) exec(s, scope, n.finally);
    throw;
  }
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
                        [&](const Raise& n) -> Outcome { raise(s, scope, n, where); },
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
    if (failure.fatal || is_caught(s, failure)) throw;
    if (of_library(s, stmt.where.file)) {  // the statement of the program that called it fails
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

// The body up to the first exception that is the program's own, then the handler that names it.
Outcome exec_try_body(Session& s, Scope& scope, const Try& n) {
  BuilderState state(s);
  try {
    struct Catching {
      Session& s;
      explicit Catching(Session& session) : s(session) { s.tries.push_back(s.uncertain); }
      ~Catching() { s.tries.pop_back(); }
    } catching(s);
    Outcome o = exec(s, scope, n.body);
    if (o.flow != Flow::normal) return o;
  } catch (const Failure& failure) {
    if (failure.fatal || failure.raised.empty()) throw;
    state.restore();
    for (const Handler& h : n.handlers) {
      if (!handles(s, scope, h, failure.raised)) continue;
      if (!h.name.empty()) scope.names[h.name] = opaque(s, "the exception " + failure.raised, failure.diag.where);
      s.handled.push_back(failure);
      Outcome o = exec(s, scope, h.body);
      s.handled.pop_back();
      return o;
    }
    throw;
  }
  return exec(s, scope, n.orelse);
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
  const Bounds& bounds = s.options->bounds;
  if (++s.steps > bounds.steps)
    fail_bound(where, "the evaluation takes more than " + std::to_string(bounds.steps) +
                          " steps; --bound steps=N allows more");
  if (static_cast<int64_t>(s.module.ops.size()) > bounds.operations)
    fail_bound(where, "the kernels have more than " + std::to_string(bounds.operations) +
                          " operations; --bound operations=N allows more");
}

void count_items(Session& s, size_t n, const SourceRange& where) {
  s.items += static_cast<int64_t>(n);
  if (s.items > s.options->bounds.items)
    fail_bound(where, "the lists and texts of the file have more than " + std::to_string(s.options->bounds.items) +
                          " items; --bound items=N allows more");
}

void check_stack(Session& s, const SourceRange& where) {
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  if (s.stack && std::abs(s.stack - here) > kMaxStackBytes) fail_bound(where, "the evaluation is nested too deeply");
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
