// Statements. In factories and kernels the first failure ends the evaluation; in host code (module level, main) a
// statement that fails makes its names unknown, with the failure as the reason, and the run goes on.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;
constexpr int64_t kMaxSteps = 2'000'000;

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

// ---- host code under unknown conditions: both ways are run, and names that then differ are unknown.
using Names = std::unordered_map<std::string, Value>;
void forget_differences(Session& s, Scope& scope, const Names& other, const std::string& why,
                        const SourceRange& where) {
  for (auto& [name, value] : scope.names) {
    auto it = other.find(name);
    if (it == other.end() || !equal_values(it->second, value))
      value = opaque(s, "a choice that depends on " + why, where);
  }
}

Outcome exec_unknown_if(Session& s, Scope& scope, const If& stmt, const OpaqueObject& condition,
                        const SourceRange& where) {
  Names before = scope.names;
  exec(s, scope, stmt.body);
  Names then = scope.names;
  scope.names = before;
  exec(s, scope, stmt.orelse);
  for (const auto& [name, value] : then) scope.names.try_emplace(name, value);
  forget_differences(s, scope, then, condition.what, where);
  return {};
}

Outcome exec_unknown_loop(Session& s, Scope& scope, ExprRef target, const Body& body, const std::string& why,
                          const SourceRange& where) {
  Names before = scope.names;
  if (target) assign(s, scope, *target, opaque(s, why, where));
  exec(s, scope, body);
  forget_differences(s, scope, before, why, where);
  return {};
}

bool is_main_test(const Expr& test) {
  const auto* c = std::get_if<Compare>(&test.node);
  const auto* name = c ? std::get_if<Name>(&c->first->node) : nullptr;
  return name && name->id == "__name__";
}

Outcome exec_if(Session& s, Scope& scope, const If& n, const SourceRange& where) {
  Value condition = eval(s, scope, *n.test);
  if (const auto* o = condition.as<const OpaqueObject*>(); o && s.host) return exec_unknown_if(s, scope, n, **o, where);
  auto known = truth(s, condition, where);
  if (!known) return exec_if_runtime(s, scope, n, condition, where);
  bool was_main = s.in_main;
  s.in_main |= s.host && is_main_test(*n.test);
  Outcome o = exec(s, scope, *known ? n.body : n.orelse);
  s.in_main = was_main;
  return o;
}

Outcome exec_while(Session& s, Scope& scope, const While& n, const SourceRange& where) {
  while (true) {
    count_step(s, where);
    Value condition = eval(s, scope, *n.test);
    if (const auto* o = condition.as<const OpaqueObject*>(); o && s.host)
      return exec_unknown_loop(s, scope, nullptr, n.body, (*o)->what, where);
    auto known = truth(s, condition, where);
    if (scope.staged) {
      if (known && *known) fail(where, "a `while` whose condition is always true");
      if (!known) fail_unsupported(where, "a run-time `while`");
    }
    if (!known) fail(where, "a condition known at run time only, in a plain Python function");
    if (!*known) return exec(s, scope, n.orelse);
    Outcome o = exec(s, scope, n.body);
    if (o.flow == Flow::returned) return o;
    if (o.flow == Flow::broke) return {};
  }
}

Outcome exec_assert(Session& s, Scope& scope, const Assert& n, const SourceRange& where) {
  Value condition = eval(s, scope, *n.test);
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

Outcome exec_for_any(Session& s, Scope& scope, const For& n, const SourceRange& where) {
  if (s.host) {
    Value iterable = eval(s, scope, *n.iter);
    if (const auto* o = iterable.as<const OpaqueObject*>())
      return exec_unknown_loop(s, scope, n.target, n.body, "an item of " + (*o)->what, where);
  }
  return exec_for(s, scope, n, where);
}

Outcome exec_with_any(Session& s, Scope& scope, const With& n, const SourceRange& where) {
  if (!s.host) return exec_with(s, scope, n, where);
  for (const WithItem& item : n.items) {
    Value context = eval(s, scope, *item.context);
    if (item.target) assign(s, scope, *item.target, opaque(s, "the context " + kind_name(context), where));
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

Outcome exec_break(Session& s, Scope& scope, const SourceRange& where) {
  for (Scope* at = &scope; at && scope.staged; at = at->parent) {
    if (at->is_loop) {
      if (s.trace->parallel_depth > 0) fail(where, "break inside T.Parallel");
      s.trace->builder.op(ir::OpKind::break_, {});
      return {};
    }
    if (at->is_function) break;
  }
  return {Flow::broke, {}};
}

Outcome exec_stmt(Session& s, Scope& scope, const Stmt& stmt) {
  SourceRange where = op_range(stmt);
  count_step(s, where);
  if (s.trace) s.trace->builder.loc = where;
  return std::visit(Overload{
                        [&](const FunctionDef& n) -> Outcome {
                          return bind_name(s, scope, n.name, make_function(s, scope, n, where), where), Outcome{};
                        },
                        [&](const Return& n) -> Outcome {
                          return {Flow::returned, n.value ? eval(s, scope, *n.value) : none()};
                        },
                        [&](const Assign& n) -> Outcome {
                          Value value = eval(s, scope, *n.value);
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
                        [&](const ExprStmt& n) -> Outcome { return eval(s, scope, *n.value), Outcome{}; },
                        [&](const Import& n) -> Outcome {
                          for (const ImportName& name : n.names)
                            if (name.name != "*") bind_name(s, scope, name.bound, import_value(s, name, where), where);
                            else import_all(s, scope, name, where);
                          return {};
                        },
                        [&](const Try& n) { return exec_try(s, scope, n, where); },
                        [&](const ClassDef& n) -> Outcome {
                          return bind_name(s, scope, n.name, opaque(s, "class " + n.name, where), where), Outcome{};
                        },
                        [&](const Pass&) -> Outcome { return {}; },
                        [&](const Break&) { return exec_break(s, scope, where); },
                        [&](const Continue&) -> Outcome {
                          if (scope.staged) fail_unsupported(where, "continue in a kernel");
                          return {Flow::continued, {}};
                        },
                        [&](const OtherStmt& n) -> Outcome { fail_unsupported(where, "Python's " + n.kind); },
                    },
                    stmt.node);
}

void make_unknown(Session& s, Scope& scope, const Expr& target, const Diag& cause) {
  if (const auto* name = std::get_if<Name>(&target.node)) {
    s.heap.opaques.push_back({"'" + name->id + "'", target.where, cause});
    scope.names[name->id] = Value{static_cast<const OpaqueObject*>(&s.heap.opaques.back())};
  }
  if (const auto* t = std::get_if<TupleExpr>(&target.node))
    for (ExprRef item : t->items) make_unknown(s, scope, *item, cause);
}

// A host statement failed with `cause`.
void recover(Session& s, Scope& scope, const Stmt& stmt, const Diag& cause) {
  if (const auto* n = std::get_if<Assign>(&stmt.node))
    for (ExprRef target : n->targets) make_unknown(s, scope, *target, cause);
  if (const auto* n = std::get_if<AugAssign>(&stmt.node)) make_unknown(s, scope, *n->target, cause);
  if (const auto* n = std::get_if<AnnAssign>(&stmt.node)) make_unknown(s, scope, *n->target, cause);
  if (const auto* n = std::get_if<FunctionDef>(&stmt.node)) {
    s.heap.opaques.push_back({"'" + n->name + "'", n->name_where, cause});
    scope.names[n->name] = Value{static_cast<const OpaqueObject*>(&s.heap.opaques.back())};
  }
}
}  // namespace

void count_step(Session& s, const SourceRange& where) {
  if (++s.steps > kMaxSteps) fail(where, "the evaluation takes more than " + std::to_string(kMaxSteps) + " steps");
}

void assign(Session& s, Scope& scope, const Expr& target, Value value) {
  if (const auto* name = std::get_if<Name>(&target.node))
    return bind_name(s, scope, name->id, std::move(value), target.where);
  if (const auto* sub = std::get_if<Subscript>(&target.node)) {
    Value base = eval(s, scope, *sub->value);
    if (const auto* buffer = base.as<BufferV>())
      return store_element(s, scope, *buffer, *sub->index, value, target.where);
    if (const auto* d = base.as<DictObject*>()) {
      Value key = eval(s, scope, *sub->index);
      for (auto& [k, v] : (*d)->items)
        if (equal_values(k, key)) return static_cast<void>(v = value);
      (*d)->items.emplace_back(key, value);
      return;
    }
    if (base.is<const OpaqueObject*>()) return;
    fail_unsupported(target.where, "an assignment to an item of " + kind_name(base));
  }
  const auto* t = std::get_if<TupleExpr>(&target.node);
  const auto* l = std::get_if<ListExpr>(&target.node);
  if (t || l) {
    const Exprs& targets = t ? t->items : l->items;
    if (const auto* o = value.as<const OpaqueObject*>()) {
      for (ExprRef item : targets) assign(s, scope, *item, opaque(s, (*o)->what, target.where));
      return;
    }
    std::vector<Value> items = to_items(s, value, target.where, "what is unpacked");
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
    if (auto* const* object = base.as<HostObject*>()) {
      (*object)->attrs[a->attr] = std::move(value);
      return;
    }
  }
  if (s.host) return;  // an attribute of some object
  fail_unsupported(target.where, "this target of an assignment");
}

void exec_until_launch(Session& s, Scope& scope, const Body& body) {
  for (const Stmt* stmt : body) {
    if (std::holds_alternative<With>(stmt->node)) return;
    try {
      if (exec_stmt(s, scope, *stmt).flow != Flow::normal) return;
    } catch (const Failure& failure) {
      recover(s, scope, *stmt, failure.diag);
    }
  }
}

Outcome exec(Session& s, Scope& scope, const Body& body) {
  for (const Stmt* stmt : body) {
    Outcome o;
    if (!s.host) {
      o = exec_stmt(s, scope, *stmt);
    } else {
      int depth = s.call_depth;
      bool in_main = s.in_main;
      try {
        o = exec_stmt(s, scope, *stmt);
      } catch (const Failure& failure) {
        s.call_depth = depth;
        s.in_main = in_main;
        recover(s, scope, *stmt, failure.diag);
      }
    }
    if (o.flow != Flow::normal) return o;
  }
  return {};
}

}  // namespace tc::eval
