// A matrix of 256 x 192 through padded tiles of shared memory.
// launch: kernel=transpose grid=6,8 block=32,8 smem=0
// tensor: in f32 shape=256,192 role=in fill=normal
// tensor: out f32 shape=192,256 role=out
// arg: in buffer of=in
// arg: out buffer of=out
// arg: rows i32 256
// arg: columns i32 192
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = in[(y + k) * columns + x];
  __syncthreads();
  const int xt = blockIdx.y * 32 + threadIdx.x, yt = blockIdx.x * 32;
  for (int k = threadIdx.y; k < 32; k += 8) out[(yt + k) * rows + xt] = tile[threadIdx.x][k];
}
