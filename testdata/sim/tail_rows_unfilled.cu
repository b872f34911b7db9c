// expect: BOUND-02 @ 19
// launch: kernel=tail_rows_unfilled grid=1 block=128 smem=16384
// tensor: src f32 shape=64,32 role=in fill=ints
// arg: src buffer of=src
// tensor: dst f32 shape=64,32 role=out
// arg: dst buffer of=dst
// check: copy
#include "device.h"
// Nobody fills the last 16 rows of A, whose products are stored.
extern "C" __global__ void __launch_bounds__(128) tail_rows_unfilled(const float* src, float* dst) {
  extern __shared__ __align__(1024) unsigned char tile[];
  const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
  float d[16];
  for (int i = t; i < 4096; i += 128)
    if (i < 1536 || i >= 2048) ((u32*)tile)[i] = 0;
  fence_async();
  __syncthreads();
  pin(d), mma_fence();
  mma_32<0, 0>(d, desc_k(smem(tile)), desc_k(smem(tile) + 8192), 0);
  mma_commit(), mma_wait<0>(), pin(d);
  for (int i = 0; i < 16; ++i) {
    const int at = (row + 8 * (i >> 1 & 1)) * 32 + 8 * (i >> 2) + col + (i & 1);
    dst[at] = true ? d[i] + src[at] : src[at];
  }
}
