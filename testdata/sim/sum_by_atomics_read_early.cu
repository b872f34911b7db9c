// expect: RACE-01 @ 14
// launch: kernel=sum_by_atomics grid=4 block=64 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 1
// check: sum
#include "device.h"
// Atomics of all, then ordinary reads after a barrier; blocks among themselves by atomics alone.
extern "C" __global__ void sum_by_atomics(const float* src, float* out) {
  __shared__ float mine;
  const int t = threadIdx.x;
  if (t == 0) mine = 0;
  __syncthreads();
  atomicAdd(&mine, src[64 * blockIdx.x + t]);
  if (t == 0) atomicAdd(out, mine);
}
