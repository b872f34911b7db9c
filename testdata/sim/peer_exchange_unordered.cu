// expect: RACE-01 @ 14
// launch: kernel=peer_exchange grid=4 block=64 cluster=2 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// Each CTA of a pair reads from the other's shared memory, and neither leaves before the other has read.
extern "C" __global__ void __cluster_dims__(2, 1, 1) peer_exchange(const float* src, float* out) {
  __shared__ float box[64];
  const int t = threadIdx.x, b = blockIdx.x;
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  box[t] = src[64 * (b ^ 1) + t];
  out[64 * b + t] = peer_load(smem(&box[t]), rank ^ 1);
  cluster_sync();
}
