// expect: SETREG-04 @ 16
// launch: kernel=registers_for_a_while grid=1 block=256 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// A warpgroup gives registers to the other and then more.
extern "C" __global__ void __launch_bounds__(256, 1) registers_for_a_while(const float* src, float* out) {
  const int t = threadIdx.x;
  if (t < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[t] = src[t];
    asm volatile("bar.sync 1, 128;" ::: "memory");
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  } else {
    if (t < 160) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); else asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[t] = src[t];
  }
}
