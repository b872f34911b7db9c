// expect: clean
// launch: kernel=stack grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=128 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
// Lanes take different amounts of their stacks, often: what a function took is free when it returns.
static __device__ __noinline__ int through(int v, int n) {
  volatile int* room = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (int k = 0; k < n; ++k) room[k] = k ? 0 : v;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += room[k];
  return sum;
}
extern "C" __global__ void stack(const int* src, int* dst) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int v = src[t];
  for (int k = 0; k < 40; ++k) v = through(v, 200 + t);
  dst[t] = v;
}
