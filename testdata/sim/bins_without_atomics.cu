// expect: RACE-02 @ 14
// launch: kernel=counted_bins grid=4 block=64 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 1
// arg: bins buffer f32 16 values=zero
#include "device.h"
extern "C" __global__ void counted_bins(const float* src, float* out, float* bins) {
  __shared__ float mine[16];
  const int t = threadIdx.x;
  if (t < 16) mine[t] = 0;
  __syncthreads();
  atomicAdd(&mine[t % 16], src[64 * blockIdx.x + t]);
  __syncthreads();
  if (t < 16) bins[t] += mine[t];
}
