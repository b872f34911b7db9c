// The CTAs of one cluster at work (a CTA without a cluster is a cluster of one): they share the list of outstanding
// operations, the clock, the schedule and the race checker. One thread runs a cluster.
//   cluster of 2, 4 warps each: CTA of rank 1, warp 2 is agent 1 * 4 + 2 = 6
// Shared memory addresses carry the rank in bits 24 ... 31 (kRankShift): 0x01000400 is offset 0x400 of the CTA of rank
// 1. What a kernel computes from its own symbols has its own rank there; mapa puts another one.
#pragma once
#include "sim/machine/cta.h"

namespace tc::sim {

// barrier.cluster: complete when every thread of the cluster that has not left has arrived (CLUST-05).
struct ClusterBarrier {
  uint64_t generation = 0;
  Clock clock, previous;  // of this generation, and of the one before
};

class Trace;

struct Cluster {
  // `first`: grid position of the CTA of rank 0. `linear_id`: of the cluster in the grid.
  Cluster(const Program& program, const Launch& launch, GlobalMemory& global, runtime::Dim3 first, uint64_t linear_id);
  ~Cluster();
  Cluster(const Cluster&) = delete;

  const Program& program;
  const Launch& launch;
  AsyncList async;
  std::unique_ptr<RaceChecker> race;  // null: checks are off
  Random random;
  uint64_t time = 0;      // warp instructions executed
  uint64_t progress = 0;  // side effects: stores, arrivals, completions
  std::vector<Diag> findings;
  std::optional<Diag> trap;
  Event last_event;
  uint64_t events = 0;
  bool steered = false;    // async operations complete only when told
  std::string printed;     // by printf
  std::unique_ptr<Trace> trace;  // null: none is kept
  std::vector<std::unique_ptr<Cta>> ctas;
  std::vector<Warp*> warps;  // by agent
  ClusterBarrier barrier;

  // Adds an operation; `latency` is its time to completion under rr, in warp instructions.
  void issue(std::unique_ptr<AsyncOp> op, uint64_t latency);
  // When an operation issued or continued now is due under the schedule.
  uint64_t due_time(uint64_t latency);
  // Does one piece of an operation and removes it when done.
  void step_async(AsyncOp* op, uint64_t latency);
  void run_due();
  void forget_due();  // recomputes next_due
  bool finished() const;
};

// The lanes of Warp::mask arrive at the cluster's barrier; true when that ended the generation.
bool arrive_cluster(Warp& w, bool releases, uint32_t place);
// After warps have left: ends a generation that waits for nobody else.
void recheck_cluster(Cluster& c);

}  // namespace tc::sim
