// expect: RACE-02 @ 27
// launch: kernel=handed_on grid=2 block=32 smem=0
// arg: src buffer f32 32
// arg: out buffer f32 32
// arg: box buffer f32 32 values=zero
// arg: flags buffer u32 2 values=zero
// check: copy
#include "device.h"
DEV void publish(u32* p) { asm volatile("red.release.cta.global.add.u32 [%0], 1;" ::"l"(p) : "memory"); }
DEV u32 look(const u32* p) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
// Lane t of one block leaves a value for lane t of the other, and a lane of its own block makes it known.
extern "C" __global__ void handed_on(const float* src, float* out, float* box, u32* flags) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    box[t] = src[t];
    __syncwarp();
    if (t == 5) publish(flags);
  } else {
    if (t == 7)
      while (look(flags) == 0) {
      }
    __syncwarp();
    out[t] = box[t];
  }
}
