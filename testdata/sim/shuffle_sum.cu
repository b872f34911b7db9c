// expect: clean
// launch: kernel=shuffle_sum grid=1 block=128 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 1
// check: sum
#include "device.h"
extern "C" __global__ void shuffle_sum(const float* src, float* out) {
  __shared__ float part[4];
  const int t = threadIdx.x;
  float v = src[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, d);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < 4 ? part[t] : 0;
    for (int d = 2; d > 0; d /= 2) v += __shfl_down_sync(0xFFFFFFFF, v, d);
    if (t == 0) out[0] = v;
  }
}
