// expect: BOUND-02 @ 12
// launch: kernel=box_filled grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
extern "C" __global__ void box_filled(const float* src, float* out) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (t < 48) s[t] = src[t];
  __syncthreads();
  out[t] = s[t];
}
