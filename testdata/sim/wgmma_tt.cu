// expect: clean
// launch: kernel=wgmma_tt grid=2 block=128 smem=24576
// tensor: a f16 shape=96,128 role=in fill=ints seed=1
// tensor: b f16 shape=32,96 role=in fill=ints seed=2
// tensor: out f32 shape=128,32 role=out fill=nan
// arg: a tensormap f16 dims=128,96 strides=256 box=64,64 swizzle=128B of=a
// arg: b tensormap f16 dims=96,32 strides=192 box=64,32 swizzle=128B of=b
// arg: c buffer of=out
// check: gemm M=128 N=32 K=96 A=km
#include "device.h"
// 64 x 32 of the output a CTA, K = 96 in two steps of 64 (the second half empty: zero fill).
extern "C" __global__ void __launch_bounds__(128)
wgmma_tt(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ u64 full[2];
  const u32 sa = smem(tile), sb = sa + 16384;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) bar_init(smem(&full[s]), 1);
    init_fence();
    for (int s = 0; s < 2; ++s) {
      arrive_tx(smem(&full[s]), 8192 + 4096);
      const int m = 64 * blockIdx.x, k = 64 * s;
      load_2d(sa + 8192 * s, &a, smem(&full[s]), 1 ? m : k, 1 ? k : m);
      load_2d(sb + 4096 * s, &b, smem(&full[s]), 0 ? 0 : k, 0 ? k : 0);
    }
  }
  __syncthreads();
  float d[16];
  for (int s = 0; s < 2; ++s) {
    wait(smem(&full[s]), 0);
    mma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const u64 da = 1 ? desc_mn(sa + 8192 * s + 2048 * k, 8192) : desc_k(sa + 8192 * s + 32 * k);
      const u64 db = 0 ? desc_mn(sb + 4096 * s + 2048 * k, 4096) : desc_k(sb + 4096 * s + 32 * k);
      mma_32<1, 0>(d, da, db, s > 0 || k > 0);
    }
    mma_commit();
  }
  mma_wait<0>();
  pin(d);
  store_32(c + 64 * 32 * blockIdx.x, 32, d, threadIdx.x);
}
