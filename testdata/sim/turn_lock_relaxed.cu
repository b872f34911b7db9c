// expect: RACE-02 @ 17
// launch: kernel=turn_lock grid=6 block=32 smem=0
// arg: src buffer f32 192
// arg: out buffer f32 192
// arg: tile buffer f32 32 values=zero
// arg: turn buffer u32 1 values=zero
// check: copy
#include "device.h"
// Blocks take turns on one tile: acquire loads wait for the turn, a release passes it on (a stream-K semaphore).
extern "C" __global__ void turn_lock(const float* src, float* out, float* tile, u32* turn) {
  const int t = threadIdx.x, b = blockIdx.x;
  u32 now = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(turn) : "memory");
  } while (now != b);
  __syncthreads();
  tile[t] += src[32 * b + t];
  out[32 * b + t] = src[32 * b + t];
  __syncthreads();
  if (t == 0) asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(turn) : "memory");
}
