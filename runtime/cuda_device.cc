#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime/device.h"

namespace tc::runtime {
namespace {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  void* hStream;
  void* attrs;
  unsigned numAttrs;
};
struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
constexpr int kAttributeCluster = 4, kMaxDynamicShared = 8, kNonPortableCluster = 14;

// The driver's functions, by their versioned names.
struct Driver {
  CUresult (*init)(unsigned);
  CUresult (*driver_version)(int*);
  CUresult (*device_count)(int*);
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_name)(char*, int, CUdevice);
  CUresult (*context_retain)(void**, CUdevice);
  CUresult (*context_set)(void*);
  CUresult (*alloc)(CUdeviceptr*, size_t);
  CUresult (*free)(CUdeviceptr);
  CUresult (*to_device)(CUdeviceptr, const void*, size_t);
  CUresult (*to_host)(void*, CUdeviceptr, size_t);
  CUresult (*load)(void**, const void*, unsigned, int*, void**);
  CUresult (*unload)(void*);
  CUresult (*function)(void**, void*, const char*);
  CUresult (*function_set)(void*, int, int);
  CUresult (*launch)(const CUlaunchConfig*, void*, void**, void**);
  CUresult (*synchronize)();
  CUresult (*event_create)(void**, unsigned);
  CUresult (*event_record)(void*, void*);
  CUresult (*event_elapsed)(float*, void*, void*);
  CUresult (*encode)(CUtensorMap*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*,
                     const unsigned*, int, int, int, int);
  CUresult (*encode_im2col)(CUtensorMap*, int, unsigned, void*, const uint64_t*, const uint64_t*, const int*,
                            const int*, unsigned, unsigned, const unsigned*, int, int, int, int);
  CUresult (*error_name)(CUresult, const char**);
  bool complete = false;
};

const Driver& driver() {
  static const Driver d = [] {
    Driver d{};
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return d;
    d.complete = true;
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      d.complete = d.complete && function;
    };
    find(d.init, "cuInit");
    find(d.driver_version, "cuDriverGetVersion");
    find(d.device_count, "cuDeviceGetCount");
    find(d.device_get, "cuDeviceGet");
    find(d.device_name, "cuDeviceGetName");
    find(d.context_retain, "cuDevicePrimaryCtxRetain");
    find(d.context_set, "cuCtxSetCurrent");
    find(d.alloc, "cuMemAlloc_v2");
    find(d.free, "cuMemFree_v2");
    find(d.to_device, "cuMemcpyHtoD_v2");
    find(d.to_host, "cuMemcpyDtoH_v2");
    find(d.load, "cuModuleLoadDataEx");
    find(d.unload, "cuModuleUnload");
    find(d.function, "cuModuleGetFunction");
    find(d.function_set, "cuFuncSetAttribute");
    find(d.launch, "cuLaunchKernelEx");
    find(d.synchronize, "cuCtxSynchronize");
    find(d.event_create, "cuEventCreate");
    find(d.event_record, "cuEventRecord");
    find(d.event_elapsed, "cuEventElapsedTime");
    find(d.encode, "cuTensorMapEncodeTiled");
    find(d.encode_im2col, "cuTensorMapEncodeIm2col");
    find(d.error_name, "cuGetErrorName");
    return d;
  }();
  return d;
}

Error failed(CUresult code, const std::string& what) {
  const char* name = nullptr;
  driver().error_name(code, &name);
  return {what + ": " + (name ? name : "error " + std::to_string(code))};
}

// Order of CUtensorMapDataType: u8 u16 u32 i32 u64 i64 f16 f32 f64 bf16 (TMA-35).
int map_type(DType t) {
  switch (t) {
    case DType::f16: return 6;
    case DType::f32: return 7;
    case DType::f64: return 8;
    case DType::bf16: return 9;
    case DType::u32: return 2;
    case DType::i32: return 3;
    case DType::u64: return 4;
    case DType::i64: return 5;
    case DType::i16:
    case DType::u16: return 1;
    case DType::e4m3:
    case DType::e5m2:
    case DType::i8:
    case DType::u8: return 0;
  }
  return 0;
}

// Ends the process if the kernel does not end in time.
class Watchdog {
 public:
  explicit Watchdog(int seconds)
      : thread_([this, seconds] {
          for (int i = 0; i < seconds * 50 && !done_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
          if (done_) return;
          std::fprintf(stderr, "the kernel did not end within %d s\n", seconds);
          std::fflush(nullptr);
          ::_exit(3);
        }) {}
  ~Watchdog() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Device memory and module, released at the end.
struct Held {
  std::vector<CUdeviceptr> memory;
  void* module = nullptr;
  ~Held() {
    for (CUdeviceptr p : memory) driver().free(p);
    if (module) driver().unload(module);
  }
};

Expected<CUtensorMap> encode_map(const TensorMapArg& a, CUdeviceptr base) {
  CUtensorMap map{};
  std::vector<uint64_t> strides = a.strides_bytes;
  if (strides.empty()) strides.push_back(0);
  const auto rank = static_cast<unsigned>(a.dims.size());
  auto* const address = reinterpret_cast<void*>(base + a.offset_bytes);
  const int type = map_type(a.dtype), swizzle = static_cast<int>(a.swizzle), l2 = static_cast<int>(a.l2),
            fill = static_cast<int>(a.oob);
  const CUresult code =
      a.pixels ? driver().encode_im2col(&map, type, rank, address, a.dims.data(), strides.data(), a.lower.data(),
                                        a.upper.data(), a.channels, a.pixels, a.element_strides.data(), 0, swizzle, l2,
                                        fill)
               : driver().encode(&map, type, rank, address, a.dims.data(), strides.data(), a.box.data(),
                                 a.element_strides.data(), 0, swizzle, l2, fill);
  if (code) return failed(code, "the tensor map of " + a.tensor);
  return map;
}

// Parameter storage with stable addresses: the bytes of each.
struct Params {
  std::vector<std::vector<uint8_t>> values;
  std::vector<void*> pointers;
};

class ParamMaker {
 public:
  ParamMaker(const Manifest& m, const std::vector<CUdeviceptr>& memory, Held& held) : m_(m), memory_(memory), held_(held) {}

  Expected<std::vector<uint8_t>> bytes(const ScalarArg& s) { return words(s.bits, row(s.dtype).bytes); }
  Expected<std::vector<uint8_t>> bytes(const BufferArg& b) { return words(base(b.tensor) + b.offset_bytes, 8); }
  Expected<std::vector<uint8_t>> bytes(const TensorMapArg& a) {
    auto map = encode_map(a, base(a.tensor));
    if (!map) return map.error();
    if (!a.by_pointer) {
      const auto* p = reinterpret_cast<const uint8_t*>(&*map);
      return std::vector<uint8_t>(p, p + sizeof(CUtensorMap));
    }
    CUdeviceptr copy = 0;
    if (CUresult c = driver().alloc(&copy, sizeof(CUtensorMap))) return failed(c, "cuMemAlloc");
    held_.memory.push_back(copy);
    if (CUresult c = driver().to_device(copy, &*map, sizeof(CUtensorMap))) return failed(c, "cuMemcpyHtoD");
    return words(copy, 8);
  }
  Expected<std::vector<uint8_t>> bytes(const StructArg& s) {
    std::vector<uint8_t> out = s.bytes;
    for (const StructArg::Part& part : s.parts) {
      auto piece = std::visit([&](const auto& v) { return bytes(v); }, part.value);
      if (!piece) return piece.error();
      std::copy(piece->begin(), piece->end(), out.begin() + part.offset);
    }
    return out;
  }

 private:
  static std::vector<uint8_t> words(uint64_t v, size_t n) {
    std::vector<uint8_t> out(n);
    std::memcpy(out.data(), &v, n);
    return out;
  }
  CUdeviceptr base(const std::string& name) const {
    for (size_t i = 0; i < m_.tensors.size(); ++i)
      if (m_.tensors[i].name == name) return memory_[i];
    return 0;
  }
  const Manifest& m_;
  const std::vector<CUdeviceptr>& memory_;
  Held& held_;
};

Expected<Params> make_params(const Manifest& m, const std::vector<CUdeviceptr>& memory, Held& held) {
  Params p;
  ParamMaker maker(m, memory, held);
  for (const Param& param : m.params) {
    auto bytes = std::visit([&](const auto& v) { return maker.bytes(v); }, param.value);
    if (!bytes) return bytes.error();
    p.values.push_back(std::move(*bytes));
  }
  for (auto& v : p.values) p.pointers.push_back(v.data());
  return p;
}

Expected<void*> load_kernel(const std::string& image, const Manifest& m, Held& held) {
  static char log[16384];
  log[0] = 0;
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, its size
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  if (CUresult c = driver().load(&held.module, image.c_str(), 2, options, values))
    return Error{failed(c, "cuModuleLoadDataEx").message + "\n" + log};
  void* kernel = nullptr;
  if (CUresult c = driver().function(&kernel, held.module, m.kernel.c_str()))
    return failed(c, "no kernel " + m.kernel + " in the image");
  if (m.smem_bytes > 48 * 1024)
    if (CUresult c = driver().function_set(kernel, kMaxDynamicShared, static_cast<int>(m.smem_bytes)))
      return failed(c, "dynamic shared memory of " + std::to_string(m.smem_bytes) + " bytes");
  if (m.cluster.count() > 8) driver().function_set(kernel, kNonPortableCluster, 1);
  return kernel;
}

}  // namespace

bool cuda_device_present() {
  const Driver& d = driver();
  int count = 0;
  return d.complete && d.init(0) == 0 && d.device_count(&count) == 0 && count > 0;
}

Expected<DeviceRun> run_on_cuda(const Manifest& m, const std::string& image, const std::vector<Tensor>& inputs,
                                const DeviceOptions& options) {
  if (!cuda_device_present()) return Error{"no CUDA device (libcuda.so.1)"};
  const Driver& d = driver();
  DeviceRun run;
  CUdevice device = 0;
  void* context = nullptr;
  if (CUresult c = d.device_get(&device, options.device)) return failed(c, "device " + std::to_string(options.device));
  if (CUresult c = d.context_retain(&context, device)) return failed(c, "cuDevicePrimaryCtxRetain");
  d.context_set(context);
  char name[128] = "";
  int version = 0;
  d.device_name(name, sizeof name, device);
  d.driver_version(&version);
  run.device = name;
  run.driver = std::to_string(version);

  Held held;
  std::vector<CUdeviceptr> memory;
  for (const Tensor& t : inputs) {
    CUdeviceptr p = 0;
    if (CUresult c = d.alloc(&p, std::max<size_t>(t.bytes.size(), 16))) return failed(c, "cuMemAlloc of " + t.name);
    held.memory.push_back(p);
    memory.push_back(p);
    if (CUresult c = d.to_device(p, t.bytes.data(), t.bytes.size())) return failed(c, "cuMemcpyHtoD of " + t.name);
  }
  auto kernel = load_kernel(image, m, held);
  if (!kernel) return kernel.error();
  auto params = make_params(m, memory, held);
  if (!params) return params.error();
  CUlaunchAttribute cluster{};
  cluster.id = kAttributeCluster;
  cluster.value.cluster = {m.cluster.x, m.cluster.y, m.cluster.z};
  CUlaunchConfig config{m.grid.x,  m.grid.y,     m.grid.z, m.block.x, m.block.y,
                        m.block.z, m.smem_bytes, nullptr,  &cluster,  m.cluster.count() > 1 ? 1u : 0u};
  {
    Watchdog watchdog(options.timeout_seconds);
    if (CUresult c = d.launch(&config, *kernel, params->pointers.data(), nullptr)) return failed(c, "launch");
    if (CUresult c = d.synchronize()) return failed(c, "the kernel");
  }
  run.tensors = inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (CUresult c = d.to_host(run.tensors[i].bytes.data(), memory[i], run.tensors[i].bytes.size()))
      return failed(c, "cuMemcpyDtoH");
  if (options.timed_launches > 0) {
    Watchdog watchdog(options.timeout_seconds);
    void *start = nullptr, *stop = nullptr;
    d.event_create(&start, 0);
    d.event_create(&stop, 0);
    for (int i = 0; i < options.timed_launches + 3; ++i) {
      d.event_record(start, nullptr);
      d.launch(&config, *kernel, params->pointers.data(), nullptr);
      d.event_record(stop, nullptr);
      if (CUresult c = d.synchronize()) return failed(c, "a timed launch");
      float ms = 0;
      d.event_elapsed(&ms, start, stop);
      if (i >= 3) run.milliseconds.push_back(static_cast<double>(ms));
    }
  }
  return run;
}

}  // namespace tc::runtime
