// expect: clean
// launch: kernel=warp_tree grid=1 block=32 smem=0
// arg: src buffer f32 32
// arg: out buffer f32 1
// check: sum
#include "device.h"
// A tree in shared memory by one warp: every step reads what other lanes stored in the step before.
extern "C" __global__ void warp_tree(const float* src, float* out) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = src[t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    float v = t < d ? s[t] + s[t + d] : 0;
    __syncwarp();
    if (t < d) s[t] = v;
    __syncwarp();
  }
  if (t == 0) out[0] = s[0];
}
