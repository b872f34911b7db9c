// expect: RACE-01 @ 19
// launch: kernel=vector_shapes grid=1 block=32 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// Accesses of 2, 4, 8 and 16 bytes to the same words by the same and by other lanes.
extern "C" __global__ void vector_shapes(const float* src, float* out) {
  __shared__ alignas(16) float s[256];
  const int t = threadIdx.x;
  ((float4*)s)[t] = ((const float4*)src)[t];
  ((float2*)s)[64 + t] = ((const float2*)src)[64 + t];
  ((u16*)s)[384 + t] = ((const u16*)src)[384 + t];
  ((u16*)s)[416 + t] = ((const u16*)src)[416 + t];
  ((u16*)s)[448 + t] = ((const u16*)src)[448 + t];
  ((u16*)s)[480 + t] = ((const u16*)src)[480 + t];
  float4 own = ((float4*)s)[t];
  ((float4*)out)[t] = own;
  ((float4*)out)[32 + t] = ((float4*)s)[32 + t];
}
