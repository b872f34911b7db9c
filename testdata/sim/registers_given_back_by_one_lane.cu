// expect: SETREG-04 @ 11
// launch: kernel=registers_given_back_by_one_lane grid=1 block=128 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
#include "device.h"
// Only the lane that will issue copies gives its registers back.
extern "C" __global__ void __launch_bounds__(128, 1) registers_given_back_by_one_lane(const float* src, float* out) {
  const int t = threadIdx.x;
  out[t] = src[t];
  if (t % 32 == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[t] = src[t];
  }
}
