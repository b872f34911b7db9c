// expect: clean
// tensor: src i32 shape=64 role=in fill=ints
// tensor: out i32 shape=64 role=out
// launch: kernel=local_array_filled grid=1 block=64 smem=0
// arg: src buffer of=src
// arg: out buffer of=out
// check: copy
#include "device.h"
struct Entry {
  double weight;
  int value;
  char mark;
};
// Structures with holes are copied whole, and an entry that was never filled is loaded but not chosen.
__attribute__((noinline)) __device__ int value_of(Entry e) { return e.mark ? e.value : -1; }
extern "C" __global__ void local_array_filled(const int* src, int* out) {
  const int t = threadIdx.x;
  Entry table[8];
#pragma unroll 1
  for (int i = 0; i < 5; ++i) table[i].weight = i, table[i].value = src[t] + i, table[i].mark = 1;
  Entry copies[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) copies[i] = table[(i + t) & 7];
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    const Entry e = copies[i];
    const int at = (i + t) & 7;
    sum += at < 5 ? value_of(e) - at : 0;
  }
  out[t] = sum / 5;
}
