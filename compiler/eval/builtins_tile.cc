// Tile operations on one or two buffers: fill, clear, reductions, scans, reducers.
// Reductions and scans follow the reference in how shared and fragment operands meet: a reduction works on fragments,
// so a shared operand goes through a fragment of its own; a scan works in shared memory, so a fragment goes through a
// shared buffer. Sources: tilelang/language/fill_op.py, reduce_op.py, scan_op.py, logical.py.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;
using ir::Space;

ir::ValueId number(Session& s, double value, DType type) {
  return is_float(type) ? s.trace->builder.constant(value, type)
                        : constant(s, MetaInt(static_cast<int64_t>(value)), type);
}

Value fill(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  Box box = box_arg(s, a, "buffer");
  ir::ValueId v = convert(s, scalar_arg(s, a, "value"), buffer_type(s, box.buffer).dtype);
  ir::ValueId region = emit_box(s, box);
  add_annotations(s, a, t.builder.op(OpKind::fill, {region, v}));
  return none();
}
Value clear(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  Box box = box_arg(s, a, "buffer");
  ir::ValueId v = number(s, 0, buffer_type(s, box.buffer).dtype);
  ir::ValueId region = emit_box(s, box);
  add_annotations(s, a, t.builder.op(OpKind::fill, {region, v}));
  return none();
}

// ---------------------------------------------------------------------------------------------- staging
Space space_of(Session& s, const Box& box) { return buffer_type(s, box.buffer).space; }

// A new buffer of a box's extents and type.
Box staging(Session& s, const Box& like, Space space, std::string_view suffix) {
  const ir::Type of = buffer_type(s, like.buffer);
  ir::Type type = ir::Type::buffer(space, of.dtype, like.extents);
  std::string name = s.module[like.buffer.id].name;
  BufferV made{s.trace->builder.alloc(std::move(type), name + std::string(suffix)), false};
  return *to_box(s, Value{made}, {});
}
void copy(Session& s, const Box& from, const Box& to) {
  ir::ValueId x = emit_box(s, from), y = emit_box(s, to);
  s.trace->builder.op(OpKind::copy, {x, y});
}

// ---------------------------------------------------------------------------------------------- reductions
struct Reduction {
  std::string op;
  size_t dim;
  bool clear;
};

std::string shape_text(const std::vector<MetaInt>& e) {
  std::string out;
  for (const MetaInt& i : e) out += (out.empty() ? "" : ", ") + (i.dynamic() ? "?" : std::to_string(i.value));
  return "(" + out + ")";
}

// The source's shape without the dimension, or with 1 in its place.
void check_reduced_shape(Session& s, const Args& a, const Box& src, const Box& dst, size_t dim) {
  std::vector<MetaInt> dropped = src.extents, kept = src.extents;
  dropped.erase(dropped.begin() + static_cast<ptrdiff_t>(dim));
  kept[dim] = MetaInt(1);
  auto same = [&](const std::vector<MetaInt>& e) {
    if (e.size() != dst.extents.size()) return false;
    for (size_t i = 0; i < e.size(); ++i)
      if (e[i].value != dst.extents[i].value) return false;
    for (size_t i = 0; i < e.size(); ++i) require_equal(s, e[i], dst.extents[i], a.where);
    return true;
  };
  if (!same(dropped) && !same(kept))
    fail(a.where, "the result of the reduction of " + shape_text(src.extents) + " over dimension " +
                      std::to_string(dim) + " has the shape " + shape_text(dropped) + " or " + shape_text(kept) +
                      ", not " + shape_text(dst.extents));
}

void emit_reduce(Session& s, const Args& a, const Box& src, const Box& dst, const Reduction& r) {
  ir::ValueId x = emit_box(s, src), y = emit_box(s, dst);
  ir::OpId op = s.trace->builder.op(OpKind::reduce, {x, y});
  set(s, op, "op", r.op);
  set(s, op, "dim", MetaInt(static_cast<int64_t>(r.dim)));
  set(s, op, "clear", MetaInt(r.clear));
  if (flag(s, a, "nan_propagate")) set(s, op, "nan_propagate", MetaInt(1));
  if (const Value* v = a.get("batch")) {
    MetaInt batch = to_int(s, *v, a.where, "batch");
    if (batch.value < 1) fail(a.where, "batch is at least 1, not " + std::to_string(batch.value));
    if (batch.value > 1) set(s, op, "batch", batch);
  }
  add_annotations(s, a, op);
}

size_t dimension(Session& s, const Args& a, const Box& src, int64_t otherwise) {
  MetaInt dim = a.given("dim") ? to_int(s, a.need("dim"), a.where, "dim") : MetaInt(otherwise);
  pin(s, dim, a.where);
  int64_t rank = static_cast<int64_t>(src.extents.size());
  int64_t at = dim.value < 0 ? dim.value + rank : dim.value;
  if (at < 0 || at >= rank)
    fail(a.where, "dimension " + std::to_string(dim.value) + " of " + std::to_string(rank) + " dimensions");
  return static_cast<size_t>(at);
}

Value reduce(Session& s, Args& a, std::string op, bool clear) {
  collective(s, a);
  Box src = box_arg(s, a, "buffer"), dst = box_arg(s, a, "out");
  Reduction r{std::move(op), dimension(s, a, src, -1), clear};
  if (r.op.starts_with("bit") && is_float(buffer_type(s, dst.buffer).dtype))
    fail(a.where,
         "a reduction by bits takes an integer type, not " + std::string(info(buffer_type(s, dst.buffer).dtype).name));
  check_reduced_shape(s, a, src, dst, r.dim);
  Space from = space_of(s, src), to = space_of(s, dst);
  if (from == Space::local && to == Space::local) return emit_reduce(s, a, src, dst, r), none();
  auto legal = [](Space space) { return space == Space::shared || space == Space::fragment; };
  if (!legal(from) || !legal(to))
    fail(a.where, std::string("T.") + a.builtin->name +
                      " takes shared buffers and fragments, or two local buffers of one thread");
  Box in = src, out = dst;
  if (from == Space::shared) in = staging(s, src, Space::fragment, "_frag");
  if (to == Space::shared) out = staging(s, dst, Space::fragment, "_frag");
  if (to == Space::shared && !clear) copy(s, dst, out);
  if (from == Space::shared) copy(s, src, in);
  emit_reduce(s, a, in, out, r);
  if (to == Space::shared) copy(s, out, dst);
  return none();
}

template <const char* kOp>
Value reduce_as(Session& s, Scope&, Args& a) {
  return reduce(s, a, kOp, flag(s, a, "clear", true));
}
constexpr char kSum[] = "sum", kMax[] = "max", kMin[] = "min", kAbsSum[] = "abssum", kAbsMax[] = "absmax",
               kBitAnd[] = "bitand", kBitOr[] = "bitor", kBitXor[] = "bitxor";

Value reduce_any(Session& s, Scope&, Args& a) {
  static constexpr std::string_view kOps[] = {kSum, kMax, kMin, kAbsSum, kAbsMax, kBitAnd, kBitOr, kBitXor};
  std::string op = to_text(a.need("reduce_type"), a.where, "reduce_type");
  if (std::find(std::begin(kOps), std::end(kOps), op) == std::end(kOps))
    fail(a.where, "there is no reduction '" + op + "'");
  return reduce(s, a, op, flag(s, a, "clear", true));
}

// ---------------------------------------------------------------------------------------------- scans
Value scan(Session& s, Args& a, std::string op) {
  Trace& t = collective(s, a);
  Box src = box_arg(s, a, "src"), dst = a.given("dst") ? box_arg(s, a, "dst") : src;
  size_t dim = dimension(s, a, src, 0);
  bool same = src.extents.size() == dst.extents.size();
  for (size_t i = 0; same && i < src.extents.size(); ++i)
    same = require_equal(s, src.extents[i], dst.extents[i], a.where);
  if (!same)
    fail(a.where,
         "the result of the scan has the shape " + shape_text(src.extents) + ", not " + shape_text(dst.extents));
  bool staged = space_of(s, src) == Space::fragment;
  Box from = staged ? staging(s, src, Space::shared, "_scan") : src, to = staged ? from : dst;
  if (staged) copy(s, src, from);
  ir::ValueId x = emit_box(s, from), y = emit_box(s, to);
  ir::OpId made = t.builder.op(OpKind::scan, {x, y});
  set(s, made, "op", std::move(op));
  set(s, made, "dim", MetaInt(static_cast<int64_t>(dim)));
  set(s, made, "reverse", MetaInt(flag(s, a, "reverse")));
  add_annotations(s, a, made);
  if (staged) copy(s, from, dst);
  return none();
}
Value cumsum(Session& s, Scope&, Args& a) { return scan(s, a, "sum"); }
Value cummax(Session& s, Scope&, Args& a) { return scan(s, a, "max"); }

// ---------------------------------------------------------------------------------------------- reducers
ir::ValueId reducer(Session& s, const Args& a, std::string_view name) {
  const auto* b = a.need(name).as<BufferV>();
  ir::OpId def = b ? s.module[b->id].def : ir::OpId{};
  if (!def.valid() || !ir::find_attr(s.module[def].attrs, "reducer"))
    fail(a.where, std::string("T.") + a.builtin->name + " takes what T.alloc_reducer made");
  return b->id;
}
Value reducer_init(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  ir::ValueId r = reducer(s, a, "reducer");
  std::vector<ir::ValueId> operands{r};
  if (a.given("init")) operands.push_back(convert(s, scalar_arg(s, a, "init"), s.module[r].type.dtype));
  t.builder.op(OpKind::reducer_init, std::move(operands));
  return none();
}
Value reducer_update(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  const Value& target = a.need("target");
  const auto* r = target.as<const RegionObject*>();
  if (!r || (*r)->has_slice) fail(a.where, "T.reducer_update takes an element of a reducer: acc[i]");
  std::vector<ir::ValueId> operands = element_arg(s, a, "target");
  ir::OpId def = s.module[operands[0]].def;
  if (!def.valid() || !ir::find_attr(s.module[def].attrs, "reducer"))
    fail(a.where, "T.reducer_update takes an element of what T.alloc_reducer made");
  operands.push_back(convert(s, scalar_arg(s, a, "value"), s.module[operands[0]].type.dtype));
  t.builder.op(OpKind::reducer_update, std::move(operands));
  return none();
}
Value finalize_reducer(Session& s, Scope&, Args& a) {
  Trace& t = collective(s, a);
  std::vector<ir::ValueId> operands{reducer(s, a, "reducer")};
  if (a.given("dst")) operands.push_back(region_arg(s, a, "dst"));
  ir::OpId op = t.builder.op(OpKind::reducer_finalize, std::move(operands));
  if (const Value* v = a.get("batch")) {
    MetaInt batch = to_int(s, *v, a.where, "batch");
    if (batch.value < 1) fail(a.where, "batch is at least 1, not " + std::to_string(batch.value));
    if (batch.value > 1) set(s, op, "batch", batch);
  }
  add_annotations(s, a, op);
  return none();
}

// ---------------------------------------------------------------------------------------------- any, all
// A buffer, or a slice of the innermost dimension.
Value truth_of(Session& s, const Args& a, std::string_view row) {
  Trace& t = in_launch(s, a);
  Box box = box_arg(s, a, "buffer");
  for (size_t i = 0; !box.whole && i + 1 < box.extents.size(); ++i)
    if (box.extents[i].value != 1)
      fail_unsupported(a.where, std::string("T.") + a.builtin->name + " of a slice before the last dimension");
  return scalar(t.builder.call(row, {emit_box(s, box)}, ir::Type::scalar(DType::b1)));
}
Value any_of(Session& s, Scope&, Args& a) { return truth_of(s, a, "any_of"); }
Value all_of(Session& s, Scope&, Args& a) { return truth_of(s, a, "all_of"); }

#define REDUCE "buffer, out, dim=, clear=, batch=, annotations="
#define REDUCE_NAN "buffer, out, dim=, clear=, batch=, nan_propagate=, annotations="
constexpr Builtin kRows[] = {
    {"T", "fill", "buffer, value, annotations=", fill},
    {"T", "clear", "buffer, annotations=", clear},
    {"T", "reduce", "buffer, out, reduce_type, dim, clear, batch=, annotations=, *, nan_propagate=~", reduce_any},
    {"T", "reduce_sum", REDUCE, reduce_as<kSum>},
    {"T", "reduce_max", REDUCE_NAN, reduce_as<kMax>},
    {"T", "reduce_min", REDUCE_NAN, reduce_as<kMin>},
    {"T", "reduce_abssum", "buffer, out, dim=, batch=, annotations=", reduce_as<kAbsSum>},
    {"T", "reduce_absmax", REDUCE_NAN, reduce_as<kAbsMax>},
    {"T", "reduce_bitand", REDUCE, reduce_as<kBitAnd>},
    {"T", "reduce_bitor", REDUCE, reduce_as<kBitOr>},
    {"T", "reduce_bitxor", REDUCE, reduce_as<kBitXor>},
    {"T", "cumsum", "src, dst=, dim=, reverse=, annotations=", cumsum},
    {"T", "cummax", "src, dst=, dim=, reverse=, annotations=", cummax},
    {"T", "reducer_init", "reducer, init=", reducer_init},
    {"T", "reducer_update", "target, value", reducer_update},
    {"T", "finalize_reducer", "reducer, dst=, batch=, annotations=", finalize_reducer},
    {"T", "any_of", "buffer", any_of},
    {"T", "all_of", "buffer", all_of},
};
}  // namespace

std::span<const Builtin> tile_builtins() { return kRows; }

}  // namespace tc::eval
