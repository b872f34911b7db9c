// expect: clean
// launch: kernel=divergent_lanes grid=1 block=32 smem=0
// tensor: src i32 shape=32 role=in fill=ints
// tensor: dst i32 shape=32 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
#include "device.h"
// Lane 0 waits for what lanes 1-31 do on the other side of the branch.
extern "C" __global__ void divergent_lanes(const int* src, int* dst) {
  __shared__ u64 done;
  __shared__ int box[32];
  const int lane = threadIdx.x;
  if (lane == 0) {
    bar_init(smem(&done), 31);
    init_fence();
  }
  __syncwarp();
  if (lane == 0) {
    wait(smem(&done), 0);
    for (int i = 1; i < 32; ++i) dst[i] = box[i];
    dst[0] = src[0];
  } else {
    int v = src[lane];
    for (int i = 0; i < lane; ++i) v += i % 2 ? -1 : 1;
    box[lane] = v - (lane & 1);
    arrive(smem(&done));
  }
}
