// Races between the clusters of a grid in global memory (RACE-02).
// Clusters that nothing orders (no atomics, no strong accesses in the kernel) run on several threads; what each touched
// is compared with what those before it touched, in their order, so that the result does not depend on the threads:
// two accesses of one byte by two clusters, one of them a plain write or a write beside a plain access, are a race.
// Clusters that run together on one thread share histories and published clocks: happens-before as within a cluster.
//   cluster 0 writes words 0-255, cluster 1 writes words 255-510: race at word 255
// Cost: about 2 ns for each word that a cluster touched. Of the readers of a word a few are kept.
#pragma once
#include <map>
#include <mutex>

#include "sim/check/race.h"

namespace tc::sim {

inline constexpr uint32_t kMostReaders = 4;  // kept of a word of global memory, within clusters that order each other

// What one cluster did to global memory: runs of words of one kind.
struct Footprint {
  struct Act {
    Access kind;
    uint8_t bytes;
    uint32_t place;
  };
  struct Run {
    uint64_t word;
    uint32_t count, what;  // index into `acts`
  };
  std::vector<std::vector<Act>> acts;
  std::vector<Run> runs;  // by word
};

class GridRaces : private RaceSink {
 public:
  // together: all clusters are run by one thread, in turns.
  explicit GridRaces(bool together);
  bool together() const { return together_; }
  // Cluster `number` has ended. Its checker is used no more. Any thread, any order; each number once.
  void finished(uint32_t number, RaceChecker& checker);
  // After all clusters have ended. `cluster` of the events is the number of the cluster.
  std::span<const RaceReport> reports() const { return reports_; }
  // What the clusters left, and which of their writes changed anything, may depend on their order.
  bool depends_on_order() const { return !reports_.empty() || rewritten_; }

 private:
  friend class RaceChecker;
  void race(const RaceReport& report) override;
  void rewritten() override { rewritten_ = true; }
  void add(uint32_t number, const Footprint& footprint);

  const bool together_;
  std::mutex mutex_;
  Memory memory_;
  Published published_;
  uint32_t next_ = 0;
  std::map<uint32_t, Footprint> waiting_;  // of clusters that ended before one with a smaller number
  std::vector<RaceReport> reports_;
  bool rewritten_ = false;
};

}  // namespace tc::sim
