// The host wrapper in C, printed from the same manifest that the simulator and the replay read.
#include "codegen/nv/codegen.h"

namespace tc::codegen {

namespace {

std::string list(const auto& values, std::string_view suffix) {
  std::string s;
  for (auto v : values) s += (s.empty() ? "" : ", ") + std::to_string(v) + std::string(suffix);
  return s;
}

std::string_view map_type(runtime::DType t) {
  switch (t) {
    case runtime::DType::f16: return "FLOAT16";
    case runtime::DType::bf16: return "BFLOAT16";
    case runtime::DType::f32: return "FLOAT32";
    case runtime::DType::f64: return "FLOAT64";
    case runtime::DType::e4m3:
    case runtime::DType::e5m2:
    case runtime::DType::i8:
    case runtime::DType::u8: return "UINT8";
    case runtime::DType::i16:
    case runtime::DType::u16: return "UINT16";
    case runtime::DType::i32: return "INT32";
    case runtime::DType::u32: return "UINT32";
    case runtime::DType::i64: return "INT64";
    case runtime::DType::u64: return "UINT64";
  }
  return "UINT8";
}

std::string_view swizzle_name(runtime::Swizzle s) {
  switch (s) {
    case runtime::Swizzle::none: return "NONE";
    case runtime::Swizzle::b32: return "32B";
    case runtime::Swizzle::b64: return "64B";
    case runtime::Swizzle::b128: return "128B";
  }
  return "NONE";
}

std::string encode_map(const runtime::TensorMapArg& a, size_t n) {
  std::string i = std::to_string(n), rank = std::to_string(a.dims.size());
  std::string s = "  CUtensorMap map" + i + ";\n  {\n";
  s += "    const cuuint64_t dims[] = {" + list(a.dims, "ull") + "};\n";
  s += "    const cuuint64_t strides[] = {" + (a.strides_bytes.empty() ? "0" : list(a.strides_bytes, "ull")) + "};\n";
  s += "    const cuuint32_t box[] = {" + list(a.box, "u") + "};\n";
  s += "    const cuuint32_t steps[] = {" + list(a.element_strides, "u") + "};\n";
  s += "    if (tl_encode(&map" + i + ", CU_TENSOR_MAP_DATA_TYPE_" + std::string(map_type(a.dtype)) + ", " + rank +
       ", " + a.tensor +
       ", dims, strides, box, steps,\n                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_" +
       std::string(swizzle_name(a.swizzle)) +
       ",\n                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)\n"
       "      return cudaErrorInvalidValue;\n  }\n";
  return s;
}

constexpr std::string_view kTypes[] = {"uint16_t", "uint16_t", "float",   "double",  "uint8_t",
                                       "uint8_t",  "int8_t",   "uint8_t", "int16_t", "uint16_t",
                                       "int32_t",  "uint32_t", "int64_t", "uint64_t"};

}  // namespace

std::string print_host(const ir::Module& m, const ir::Func& f) {
  runtime::Manifest man = make_manifest(m, f);
  std::string name = man.kernel, params, arguments, maps;
  for (const runtime::TensorSpec& t : man.tensors) params += "void* " + t.name + ", ";
  size_t n = 0;
  for (const runtime::Param& p : man.params) {
    if (const auto* map = std::get_if<runtime::TensorMapArg>(&p.value)) {
      maps += encode_map(*map, n);
      arguments += ", &map" + std::to_string(n++);
    } else if (const auto* scalar = std::get_if<runtime::ScalarArg>(&p.value)) {
      params += std::string(kTypes[static_cast<size_t>(scalar->dtype)]) + " " + p.name + ", ";
      arguments += ", &" + p.name;
    } else {
      arguments += ", &" + std::get<runtime::BufferArg>(p.value).tensor;
    }
  }
  std::string s =
      "/* Host wrapper of " + f.instance + " for " + m.arch + ".\n   " + name +
      "_init(image): loads the kernel (cubin or PTX) and opts in to its dynamic shared memory.\n   " + name +
      "_call(…): launches on a stream; pointers are device addresses, 16-byte aligned. Both return a cudaError_t. */\n";
  s += "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <stdint.h>\n\n";
  s += "static cudaLibrary_t tl_library;\nstatic cudaKernel_t tl_kernel;\n";
  if (!maps.empty())
    s += "typedef CUresult (*tl_encode_t)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, "
         "const cuuint64_t*,\n"
         "                                const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, "
         "CUtensorMapSwizzle,\n"
         "                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill);\nstatic tl_encode_t "
         "tl_encode;\n";
  s += "\nint " + name + "_init(const void* image) {\n";
  s += "  cudaError_t e = cudaLibraryLoadData(&tl_library, image, 0, 0, 0, 0, 0, 0);\n";
  s += "  if (e == cudaSuccess) e = cudaLibraryGetKernel(&tl_kernel, tl_library, \"" + name + "\");\n";
  if (man.smem_bytes)
    s += "  if (e == cudaSuccess)\n    e = cudaFuncSetAttribute((const void*)tl_kernel, "
         "cudaFuncAttributeMaxDynamicSharedMemorySize, " +
         std::to_string(man.smem_bytes) + ");\n";
  if (!maps.empty())
    s += "  void* entry = 0;\n  enum cudaDriverEntryPointQueryResult found;\n"
         "  if (e == cudaSuccess) e = cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &entry, 12000, "
         "cudaEnableDefault, &found);\n"
         "  if (e == cudaSuccess && !entry) e = cudaErrorSymbolNotFound;\n  *(void**)&tl_encode = entry;\n";
  s += "  return e;\n}\n\nint " + name + "_call(" + params + "cudaStream_t stream) {\n" + maps;
  s += "  void* args[] = {" + (arguments.empty() ? "0" : arguments.substr(2)) + "};\n";
  s += "  cudaLaunchConfig_t config = {0};\n";
  auto dim = [&](std::string_view field, const runtime::Dim3& d) {
    s += "  config." + std::string(field) + ".x = " + std::to_string(d.x) + ", config." + std::string(field) +
         ".y = " + std::to_string(d.y) + ", config." + std::string(field) + ".z = " + std::to_string(d.z) + ";\n";
  };
  dim("gridDim", man.grid);
  dim("blockDim", man.block);
  s += "  config.dynamicSmemBytes = " + std::to_string(man.smem_bytes) + ";\n  config.stream = stream;\n";
  s += "  return cudaLaunchKernelExC(&config, (const void*)tl_kernel, args);\n}\n\nint " + name +
       "_free(void) { return cudaLibraryUnload(tl_library); }\n";
  return s;
}

}  // namespace tc::codegen
