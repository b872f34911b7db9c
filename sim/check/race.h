// Data races and missing proxy fences in a cluster, by happens-before (RACE-01, RACE-02, FENCE-01, -04, -06).
//   shared memory   flat addresses: the CTA of rank r has its bytes at r * (bytes of one) + address
//   global memory   generic addresses; accesses of other clusters are compared in GridRaces (sim/check/grid.h)
// Agents are the warps of the cluster (rank * warps of a CTA + warp), cut into lanes: a lane that waited or arrived
// alone has its own clock until the warp synchronises.
//   warp 0 writes word 5 in its epoch 3, arrives on a barrier (epoch 3 published); warp 1 waits and reads word 5:
//   it knows epoch 3 of warp 0, no race. Without the wait it does not: race.
// Copies and wgmma are recorded when they are issued, with the row and epoch that will say that they are complete.
// Lanes of one instruction that write one word do not race: one of them is stored (programming guide 7.2).
// Relaxed strong accesses order as in the PTX memory model (8.10): a write publishes what its lane had done before its
// last fence, a read is acquired by the lane's next fence or barrier; both as far as the scopes reach
// (sim/check/scope.h).
#pragma once
#include <array>
#include <memory>
#include <span>
#include <unordered_map>

#include "sim/check/word.h"

namespace tc::sim {

class GridRaces;

enum class StrongOp : uint8_t { load, store, update };
enum class Order : uint8_t { relaxed, acquire, release, acq_rel };
inline bool acquires(Order o) { return o == Order::acquire || o == Order::acq_rel; }
inline bool releases(Order o) { return o == Order::release || o == Order::acq_rel; }

// What strong writes published, by address.
using Published = std::unordered_map<uint64_t, Publication>;

class RaceChecker : private RaceSink {
 public:
  // `lanes_of_last`: lanes that the last warp of each CTA has, where the CTA is no multiple of 32 threads.
  RaceChecker(uint32_t warps, uint32_t warps_per_cta = UINT32_MAX, uint32_t lanes_of_last = ~0u,
              GridRaces* grid = nullptr, uint32_t cluster = 0);
  ~RaceChecker() override;
  RaceChecker(const RaceChecker&) = delete;

  // ---- accesses
  // Lane l of `lanes` touches [address[l], address[l] + bytes), aligned to `bytes`, a power of two.
  // `about`: a read of what nothing has written is a finding (BOUND-02); a write of values that are undefined.
  enum class About : uint8_t { nothing, watched, undefined };
  void shared(uint32_t agent, uint32_t lanes, const uint32_t* address, uint32_t bytes, Access kind, uint32_t place,
              About about = About::nothing, Scope scope = Scope::gpu);
  // Those of the lanes of whose bytes none has a value: nobody has written them, or what was written is undefined.
  uint32_t undefined(uint32_t lanes, const uint32_t* address, uint32_t bytes);
  // Is it so of all these places?
  bool all_undefined(std::span<const uint32_t> addresses, uint32_t bytes);
  bool has_undefined_writes() const { return undefined_writes_; }
  void global(uint32_t agent, uint32_t lanes, const uint64_t* address, uint32_t bytes, Access kind, uint32_t place,
              Scope scope = Scope::gpu);
  // cp.async of one lane into shared memory, member of its commit group `group` (1, 2, ...).
  void cp_async(uint32_t agent, uint32_t lane, uint32_t address, uint32_t bytes, uint32_t group, uint32_t place);
  // What an operation issued by one lane does through the async proxy; `slot` and `epoch` say when it is complete.
  void async(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes,
             Access kind, uint32_t place);
  void async_global(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch, uint64_t address, uint64_t bytes,
                    Access kind, uint32_t place);
  // The same at several places of shared memory, issued after everything in `start`.
  void async(const Clock& start, uint32_t slot, uint32_t epoch, std::span<const uint32_t> addresses, uint32_t bytes,
             Access kind, uint32_t place);

  // The lanes use memory or barriers of the CTA of another rank, which must have started and not yet left (CLUST-07).
  void remote(uint32_t agent, uint32_t lanes, uint32_t rank, uint32_t place);
  // So does an operation that they issue.
  void remote_async(uint32_t agent, uint32_t lane, uint32_t rank, uint32_t slot, uint32_t epoch, uint32_t place);
  // After all have left: reports uses that their CTA's threads need not have waited for.
  void check_lifetimes();

  // ---- order
  // A row for operations that complete together. `agent`: a wgmma of this warp's warpgroup.
  uint32_t new_slot(uint32_t wgmma_agent = View::kNoRow);
  // A row for the phases of a barrier that have ended (sim/check/attribution.h).
  uint32_t new_ticket();
  // The tickets that a lane, or a clock, knows of, without anything else.
  void pass_tickets(Clock& into, uint32_t agent, uint32_t lane) const;
  void acquire_tickets(uint32_t agent, const Clock& clock);
  // Numbers an event of a warp: from now on its lanes, and who comes after them, are after it.
  uint32_t number_event(uint32_t agent);
  bool is_after(const Clock& clock, uint32_t agent, uint32_t event) const;
  // Some of the lanes knows epoch `epoch` of the row.
  bool some_know(uint32_t agent, uint32_t lanes, uint32_t row, uint32_t epoch) const;
  // Some of the lanes comes after an event of another warp.
  bool some_know_event(uint32_t agent, uint32_t lanes, uint32_t of, uint32_t event) const {
    return some_know(agent, lanes, states_[of].ticket, event);
  }
  // What the lanes know and have done until now.
  Clock snapshot(uint32_t agent, uint32_t lanes) const;
  void snapshot_into(Clock& into, uint32_t agent, uint32_t lanes) const;
  // What the lanes published to their cluster with their last fence: all that a relaxed arrival releases.
  void fenced_into(Clock& into, uint32_t agent, uint32_t lanes) const;
  // That what the lanes know and have done is over (Part::passed), by a relaxed arrival.
  void passed_into(Clock& into, uint32_t agent, uint32_t lanes) const;
  // Ends the epoch that a snapshot published; `place`: the instruction that did.
  void released(uint32_t agent, uint32_t place = UINT32_MAX);
  void acquire(uint32_t agent, uint32_t lanes, const Clock& clock);
  void learn(uint32_t agent, uint32_t lanes, uint32_t slot, uint32_t epoch);
  void cp_async_complete(uint32_t agent, uint32_t lane, uint32_t group);
  void sync_lanes(uint32_t agent, uint32_t lanes);
  // They execute a collective together: Part::executed, no more.
  void meet(uint32_t agent, uint32_t lanes);
  void proxy_fence(uint32_t agent, uint32_t lanes);
  void fence(uint32_t agent, uint32_t lanes, Scope scope = Scope::gpu, uint32_t place = UINT32_MAX);
  // Relaxed reads of these lanes are acquired: a barrier orders as a fence does.
  void settle(uint32_t agent, uint32_t lanes);
  // A strong access of one lane to a shared (flat) or global address: what it publishes and learns.
  void strong(uint32_t agent, uint32_t lane, bool is_global, uint64_t address, StrongOp op, Order order,
              Scope scope = Scope::gpu, uint32_t place = UINT32_MAX);
  // What the lane had done is told by `place` to threads that its .cta scope does not include.
  void out_of_scope_into(Clock& into, uint32_t agent, uint32_t lane, uint32_t place);
  // These lanes have exited.
  void left(uint32_t agent, uint32_t lanes) { states_[agent].gone |= lanes; }
  bool knows(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch) const;
  // Adds to a clock that operations of a slot up to `epoch`, cp.async of a lane up to `group`, are complete.
  void complete(Clock& clock, uint32_t slot, uint32_t epoch) const;
  void complete_copies(Clock& clock, uint32_t agent, uint32_t lane, uint32_t group) const;

  // Words that stop being data (an mbarrier lives there) or become data again.
  void forget(uint32_t address, uint32_t bytes);
  std::span<const RaceReport> reports() const { return reports_; }

 private:
  friend class GridRaces;
  struct Fenced {  // known at a fence, and what the lane itself had done then
    Clock clock;
    uint32_t epoch = 0, copies = 0, place = UINT32_MAX;
  };
  struct LaneOrder {                     // of relaxed accesses
    std::array<Fenced, kScopes> fenced;  // by the last fence of at least this scope
    std::array<Clock, kScopes> pending;  // read since, by the scope that a fence needs to acquire it
  };
  struct ScopeMiss {         // an edge that a scope cut off
    uint32_t to_cta, place;  // View::kNoRow: to any
    Scope scope;
  };
  struct WarpState {
    uint32_t epoch = 1;
    uint32_t absent = 0;  // lanes that never were
    uint32_t gone = 0;    // these and the lanes that have left
    Clock clock;          // of all lanes, unless `lanes`
    std::unique_ptr<std::array<Clock, 32>> lanes;
    std::unique_ptr<std::array<uint32_t, 32>> copies;  // known groups of own cp.async
    std::unique_ptr<std::array<LaneOrder, 32>> order;
    uint32_t ticket = 0, events = 0;    // row of its numbered events, and their number
    std::vector<uint32_t> released_at;  // places, by epoch
  };
  struct RemoteUse {
    uint32_t rank, row, lanes, epoch, place;
  };
  void race(const RaceReport& report) override;
  void use(const RemoteUse& u, const Clock& clock);
  Clock& clock_of(WarpState& w, uint32_t lane) { return w.lanes ? (*w.lanes)[lane] : w.clock; }
  const Clock& clock_of(const WarpState& w, uint32_t lane) const { return w.lanes ? (*w.lanes)[lane] : w.clock; }
  View view(uint32_t agent, uint32_t lane) const;
  Clock known_as(Knowledge Part::*what, uint32_t agent, uint32_t lanes) const;
  template <class Address>
  void touch(Memory& m, uint32_t agent, uint32_t lanes, const Address* address, uint32_t bytes, Access kind,
             uint32_t place, About about, Scope scope);
  void touch_range(Memory& m, const View& view, const Touch& event, uint64_t address, uint64_t bytes, uint32_t lanes);
  void split(WarpState& w) const;
  Clock fenced_clock(const WarpState& w, uint32_t agent, uint32_t lane, Scope scope) const;
  Home home_of(uint32_t agent) const { return {cluster_, agent / warps_per_cta_}; }
  Publication published_by(uint32_t agent, uint32_t lane, Order order, Scope scope, uint32_t place);
  void read_published(uint32_t agent, uint32_t lane, const Publication& p, Order order, Scope scope, uint32_t place);
  void take(uint32_t agent, uint32_t lane, const Clock& clock, Order order, Scope need);
  void note_miss(uint32_t to_cta, Scope scope, uint32_t place);
  void miss(uint32_t agent, uint32_t lane, const Clock& clock, Scope scope, uint32_t place);
  void raise(Knowledge Part::*what, Clock& clock, uint32_t row, uint32_t lanes, uint32_t epoch) const;
  void mark(Knowledge Part::*what, uint32_t agent, uint32_t lanes);
  LaneOrder& order_of(WarpState& w, uint32_t lane) const;
  uint32_t given_away_at(const Touch& operation) const;

  uint32_t warps_, warps_per_cta_, cluster_, next_slot_;
  GridRaces* grid_;
  std::vector<WarpState> states_;
  std::vector<uint32_t> tickets_;       // rows
  std::vector<uint32_t> wgmma_agents_;  // by slot - 2 * warps; kNoRow: no wgmma
  std::unique_ptr<Memory> shared_memory_, own_global_;
  Memory* global_memory_;
  Published shared_published_, own_published_;
  Published* published_;           // in global memory: by all clusters that run together
  const View* looking_ = nullptr;  // of the access being judged
  bool looking_at_global_ = false;
  bool undefined_writes_ = false;
  std::vector<RaceReport> reports_;
  std::vector<ScopeMiss> scope_misses_;
  std::vector<RemoteUse> remote_uses_;  // the newest of each row, place and rank
};

// How the machine holds its checker: null where checks are off, and known to be where they are not compiled.
#ifdef TC_NO_CHECKS
struct Checker {
  constexpr Checker(RaceChecker*) {}
  constexpr explicit operator bool() const { return false; }
  [[noreturn]] RaceChecker* operator->() const { __builtin_unreachable(); }
  [[noreturn]] RaceChecker& operator*() const { __builtin_unreachable(); }
};
#else
using Checker = RaceChecker*;
#endif

}  // namespace tc::sim
