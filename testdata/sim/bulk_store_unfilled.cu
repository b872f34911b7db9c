// expect: BOUND-02 @ 12
// launch: kernel=bulk_store_unfilled grid=1 block=64 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
// check: copy
#include "device.h"
// The second buffer is stored where the first was filled.
extern "C" __global__ void bulk_store_unfilled(const float* src, float* out) {
  __shared__ __align__(128) float s[2][64];
  s[0][threadIdx.x] = src[threadIdx.x];
  fence_async(), __syncthreads();
  if (threadIdx.x == 0) bulk_store(out, smem(s[1]), 256), bulk_commit(), bulk_wait<0>();
}
