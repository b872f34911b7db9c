// expect: PROG-01 @ 21
// launch: kernel=never_arrived grid=1 block=96 smem=0
// tensor: dst f32 shape=32 role=out
// arg: dst buffer of=dst
// arg: last i32 3
#include "device.h"
// Warp 0 hands on to warp 1, unless it takes itself for somebody else; warp 2 waits for both at a named barrier.
extern "C" __global__ void __launch_bounds__(96) never_arrived(float* dst, int last) {
  __shared__ u64 full, spare;
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    bar_init(smem(&full), 32);
    bar_init(smem(&spare), 32);
    init_fence();
  }
  __syncthreads();
  if (warp == 0) {
    if (warp == last) arrive(smem(&full));
    else arrive(smem(&spare));
  } else if (warp == 1) {
    wait(smem(&full), 0);
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    dst[t - 64] = 1;
  }
}
