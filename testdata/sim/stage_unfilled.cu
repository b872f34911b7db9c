// expect: BOUND-02 @ 19
// launch: kernel=stage_unfilled grid=1 block=128 smem=16384
// tensor: src f32 shape=64,32 role=in fill=ints
// arg: src buffer of=src
// tensor: dst f32 shape=64,32 role=out
// arg: dst buffer of=dst
// check: copy
#include "device.h"
// Nobody has filled B.
extern "C" __global__ void __launch_bounds__(128) stage_unfilled(const float* src, float* dst) {
  extern __shared__ __align__(1024) unsigned char tile[];
  const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
  float d[16];
  for (int i = 0; i < 16; ++i) d[i] = src[(row + 8 * (i >> 1 & 1)) * 32 + 8 * (i >> 2) + col + (i & 1)];
  for (int i = t; i < 2048; i += 128) ((u32*)tile)[i] = 0;
  fence_async();
  __syncthreads();
  mma_fence();
  mma_32<0, 0>(d, desc_k(smem(tile)), desc_k(smem(tile) + 8192), 1);
  mma_commit(), mma_wait<0>(), pin(d);
  store_32(dst, 32, d, t);
}
