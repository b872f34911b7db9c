// expect: RACE-02 @ 9
// launch: kernel=halo grid=4 block=64 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
extern "C" __global__ void halo(const float* src, float* out) {
  const int i = 64 * blockIdx.x + threadIdx.x;
  out[i] = src[i];
  if (threadIdx.x == 63 && i + 1 < 256) out[i + 1] = src[i] + 0.5f;
}
