// expect: RACE-01 @ 12
// launch: kernel=drawn_chunks grid=3 block=64 smem=0
// arg: src buffer f32 640
// arg: out buffer f32 640
// arg: next buffer u32 1 values=zero
// check: copy
#include "device.h"
extern "C" __global__ void drawn_chunks(const float* src, float* out, u32* next) {
  __shared__ u32 chunk;
  const int t = threadIdx.x;
  for (;;) {
    if (t == 0) chunk = atomicAdd(next, 1);
    __syncthreads();
    const u32 c = chunk;
    if (c >= 10) break;
    out[64 * c + t] = src[64 * c + t];
  }
}
