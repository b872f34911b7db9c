// expect: clean
// launch: kernel=warp_sums grid=5 block=128 smem=0
// tensor: in f32 shape=640 role=in fill=ints
// tensor: out f32 shape=1 role=out fill=zero
// arg: in buffer of=in
// arg: out buffer of=out
// check: sum
#include "device.h"
// Shuffles within warps, shared memory between them, an atomic between CTAs.
extern "C" __global__ void __launch_bounds__(128) warp_sums(const float* in, float* out) {
  __shared__ float part[4];
  float v = in[blockIdx.x * 128 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  const unsigned all = __ballot_sync(0xffffffff, threadIdx.x % 2);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = all == 0xaaaaaaaa ? v : 1e9f;
  __syncthreads();
  if (threadIdx.x < 4) {
    v = part[threadIdx.x];
    v += __shfl_down_sync(0xf, v, 2, 4);
    v += __shfl_down_sync(0xf, v, 1, 4);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
