// The launch manifest of a kernel: tensors are the function's parameters (inputs filled with normal values, outputs
// poisoned), tensor maps as the passes chose them. f16 A[1000, 520], box 64×64, 128B:
//   arg: A_map tensormap f16 dims=520,1000 strides=1040 box=64,64 swizzle=128B of=A
#include "codegen/nv/codegen.h"
#include "compiler/ir/box.h"

namespace tc::codegen {

using namespace ir;

std::string entry_name(const Func& f) {
  std::string s;
  for (char c : f.name) s += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  return s + "_kernel";
}

KernelParams kernel_params(const Module& m, const Func& f) {
  KernelParams p;
  std::set<uint32_t> direct;
  walk(m, f.body, [&](OpId id) {
    const Op& op = m[id];
    if (op.kind == OpKind::launch) p.launch = id;
    if (op.kind == OpKind::tensor_map) p.maps.push_back(id);
    if (op.kind == OpKind::tensor_map || op.kind == OpKind::region) return;
    for (ValueId v : op.operands) direct.insert(buffer_of(m, v).index);
  });
  for (ValueId v : f.params)
    if (direct.contains(v.index)) p.values.push_back(v);
  return p;
}

namespace {

runtime::DType runtime_type(DType t) {
  if (t == DType::b1) return runtime::DType::u8;  // a bool is a byte
  auto found = runtime::dtype_named(info(t).short_name);
  assert(found && "every element type of the IR is known to the manifest");
  return *found;
}

runtime::Swizzle swizzle_named(std::string_view name) {
  for (auto s : {runtime::Swizzle::b32, runtime::Swizzle::b64, runtime::Swizzle::b128})
    if (runtime::name_of(s) == name) return s;
  return runtime::Swizzle::none;
}

runtime::TensorMapArg map_arg(const Module& m, const Op& op) {
  const Value& tensor = m[op.operands[0]];
  const Type& type = tensor.type;
  runtime::TensorMapArg a{.dtype = runtime_type(type.dtype)};
  a.tensor = tensor.name;
  for (size_t d = type.rank(); d-- > 0;) a.dims.push_back(static_cast<uint64_t>(type.shape[d].value));
  for (size_t d = type.rank() - 1; d-- > 0;)
    a.strides_bytes.push_back(static_cast<uint64_t>(stride_of(type, d)) * bytes_of(type.dtype));
  for (const MetaInt& e : std::get<std::vector<MetaInt>>(*find_attr(op.attrs, "box")))
    a.box.push_back(static_cast<uint32_t>(e.value));
  a.element_strides.assign(type.rank(), 1);
  a.swizzle = swizzle_named(text_attr(op, "swizzle", "none"));
  return a;
}

// A strided tensor occupies rows of its stride.
std::vector<uint64_t> storage_shape(const Type& type) {
  std::vector<uint64_t> shape;
  for (const MetaInt& e : type.shape) shape.push_back(static_cast<uint64_t>(e.value));
  if (!type.strides.empty() && shape.size() == 2)
    shape[1] = static_cast<uint64_t>(std::max(type.strides[0].value, type.shape[1].value));
  return shape;
}

}  // namespace

runtime::Manifest make_manifest(const Module& m, const Func& f) {
  KernelParams p = kernel_params(m, f);
  const Op& launch = m[p.launch];
  runtime::Manifest out{.arch = m.arch, .kernel = entry_name(f)};
  auto extent = [&](size_t i) {
    return i < launch.operands.size() ? static_cast<uint32_t>(constant_value(m, launch.operands[i])->value) : 1u;
  };
  out.grid = {extent(0), extent(1), extent(2)};
  out.block = {static_cast<uint32_t>(int_attr(launch, "threads", 128)), 1, 1};
  out.smem_bytes = static_cast<uint32_t>(int_attr(launch, "smem", 0));
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Value& v = m[f.params[i]];
    if (v.type.kind != TypeKind::buffer) continue;
    bool output = std::find(f.outputs.begin(), f.outputs.end(), static_cast<int64_t>(i)) != f.outputs.end();
    runtime::TensorSpec t{.name = v.name, .dtype = runtime_type(v.type.dtype), .shape = storage_shape(v.type)};
    t.role = output ? runtime::Role::out : runtime::Role::in;
    t.fill = output ? runtime::Fill::nan : is_float(v.type.dtype) ? runtime::Fill::normal : runtime::Fill::ints;
    t.seed = i + 1;
    out.tensors.push_back(std::move(t));
  }
  for (ValueId v : p.values) {
    if (m[v].type.kind == TypeKind::buffer) out.params.push_back({m[v].name, runtime::BufferArg{.tensor = m[v].name}});
    else out.params.push_back({m[v].name, runtime::ScalarArg{.dtype = runtime_type(m[v].type.dtype)}});
  }
  for (OpId id : p.maps) out.params.push_back({m[m[id].results[0]].name, map_arg(m, m[id])});
  return out;
}

}  // namespace tc::codegen
