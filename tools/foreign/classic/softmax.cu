// Rows of 1000 floats, a block a row: maxima and sums by shuffles and shared memory, expf and division of the library.
// launch: kernel=softmax grid=48 block=256 smem=0
// tensor: in f32 shape=48,1000 role=in fill=normal
// tensor: out f32 shape=48,1000 role=out
// arg: in buffer of=in
// arg: out buffer of=out
// arg: n i32 1000
template <class F>
__device__ float across_block(float v, float neutral, F f) {
  __shared__ float parts[32];
  for (int d = 16; d > 0; d >>= 1) v = f(v, __shfl_xor_sync(0xffffffff, v, d));
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : neutral;
  for (int d = 16; d > 0; d >>= 1) v = f(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}
extern "C" __global__ void softmax(const float* in, float* out, int n) {
  const float* x = in + blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  most = across_block(most, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - most);
  sum = across_block(sum, 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(x[i] - most) / sum;
}
