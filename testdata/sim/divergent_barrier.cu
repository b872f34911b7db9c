// expect: BAR-05 @ 8
// launch: kernel=half_a_warp grid=1 block=64 smem=0
// tensor: dst f32 shape=64 role=out
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void half_a_warp(float* dst) {
  if (threadIdx.x % 32 < 16) {
    asm volatile("bar.sync 0;" ::: "memory");
    dst[threadIdx.x] = 1;
  } else {
    asm volatile("bar.sync 0;" ::: "memory");
    dst[threadIdx.x] = 2;
  }
}
