// expect: TMA-14 @ 20
// launch: kernel=stores_in_turn grid=2 block=64 smem=0
// tensor: src f32 shape=2,256 role=in fill=normal
// tensor: dst f32 shape=2,256 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
#include "device.h"
// One buffer for four stores: it is filled again when the one before has read it.
extern "C" __global__ void __launch_bounds__(64) stores_in_turn(const float* src, float* dst) {
  __shared__ __align__(16) float out[64];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const int at = 256 * blockIdx.x + 64 * k;
    out[t] = src[at + t];
    fence_async();
    __syncthreads();
    if (t == 0) bulk_store(dst + at, smem(out), 256);
    if (t == 0) bulk_commit();
    if (t == 32) bulk_wait_read<0>();
    __syncthreads();
  }
}
