// The same memory under another type, and pointers into it.
//   T.view(x, (64, 32), "float32")   as many bits as x has; an op `view`
//   T.make_tensor(p[i], (M, K), t)   global memory at the address p[i]; an op `pointer_view`
//   T.access_ptr(A[i, j], "r", 8)    8 elements from A[i, j] on: a region, where a function takes it
#include "compiler/eval/builtin.h"

namespace tc::eval {
using ir::MetaInt;

namespace {
// Elements times bits, where all extents are known; nullopt: not at this time.
std::optional<int64_t> bits_of(const std::vector<MetaInt>& shape, DType dtype, uint32_t lanes) {
  int64_t bits = static_cast<int64_t>(info(dtype).bits) * lanes;
  for (const MetaInt& e : shape) {
    if (e.dynamic()) return std::nullopt;
    bits *= e.value;
  }
  return bits;
}
}  // namespace

Value view_of(Session& s, const Args& a, const Box& source, ElementType element, std::vector<MetaInt> shape,
              std::vector<MetaInt> strides) {
  Trace& t = traced(s, a);
  const ir::Type from = buffer_type(s, source.buffer);
  auto have = bits_of(from.shape, from.dtype, from.lanes), want = bits_of(shape, element.dtype, element.lanes);
  if (source.whole && strides.empty() && have && want && *have != *want)
    fail(a.where, "the view has " + std::to_string(*want) + " bits, what it views " + std::to_string(*have));
  ir::Type type = ir::Type::buffer(from.space, element.dtype, std::move(shape));
  type.lanes = element.lanes;
  type.strides = std::move(strides);
  std::vector<ir::ValueId> operands{source.buffer.id};
  if (!source.whole) operands.insert(operands.end(), source.offsets.begin(), source.offsets.end());
  ir::OpId op = s.module.new_op(t.builder.block, ir::OpKind::view, std::move(operands), {std::move(type)}, a.where);
  return Value{BufferV{s.module[op].results[0], false}};
}

namespace {
Value view(Session& s, Scope&, Args& a) {
  Box source = box_arg(s, a, "src");
  const ir::Type from = buffer_type(s, source.buffer);
  ElementType element =
      a.given("dtype") ? to_element(s, a.need("dtype"), a.where) : ElementType{from.dtype, from.lanes};
  std::vector<MetaInt> shape = a.given("shape") ? to_shape(s, a.need("shape"), a.where) : from.shape, strides;
  if (a.given("strides")) strides = to_shape(s, a.need("strides"), a.where, 0);
  if (!strides.empty() && strides.size() != shape.size())
    fail(a.where, "the view has " + std::to_string(shape.size()) + " extents and " + std::to_string(strides.size()) +
                      " strides");
  return view_of(s, a, source, element, std::move(shape), std::move(strides));
}

// Global memory at an address that the kernel computes or is given.
Value at_address(Session& s, Args& a, const Value& address) {
  Trace& t = traced(s, a);
  const auto* object = address.as<const LibraryObject*>();
  if (object && (*object)->kind == LibraryKind::pointer)
    return view_of(s, a, pointed_to(s, address, a.where, "the pointer"),
                   a.given("dtype") ? to_element(s, a.need("dtype"), a.where) : ElementType{DType::f32, 1},
                   to_shape(s, a.need("shape"), a.where), {MetaInt(0)});
  ElementType element = a.given("dtype") ? to_element(s, a.need("dtype"), a.where) : ElementType{DType::f32, 1};
  ir::Type type = ir::Type::buffer(ir::Space::global, element.dtype, to_shape(s, a.need("shape"), a.where, 1, true));
  type.lanes = element.lanes;
  if (a.given("strides")) type.strides = to_shape(s, a.need("strides"), a.where, 0, true);
  ir::ValueId pointer = to_index(s, address, a.where, "the address");
  ir::OpId op = s.module.new_op(t.builder.block, ir::OpKind::pointer_view, {pointer}, {std::move(type)}, a.where);
  return Value{BufferV{s.module[op].results[0], false}};
}
Value make_tensor(Session& s, Scope&, Args& a) { return at_address(s, a, a.need("ptr")); }
Value make_tensor_from_addr(Session& s, Scope&, Args& a) {
  if (const Value* scope = a.get("storage_scope"))
    if (to_text(*scope, a.where, "storage_scope") != "global")
      fail_unsupported(a.where, "T.make_tensor_from_addr of memory that is not global");
  return at_address(s, a, a.need("addr"));
}

std::string access_of(Session& s, const Value& v, const SourceRange& where) {
  static constexpr std::string_view kByMask[] = {"", "r", "w", "rw"};
  if (v.is<MetaInt>()) {
    int64_t mask = to_int(s, v, where, "the access").value;
    if (mask >= 1 && mask <= 3) return std::string(kByMask[mask]);
  } else {
    std::string text = to_text(v, where, "the access");
    if (text == "r" || text == "w" || text == "rw") return text;
  }
  fail(where, "the access of a pointer is \"r\", \"w\" or \"rw\"");
}

Value pointer(Session& s, const Box& box, std::string access) {
  RegionObject region{box.buffer, {}, true};
  for (size_t i = 0; i < box.offsets.size(); ++i) region.dims.push_back({box.offsets[i], box.extents[i]});
  s.heap.regions.push_back(std::move(region));
  Value target = box.whole ? Value{box.buffer} : Value{static_cast<const RegionObject*>(&s.heap.regions.back())};
  return library(s, LibraryKind::pointer, "pointer", {{"target", target}, {"access", text(std::move(access))}});
}

// `count` elements from the corner on: along the innermost dimension.
void take_elements(Session& s, Box& box, const Value& count, const SourceRange& where) {
  for (MetaInt& e : box.extents) e = MetaInt(1);
  box.extents.back() = to_int(s, count, where, "the extent of the pointer");
  box.whole = false;
}

Value access_ptr(Session& s, Scope&, Args& a) {
  traced(s, a);
  Box box = box_arg(s, a, "base");
  std::string access = a.given("access_type") ? access_of(s, a.need("access_type"), a.where) : "r";
  if (const Value* ignored = a.get("ignore_last_ndim")) {
    int64_t n = to_int(s, *ignored, a.where, "ignore_last_ndim").value;
    for (size_t i = 0; i < box.offsets.size(); ++i)
      if (static_cast<int64_t>(box.offsets.size() - i) <= n) box.offsets[i] = constant(s, MetaInt(0));
  }
  if (const Value* offset = a.get("offset")) {
    bool zero = offset->is<MetaInt>() && offset->as<MetaInt>()->value == 0;
    if (!zero && box.offsets.size() != 1)
      fail(a.where, "T.access_ptr takes an offset for buffers of one dimension only; index it instead");
    if (!zero) {
      box.offsets[0] = scalar_binary(s, ir::OpKind::add, box.offsets[0], index_arg(s, a, "offset"));
      box.whole = false;
    }
  }
  std::vector<Value> extents = a.rest;
  if (extents.size() == 1 && (extents[0].is<ListObject*>() || extents[0].is<const TupleObject*>()))
    extents = to_items(s, extents[0], a.where, "the extents");
  if (extents.size() > box.extents.size())
    fail(a.where, std::to_string(extents.size()) + " extents for a buffer of " + std::to_string(box.extents.size()) +
                      " dimensions");
  if (const Value* extent = a.get("extent")) {
    take_elements(s, box, *extent, a.where);
  } else if (!extents.empty()) {
    for (MetaInt& e : box.extents) e = MetaInt(1);
    for (size_t i = 0; i < extents.size(); ++i)
      box.extents[box.extents.size() - extents.size() + i] = to_int(s, extents[i], a.where, "an extent");
    box.whole = false;
  }
  return pointer(s, box, std::move(access));
}

// T.tvm_access_ptr(type, data, offset, extent, mask): elements of the flat buffer.
Value tvm_access_ptr(Session& s, Scope&, Args& a) {
  traced(s, a);
  Box box = box_arg(s, a, "data");
  std::string access = access_of(s, a.need("rw_mask"), a.where);
  if (box.offsets.size() > 1) {
    int64_t count = ir::element_count(buffer_type(s, box.buffer));
    Value flat =
        view_of(s, a, box, {buffer_type(s, box.buffer).dtype, buffer_type(s, box.buffer).lanes}, {MetaInt(count)}, {});
    box = *to_box(s, flat, a.where);
  }
  box.offsets[0] = scalar_binary(s, ir::OpKind::add, box.offsets[0], index_arg(s, a, "offset"));
  take_elements(s, box, a.need("extent"), a.where);
  return pointer(s, box, std::move(access));
}

Value address_of(Session& s, Scope&, Args& a) {
  traced(s, a);
  const Value& v = a.need("obj");
  Box box = pointed_to(s, v, a.where, "'obj' of T.address_of");
  for (MetaInt& e : box.extents) e = v.is<BufferV>() ? e : MetaInt(1);
  return pointer(s, box, "rw");
}

// For library/matrix.py: the buffer of a region, and where the region begins.
Value region_parts(Session& s, Scope&, Args& a) {
  traced(s, a);
  Box box = box_arg(s, a, "region");
  std::vector<Value> first;
  for (ir::ValueId offset : box.offsets) first.push_back(scalar(offset));
  return tuple(s, {Value{box.buffer}, tuple(s, std::move(first))});
}

Value type_annotation(Session&, Scope&, Args& a) { return a.need("dtype"); }

constexpr Builtin kRows[] = {
    {"T", "view", "src, shape=, dtype=, strides=", view},
    {"T", "reshape", "src, shape", view},
    {"T", "make_tensor", "ptr, shape, dtype=, strides=", make_tensor},
    {"T", "make_tensor_from_addr", "addr, shape, dtype=, strides=, storage_scope=", make_tensor_from_addr},
    {"T", "access_ptr", "base, access_type=, *extents, offset=, extent=, ignore_last_ndim=", access_ptr},
    {"T", "tvm_access_ptr", "ptype, data, offset, extent, rw_mask", tvm_access_ptr},
    {"T", "address_of", "obj, span=", address_of},
    {"intrinsics", "_region_parts", "region", region_parts},
    {"T", "type_annotation", "dtype", type_annotation},
};
}  // namespace

std::optional<Value> buffer_attribute(Session& s, const Value& buffer, const std::string& name,
                                      const SourceRange& where) {
  const BufferV& b = *buffer.as<BufferV>();
  const ir::Type type = buffer_type(s, b);
  if (name == "data") return pointer(s, pointed_to(s, buffer, where, "the buffer"), "rw");
  if (name == "name") return text(s.module[b.id].name);
  if (name == "elem_offset") return integer(0);
  if (name == "strides") {
    std::vector<MetaInt> strides = type.strides;
    if (strides.empty()) {
      strides.assign(type.rank(), MetaInt(1));
      for (size_t i = type.rank(); i-- > 1;)
        strides[i - 1] = meta(s, ir::MetaKind::mul, strides[i], type.shape[i], where);
    }
    std::vector<Value> items;
    for (const MetaInt& e : strides) items.push_back(extent(s, e));
    return tuple(s, std::move(items));
  }
  return std::nullopt;
}

// buffer.scope(), buffer.access_ptr("r", offset=…).
Value call_buffer_method(Session& s, const Value& buffer, const std::string& name, const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  if (name == "scope") {
    static constexpr const char* kScopes[] = {"global", "shared.dyn",     "local.fragment",
                                              "local",  "shared.barrier", "shared.tmem"};
    return text(kScopes[static_cast<size_t>(buffer_type(s, *buffer.as<BufferV>()).space)]);
  }
  if (name == "access_ptr") {
    Scope scope;
    std::vector<Value> args{buffer};
    args.insert(args.end(), positional.begin(), positional.end());
    return call_builtin(s, scope, *find_builtin("T", "access_ptr"), args, keywords, where);
  }
  fail(where, "a buffer has no method '" + name + "'");
}

std::span<const Builtin> view_builtins() { return kRows; }

}  // namespace tc::eval
