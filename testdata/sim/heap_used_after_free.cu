// expect: BOUND-01 @ 12
// launch: kernel=heap grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=128 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
extern "C" __global__ void heap(const int* src, int* dst) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int* own = static_cast<int*>(malloc(16));
  own[1] = src[t];
  free(const_cast<int*>(own));
  dst[t] = own[1];
}
