// expect: RACE-01 @ 14
// launch: kernel=double_buffer grid=1 block=64 smem=0
// arg: src buffer f32 2048
// arg: out buffer f32 2048
// check: copy
#include "device.h"
// Two buffers: chunk i + 1 is under way while chunk i is read by other threads than copied it.
extern "C" __global__ void double_buffer(const float* src, float* out) {
  __shared__ alignas(16) float box[2][256];
  const int t = threadIdx.x;
  copy_16(smem(&box[0][4 * t]), src + 4 * t, 16);
  copy_commit();
  for (int i = 0; i < 8; ++i) {
    if (i + 1 < 8) copy_16(smem(&box[(i + 1) % 2][4 * t]), src + 256 * (i + 1) + 4 * t, 16);
    copy_commit();
    copy_wait<1>();
    __syncthreads();
    for (int k = 0; k < 4; ++k) out[256 * i + 64 * k + t] = box[i % 2][64 * k + t];
  }
}
