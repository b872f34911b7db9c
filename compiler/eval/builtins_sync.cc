// Barriers and thread indices. An mbarrier is named by its array and an index; an array of one may be named without.
#include "compiler/eval/builtin.h"

namespace tc::eval {
using ir::MetaInt;
using ir::OpKind;

std::pair<ir::ValueId, ir::ValueId> to_barrier(Session& s, const Value& v, const SourceRange& where) {
  const auto* b = v.as<BufferV>();
  const auto* r = v.as<const RegionObject*>();
  const BufferV* buffer = b ? b : r ? &(*r)->buffer : nullptr;
  if (!buffer || buffer_type(s, *buffer).space != ir::Space::barrier)
    fail(where, "the barrier has to come from T.alloc_barrier, not be " + kind_name(v));
  if (r && (*r)->has_slice) fail(where, "one barrier has to be named, not a slice of them");
  if (b && buffer_type(s, *b).shape[0].value != 1)
    fail(where, "'" + s.module[b->id].name + "' is an array of " + std::to_string(buffer_type(s, *b).shape[0].value) +
                    " barriers and needs an index");
  return {buffer->id, r ? (*r)->dims[0].offset : constant(s, MetaInt(0))};
}

namespace {
Trace& enter(Session& s, const Args& a) {
  Trace& t = need_launch(s, a.where, std::string("T.") + a.builtin->name);
  if (t.parallel_depth > 0) fail(a.where, std::string("T.") + a.builtin->name + " inside T.Parallel");
  return t;
}

Value wait(Session& s, Scope&, Args& a) {
  Trace& t = enter(s, a);
  auto [barrier, index] = to_barrier(s, a.need("mbarrier"), a.where);
  ir::ValueId parity = to_index(s, a.need("parity"), a.where, "the parity");
  t.builder.op(OpKind::mbarrier_wait, {barrier, index, parity});
  return none();
}
Value arrive(Session& s, Scope&, Args& a) {
  Trace& t = enter(s, a);
  a.refuse({"cta_id"});
  auto [barrier, index] = to_barrier(s, a.need("mbarrier"), a.where);
  t.builder.op(OpKind::mbarrier_arrive, {barrier, index});
  return none();
}
Value expect(Session& s, const Args& a, OpKind kind) {
  Trace& t = enter(s, a);
  auto [barrier, index] = to_barrier(s, a.need("mbarrier"), a.where);
  MetaInt bytes = to_int(s, a.need("tx"), a.where, "the expected bytes");
  ir::OpId op = t.builder.op(kind, {barrier, index});
  ir::set_attr(s.module[op].attrs, "bytes", bytes);
  return none();
}
Value expect_tx(Session& s, Scope&, Args& a) { return expect(s, a, OpKind::mbarrier_expect_tx); }
Value arrive_expect_tx(Session& s, Scope&, Args& a) { return expect(s, a, OpKind::mbarrier_arrive_expect_tx); }

Value sync_threads(Session& s, Scope&, Args& a) {
  Trace& t = enter(s, a);
  ir::OpId op = t.builder.op(OpKind::sync_threads, {});
  if (const Value* id = a.get("barrier_id"))
    ir::set_attr(s.module[op].attrs, "id", to_int(s, *id, a.where, "barrier_id"));
  if (const Value* n = a.get("arrive_count"))
    ir::set_attr(s.module[op].attrs, "threads", to_int(s, *n, a.where, "arrive_count"));
  return none();
}

// Dimension `dim` of the thread index: x is the fastest.
ir::ValueId thread_binding(Session& s, Trace& t, int64_t dim) {
  ir::ValueId id = t.builder.thread_index();
  if (t.threads.size() == 1) return id;
  for (int64_t i = 0; i < dim; ++i)
    id = scalar_binary(s, OpKind::floordiv, id, constant(s, t.threads[static_cast<size_t>(i)]));
  bool last = dim + 1 == static_cast<int64_t>(t.threads.size());
  return last ? id : scalar_binary(s, OpKind::floormod, id, constant(s, t.threads[static_cast<size_t>(dim)]));
}
Value get_thread_binding(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.get_thread_binding");
  MetaInt dim = a.given("dim") ? to_int(s, a.need("dim"), a.where, "the dimension") : MetaInt(0);
  if (dim.value < 0 || dim.value > 2) fail(a.where, "dimension " + std::to_string(dim.value) + " of a thread index");
  if (dim.value >= static_cast<int64_t>(t.threads.size())) return integer(0);
  return scalar(thread_binding(s, t, dim.value));
}
Value get_thread_bindings(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.get_thread_bindings");
  std::vector<Value> out;
  for (int64_t i = 0; i < 3; ++i)
    out.push_back(i < static_cast<int64_t>(t.threads.size()) ? scalar(thread_binding(s, t, i)) : integer(0));
  return tuple(s, std::move(out));
}
Value get_thread_extent(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.get_thread_extent");
  MetaInt dim = a.given("dim") ? to_int(s, a.need("dim"), a.where, "the dimension") : MetaInt(0);
  bool there = dim.value >= 0 && dim.value < static_cast<int64_t>(t.threads.size());
  return integer(there ? t.threads[static_cast<size_t>(dim.value)] : MetaInt(1));
}
Value get_block_binding(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.get_block_binding");
  MetaInt dim = a.given("dim") ? to_int(s, a.need("dim"), a.where, "the dimension") : MetaInt(0);
  const auto& args = s.module[s.module[t.launch].blocks[0]].args;
  if (dim.value < 0 || dim.value >= static_cast<int64_t>(args.size())) return integer(0);
  return scalar(args[static_cast<size_t>(dim.value)]);
}

constexpr Builtin kRows[] = {
    {"T", "mbarrier_wait_parity", "mbarrier, parity", wait},
    {"T", "barrier_wait", "mbarrier, parity", wait},
    {"T", "mbarrier_arrive", "mbarrier, cta_id=", arrive},
    {"T", "barrier_arrive", "mbarrier", arrive},
    {"T", "mbarrier_expect_tx", "mbarrier, tx", expect_tx},
    {"T", "mbarrier_arrive_expect_tx", "mbarrier, tx", arrive_expect_tx},
    {"T", "sync_threads", "barrier_id=, arrive_count=", sync_threads},
    {"T", "get_thread_binding", "dim=", get_thread_binding},
    {"T", "get_thread_bindings", "", get_thread_bindings},
    {"T", "get_thread_extent", "dim=", get_thread_extent},
    {"T", "get_block_binding", "dim=", get_block_binding},
};
}  // namespace

std::span<const Builtin> sync_builtins() { return kRows; }

}  // namespace tc::eval
