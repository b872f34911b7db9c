// expect: RACE-01 @ 12
// launch: kernel=swap_halves grid=1 block=64 smem=0
// tensor: src f32 shape=64 role=in
// tensor: dst f32 shape=64 role=out
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void swap_halves(const float* src, float* dst) {
  __shared__ float box[64];
  const int t = threadIdx.x;
  box[t] = src[t];
  dst[t] = box[63 - t];
}
