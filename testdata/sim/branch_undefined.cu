// expect: BOUND-02 @ 11,15
// launch: kernel=branch_undefined grid=1 block=64 smem=0
// arg: src buffer i32 64
// arg: out buffer i32 64
// check: copy
#include "device.h"
// The flag is set by the first threads only.
extern "C" __global__ void branch_undefined(const int* src, int* out) {
  const int t = threadIdx.x;
  int v = src[t];
  asm volatile(
      "{\n.reg .b32 flag;\n.reg .pred p;\nsetp.lt.s32 p, %1, 8;\n@p mov.b32 flag, 1;\nsetp.ne.s32 p, flag, 0;\n"
      "@!p bra OVER;\nadd.s32 %0, %0, 1;\nOVER:\n}"
      : "+r"(v)
      : "r"(t));
  out[t] = v;
}
