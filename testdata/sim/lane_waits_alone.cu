// expect: RACE-01 @ 21
// launch: kernel=lane_alone grid=1 block=64 smem=0
// tensor: src f32 shape=32 role=in
// tensor: dst f32 shape=32 role=out
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) lane_alone(const float* src, float* dst) {
  __shared__ float box[32];
  __shared__ u64 full;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) bar_init(smem(&full), 32), init_fence();
  __syncthreads();
  if (threadIdx.x < 32) {
    box[lane] = src[lane];
    arrive(smem(&full));
  } else {
    if (lane == 0) wait(smem(&full), 0);
    // no __syncwarp: lanes 1-31 have not waited
    asm volatile("" ::: "memory");
    dst[lane] = box[lane];
  }
}
