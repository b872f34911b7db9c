// One CTA at work: warps, shared memory, barriers, outstanding operations, findings.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diag.h"
#include "runtime/manifest.h"
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
  std::vector<TensorMap> tensor_maps;
  Schedule schedule = Schedule::rr;
  uint64_t seed = 0;
  bool checks = true;
};

struct NamedBarrier {
  uint32_t expected_threads = 0;  // of this generation, 0: all
  uint32_t arrived_warps = 0;     // bit set
  uint32_t syncing_warps = 0;     // of those, the ones that wait
  std::vector<uint32_t> lanes;    // a warp's lanes that are here while others of it are not
  uint64_t generation = 0;
  uint32_t place = 0;  // of the first arrival
  Clock clock;
  uint32_t reduced = 0;  // bar.red: popc/and/or in the making, and of the last generation
  uint32_t result = 0;
};

// Bulk groups of one thread.
struct BulkGroups {
  uint64_t open = 1, last = 0;  // the group that takes new stores; the group of the last store
  uint32_t slot = 0;            // agent of the stores' reads
  uint32_t place = 0;           // of the last store
};

struct Event {
  EventKind kind = EventKind::none;
  uint32_t warp = 0;
  uint32_t place = 0;
};

struct WgmmaGroupState;  // sim/exec/wgmma.h

struct Cta {
  Cta(const Program& program, const Launch& launch, GlobalMemory& global, runtime::Dim3 id, uint64_t linear_id);
  ~Cta();
  Cta(const Cta&) = delete;

  const Program& program;
  const Launch& launch;
  GlobalMemory& global;
  runtime::Dim3 id;
  std::vector<uint8_t> shared;  // indexed by shared address
  std::vector<Warp> warps;
  std::vector<NamedBarrier> named;       // the last one is the cluster's
  std::vector<uint32_t> mbarrier_index;  // by address / 8; 0: none
  std::vector<Mbarrier> mbarriers;
  AsyncList async;
  std::vector<std::unique_ptr<WgmmaGroupState>> wgmma;   // a warpgroup each
  std::unordered_map<uint32_t, BulkGroups> bulk_groups;  // by thread
  std::unordered_map<uint64_t, Clock> strong;            // what strong accesses published, by generic address
  std::unique_ptr<RaceChecker> race;                     // null: checks are off
  Random random;
  uint64_t time = 0;           // warp instructions executed
  uint64_t progress = 0;       // side effects: stores, arrivals, completions
  int64_t free_registers = 0;  // given back by setmaxnreg.dec
  std::vector<Diag> findings;
  std::optional<Diag> trap;
  Event last_event;
  uint64_t events = 0;
  bool steered = false;  // async operations complete only when told

  uint32_t thread_count() const { return static_cast<uint32_t>(launch.block.count()); }
  Mbarrier* mbarrier_at(uint32_t address);
  Mbarrier& make_mbarrier(uint32_t address);
  // Adds an operation; `latency` is its time to completion under rr, in warp instructions.
  void issue(std::unique_ptr<AsyncOp> op, uint64_t latency);
  // When an operation issued or continued now is due under the schedule.
  uint64_t due_time(uint64_t latency);
  // Does one piece of an operation and removes it when done.
  void step_async(AsyncOp* op, uint64_t latency);
  void run_due();
  void forget_due();  // recomputes next_due

  // Applies what an mbarrier operation returned: clocks, progress. False: the machine trapped.
  bool settle_mbarrier(Mbarrier& b, uint32_t address, const MbarrierEvent& e, uint32_t place);

  void note_event(EventKind kind, const Warp& w, uint32_t place) { last_event = {kind, w.index, place}, ++events; }

  // ---- reports
  Diag violation(const char* rule, uint32_t place, std::string message) const;
  void finding(Diag d);  // once a rule and place
  Step fault(const char* rule, uint32_t place, std::string message);
  std::string shared_text(uint32_t address) const;  // "full+8 (0x408)"
};

// Registers of all warps set to their initial values, special registers filled in.
void start(Cta& cta);

}  // namespace tc::sim
