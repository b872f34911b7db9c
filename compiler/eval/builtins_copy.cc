// Copies: T.copy and its asynchronous kinds, gathers, im2col, transpose. Extents as in region.cc; every argument that
// says how it is done becomes an attribute of the op. Source: tilelang/language/copy_op.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;
using ir::Space;

Space space_of(Session& s, const Box& box) { return buffer_type(s, box.buffer).space; }

void no_barrier(Session& s, const Box& box, const Args& a) {
  if (space_of(s, box) == Space::barrier) fail(a.where, std::string("T.") + a.builtin->name + " of a barrier");
}

bool is_plain_element(const Value& v) {
  const auto* r = v.as<const RegionObject*>();
  return r && !(*r)->has_slice;
}

void eviction(Session& s, const Args& a, ir::OpId op) {
  if (const Value* v = a.get("eviction_policy")) {
    std::string policy = to_text(*v, a.where, "eviction_policy");
    if (policy != "evict_normal" && policy != "evict_first" && policy != "evict_last")
      fail(a.where, "eviction_policy is evict_normal, evict_first or evict_last, not '" + policy + "'");
    set(s, op, "eviction_policy", policy);
  }
}

// Parts that all copies share.
void hints(Session& s, const Args& a, ir::OpId op) {
  copy_int(s, a, op, "coalesced_width");
  if (flag(s, a, "disable_tma")) set(s, op, "disable_tma", MetaInt(1));
  eviction(s, a, op);
  copy_text(s, a, op, "prefer_instruction", "prefer");
  if (const Value* layout = a.get("loop_layout")) emit_loop_layout(s, *layout, op, a.where);
  add_annotations(s, a, op);
}
bool has_hints(const Args& a) {
  for (std::string_view name : {"coalesced_width", "eviction_policy", "prefer_instruction", "loop_layout"})
    if (a.given(name)) return true;
  const Value* annotations = a.get("annotations");
  const auto* dict = annotations ? annotations->as<DictObject*>() : nullptr;
  return dict && !(*dict)->items.empty();
}

// Both sides one element: a store with a cast.
void store_one(Session& s, const Args& a, const Value& src, const Value& dst) {
  const RegionObject& to = **dst.as<const RegionObject*>();
  std::vector<ir::ValueId> operands{to.buffer.id};
  for (const RegionDim& d : to.dims) operands.push_back(d.offset);
  operands.push_back(convert(s, to_scalar(s, src, a.where, "the source"), buffer_type(s, to.buffer).dtype));
  s.trace->builder.op(OpKind::store, std::move(operands));
}

std::optional<ir::OpId> simple_copy(Session& s, Args& a, OpKind kind) {
  in_launch(s, a);
  const Value &src = a.need("src"), &dst = a.need("dst");
  if (is_plain_element(src) && is_plain_element(dst) && !has_hints(a) && !flag(s, a, "disable_tma")) {
    store_one(s, a, src, dst);
    return std::nullopt;
  }
  Trace& t = collective(s, a);
  auto [from, to] = copy_boxes(s, src, dst, a.where);
  no_barrier(s, from, a);
  no_barrier(s, to, a);
  ir::ValueId x = emit_box(s, from), y = emit_box(s, to);
  ir::OpId op = t.builder.op(kind, {x, y});
  hints(s, a, op);
  return op;
}

Value copy(Session& s, Scope&, Args& a) {
  if (const Value* p = a.get("prefer_instruction")) {
    std::string wish = to_text(*p, a.where, "prefer_instruction");
    static constexpr std::string_view kKnown[] = {"tma", "cp_async", "async", "sync"};
    if (std::find(std::begin(kKnown), std::end(kKnown), wish) == std::end(kKnown))
      fail(a.where, "prefer_instruction is tma, cp_async or sync, not '" + wish + "'");
    if (wish == "tma" && flag(s, a, "disable_tma")) fail(a.where, "prefer_instruction=\"tma\" with disable_tma=True");
  }
  simple_copy(s, a, OpKind::copy);
  return none();
}

// cp.async and its commit; nothing waits.
Value async_copy(Session& s, Scope&, Args& a) {
  if (simple_copy(s, a, OpKind::async_copy)) s.trace->builder.op(OpKind::cp_async_commit, {});
  return none();
}

void append_barrier(Session& s, const Value& barrier, const SourceRange& where, std::vector<ir::ValueId>& operands) {
  auto [array, index] = to_barrier(s, barrier, where);
  operands.insert(operands.end(), {array, index});
}

void positive_mask(Session& s, const Args& a, ir::OpId op) {
  const Value* v = a.get("cluster_mask");
  if (!v) return;
  MetaInt mask = to_int(s, *v, a.where, "cluster_mask");
  if (mask.value <= 0) fail(a.where, "cluster_mask is a positive bit mask, not " + std::to_string(mask.value));
  set(s, op, "cluster_mask", mask);
}

Value tma_copy(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  auto [from, to] = copy_boxes(s, a.need("src"), a.need("dst"), a.where);
  bool load = space_of(s, from) == Space::global && space_of(s, to) == Space::shared;
  bool store = space_of(s, from) == Space::shared && space_of(s, to) == Space::global;
  if (!load && !store) fail(a.where, "T.tma_copy goes from a global tensor to a shared buffer or back");
  DType x = buffer_type(s, from.buffer).dtype, y = buffer_type(s, to.buffer).dtype;
  bool unpacks = load && x == DType::e2m1 && y == DType::e2m1_unpacked;
  if (x != y && !unpacks) fail(a.where, "T.tma_copy between different element types");
  if (load && !a.given("barrier")) fail(a.where, "T.tma_copy of a load needs barrier=");
  if (store && a.given("barrier")) fail(a.where, "T.tma_copy of a store takes no barrier");
  std::vector<ir::ValueId> operands{emit_box(s, from), emit_box(s, to)};
  if (load) append_barrier(s, a.need("barrier"), a.where, operands);
  ir::OpId op = t.builder.op(OpKind::tma_copy, std::move(operands));
  positive_mask(s, a, op);
  if (const Value* v = a.get("leader_scope_threads")) {
    MetaInt n = to_int(s, *v, a.where, "leader_scope_threads");
    if (n.value <= 0 || n.value % 32 != 0)
      fail(a.where, "leader_scope_threads is a positive multiple of 32, not " + std::to_string(n.value));
    set(s, op, "leader_scope_threads", n);
  }
  hints(s, a, op);
  return none();
}

Value copy_cluster(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  auto [from, to] = copy_boxes(s, a.need("src"), a.need("dst"), a.where);
  no_barrier(s, from, a);
  no_barrier(s, to, a);
  if (a.given("dst_block") && a.given("cluster_mask"))
    fail(a.where, "T.copy_cluster goes to dst_block or to the blocks of cluster_mask, not both");
  std::vector<ir::ValueId> operands{emit_box(s, from), emit_box(s, to)};
  if (a.given("dst_block")) operands.push_back(index_arg(s, a, "dst_block"));
  if (const Value* barrier = a.get("remote_barrier")) append_barrier(s, *barrier, a.where, operands);
  ir::OpId op = t.builder.op(OpKind::copy_cluster, std::move(operands));
  positive_mask(s, a, op);
  hints(s, a, op);
  return none();
}

// Four rows of a global matrix, and a box of 4 x K in shared memory.
void four_rows(Session& s, Args& a, bool gather) {
  Trace& t = collective(s, a);
  const auto *src = a.need("src").as<BufferV>(), *dst = a.need("dst").as<BufferV>();
  if (!src || !dst) fail(a.where, std::string("T.") + a.builtin->name + " takes two whole buffers");
  const ir::Type outer = buffer_type(s, gather ? *src : *dst), inner = buffer_type(s, gather ? *dst : *src);
  if (outer.space != Space::global || inner.space != Space::shared)
    fail(a.where, std::string("T.") + a.builtin->name + " goes between a global and a shared buffer");
  if (outer.rank() != 2 || inner.rank() != 2 || inner.shape[0].value != 4)
    fail(a.where, "the global buffer has to have two dimensions, the shared one 4 x K");
  if (outer.dtype != inner.dtype) fail(a.where, std::string("T.") + a.builtin->name + " between different types");
  if (!outer.strides.empty() && outer.strides[1].value != 1)
    fail(a.where, "the innermost stride of the global buffer has to be 1");
  std::vector<Value> rows = to_items(s, a.need("rows"), a.where, "the rows");
  if (rows.size() != 4) fail(a.where, std::to_string(rows.size()) + " rows, not 4");
  std::vector<ir::ValueId> operands{src->id, dst->id, index_arg(s, a, "col")};
  for (const Value& r : rows) operands.push_back(to_index(s, r, a.where, "a row"));
  if (gather) append_barrier(s, a.need("barrier"), a.where, operands);
  ir::OpId op = t.builder.op(gather ? OpKind::tma_gather : OpKind::tma_scatter, std::move(operands));
  if (const Value* v = a.get("swizzle"); v && !(v->is<MetaInt>() && v->as<MetaInt>()->value == 0)) {
    auto attribute = to_attribute(s, *v, a.where);
    if (!attribute) fail_unsupported(a.where, "this swizzle of T." + std::string(a.builtin->name));
    set(s, op, "swizzle", *attribute);
  }
  hints(s, a, op);
}
Value tma_gather4(Session& s, Scope&, Args& a) { return four_rows(s, a, true), none(); }
Value tma_scatter4(Session& s, Scope&, Args& a) { return four_rows(s, a, false), none(); }

// Bytes of a gather of four rows of `K_box` elements.
Value tma_gather4_bytes(Session& s, Scope&, Args& a) {
  MetaInt width = to_int(s, a.need("K_box"), a.where, "K_box");
  DType t = to_dtype(s, a.need("dtype"), a.where);
  int64_t bits = t == DType::e2m1_unpacked ? 4 : info(t).bits;
  MetaInt total = meta(s, ir::MetaKind::mul, width, MetaInt(4 * bits), a.where);
  return integer(meta(s, ir::MetaKind::ceildiv, total, MetaInt(8), a.where));
}

Value transpose(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  Box src = box_arg(s, a, "src"), dst = box_arg(s, a, "dst");
  size_t p = src.extents.size(), q = dst.extents.size();
  if (p < 2 || q < 2) fail(a.where, "T.transpose takes buffers of two dimensions or more");
  if (!require_equal(s, src.extents[p - 1], dst.extents[q - 2], a.where) ||
      !require_equal(s, src.extents[p - 2], dst.extents[q - 1], a.where))
    fail(a.where, "the last two extents of T.transpose have to be swapped");
  ir::ValueId x = emit_box(s, src), y = emit_box(s, dst);
  add_annotations(s, a, t.builder.op(OpKind::transpose, {x, y}));
  return none();
}

Value im2col(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  Box img = box_arg(s, a, "img"), col = box_arg(s, a, "col");
  if (img.extents.size() != 4) fail(a.where, "the image of T.im2col has four dimensions: N, H, W, C");
  ir::ValueId x = emit_box(s, img), y = emit_box(s, col);
  ir::ValueId row = index_arg(s, a, "nhw_step"), channel = index_arg(s, a, "c_step");
  ir::OpId op = t.builder.op(OpKind::im2col, {x, y, row, channel});
  for (const char* name : {"kernel", "stride", "dilation", "pad"})
    set(s, op, name, to_int(s, a.need(name), a.where, std::string("'") + name + "' of T.im2col"));
  eviction(s, a, op);
  add_annotations(s, a, op);
  return none();
}

constexpr Builtin kRows[] = {
    {"T", "copy",
     "src, dst, *, coalesced_width=, disable_tma=, eviction_policy=, prefer_instruction=, annotations=, loop_layout=",
     copy},
    {"T", "async_copy", "src, dst, *, coalesced_width=, annotations=, loop_layout=", async_copy},
    {"T", "tma_copy",
     "src, dst, *, barrier=, cluster_mask=, leader_scope_threads=, eviction_policy=, annotations=", tma_copy},
    {"T", "copy_cluster",
     "src, dst, *, dst_block=, cluster_mask=, remote_barrier=, eviction_policy=, coalesced_width=, annotations=, "
     "loop_layout=",
     copy_cluster},
    {"T", "tma_gather4", "src, dst, col, rows, *, barrier, swizzle=, eviction_policy=, annotations=", tma_gather4},
    {"T", "tma_scatter4", "src, dst, col, rows, *, swizzle=, eviction_policy=, annotations=", tma_scatter4},
    {"T", "tma_gather4_bytes", "K_box, dtype", tma_gather4_bytes},
    {"T", "transpose", "src, dst, annotations=", transpose},
    {"T", "im2col",
     "img, col, nhw_step, c_step, kernel, stride, dilation, pad, eviction_policy=, annotations=", im2col},
    {"T", "c2d_im2col",
     "img, col, nhw_step, c_step, kernel, stride, dilation, pad, eviction_policy=, annotations=", im2col},
};
}  // namespace

std::span<const Builtin> copy_builtins() { return kRows; }

}  // namespace tc::eval
