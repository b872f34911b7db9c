// expect: clean
// launch: kernel=within_block grid=4 block=64 smem=0
// arg: src buffer f32 128
// arg: out buffer f32 128
// arg: box buffer f32 128 values=zero
// arg: flags buffer u32 4 values=zero
// check: copy
#include "device.h"
// Warp 0 leaves values for warp 1 in global memory: the scope of the block is enough.
extern "C" __global__ void within_block(const float* src, float* out, float* box, u32* flags) {
  const int t = threadIdx.x, lane = t % 32, at = 32 * blockIdx.x + lane;
  if (t < 32) {
    box[at] = src[at];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) {
      __threadfence_block();
      atomicAdd_block(flags + blockIdx.x, 1);
    }
  } else {
    if (lane == 0)
      while (atomicAdd_block(flags + blockIdx.x, 0) == 0) {
      }
    __threadfence_block();
    __syncwarp();
    out[at] = box[at];
  }
}
