// expect: BOUND-01 @ 7
// launch: kernel=past_the_end grid=1 block=64 smem=0
// tensor: dst f32 shape=63 role=out
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void past_the_end(float* dst) {
  dst[threadIdx.x] = 1;
}
