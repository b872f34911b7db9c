// expect: clean
// launch: kernel=two_groups grid=1 block=128 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
// check: copy
#include "device.h"
// Two pairs of warps, each with a barrier of its own.
extern "C" __global__ void two_groups(const float* src, float* out) {
  __shared__ float s[128];
  const int t = threadIdx.x, group = t / 64, r = t % 64;
  s[t] = src[t];
  asm volatile("bar.sync %0, 64;" ::"r"(1 + group) : "memory");
  out[64 * group + 63 - r] = s[64 * group + 63 - r];
}
