// expect: clean
// launch: kernel=all_fence_one_counts grid=2 block=64 smem=0
// arg: src buffer u32 64
// arg: out buffer u32 64
// arg: box buffer u32 64 values=zero
// arg: count buffer u32 1 values=zero
// check: copy
#include "device.h"
// All threads of a block write and fence; after a barrier one of them counts the block as done.
extern "C" __global__ void all_fence_one_counts(const u32* src, u32* out, u32* box, u32* count) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    box[t] = src[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicAdd(count, 1);
  } else {
    if (t == 0)
      while (*(volatile u32*)count == 0) {
      }
    __syncthreads();
    out[t] = box[t];
  }
}
