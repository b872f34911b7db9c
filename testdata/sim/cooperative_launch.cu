// expect: clean
// launch: kernel=exchange grid=2 block=64 smem=0
// tensor: src i32 shape=128 role=in fill=ints
// tensor: dst i32 shape=128 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
// The grid's barrier counts in the workspace that a cooperative launch provides.
extern "C" __global__ void exchange(const int* src, int* dst) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  unsigned* workspace;
  asm("{ .reg .b32 lo, hi; mov.u32 lo, %%envreg2; mov.u32 hi, %%envreg1; mov.b64 %0, {lo, hi}; }" : "=l"(workspace));
  dst[127 - t] = src[127 - t];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(workspace + 1, 1);
    while (*static_cast<volatile unsigned*>(workspace + 1) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  const int mine = dst[t];
  dst[t] = mine;
}
