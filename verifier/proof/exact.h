// Exact runs of a protocol at concrete parameters: the machine of rules.md section 2 (mbarriers with pending arrivals
// and transaction bytes), asynchronous copies that complete at any later step, and knowledge of completed accesses as
// exact bit-set clocks. A failure of a run is a refutation: the schedule is its witness.
//   model, {K: 4}  →  traces of representative threads  →  run under a seed  →  hang / race / wrong data / …
// A role of W warps x L lanes is represented by at most `most` x `most` threads; the last of each stands for the rest
// (weight = how many). Real parities decide waits; two other readings serve the proof: by ticket (a wait returns once
// its ticket is complete) and by ordinal (the j-th wait of a thread on a barrier is meant for phase j, or for phase
// j - 1 where its first wait asks for parity 1, which a fresh barrier lets through).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/classes.h"

namespace tc::verify {

struct ThreadRef {
  int role = 0;
  int64_t warp = 0, lane = 0;
  int64_t warps_for = 1, threads_for = 1;  // how many warps (lane-0 events) and threads it stands for
};
struct Record {
  int id = -1;  // class
  std::vector<int64_t> vec;
  int64_t slot = 0, weight = 1, at = 0, tile = 0;
  int64_t ordinal = 0;  // of a wait: phase meant by ordinal
  int parity = 0;
  bool has_tile = false, negative = false;  // negative: / or % of a negative number, division by zero
};
struct Traces {
  std::vector<ThreadRef> threads;
  std::vector<std::vector<Record>> records;  // per thread
  size_t total = 0;
};
// Values of the parameters of the protocol, and which iterations each predicate takes.
struct Inputs {
  std::vector<int64_t> params;           // by index of Model::params; "taken" entries follow from the predicates
  std::vector<std::vector<bool>> taken;  // per predicate
};

// Small parameter sets that satisfy the assumptions: 0..top for the first parameter, 0..3 for the second, 0..2 for
// more.
std::vector<std::vector<int64_t>> small_parameters(const Model& m, int64_t top);
// The actual values, where every parameter has one and they satisfy the assumptions.
std::optional<std::vector<int64_t>> actual_parameters(const Model& m);
// `all` takes every iteration; otherwise drawn with probability 0.6.
Inputs make_inputs(const Model& m, const std::vector<int64_t>& params, uint64_t seed, bool all);
Point parameter_point(const Model& m, const Inputs& in);
void set_iteration(const Model& m, const Record& r, Point& point);  // sets the loop variables of a record
// No value: more than `limit` records.
std::optional<Traces> expand(const Model& m, const Inputs& in, int64_t most, size_t limit);

enum class FailureKind : uint8_t { hang, race, wrong_data, over_arrival, too_many_bytes, negative, bounds, slip };
std::string_view name_of(FailureKind kind);
struct Access {
  int thread = -1, record = -1;
};
struct Failure {
  FailureKind kind = FailureKind::hang;
  std::string message;
  Access at;                                  // the event that fails
  std::vector<Access> blocked;                // hang: everybody who waits
  std::vector<Access> earlier;                // race: accesses it is not ordered after
  int64_t found_tile = -1;                    // wrong data: what is there, -1 nothing
  int64_t phase = 0, pending = 0, bytes = 0;  // of the barrier at hand
};

enum class Reading : uint8_t { parity, ticket, ordinal };
struct LogStep {
  int thread = -1, record = -1;  // of an async completion: who issued it
  bool completion = false;
  int64_t phase = -1;
};
enum class Mark : uint8_t { wait, expect, arrive, copy };
struct PhaseRange {
  int64_t low = 0, high = -1;  // high < low: never
  bool seen() const { return high >= low; }
  bool operator==(const PhaseRange&) const = default;
};
struct RunResult {
  std::optional<Failure> failure;
  std::vector<LogStep> log;
  std::vector<std::vector<std::array<PhaseRange, 4>>> where;  // thread, record, mark: phases it belonged to
  std::vector<std::vector<int64_t>>
      seen_write;  // thread, record: of a read the ordinal of the write it saw in its slot, -1 none
  uint64_t seed = 0;
};
RunResult run(const Model& m, const Traces& traces, uint64_t seed, Reading reading, const Point& params);

// One found failure, with all that a report and a steered replay need.
struct Attack {
  Inputs inputs;
  Traces traces;
  RunResult result;
};
struct AttackPlan {
  std::vector<std::vector<int64_t>> params;
  uint64_t seeds = 24;
  int64_t most = 2;
  std::function<bool()> out_of_time;
};
// Many schedules of every parameter set. Events whose phase differs between two schedules of one set fail as well.
std::optional<Attack> attack(const Model& m, const AttackPlan& plan);

}  // namespace tc::verify
