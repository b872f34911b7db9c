// Statements that build the kernel: loops, launches, sections, run-time branches, stores.
// An `if` whose condition depends on nothing but the thread index makes sections (ir::OpKind::ws) of its branches, an
// elif chain a row of sections side by side; any other run-time `if` becomes an if op.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

std::vector<std::string> target_names(const ast::Expr& target) {
  if (const auto* name = std::get_if<ast::Name>(&target.node)) return {name->id};
  std::vector<std::string> names;
  const auto* tuple = std::get_if<ast::TupleExpr>(&target.node);
  const auto* list = std::get_if<ast::ListExpr>(&target.node);
  if (!tuple && !list) fail(target.where, "this has to be a name or names");
  for (ast::ExprRef item : tuple ? tuple->items : list->items) {
    const auto* name = std::get_if<ast::Name>(&item->node);
    if (!name) fail(item->where, "this has to be a name");
    names.push_back(name->id);
  }
  return names;
}

void no_escape(const Outcome& o, const SourceRange& where) {
  if (o.flow == Flow::returned) fail_unsupported(where, "return inside a run-time block");
}

std::string_view loop_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "serial";
    case LoopKind::unroll: return "unroll";
    case LoopKind::vectorized: return "vectorized";
    case LoopKind::pipelined: return "pipelined";
    case LoopKind::parallel: return "parallel";
  }
  return "";
}

Outcome exec_parallel(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop,
                      const SourceRange& where) {
  Trace& t = *s.trace;
  std::vector<std::string> names = target_names(*stmt.target);
  if (names.size() != loop.bounds.size())
    fail(where, "T.Parallel of " + std::to_string(loop.bounds.size()) + " extents binds " +
                    std::to_string(names.size()) + " names");
  if (t.parallel_depth > 0) fail_unsupported(where, "T.Parallel inside T.Parallel");
  std::vector<ir::ValueId> extents;
  for (auto [lo, hi] : loop.bounds) extents.push_back(hi);
  ir::OpId op = t.builder.nest(OpKind::parallel, extents, names);
  s.module[op].attrs = loop.attrs;
  ++t.parallel_depth;
  Outcome o = run_block(s, scope, s.module[op].blocks[0], true, where, [&](Scope& inner) {
    for (size_t i = 0; i < names.size(); ++i) inner.names[names[i]] = scalar(s.module[s.module[op].blocks[0]].args[i]);
    return exec(s, inner, stmt.body);
  });
  --t.parallel_depth;
  no_escape(o, where);
  return {};
}

Outcome exec_loop(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop, const SourceRange& where) {
  Trace& t = *s.trace;
  std::vector<std::string> names = target_names(*stmt.target);
  if (names.size() != 1) fail(where, "this loop binds one name");
  auto [lo, hi] = loop.bounds[0];
  ir::ValueId first = lo, last = hi;
  if (loop.step) {  // v counts from 0; the name is lo + v * step
    ir::ValueId span = scalar_binary(s, OpKind::sub, hi, lo);
    ir::ValueId up =
        scalar_binary(s, OpKind::sub, scalar_binary(s, OpKind::add, span, *loop.step), constant(s, MetaInt(1)));
    auto step = ir::constant_value(s.module, *loop.step);
    if (!step || step->value == 0) fail(where, "the step of the loop is 0 or not known when the kernel is built");
    if (step->value < 0)
      up = scalar_binary(s, OpKind::add, scalar_binary(s, OpKind::add, span, *loop.step), constant(s, MetaInt(1)));
    first = constant(s, MetaInt(0));
    last = scalar_binary(s, OpKind::floordiv, up, *loop.step);
  }
  ir::OpId op = t.builder.nest(OpKind::for_, {first, last}, {names[0]});
  ir::set_attr(s.module[op].attrs, "kind", std::string(loop_name(loop.kind)));
  if (loop.kind == LoopKind::pipelined) ir::set_attr(s.module[op].attrs, "num_stages", loop.num_stages);
  for (const ir::Attr& a : loop.attrs) ir::set_attr(s.module[op].attrs, a.name, a.value);
  Outcome o = run_block(s, scope, s.module[op].blocks[0], true, where, [&](Scope& inner) {
    ir::ValueId index = s.module[s.module[op].blocks[0]].args[0];
    if (loop.step) index = scalar_binary(s, OpKind::add, scalar_binary(s, OpKind::mul, index, *loop.step), lo);
    inner.names[names[0]] = scalar(index);
    return exec(s, inner, stmt.body);
  });
  no_escape(o, where);
  return {};
}

// Maximal runs of `true`.
std::vector<std::pair<int64_t, int64_t>> intervals(const std::vector<bool>& set) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    if (!out.empty() && out.back().second == static_cast<int64_t>(i)) ++out.back().second;
    else out.emplace_back(i, i + 1);
  }
  return out;
}

Outcome run_section(Session& s, Scope& scope, MetaInt lo, MetaInt hi, const SourceRange& where,
                    const std::function<Outcome(Scope&)>& body) {
  Trace& t = *s.trace;
  ir::OpId op = t.builder.nest(OpKind::ws, {}, {});
  ir::set_attr(s.module[op].attrs, "lo", lo);
  ir::set_attr(s.module[op].attrs, "hi", hi);
  int64_t outer_lo = t.lo, outer_hi = t.hi;
  t.lo = lo.value;
  t.hi = hi.value;
  Outcome o = run_block(s, scope, s.module[op].blocks[0], false, where, body);
  t.lo = outer_lo;
  t.hi = outer_hi;
  no_escape(o, where);
  return {};
}

Outcome plain_if(Session& s, Scope& scope, const ast::If& stmt, ir::ValueId condition, const SourceRange& where) {
  Trace& t = *s.trace;
  ir::OpId op = t.builder.op(OpKind::if_, {condition});
  s.module[op].blocks = {s.module.new_block(), s.module.new_block()};
  std::vector<ir::BlockId> blocks = s.module[op].blocks;
  no_escape(run_block(s, scope, blocks[0], false, where, [&](Scope& inner) { return exec(s, inner, stmt.body); }),
            where);
  if (!stmt.orelse.empty())
    no_escape(run_block(s, scope, blocks[1], false, where, [&](Scope& inner) { return exec(s, inner, stmt.orelse); }),
              where);
  return {};
}

SourceRange header_range(const ast::Stmt& stmt, ast::ExprRef last) {
  return {stmt.where.file, stmt.where.line, stmt.where.column, last->where.end_line, last->where.end_column};
}

// `remaining`: the threads that come to this `if`. Returns false where sections cannot express it (nothing was built).
bool section_if(Session& s, Scope& scope, const ast::If& stmt, ir::ValueId condition, std::vector<bool> remaining,
                const SourceRange& where) {
  auto chosen = threads_where(s, condition, static_cast<int64_t>(remaining.size()));
  if (!chosen) return false;
  std::vector<bool> rest = remaining;
  for (size_t i = 0; i < remaining.size(); ++i) {
    (*chosen)[i] = (*chosen)[i] && remaining[i];
    rest[i] = remaining[i] && !(*chosen)[i];
  }
  auto then = intervals(*chosen), otherwise = intervals(rest);
  if (then.size() > 1 || (otherwise.size() > 1 && !stmt.orelse.empty())) return false;
  if (!then.empty())
    run_section(s, scope, MetaInt(then[0].first), MetaInt(then[0].second), where,
                [&](Scope& inner) { return exec(s, inner, stmt.body); });
  if (stmt.orelse.empty() || otherwise.empty()) return true;
  const auto* chained = stmt.orelse.size() == 1 ? std::get_if<ast::If>(&stmt.orelse[0]->node) : nullptr;
  if (chained) {
    SourceRange header = header_range(*stmt.orelse[0], chained->test);
    s.trace->builder.loc = header;
    Value test = eval(s, scope, *chained->test);
    if (is_runtime(test) && section_if(s, scope, *chained, as_condition(s, test, header), rest, header)) return true;
  }
  s.trace->builder.loc = where;
  run_section(s, scope, MetaInt(otherwise[0].first), MetaInt(otherwise[0].second), where,
              [&](Scope& inner) { return exec(s, inner, stmt.orelse); });
  return true;
}

Outcome exec_launch(Session& s, Scope& scope, const ast::With& with, const FrameObject& frame,
                    const SourceRange& where) {
  Trace& t = need_trace(s, where, "a launch");
  if (!t.threads.empty()) fail(where, "a launch inside a launch");
  std::vector<std::string> names;
  if (with.items[0].target) names = target_names(*with.items[0].target);
  if (!names.empty() && names.size() != frame.extents.size())
    fail(where, "the grid has " + std::to_string(frame.extents.size()) + " dimensions, the launch binds " +
                    std::to_string(names.size()) + " names");
  names.resize(frame.extents.size());
  ir::OpId op = t.builder.nest(OpKind::launch, frame.extents, names);
  MetaInt threads(1);
  for (const MetaInt& e : frame.threads) threads = meta(s, ir::MetaKind::mul, threads, e, where);
  if (threads.value > 1024) fail(where, std::to_string(threads.value) + " threads in a CTA, more than 1024");
  ir::set_attr(s.module[op].attrs, "threads", threads);
  t.launch = op;
  t.threads = frame.threads;
  t.lo = 0;
  t.hi = threads.value;
  Outcome o = run_block(s, scope, s.module[op].blocks[0], false, where, [&](Scope& inner) {
    for (size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty()) inner.names[names[i]] = scalar(s.module[s.module[op].blocks[0]].args[i]);
    return exec(s, inner, with.body);
  });
  t.threads.clear();
  no_escape(o, where);
  return {};
}
}  // namespace

Outcome exec_for(Session& s, Scope& scope, const ast::For& stmt, const SourceRange& where) {
  Value iterable = eval(s, scope, *stmt.iter);
  const auto* loop = iterable.as<const LoopObject*>();
  if (!stmt.orelse.empty() && loop) fail_unsupported(where, "else of a run-time loop");
  if (loop && !scope.staged)
    fail(where, "a run-time loop in a plain Python function; @T.macro makes it part of the kernel");
  if (loop) {
    need_launch(s, where, "a loop");
    return (*loop)->kind == LoopKind::parallel ? exec_parallel(s, scope, stmt, **loop, where)
                                               : exec_loop(s, scope, stmt, **loop, where);
  }
  if (scope.staged)
    fail(where, "a loop of a kernel runs over range, T.serial, T.Parallel …, not over " + kind_name(iterable));
  for (const Value& item : to_items(s, iterable, stmt.iter->where, "what the loop runs over")) {
    count_step(s, where);
    assign(s, scope, *stmt.target, item);
    Outcome o = exec(s, scope, stmt.body);
    if (o.flow == Flow::returned) return o;
    if (o.flow == Flow::broke) return {};
  }
  return exec(s, scope, stmt.orelse);
}

Outcome exec_with(Session& s, Scope& scope, const ast::With& with, const SourceRange& where) {
  if (with.items.size() != 1) fail_unsupported(where, "several contexts in one `with`");
  Value context = eval(s, scope, *with.items[0].context);
  const auto* frame = context.as<const FrameObject*>();
  if (!frame) {
    if (const auto* o = context.as<const OpaqueObject*>()) fail_opaque(**o, where, "the context");
    fail(where, kind_name(context) + " is no context of a kernel");
  }
  if (!scope.staged) fail(where, "a launch or section outside of @T.prim_func and @T.macro");
  if ((*frame)->kind == FrameKind::launch) return exec_launch(s, scope, with, **frame, where);
  Trace& t = need_launch(s, where, "T.ws");
  if (t.parallel_depth > 0) fail(where, "T.ws inside T.Parallel");
  MetaInt lo = (*frame)->lo, hi = (*frame)->hi;
  if (lo.value < t.lo) lo = MetaInt(t.lo);
  if (hi.value > t.hi) hi = MetaInt(t.hi);
  if (lo.value >= hi.value)
    fail(where, "threads " + std::to_string((*frame)->lo.value) + ".." + std::to_string((*frame)->hi.value - 1) +
                    " do not come here: threads " + std::to_string(t.lo) + ".." + std::to_string(t.hi - 1) + " do");
  return run_section(s, scope, lo, hi, where, [&](Scope& inner) { return exec(s, inner, with.body); });
}

Outcome exec_if_runtime(Session& s, Scope& scope, const ast::If& stmt, const Value& condition,
                        const SourceRange& where) {
  Trace& t = need_launch(s, where, "a run-time `if`");
  if (!scope.staged)
    fail(where, "a condition known at run time only, in a plain Python function; @T.macro makes it part of the kernel");
  ir::ValueId c = as_condition(s, condition, where);
  if (t.parallel_depth == 0) {
    int64_t count = 1;
    for (const MetaInt& e : t.threads) count *= e.value;
    std::vector<bool> here(static_cast<size_t>(count), false);
    std::fill(here.begin() + t.lo, here.begin() + t.hi, true);
    if (section_if(s, scope, stmt, c, here, where)) return {};
  }
  return plain_if(s, scope, stmt, c, where);
}

void store_element(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const Value& value,
                   const SourceRange& where) {
  Trace& t = need_launch(s, where, "a store");
  Value target = index_buffer(s, scope, buffer, index, where);
  const RegionObject& region = **target.as<const RegionObject*>();
  if (region.has_slice) fail_unsupported(where, "an assignment to a slice; T.copy and T.fill do that");
  if (buffer_type(s, buffer).space == ir::Space::barrier) fail(where, "a barrier cannot be stored to");
  std::vector<ir::ValueId> operands{buffer.id};
  for (const RegionDim& d : region.dims) operands.push_back(d.offset);
  operands.push_back(convert(s, to_scalar(s, value, where, "the stored value"), buffer_type(s, buffer).dtype));
  t.builder.op(OpKind::store, std::move(operands));
}

void store_var(Session& s, const BufferV& var, const Value& value, const SourceRange& where) {
  Trace& t = need_launch(s, where, "a store");
  ir::ValueId v = convert(s, to_scalar(s, value, where, "the stored value"), buffer_type(s, var).dtype);
  t.builder.op(OpKind::store, {var.id, constant(s, MetaInt(0)), v});
}

}  // namespace tc::eval
