// expect: BOUND-02 @ 14
// launch: kernel=vector_unfilled grid=1 block=64 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
struct __align__(16) Four { float x, y, z, w; };
extern "C" __global__ void vector_unfilled(const Four* src, Four* out) {
  __shared__ Four s[64];
  const int t = threadIdx.x;
  if (t < 48) s[t] = src[t];
  __syncthreads();
  const Four v = s[t ^ 1];
  out[t ^ 1] = v;
}
