// Instructions that lanes of a warp execute together, and the check that they do. The lanes that are meant wait for each
// other; who cannot come is found here (passed over by a guard, or gone), or by report_divergence (sim/check/report.h)
// when nothing else can run: lanes that stand at a join until those that wait have passed by.
//   @p mma.sync with p of lanes 0-15 alone   MMA-19 at once
//   if (lane < 16) mma.sync                  lanes 16-31 wait behind it for lanes 0-15: MMA-19
#pragma once
#include "sim/exec/lanes.h"

namespace tc::sim {

// Are the lanes `members` that have not left all executing this instruction now? Where not, the path waits for them.
// `rule`: what is broken if they never come.
inline bool gathered(Warp& w, const Insn& i, uint32_t members, const char* rule, Step& step) {
  const uint32_t missing = members & w.live & ~w.mask;
  if (missing == 0) return true;
  if (missing & w.path->mask) {  // side by side with these, and not executing
    if (w.cta->race)
      w.cta->finding(w.cta->violation(rule, i.place, "the guard lets only a part of the lanes execute this"));
    return true;
  }
  w.path->wait = Wait{};
  w.path->wait.kind = Wait::Kind::lanes;
  w.path->wait.again = true;
  w.path->wait.lanes = members;
  w.path->wait.rule = rule;
  step = Step::blocked;
  return false;
}

// The whole warp executes this (.aligned), and no lane has left.
inline bool require_converged(Warp& w, const Insn& i, const char* rule, Step& step) {
  if (!gathered(w, i, ~0u, rule, step)) return false;
  if (w.live != ~0u && w.cta->race)
    w.cta->finding(w.cta->violation(rule, i.place, "lanes of the warp have left before this, which takes all of them"));
  return true;
}

// The same where the lanes that are left suffice, and none is waited for.
inline void check_converged(Warp& w, const Insn& i, const char* rule) {
  if (w.mask != w.live && w.cta->race)
    w.cta->finding(w.cta->violation(
        rule, i.place, "only a part of warp " + std::to_string(w.index) + " executes this, which is .aligned"));
}

// The union of the member masks that the active lanes name in a register; each must name itself.
inline uint32_t members_of(Warp& w, const Insn& i, uint32_t at, const char* rule) {
  uint32_t all = 0, outside = 0;
  const uint32_t* masks = w.reg<uint32_t>(at);
  for_lanes(w.mask, [&](uint32_t l) { all |= masks[l], outside |= ~masks[l] & 1u << l; });
  if (outside && w.cta->race)
    w.cta->finding(w.cta->violation(
        rule, i.place, "lane " + std::to_string(lowest_lane(outside)) + " is not in the member mask that it names"));
  return all;
}

// Lanes that name the same members act together, several such groups may execute one instruction: body(members that
// take part), with Warp::mask set to the lanes of the group.
//   lanes 0-15 name 0x0000ffff, lanes 16-31 name 0xffff0000: two votes of sixteen lanes
template <class Body>
inline void each_group(Warp& w, uint32_t at, Body body) {
  std::array<uint32_t, 32> named;  // the result may overwrite the register
  for (uint32_t l = 0; l < 32; ++l) named[l] = w.reg<uint32_t>(at)[l];
  const uint32_t all = w.mask;
  for (uint32_t left = all; left; left &= ~w.mask) {
    const uint32_t members = named[lowest_lane(left)];
    uint32_t group = 0;
    for (uint32_t l = 0; l < 32; ++l) group |= static_cast<uint32_t>(named[l] == members) << l;
    w.mask = group & left;
    body(members & all);
  }
  w.mask = all;
}

// The lanes that name each other in the register `at` execute this now? Where not, the path waits for them.
inline bool met(Warp& w, const Insn& i, uint32_t at, const char* rule, Step& step) {
  if (!gathered(w, i, members_of(w, i, at, rule), rule, step)) return false;
  if (w.cta->race && w.cta->program.retires_barriers)
    each_group(w, at, [&](uint32_t) { w.cta->race->meet(w.agent, w.mask); });
  return true;
}

}  // namespace tc::sim
