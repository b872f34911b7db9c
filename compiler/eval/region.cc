// Indexing of buffers, and the extents of copies.
//   A[by * 64, k]              an element, or the head of a region that takes its extents from the other side
//   A[by * 64 : (by + 1) * 64, 0:K]   a region of 64 x K elements: a slice's length is the constant difference of its
//   ends
// Copy extents follow the reference: a missing side starts as ones; equal counts of non-1 extents
// are left alone, else the lists are aligned at the right and a 1 adopts its partner; slices are clamped to the result.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

// One subscript: written as a slice, or a value (which may be slice(…), or T.Ramp).
struct Index {
  const ast::Slice* slice;
  Value value;
  SourceRange where;
};

void add_index(Session& s, Scope& scope, const ast::Expr& e, std::vector<Index>& out) {
  if (const auto* slice = std::get_if<ast::Slice>(&e.node)) return out.push_back({slice, none(), e.where});
  if (const auto* star = std::get_if<ast::Starred>(&e.node)) {
    for (Value& v : to_items(s, eval(s, scope, *star->value), e.where, "what * unpacks"))
      out.push_back({nullptr, std::move(v), e.where});
    return;
  }
  out.push_back({nullptr, eval(s, scope, e), e.where});
}

// A[i, 0:4], A[index] where `index` is a tuple, A[*index, 0].
std::vector<Index> index_items(Session& s, Scope& scope, const ast::Expr& index) {
  std::vector<Index> out;
  if (const auto* t = std::get_if<ast::TupleExpr>(&index.node)) {
    for (ast::ExprRef item : t->items) add_index(s, scope, *item, out);
    return out;
  }
  add_index(s, scope, index, out);
  if (out.size() != 1 || (!out[0].value.is<const TupleObject*>() && !out[0].value.is<ListObject*>())) return out;
  std::vector<Value> items = to_items(s, out[0].value, index.where, "the subscript");
  out.clear();
  for (Value& v : items) out.push_back({nullptr, std::move(v), index.where});
  return out;
}

RegionDim plain_index(Session& s, const Value& v, const SourceRange& where, const MetaInt& extent) {
  if (v.is<MetaInt>()) {
    MetaInt i = *v.as<MetaInt>();
    if (i.value < 0) i = meta(s, ir::MetaKind::add, extent, i, where);
    if (!extent.dynamic() && (i.value < 0 || i.value >= extent.value))
      warn(s, where,
           "index " + std::to_string(v.as<MetaInt>()->value) + " of " + std::to_string(extent.value) +
               " elements is outside: reads give 0, writes are skipped");
    return {to_index(s, integer(i), where, "the index"), {}};
  }
  return {to_index(s, v, where, "the index"), {}};
}

// A bound: a number below 0 counts from the end.
ir::ValueId bound(Session& s, const Value& v, const MetaInt& otherwise, const MetaInt& extent,
                  const SourceRange& where) {
  if (v.is<NoneV>()) return to_index(s, integer(otherwise), where, "the bound of the slice");
  if (const auto* i = v.as<MetaInt>(); i && i->value < 0)
    return to_index(s, integer(meta(s, ir::MetaKind::add, extent, *i, where)), where, "the bound of the slice");
  return to_index(s, v, where, "the bound of the slice");
}

RegionDim slice_index(Session& s, const Value& low, const Value& high, const Value& by, const SourceRange& where,
                      const MetaInt& extent) {
  MetaInt step = by.is<NoneV>() ? MetaInt(1) : to_int(s, by, where, "the step");
  pin(s, step, where);
  if (step.value < 1) fail(where, "a slice with step " + std::to_string(step.value));
  ir::ValueId lower = bound(s, low, MetaInt(0), extent, where), upper = bound(s, high, extent, extent, where);
  auto length = constant_difference(s, upper, lower, where);
  if (!length && step.value != 1) fail_unsupported(where, "a step of a slice whose length is known at run time only");
  if (!length) return {lower, runtime_extent(s, scalar_binary(s, ir::OpKind::sub, upper, lower))};
  if (!length->dynamic() && length->value <= 0)
    fail(where, "the slice has " + std::to_string(length->value) + " elements");
  if (step.value == 1) return {lower, *length};
  return {lower, meta(s, ir::MetaKind::ceildiv, *length, step, where), step.value};
}

RegionDim index_dim(Session& s, Scope& scope, const Index& index, const MetaInt& extent) {
  auto written = [&](ast::ExprRef e) { return e ? eval(s, scope, *e) : none(); };
  if (const ast::Slice* slice = index.slice)
    return slice_index(s, written(slice->lower), written(slice->upper), written(slice->step), index.where, extent);
  const auto* object = index.value.as<const LibraryObject*>();
  if (!object || (*object)->kind != LibraryKind::slice) return plain_index(s, index.value, index.where, extent);
  const LibraryObject& o = **object;
  return slice_index(s, *o.field("lower"), *o.field("upper"), *o.field("step"), index.where, extent);
}
}  // namespace

ir::Type buffer_type(Session& s, const BufferV& b) { return s.module[b.id].type; }

Value index_buffer(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const SourceRange& where) {
  need_trace(s, where, "indexing a buffer");
  std::vector<Index> items = index_items(s, scope, index);
  std::vector<MetaInt> shape = buffer_type(s, buffer).shape;
  if (items.size() != shape.size())
    fail(where, "'" + s.module[buffer.id].name + "' has " + std::to_string(shape.size()) +
                    " dimensions, the subscript has " + std::to_string(items.size()));
  RegionObject region{buffer, {}, false};
  for (size_t i = 0; i < items.size(); ++i) {
    region.dims.push_back(index_dim(s, scope, items[i], shape[i]));
    region.has_slice |= region.dims.back().extent.has_value();
  }
  s.heap.regions.push_back(std::move(region));
  return Value{static_cast<const RegionObject*>(&s.heap.regions.back())};
}

Value load_element(Session& s, const Value& v, const SourceRange& where) {
  Trace& t = need_trace(s, where, "reading a buffer");
  if (const auto* b = v.as<BufferV>()) return scalar(t.builder.load(b->id, std::array{constant(s, MetaInt(0))}));
  const RegionObject& region = **v.as<const RegionObject*>();
  if (buffer_type(s, region.buffer).space == ir::Space::barrier) fail(where, "a barrier has no value");
  std::vector<ir::ValueId> indices;
  for (const RegionDim& d : region.dims) indices.push_back(d.offset);
  return scalar(t.builder.load(region.buffer.id, indices));
}

std::optional<Box> to_box(Session& s, const Value& v, const SourceRange& where) {
  if (const auto* b = v.as<BufferV>()) {
    Box box{*b, {}, buffer_type(s, *b).shape, true};
    for (size_t i = 0; i < box.extents.size(); ++i) box.offsets.push_back(constant(s, MetaInt(0)));
    return box;
  }
  if (const auto* r = v.as<const RegionObject*>()) {
    Box box{(*r)->buffer, {}, {}, false};
    for (const RegionDim& d : (*r)->dims) {
      if (d.step != 1) fail_unsupported(where, "a slice with a step, but as a value");
      box.offsets.push_back(d.offset);
      box.extents.push_back(d.extent.value_or(MetaInt(1)));
    }
    return box;
  }
  return std::nullopt;
}

ir::ValueId emit_box(Session& s, const Box& box) {
  if (box.whole) return box.buffer.id;
  std::vector<ir::ValueId> extents;
  for (const MetaInt& e : box.extents) extents.push_back(constant(s, e));
  return s.trace->builder.region(box.buffer.id, box.offsets, extents);
}

namespace {
using Extents = std::vector<MetaInt>;

size_t non_one(const Extents& e) {
  return static_cast<size_t>(std::count_if(e.begin(), e.end(), [](const MetaInt& i) { return i.value != 1; }));
}

MetaInt smaller(Session& s, const MetaInt& a, const MetaInt& b, const SourceRange& where) {
  if (a.value == b.value && (!a.dynamic() || a.expr == b.expr)) {
    require_equal(s, a, b, where);
    return a;
  }
  if (a.dynamic() || b.dynamic()) return ir::meta_binary(s.module, ir::MetaKind::min, a, b);
  const MetaInt &low = a.value < b.value ? a : b, &high = a.value < b.value ? b : a;
  std::vector<std::string> params;
  ir::meta_params(s.module, low.expr, params);
  ir::meta_params(s.module, high.expr, params);
  add_precondition(s, ir::meta_text(s.module, low) + " < " + ir::meta_text(s.module, high), params, where);
  return low;
}

void legalize(Session& s, Extents& a, Extents& b, const SourceRange& where) {
  if (non_one(a) == non_one(b)) return;
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    MetaInt &x = a[a.size() - i], &y = b[b.size() - i];
    if (x.value == y.value) continue;
    if (x.value == 1) x = y;
    else if (y.value == 1) y = x;
    else if (x.dynamic() || y.dynamic()) x = y = ir::meta_binary(s.module, ir::MetaKind::max, x, y);
    else x = y = smaller(s, x, y, where).value == x.value ? y : x;  // the larger
  }
}

Box with_extents(Session& s, const Value& v, const Extents& extents, const SourceRange& where) {
  Box box = *to_box(s, v, where);
  const auto* region = v.as<const RegionObject*>();
  bool sliced = region && (*region)->has_slice;
  if (region && !sliced) {
    if (extents.size() > box.offsets.size())
      fail(where, "the other side has " + std::to_string(extents.size()) + " dimensions, this index " +
                      std::to_string(box.offsets.size()));
    box.extents.assign(box.offsets.size() - extents.size(), MetaInt(1));
    box.extents.insert(box.extents.end(), extents.begin(), extents.end());
    return box;
  }
  if (extents.size() != box.extents.size()) fail(where, "the sides of the copy differ in dimensions");
  for (size_t i = 0; i < extents.size(); ++i) {
    if (sliced) {
      box.extents[i] = smaller(s, box.extents[i], extents[i], where);
    } else if (box.extents[i].value != extents[i].value) {
      box.whole = false;
      box.extents[i] = extents[i];
    }
  }
  return box;
}

// Which side's extents count where they differ: that of the inner memory, else the source's.
int depth(ir::Space space) {
  bool inner = space == ir::Space::fragment || space == ir::Space::local;
  return inner ? 2 : space == ir::Space::global ? 0 : 1;
}

std::string shape_text(const Extents& e) {
  std::string out;
  for (const MetaInt& i : e) out += (out.empty() ? "" : " x ") + (i.dynamic() ? "?" : std::to_string(i.value));
  return out.empty() ? std::string("1") : out;
}

std::vector<MetaInt*> non_ones(Box& box) {
  std::vector<MetaInt*> out;
  for (MetaInt& e : box.extents)
    if (e.value != 1) out.push_back(&e);
  return out;
}

// Extents that differ: the leading side's are copied, as the reference does, unless the source has more.
void match(Session& s, Box& a, Box& b, const SourceRange& where) {
  std::vector<MetaInt*> x = non_ones(a), y = non_ones(b);
  auto values = [](const std::vector<MetaInt*>& list) {
    Extents out;
    for (const MetaInt* e : list) out.push_back(*e);
    return out;
  };
  std::string sides =
      "the source of the copy has " + shape_text(values(x)) + " elements, the destination " + shape_text(values(y));
  if (x.size() != y.size()) fail(where, sides);
  ir::Space from = buffer_type(s, a.buffer).space, to = buffer_type(s, b.buffer).space;
  bool by_destination = depth(to) > depth(from), widened = false;
  for (size_t i = 0; i < x.size(); ++i) {
    // Of extents known at run time only nothing is proved.
    if (x[i]->dynamic() || y[i]->dynamic() || (x[i]->value == y[i]->value && require_equal(s, *x[i], *y[i], where)))
      continue;
    bool store = depth(from) == 1 && to == ir::Space::global;  // one instruction may do it: it takes equal sides
    if (store || (by_destination && y[i]->value < x[i]->value)) fail(where, sides);
    (by_destination ? *x[i] : *y[i]) = by_destination ? *y[i] : *x[i];
    (by_destination ? a : b).whole = false;
    widened = true;
  }
  if (widened)
    warn(s, where, sides + ": what is copied has the size of the " + (by_destination ? "destination" : "source"));
}

bool has_extents(const Value& v) {
  const auto* r = v.as<const RegionObject*>();
  return v.is<BufferV>() || (r && (*r)->has_slice);
}
}  // namespace

std::pair<Box, Box> copy_boxes(Session& s, const Value& src, const Value& dst, const SourceRange& where) {
  for (auto [side, name] :
       {std::pair(&src, "the source of the copy"), std::pair(&dst, "the destination of the copy")}) {
    if (const auto* o = side->as<const OpaqueObject*>()) fail_opaque(**o, where, name);
    if (!to_box(s, *side, where))
      fail(where, std::string(name) + " has to be a buffer or a region, not " + kind_name(*side));
  }
  Box a = *to_box(s, src, where), b = *to_box(s, dst, where);
  if (a.whole && b.whole) {
    bool same = a.extents.size() == b.extents.size();
    for (size_t i = 0; same && i < a.extents.size(); ++i) same = require_equal(s, a.extents[i], b.extents[i], where);
    if (!same)
      fail(where, "whole buffers of different shapes: " + ir::type_text(s.module, buffer_type(s, a.buffer)) + " and " +
                      ir::type_text(s.module, buffer_type(s, b.buffer)));
  }
  if (!has_extents(src) && !has_extents(dst)) return {a, b};  // one element
  Extents x = has_extents(src) ? a.extents : Extents(b.extents.size(), MetaInt(1));
  Extents y = has_extents(dst) ? b.extents : Extents(a.extents.size(), MetaInt(1));
  legalize(s, x, y, where);
  std::pair<Box, Box> boxes{with_extents(s, src, x, where), with_extents(s, dst, y, where)};
  match(s, boxes.first, boxes.second, where);
  return boxes;
}

}  // namespace tc::eval
