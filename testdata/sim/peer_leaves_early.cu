// expect: CLUST-07 @ 14
// launch: kernel=peer_leaves grid=2 block=64 cluster=2 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
// check: copy
#include "device.h"
extern "C" __global__ void __cluster_dims__(2, 1, 1) peer_leaves(const float* src, float* out) {
  __shared__ float box[64];
  const int t = threadIdx.x, b = blockIdx.x;
  box[t] = src[64 * (b ^ 1) + t];
  cluster_sync();
  if (b == 0) {
    for (int i = 0; i < 400; ++i) __nanosleep(0);
    out[t] = peer_load(smem(&box[t]), 1);
  }
}
