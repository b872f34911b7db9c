// expect: MBAR-03 @ 21
// launch: kernel=barrier_retired_unmet grid=1 block=96 smem=0
// arg: src buffer f32 96
// arg: out buffer f32 96
// check: copy
#include "device.h"
// One lane counts for its warp, whose others may still wait when the barrier ends.
extern "C" __global__ void barrier_retired_unmet(const float* src, float* out) {
  __shared__ alignas(8) u64 bar;
  __shared__ u32 users;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&bar), 96), users = 96;
  __syncthreads();
  arrive(smem(&bar));
  wait(smem(&bar), 0);
  out[t] = src[t];
  if (t % 32 != 0) return;
  u32 old;
  const u32 count = 32;
  asm volatile("fence.sc.cta;\natom.acquire.cta.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(smem(&users)), "r"(-count) : "memory");
  if (old == count) bar_inval(smem(&bar));
}
