// expect: clean
// launch: kernel=copy_pipeline grid=2 block=64 smem=0
// tensor: src f32 shape=2,9,256 role=in fill=normal
// tensor: dst f32 shape=2,9,256 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// arg: n i32 9
// check: copy
#include "device.h"
// Three stages; each thread copies 16 bytes and reads those of another thread.
extern "C" __global__ void __launch_bounds__(64) copy_pipeline(const float4* src, float4* dst, int n) {
  __shared__ float4 ring[3][64];
  src += blockIdx.x * n * 64, dst += blockIdx.x * n * 64;
  const int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    copy_16(smem(&ring[i][t]), src + i * 64 + t, 16);
    copy_commit();
  }
  for (int i = 0; i < n; ++i) {
    copy_wait<1>();
    __syncthreads();
    dst[i * 64 + 63 - t] = ring[i % 3][63 - t];
    const int next = i + 2;
    if (next < n) copy_16(smem(&ring[next % 3][t]), src + next * 64 + t, 16);
    copy_commit();
  }
}
