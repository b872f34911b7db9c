// expect: clean
// launch: kernel=tma_ring grid=1 block=96 smem=6144
// tensor: src f16 shape=104,64 role=in fill=normal
// tensor: dst f16 shape=104,64 role=out fill=nan
// arg: src tensormap f16 dims=64,104 strides=128 box=64,16 swizzle=128B of=src
// arg: dst buffer of=dst
// arg: tiles i32 7
// check: copy
#include "device.h"
// Warp 2 loads, warps 0 and 1 store; the last box hangs over the end.
extern "C" __global__ void __launch_bounds__(96) tma_ring(const __grid_constant__ TensorMap src, uint4* dst, int tiles) {
  extern __shared__ __align__(1024) unsigned char ring[];
  __shared__ u64 full[3], empty[3];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 3; ++s) bar_init(smem(&full[s]), 1), bar_init(smem(&empty[s]), 2);
    init_fence();
  }
  __syncthreads();
  if (warp == 2) {
    for (int i = 0; i < tiles && lane == 0; ++i) {
      const int s = i % 3, round = i / 3;
      wait(smem(&empty[s]), ~round & 1);
      arrive_tx(smem(&full[s]), 2048);
      load_2d(smem(ring + 2048 * s), &src, smem(&full[s]), 0, 16 * i);
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    const int s = i % 3, round = i / 3;
    wait(smem(&full[s]), round & 1);
    for (int j = threadIdx.x; j < 128; j += 64) {
      const int row = j / 8, chunk = j % 8;
      if (16 * i + row < 104) dst[128 * i + j] = *(const uint4*)(ring + 2048 * s + 128 * row + 16 * (chunk ^ (row & 7)));
    }
    __syncwarp();
    if (lane == 0) arrive(smem(&empty[s]));
  }
}
