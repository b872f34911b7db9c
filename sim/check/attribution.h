// Which phase of a barrier an event belongs to must not be a matter of luck. Judged by happens-before, so that one run
// under any schedule shows what another run may do:
//   MBAR-07  an arrival for phase n + 1 that nothing orders after the end of phase n may count for phase n
//   ATTR-03  the same of a copy that completes on the barrier
//   MBAR-06  whoever has waited for phase n must be known to have done so when phase n + 1 ends, or may find phase n +
//   2 TX-11    bytes are expected before an arrival of the same phase, or the phase may end without them BAR-03   an
//   arrival at generation n + 1 of a named barrier that nothing orders after the end of generation n
// Phases, waits and expectations have rows of their own (tickets) in the vector clocks. Tickets go where memory order
// goes, and where only time does: with a copy or a relaxed arrival from who issued it, with a wgmma from the four warps
// that issue it. What one lane knows counts for those that execute with it.
//   phase 3 of `full` ends: ticket 3 is in what the waiters acquire; the producer's next arrival needs ticket 3
#pragma once
#include <vector>

#include "sim/check/clock.h"

namespace tc::sim {

struct Cta;
struct Mbarrier;
struct NamedBarrier;
struct Warp;

// How often an instruction of a warp has arrived at a barrier, or completes a copy there.
struct BarrierUse {
  uint32_t agent, place, count;
};
void count_use(std::vector<BarrierUse>& uses, uint32_t agent, uint32_t place);

struct BarrierLog {
  struct Wait {
    uint32_t agent, event, place;
    int64_t phase;
  };
  struct Expect {
    uint32_t agent, event, place;
  };
  struct Arrival {
    uint32_t agent, place;
    bool operator==(const Arrival&) const = default;
  };
  uint32_t ticket = 0;                   // row of the phases that have ended
  std::vector<Arrival> arrived, before;  // in this phase and in the one before it, for reports; each once
  Clock copies;                          // tickets of who issued the copies of this phase
  std::vector<BarrierUse> uses;  // of all phases
  std::vector<Wait> waits;
  std::vector<Expect> expects;  // of this phase
};

// Before the lane's arrival is counted.
void note_arrival(Warp& w, Cta& owner, Mbarrier& b, uint32_t address, uint32_t place);
// A copy issued by this warp will complete here.
void note_copy(Warp& w, Cta& owner, Mbarrier& b, uint32_t address, uint32_t place);
void note_expect(const Warp& w, Mbarrier& b, uint32_t place);
// A wait for `phase` (-1: the one before the first) has passed.
void note_wait(const Warp& w, Mbarrier& b, int64_t phase, uint32_t place);
// When Mbarrier::phase has just moved on.
void note_completion(Cta& owner, Mbarrier& b, uint32_t address, uint32_t place);
void note_named_arrival(Warp& w, const NamedBarrier& b, uint32_t id, uint32_t place);

}  // namespace tc::sim
