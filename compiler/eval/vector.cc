// Slices as values: a subscript of constant length is a vector where a value is needed, and an assignment to one stores
// its elements, lowest first. All that is read is read before the first store.
//   A[i : i + 4] = B[0:4]        four loads, four stores
//   A[0:8:2] = x                 x to elements 0, 2, 4, 6; the lanes of x where it is a vector of four
//   x = T.reinterpret(A[0:2], …) two loads, put together to one value of two lanes
// Refused: slices of more than one dimension or of a length that is not known, vectors of another number of lanes.
// Source: TVM's buffer loads and stores with a ramp as their last index.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
constexpr size_t kMaxLanes = 64;  // of a vector type

// Which dimension is sliced, and how many elements there are.
std::pair<size_t, int64_t> sliced_dimension(const RegionObject& region, const SourceRange& where) {
  size_t dim = region.dims.size();
  for (size_t i = 0; i < region.dims.size(); ++i) {
    const RegionDim& d = region.dims[i];
    if (!d.extent || (!d.extent->dynamic() && d.extent->value == 1)) continue;
    if (d.extent->dynamic()) fail(where, "the length of the slice has to be known when the kernel is built");
    if (dim != region.dims.size()) fail_unsupported(where, "a slice of more than one dimension as a value");
    dim = i;
  }
  return {dim, dim == region.dims.size() ? 1 : region.dims[dim].extent->value};
}

std::vector<ir::ValueId> element(Session& s, const RegionObject& region, size_t dim, int64_t i) {
  std::vector<ir::ValueId> indices;
  for (const RegionDim& d : region.dims) indices.push_back(d.offset);
  if (dim < indices.size() && i > 0)
    indices[dim] = scalar_binary(s, ir::OpKind::add, indices[dim], constant(s, ir::MetaInt(i * region.dims[dim].step)));
  return indices;
}

std::vector<ir::ValueId> load_elements(Session& s, const RegionObject& region, const SourceRange& where) {
  auto [dim, count] = sliced_dimension(region, where);
  std::vector<ir::ValueId> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(s.trace->builder.load(region.buffer.id, element(s, region, dim, i)));
  return out;
}

// The values for `count` elements of the buffer's type.
std::vector<ir::ValueId> stored_values(Session& s, const Value& value, int64_t count, uint32_t target_lanes,
                                       const SourceRange& where) {
  const auto* region = value.as<const RegionObject*>();
  std::vector<ir::ValueId> out;
  if (region && (*region)->has_slice) out = load_elements(s, **region, where);
  else out = {to_scalar(s, value, where, "the stored value")};
  uint32_t lanes = s.module[out[0]].type.lanes;
  if (out.size() == 1 && lanes > 1 && target_lanes == 1) {
    ir::ValueId vector = out[0];
    ir::Type type = ir::Type::scalar(dtype_of(s, vector));
    out.clear();
    for (uint32_t i = 0; i < lanes; ++i)
      out.push_back(s.trace->builder.call("lane_of", {vector, constant(s, ir::MetaInt(i))}, type));
  }
  if (out.size() == 1) out.resize(static_cast<size_t>(count), out[0]);
  if (out.size() != static_cast<size_t>(count))
    fail(where, std::to_string(out.size()) + " values for a slice of " + std::to_string(count) + " elements");
  return out;
}

// Into an element of several lanes goes a vector of as many, or a number for all.
ir::ValueId as_element(Session& s, ir::ValueId v, const ir::Type& type, const SourceRange& where) {
  uint32_t lanes = s.module[v].type.lanes;
  if (lanes == type.lanes) return v;
  if (lanes != 1)
    fail(where, "a vector of " + std::to_string(lanes) + " lanes for an element of " + std::to_string(type.lanes));
  return s.trace->builder.call("broadcast", {v}, ir::Type::scalar(type.dtype, type.lanes));
}
}  // namespace

Value slice_object(Session& s, Value lower, Value upper, Value step) {
  return library(s, LibraryKind::slice, "slice", {{"lower", lower}, {"upper", upper}, {"step", step}});
}

ir::ValueId vector_of(Session& s, const std::vector<ir::ValueId>& elements, const SourceRange& where) {
  size_t n = elements.size();
  if (n == 1) return elements[0];
  if (n * s.module[elements[0]].type.lanes > kMaxLanes || (n & (n - 1)) != 0)
    fail_unsupported(where, "a vector of " + std::to_string(n) + " elements; 2, 4, 8, 16, 32 and 64 are");
  std::vector<ir::ValueId> level = elements;
  ir::Type type = s.module[level[0]].type;
  while (level.size() > 1) {
    type.lanes *= 2;
    std::vector<ir::ValueId> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(
          s.trace->builder.call("vector_combine", {level[i], level[i + 1]}, ir::Type::scalar(type.dtype, type.lanes)));
    level = std::move(next);
  }
  return level[0];
}

ir::ValueId slice_value(Session& s, const RegionObject& region, const SourceRange& where) {
  return vector_of(s, load_elements(s, region, where), where);
}

ir::ValueId cast_value(Session& s, ir::ValueId v, const ElementType& to, const SourceRange& where) {
  uint32_t lanes = s.module[v].type.lanes;
  if (to.lanes != 1 && to.lanes != lanes)
    fail(where, "a cast from " + std::to_string(lanes) + " to " + std::to_string(to.lanes) + " lanes");
  return convert(s, v, to.dtype);
}

void store_slice(Session& s, const RegionObject& region, const Value& value, const SourceRange& where) {
  auto [dim, count] = sliced_dimension(region, where);
  constexpr int64_t kMaxStores = 256;
  if (count > kMaxStores)
    fail_unsupported(where, "an assignment to a slice of more than " + std::to_string(kMaxStores) +
                                " elements; T.copy and T.fill do that");
  const ir::Type type = buffer_type(s, region.buffer);
  std::vector<ir::ValueId> values = stored_values(s, value, count, type.lanes, where);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<ir::ValueId> operands{region.buffer.id};
    for (ir::ValueId index : element(s, region, dim, i)) operands.push_back(index);
    operands.push_back(as_element(s, convert(s, values[static_cast<size_t>(i)], type.dtype), type, where));
    s.trace->builder.op(ir::OpKind::store, std::move(operands));
  }
}

}  // namespace tc::eval
