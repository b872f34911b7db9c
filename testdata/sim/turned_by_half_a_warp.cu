// expect: MMA-19 @ 15
// launch: kernel=turned_by_half_a_warp grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
#include "device.h"
DEV u32 turned(u32 x) {
  u32 y;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}
// The lanes that have no element to turn stay away.
extern "C" __global__ void turned_by_half_a_warp(const u32* src, u32* out) {
  const int t = threadIdx.x;
  if (t % 32 < 16)
    out[t] = turned(src[t]);
  __syncthreads();
  if (t % 32 >= 16) out[t] = src[t];
}
