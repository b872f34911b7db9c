// Data races in the shared memory of one CTA, by happens-before (RACE-01, FENCE-01).
// Every 4-byte word keeps the accesses that are not yet superseded: agent, epoch, lanes, bytes touched. A new access is
// compared with them: two accesses of one byte, one of them a write, that are not both atomic, must be ordered.
// Lanes of a converged warp share one clock; a lane that waited or arrived alone has its own until the warp syncs.
//   warp 0 writes word 5 in its epoch 3, arrives on a barrier (epoch 3 published); warp 1 waits and reads word 5:
//   known[warp 0] = 3 >= 3, no race. Without the wait known[warp 0] = 0: race.
// An access of the async proxy to bytes that were *written* by the generic proxy also needs a proxy fence on the path.
// Copies are recorded when they are issued, with the group or phase that will say they are complete.
// Cost: about 10 ns a word and access. Not judged here: global memory, values.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/check/clock.h"

namespace tc::sim {

enum class Access : uint8_t { read, write, atomic };

struct RaceReport {
  std::string_view rule;
  uint32_t address = 0;
  uint32_t place_now = 0, place_before = 0;
  Access now = Access::read, before = Access::read;
  bool now_async = false, before_async = false;
};

class RaceChecker {
 public:
  RaceChecker(uint32_t warps, uint32_t shared_bytes);

  // ---- accesses
  // Lane l of `lanes` touches [address[l], address[l] + bytes).
  void generic(uint32_t warp, uint32_t lanes, const uint32_t* address, uint32_t bytes, Access kind, uint32_t place);
  // cp.async of one lane, member of its commit group `group` (1, 2, ...).
  void cp_async(uint32_t warp, uint32_t lane, uint32_t address, uint32_t bytes, uint32_t group, uint32_t place);
  // An async-proxy access issued by one lane; `slot` and `epoch` say when it is known to be complete.
  void async(uint32_t warp, uint32_t lane, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes, Access kind,
             uint32_t place);
  // The same, issued after everything in `start`.
  void async(const Clock& start, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes, Access kind,
             uint32_t place);

  // ---- order
  uint32_t new_slot() { return next_slot_++; }
  // What the lanes know and have done until now.
  Clock snapshot(uint32_t warp, uint32_t lanes) const;
  void snapshot_into(Clock& into, uint32_t warp, uint32_t lanes) const;
  // Ends the epoch that a snapshot published.
  void released(uint32_t warp) { ++epoch_[warp]; }
  void acquire(uint32_t warp, uint32_t lanes, const Clock& clock);
  void learn(uint32_t warp, uint32_t lanes, uint32_t slot, uint32_t epoch);
  void cp_async_complete(uint32_t warp, uint32_t lane, uint32_t group);
  void sync_lanes(uint32_t warp, uint32_t lanes);
  void proxy_fence(uint32_t warp, uint32_t lanes);
  bool knows(uint32_t warp, uint32_t lane, uint32_t slot, uint32_t epoch) const;
  uint32_t cp_slot(uint32_t warp, uint32_t lane) const { return 32 * (warps_ + warp) + lane; }

  // A word that stops being data (an mbarrier lives there) or becomes data again.
  void forget(uint32_t address, uint32_t bytes);
  std::span<const RaceReport> reports() const { return reports_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Ref = std::shared_ptr<const Clock>;
  struct Node {
    uint32_t agent, epoch, lanes, place, next;
    uint8_t bytes;
    Access kind;
    bool async, cp;
  };
  struct Lane {
    Ref clock;
    uint32_t own_visible = 0;  // own generic accesses up to this epoch are visible to the async proxy
    uint32_t cp_known = 0, cp_visible = 0;
  };
  // Whose knowledge an access is judged by: a lane, or a clock alone.
  struct View {
    const Clock* clock;
    const Lane* lane = nullptr;
    uint32_t own = kNone, own_cp = kNone, own_epoch = 0;
  };

  View view(uint32_t warp, uint32_t lane) const;
  static bool ordered(const Node& node, const View& v, bool need_visible);
  void insert(uint32_t word, Node node, const View& v);
  void range(uint32_t address, uint32_t bytes, Node node, const View& v);
  void report(std::string_view rule, uint32_t word, const Node& now, const Node& before);
  uint32_t allocate();

  uint32_t warps_, next_slot_;
  std::vector<uint32_t> epoch_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> heads_;
  std::vector<Node> nodes_;
  uint32_t free_ = kNone;
  std::vector<RaceReport> reports_;
};

}  // namespace tc::sim
