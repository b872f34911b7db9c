// expect: WARP-01 @ 9
// launch: kernel=lane_outside_mask grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
#include "device.h"
// Lanes 16-31 execute what only lanes 0-15 are named for.
extern "C" __global__ void lane_outside_mask(const float* src, float* out) {
  const int t = threadIdx.x;
  out[t] = __shfl_down_sync(0x0000FFFF, src[t], 1);
}
