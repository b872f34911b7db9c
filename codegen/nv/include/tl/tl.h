// Device primitives of generated kernels. One header for nvcc, NVRTC and clang without a CUDA toolkit (TC_NO_SDK): no
// include, own types, own math, every machine operation one PTX instruction (or one unavoidable pair) in an asm.
// Shared-memory addresses are 32-bit addresses of the CTA's shared window. Sources: PTX ISA 9.0; measured facts on
// traps of clang without libdevice: docs/toolchain.md.
#pragma once

#ifdef TC_NO_SDK
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#endif

// Code of these functions carries the source line of their callers.
#ifdef TC_NO_SDK
#define TL_DEV __device__ __forceinline__ __attribute__((nodebug))
#else
#define TL_DEV __device__ __forceinline__
#endif

namespace tl {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

// ---------------------------------------------------------------- element types
struct half {
  u16 bits;
};
struct bhalf {
  u16 bits;
};
template <class T>
TL_DEV T up(T v) {
  return v;
}
TL_DEV float up(half v) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.bits));
  return r;
}
TL_DEV float up(bhalf v) {
  float r;
  asm("mov.b32 %0, {%1, %2};" : "=f"(r) : "h"(u16(0)), "h"(v.bits));
  return r;
}
template <class To>
struct Down {
  template <class From>
  static TL_DEV To of(From v) {
    return static_cast<To>(v);
  }
};
template <>
struct Down<half> {
  static TL_DEV half of(float v) {
    half r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
    return r;
  }
};
template <>
struct Down<bhalf> {
  static TL_DEV bhalf of(float v) {
    bhalf r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
    return r;
  }
};
// Round to nearest even to float types, truncate to integers.
template <class To, class From>
TL_DEV To cast(From v) {
  return Down<To>::of(up(v));
}

// ---------------------------------------------------------------- integers as the language has them
TL_DEV int floordiv(int a, int b) {
  int q = a / b;
  return q - ((a % b != 0) & ((a < 0) != (b < 0)));
}
TL_DEV int floormod(int a, int b) { return a - floordiv(a, b) * b; }
template <class T>
TL_DEV T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
TL_DEV T max(T a, T b) {
  return a < b ? b : a;
}
// A NaN gives way to a number, as fminf and fmaxf do.
TL_DEV float min(float a, float b) {
  float r;
  asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
TL_DEV float max(float a, float b) {
  float r;
  asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// ---------------------------------------------------------------- math (approximate units, relative error about 2^-21)
TL_DEV float exp2(float x) {
  float r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TL_DEV float log2(float x) {
  float r;
  asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TL_DEV float exp(float x) { return exp2(x * 1.4426950408889634f); }
TL_DEV float log(float x) { return log2(x) * 0.6931471805599453f; }
TL_DEV float sqrt(float x) {
  float r;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TL_DEV float rsqrt(float x) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
TL_DEV float tanh(float x) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
template <class T>
TL_DEV T abs(T x) {
  return x < T(0) ? -x : x;
}

// ---------------------------------------------------------------- indices, addresses
TL_DEV int thread_index() {
  int r;
  asm("mov.u32 %0, %%tid.x;" : "=r"(r));
  return r;
}
TL_DEV int block_x() {
  int r;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(r));
  return r;
}
TL_DEV int block_y() {
  int r;
  asm("mov.u32 %0, %%ctaid.y;" : "=r"(r));
  return r;
}
TL_DEV int block_z() {
  int r;
  asm("mov.u32 %0, %%ctaid.z;" : "=r"(r));
  return r;
}
TL_DEV u32 shared_address(const void* p) {
  u32 r;
  asm("{\n.reg .u64 t;\ncvta.to.shared.u64 t, %1;\ncvt.u32.u64 %0, t;\n}\n" : "=r"(r) : "l"(p));
  return r;
}
// The next multiple of 1024: swizzle patterns are a function of the address (rule LAUNCH-09).
TL_DEV unsigned char* align_1024(unsigned char* p) { return p + ((1024u - (shared_address(p) & 1023u)) & 1023u); }

// Byte offset of (row, col) in a tile of column panels of Span bytes with Rows rows; `tile` is the byte offset of the
// tile, a multiple of the pattern's repeat. Rules SMEM-02 … SMEM-04: an XOR on the address.
template <int Rows, int Span, int Bytes>
TL_DEV u32 panel_offset(u32 tile, int row, int col) {
  constexpr int kCols = Span / Bytes;
  constexpr u32 kMask = Span == 128 ? 0x70u : Span == 64 ? 0x30u : Span == 32 ? 0x10u : 0u;
  u32 a = tile + static_cast<u32>(col / kCols * (Rows * Span) + row * Span + col % kCols * Bytes);
  return a ^ ((a >> 3) & kMask);
}

// ---------------------------------------------------------------- wide accesses
template <int Bytes>
struct Wide;
template <>
struct alignas(4) Wide<4> {
  u32 x;
};
template <>
struct alignas(8) Wide<8> {
  u32 x, y;
};
template <>
struct alignas(16) Wide<16> {
  u32 x, y, z, w;
};
template <int Bytes>
TL_DEV void copy_wide(void* dst, const void* src) {
  *static_cast<Wide<Bytes>*>(dst) = *static_cast<const Wide<Bytes>*>(src);
}
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T lo, hi;
};
template <class T>
TL_DEV void store_pair(T* at, T lo, T hi) {
  *reinterpret_cast<Pair<T>*>(at) = Pair<T>{lo, hi};
}

// ---------------------------------------------------------------- CTA and named barriers, fences
TL_DEV void sync_cta() { asm volatile("bar.sync 0;" ::: "memory"); }
TL_DEV void sync_named(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
// Generic writes of this thread before it are seen by TMA and wgmma of whoever synchronises after it (FENCE-01).
TL_DEV void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
TL_DEV void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// ---------------------------------------------------------------- mbarrier
TL_DEV void mbarrier_init(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
TL_DEV void mbarrier_arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
TL_DEV void mbarrier_expect_tx(u32 bar, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
TL_DEV void mbarrier_arrive_expect_tx(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
TL_DEV void mbarrier_wait(u32 bar, u32 parity) {
  asm volatile(
      "{\n.reg .pred p;\nTL_WAIT_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra TL_WAIT_%=;\n}\n" ::"r"(bar),
      "r"(parity)
      : "memory");
}

// ---------------------------------------------------------------- copies
// Bytes read is Bytes or 0; the rest is filled with zeros (CPASYNC-03).
template <int Bytes>
TL_DEV void cp_async(u32 dst, const void* src, bool inside) {
  int size = inside ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes), "r"(size) : "memory");
}
TL_DEV void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
TL_DEV void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

struct alignas(64) TensorMap {
  u64 opaque[16];
};
TL_DEV void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src),
      "r"(bytes), "r"(bar)
      : "memory");
}
TL_DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(dst),
      "l"(map), "r"(bar), "r"(x)
      : "memory");
}
TL_DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          dst),
      "l"(map), "r"(bar), "r"(x), "r"(y)
      : "memory");
}
TL_DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(dst),
      "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z)
      : "memory");
}
TL_DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::
          "r"(dst),
      "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}
TL_DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, int z, int w, int v) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(dst),
      "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v)
      : "memory");
}

// ---------------------------------------------------------------- wgmma (the instructions themselves are printed per kernel)
TL_DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TL_DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
TL_DEV void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
// The wait has no data edge to the accumulators: without this the compiler may move their uses before it.
template <int N>
TL_DEV void pin(float (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
// Matrix descriptor: start address, leading and stride offsets in bytes, swizzle of Span (specs/wgmma.h).
template <int Span, int Leading, int Stride>
TL_DEV u64 descriptor(u32 address) {
  constexpr u64 kSwizzle = Span == 128 ? 1 : Span == 64 ? 2 : Span == 32 ? 3 : 0;
  constexpr u64 kFixed = (u64)((Leading & 0x3FFFF) >> 4) << 16 | (u64)((Stride & 0x3FFFF) >> 4) << 32 | kSwizzle << 62;
  return kFixed | (u64)((address & 0x3FFFFu) >> 4);
}

}  // namespace tl
