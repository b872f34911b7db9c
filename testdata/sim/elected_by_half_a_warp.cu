// expect: ELECT-01 @ 16
// launch: kernel=elected_by_half_a_warp grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
#include "device.h"
DEV bool elected() {
  u32 yes;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
  return yes;
}
// The election is inside the branch of a part of the warp.
extern "C" __global__ void elected_by_half_a_warp(const float* src, float* out) {
  const int t = threadIdx.x;
  float v = src[t];
  if (t < 8)
    if (elected()) v += 1;
  out[t] = v;
}
