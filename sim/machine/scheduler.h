// Runs the warps of one cluster to their end, under one of the three schedules of design.md, and explains why it could not.
//   rr           paths take turns of kTurn instructions; async operations complete after a fixed small delay
//   random       the next path, the length of its turn and every delay are drawn by seed
//   adversarial  a seed draws an order of preference among warps (odd seeds: among warpgroups); the first that can make
//                progress runs; each async operation completes at once, or only when nothing else can run
// A path that polls (test_wait, try_wait) without anything having changed is put to sleep until the phase changes; when
// nothing else can run, polls time out once. Nothing can run, polls have timed out in vain, and no operation is
// outstanding: deadlock. Where other clusters run beside this one (Limits::shared_grid), a cluster that makes no progress
// hands over (ClusterEnd::waiting) instead, and is called again.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "sim/machine/cluster.h"

namespace tc::sim {

enum class ClusterEnd : uint8_t { done, hang, trap, step_limit, time_limit, stopped, waiting };

struct Limits {
  uint64_t steps = UINT64_MAX;  // warp instructions of one cluster
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;
  bool shared_grid = false;  // clusters of the grid are run in turns by one thread
};

struct SteerStep {
  enum class Kind : uint8_t { run_warp, complete_async };
  Kind kind = Kind::run_warp;
  uint32_t warp = 0;     // run_warp: an agent of the cluster; until it executed one protocol event, or blocks
  uint32_t barrier = 0;  // complete_async: shared address of the mbarrier
  uint32_t n = 0;        // complete_async: the n-th outstanding operation of that barrier, from 0
};
struct SteerResult {
  bool happened = false;  // an event was executed, the operation was there
  EventKind event = EventKind::none;
  SourceRange where;
};

// A cluster on its way; run() goes on where it stopped last.
class ClusterRun {
 public:
  ClusterRun(Cluster& cluster, const Limits& limits);
  ~ClusterRun();
  // Until its end; ClusterEnd::waiting only where Limits::shared_grid says so. `budget`: at most that many turns, then
  // `waiting` as well.
  ClusterEnd run(uint64_t budget = UINT64_MAX);
  // Follows the steps first; async operations complete only by steps or when a wait of the running warp needs them.
  ClusterEnd run_steered(const std::vector<SteerStep>& steps, std::vector<SteerResult>& results);
  // Reports what a run without end, or one that nothing can release, is blocked at.
  void explain_hang();

 private:
  class Scheduler;
  Cluster& cluster_;
  std::unique_ptr<Scheduler> scheduler_;
};

std::string_view name_of(EventKind kind);

}  // namespace tc::sim
