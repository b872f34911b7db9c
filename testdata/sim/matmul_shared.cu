// expect: clean
// launch: kernel=matmul grid=3,2 block=16,16 smem=0
// tensor: a f32 shape=30,40 role=in fill=ints seed=1
// tensor: b f32 shape=45,40 role=in fill=ints seed=2
// tensor: out f32 shape=30,45 role=out fill=nan
// arg: a buffer of=a
// arg: b buffer of=b
// arg: c buffer of=out
// arg: m i32 30
// arg: n i32 45
// arg: k i32 40
// check: gemm M=30 N=45 K=40
#include "device.h"
extern "C" __global__ void __launch_bounds__(256) matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][17], tb[16][17];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    ta[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
    const int brow = blockIdx.x * 16 + y;
    tb[y][x] = brow < n && k0 + x < k ? b[brow * k + k0 + x] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[y][i] * tb[x][i];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
