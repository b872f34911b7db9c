// What a run did when, in the JSON that Perfetto and chrome://tracing read (Trace Event Format): a process for each CTA,
// in it a track for each warp and each asynchronous engine. The clock is that of the cluster: 1 ns is one warp
// instruction executed.
//   warp tracks: slices "run" and "wait ..."; instants for arrivals, copies issued and the like
//   engine tracks (bulk copies, cp.async, wgmma of a warpgroup): a slice for each operation, from issue to completion
//   flows: from the event that completed a phase of an mbarrier to the end of each wait for it
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/cta.h"

namespace tc::sim {

class Trace {
 public:
  static constexpr size_t kMostEvents = 2'000'000;  // of one cluster; what follows is left out, and said so

  void run(const Warp& w, uint32_t place, uint64_t from, uint64_t to);
  void wait(const Warp& w, const Wait& wait, uint64_t from, uint64_t to);
  void event(const Warp& w, EventKind kind, uint32_t place, uint64_t at);
  void operation(const AsyncOp& op, uint64_t from, uint64_t to);
  void phase_completed(const Cta& c, uint32_t address, uint64_t phase, uint64_t at);

  const std::vector<std::string>& events() const { return events_; }  // JSON objects
  bool truncated() const { return truncated_; }

 private:
  void add(std::string event);
  std::vector<std::string> events_;
  std::vector<uint64_t> named_;  // tracks that have their name
  bool truncated_ = false;
  void name_track(const Cta& c, uint32_t track, const std::string& name);
};

// The whole file. `clusters`: the events of each cluster, in order.
std::string trace_file(const std::vector<std::vector<std::string>>& clusters, bool truncated);

}  // namespace tc::sim
