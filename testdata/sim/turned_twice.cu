// expect: clean
// launch: kernel=turned_twice grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
DEV u32 turned(u32 x) {
  u32 y;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}
// A matrix a warp, transposed twice, in a branch that whole warps take.
extern "C" __global__ void turned_twice(const u32* src, u32* out) {
  const int t = threadIdx.x;
  if (t / 32 == 0) out[t] = turned(turned(src[t]));
  else out[t] = turned(turned(src[t]));
}
