// expect: clean
// launch: kernel=stored_then_loaded grid=1 block=32 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// arg: box buffer f32 64 values=zero
// check: copy
#include "device.h"
// Ordinary stores to global memory, then a bulk load of it.
extern "C" __global__ void stored_then_loaded(const float* src, float* out, float* box) {
  __shared__ alignas(16) float s[64];
  __shared__ alignas(8) u64 full;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&full), 1), init_fence();
  box[t] = src[t], box[t + 32] = src[t + 32];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp();
  if (t == 0) {
    arrive_tx(smem(&full), 256);
    bulk_load(smem(s), box, 256, smem(&full));
  }
  wait(smem(&full), 0);
  out[t] = s[t], out[t + 32] = s[t + 32];
}
