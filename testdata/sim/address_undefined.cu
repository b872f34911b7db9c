// expect: BOUND-02 @ 13
// launch: kernel=address_undefined grid=1 block=64 smem=0
// arg: src buffer i32 64
// arg: out buffer i32 64
// check: copy
#include "device.h"
// The last entries of the table of indices are missing.
extern "C" __global__ void address_undefined(const int* src, int* out) {
  const int t = threadIdx.x;
  volatile int index[4];
#pragma unroll 1
  for (int i = 0; i < 3; ++i) index[i] = t;
  const int at = index[t & 3];
  out[t] = src[at & 63];
}
