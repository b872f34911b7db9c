// expect: clean
// launch: kernel=heap grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=128 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
// Blocks of the device's heap: one a thread, one that a thread makes and another frees, one that there is no room for.
extern "C" __global__ void heap(const int* src, int* dst) {
  __shared__ int* common;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int* own = static_cast<int*>(malloc((threadIdx.x + 1) * sizeof(int)));
  own[threadIdx.x] = src[t];
  if (threadIdx.x == 0) common = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  common[63 - threadIdx.x] = own[threadIdx.x];
  __syncthreads();
  dst[t] = common[63 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 63) free(common);
  free(own);
  free(nullptr);
  void* volatile huge = malloc(size_t{1} << 40);
  if (huge) dst[t] = 0;  // more than the heap has
}
