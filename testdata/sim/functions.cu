// expect: clean
// launch: kernel=functions grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=512 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
#include "device.h"
static __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
// Keeps m in memory of its own frame while the function calls itself.
static __device__ __noinline__ int ackermann(int m, int n) {
  volatile int kept[4];
  kept[n & 3] = m;
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  const int r = ackermann(m, n - 1);
  return ackermann(kept[n & 3] - 1, r);
}
static __device__ __noinline__ int twice(int x) { return 2 * x; }
static __device__ __noinline__ int square(int x) { return x * x; }
static __device__ __noinline__ int add_seven(int x) { return x + 7; }
typedef int (*Function)(int);
static __device__ Function table[3] = {twice, square, add_seven};
extern "C" __global__ void functions(const int* src, int* dst) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  int chosen = 0;
  switch ((src[i] + 4) % 7) {
    case 0: chosen = 11 * i; break;
    case 1: chosen = i ^ 5; break;
    case 2: chosen = i << 3; break;
    case 3: chosen = twice(i) - 1; break;
    case 4: chosen = square(i) % 17; break;
    case 5: chosen = -i; break;
    default: chosen = 1;
  }
  dst[4 * i] = fib(i % 9);
  dst[4 * i + 1] = table[i % 3](i);
  dst[4 * i + 2] = chosen;
  dst[4 * i + 3] = ackermann(i % 3, i % 4);
}
