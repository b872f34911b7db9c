// expect: clean
// launch: kernel=tma_store grid=2,2 block=32 smem=0
// tensor: src f32 shape=20,24 role=in fill=normal
// tensor: dst f32 shape=20,24 role=out fill=nan
// arg: src tensormap f32 dims=24,20 strides=96 box=16,16 swizzle=64B of=src
// arg: dst tensormap f32 dims=24,20 strides=96 box=16,16 swizzle=64B of=dst
// check: copy
#include "device.h"
// Boxes over both edges: zeros come in, nothing goes out.
extern "C" __global__ void __launch_bounds__(32)
tma_store(const __grid_constant__ TensorMap src, const __grid_constant__ TensorMap dst) {
  __shared__ __align__(1024) float tile[256];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    const int x = 16 * blockIdx.x, y = 16 * blockIdx.y;
    bar_init(smem(&full), 1);
    init_fence();
    arrive_tx(smem(&full), 1024);
    load_2d(smem(tile), &src, smem(&full), x, y);
    wait(smem(&full), 0);
    store_2d(&dst, smem(tile), x, y);
    bulk_commit();
    bulk_wait_read<0>();
  }
}
