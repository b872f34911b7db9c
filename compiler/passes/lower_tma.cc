// tma_copy (load) → expect_tx and bulk copies by one elected thread of the section: no arrive, no wait (the language).
//   A[64 rows, 128 columns] f16 into a buffer of two panels: expect 16384 bytes, two boxes of 64×64 elements.
// Full box bytes are expected even where the box hangs over the edge (TX-04). Selection (select.h): the 1-D bulk form
// where both sides are contiguous and inside, else the tiled form with a tensor map of box = one panel.
#include "compiler/passes/lower.h"
#include "specs/tma.h"

namespace tc::ir {
namespace {

std::string_view swizzle_name(uint32_t span) {
  switch (span) {
    case 32: return "32B";
    case 64: return "64B";
    case 128: return "128B";
    default: return "none";
  }
}

// The tensor map of a global tensor with this box, made once at the top of the function.
ValueId tensor_map(Lowering& l, const Op& op, ValueId tensor, const std::vector<int64_t>& box, uint32_t span) {
  ValueId buffer = l.value(tensor);
  std::vector<MetaInt> boxes(box.begin(), box.end());
  Block& body = l.to[l.to.funcs.back().body];
  for (OpId id : body.ops) {
    const Op& map = l.to[id];
    if (map.kind != OpKind::tensor_map || map.operands[0] != buffer ||
        text_attr(map, "swizzle", "") != swizzle_name(span))
      continue;
    const auto& have = std::get<std::vector<MetaInt>>(*find_attr(map.attrs, "box"));
    bool same = have.size() == boxes.size();
    for (size_t i = 0; same && i < have.size(); ++i) same = have[i].value == boxes[i].value;
    if (same) return map.results[0];
  }
  BlockId at = l.to.funcs.back().body;
  OpId id = l.to.new_op(at, OpKind::tensor_map, {buffer}, {Type{.kind = TypeKind::map}}, op.loc);
  std::rotate(l.to[at].ops.begin(), l.to[at].ops.end() - 1, l.to[at].ops.end());
  set_attr(l.to[id].attrs, "box", boxes);
  set_attr(l.to[id].attrs, "swizzle", std::string(swizzle_name(span)));
  l.to[l.to[id].results[0]].name = l.from[tensor].name + "_map";
  return l.to[id].results[0];
}

BlockId elected(Lowering& l, const Op& op, BlockId at) {
  Builder b = l.builder(at, op);
  OpId id = b.nest(OpKind::elected, {}, {});
  set_attr(l.to[id].attrs, "thread", MetaInt(l.section.lo));
  return l.to[id].blocks[0];
}

void expect(Lowering& l, const Op& op, Builder& b, int64_t bytes) {
  OpId id = b.op(OpKind::mbarrier_expect_tx, {l.value(op.operands[2]), l.value(op.operands[3])});
  set_attr(l.to[id].attrs, "bytes", MetaInt(bytes));
}

ValueId whole_region(Lowering& l, Builder& b, const Box& box) {
  std::vector<ValueId> offsets, extents;
  for (size_t d = 0; d < box.extents.size(); ++d) {
    offsets.push_back(box.offsets.empty() ? b.constant(MetaInt(0)) : l.value(box.offsets[d]));
    extents.push_back(b.constant(MetaInt(box.extents[d])));
  }
  return b.region(l.value(box.buffer), offsets, extents);
}

void bulk(Lowering& l, const Op& op, const Box& src, const Box& dst, BlockId at) {
  int64_t bytes = bytes_of(l.from[src.buffer].type.dtype);
  for (int64_t e : src.extents) bytes *= e;
  Builder b = l.builder(elected(l, op, at), op);
  expect(l, op, b, bytes);
  ValueId to = whole_region(l, b, dst), from = whole_region(l, b, src);
  OpId id = b.op(OpKind::bulk_load, {to, l.value(op.operands[2]), l.value(op.operands[3]), from});
  set_attr(l.to[id].attrs, "bytes", MetaInt(bytes));
}

// The tile of the shared side has to be whole tiles of the buffer: a box is dense in shared memory.
bool whole_tiles(const Type& type, const Box& dst) {
  size_t rank = type.rank();
  bool partial = false;
  for (size_t d = rank; d-- > 0;) {
    if (partial && dst.extents[d] != 1) return false;
    partial = partial || dst.extents[d] != type.shape[d].value;
    if (d + 1 == rank && partial) return false;
  }
  return true;
}

void tiled(Lowering& l, const Op& op, const Box& src, const Box& dst, BlockId at) {
  const Type &gt = l.from[src.buffer].type, &st = l.from[dst.buffer].type;
  SharedShape shape = shared_shape(st);
  int64_t element = bytes_of(gt.dtype), cols = dst.extents.back();
  if (!whole_tiles(st, dst) || (st.layout.span && dst.extents[st.rank() - 2] != shape.rows))
    return l.refuse(op, "tma_copy into a part of the tile of a shared buffer");
  if (src.extents.back() != cols) return l.refuse(op, "tma_copy between tiles of different inner extents");
  int64_t panel = std::min(shape.panel_cols, cols), bytes = element;
  std::vector<int64_t> box(src.extents.rbegin(), src.extents.rend());  // innermost first
  box[0] = panel;
  for (int64_t e : src.extents) bytes *= e;
  for (int64_t e : box)
    if (e > kTmaMaxBox)
      return l.refuse(op, "a TMA box of " + std::to_string(e) + " elements in one dimension, more than 256 (TMA-24)");
  ValueId map = tensor_map(l, op, src.buffer, box, st.layout.span);
  Builder b = l.builder(elected(l, op, at), op);
  expect(l, op, b, bytes);
  for (int64_t first = 0; first < cols; first += panel) {
    std::vector<ValueId> offsets, extents, operands;
    for (size_t d = 0; d < dst.extents.size(); ++d) {
      offsets.push_back(dst.offsets.empty() ? b.constant(MetaInt(0)) : l.value(dst.offsets[d]));
      extents.push_back(b.constant(MetaInt(dst.extents[d])));
    }
    offsets.back() = b.binary(OpKind::add, offsets.back(), b.constant(MetaInt(first)));
    extents.back() = b.constant(MetaInt(panel));
    ValueId target = b.region(l.value(dst.buffer), offsets, extents);
    operands = {target, l.value(op.operands[2]), l.value(op.operands[3]), map};
    for (size_t d = src.extents.size(); d-- > 0;) {
      ValueId c = src.offsets.empty() ? b.constant(MetaInt(0)) : l.value(src.offsets[d]);
      operands.push_back(d + 1 == src.extents.size() ? b.binary(OpKind::add, c, b.constant(MetaInt(first))) : c);
    }
    OpId id = b.op(OpKind::tma_load, std::move(operands));
    set_attr(l.to[id].attrs, "bytes", MetaInt(bytes * panel / cols));
  }
}

}  // namespace

void lower_tma_copy(Lowering& l, const Op& op, BlockId at) {
  auto src = box_of(l.from, op.operands[0], place(op)), dst = box_of(l.from, op.operands[1], place(op));
  if (!src.ok()) return l.fail(src.error());
  if (!dst.ok()) return l.fail(dst.error());
  CopyPlan plan = select_copy(l.from, op, l.cx.arch);
  if (l.cx.explain)
    for (const std::string& line : plan.chain) l.cx.explain->push_back(place_text(op.loc) + ": copy: " + line);
  if (plan.possible) return plan.form == CopyForm::bulk ? bulk(l, op, *src, *dst, at) : tiled(l, op, *src, *dst, at);
  if (plan.chain.back().find("TMA-23") == std::string::npos)
    return l.refuse(op, "this tma_copy (" + plan.chain.back() + ")");
  Diag d = input_error(place(op), "tma_copy: " + plan.chain.back());
  d.kind = DiagKind::violation;
  d.rule = "TMA-23";
  d.notes = origin_notes(op);
  l.fail(std::move(d));
}

}  // namespace tc::ir
