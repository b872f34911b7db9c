// expect: BOUND-01 @ 7
// launch: kernel=stack grid=1 block=64 smem=0
// tensor: dst i32 shape=64 role=out fill=nan
// arg: dst buffer of=dst
extern "C" __global__ void stack(int* dst) {
  for (int k = 0; k < 40; ++k) {
    volatile int* room = static_cast<int*>(__builtin_alloca(100 * sizeof(int) + 4 * threadIdx.x));
    room[0] = k;
    dst[threadIdx.x] = room[0];
  }
}
