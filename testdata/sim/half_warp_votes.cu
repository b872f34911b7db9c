// expect: clean
// launch: kernel=votes grid=1 block=32 smem=0
// tensor: src i32 shape=32 role=in fill=ints
// tensor: dst i32 shape=32 role=out fill=nan
// arg: src buffer of=src
// arg: dst buffer of=dst
// check: copy
#include "device.h"
// Both halves of the warp vote, reduce and match by one instruction, each with its own members.
extern "C" __global__ void votes(const int* src, int* dst) {
  const int lane = threadIdx.x;
  const unsigned members = lane < 16 ? 0xffffu : 0xffff0000u;
  const unsigned ballot = __ballot_sync(members, lane % 3 == 0);
  const int sum = __reduce_add_sync(members, lane);
  const unsigned same = __match_any_sync(members, lane & 1);
  const unsigned low = 0x9249u, high = 0x49240000u, odd = 0xaaaaaaaau;
  const bool right = ballot == (lane < 16 ? low : high) && sum == (lane < 16 ? 120 : 376) &&
                     same == ((lane & 1 ? odd : ~odd) & members);
  dst[lane] = right ? src[lane] : -100;
}
