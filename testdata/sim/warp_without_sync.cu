// expect: RACE-01 @ 11
// launch: kernel=warp_copy_turned grid=1 block=32 smem=0
// arg: src buffer f32 32
// arg: out buffer f32 32
// check: copy
#include "device.h"
extern "C" __global__ void warp_copy_turned(const float* src, float* out) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[31 - t] = src[t];
  out[31 - t] = s[t];
}
