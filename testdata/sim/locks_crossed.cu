// expect: PROG-01 @ 23
// launch: kernel=locks_crossed grid=2 block=32 smem=0
// arg: src buffer f32 32
// arg: out buffer f32 32
// arg: lock buffer u32 2 values=zero
// arg: taken buffer u32 1 values=zero
#include "device.h"
DEV u32 try_lock(u32* p) {
  u32 was;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(was) : "l"(p) : "memory");
  return was;
}
DEV void unlock(u32* p) { asm volatile("st.release.gpu.global.u32 [%0], 0;" ::"l"(p) : "memory"); }
// Each of two blocks takes its own lock, waits until both have, and then wants the other's.
extern "C" __global__ void locks_crossed(const float* src, float* out, u32* lock, volatile u32* taken) {
  if (threadIdx.x != 0) return;
  u32 *first = lock + blockIdx.x, *second = lock + 1 - blockIdx.x;
  while (try_lock(first) != 0) {
  }
  atomicAdd(const_cast<u32*>(taken), 1);
  while (*taken < 2) {
  }
  while (try_lock(second) != 0) {
  }
  out[0] += src[blockIdx.x];
  unlock(second);
  unlock(first);
}
