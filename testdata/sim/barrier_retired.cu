// expect: clean
// launch: kernel=barrier_retired grid=1 block=96 smem=0
// arg: src buffer f32 96
// arg: out buffer f32 96
// check: copy
#include "device.h"
// The end of cuda::pipeline: of the threads that meet in a match, one counts for all; who counts last ends the barrier.
extern "C" __global__ void barrier_retired(const float* src, float* out) {
  __shared__ alignas(8) u64 bar;
  __shared__ u32 users;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&bar), 96), users = 96;
  __syncthreads();
  arrive(smem(&bar));
  wait(smem(&bar), 0);
  out[t] = src[t];
  u32 same;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(smem(&users)), "r"(__activemask()));
  if (t % 32 != __ffs(same) - 1) return;
  u32 old;
  const u32 count = __popc(same);
  asm volatile("fence.sc.cta;\natom.acquire.cta.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(smem(&users)), "r"(-count) : "memory");
  if (old == count) bar_inval(smem(&bar));
}
