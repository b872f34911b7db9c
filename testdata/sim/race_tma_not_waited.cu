// expect: RACE-01 @ 20
// launch: kernel=read_early grid=1 block=64 smem=0
// tensor: src f32 shape=256 role=in
// tensor: dst f32 shape=256 role=out
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) read_early(const float* src, float* dst) {
  __shared__ __align__(16) float in[256];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    bar_init(smem(&full), 1);
    init_fence();
    arrive_tx(smem(&full), 1024);
    bulk_load(smem(in), src, 1024, smem(&full));
  }
  __syncthreads();
  // nobody has waited for the copy
  asm volatile("" ::: "memory");
  for (int i = threadIdx.x; i < 256; i += 64) dst[i] = in[i];
  wait(smem(&full), 0);
}
