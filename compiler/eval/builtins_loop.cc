// Launches, sections and loops: what `with` and `for` of a kernel take.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
constexpr int64_t kWarpgroup = 128;  // threads of a T.ws index

Value frame(Session& s, FrameObject f) {
  s.heap.frames.push_back(std::move(f));
  return Value{static_cast<const FrameObject*>(&s.heap.frames.back())};
}
Value loop(Session& s, LoopObject l) {
  s.heap.loops.push_back(std::move(l));
  return Value{static_cast<const LoopObject*>(&s.heap.loops.back())};
}

Value kernel(Session& s, Scope&, Args& a) {
  need_trace(s, a.where, "T.Kernel");
  a.refuse({"prelude", "cluster_dims"});
  FrameObject f{.kind = FrameKind::launch, .extents = {}, .threads = {}, .lo = {}, .hi = {}};
  if (a.rest.empty() || a.rest.size() > 3) fail(a.where, "T.Kernel takes one to three grid extents");
  for (const Value& v : a.rest) {
    if (const auto* i = v.as<MetaInt>(); i && i->value <= 0)
      fail(a.where, "a grid extent of " + std::to_string(i->value));
    f.extents.push_back(to_index(s, v, a.where, "a grid extent"));
  }
  if (const Value* threads = a.get("threads")) f.threads = to_shape(s, *threads, a.where);
  else f.threads = {MetaInt(128)};
  if (f.threads.size() > 3) fail(a.where, "a CTA has at most three dimensions");
  return frame(s, std::move(f));
}

// T.ws(i, j, …): the threads of those warpgroups; they have to be neighbours.
Value ws(Session& s, Scope&, Args& a) {
  need_launch(s, a.where, "T.ws");
  if (a.rest.empty()) fail(a.where, "T.ws takes at least one warpgroup");
  std::vector<int64_t> groups;
  for (const Value& v : a.rest) {
    MetaInt i = to_int(s, v, a.where, "a warpgroup of T.ws");
    pin(s, i, a.where);
    if (i.value < 0 || i.value > 7) fail(a.where, "warpgroup " + std::to_string(i.value));
    groups.push_back(i.value);
  }
  std::sort(groups.begin(), groups.end());
  for (size_t i = 1; i < groups.size(); ++i)
    if (groups[i] > groups[i - 1] + 1) fail_unsupported(a.where, "T.ws of warpgroups that are no neighbours");
  return frame(s, {.kind = FrameKind::ws,
                   .extents = {},
                   .threads = {},
                   .lo = MetaInt(kWarpgroup * groups.front()),
                   .hi = MetaInt(kWarpgroup * (groups.back() + 1))});
}

LoopObject bounds(Session& s, const Args& a) {
  need_launch(s, a.where, std::string("T.") + a.builtin->name);
  LoopObject l;
  const Value& start = a.need("start");
  bool two = a.given("stop");
  l.bounds = {{two ? to_index(s, start, a.where, "the start") : constant(s, MetaInt(0)),
               to_index(s, two ? a.need("stop") : start, a.where, "the end")}};
  if (const Value* step = a.get("step")) l.step = to_index(s, *step, a.where, "the step");
  return l;
}

Value serial(Session& s, Scope&, Args& a) {
  a.refuse({"annotations"});
  return loop(s, bounds(s, a));
}
Value unroll(Session& s, Scope&, Args& a) {
  a.refuse({"annotations"});
  LoopObject l = bounds(s, a);
  l.kind = LoopKind::unroll;
  if (const Value* e = a.get("explicit"); e && to_bool(s, *e, a.where, "explicit"))
    l.attrs.push_back({"explicit", MetaInt(1)});
  if (const Value* f = a.get("unroll_factor"))
    l.attrs.push_back({"unroll_factor", to_int(s, *f, a.where, "unroll_factor")});
  return loop(s, std::move(l));
}
Value vectorized(Session& s, Scope&, Args& a) {
  a.refuse({"annotations"});
  LoopObject l = bounds(s, a);
  l.kind = LoopKind::vectorized;
  return loop(s, std::move(l));
}
Value pipelined(Session& s, Scope&, Args& a) {
  a.refuse({"order", "stage", "sync", "group", "annotations"});
  LoopObject l = bounds(s, a);
  l.kind = LoopKind::pipelined;
  l.num_stages = a.given("num_stages") ? to_int(s, a.need("num_stages"), a.where, "num_stages") : MetaInt(0);
  if (l.num_stages.value < 0) fail(a.where, "num_stages is negative");
  if (l.num_stages.value == 0) l.kind = LoopKind::serial;
  return loop(s, std::move(l));
}
Value parallel(Session& s, Scope&, Args& a) {
  need_launch(s, a.where, "T.Parallel");
  a.refuse({"loop_layout", "prefer_async", "annotations"});
  if (a.rest.empty()) fail(a.where, "T.Parallel takes at least one extent");
  LoopObject l;
  l.kind = LoopKind::parallel;
  for (const Value& v : a.rest)
    l.bounds.emplace_back(constant(s, MetaInt(0)), to_index(s, v, a.where, "an extent of T.Parallel"));
  if (const Value* w = a.get("coalesced_width"))
    l.attrs.push_back({"coalesced_width", to_int(s, *w, a.where, "coalesced_width")});
  return loop(s, std::move(l));
}

// Which CTA gets which tile; every tile is still computed once. An attribute of the launch.
Value use_swizzle(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.use_swizzle");
  if (a.given("enable") && !to_bool(s, a.need("enable"), a.where, "enable")) return none();
  ir::set_attr(s.module[t.launch].attrs, "swizzle_panel", to_int(s, a.need("panel_size"), a.where, "panel_size"));
  std::string order = a.given("order") ? to_text(a.need("order"), a.where, "order") : "row";
  if (order != "row" && order != "column") fail(a.where, "the order of T.use_swizzle is row or column");
  ir::set_attr(s.module[t.launch].attrs, "swizzle_order", order);
  return none();
}

constexpr Builtin kRows[] = {
    {"T", "Kernel", "*blocks, threads=, prelude=, cluster_dims=", kernel},
    {"T", "ws", "*warp_group_idx", ws},
    {"T", "WarpSpecialize", "*warp_group_idx", ws},
    {"T", "serial", "start, stop=, step=, *, annotations=", serial},
    {"T", "Serial", "start, stop=, step=, *, annotations=", serial},
    {"T", "unroll", "start, stop=, step=, *, explicit=, unroll_factor=, annotations=", unroll},
    {"T", "Unroll", "start, stop=, step=, *, explicit=, unroll_factor=, annotations=", unroll},
    {"T", "vectorized", "start, stop=, *, annotations=", vectorized},
    {"T", "Vectorized", "start, stop=, *, annotations=", vectorized},
    {"T", "Pipelined", "start, stop=, num_stages=, order=, stage=, sync=, group=, annotations=", pipelined},
    {"T", "Parallel", "*extents, coalesced_width=, loop_layout=, prefer_async=, annotations=", parallel},
    {"T", "use_swizzle", "panel_size, order=, enable=", use_swizzle},
};
}  // namespace

std::span<const Builtin> loop_builtins() { return kRows; }

}  // namespace tc::eval
