// expect: clean
// launch: kernel=vector_add grid=4 block=96 smem=0
// tensor: a f32 shape=300 role=in fill=ints
// tensor: out f32 shape=300 role=out fill=nan
// arg: a buffer of=a
// arg: out buffer of=out
// arg: n i32 300
// check: copy
#include "device.h"
extern "C" __global__ void vector_add(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (a[i] + 3.0f) - 3.0f;
}
