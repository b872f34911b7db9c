// expect: MBAR-06 @ 29
// launch: kernel=watcher grid=1 block=96 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// Two warps wait for every phase; both hold the producer back.
extern "C" __global__ void watcher(const float* src, float* out) {
  __shared__ alignas(16) float box[64];
  __shared__ alignas(8) u64 full, empty;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&full), 1), bar_init(smem(&empty), 1), init_fence();
  __syncthreads();
  if (t == 0) {
    for (int k = 0; k < 4; ++k) {
      if (k > 0) wait(smem(&empty), (k - 1) & 1);
      arrive_tx(smem(&full), 256);
      bulk_load(smem(box), src + 64 * k, 256, smem(&full));
    }
  } else if (t >= 64) {
    for (int k = 0; k < 4; ++k) {
      wait(smem(&full), k & 1);
      for (int i = t - 64; i < 64; i += 32) out[64 * k + i] = box[i];
      __syncwarp();
      if (t == 64) arrive(smem(&empty));
    }
  } else if (t >= 32) {
    for (int k = 0; k < 4; ++k) {
      wait(smem(&full), k & 1);
    }
  }
}
