// For host programs that prepare the launch of a CUDA kernel: instead of launching it they print its launch manifest
// (runtime/manifest.h), which goes in front of the kernel's PTX. No GPU is touched; nothing is executed here.
//   const half* a = (const half*)capture::tensor("A", "f16", {256, 512}, "role=in");     a made-up device address
//   capture::launch(argv[1], grid, block, cluster, smem, {capture::param("params", params), ...});
// Device pointers and tensor maps inside of parameters are found by their values: made-up addresses start at
// 0x7fca'0000'0000, and cuTensorMapEncodeTiled is replaced by a version that leaves a mark and remembers its arguments.
// Host code of a library that launches by itself is captured too: with CAPTURE_LAUNCHES defined this header answers the
// few calls of the CUDA runtime that such code makes (device attributes of an H200, launches) without a device. The
// program is then called with the kernel's name and the sizes of its parameters, which the PTX knows:
//   int main(int argc, char** argv) { capture::arguments(argc, argv); gemm.run(...); }
// Include it in one file only, before the library.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace capture {

constexpr uint64_t kBase = 0x7fca00000000, kSpan = 0x100000000;  // of each tensor
constexpr char kMark[] = "TCMAP";

struct Tensor {
  std::string name;
  uint64_t bytes;
};
struct Map {
  int type, rank, swizzle, l2, oob;
  uint64_t address;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, steps;
};
inline std::vector<Tensor>& tensors() {
  static std::vector<Tensor> all;
  return all;
}
inline std::vector<Map>& maps() {
  static std::vector<Map> all;
  return all;
}
inline std::string& lines() {
  static std::string text;
  return text;
}

inline void fail(const std::string& message) {
  std::fprintf(stderr, "capture: %s\n", message.c_str());
  std::exit(1);
}

inline uint64_t bytes_of(const std::string& dtype) {
  if (dtype.find("64") != std::string::npos) return 8;
  if (dtype.find("32") != std::string::npos) return 4;
  return dtype.find("16") != std::string::npos ? 2 : 1;
}

// Declares a tensor; `more`: role, fill, seed as in a tensor: line.
inline void* tensor(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
                    const std::string& more) {
  uint64_t n = bytes_of(dtype);
  std::string text;
  for (uint64_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d), n *= d;
  lines() += "// tensor: " + name + " " + dtype + " shape=" + text + " " + more + "\n";
  tensors().push_back({name, n});
  return reinterpret_cast<void*>(kBase + kSpan * (tensors().size() - 1));
}
inline void check(const std::string& text) { lines() += "// check: " + text + "\n"; }

struct Param {
  std::string name;
  std::vector<uint8_t> bytes;
};
template <class T>
Param param(const std::string& name, const T& value) {
  Param p{name, std::vector<uint8_t>(sizeof(T))};
  std::memcpy(p.bytes.data(), static_cast<const void*>(&value), sizeof(T));
  return p;
}

inline std::string where(uint64_t address) {
  const uint64_t i = (address - kBase) / kSpan, offset = (address - kBase) % kSpan;
  return " of=" + tensors()[i].name + (offset ? " offset=" + std::to_string(offset) : "");
}
inline bool is_pointer(uint64_t v) {
  return v >= kBase && (v - kBase) / kSpan < tensors().size() && (v - kBase) % kSpan <= tensors()[(v - kBase) / kSpan].bytes;
}
template <class T>
std::string list(const std::vector<T>& v) {
  std::string out;
  for (auto x : v) out += (out.empty() ? "" : ",") + std::to_string(x);
  return out;
}
inline std::string map_text(const Map& m) {
  static const char* const kTypes[] = {"u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32"};
  static const char* const kSwizzles[] = {"none", "32B", "64B", "128B"};
  if (m.type > 12 || m.swizzle > 3) fail("a tensor map of a type or swizzle that is not known here");
  std::string out = std::string("tensormap ") + kTypes[m.type] + " dims=" + list(m.dims);
  if (!m.strides.empty()) out += " strides=" + list(m.strides);
  out += " box=" + list(m.box) + " estrides=" + list(m.steps) + " swizzle=" + kSwizzles[m.swizzle];
  if (m.oob) out += " oob=nan";
  return out + where(m.address);
}

// Prints the manifest of one launch: `kernel` is the name in the PTX.
inline void launch(const std::string& kernel, dim3 grid, dim3 block, dim3 cluster, size_t smem, std::vector<Param> params) {
  auto dims = [](dim3 d) { return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z); };
  std::printf("// launch: kernel=%s grid=%s block=%s cluster=%s smem=%zu\n%s", kernel.c_str(), dims(grid).c_str(),
              dims(block).c_str(), dims(cluster).c_str(), smem, lines().c_str());
  for (Param& p : params) {
    std::string parts, hex;
    for (size_t at = 0; at + 8 <= p.bytes.size(); at += 8) {
      uint64_t v;
      std::memcpy(&v, p.bytes.data() + at, 8);
      if (at + 128 <= p.bytes.size() && std::memcmp(p.bytes.data() + at, kMark, sizeof kMark) == 0) {
        uint32_t index;
        std::memcpy(&index, p.bytes.data() + at + 8, 4);
        if (is_pointer(maps()[index].address))  // a map of a tensor that is not there is never used
          parts += "// part: " + p.name + " " + std::to_string(at) + " " + map_text(maps()[index]) + "\n";
        std::memset(p.bytes.data() + at, 0, 128);
      } else if (is_pointer(v)) {
        parts += "// part: " + p.name + " " + std::to_string(at) + " buffer" + where(v) + "\n";
        std::memset(p.bytes.data() + at, 0, 8);
      }
    }
    for (uint8_t b : p.bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", b);
      hex += two;
    }
    std::printf("// arg: %s struct %zu data=%s\n%s", p.name.c_str(), p.bytes.size(), hex.c_str(), parts.c_str());
  }
}

// ---- launches by the library itself
inline std::string& kernel_name() {
  static std::string name;
  return name;
}
inline std::vector<size_t>& param_sizes() {
  static std::vector<size_t> sizes;
  return sizes;
}
inline void arguments(int argc, char** argv) {
  if (argc < 2) fail("the name of the kernel and the sizes of its parameters are expected");
  kernel_name() = argv[1];
  for (int i = 2; i < argc; ++i) param_sizes().push_back(std::strtoull(argv[i], nullptr, 10));
}
inline void raw_launch(dim3 grid, dim3 block, dim3 cluster, size_t smem, void** values) {
  std::vector<Param> params;
  for (size_t i = 0; i < param_sizes().size(); ++i) {
    Param p{"p" + std::to_string(i), std::vector<uint8_t>(param_sizes()[i])};
    std::memcpy(p.bytes.data(), values[i], p.bytes.size());
    params.push_back(p);
  }
  launch(kernel_name(), grid, block, cluster, smem, params);
}

}  // namespace capture

#if defined CAPTURE_LAUNCHES && !defined __CUDA_ARCH__
extern "C" {
cudaError_t CUDARTAPI cudaLaunchKernel(const void*, dim3 grid, dim3 block, void** args, size_t smem, cudaStream_t) {
  capture::raw_launch(grid, block, dim3(1), smem, args);
  return cudaSuccess;
}
// What <<<>>> becomes since CUDA 13.
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t* kernel, const void*) { return *kernel = nullptr, cudaSuccess; }
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void** args, size_t smem, cudaStream_t) {
  capture::raw_launch(grid, block, dim3(1), smem, args);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void*, void** args) {
  dim3 cluster(1);
  for (unsigned i = 0; i < c->numAttrs; ++i)
    if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
      cluster = dim3(c->attrs[i].val.clusterDim.x, c->attrs[i].val.clusterDim.y, c->attrs[i].val.clusterDim.z);
  capture::raw_launch(c->gridDim, c->blockDim, cluster, c->dynamicSmemBytes, args);
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetDevice(int* d) { return *d = 0, cudaSuccess; }
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
  *v = a == cudaDevAttrMultiProcessorCount          ? 132
       : a == cudaDevAttrComputeCapabilityMajor     ? 9
       : a == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 232448
       : a == cudaDevAttrMaxThreadsPerMultiProcessor ? 2048
                                                     : 0;
  return cudaSuccess;
}
cudaError_t CUDARTAPI cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaGetLastError() { return cudaSuccess; }
cudaError_t CUDARTAPI cudaMemsetAsync(void*, int, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void*, int, size_t) { return *n = 1, cudaSuccess; }
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, const void*, int, size_t, unsigned) {
  return *n = 1, cudaSuccess;
}
cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int* n, const void*, const cudaLaunchConfig_t*) { return *n = 66, cudaSuccess; }
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaDeviceSynchronize() { return cudaSuccess; }
}
#endif

extern "C" CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                                   const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                                   CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                                   CUtensorMapFloatOOBfill oob) {
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return CUDA_ERROR_INVALID_VALUE;
  capture::Map m{(int)type, (int)rank, (int)swizzle, (int)l2, (int)oob, (uint64_t)address, {}, {}, {}, {}};
  m.dims.assign(dims, dims + rank);
  if (rank > 1) m.strides.assign(strides, strides + rank - 1);
  m.box.assign(box, box + rank);
  m.steps.assign(steps, steps + rank);
  const uint32_t index = (uint32_t)capture::maps().size();
  capture::maps().push_back(m);
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, capture::kMark, sizeof capture::kMark);
  std::memcpy((char*)map + 8, &index, 4);
  return CUDA_SUCCESS;
}
