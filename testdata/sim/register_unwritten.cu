// expect: BOUND-02 @ 13
// launch: kernel=register_unwritten grid=1 block=64 smem=0
// arg: src buffer i32 64
// arg: out buffer i32 64
// check: copy
#include "device.h"
extern "C" __global__ void register_unwritten(const int* src, int* out) {
  const int t = threadIdx.x;
  int v;
  asm volatile("{\n.reg .b32 x;\n.reg .pred p;\nsetp.lt.s32 p, %1, 40;\n@p ld.global.b32 x, [%2];\nadd.s32 %0, x, 0;\n}"
               : "=r"(v)
               : "r"(t), "l"(src + t));
  out[t] = v;
}
