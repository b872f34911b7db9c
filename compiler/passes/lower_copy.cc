// copy, async_copy and fill → element and vector accesses of the threads of the section.
// Reads outside of the source tensor give 0, writes outside of the destination are skipped; checks that always hold are
// not written (range.h). A copy runs in the layout of the fragment it touches, else row-major over the section with the
// widest access that both sides allow: 64×64 f16 over 128 threads, 16 bytes each: four rounds.
#include "compiler/passes/lower.h"

namespace tc::ir {
namespace {

Space space_of(const Module& m, const Box& box) { return m[box.buffer].type.space; }

struct CopySides {
  Box src, dst;
  std::vector<int64_t> shape;  // the common tile
};

std::vector<int64_t> tile_shape(const Box& box) {
  std::vector<int64_t> shape;
  for (size_t d : box.spanned()) shape.push_back(box.extents[d]);
  return shape;
}

std::optional<CopySides> sides(Lowering& l, const Op& op) {
  auto src = box_of(l.from, op.operands[0], place(op)), dst = box_of(l.from, op.operands[1], place(op));
  if (!src.ok() || !dst.ok()) {
    l.fail(src.ok() ? dst.error() : src.error());
    return std::nullopt;
  }
  CopySides s{*src, *dst, tile_shape(*dst)};
  if (space_of(l.from, s.src) == Space::fragment) s.shape = tile_shape(s.src);
  if (tile_shape(s.src).size() != tile_shape(s.dst).size()) {
    l.refuse(op, "a copy between tiles of different rank");
    return std::nullopt;
  }
  if (tile_shape(s.src) != tile_shape(s.dst)) {
    l.refuse(op, "a copy between tiles of different extents");
    return std::nullopt;
  }
  if (s.shape.empty()) s.shape = {1};
  return s;
}

// The layout in which a copy runs, if a side is a fragment that is copied as a whole.
std::optional<Fragment> fragment_of(Lowering& l, const Op& op, const CopySides& s) {
  std::optional<Fragment> found;
  for (const Box* box : {&s.src, &s.dst}) {
    if (space_of(l.from, *box) != Space::fragment) continue;
    const Fragment& f = l.fragments.at(box->buffer);
    if (f.shape != box->extents) l.refuse(op, "a copy of a part of a fragment");
    if (found && !(*found == f)) l.refuse(op, "a copy between fragments of different layouts");
    found = f;
    if (s.shape.size() != f.shape.size()) l.refuse(op, "a copy of a fragment with dimensions of extent 1");
  }
  return found;
}

ValueId zero_of(Builder& b, DType t) { return is_float(t) ? b.constant(0.0, t) : b.constant(MetaInt(0), t); }

void store_at(Builder& b, ValueId buffer, std::span<const ValueId> indices, ValueId v) {
  std::vector<ValueId> operands{buffer};
  operands.insert(operands.end(), indices.begin(), indices.end());
  operands.push_back(v);
  b.op(OpKind::store, std::move(operands));
}

// One element: guarded load, cast, guarded store.
void copy_element(Lowering& l, const Op& op, const CopySides& s, BlockId at, std::span<const ValueId> coords,
                  ValueId reg) {
  Builder b = l.builder(at, op);
  DType to_type = l.from[s.dst.buffer].type.dtype;
  auto indices = [&](const Box& box, Builder& builder) {
    if (space_of(l.from, box) == Space::fragment) return std::vector<ValueId>{reg};
    return box_indices(l, builder, box, coords);
  };
  std::vector<ValueId> src = indices(s.src, b), dst = indices(s.dst, b);
  bool src_global = space_of(l.from, s.src) == Space::global, dst_global = space_of(l.from, s.dst) == Space::global;
  if (dst_global) {
    ValueId inside = inside_condition(l, b, s.dst, dst);
    b.block = open_guard(l, b.block, op, inside).first;
  }
  ValueId readable = src_global ? inside_condition(l, b, s.src, src) : ValueId{};
  auto [yes, no] = open_guard(l, b.block, op, readable);
  Builder in = l.builder(yes, op);
  store_at(in, l.value(s.dst.buffer), dst, in.cast(in.load(l.value(s.src.buffer), src), to_type));
  if (!no.valid()) return;
  Builder out = l.builder(no, op);
  store_at(out, l.value(s.dst.buffer), dst, zero_of(out, to_type));
}

// Fragment → global in pairs: registers 2i and 2i+1 are neighbours in the last dimension.
bool can_pair(Lowering& l, const CopySides& s, const Fragment& f) {
  if (space_of(l.from, s.src) != Space::fragment || space_of(l.from, s.dst) != Space::global || f.registers % 2)
    return false;
  const Type& g = l.from[s.dst.buffer].type;
  if (bytes_of(g.dtype) > 4 || bytes_of(g.dtype) < 2 || s.dst.spanned().empty() ||
      s.dst.spanned().back() != g.rank() - 1)
    return false;
  bool neighbours =
      f.linear() ? f.vector % 2 == 0 : f.register_modes[0].extent % 2 == 0 && f.register_modes[0].step.back() == 1;
  bool even = stride_of(g, g.rank() - 1) == 1 && g.shape.back().value % 2 == 0;
  for (size_t d = 0; d + 1 < g.rank(); ++d) even = even && stride_of(g, d) % 2 == 0;
  if (!s.dst.offsets.empty()) even = even && known_factor(l.from, s.dst.offsets.back()) % 2 == 0;
  return neighbours && even;
}

void store_pairs(Lowering& l, const Op& op, const CopySides& s, const Fragment& f, BlockId at) {
  ElementLoop e = open_element_loop(l, at, op, f, 2);
  Builder b = l.builder(e.block, op);
  std::vector<ValueId> dst = box_indices(l, b, s.dst, e.at);
  b.block = open_guard(l, e.block, op, inside_condition(l, b, s.dst, dst)).first;
  DType type = l.from[s.dst.buffer].type.dtype;
  ValueId second = b.binary(OpKind::add, e.reg, b.constant(MetaInt(1)));
  ValueId lo = b.cast(b.load(l.value(s.src.buffer), std::array{e.reg}), type);
  ValueId hi = b.cast(b.load(l.value(s.src.buffer), std::array{second}), type);
  std::vector<ValueId> operands{l.value(s.dst.buffer)};
  operands.insert(operands.end(), dst.begin(), dst.end());
  operands.push_back(lo);
  operands.push_back(hi);
  b.op(OpKind::store_pair, std::move(operands));
}

// global ↔ shared, `bytes` at a time.
void copy_vectors(Lowering& l, const Op& op, const CopySides& s, const CopyPlan& plan, BlockId at) {
  bool load = space_of(l.from, s.src) == Space::global;
  const Box& global = load ? s.src : s.dst;
  int64_t n = plan.vector_bytes / bytes_of(l.from[global.buffer].type.dtype);
  ElementLoop e = open_element_loop(l, at, op, linear_fragment(s.shape, l.section.threads(), n), n);
  Builder b = l.builder(e.block, op);
  std::vector<ValueId> src = box_indices(l, b, s.src, e.at), dst = box_indices(l, b, s.dst, e.at);
  ValueId inside = inside_condition(l, b, global, load ? src : dst);
  auto region = [&](Builder& builder, const Box& box, const std::vector<ValueId>& indices) {
    std::vector<ValueId> extents(indices.size(), builder.constant(MetaInt(1)));
    extents.back() = builder.constant(MetaInt(n));
    return builder.region(l.value(box.buffer), indices, extents);
  };
  auto emit = [&](Builder& builder, OpKind kind, std::optional<ValueId> predicate) {
    std::vector<ValueId> operands{region(builder, s.dst, dst), region(builder, s.src, src)};
    if (predicate) operands.push_back(*predicate);
    set_attr(l.to[builder.op(kind, std::move(operands))].attrs, "bytes", MetaInt(plan.vector_bytes));
  };
  if (plan.form == CopyForm::cp_async) {
    emit(b, OpKind::cp_async, inside.valid() ? inside : b.constant(MetaInt(1), DType::b1));
    return;
  }
  auto [yes, no] = open_guard(l, e.block, op, inside);
  Builder in = l.builder(yes, op);
  emit(in, OpKind::vector_copy, std::nullopt);
  if (!no.valid() || !load) return;
  Builder out = l.builder(no, op);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<ValueId> index = dst;
    index.back() = out.binary(OpKind::add, index.back(), out.constant(MetaInt(i)));
    store_at(out, l.value(s.dst.buffer), index, zero_of(out, l.from[s.dst.buffer].type.dtype));
  }
}

}  // namespace

void lower_copy(Lowering& l, const Op& op, BlockId at) {
  auto s = sides(l, op);
  if (!s) return;
  CopyPlan plan = select_copy(l.from, op, l.cx.arch);
  if (l.cx.explain)
    for (const std::string& line : plan.chain) l.cx.explain->push_back(place_text(op.loc) + ": copy: " + line);
  if (!plan.possible) return l.refuse(op, "this copy (" + plan.chain.back() + ")");
  auto fragment = fragment_of(l, op, *s);
  if (l.failure) return;
  if (!fragment && plan.vector_bytes > static_cast<int64_t>(bytes_of(l.from[s->src.buffer].type.dtype)))
    return copy_vectors(l, op, *s, plan, at);
  if (op.kind == OpKind::async_copy) return l.refuse(op, "an asynchronous copy of single elements");
  Fragment f = fragment ? *fragment : linear_fragment(s->shape, l.section.threads(), 1);
  if (fragment && can_pair(l, *s, f)) return store_pairs(l, op, *s, f, at);
  ElementLoop e = open_element_loop(l, at, op, f, 1);
  copy_element(l, op, *s, e.block, e.at, e.reg);
}

void lower_fill(Lowering& l, const Op& op, BlockId at) {
  auto box = box_of(l.from, op.operands[0], place(op));
  if (!box.ok()) return l.fail(box.error());
  const Type& type = l.from[box->buffer].type;
  if (type.space == Space::local) {
    Builder b = l.builder(at, op);
    std::vector<ValueId> zeros(type.rank(), b.constant(MetaInt(0)));
    if (element_count(type) != 1) return l.refuse(op, "fill of a local array");
    return store_at(b, l.value(box->buffer), zeros, b.cast(l.value(op.operands[1]), type.dtype));
  }
  bool fragment = type.space == Space::fragment;
  std::vector<int64_t> shape = tile_shape(*box);
  if (shape.empty()) shape = {1};
  if (fragment && l.fragments.at(box->buffer).shape != box->extents)
    return l.refuse(op, "fill of a part of a fragment");
  for (size_t d = 0; d < box->extents.size() && type.space == Space::shared; ++d) {
    Range r = box->offsets.empty() ? Range{0, 0} : l.ranges.of(box->offsets[d]);
    if (r.lo == r.hi && (r.lo < 0 || r.hi + box->extents[d] > type.shape[d].value)) {
      Diag diag = input_error(place(op), "fill covers elements " + std::to_string(r.lo) + " to " +
                                             std::to_string(r.hi + box->extents[d] - 1) + " of dimension " +
                                             std::to_string(d) + ", which has " + std::to_string(type.shape[d].value));
      diag.kind = DiagKind::violation;
      diag.rule = "BOUND-01";
      diag.notes = origin_notes(op);
      return l.fail(std::move(diag));
    }
  }
  ElementLoop e = open_element_loop(
      l, at, op, fragment ? l.fragments.at(box->buffer) : linear_fragment(shape, l.section.threads(), 1), 1);
  Builder b = l.builder(e.block, op);
  std::vector<ValueId> indices = fragment ? std::vector{e.reg} : box_indices(l, b, *box, e.at);
  if (type.space == Space::global) b.block = open_guard(l, e.block, op, inside_condition(l, b, *box, indices)).first;
  store_at(b, l.value(box->buffer), indices, b.cast(l.value(op.operands[1]), type.dtype));
}

}  // namespace tc::ir
