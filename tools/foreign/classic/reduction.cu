// Sum of n floats: a tree in shared memory, warp shuffles, and the last block to finish adds the partial sums.
// launch: kernel=reduction grid=24 block=256 smem=0
// tensor: in f32 shape=50000 role=in fill=normal
// tensor: partial f32 shape=24 role=inout fill=zero
// tensor: count u32 shape=1 role=inout fill=zero
// tensor: out f32 shape=1 role=out
// arg: in buffer of=in
// arg: partial buffer of=partial
// arg: count buffer of=count
// arg: out buffer of=out
// arg: n i32 50000
__device__ float block_sum(float v) {
  __shared__ float warp_sum[32];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? warp_sum[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32)
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}
extern "C" __global__ void reduction(const float* in, volatile float* partial, unsigned* count, float* out, int n) {
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = block_sum(v);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  v = block_sum(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) *out = v;
}
