// expect: clean
// launch: kernel=bulk_store_read_back grid=1 block=32 smem=0
// arg: src buffer f32 64
// arg: out buffer f32 64
// arg: box buffer f32 64 values=zero
// check: copy
#include "device.h"
extern "C" __global__ void bulk_store_read_back(const float* src, float* out, float* box) {
  __shared__ alignas(16) float s[64];
  const int t = threadIdx.x;
  s[t] = src[t], s[t + 32] = src[t + 32];
  fence_async();
  __syncwarp();
  if (t == 0) {
    bulk_store(box, smem(s), 256);
    bulk_commit();
    bulk_wait<0>();
  }
  __syncwarp();
  out[t] = box[t], out[t + 32] = box[t + 32];
}
