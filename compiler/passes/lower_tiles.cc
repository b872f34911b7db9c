// Pass lower_tiles, tile → device. Every tile operation becomes per-thread scalar code, asynchronous copies and
// warpgroup operations; fragments become register arrays. What has no lowering yet is refused with its range.
#include "compiler/passes/lower.h"

namespace tc::ir {

void Lowering::refuse(const Op& op, std::string what) {
  Diag d = unsupported(place(op), std::move(what));
  d.notes = origin_notes(op);
  fail(std::move(d));
}

Builder Lowering::builder(BlockId at, const Op& op) const {
  Builder b(to, at);
  b.loc = op.loc;
  return b;
}

ValueId Lowering::local_thread(Builder& b) const {
  return b.binary(OpKind::sub, b.thread_index(), b.constant(MetaInt(section.lo)));
}

namespace {

void lower_section(Lowering& l, OpId id, BlockId at) {
  const Op& op = l.from[id];
  Section outer = l.section;
  l.section = {int_attr(op, "lo", 0), int_attr(op, "hi", 0)};
  l.ranges.set_threads(l.section.lo, l.section.hi);
  l.cloner->copy_op(id, at);
  l.section = outer;
  l.ranges.set_threads(outer.lo, outer.hi);
}

void lower_alloc(Lowering& l, OpId id, BlockId at) {
  const Op& op = l.from[id];
  const Type& type = l.from[op.results[0]].type;
  auto fragment = l.fragments.find(op.results[0]);
  if (fragment == l.fragments.end()) {
    l.cloner->copy_op(id, at);
    return;
  }
  Builder b = l.builder(at, op);
  l.cloner->values[op.results[0]] = b.alloc(
      Type::buffer(Space::local, type.dtype, {MetaInt(fragment->second.registers)}), l.from[op.results[0]].name);
}

bool lower_op(Lowering& l, OpId id, BlockId at) {
  if (l.failure) return true;
  const Op& op = l.from[id];
  switch (op.kind) {
    case OpKind::launch:
      l.section = {0, int_attr(op, "threads", 128)};
      l.ranges.set_threads(0, l.section.hi);
      return false;
    case OpKind::ws: lower_section(l, id, at); return true;
    case OpKind::alloc: lower_alloc(l, id, at); return true;
    case OpKind::copy:
    case OpKind::async_copy: lower_copy(l, op, at); return true;
    case OpKind::tma_copy: lower_tma_copy(l, op, at); return true;
    case OpKind::gemm: lower_gemm(l, op, at); return true;
    case OpKind::fill: lower_fill(l, op, at); return true;
    case OpKind::parallel: lower_parallel(l, op, at); return true;
    case OpKind::load: lower_load(l, op, at); return true;
    case OpKind::store: lower_store(l, op, at); return true;
    case OpKind::region: {  // kept only where a device op wants it; operands are resolved by box_of on `from`
      return true;
    }
    case OpKind::assume: return true;
    default: return false;
  }
}

}  // namespace

Status lower_tiles(Module& m, const PassContext& cx) {
  Module to = empty_like(m);
  to.level = Level::device;
  Lowering l{.from = m,
             .to = to,
             .cx = cx,
             .section = {},
             .ranges = Ranges(m),
             .fragments = {},
             .registers = {},
             .failure = {}};
  for (const Func& f : m.funcs) infer_fragments(l, f);
  if (l.failure) return *l.failure;
  Cloner cloner(m, to, [&](Cloner&, OpId id, BlockId at) {
    size_t before = to.ops.size();
    bool done = lower_op(l, id, at);
    for (size_t i = before; i < to.ops.size(); ++i)
      if (!to.ops[i].text_loc.valid()) to.ops[i].text_loc = m[id].text_loc;
    return done;
  });
  l.cloner = &cloner;
  cloner.clone_functions();
  if (l.failure) return *l.failure;
  m = std::move(to);
  return {};
}

}  // namespace tc::ir
