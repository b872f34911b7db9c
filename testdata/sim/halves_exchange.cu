// expect: clean
// launch: kernel=halves_exchange grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
// Each half of a warp exchanges values on its own, there and back.
extern "C" __global__ void halves_exchange(const float* src, float* out) {
  const int t = threadIdx.x;
  float v = src[t];
  if (t % 32 < 16) {
    v = __shfl_xor_sync(0x0000FFFF, v, 1);
    v = __shfl_xor_sync(0x0000FFFF, v, 1);
  } else {
    v = __shfl_xor_sync(0xFFFF0000, v, 8);
    v = __shfl_xor_sync(0xFFFF0000, v, 8);
  }
  out[t] = v;
}
