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

// One dimension of a subscript: a slice as it is written, or an index.
struct Subscript {
  const ast::Slice* slice;
  Value index;
  SourceRange where;
};

// Tuples of indices stand for their items: A[(i, j)], A[*rest, j].
std::vector<Subscript> subscripts(Session& s, Scope& scope, const ast::Expr& index) {
  std::vector<const ast::Expr*> items{&index};
  if (const auto* t = std::get_if<ast::TupleExpr>(&index.node)) items.assign(t->items.begin(), t->items.end());
  std::vector<Subscript> out;
  for (const ast::Expr* e : items) {
    if (const auto* slice = std::get_if<ast::Slice>(&e->node)) {
      out.push_back({slice, none(), e->where});
      continue;
    }
    const auto* starred = std::get_if<ast::Starred>(&e->node);
    Value v = eval(s, scope, starred ? *starred->value : *e);
    bool several = starred || (items.size() == 1 && (v.is<const TupleObject*>() || v.is<ListObject*>()));
    if (!several) out.push_back({nullptr, std::move(v), e->where});
    else
      for (Value& item : to_items(s, v, e->where, "the subscript")) out.push_back({nullptr, std::move(item), e->where});
  }
  return out;
}

RegionDim plain_index(Session& s, const Value& v, const MetaInt& extent, const SourceRange& where) {
  if (v.is<MetaInt>()) {
    MetaInt i = *v.as<MetaInt>();
    if (i.value < 0) i = meta(s, ir::MetaKind::add, extent, i, where);
    return {to_index(s, integer(i), where, "the index"), {}};
  }
  return {to_index(s, v, where, "the index"), {}};
}

RegionDim slice_index(Session& s, Scope& scope, const ast::Slice& slice, const SourceRange& where,
                      const MetaInt& extent) {
  if (slice.step && to_int(s, eval(s, scope, *slice.step), slice.step->where, "the step").value != 1)
    fail_unsupported(where, "a slice with a step");
  auto bound = [&](ast::ExprRef e, const MetaInt& otherwise) {
    Value v = e ? eval(s, scope, *e) : integer(otherwise);
    if (const auto* i = v.as<MetaInt>(); i && i->value < 0) fail_unsupported(e->where, "a negative bound of a slice");
    return to_index(s, v, e ? e->where : where, "the bound of the slice");
  };
  ir::ValueId lower = bound(slice.lower, MetaInt(0)), upper = bound(slice.upper, extent);
  auto length = constant_difference(s, upper, lower, where);
  if (!length) return {lower, runtime_extent(s, scalar_binary(s, ir::OpKind::sub, upper, lower))};
  if (!length->dynamic() && length->value <= 0)
    fail(where, "the slice has " + std::to_string(length->value) + " elements");
  return {lower, *length};
}
}  // namespace

const ir::Type& buffer_type(Session& s, const BufferV& b) { return s.module[b.id].type; }

Value index_buffer(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const SourceRange& where) {
  need_trace(s, where, "indexing a buffer");
  std::vector<Subscript> items = subscripts(s, scope, index);
  std::vector<MetaInt> shape = buffer_type(s, buffer).shape;
  if (items.size() != shape.size())
    fail(where, "'" + s.module[buffer.id].name + "' has " + std::to_string(shape.size()) +
                    " dimensions, the subscript has " + std::to_string(items.size()));
  RegionObject region{buffer, {}, false};
  for (size_t i = 0; i < items.size(); ++i) {
    const Subscript& item = items[i];
    region.has_slice |= item.slice != nullptr;
    region.dims.push_back(item.slice ? slice_index(s, scope, *item.slice, item.where, shape[i])
                                     : plain_index(s, item.index, shape[i], item.where));
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

std::optional<Box> to_box(Session& s, const Value& v, const SourceRange&) {
  if (const auto* b = v.as<BufferV>()) {
    Box box{*b, {}, buffer_type(s, *b).shape, true};
    for (size_t i = 0; i < box.extents.size(); ++i) box.offsets.push_back(constant(s, MetaInt(0)));
    return box;
  }
  if (const auto* r = v.as<const RegionObject*>()) {
    Box box{(*r)->buffer, {}, {}, false};
    for (const RegionDim& d : (*r)->dims) {
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

void check_match(Session& s, const Box& a, const Box& b, const SourceRange& where) {
  Extents x, y;
  for (const MetaInt& e : a.extents)
    if (e.value != 1) x.push_back(e);
  for (const MetaInt& e : b.extents)
    if (e.value != 1) y.push_back(e);
  auto shape = [](const Extents& e) {
    std::string out;
    for (const MetaInt& i : e) out += (out.empty() ? "" : " x ") + (i.dynamic() ? "?" : std::to_string(i.value));
    return out.empty() ? std::string("1") : out;
  };
  bool same = x.size() == y.size();
  // Of extents known at run time only nothing is proved.
  for (size_t i = 0; same && i < x.size(); ++i)
    same = x[i].dynamic() || y[i].dynamic() || require_equal(s, x[i], y[i], where);
  if (!same) fail(where, "the source of the copy has " + shape(x) + " elements, the destination " + shape(y));
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
  check_match(s, boxes.first, boxes.second, where);
  return boxes;
}

}  // namespace tc::eval
