// expect: WGMMA-10 @ 12
// launch: kernel=product_without_fence grid=1 block=128 smem=16384
// tensor: dst f32 shape=64,32 role=out
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(128) product_without_fence(float* dst) {
  extern __shared__ __align__(1024) unsigned char tile[];
  float d[16];
  for (int i = threadIdx.x; i < 4096; i += 128) ((u32*)tile)[i] = 0;
  fence_async();
  __syncthreads();
  mma_32<0, 0>(d, desc_k(smem(tile)), desc_k(smem(tile) + 8192), 0);
  mma_commit(), mma_wait<0>(), pin(d);
  store_32(dst, 32, d, threadIdx.x);
}
