// expect: clean
// launch: kernel=long_computation grid=2 block=32 smem=0
// arg: src buffer u32 32
// arg: out buffer u32 32
// arg: box buffer u32 32 values=zero
// arg: flag buffer u32 1 values=zero
// check: copy
#include "device.h"
// One block computes for long, its lanes by ways of their own, and stores nothing meanwhile; the other waits for it.
extern "C" __global__ void long_computation(const u32* src, u32* out, u32* box, volatile u32* flag) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    u32 x = src[t] + t + 27;
    for (int i = 0; i < 12000; ++i) {
      if (x & 1) x = 3 * x + 1;
      else asm volatile("shr.u32 %0, %0, 1;" : "+r"(x));
    }
    box[t] = src[t] + (x == 0);
    __threadfence();
    __syncwarp();
    if (t == 0) *flag = 1;
  } else {
    if (t == 0)
      while (*flag == 0) {
      }
    __threadfence();
    __syncwarp();
    __threadfence();
    out[t] = box[t];
  }
}
