// expect: RACE-01 @ 24
// launch: kernel=shared_flag grid=1 block=64 smem=0
// arg: src buffer f32 32
// arg: out buffer f32 32
// check: copy
#include "device.h"
// One warp hands over to another by a volatile flag.
extern "C" __global__ void shared_flag(const float* src, float* out) {
  __shared__ float box[32];
  __shared__ volatile int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    box[t] = src[t];
    __syncwarp();
    if (t == 0) {
      ready = 1;
    }
  } else {
    while (ready == 0) {
    }
    __threadfence_block();
    out[t - 32] = box[t - 32];
  }
}
