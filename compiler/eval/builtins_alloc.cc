// Types of tensors, and allocations: each is one alloc op of the buffer's type.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::Space;

const Value& dtype_or(const Args& a, const Value& otherwise) { return a.given("dtype") ? a.need("dtype") : otherwise; }

Value tensor_type(Session& s, TensorType type) {
  s.heap.tensor_types.push_back(std::move(type));
  return Value{static_cast<const TensorType*>(&s.heap.tensor_types.back())};
}
Value tensor(Session& s, Scope&, Args& a) {
  a.refuse({"data", "scope"});
  Value f32{DType::f32};
  return tensor_type(s, {to_dtype(s, dtype_or(a, f32), a.where), to_shape(s, a.need("shape"), a.where), {}});
}
Value strided_tensor(Session& s, Scope&, Args& a) {
  a.refuse({"data", "scope"});
  Value f32{DType::f32};
  TensorType type{to_dtype(s, dtype_or(a, f32), a.where), to_shape(s, a.need("shape"), a.where),
                  to_shape(s, a.need("strides"), a.where)};
  if (type.shape.size() != type.strides.size())
    fail(a.where, "the tensor has " + std::to_string(type.shape.size()) + " extents and " +
                      std::to_string(type.strides.size()) + " strides");
  return tensor_type(s, std::move(type));
}

Value alloc(Session& s, Args& a, Space space, std::string_view only_scope) {
  Trace& t = need_launch(s, a.where, std::string("T.") + a.builtin->name);
  if (const Value* scope = a.get("scope")) {
    std::string wanted = to_text(*scope, a.where, "the scope");
    bool known = wanted == only_scope || (space == Space::shared && wanted == "shared");
    if (!known) fail_unsupported(a.where, "scope '" + wanted + "' of T." + a.builtin->name);
  }
  DType dtype = to_dtype(s, a.need("dtype"), a.where);
  return Value{
      BufferV{t.builder.alloc(ir::Type::buffer(space, dtype, to_shape(s, a.need("shape"), a.where)), ""), false}};
}
Value alloc_shared(Session& s, Scope&, Args& a) { return alloc(s, a, Space::shared, "shared.dyn"); }
Value alloc_fragment(Session& s, Scope&, Args& a) { return alloc(s, a, Space::fragment, "local.fragment"); }
Value alloc_local(Session& s, Scope&, Args& a) { return alloc(s, a, Space::local, "local"); }

// T.alloc_var(dtype, [init], [scope]): one positional string is the scope, anything else the initial value.
Value alloc_var(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.alloc_var");
  a.refuse({"scope"});
  const Value* init = a.get("init");
  for (const Value& v : a.rest) {
    if (v.is<std::string>()) fail_unsupported(a.where, "scope '" + *v.as<std::string>() + "' of T.alloc_var");
    if (init) fail(a.where, "T.alloc_var has two initial values");
    init = &v;
  }
  DType dtype = to_dtype(s, a.need("dtype"), a.where);
  BufferV var{t.builder.alloc(ir::Type::buffer(Space::local, dtype, {MetaInt(1)}), ""), true};
  if (init) store_var(s, var, *init, a.where);
  var.fresh = true;
  return Value{var};
}

Value alloc_barrier(Session& s, Scope&, Args& a) {
  Trace& t = need_launch(s, a.where, "T.alloc_barrier");
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

constexpr Builtin kRows[] = {
    {"T", "Tensor", "shape, dtype=, data=, scope=", tensor},
    {"T", "StridedTensor", "shape, strides, dtype=, scope=, *, data=", strided_tensor},
    {"T", "alloc_shared", "shape, dtype, scope=", alloc_shared},
    {"T", "alloc_fragment", "shape, dtype, scope=", alloc_fragment},
    {"T", "alloc_local", "shape, dtype, scope=", alloc_local},
    {"T", "alloc_var", "dtype, *args, scope=, init=", alloc_var},
    {"T", "alloc_barrier", "arrive_count", alloc_barrier},
};
}  // namespace

std::span<const Builtin> alloc_builtins() { return kRows; }

}  // namespace tc::eval
