// Instructions that lanes of a warp execute together.
#pragma once
#include "sim/exec/lanes.h"

namespace tc::sim {

// Are the lanes `members` that have not left all executing this instruction now? Where not, the path waits for them.
inline bool gathered(Warp& w, uint32_t members, Step& step) {
  if ((members & w.live & ~w.mask) == 0) return true;
  w.path->wait = Wait{};
  w.path->wait.kind = Wait::Kind::lanes;
  w.path->wait.again = true;
  w.path->wait.lanes = members;
  step = Step::blocked;
  return false;
}
// The union of the member masks that the active lanes name in a register.
inline uint32_t members_of(Warp& w, uint32_t at) {
  uint32_t all = 0;
  for_lanes(w.mask, [&](uint32_t l) { all |= w.reg<uint32_t>(at)[l]; });
  return all;
}

}  // namespace tc::sim
