// expect: RACE-02 @ 16
// launch: kernel=spin_lock grid=4 block=32 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 1
// arg: lock buffer u32 1 values=zero
// check: sum
#include "device.h"
// A lock in global memory around an ordinary sum.
extern "C" __global__ void spin_lock(const float* src, float* out, u32* lock) {
  float v = src[32 * blockIdx.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, d);
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *out += v;
  atomicExch(lock, 0);
}
