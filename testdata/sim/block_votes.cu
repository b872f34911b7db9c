// expect: clean
// launch: kernel=block_votes grid=1 block=96 smem=0
// arg: src buffer f32 96
// arg: out buffer f32 96
// check: copy
#include "device.h"
extern "C" __global__ void block_votes(const float* src, float* out) {
  const int t = threadIdx.x;
  const int n = __syncthreads_count(t % 3 == 0);
  const bool all = __syncthreads_and(n == 32), any = __syncthreads_or(t == 70);
  if (all && any) out[t] = src[t];
}
