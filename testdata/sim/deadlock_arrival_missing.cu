// expect: PROG-01 @ 14
// launch: kernel=one_short grid=1 block=64 smem=0
// tensor: dst f32 shape=64 role=out
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) one_short(float* dst) {
  __shared__ u64 all;
  if (threadIdx.x == 0) {
    bar_init(smem(&all), 64);
    init_fence();
  }
  __syncthreads();
  if (threadIdx.x != 63) arrive(smem(&all));
  wait(smem(&all), 0);
  dst[threadIdx.x] = 1;
}
