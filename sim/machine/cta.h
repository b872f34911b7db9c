// One CTA at work: warps, shared memory, barriers. What it shares with the other CTAs of its cluster (time, outstanding
// operations, findings, race checker) belongs to the Cluster (sim/machine/cluster.h) and is reached through references.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diag.h"
#include "runtime/manifest.h"
#include "sim/check/checks.h"
#include "sim/check/race.h"
#include "sim/machine/async.h"
#include "sim/machine/mbarrier.h"
#include "sim/machine/program.h"
#include "sim/machine/tensor_map.h"
#include "sim/machine/warp.h"

namespace tc::sim {

enum class Schedule : uint8_t { rr, random, adversarial };

// Small counter-based generator; the same seed gives the same run.
struct Random {
  uint64_t state = 0;
  uint64_t next();
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  bool coin() { return next() & 1; }
};

struct Launch {
  runtime::Dim3 grid, block, cluster;
  uint32_t dynamic_smem_bytes = 0;
  std::vector<uint8_t> params;
  std::vector<std::string> map_names;  // of the tensor maps among the parameters
  Schedule schedule = Schedule::rr;
  uint64_t seed = 0;
  Checks checks;
  bool trace = false;
  GridRaces* races = nullptr;  // where there are checks
};

struct NamedBarrier {
  uint32_t expected_threads = 0;  // of this generation, 0: all
  uint32_t arrived_warps = 0;     // bit set
  uint32_t arrivals = 0;          // of warps, with repetition
  uint32_t syncing_warps = 0;     // of those, the ones that wait
  std::array<uint32_t, 32> lanes{};  // a warp's lanes that are here while others of it are not
  uint32_t split_warps = 0;          // bit set: warps with such lanes
  uint64_t generation = 0;
  uint32_t place = 0;  // of the first arrival
  Clock clock;
  std::vector<BarrierUse> uses;  // of all generations
  uint32_t ticket = 0;  // row of the generations that have ended; 0: none yet
  uint32_t reduced = 0;  // bar.red: popc/and/or in the making, and of the last generation
  uint32_t result = 0;
};

// Bulk groups of one thread.
struct BulkGroups {
  uint64_t open = 1, last = 0;  // the group that takes new stores; the group of the last store
  uint32_t slot = 0;            // agent of the stores' reads
  uint32_t writes = 0;          // of their writes
  uint32_t place = 0;           // of the last store
  bool waited = false;          // for anything, since the last store
};

// Who has executed one commit_group or wait_group of bulk copies, for reports: lanes by warp.
struct BulkUse {
  uint32_t place = 0;
  bool commits = false;
  std::vector<uint32_t> lanes;
  bool has(uint32_t thread) const { return lanes[thread / 32] >> thread % 32 & 1; }
};

// A tensor map as the tensor unit keeps it (sim/exec/tensor_proxy.cc).
struct CachedMap {
  bool valid = false;
  TensorMapBytes bytes{};
  TensorMap map;
};

struct Event {
  EventKind kind = EventKind::none;
  uint32_t warp = 0;
  uint32_t place = 0;
};

// A finding at an instruction: its source line, the call sites it was inlined through, its PTX.
Diag violation(const Program& program, const char* rule, uint32_t place, std::string message);

struct WgmmaGroupState;  // sim/machine/wgmma_state.h
struct Cluster;

struct Cta {
  Cta(Cluster& cluster, GlobalMemory& global, runtime::Dim3 id, uint32_t rank);
  ~Cta();
  Cta(const Cta&) = delete;

  Cluster& cluster;
  const Program& program;
  const Launch& launch;
  GlobalMemory& global;
  runtime::Dim3 id;
  uint32_t rank;                // in the cluster
  uint64_t linear_id = 0;       // in the grid
  Buffer shared;                // indexed by shared address without its rank
  Buffer registers;             // of all warps
  std::vector<Warp> warps;
  std::vector<NamedBarrier> named;
  std::vector<uint32_t> mbarrier_index;  // by address / 8; 0: none
  std::vector<Mbarrier> mbarriers;
  std::vector<std::unique_ptr<WgmmaGroupState>> wgmma;   // a warpgroup each, where the program uses it
  std::unordered_map<uint32_t, BulkGroups> bulk_groups;  // by thread
  std::vector<BulkUse> bulk_uses;                        // where there are checks
  std::unordered_map<uint64_t, CachedMap> tensor_maps;   // by generic address
  int64_t free_registers = 0;                            // given back by setmaxnreg.dec
  UndefinedStores undefined_stores;                      // in shared memory
  bool left = false;                                     // all its threads have exited

  // ---- of the cluster
  AsyncList& async;
  Checker race;  // null: checks are off
  Random& random;
  uint64_t &time, &progress, &events;
  std::vector<Diag>& findings;
  std::optional<Diag>& trap;
  Event& last_event;
  bool& steered;

  uint32_t thread_count() const { return static_cast<uint32_t>(launch.block.count()); }
  Mbarrier* mbarrier_at(uint32_t address);
  Mbarrier& make_mbarrier(uint32_t address);
  // Adds an operation of this CTA; `latency` is its time to completion under rr, in warp instructions.
  void issue(std::unique_ptr<AsyncOp> op, uint64_t latency);
  void step_async(AsyncOp* op, uint64_t latency);
  void forget_due();
  // The address that the race checker knows a byte of this CTA's shared memory by.
  uint32_t flat(uint32_t address) const { return rank * static_cast<uint32_t>(shared.size()) + address; }

  // Applies what an mbarrier operation returned: clocks, progress. False: the machine trapped.
  bool settle_mbarrier(Mbarrier& b, uint32_t address, const MbarrierEvent& e, uint32_t place);

  // What an instruction did in the protocol of the kernel.
  void note_event(EventKind kind, const Warp& w, uint32_t place);

  // ---- reports
  Diag violation(const char* rule, uint32_t place, std::string message) const {
    return sim::violation(program, rule, place, std::move(message));
  }
  void finding(Diag d);  // once a rule and place
  Step fault(const char* rule, uint32_t place, std::string message);
  std::string shared_text(uint32_t address) const;  // "full+8 (0x408)"
};

// Registers of all warps set to their initial values, special registers filled in.
void start(Cta& cta);

}  // namespace tc::sim
