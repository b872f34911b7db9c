// expect: CLUST-05 @ 10,12
// launch: kernel=cluster_barrier_by_halves grid=2 block=64 cluster=2 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
#include "device.h"
// The halves of a warp come to two barriers of the cluster that are .aligned.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_barrier_by_halves(const float* src, float* out) {
  const int t = threadIdx.x;
  if (t % 32 < 16)
    cluster_sync();
  else
    cluster_sync(), out[64 + t] = 1;
  out[t] = src[t];
}
