// Launches, sections, and the indices of threads, CTAs and clusters. Source: tilelang/language/kernel.py,
// tilelang/cuda/language/warpgroup.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;
constexpr int64_t kWarpgroup = 128;  // threads of a T.ws index
constexpr int64_t kWarp = 32;

Value frame(Session& s, FrameObject f) {
  s.heap.frames.push_back(std::move(f));
  return Value{static_cast<const FrameObject*>(&s.heap.frames.back())};
}

std::vector<MetaInt> dimensions(Session& s, const Args& a, const Value& v, std::string_view what) {
  if (is_runtime(v)) fail(a.where, "the size of " + std::string(what) + " has to be known when the kernel is built");
  std::vector<MetaInt> dims = to_shape(s, v, a.where, 0);
  for (const MetaInt& e : dims)
    if (e.dynamic() || e.value < 1)
      fail(a.where, std::string(what) + " of " + ir::meta_text(s.module, e) + " in one dimension");
  if (dims.size() > 3) fail(a.where, std::string(what) + " has at most three dimensions");
  return dims;
}

FrameObject launch(Session& s, Args& a) {
  traced(s, a);
  FrameObject f{.kind = FrameKind::launch, .extents = {}, .threads = {}, .cluster = {}, .attrs = {}, .ranges = {}};
  if (a.rest.size() > 3) fail(a.where, std::string("T.") + a.builtin->name + " takes up to three grid extents");
  if (a.rest.empty()) f.extents.push_back(constant(s, MetaInt(1)));  // one CTA
  for (const Value& v : a.rest) {
    if (const auto* i = v.as<MetaInt>(); i && i->value <= 0)
      fail(a.where, "a grid extent of " + std::to_string(i->value));
    f.extents.push_back(to_index(s, v, a.where, "a grid extent"));
  }
  if (const Value* threads = a.get("threads")) f.threads = dimensions(s, a, *threads, "a CTA");
  else f.threads = {MetaInt(128)};
  if (const Value* cluster = a.get("cluster_dims")) {
    f.cluster = dimensions(s, a, *cluster, "a cluster");
    f.cluster.resize(3, MetaInt(1));
    MetaInt size(1);
    for (const MetaInt& e : f.cluster) size = meta(s, ir::MetaKind::mul, size, e, a.where);
    if (size.value > 16) fail(a.where, "a cluster of " + std::to_string(size.value) + " CTAs, more than 16");
    if (size.value == 1) f.cluster.clear();
  }
  if (const Value* prelude = a.get("prelude")) f.attrs.push_back({"prelude", to_text(*prelude, a.where, "prelude")});
  return f;
}
Value kernel(Session& s, Scope&, Args& a) { return frame(s, launch(s, a)); }

// A launch of source text: the body is not ours to read.
Value source_kernel(Session& s, Scope&, Args& a) {
  FrameObject f = launch(s, a);
  f.attrs.push_back({"source", to_text(a.need("source_code_or_path"), a.where, "the source")});
  f.attrs.push_back({"entry", a.given("entry_name") ? to_text(a.need("entry_name"), a.where, "entry_name")
                                                    : std::string("main_kernel")});
  emit_source_launch(s, f, a.where);
  return none();
}

// T.ws(i, j, …): the threads of those warpgroups.
Value ws(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  if (a.rest.empty()) fail(a.where, "T.ws takes at least one warpgroup");
  std::vector<int64_t> groups;
  for (const Value& v : a.rest) {
    MetaInt i = to_int(s, v, a.where, "a warpgroup of T.ws");
    pin(s, i, a.where);
    if (i.value < 0 || i.value > 7) fail(a.where, "warpgroup " + std::to_string(i.value));
    groups.push_back(i.value);
  }
  std::sort(groups.begin(), groups.end());
  FrameObject f{.kind = FrameKind::ws, .extents = {}, .threads = {}, .cluster = {}, .attrs = {}, .ranges = {}};
  for (int64_t g : groups) {
    MetaInt lo(kWarpgroup * g), hi(kWarpgroup * (g + 1));
    if (!f.ranges.empty() && f.ranges.back().second.value >= lo.value) f.ranges.back().second = hi;
    else f.ranges.emplace_back(lo, hi);
  }
  return frame(s, std::move(f));
}

int64_t dim_arg(Session& s, const Args& a) {
  MetaInt dim = a.given("dim") ? to_int(s, a.need("dim"), a.where, "the dimension") : MetaInt(0);
  if (dim.value < 0 || dim.value > 2)
    fail(a.where, "dimension " + std::to_string(dim.value) + " of T." + a.builtin->name);
  return dim.value;
}
Value all_dims(Session& s, int64_t count, const std::function<Value(int64_t)>& one) {
  std::vector<Value> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(one(i));
  return list(s, std::move(out));
}

// ---------------------------------------------------------------------------------------------- threads
Value thread_of(Session& s, Trace& t, int64_t dim) {
  return dim < static_cast<int64_t>(t.threads.size()) ? scalar(thread_index_of(s, dim)) : integer(0);
}
MetaInt thread_extent(const Trace& t, int64_t dim) {
  return dim < static_cast<int64_t>(t.threads.size()) ? t.threads[static_cast<size_t>(dim)] : MetaInt(1);
}
Value get_thread_binding(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return thread_of(s, t, dim_arg(s, a));
}
Value get_thread_bindings(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, 3, [&](int64_t i) { return thread_of(s, t, i); });
}
Value get_thread_extent(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return integer(thread_extent(t, dim_arg(s, a)));
}
Value get_thread_extents(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, 3, [&](int64_t i) { return integer(thread_extent(t, i)); });
}

// The thread index over the given number, or what is left of it.
Value by_size(Session& s, Args& a, OpKind kind, int64_t otherwise) {
  Trace& t = in_launch(s, a);
  ir::ValueId size = a.given("warp_size") ? index_arg(s, a, "warp_size") : constant(s, MetaInt(otherwise));
  return scalar(scalar_binary(s, kind, t.builder.thread_index(), size));
}
Value get_lane_idx(Session& s, Scope&, Args& a) { return by_size(s, a, OpKind::floormod, kWarp); }
Value get_warp_idx(Session& s, Scope&, Args& a) { return by_size(s, a, OpKind::floordiv, kWarp); }
Value get_warp_group_idx(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  if (a.given("warps_per_group") && !a.given("warp_size"))
    fail(a.where, "T.get_warp_group_idx takes warps_per_group with warp_size only");
  ir::ValueId size = a.given("warp_size") ? index_arg(s, a, "warp_size") : constant(s, MetaInt(kWarp));
  ir::ValueId warps = a.given("warps_per_group") ? index_arg(s, a, "warps_per_group") : constant(s, MetaInt(4));
  return scalar(
      scalar_binary(s, OpKind::floordiv, t.builder.thread_index(), scalar_binary(s, OpKind::mul, size, warps)));
}

// ---------------------------------------------------------------------------------------------- CTAs and clusters
const std::vector<ir::ValueId>& block_args(Session& s, const Trace& t) {
  return s.module[s.module[t.launch].blocks[0]].args;
}
Value block_of(Session& s, const Trace& t, int64_t dim) {
  const auto& args = block_args(s, t);
  return dim < static_cast<int64_t>(args.size()) ? scalar(args[static_cast<size_t>(dim)]) : integer(0);
}
MetaInt block_extent(Session& s, const Args& a, const Trace& t, int64_t dim) {
  const std::vector<ir::ValueId> extents = s.module[t.launch].operands;
  if (dim >= static_cast<int64_t>(extents.size())) return MetaInt(1);
  auto known = ir::constant_value(s.module, extents[static_cast<size_t>(dim)]);
  if (!known) fail(a.where, "the grid extent is known at run time only");
  return *known;
}
MetaInt cluster_dim(const Trace& t, int64_t dim) {
  return t.cluster.empty() ? MetaInt(1) : t.cluster[static_cast<size_t>(dim)];
}
Value cluster_of(Session& s, const Trace& t, int64_t dim) {
  Value block = block_of(s, t, dim);
  MetaInt size = cluster_dim(t, dim);
  if (size.value == 1 || !block.is<ScalarV>()) return block;
  return scalar(scalar_binary(s, OpKind::floordiv, block.as<ScalarV>()->id, constant(s, size)));
}
Value get_block_binding(Session& s, Scope&, Args& a) { return block_of(s, in_launch(s, a), dim_arg(s, a)); }
Value get_block_bindings(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, static_cast<int64_t>(block_args(s, t).size()), [&](int64_t i) { return block_of(s, t, i); });
}
Value get_block_extent(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return integer(block_extent(s, a, t, dim_arg(s, a)));
}
Value get_block_extents(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, 3, [&](int64_t i) { return integer(block_extent(s, a, t, i)); });
}
Value get_cluster_dims(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, 3, [&](int64_t i) { return integer(cluster_dim(t, i)); });
}
Value get_cluster_size(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  MetaInt size(1);
  for (const MetaInt& e : t.cluster) size = meta(s, ir::MetaKind::mul, size, e, a.where);
  return integer(size);
}
Value get_cluster_id(Session& s, Scope&, Args& a) { return cluster_of(s, in_launch(s, a), dim_arg(s, a)); }
Value get_cluster_ids(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, static_cast<int64_t>(block_args(s, t).size()), [&](int64_t i) { return cluster_of(s, t, i); });
}
MetaInt cluster_extent(Session& s, const Args& a, const Trace& t, int64_t dim) {
  return meta(s, ir::MetaKind::ceildiv, block_extent(s, a, t, dim), cluster_dim(t, dim), a.where);
}
Value get_cluster_extent(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return integer(cluster_extent(s, a, t, dim_arg(s, a)));
}
Value get_cluster_extents(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  return all_dims(s, 3, [&](int64_t i) { return integer(cluster_extent(s, a, t, i)); });
}

// T.thread_binding(0, n, thread="threadIdx.x"): that index, or a loop over it.
Value thread_binding(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string name = to_text(a.need("thread"), a.where, "the thread axis");
  bool thread = name.starts_with("threadIdx."), block = name.starts_with("blockIdx.");
  if ((!thread && !block) || name.back() < 'x' || name.back() > 'z')
    fail_unsupported(a.where, "thread axis '" + name + "'");
  Value index = thread ? thread_of(s, t, name.back() - 'x') : block_of(s, t, name.back() - 'x');
  LoopObject l;
  l.kind = LoopKind::thread;
  ir::ValueId id = to_index(s, index, a.where, "the index");
  l.bounds = {{id, id}};
  s.heap.loops.push_back(std::move(l));
  return Value{static_cast<const LoopObject*>(&s.heap.loops.back())};
}

// Which CTA gets which tile; every tile is still computed once. An attribute of the launch.
Value use_swizzle(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string order = a.given("order") ? to_text(a.need("order"), a.where, "order") : "row";
  if (order != "row" && order != "column" && order != "mlx")
    fail(a.where, "the order of T.use_swizzle is row or column");
  if (!flag(s, a, "enable", true)) return none();
  set(s, t.launch, "swizzle_panel", to_int(s, a.need("panel_size"), a.where, "panel_size"));
  set(s, t.launch, "swizzle_order", order);
  return none();
}

// with T.attr(node, key, value): of a reducer its scope; else an attribute of what the body does.
Value attr(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  std::string key = to_text(a.need("attr_key"), a.where, "the attribute's name");
  FrameObject f{.kind = FrameKind::attribute, .extents = {}, .threads = {}, .cluster = {}, .attrs = {}, .ranges = {}};
  const auto* node = a.need("node").as<const LibraryObject*>();
  if (key == "reduce_scope" && node && (*node)->kind == LibraryKind::reducer) {
    f.attrs.push_back({"op", to_text(*(*node)->field("op"), a.where, "the reducer")});
    return frame(s, std::move(f));
  }
  bool plain =
      std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
  auto value = to_attribute(s, a.need("value"), a.where);
  if (!value || !plain || key.empty() || !a.need("node").is<NoneV>()) fail_unsupported(a.where, "T.attr '" + key + "'");
  f.attrs.push_back({key == "tl.ws_op_id" ? "ws_op" : key, *value});
  return frame(s, std::move(f));
}
Value ws_op(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  std::string id = to_text(a.need("op_id"), a.where, "the id");
  if (id.empty()) fail(a.where, "the id of T.ws_op is empty");
  return frame(s, {.kind = FrameKind::attribute,
                   .extents = {},
                   .threads = {},
                   .cluster = {},
                   .attrs = {{"ws_op", id}},
                   .ranges = {}});
}

constexpr Builtin kRows[] = {
    {"T", "Kernel", "*blocks, threads=, prelude=, cluster_dims=", kernel},
    {"T", "ClusterKernel", "*blocks, cluster_dims, threads=, prelude=", kernel},
    {"T", "CUDASourceCodeKernel",
     "*blocks, threads=, source_code_or_path, entry_name=, cluster_dims=, prelude=", source_kernel},
    {"T", "ws", "*warp_group_idx", ws},
    {"T", "WarpSpecialize", "*warp_group_idx", ws},
    {"T", "get_thread_binding", "dim=", get_thread_binding},
    {"T", "get_thread_bindings", "", get_thread_bindings},
    {"T", "get_thread_extent", "dim=", get_thread_extent},
    {"T", "get_thread_extents", "", get_thread_extents},
    {"T", "get_block_binding", "dim=", get_block_binding},
    {"T", "get_block_bindings", "", get_block_bindings},
    {"T", "get_block_extent", "dim=", get_block_extent},
    {"T", "get_block_extents", "", get_block_extents},
    {"T", "get_cluster_dims", "", get_cluster_dims},
    {"T", "get_cluster_size", "", get_cluster_size},
    {"T", "get_cluster_id", "dim=", get_cluster_id},
    {"T", "get_cluster_ids", "", get_cluster_ids},
    {"T", "get_cluster_extent", "dim=", get_cluster_extent},
    {"T", "get_cluster_extents", "", get_cluster_extents},
    {"T", "get_lane_idx", "warp_size=", get_lane_idx},
    {"T", "get_warp_idx", "warp_size=", get_warp_idx},
    {"T", "get_warp_idx_sync", "warp_size=", get_warp_idx},
    {"T", "get_warp_group_idx", "warp_size=, warps_per_group=", get_warp_group_idx},
    {"T", "thread_binding", "start, stop=, thread=, *, annotations=", thread_binding},
    {"T", "use_swizzle", "panel_size, order=, enable=", use_swizzle},
    {"T", "attr", "node, attr_key, value", attr},
    {"T", "ws_op", "op_id", ws_op},
};
}  // namespace

ir::ValueId thread_index_of(Session& s, int64_t dim) {
  Trace& t = *s.trace;
  ir::ValueId id = t.builder.thread_index();
  if (t.threads.size() == 1) return id;
  for (int64_t i = 0; i < dim; ++i)
    id = scalar_binary(s, OpKind::floordiv, id, constant(s, t.threads[static_cast<size_t>(i)]));
  bool last = dim + 1 == static_cast<int64_t>(t.threads.size());
  return last ? id : scalar_binary(s, OpKind::floormod, id, constant(s, t.threads[static_cast<size_t>(dim)]));
}

std::span<const Builtin> launch_builtins() { return kRows; }

}  // namespace tc::eval
