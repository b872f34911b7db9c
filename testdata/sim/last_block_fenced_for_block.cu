// expect: RACE-02 @ 26
// launch: kernel=last_block grid=8 block=64 smem=0
// arg: src buffer f32 512
// arg: out buffer f32 1
// arg: part buffer f32 8 values=zero
// arg: count buffer u32 1 values=zero
// check: sum
#include "device.h"
// The last block to finish adds up what all have left in global memory.
extern "C" __global__ void last_block(const float* src, float* out, float* part, u32* count) {
  __shared__ bool last;
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = src[64 * blockIdx.x + t];
  __syncthreads();
  if (t == 0) {
    float v = 0;
    for (int i = 0; i < 64; ++i) v += s[i];
    part[blockIdx.x] = v;
    __threadfence_block();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float v = 0;
    for (int i = 0; i < 8; ++i) v += part[i];
    out[0] = v;
  }
}
