// What the kernels of this folder share: one PTX instruction a function. They compile with nvcc and with clang's CUDA
// mode, need no CUDA header, and keep inline assembly to what the ISA manual shows.
#pragma once
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
#define DEV static __device__ __forceinline__

struct __align__(64) TensorMap {
  u64 words[16];
};

DEV u32 smem(const void* p) {
  u32 a;
  asm("{ .reg .b64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
  return a;
}
DEV void bar_init(u32 b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
DEV void bar_inval(u32 b) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory"); }
DEV void init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEV void arrive(u32 b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
DEV void arrive_tx(u32 b, u32 n) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory");
}
DEV void wait(u32 b, u32 parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(b),
      "r"(parity)
      : "memory");
}
DEV void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEV void load_2d(u32 to, const TensorMap* m, u32 bar, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(m), "r"(bar), "r"(x), "r"(y)
      : "memory");
}
DEV void store_2d(const TensorMap* m, u32 from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(m), "r"(from), "r"(x),
               "r"(y)
               : "memory");
}
DEV void bulk_load(u32 to, const void* from, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar)
               : "memory");
}
DEV void bulk_store(void* to, u32 from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
DEV void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
DEV void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N>
DEV void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
// Copies `size` of 16 bytes, the rest becomes zero.
DEV void copy_16(u32 to, const void* from, u32 size) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(size) : "memory");
}
DEV void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
DEV void copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// 128B swizzle: K-major rows of 128 bytes, 8 rows = 1024 bytes; MN-major boxes of 64 elements by K rows.
DEV u64 desc_k(u32 a) { return ((u64)(a & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62); }
DEV u64 desc_mn(u32 a, u32 box) {
  return ((u64)(a & 0x3FFFF) >> 4) | ((u64)(box >> 4) << 16) | (64ull << 32) | (1ull << 62);
}
DEV void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
DEV void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
DEV void pin(float (&d)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
// D[64,32] += A[64,16] B[32,16]^T; the operands' majors by TA, TB (1: M or N innermost).
template <int TA, int TB>
DEV void mma_32(float (&d)[16], u64 a, u64 b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15}, %16, %17, p, 1, 1, %19, %20;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}
// The accumulators of a 64 x 32 tile to row-major float, `stride` elements a row.
DEV void store_32(float* c, int stride, const float (&d)[16], int thread) {
  const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
#pragma unroll
  for (int i = 0; i < 16; ++i) c[(row + 8 * (i >> 1 & 1)) * stride + 8 * (i >> 2) + col + (i & 1)] = d[i];
}
DEV void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
DEV float peer_load(u32 a, u32 rank) {
  float v;
  asm volatile("{\n.reg .b32 p;\nmapa.shared::cluster.u32 p, %1, %2;\nld.shared::cluster.f32 %0, [p];\n}"
               : "=f"(v)
               : "r"(a), "r"(rank)
               : "memory");
  return v;
}
