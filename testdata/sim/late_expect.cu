// expect: clean
// launch: kernel=late_expect grid=1 block=64 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
// The bytes are expected by one thread, the arrival comes from another, which knows that they are.
extern "C" __global__ void late_expect(const float* src, float* out) {
  __shared__ alignas(16) float box[64];
  __shared__ alignas(8) u64 full;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&full), 1), init_fence();
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 256;" ::"r"(smem(&full)) : "memory");
    bulk_load(smem(box), src, 256, smem(&full));
  }
  __syncthreads();
  if (t == 32) arrive(smem(&full));
  wait(smem(&full), 0);
  out[t] = box[t];
}
