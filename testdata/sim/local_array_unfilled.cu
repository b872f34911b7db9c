// expect: BOUND-02 @ 13
// launch: kernel=local_array_unfilled grid=1 block=64 smem=0
// arg: src buffer i32 64
// arg: out buffer i32 64
// check: copy
#include "device.h"
// Entry src[t] & 7 of a table of which the first entries alone are filled.
extern "C" __global__ void local_array_unfilled(const int* src, int* out) {
  const int t = threadIdx.x;
  volatile int table[16];
#pragma unroll 1
  for (int i = 0; i < 5; ++i) table[i] = i + t;
  const int v = table[src[t] & 7];
  out[t] = v;
}
