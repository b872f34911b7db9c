// The mbarrier object: the formal state of rules.md chapter 2 (PTX ISA 9.7.13.15). One object at one shared address.
//   init(2): phase 0, pending 2.  arrive, arrive: pending 0, tx 0 -> phase 1, pending 2 again.
//   wait.parity(p) is true iff (phase & 1) != p, so on a fresh barrier parity 1 passes and parity 0 blocks (MBAR-08).
// An operation that the machine does not survive answers with the rule it broke; the caller traps.
// Witness: H200 runs of init, arrive, expect_tx, complete_tx, arrive_drop, over-arrival, tx overflow (results_sm90).
#pragma once
#include <cstdint>
#include <string>

#include "sim/check/attribution.h"
#include "specs/mbarrier.h"

namespace tc::sim {

struct Mbarrier {
  bool valid = false;
  uint64_t phase = 0;
  int64_t expected = 0, pending = 0, tx = 0;
  uint32_t init_place = 0;
  // For the race checker: what arrivals of this phase published, and everything published by completed phases.
  Clock arriving, done;
  BarrierLog log;
  bool relaxed = false;  // some arrival was relaxed
  uint32_t slot = 0;  // agent of the copies that complete here

  bool passes_parity(uint32_t parity) const { return (phase & 1) != parity; }
};

// nullptr, or the id of the broken rule.
using RuleId = const char*;
struct MbarrierEvent {
  RuleId broken = nullptr;
  bool completed = false;  // a phase ended
};

inline MbarrierEvent settle(Mbarrier& b) {
  if (b.pending != 0 || b.tx != 0) return {};
  ++b.phase;
  b.pending = b.expected;
  return {nullptr, true};
}
inline MbarrierEvent init(Mbarrier& b, int64_t count) {
  const uint32_t slot = b.slot, ticket = b.log.ticket;
  std::vector<BarrierUse> uses = std::move(b.log.uses);
  b = Mbarrier{};
  b.slot = slot, b.log.ticket = ticket, b.log.uses = std::move(uses);
  b.valid = true;
  b.expected = b.pending = count;
  if (count < 1 || count > kMbarrierMaxCount) return {"MBAR-02", false};
  return {};
}
inline MbarrierEvent arrive(Mbarrier& b, int64_t count) {
  if (count > b.pending) return {"MBAR-05", false};
  b.pending -= count;
  return settle(b);
}
// Adds transaction bytes without looking whether the phase ends (the first half of arrive.expect_tx).
inline MbarrierEvent add_tx(Mbarrier& b, int64_t bytes) {
  b.tx += bytes;
  if (b.tx > kMbarrierMaxTxBytes || b.tx < -kMbarrierMaxTxBytes) return {"TX-01", false};
  return {};
}
inline MbarrierEvent expect_tx(Mbarrier& b, int64_t bytes) {
  MbarrierEvent e = add_tx(b, bytes);
  return e.broken ? e : settle(b);
}
inline MbarrierEvent complete_tx(Mbarrier& b, int64_t bytes) { return expect_tx(b, -bytes); }
inline MbarrierEvent arrive_drop(Mbarrier& b, int64_t count) {
  if (count > b.pending) return {"MBAR-05", false};
  b.expected -= count;
  return arrive(b, count);
}

}  // namespace tc::sim
