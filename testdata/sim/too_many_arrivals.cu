// expect: MBAR-05 @ 14
// launch: kernel=one_over grid=1 block=64 smem=0
// tensor: dst f32 shape=64 role=out
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) one_over(float* dst) {
  __shared__ u64 all;
  if (threadIdx.x == 0) {
    bar_init(smem(&all), 40);
    init_fence();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 41;" ::"r"(smem(&all)) : "memory");
  dst[threadIdx.x] = 1;
}
