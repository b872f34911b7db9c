// expect: RACE-01 @ 27
// launch: kernel=to_the_peer grid=2 block=32 cluster=2 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// check: copy
#include "device.h"
// Every block writes its values into the shared memory of the other and arrives there.
extern "C" __global__ void __cluster_dims__(2, 1, 1) to_the_peer(const float* src, float* out) {
  __shared__ float box[32];
  __shared__ u64 full;
  const int t = threadIdx.x, me = blockIdx.x, peer = me ^ 1;
  if (t == 0) {
    bar_init(smem(&full), 32);
    init_fence();
  }
  cluster_sync();
  asm volatile(
      "{\n.reg .b32 p;\nmapa.shared::cluster.u32 p, %0, %1;\nst.shared::cluster.f32 [p], %2;\n}" ::"r"(smem(box + t)),
      "r"(peer), "f"(src[32 * peer + t])
      : "memory");
  asm volatile("{\n.reg .b32 p;\nmapa.shared::cluster.u32 p, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [p];\n}" ::"r"(smem(&full)),
      "r"(peer)
      : "memory");
  asm volatile(
      "{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN_%=;\n}" ::"r"(smem(&full))
      : "memory");
  out[32 * me + t] = box[t];
  cluster_sync();
}
