// expect: clean
// launch: kernel=cleared_then_loaded grid=1 block=32 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
// Ordinary stores to shared memory, then a bulk load over them.
extern "C" __global__ void cleared_then_loaded(const float* src, float* out) {
  __shared__ alignas(16) float s[64];
  __shared__ alignas(8) u64 full;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&full), 1), init_fence();
  s[t] = 0, s[t + 32] = 0;
  fence_async();
  __syncwarp();
  if (t == 0) {
    arrive_tx(smem(&full), 256);
    bulk_load(smem(s), src, 256, smem(&full));
  }
  wait(smem(&full), 0);
  out[t] = s[t], out[t + 32] = s[t + 32];
}
