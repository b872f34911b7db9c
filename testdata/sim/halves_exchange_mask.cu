// expect: WARP-01 @ 11,13,14
// launch: kernel=halves_exchange_mask grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
#include "device.h"
// The mask names lanes that do not come.
extern "C" __global__ void halves_exchange_mask(const float* src, float* out) {
  const int t = threadIdx.x;
  float v = src[t];
  if (t % 32 < 16) {
    v = __shfl_xor_sync(0xFFFFFFFF, v, 1);
  }
  __syncwarp();
  out[t] = v;
}
