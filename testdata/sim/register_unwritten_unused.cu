// expect: clean
// tensor: src i32 shape=64 role=in fill=ints
// tensor: out i32 shape=64 role=out
// launch: kernel=register_unwritten_unused grid=1 block=64 smem=0
// arg: src buffer of=src
// arg: out buffer of=out
// check: copy
#include "device.h"
// A register that half of the threads have not written is copied, packed and computed with; what reaches memory is defined.
extern "C" __global__ void register_unwritten_unused(const int* src, int* out) {
  const int t = threadIdx.x;
  int v;
  asm volatile(
      "{\n.reg .b32 x, y, z, low;\n.reg .b64 both;\n.reg .pred p, q;\nsetp.lt.s32 p, %1, 40;\n@p ld.global.b32 x, [%2];\n"
      "@!p ld.global.b32 y, [%2];\nadd.s32 z, x, 1;\nsub.s32 z, z, 1;\nselp.b32 z, z, y, p;\n"
      "setp.eq.and.s32 q, x, z, p;\nmov.b64 both, {z, x};\nmov.b64 {low, _}, both;\n@q mov.b32 low, x;\nmov.b32 %0, low;\n}"
      : "=r"(v)
      : "r"(t), "l"(src + t));
  out[t] = v;
}
