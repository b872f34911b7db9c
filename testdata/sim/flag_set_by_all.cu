// expect: clean
// launch: kernel=flag_set_by_all grid=16 block=64 smem=0
// arg: src buffer f32 1024
// arg: out buffer f32 1024
// arg: seen buffer u32 4 values=zero
// check: copy
#include "device.h"
// All blocks store the same value at the same place: whoever is second changes nothing.
extern "C" __global__ void flag_set_by_all(const float* src, float* out, u32* seen) {
  const int t = 64 * blockIdx.x + threadIdx.x;
  out[t] = src[t];
  if (threadIdx.x < 4) seen[threadIdx.x] = 7;
}
