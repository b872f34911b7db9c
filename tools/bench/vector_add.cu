// Sum of two vectors of 2^20 floats.
// launch: kernel=vector_add grid=4096 block=256 smem=0
// tensor: a f32 shape=1048576 role=in fill=normal
// tensor: b f32 shape=1048576 role=in fill=normal
// tensor: c f32 shape=1048576 role=out
// arg: a buffer of=a
// arg: b buffer of=b
// arg: c buffer of=c
// arg: n i32 1048576
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
