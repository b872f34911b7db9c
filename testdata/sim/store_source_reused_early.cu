// expect: RACE-01 @ 12
// launch: kernel=store_source_reused_early grid=1 block=64 smem=0
// arg: src buffer f32 512
// arg: dst buffer f32 512
#include "device.h"
// Two stores from one box: it is filled again while the first may still read it.
extern "C" __global__ void __launch_bounds__(64) store_source_reused_early(const float* src, float* dst) {
  __shared__ __align__(16) float box[256];
  const int t = threadIdx.x;
  for (int k = 0; k < 512; k += 256) {
    for (int i = t; i < 256; i += 64)
      box[i] = src[k + i];
    fence_async();
    __syncthreads();
    if (t == 0) bulk_store(dst + k, smem(box), 1024), bulk_commit();
    __syncthreads();
  }
  if (t == 0) bulk_wait<0>();
}
