// expect: TMA-15 @ 15
// launch: kernel=exit_early grid=1 block=64 smem=0
// tensor: src f32 shape=256 role=in
// tensor: dst f32 shape=256 role=out
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
extern "C" __global__ void __launch_bounds__(64) exit_early(const float* src, float* dst) {
  __shared__ __align__(16) float out[256];
  for (int i = threadIdx.x; i < 256; i += 64) out[i] = src[i];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    // nobody waits until it has read shared memory
    bulk_store(dst, smem(out), 1024);
    bulk_commit();
  }
}
