// expect: TMA-06 @ 16
// launch: kernel=before_the_start grid=1 block=32 smem=0
// tensor: src f32 shape=16,16 role=in
// tensor: dst f32 shape=16,16 role=out
// arg: src tensormap f32 dims=16,16 strides=64 box=16,16 swizzle=none of=src
// arg: dst tensormap f32 dims=16,16 strides=64 box=16,16 swizzle=none of=dst
#include "device.h"
extern "C" __global__ void before_the_start(const __grid_constant__ TensorMap src, const __grid_constant__ TensorMap dst) {
  __shared__ __align__(128) float tile[256];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    bar_init(smem(&full), 1), init_fence();
    arrive_tx(smem(&full), 1024);
    load_2d(smem(tile), &src, smem(&full), 0, -4);
    wait(smem(&full), 0);
    store_2d(&dst, smem(tile), 0, -4);
    bulk_commit();
    bulk_wait<0>();
  }
}
