// expect: clean
// launch: kernel=bulk_round_trip grid=3 block=64 smem=0
// tensor: src f32 shape=3,256 role=in fill=normal
// tensor: dst f32 shape=3,256 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) bulk_round_trip(const float* src, float* dst) {
  __shared__ __align__(16) float in[256], out[256];
  __shared__ u64 full;
  const int t = threadIdx.x;
  if (t == 0) {
    bar_init(smem(&full), 1);
    init_fence();
  }
  __syncthreads();
  if (t == 0) {
    arrive_tx(smem(&full), 1024);
    bulk_load(smem(in), src + 256 * blockIdx.x, 512, smem(&full));
    bulk_load(smem(in + 128), src + 256 * blockIdx.x + 128, 512, smem(&full));
  }
  wait(smem(&full), 0);
  for (int i = t; i < 256; i += 64) out[i] = in[i];
  fence_async();
  __syncthreads();
  if (t == 0) {
    bulk_store(dst + 256 * blockIdx.x, smem(out), 1024);
    bulk_commit();
    bulk_wait<0>();
  }
}
