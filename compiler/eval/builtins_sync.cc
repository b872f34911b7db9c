// Barriers. An mbarrier is named by its array and an index; an array without one means its first.
// Source: tilelang/language/builtin.py.
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
// With cta_id on the barrier of that CTA of the cluster.
Value arrive(Session& s, Scope&, Args& a) {
  Trace& t = enter(s, a);
  auto [barrier, index] = to_barrier(s, a.need("mbarrier"), a.where);
  if (!a.given("cta_id")) {
    t.builder.op(OpKind::mbarrier_arrive, {barrier, index});
    return none();
  }
  ir::OpId def = s.module[barrier].def;
  if (!def.valid() || !ir::int_attr(s.module[def], "cluster", 0))
    fail(a.where, "cta_id is for barriers of T.alloc_cluster_barrier");
  t.builder.call("mbarrier_arrive_remote", {barrier, index, index_arg(s, a, "cta_id")});
  return none();
}
Value expect(Session& s, const Args& a, OpKind kind) {
  Trace& t = enter(s, a);
  auto [barrier, index] = to_barrier(s, a.need("mbarrier"), a.where);
  if (is_runtime(a.need("tx"))) fail_unsupported(a.where, "a number of expected bytes known at run time only");
  MetaInt bytes = to_int(s, a.need("tx"), a.where, "the expected bytes");
  ir::OpId op = t.builder.op(kind, {barrier, index});
  ir::set_attr(s.module[op].attrs, "bytes", bytes);
  return none();
}
Value expect_tx(Session& s, Scope&, Args& a) { return expect(s, a, OpKind::mbarrier_expect_tx); }
Value arrive_expect_tx(Session& s, Scope&, Args& a) { return expect(s, a, OpKind::mbarrier_arrive_expect_tx); }

Value sync_threads(Session& s, Scope&, Args& a) {
  Trace& t = enter(s, a);
  const Value *id = a.get("barrier_id"), *n = a.get("arrive_count");
  if ((id && is_runtime(*id)) || (n && is_runtime(*n))) {
    MetaInt all(1);
    for (const MetaInt& e : t.threads) all = meta(s, ir::MetaKind::mul, all, e, a.where);
    ir::ValueId count = n ? index_arg(s, a, "arrive_count") : constant(s, all);
    t.builder.call("named_barrier_sync", {id ? index_arg(s, a, "barrier_id") : constant(s, MetaInt(0)), count});
    return none();
  }
  ir::OpId op = t.builder.op(OpKind::sync_threads, {});
  if (id) set(s, op, "id", to_int(s, *id, a.where, "barrier_id"));
  if (n) set(s, op, "threads", to_int(s, *n, a.where, "arrive_count"));
  return none();
}

// All CTAs: a cooperative launch.
Value sync_grid(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  t.builder.call("sync_grid", {});
  return none();
}

// T.cp_async_wait and its kin: how many groups may still be under way.
Value pending(Session& s, Args& a, OpKind kind, const char* name) {
  Trace& t = enter(s, a);
  MetaInt n = to_int(s, a.need(name), a.where, "the number of groups");
  if (n.value < 0) fail(a.where, "a negative number of groups");
  set(s, t.builder.op(kind, {}), "pending", n);
  return none();
}
Value wait_wgmma(Session& s, Scope&, Args& a) { return pending(s, a, OpKind::wgmma_wait, "id"); }
Value warpgroup_wait(Session& s, Scope&, Args& a) { return pending(s, a, OpKind::wgmma_wait, "num_mma"); }
Value ptx_wait_group(Session& s, Scope&, Args& a) { return pending(s, a, OpKind::cp_async_wait, "num"); }

Value plain(Session& s, const Args& a, OpKind kind) { return enter(s, a).builder.op(kind, {}), none(); }
Value warpgroup_arrive(Session& s, Scope&, Args& a) { return plain(s, a, OpKind::wgmma_fence); }
Value warpgroup_commit(Session& s, Scope&, Args& a) { return plain(s, a, OpKind::wgmma_commit); }
Value ptx_commit_group(Session& s, Scope&, Args& a) { return plain(s, a, OpKind::cp_async_commit); }
Value fence_proxy_async(Session& s, Scope&, Args& a) { return plain(s, a, OpKind::fence_proxy_async); }
Value fence_barrier_init(Session& s, Scope&, Args& a) { return plain(s, a, OpKind::fence_mbarrier_init); }

Value set_registers(Session& s, const Args& a, bool increase) {
  Trace& t = enter(s, a);
  MetaInt count = to_int(s, a.need("reg_count"), a.where, "the number of registers");
  if (count.value < 24 || count.value > 256 || count.value % 8 != 0)
    fail(a.where, "setmaxnreg takes a multiple of 8 from 24 to 256, not " + std::to_string(count.value));
  ir::OpId op = t.builder.call("set_max_nreg", {});
  set(s, op, "count", count);
  set(s, op, "increase", MetaInt(increase));
  return none();
}
Value set_max_nreg(Session& s, Scope&, Args& a) { return set_registers(s, a, flag(s, a, "is_inc")); }
Value inc_max_nreg(Session& s, Scope&, Args& a) { return set_registers(s, a, true); }
Value dec_max_nreg(Session& s, Scope&, Args& a) { return set_registers(s, a, false); }

constexpr Builtin kRows[] = {
    {"T", "mbarrier_wait_parity", "mbarrier, parity", wait},
    {"T", "barrier_wait", "mbarrier, parity", wait},
    {"T", "mbarrier_arrive", "mbarrier, cta_id=", arrive},
    {"T", "barrier_arrive", "mbarrier", arrive},
    {"T", "ptx_arrive_cluster_barrier", "mbarrier, cta_id", arrive},
    {"T", "mbarrier_expect_tx", "mbarrier, tx", expect_tx},
    {"T", "mbarrier_arrive_expect_tx", "mbarrier, tx", arrive_expect_tx},
    {"T", "sync_threads", "barrier_id=, arrive_count=", sync_threads},
    {"T", "sync_grid", "", sync_grid},
    {"T", "wait_wgmma", "id", wait_wgmma},
    {"T", "warpgroup_wait", "num_mma", warpgroup_wait},
    {"T", "warpgroup_arrive", "", warpgroup_arrive},
    {"T", "warpgroup_commit_batch", "", warpgroup_commit},
    {"T", "ptx_commit_group", "", ptx_commit_group},
    {"T", "ptx_wait_group", "num", ptx_wait_group},
    {"T", "fence_proxy_async", "", fence_proxy_async},
    {"T", "ptx_fence_barrier_init", "", fence_barrier_init},
    {"T", "set_max_nreg", "reg_count, is_inc", set_max_nreg},
    {"T", "inc_max_nreg", "reg_count", inc_max_nreg},
    {"T", "dec_max_nreg", "reg_count", dec_max_nreg},
};
}  // namespace

std::span<const Builtin> sync_builtins() { return kRows; }

}  // namespace tc::eval
