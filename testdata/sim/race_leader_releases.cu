// expect: RACE-01 @ 20
// launch: kernel=leader grid=1 block=96 smem=0
// tensor: src f32 shape=4,256 role=in
// tensor: dst f32 shape=4,256 role=out
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
// One thread releases the slot for two warps: the other warp may still be reading.
extern "C" __global__ void __launch_bounds__(96) leader(const float* src, float* dst) {
  __shared__ __align__(16) float slot[256];
  __shared__ u64 full, empty;
  if (threadIdx.x == 0) bar_init(smem(&full), 1), bar_init(smem(&empty), 1), init_fence();
  __syncthreads();
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64)
      for (int i = 0; i < 4; ++i) {
        wait(smem(&empty), ~i & 1);
        arrive_tx(smem(&full), 1024);
        // the copy meets the reads of warp 1
        bulk_load(smem(slot), src + 256 * i, 1024, smem(&full));
      }
  } else {
    for (int i = 0; i < 4; ++i) {
      wait(smem(&full), i & 1);
      for (int j = threadIdx.x; j < 256; j += 64) dst[256 * i + j] = slot[j];
      if (threadIdx.x == 0) arrive(smem(&empty));
    }
  }
}
