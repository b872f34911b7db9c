// T.Parallel and single element accesses → per-thread code.
// The loop runs in the layout of the fragments that it indexes by exactly its variables, else row-major over the
// section.
#include "compiler/passes/lower.h"

namespace tc::ir {
namespace {

bool is_fragment(const Module& m, ValueId v) { return m[v].type.space == Space::fragment; }

// Index operands of a load or store.
std::span<const ValueId> index_operands(const Op& op) {
  size_t n = op.operands.size() - 1 - (op.kind == OpKind::store ? 1 : 0);
  return std::span(op.operands).subspan(1, n);
}

std::optional<Fragment> loop_layout(Lowering& l, const Op& loop) {
  std::optional<Fragment> layout;
  const Block& body = l.from[loop.blocks[0]];
  walk(l.from, loop.blocks[0], [&](OpId id) {
    const Op& op = l.from[id];
    if ((op.kind != OpKind::load && op.kind != OpKind::store) || !is_fragment(l.from, op.operands[0])) return;
    if (!std::ranges::equal(index_operands(op), body.args))
      return l.refuse(op, "a fragment indexed by something else than the variables of the parallel loop");
    const Fragment& f = l.fragments.at(op.operands[0]);
    if (layout && !(*layout == f)) return l.refuse(op, "fragments of different layouts in one parallel loop");
    layout = f;
  });
  return layout;
}

ValueId access_guard(Lowering& l, Builder& b, const Op& op, std::span<const ValueId> indices) {
  const Type& type = l.from[op.operands[0]].type;
  if (type.space != Space::global) return {};
  Box box{.buffer = op.operands[0], .offsets = {}, .extents = std::vector<int64_t>(type.rank(), 1)};
  box.offsets.assign(index_operands(op).begin(), index_operands(op).end());
  return inside_condition(l, b, box, indices);
}

std::vector<ValueId> access_indices(Lowering& l, const Op& op) {
  std::vector<ValueId> indices;
  if (is_fragment(l.from, op.operands[0])) return {l.registers.at(op.operands[0])};
  for (ValueId v : index_operands(op)) indices.push_back(l.value(v));
  return indices;
}

}  // namespace

void lower_parallel(Lowering& l, const Op& op, BlockId at) {
  std::vector<int64_t> shape;
  for (ValueId v : op.operands) {
    auto extent = constant_value(l.from, v);
    if (!extent) return l.refuse(op, "a parallel loop whose extent is only known at run time");
    shape.push_back(extent->value);
  }
  auto layout = loop_layout(l, op);
  if (l.failure) return;
  if (layout && layout->shape != shape) return l.refuse(op, "a parallel loop over a part of a fragment");
  ElementLoop e = open_element_loop(l, at, op, layout ? *layout : linear_fragment(shape, l.section.threads(), 1), 1);
  const Block& body = l.from[op.blocks[0]];
  for (size_t i = 0; i < body.args.size(); ++i) l.cloner->values[body.args[i]] = e.at[i];
  walk(l.from, op.blocks[0], [&](OpId id) {
    const Op& access = l.from[id];
    if ((access.kind == OpKind::load || access.kind == OpKind::store) && is_fragment(l.from, access.operands[0]))
      l.registers[access.operands[0]] = e.reg;
  });
  l.cloner->clone_ops(op.blocks[0], e.block);
  l.registers.clear();
}

void lower_load(Lowering& l, const Op& op, BlockId at) {
  if (is_fragment(l.from, op.operands[0]) && !l.registers.contains(op.operands[0]))
    return l.refuse(op, "an element of a fragment outside of a parallel loop");
  Builder b = l.builder(at, op);
  std::vector<ValueId> indices = access_indices(l, op);
  ValueId inside = access_guard(l, b, op, indices);
  ValueId buffer = l.value(op.operands[0]);
  if (!inside.valid()) {
    l.cloner->values[op.results[0]] = b.load(buffer, indices);
    return;
  }
  // Outside: 0. A local of one element carries the value out of the guard.
  DType type = l.from[op.results[0]].type.dtype;
  ValueId cell = b.alloc(Type::buffer(Space::local, type, {MetaInt(1)}), "in");
  ValueId zero = b.constant(MetaInt(0));
  b.op(OpKind::store, {cell, zero, is_float(type) ? b.constant(0.0, type) : b.constant(MetaInt(0), type)});
  Builder in = l.builder(open_guard(l, at, op, inside).first, op);
  in.op(OpKind::store, {cell, zero, in.load(buffer, indices)});
  l.cloner->values[op.results[0]] = b.load(cell, std::array{zero});
}

void lower_store(Lowering& l, const Op& op, BlockId at) {
  if (is_fragment(l.from, op.operands[0]) && !l.registers.contains(op.operands[0]))
    return l.refuse(op, "an element of a fragment outside of a parallel loop");
  Builder b = l.builder(at, op);
  std::vector<ValueId> indices = access_indices(l, op);
  b.block = open_guard(l, at, op, access_guard(l, b, op, indices)).first;
  std::vector<ValueId> operands{l.value(op.operands[0])};
  operands.insert(operands.end(), indices.begin(), indices.end());
  operands.push_back(b.cast(l.value(op.operands.back()), l.from[op.operands[0]].type.dtype));
  b.op(OpKind::store, std::move(operands));
}

}  // namespace tc::ir
