// expect: RACE-01 @ 24
// launch: kernel=early_leavers grid=1 block=96 smem=0
// arg: src buffer f32 256
// arg: out buffer f32 256
// check: copy
#include "device.h"
// The loading warp leaves; the others go on with a barrier of their own.
extern "C" __global__ void early_leavers(const float* src, float* out) {
  __shared__ alignas(16) float box[256];
  __shared__ float turned[256];
  __shared__ alignas(8) u64 full;
  const int t = threadIdx.x;
  if (t == 0) bar_init(smem(&full), 1), init_fence();
  __syncthreads();
  if (t >= 64) {
    if (t == 64) {
      arrive_tx(smem(&full), 1024);
      bulk_load(smem(box), src, 1024, smem(&full));
    }
    return;
  }
  wait(smem(&full), 0);
  for (int i = t; i < 256; i += 64) turned[255 - i] = box[i];
  for (int i = t; i < 256; i += 64) out[i] = turned[255 - (i ^ 1)] * 0 + turned[255 - (i ^ 32)];
}
