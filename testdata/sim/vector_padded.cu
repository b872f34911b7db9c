// expect: clean
// tensor: src f32 shape=256 role=in fill=ints
// tensor: out f32 shape=256 role=out
// launch: kernel=vector_padded grid=1 block=64 smem=0
// arg: src buffer of=src
// arg: out buffer of=out
// check: copy
#include "device.h"
struct __align__(16) Three { float x, y, z; };
// Nobody writes the fourth word of an entry, and entries past the 60th are loaded and not stored.
extern "C" __global__ void vector_padded(const float* src, float* out) {
  __shared__ Three s[64];
  const int t = threadIdx.x;
  if (t < 60) s[t].x = src[4 * t], s[t].y = src[4 * t + 1], s[t].z = src[4 * t + 2];
  __syncthreads();
  float v[4];
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "r"(smem(&s[t])));
  const float last = src[4 * t + 3];
  if (t >= 60) v[0] = src[4 * t], v[1] = src[4 * t + 1], v[2] = src[4 * t + 2];
  out[4 * t] = v[0], out[4 * t + 1] = v[1], out[4 * t + 2] = v[2], out[4 * t + 3] = last;
}
