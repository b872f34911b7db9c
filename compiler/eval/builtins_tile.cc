// Tile operations: copy, tma_copy, gemm, fill, clear, layout annotations.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;
using ir::Space;

void not_parallel(const Trace& t, const Args& a) {
  if (t.parallel_depth > 0) fail(a.where, std::string("T.") + a.builtin->name + " inside T.Parallel");
}

Space space_of(Session& s, const Box& box) { return buffer_type(s, box.buffer).space; }

void no_barrier(Session& s, const Box& box, const Args& a) {
  if (space_of(s, box) == Space::barrier) fail(a.where, std::string("T.") + a.builtin->name + " of a barrier");
}

bool is_plain_element(const Value& v) {
  const auto* r = v.as<const RegionObject*>();
  return r && !(*r)->has_slice;
}

Value copy(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.copy");
  a.refuse({"eviction_policy", "annotations", "loop_layout"});
  const Value &src = a.need("src"), &dst = a.need("dst");
  if (is_plain_element(src) && is_plain_element(dst)) {  // one element: a store
    const RegionObject& to = **dst.as<const RegionObject*>();
    std::vector<ir::ValueId> operands{to.buffer.id};
    for (const RegionDim& d : to.dims) operands.push_back(d.offset);
    operands.push_back(convert(s, to_scalar(s, src, a.where, "the source"), buffer_type(s, to.buffer).dtype));
    t.builder.op(OpKind::store, std::move(operands));
    return none();
  }
  not_parallel(t, a);
  auto [from, to] = copy_boxes(s, src, dst, a.where);
  no_barrier(s, from, a);
  no_barrier(s, to, a);
  ir::ValueId x = emit_box(s, from), y = emit_box(s, to);
  ir::OpId op = t.builder.op(OpKind::copy, {x, y});
  if (const Value* w = a.get("coalesced_width"))
    ir::set_attr(s.module[op].attrs, "coalesced_width", to_int(s, *w, a.where, "coalesced_width"));
  if (const Value* d = a.get("disable_tma"); d && to_bool(s, *d, a.where, "disable_tma"))
    ir::set_attr(s.module[op].attrs, "disable_tma", MetaInt(1));
  if (const Value* p = a.get("prefer_instruction"))
    ir::set_attr(s.module[op].attrs, "prefer", to_text(*p, a.where, "prefer_instruction"));
  return none();
}

Value tma_copy(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.tma_copy");
  not_parallel(t, a);
  a.refuse({"cluster_mask", "leader_scope_threads", "eviction_policy", "annotations"});
  auto [from, to] = copy_boxes(s, a.need("src"), a.need("dst"), a.where);
  bool load = space_of(s, from) == Space::global && space_of(s, to) == Space::shared;
  bool store = space_of(s, from) == Space::shared && space_of(s, to) == Space::global;
  if (!load && !store) fail(a.where, "T.tma_copy goes from a global tensor to a shared buffer or back");
  if (buffer_type(s, from.buffer).dtype != buffer_type(s, to.buffer).dtype)
    fail(a.where, "T.tma_copy between different element types");
  if (load && !a.given("barrier")) fail(a.where, "T.tma_copy of a load needs barrier=");
  if (store && a.given("barrier")) fail(a.where, "T.tma_copy of a store takes no barrier");
  std::vector<ir::ValueId> operands{emit_box(s, from), emit_box(s, to)};
  if (load) {
    auto [barrier, index] = to_barrier(s, a.need("barrier"), a.where);
    operands.push_back(barrier);
    operands.push_back(index);
  }
  t.builder.op(OpKind::tma_copy, std::move(operands));
  return none();
}

// The matrix of a gemm operand: its last two extents.
std::pair<MetaInt, MetaInt> matrix(const Box& box, std::string_view name, const SourceRange& where) {
  size_t rank = box.extents.size();
  if (rank < 2) fail(where, std::string(name) + " of T.gemm has to be a matrix");
  for (size_t i = 0; i + 2 < rank; ++i)
    if (box.extents[i].value != 1)
      fail(where, "a leading extent of " + std::string(name) + " of T.gemm is " + std::to_string(box.extents[i].value) +
                      ", not 1");
  return {box.extents[rank - 2], box.extents[rank - 1]};
}

void clear_box(Session& s, const Box& box, double value) {
  DType type = buffer_type(s, box.buffer).dtype;
  ir::ValueId v =
      is_float(type) ? s.trace->builder.constant(value, type) : constant(s, MetaInt(static_cast<int64_t>(value)), type);
  ir::ValueId region = emit_box(s, box);
  s.trace->builder.op(OpKind::fill, {region, v});
}

void check_gemm_shapes(Session& s, const Box boxes[3], bool transpose_a, bool transpose_b, const SourceRange& where) {
  auto [a0, a1] = matrix(boxes[0], "A", where);
  auto [b0, b1] = matrix(boxes[1], "B", where);
  auto [m, n] = matrix(boxes[2], "C", where);
  if (transpose_a) std::swap(a0, a1);
  if (transpose_b) std::swap(b0, b1);
  struct Pair {
    const char* name;
    MetaInt x, y;
  };
  for (const Pair& p : {Pair{"M", a0, m}, Pair{"N", b1, n}, Pair{"K", a1, b0}})
    if (!require_equal(s, p.x, p.y, where))
      fail(where, std::string(p.name) + " of T.gemm differs: " + std::to_string(p.x.value) + " and " +
                      std::to_string(p.y.value));
}

Value gemm(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.gemm");
  not_parallel(t, a);
  a.refuse({"mbar", "annotations"});
  Box boxes[3];
  const char* names[3] = {"A", "B", "C"};
  for (int i = 0; i < 3; ++i) {
    auto box = to_box(s, a.need(names[i]), a.where);
    if (!box)
      fail(a.where,
           std::string(names[i]) + " of T.gemm has to be a buffer or a region, not " + kind_name(a.need(names[i])));
    boxes[i] = *box;
    Space space = space_of(s, boxes[i]);
    bool legal = i == 2 ? space == Space::fragment : space == Space::shared || space == Space::fragment;
    if (!legal)
      fail(a.where, std::string(names[i]) +
                        " of T.gemm lies in the wrong memory: A and B are shared or fragments, C is a fragment");
  }
  auto flag = [&](const char* name) { return a.given(name) && to_bool(s, a.need(name), a.where, name); };
  bool transpose_a = flag("transpose_A"), transpose_b = flag("transpose_B");
  check_gemm_shapes(s, boxes, transpose_a, transpose_b, a.where);
  // A run-time clear_accum is a conditional clear before.
  bool clear = false;
  if (const Value* c = a.get("clear_accum"); c && is_runtime(*c)) {
    ir::OpId branch = t.builder.op(OpKind::if_, {as_condition(s, *c, a.where)});
    s.module[branch].blocks = {s.module.new_block(), s.module.new_block()};
    ir::BlockId outer = t.builder.block;
    size_t known = t.constants.size();
    t.builder.block = s.module[branch].blocks[0];
    clear_box(s, boxes[2], 0);
    t.builder.block = outer;
    t.constants.resize(known);
  } else {
    clear = flag("clear_accum");
  }
  std::string policy = "square";
  if (const Value* p = a.get("policy")) {
    const auto* known = p->as<PolicyV>();
    if (!known) fail(a.where, "the policy of T.gemm has to be a GemmWarpPolicy, not " + kind_name(*p));
    policy = *known == PolicyV::square ? "square" : *known == PolicyV::full_row ? "full_row" : "full_col";
  }
  ir::ValueId x = emit_box(s, boxes[0]), y = emit_box(s, boxes[1]), z = emit_box(s, boxes[2]);
  ir::OpId op = t.builder.op(OpKind::gemm, {x, y, z});
  auto& attrs = s.module[op].attrs;
  ir::set_attr(attrs, "transpose_a", MetaInt(transpose_a));
  ir::set_attr(attrs, "transpose_b", MetaInt(transpose_b));
  ir::set_attr(attrs, "clear_accum", MetaInt(clear));
  ir::set_attr(attrs, "policy", policy);
  return none();
}

Value fill(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.fill");
  not_parallel(t, a);
  a.refuse({"annotations"});
  const Value& target = a.need("buffer");
  auto box = to_box(s, target, a.where);
  if (!box) fail(a.where, "T.fill takes a buffer or a region, not " + kind_name(target));
  no_barrier(s, *box, a);
  ir::ValueId v = convert(s, to_scalar(s, a.need("value"), a.where, "the value"), buffer_type(s, box->buffer).dtype);
  ir::ValueId region = emit_box(s, *box);
  t.builder.op(OpKind::fill, {region, v});
  return none();
}

Value clear(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.clear");
  not_parallel(t, a);
  a.refuse({"annotations"});
  auto box = to_box(s, a.need("buffer"), a.where);
  if (!box) fail(a.where, "T.clear takes a buffer or a region, not " + kind_name(a.need("buffer")));
  no_barrier(s, *box, a);
  clear_box(s, *box, 0);
  return none();
}

// The only layout that can be asked for yet is the one the compiler chooses by itself.
Value annotate_layout(Session& s, Scope&, Args& a) {
  need_launch(s, a.where, "T.annotate_layout");
  const auto* d = a.need("layout_map").as<DictObject*>();
  if (!d) fail(a.where, "T.annotate_layout takes a dict");
  for (const auto& [buffer, layout] : (*d)->items) {
    const auto* b = buffer.as<BufferV>();
    if (!b || !layout.is<SwizzledLayoutV>()) fail_unsupported(a.where, "a layout other than make_swizzled_layout");
    ir::set_attr(s.module[s.module[b->id].def].attrs, "layout", std::string("swizzled"));
  }
  return none();
}
Value make_swizzled_layout(Session&, Scope&, Args& a) {
  const auto* b = a.need("buffer").as<BufferV>();
  if (!b) fail(a.where, "make_swizzled_layout takes a buffer");
  return Value{SwizzledLayoutV{b->id}};
}

constexpr Builtin kRows[] = {
    {"T", "copy",
     "src, dst, *, coalesced_width=, disable_tma=, eviction_policy=, prefer_instruction=, annotations=, loop_layout=",
     copy},
    {"T", "tma_copy",
     "src, dst, *, barrier=, cluster_mask=, leader_scope_threads=, eviction_policy=, annotations=", tma_copy},
    {"T", "gemm", "A, B, C, transpose_A=, transpose_B=, policy=, clear_accum=, mbar=, annotations=", gemm},
    {"T", "fill", "buffer, value, annotations=", fill},
    {"T", "clear", "buffer, annotations=", clear},
    {"T", "annotate_layout", "layout_map", annotate_layout},
    {"layout", "make_swizzled_layout", "buffer", make_swizzled_layout},
};
}  // namespace

std::span<const Builtin> tile_builtins() { return kRows; }

}  // namespace tc::eval
