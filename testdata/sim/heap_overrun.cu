// expect: BOUND-01 @ 10
// launch: kernel=heap grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=128 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
extern "C" __global__ void heap(const int* src, int* dst) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int* own = static_cast<int*>(malloc(sizeof(int) * 8));
  own[threadIdx.x % 9] = src[t];
  dst[t] = own[threadIdx.x % 9];
}
