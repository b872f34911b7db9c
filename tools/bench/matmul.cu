// Naive product of two 256 x 256 matrices of floats.
// launch: kernel=matmul grid=16,16 block=16,16 smem=0
// tensor: a f32 shape=256,256 role=in fill=normal
// tensor: b f32 shape=256,256 role=in fill=normal
// tensor: c f32 shape=256,256 role=out
// arg: a buffer of=a
// arg: b buffer of=b
// arg: c buffer of=c
// arg: n i32 256
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
