// expect: clean
// launch: kernel=ring_of_two grid=1 block=64 smem=0
// arg: src buffer f32 1024
// arg: out buffer f32 1024
// check: copy
#include "device.h"
// A producer warp and a consumer warp; the producer waits until a slot is free.
extern "C" __global__ void ring_of_two(const float* src, float* out) {
  __shared__ alignas(16) float box[2][128];
  __shared__ alignas(8) u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) bar_init(smem(&full[s]), 1), bar_init(smem(&empty[s]), 1);
    init_fence();
  }
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < 8; ++k) {
      if (k > 1) wait(smem(&empty[k % 2]), (k / 2 - 1) & 1);
      arrive_tx(smem(&full[k % 2]), 512);
      bulk_load(smem(box[k % 2]), src + 128 * k, 512, smem(&full[k % 2]));
    }
  } else if (t >= 32) {
    for (int k = 0; k < 8; ++k) {
      wait(smem(&full[k % 2]), k / 2 & 1);
      for (int i = t - 32; i < 128; i += 32) out[128 * k + i] = box[k % 2][i];
      __syncwarp();
      if (t == 32) arrive(smem(&empty[k % 2]));
    }
  }
}
