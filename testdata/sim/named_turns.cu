// expect: clean
// launch: kernel=named_turns grid=1 block=128 smem=0
// tensor: src f32 shape=10,64 role=in fill=normal
// tensor: dst f32 shape=10,64 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// arg: n i32 10
// check: copy
#include "device.h"
DEV void turn_sync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
DEV void turn_arrive(int id) { asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory"); }
// Two warps write a slot, two read it; full is barrier 1 + slot, empty barrier 3 + slot.
extern "C" __global__ void __launch_bounds__(128) named_turns(const float* src, float* dst, int n) {
  __shared__ float box[2][64];
  const int t = threadIdx.x % 64;
  for (int i = 0; i < n; ++i) {
    const int s = i & 1;
    if (threadIdx.x < 64) {
      if (i >= 2) turn_sync(3 + s);
      box[s][t] = src[64 * i + t];
      turn_arrive(1 + s);
    } else {
      turn_sync(1 + s);
      dst[64 * i + 63 - t] = box[s][63 - t];
      if (i + 2 < n) turn_arrive(3 + s);
    }
  }
}
