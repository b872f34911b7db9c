// Types of tensors, and allocations: each is one alloc op of the buffer's type.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::Space;

Value tensor_type(Session& s, TensorType type) {
  s.heap.tensor_types.push_back(std::move(type));
  return Value{static_cast<const TensorType*>(&s.heap.tensor_types.back())};
}

ElementType element_or_f32(Session& s, const Args& a) {
  return a.given("dtype") ? to_element(s, a.need("dtype"), a.where) : ElementType{DType::f32, 1};
}

// With `data` a view of that memory, else the type of a parameter.
Value tensor_of(Session& s, Args& a, std::vector<MetaInt> strides) {
  ElementType element = element_or_f32(s, a);
  std::vector<MetaInt> shape = to_shape(s, a.need("shape"), a.where);
  if (!strides.empty() && shape.size() != strides.size())
    fail(a.where, "the tensor has " + std::to_string(shape.size()) + " extents and " + std::to_string(strides.size()) +
                      " strides");
  if (const Value* data = a.get("data"))
    return view_of(s, a, pointed_to(s, *data, a.where, "the data"), element, std::move(shape), std::move(strides));
  return tensor_type(s, {element.dtype, std::move(shape), std::move(strides), element.lanes});
}
Value tensor(Session& s, Scope&, Args& a) {
  if (const Value* scope = a.get("scope"))
    if (std::string name = to_text(*scope, a.where, "the scope"); name != "global" && !a.given("data"))
      fail_unsupported(a.where, "scope '" + name + "' of T." + a.builtin->name);
  return tensor_of(s, a, {});
}
Value strided_tensor(Session& s, Scope&, Args& a) {
  a.refuse({"scope"});
  return tensor_of(s, a, to_shape(s, a.need("strides"), a.where, 0));
}
// T.Buffer and its kinds by memory: as annotations they state a shape, with data they are views.
Value buffer(Session& s, Scope&, Args& a) {
  a.refuse({"elem_offset", "axis_separators"});
  return tensor_of(s, a, a.given("strides") ? to_shape(s, a.need("strides"), a.where, 0) : std::vector<MetaInt>());
}

Space space_of_scope(const Args& a, const std::string& scope) {
  static constexpr std::pair<std::string_view, Space> kScopes[] = {
      {"shared.dyn", Space::shared}, {"shared", Space::shared},         {"local.fragment", Space::fragment},
      {"local", Space::local},       {"local.var", Space::local},       {"global", Space::global},
      {"shared.tmem", Space::tmem},  {"local.reducer", Space::fragment}};
  for (auto [name, space] : kScopes)
    if (scope == name) return space;
  fail_unsupported(a.where, "scope '" + scope + "' of T." + a.builtin->name);
}

Value alloc(Session& s, Args& a, Space space) {
  Trace& t = space == Space::global ? traced(s, a) : in_launch(s, a);
  std::string scope = a.given("scope") ? to_text(a.need("scope"), a.where, "the scope") : "";
  if (!scope.empty()) space = space_of_scope(a, scope);
  ElementType element = to_element(s, a.need("dtype"), a.where);
  if (element.dtype == DType::e2m1_unpacked && space != Space::shared)
    fail(a.where, "float4_e2m1_unpacked is a type of shared memory only");
  ir::Type type = ir::Type::buffer(space, element.dtype, to_shape(s, a.need("shape"), a.where));
  type.lanes = element.lanes;
  ir::ValueId id = t.builder.alloc(std::move(type), "");
  // Dynamic shared memory is meant unless static is asked for; truth values are always static (the reference's rule).
  if (scope == "shared" || (space == Space::shared && element.dtype == DType::b1))
    set(s, s.module[id].def, "scope", std::string("shared"));
  if (scope == "local.var") set(s, s.module[id].def, "scope", scope);
  return Value{BufferV{id, false}};
}
Value alloc_shared(Session& s, Scope&, Args& a) { return alloc(s, a, Space::shared); }
Value alloc_fragment(Session& s, Scope&, Args& a) { return alloc(s, a, Space::fragment); }
Value alloc_local(Session& s, Scope&, Args& a) { return alloc(s, a, Space::local); }
Value alloc_global(Session& s, Scope&, Args& a) { return alloc(s, a, Space::global); }
Value alloc_buffer(Session& s, Scope&, Args& a) {
  a.refuse({"data", "strides", "elem_offset", "axis_separators"});
  return alloc(s, a, Space::shared);
}

// Tensor memory: 128 lanes of 512 columns of 32 bits.
Value alloc_tmem(Session& s, Scope&, Args& a) {
  Value made = alloc(s, a, Space::tmem);
  if (buffer_type(s, *made.as<BufferV>()).rank() < 2)
    fail(a.where, "T.alloc_tmem takes a shape of two dimensions or more");
  return made;
}

// A reducer: v2 (reducer_init, reducer_update, finalize_reducer), or with `replication` the older kind.
Value alloc_reducer(Session& s, Scope&, Args& a) {
  static constexpr std::string_view kOps[] = {"sum", "max", "min", "bitand", "bitor", "bitxor"};
  std::string op = a.given("op") ? to_text(a.need("op"), a.where, "op") : "sum";
  if (std::find(std::begin(kOps), std::end(kOps), op) == std::end(kOps))
    fail(a.where, "a reducer has op sum, max, min, bitand, bitor or bitxor, not '" + op + "'");
  Value made = alloc(s, a, Space::fragment);
  const BufferV& b = *made.as<BufferV>();
  if (op.starts_with("bit") && is_float(buffer_type(s, b).dtype))
    fail(a.where, "a reducer of op '" + op + "' takes an integer type");
  ir::OpId def = s.module[b.id].def;
  set(s, def, "reducer", op);
  if (const Value* replication = a.get("replication")) {
    std::string how = to_text(*replication, a.where, "replication");
    if (how != "all" && how != "none") fail(a.where, "replication is all or none");
    if (op.starts_with("bit")) fail(a.where, "a reducer with replication has op sum, max or min");
    set(s, def, "replication", how);
  }
  return made;
}

// T.alloc_var(dtype, [init], [scope]): one positional string is the scope, anything else the initial value.
Value alloc_var(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  const Value* init = a.get("init");
  std::string scope = a.given("scope") ? to_text(a.need("scope"), a.where, "the scope") : "local.var";
  if (a.rest.size() > 2) fail(a.where, "T.alloc_var takes a type, an initial value and a scope");
  for (size_t i = 0; i < a.rest.size(); ++i) {
    const Value& v = a.rest[i];
    bool is_scope = i == 1 || (a.rest.size() == 1 && v.is<std::string>() && !init && scope == "local.var");
    if (is_scope) {
      scope = to_text(v, a.where, "the scope");
      continue;
    }
    if (init) fail(a.where, "T.alloc_var has two initial values");
    init = &v;
  }
  ElementType element = to_element(s, a.need("dtype"), a.where);
  ir::Type type = ir::Type::buffer(space_of_scope(a, scope), element.dtype, {MetaInt(1)});
  type.lanes = element.lanes;
  BufferV var{t.builder.alloc(std::move(type), ""), scope == "local.var"};
  if (var.is_var) set(s, s.module[var.id].def, "scope", scope);
  if (init) store_var(s, var, *init, a.where);
  var.fresh = var.is_var;
  return Value{var};
}

// A descriptor of the matrix instructions: one local word.
Value descriptor(Session& s, Args& a, std::string_view kind, DType otherwise) {
  Trace& t = in_launch(s, a);
  static constexpr std::string_view kKinds[] = {"wgmma", "tcgen05_smem", "tcgen05_instr"};
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
    fail(a.where, "a descriptor is of kind wgmma, tcgen05_smem or tcgen05_instr, not '" + std::string(kind) + "'");
  DType dtype = a.given("dtype") ? to_dtype(s, a.need("dtype"), a.where) : otherwise;
  ir::ValueId id = t.builder.alloc(ir::Type::buffer(Space::local, dtype, {MetaInt(1)}), "");
  set(s, s.module[id].def, "descriptor", std::string(kind));
  return Value{BufferV{id, false}};
}
Value alloc_descriptor(Session& s, Scope&, Args& a) {
  return descriptor(s, a, a.given("kind") ? to_text(a.need("kind"), a.where, "kind") : "wgmma", DType::u64);
}
Value alloc_wgmma_desc(Session& s, Scope&, Args& a) { return descriptor(s, a, "wgmma", DType::u64); }
Value alloc_smem_desc(Session& s, Scope&, Args& a) { return descriptor(s, a, "tcgen05_smem", DType::u64); }
Value alloc_instr_desc(Session& s, Scope&, Args& a) { return descriptor(s, a, "tcgen05_instr", DType::u32); }

Value alloc_barrier(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  const Value& counts = a.need("arrive_count");
  std::vector<MetaInt> list;
  MetaInt length(1);
  if (counts.is<ListObject*>() || counts.is<const TupleObject*>()) {
    for (const Value& v : to_items(s, counts, a.where, "the arrive counts"))
      list.push_back(to_int(s, v, a.where, "an arrive count"));
    length = MetaInt(static_cast<int64_t>(list.size()));
    if (const auto* l = counts.as<ListObject*>(); l && (*l)->length_expr.expr.valid()) length = (*l)->length_expr;
  } else {
    list.push_back(to_int(s, counts, a.where, "the arrive count"));
  }
  if (list.empty()) fail(a.where, "no arrive counts");
  for (const MetaInt& c : list)
    if (c.value < 1 || c.value > (1 << 20) - 1)
      fail(a.where, "an arrive count of " + std::to_string(c.value) + ": an mbarrier takes 1 to 2^20 - 1");
  ir::ValueId id = t.builder.alloc(ir::Type::buffer(Space::barrier, DType::u64, {length}), "");
  ir::set_attr(s.module[s.module[id].def].attrs, "counts", std::move(list));
  return Value{BufferV{id, false}};
}
Value alloc_cluster_barrier(Session& s, Scope& scope, Args& a) {
  Value made = alloc_barrier(s, scope, a);
  set(s, s.module[made.as<BufferV>()->id].def, "cluster", MetaInt(1));
  return made;
}

#define BUFFER_PARAMS \
  "shape, dtype=, data=, strides=, elem_offset=, scope=, align=, offset_factor=, buffer_type=, axis_separators="
constexpr Builtin kRows[] = {
    {"T", "Tensor", "shape, dtype=, data=, scope=", tensor},
    {"T", "StridedTensor", "shape, strides, dtype=, scope=, *, data=", strided_tensor},
    {"T", "alloc_shared", "shape, dtype, scope=", alloc_shared},
    {"T", "alloc_fragment", "shape, dtype, scope=", alloc_fragment},
    {"T", "alloc_local", "shape, dtype, scope=", alloc_local},
    {"T", "alloc_var", "dtype, *args, scope=, init=", alloc_var},
    {"T", "alloc_barrier", "arrive_count", alloc_barrier},
    {"T", "alloc_cluster_barrier", "arrive_count", alloc_cluster_barrier},
    {"T", "alloc_global", "shape, dtype, scope=", alloc_global},
    {"T", "alloc_tmem", "shape, dtype", alloc_tmem},
    {"T", "alloc_reducer", "shape, dtype, op=, replication=", alloc_reducer},
    {"T", "alloc_descriptor", "kind=, dtype=", alloc_descriptor},
    {"T", "alloc_wgmma_desc", "dtype=", alloc_wgmma_desc},
    {"T", "alloc_tcgen05_smem_desc", "dtype=", alloc_smem_desc},
    {"T", "alloc_tcgen05_instruction_desc", "dtype=", alloc_instr_desc},
    {"T", "alloc_tcgen05_instr_desc", "dtype=", alloc_instr_desc},
    {"T", "alloc_buffer", BUFFER_PARAMS, alloc_buffer},
    {"T", "Buffer", BUFFER_PARAMS, buffer},
    {"T", "SharedBuffer", BUFFER_PARAMS, buffer},
    {"T", "FragmentBuffer", BUFFER_PARAMS, buffer},
    {"T", "LocalBuffer", BUFFER_PARAMS, buffer},
};
}  // namespace

std::span<const Builtin> alloc_builtins() { return kRows; }

}  // namespace tc::eval
