// 256 bins: atomics on shared memory, then one on global memory a bin and block.
// launch: kernel=histogram grid=16 block=256 smem=0
// tensor: in u8 shape=65536 role=in fill=ints
// tensor: out u32 shape=256 role=inout fill=zero
// arg: in buffer of=in
// arg: out buffer of=out
// arg: n i32 65536
extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
