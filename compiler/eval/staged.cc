// Statements that build the kernel: loops, launches, sections, run-time branches, stores.
// An `if` whose condition depends on nothing but the thread index makes sections (ir::OpKind::ws) of its branches, an
// elif chain a row of sections side by side; any other run-time `if` becomes an if op.
#include "compiler/eval/builtin.h"
#include "specs/arch.h"

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

void no_escape(const Outcome& o) {
  if (o.flow == Flow::returned) fail(o.where, "return inside a run-time block");
}

std::string_view loop_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "serial";
    case LoopKind::unroll: return "unroll";
    case LoopKind::vectorized: return "vectorized";
    case LoopKind::pipelined: return "pipelined";
    case LoopKind::parallel: return "parallel";
    case LoopKind::grid:
    case LoopKind::persistent:
    case LoopKind::thread: break;
  }
  return "";
}

// Binds the names of a loop inside its body: one name an index.
void bind_indices(Session& s, Scope& inner, const std::vector<std::string>& names,
                  const std::vector<ir::ValueId>& indices) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (s.module[indices[i]].name.empty() && s.module[indices[i]].def.valid()) s.module[indices[i]].name = names[i];
    inner.names[names[i]] = scalar(indices[i]);
  }
}

std::vector<std::string> loop_names(const ast::For& stmt, const LoopObject& loop, const SourceRange& where) {
  std::vector<std::string> names = target_names(*stmt.target);
  if (names.size() != loop.bounds.size())
    fail(where, "a loop of " + std::to_string(loop.bounds.size()) + " extents binds " + std::to_string(names.size()) +
                    " names");
  return names;
}

Outcome exec_parallel(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop,
                      const SourceRange& where) {
  Trace& t = *s.trace;
  std::vector<std::string> names = loop_names(stmt, loop, where);
  std::vector<ir::ValueId> extents;
  for (auto [lo, hi] : loop.bounds) extents.push_back(scalar_binary(s, OpKind::sub, hi, lo));
  ir::OpId op = t.builder.nest(OpKind::parallel, extents, names);
  s.module[op].attrs = loop.attrs;
  ++t.parallel_depth;
  Outcome o = run_block(s, scope, s.module[op].blocks[0], true, where, [&](Scope& inner) {
    inner.is_parallel = true;
    std::vector<ir::ValueId> indices;
    for (size_t i = 0; i < names.size(); ++i)
      indices.push_back(scalar_binary(s, OpKind::add, s.module[s.module[op].blocks[0]].args[i], loop.bounds[i].first));
    bind_indices(s, inner, names, indices);
    if (loop.layout) emit_loop_layout(s, Value{loop.layout}, std::nullopt, where);
    return exec(s, inner, stmt.body);
  });
  --t.parallel_depth;
  no_escape(o);
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
  no_escape(o);
  return {};
}

// T.grid: serial loops inside each other.
Outcome exec_grid(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop,
                  const std::vector<std::string>& names, std::vector<ir::ValueId> indices, const SourceRange& where) {
  Trace& t = *s.trace;
  size_t dim = indices.size();
  ir::OpId op = t.builder.nest(OpKind::for_, {loop.bounds[dim].first, loop.bounds[dim].second}, {names[dim]});
  ir::set_attr(s.module[op].attrs, "kind", std::string("serial"));
  indices.push_back(s.module[s.module[op].blocks[0]].args[0]);
  Outcome o = run_block(s, scope, s.module[op].blocks[0], true, where, [&](Scope& inner) {
    if (indices.size() < names.size()) return exec_grid(s, inner, stmt, loop, names, indices, where);
    bind_indices(s, inner, names, indices);
    return exec(s, inner, stmt.body);
  });
  no_escape(o);
  return {};
}

// T.Persistent: wave w of CTA `index` takes tile w * wave + index of the domain, padded so that the last dimension
// comes in groups of g = clamp(group, 1, last extent): digits (ceil(last / g), d0 … d(n-2), g), the last fastest.
// Source: tilelang/src/ir.cc, PersistentFor.
Outcome exec_persistent(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop,
                        const SourceRange& where) {
  Trace& t = *s.trace;
  std::vector<std::string> names = loop_names(stmt, loop, where);
  auto binary = [&](OpKind kind, ir::ValueId a, ir::ValueId b) { return scalar_binary(s, kind, a, b); };
  auto ceildiv = [&](ir::ValueId a, ir::ValueId b) {
    return binary(OpKind::floordiv, binary(OpKind::sub, binary(OpKind::add, a, b), constant(s, MetaInt(1))), b);
  };
  ir::ValueId last = loop.bounds.back().second;
  ir::ValueId group = binary(OpKind::max, constant(s, MetaInt(1)), binary(OpKind::min, loop.group, last));
  std::vector<ir::ValueId> digits{ceildiv(last, group)};
  for (size_t i = 0; i + 1 < loop.bounds.size(); ++i) digits.push_back(loop.bounds[i].second);
  digits.push_back(group);
  ir::ValueId total = digits[0];
  for (size_t i = 1; i < digits.size(); ++i) total = binary(OpKind::mul, total, digits[i]);
  ir::OpId op = t.builder.nest(OpKind::for_, {constant(s, MetaInt(0)), ceildiv(total, loop.wave)}, {"wave"});
  ir::set_attr(s.module[op].attrs, "kind", std::string("serial"));
  for (const ir::Attr& a : loop.attrs) ir::set_attr(s.module[op].attrs, a.name, a.value);
  Outcome o = run_block(s, scope, s.module[op].blocks[0], true, where, [&](Scope& inner) {
    ir::ValueId w = s.module[s.module[op].blocks[0]].args[0];
    ir::ValueId tile = binary(OpKind::add, binary(OpKind::mul, w, loop.wave), loop.index);
    ir::OpId leave = t.builder.op(OpKind::if_, {binary(OpKind::ge, tile, total)});
    s.module[leave].blocks = {s.module.new_block(), s.module.new_block()};
    s.module.new_op(s.module[leave].blocks[0], OpKind::break_, {}, {}, where);
    std::vector<ir::ValueId> digit(digits.size());
    ir::ValueId rest = tile;
    for (size_t i = digits.size(); i-- > 1;) {
      digit[i] = binary(OpKind::floormod, rest, digits[i]);
      rest = binary(OpKind::floordiv, rest, digits[i]);
    }
    std::vector<ir::ValueId> coordinates(digit.begin() + 1, digit.end() - 1);
    coordinates.push_back(binary(OpKind::add, binary(OpKind::mul, rest, group), digit.back()));
    ir::OpId inside = t.builder.op(OpKind::if_, {binary(OpKind::lt, coordinates.back(), last)});
    s.module[inside].blocks = {s.module.new_block(), s.module.new_block()};
    return run_block(s, inner, s.module[inside].blocks[0], false, where, [&](Scope& body) {
      bind_indices(s, body, names, coordinates);
      return exec(s, body, stmt.body);
    });
  });
  no_escape(o);
  return {};
}

// A run-time loop of any kind.
Outcome exec_runtime_loop(Session& s, Scope& scope, const ast::For& stmt, const LoopObject& loop,
                          const SourceRange& where) {
  bool pipelined = loop.kind == LoopKind::pipelined;
  if (pipelined && s.trace->parallel_depth > 0) fail_rule(where, "LANG-01", "a pipelined loop inside a parallel loop");
  switch (loop.kind) {
    case LoopKind::parallel: return exec_parallel(s, scope, stmt, loop, where);
    case LoopKind::grid: return exec_grid(s, scope, stmt, loop, loop_names(stmt, loop, where), {}, where);
    case LoopKind::persistent: return exec_persistent(s, scope, stmt, loop, where);
    case LoopKind::thread: {
      std::vector<std::string> names = loop_names(stmt, loop, where);
      bind_indices(s, scope, names, {loop.bounds[0].first});
      return exec(s, scope, stmt.body);
    }
    case LoopKind::serial:
    case LoopKind::unroll:
    case LoopKind::vectorized:
    case LoopKind::pipelined: return exec_loop(s, scope, stmt, loop, where);
  }
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

Outcome run_section(Session& s, Scope& scope, const std::vector<std::pair<MetaInt, MetaInt>>& ranges,
                    const SourceRange& where, const std::function<Outcome(Scope&)>& body) {
  Trace& t = *s.trace;
  ir::OpId op = t.builder.nest(OpKind::ws, {}, {});
  ThreadRanges inside;
  std::vector<MetaInt> flat;
  for (const auto& [lo, hi] : ranges) {
    inside.emplace_back(lo.value, hi.value);
    flat.insert(flat.end(), {lo, hi});
  }
  auto& attrs = s.module[op].attrs;
  ir::set_attr(attrs, "lo", ranges.front().first);
  ir::set_attr(attrs, "hi", ranges.back().second);
  if (ranges.size() > 1) ir::set_attr(attrs, "ranges", std::move(flat));
  std::swap(t.here, inside);
  Outcome o = run_block(s, scope, s.module[op].blocks[0], false, where, body);
  std::swap(t.here, inside);
  no_escape(o);
  return {};
}

Outcome plain_if(Session& s, Scope& scope, const ast::If& stmt, ir::ValueId condition, const SourceRange& where) {
  Trace& t = *s.trace;
  ir::OpId op = t.builder.op(OpKind::if_, {condition});
  s.module[op].blocks = {s.module.new_block(), s.module.new_block()};
  std::vector<ir::BlockId> blocks = s.module[op].blocks;
  no_escape(run_block(s, scope, blocks[0], false, where, [&](Scope& inner) { return exec(s, inner, stmt.body); }));
  if (!stmt.orelse.empty())
    no_escape(run_block(s, scope, blocks[1], false, where, [&](Scope& inner) { return exec(s, inner, stmt.orelse); }));
  return {};
}

SourceRange header_range(const ast::Stmt& stmt, ast::ExprRef last) {
  return {stmt.where.file, stmt.where.line, stmt.where.column, last->where.end_line, last->where.end_column};
}

// A condition in two: the threads it can hold for, and what else it asks (invalid: nothing).
//   rank == 0 and tx < 64: threads 0 … 63, and rank == 0
struct ThreadCondition {
  std::vector<bool> threads;
  ir::ValueId also;
};
std::optional<ThreadCondition> thread_condition(Session& s, ir::ValueId condition, int64_t count) {
  if (auto threads = threads_where(s, condition, count)) return ThreadCondition{std::move(*threads), {}};
  ir::OpId def = s.module[condition].def;
  if (!def.valid() || s.module[def].kind != OpKind::logical_and) return std::nullopt;
  std::vector<ir::ValueId> sides = s.module[def].operands;
  auto x = thread_condition(s, sides[0], count), y = thread_condition(s, sides[1], count);
  if (!x && !y) return std::nullopt;
  if (!x) return ThreadCondition{std::move(y->threads), y->also.valid() ? condition : sides[0]};
  if (!y) return ThreadCondition{std::move(x->threads), x->also.valid() ? condition : sides[1]};
  for (size_t i = 0; i < x->threads.size(); ++i) x->threads[i] = x->threads[i] && y->threads[i];
  return ThreadCondition{std::move(x->threads), condition};
}

// `remaining`: the threads that come to this `if`. Returns false where sections cannot express it (nothing was built).
bool section_if(Session& s, Scope& scope, const ast::If& stmt, ir::ValueId condition, std::vector<bool> remaining,
                const SourceRange& where) {
  auto split = thread_condition(s, condition, static_cast<int64_t>(remaining.size()));
  if (!split) return false;
  std::vector<bool>* chosen = &split->threads;
  std::vector<bool> rest = remaining;
  for (size_t i = 0; i < remaining.size(); ++i) {
    (*chosen)[i] = (*chosen)[i] && remaining[i];
    rest[i] = remaining[i] && !(*chosen)[i];
  }
  auto then = intervals(*chosen), otherwise = intervals(rest);
  // A role is of whole warps; single threads under a condition of their own are no role.
  auto in_warps = [](std::pair<int64_t, int64_t> i) { return (i.second - i.first) % kWarpLanes == 0; };
  if (split->also.valid() && !std::all_of(then.begin(), then.end(), in_warps)) return false;
  const auto* chained = stmt.orelse.size() == 1 ? std::get_if<ast::If>(&stmt.orelse[0]->node) : nullptr;
  if (then.size() > 1 || (otherwise.size() > 1 && !stmt.orelse.empty() && !chained)) return false;
  if (!then.empty())
    run_section(s, scope, {{MetaInt(then[0].first), MetaInt(then[0].second)}}, where, [&](Scope& inner) {
      if (split->also.valid()) return plain_if(s, inner, stmt, split->also, where);
      return exec(s, inner, stmt.body);
    });
  if (stmt.orelse.empty() || otherwise.empty()) return true;
  if (chained) {
    SourceRange header = header_range(*stmt.orelse[0], chained->test);
    s.trace->builder.loc = header;
    Value test = eval(s, scope, *chained->test);
    if (is_runtime(test) && section_if(s, scope, *chained, as_condition(s, test, header), rest, header)) return true;
  }
  s.trace->builder.loc = where;
  std::vector<std::pair<MetaInt, MetaInt>> others;
  for (auto [lo, hi] : otherwise) others.emplace_back(MetaInt(lo), MetaInt(hi));
  run_section(s, scope, others, where, [&](Scope& inner) { return exec(s, inner, stmt.orelse); });
  return true;
}

// Attributes of a launch. Returns its number of threads.
MetaInt describe_launch(Session& s, ir::OpId op, const FrameObject& frame, const SourceRange& where) {
  MetaInt threads(1);
  for (const MetaInt& e : frame.threads) threads = meta(s, ir::MetaKind::mul, threads, e, where);
  if (threads.value > 1024) fail(where, std::to_string(threads.value) + " threads in a CTA, more than 1024");
  auto& attrs = s.module[op].attrs;
  ir::set_attr(attrs, "threads", threads);
  if (frame.threads.size() > 1) ir::set_attr(attrs, "block", frame.threads);
  if (!frame.cluster.empty()) ir::set_attr(attrs, "cluster", frame.cluster);
  for (const ir::Attr& a : frame.attrs) ir::set_attr(attrs, a.name, a.value);
  return threads;
}

// What stands inside of a `with`: the next context, or the body.
using Inside = std::function<Outcome(Scope&)>;

Outcome exec_launch(Session& s, Scope& scope, const ast::WithItem& item, const FrameObject& frame, const Inside& inside,
                    const SourceRange& where) {
  Trace& t = need_trace(s, where, "a launch");
  if (t.eager && t.eager->probing) throw LaunchReached{};
  if (!t.threads.empty()) fail(where, "a launch inside a launch");
  std::vector<std::string> names;
  if (item.target) names = target_names(*item.target);
  bool bundled = names.size() == 1 && frame.extents.size() > 1;  // one name for all: a list
  std::string bundle = bundled ? std::exchange(names, {})[0] : std::string();
  if (!names.empty() && names.size() != frame.extents.size())
    fail(where, "the grid has " + std::to_string(frame.extents.size()) + " dimensions, the launch binds " +
                    std::to_string(names.size()) + " names");
  names.resize(frame.extents.size());
  ir::OpId op = t.builder.nest(OpKind::launch, frame.extents, names);
  MetaInt threads = describe_launch(s, op, frame, where);
  t.launch = op;
  t.threads = frame.threads;
  t.cluster = frame.cluster;
  t.here = {{0, threads.value}};
  Outcome o = run_block(s, scope, s.module[op].blocks[0], false, where, [&](Scope& inner) {
    for (size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty()) inner.names[names[i]] = scalar(s.module[s.module[op].blocks[0]].args[i]);
    if (bundled) {
      std::vector<Value> all;
      for (ir::ValueId v : s.module[s.module[op].blocks[0]].args) all.push_back(scalar(v));
      inner.names[bundle] = list(s, std::move(all));
    }
    return inside(inner);
  });
  t.threads.clear();
  no_escape(o);
  return {};
}

std::string ranges_text(const ThreadRanges& ranges) {
  std::string out;
  for (auto [lo, hi] : ranges) out += (out.empty() ? "" : ", ") + std::to_string(lo) + ".." + std::to_string(hi - 1);
  return out;
}

// The threads of T.ws that come here at all.
Outcome exec_ws(Session& s, Scope& scope, const FrameObject& frame, const Inside& inside, const SourceRange& where) {
  Trace& t = need_launch(s, where, "T.ws");
  if (t.parallel_depth > 0) fail(where, "T.ws inside T.Parallel");
  std::vector<std::pair<MetaInt, MetaInt>> ranges;
  ThreadRanges wanted;
  for (const auto& [lo, hi] : frame.ranges) {
    wanted.emplace_back(lo.value, hi.value);
    for (auto [from, to] : t.here) {
      MetaInt first = lo.value < from ? MetaInt(from) : lo, last = hi.value > to ? MetaInt(to) : hi;
      if (first.value < last.value) ranges.emplace_back(first, last);
    }
  }
  if (ranges.empty())
    fail(where, "threads " + ranges_text(wanted) + " do not come here: threads " + ranges_text(t.here) + " do");
  return run_section(s, scope, ranges, where, inside);
}

// Marks what the body does; no scope of its own.
Outcome exec_attribute(Session& s, Scope& scope, const FrameObject& frame, const Inside& inside,
                       const SourceRange& where) {
  ir::BlockId block = need_launch(s, where, "an annotation").builder.block;
  size_t first = s.module[block].ops.size();
  Outcome o = inside(scope);
  for (size_t i = first; i < s.module[block].ops.size(); ++i) {
    ir::Op& op = s.module[s.module[block].ops[i]];
    if (!op.results.empty()) continue;
    for (const ir::Attr& a : frame.attrs) ir::set_attr(op.attrs, a.name, a.value);
  }
  return o;
}
}  // namespace

void emit_source_launch(Session& s, const FrameObject& frame, const SourceRange& where) {
  Trace& t = need_trace(s, where, "a launch");
  if (!t.threads.empty()) fail(where, "a launch inside a launch");
  ir::OpId op = t.builder.nest(OpKind::launch, frame.extents, std::vector<std::string>(frame.extents.size()));
  describe_launch(s, op, frame, where);
}

Outcome exec_for(Session& s, Scope& scope, const ast::For& stmt, const SourceRange& where) {
  Value iterable = eval(s, scope, *stmt.iter);
  const auto* loop = iterable.as<const LoopObject*>();
  if (!stmt.orelse.empty() && loop) fail_unsupported(where, "else of a run-time loop");
  if (loop && !scope.staged)
    fail(where, "a run-time loop in a plain Python function; @T.macro makes it part of the kernel");
  if (loop) {
    need_launch(s, where, "a loop");
    return exec_runtime_loop(s, scope, stmt, **loop, where);
  }
  if (scope.staged && iterable.is<const RangeObject*>()) need_launch(s, where, "a loop");
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

Outcome exec_while_runtime(Session& s, Scope& scope, const ast::While& stmt, const SourceRange& where) {
  Trace& t = *s.trace;
  if (!stmt.orelse.empty()) fail_unsupported(where, "else of a run-time loop");
  ir::BlockId test = s.module.new_block(), body = s.module.new_block(), outer = t.builder.block;
  std::optional<bool> known;
  // Test and body are one scope: a name that the body binds anew and the test reads would not change.
  Outcome o = run_block(s, scope, body, true, where, [&](Scope& inner) -> Outcome {
    size_t constants = t.constants.size();
    t.builder.block = test;
    Value condition = eval(s, inner, *stmt.test);
    known = truth(s, condition, where);
    if (known) return {};
    t.builder.op(OpKind::condition, {as_condition(s, condition, where)});
    t.constants.resize(constants);
    ir::OpId op = s.module.new_op(outer, OpKind::while_, {}, {}, where);
    s.module[op].blocks = {test, body};
    t.builder.block = body;
    return exec(s, inner, stmt.body);
  });
  if (known && *known) fail(where, "a `while` whose condition is always true");
  no_escape(o);
  return {};
}

namespace {
// with A, B: is with A: with B:
// with T.If(c): with T.Then(): … with T.Else(): …
Outcome exec_if_frame(Session& s, Scope& scope, const FrameObject& frame, const Inside& inside,
                      const SourceRange& where) {
  Trace& t = *s.trace;
  if (frame.kind == FrameKind::if_) {
    const Value& condition = frame.condition[0];
    auto known = is_runtime(condition) ? std::nullopt : truth(s, condition, where);
    ir::OpId op;
    if (!known) {
      op = t.builder.op(OpKind::if_, {as_condition(s, condition, where)});
      s.module[op].blocks = {s.module.new_block(), s.module.new_block()};
    }
    t.ifs.emplace_back(op, known.value_or(false));
    Outcome o = inside(scope);
    t.ifs.pop_back();
    return o;
  }
  bool then = frame.kind == FrameKind::then;
  if (t.ifs.empty()) fail(where, then ? "T.Then() outside of T.If" : "T.Else() outside of T.If");
  auto [op, holds] = t.ifs.back();
  if (!op.valid()) return holds == then ? inside(scope) : Outcome{};
  no_escape(run_block(s, scope, s.module[op].blocks[then ? 0 : 1], false, where, inside));
  return {};
}

Outcome exec_with_item(Session& s, Scope& scope, const ast::With& with, size_t at, const SourceRange& where) {
  if (at == with.items.size()) return exec(s, scope, with.body);
  const ast::WithItem& item = with.items[at];
  s.trace->builder.loc = where;
  Value context = eval(s, scope, *item.context);
  Inside inside = [&](Scope& inner) { return exec_with_item(s, inner, with, at + 1, where); };
  const auto* frame = context.as<const FrameObject*>();
  if (const auto* o = context.as<const OpaqueObject*>()) {
    if (!is_instrumentation(**o)) fail_opaque(**o, item.context->where, "the context");
    warn(s, item.context->where, (*o)->what + " does nothing here");
    return inside(scope);
  }
  if (!frame) fail(item.context->where, kind_name(context) + " is no context of a kernel");
  if (!scope.staged) fail(where, "a launch or section outside of @T.prim_func and @T.macro");
  if ((*frame)->kind == FrameKind::launch) return exec_launch(s, scope, item, **frame, inside, where);
  if ((*frame)->kind >= FrameKind::if_) return exec_if_frame(s, scope, **frame, inside, where);
  if ((*frame)->kind == FrameKind::attribute) return exec_attribute(s, scope, **frame, inside, where);
  return exec_ws(s, scope, **frame, inside, where);
}
}  // namespace

// Marks of the library's profiling tool: they change nothing that a kernel computes.
bool is_instrumentation(const OpaqueObject& o) { return o.what.starts_with("cuda.iket."); }

Outcome exec_with(Session& s, Scope& scope, const ast::With& with, const SourceRange& where) {
  need_trace(s, where, "a context of a kernel");
  return exec_with_item(s, scope, with, 0, where);
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
    for (auto [lo, hi] : t.here) std::fill(here.begin() + lo, here.begin() + hi, true);
    if (section_if(s, scope, stmt, c, here, where)) return {};
  }
  return plain_if(s, scope, stmt, c, where);
}

void store_element(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const Value& value,
                   const SourceRange& where) {
  need_launch(s, where, "a store");
  Value target = index_buffer(s, scope, buffer, index, where);
  const RegionObject& region = **target.as<const RegionObject*>();
  if (region.has_slice) return store_slice(s, region, value, where);
  store_region(s, region, value, where);
}

void store_region(Session& s, const RegionObject& region, const Value& value, const SourceRange& where) {
  Trace& t = need_launch(s, where, "a store");
  const ir::Type type = buffer_type(s, region.buffer);
  if (type.space == ir::Space::barrier) fail(where, "a barrier cannot be stored to");
  std::vector<ir::ValueId> operands{region.buffer.id};
  for (const RegionDim& d : region.dims) operands.push_back(d.offset);
  ir::ValueId stored = convert(s, to_scalar(s, value, where, "the stored value"), type.dtype);
  uint32_t lanes = s.module[stored].type.lanes;
  if (lanes == 1 && type.lanes > 1)
    stored = t.builder.call("broadcast", {stored}, ir::Type::scalar(type.dtype, type.lanes));
  else if (lanes != type.lanes)
    fail(where, "a vector of " + std::to_string(lanes) + " lanes for an element of " + std::to_string(type.lanes));
  operands.push_back(stored);
  t.builder.op(OpKind::store, std::move(operands));
}

void store_var(Session& s, const BufferV& var, const Value& value, const SourceRange& where) {
  Trace& t = need_launch(s, where, "a store");
  ir::ValueId v = convert(s, to_scalar(s, value, where, "the stored value"), buffer_type(s, var).dtype);
  t.builder.op(OpKind::store, {var.id, constant(s, MetaInt(0)), v});
}

}  // namespace tc::eval
