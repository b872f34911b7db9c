// expect: RACE-02 @ 21
// launch: kernel=grid_barrier grid=4 block=64 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// arg: box buffer f32 256 values=zero
// arg: count buffer u32 1 values=zero
// check: copy
#include "device.h"
// All blocks meet at a counter; then each reads what another block wrote.
extern "C" __global__ void grid_barrier(const float* src, float* out, float* box, u32* count) {
  const int t = threadIdx.x, b = blockIdx.x, n = gridDim.x;
  box[64 * b + t] = src[64 * b + t];
  __syncthreads();
  if (t == 0) {
    atomicAdd(count, 1);
    while (*(volatile u32*)count < n) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
  const int o = (b + 1) % n;
  out[64 * o + t] = box[64 * o + t];
}
