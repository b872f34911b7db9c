// expect: clean
// launch: kernel=registers_given_back grid=1 block=256 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// A warpgroup gives registers to the other.
extern "C" __global__ void __launch_bounds__(256, 1) registers_given_back(const float* src, float* out) {
  const int t = threadIdx.x;
  if (t < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[t] = src[t];
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[t] = src[t];
  }
}
