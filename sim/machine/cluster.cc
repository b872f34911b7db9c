#include "sim/machine/cluster.h"

#include "runtime/inputs.h"
#include "sim/machine/trace.h"

namespace tc::sim {
namespace {

constexpr uint64_t kPieceLatency = 8;  // between two pieces of one copy, in warp instructions, under rr

uint64_t mix(uint64_t seed, uint64_t id) { return runtime::splitmix64(runtime::splitmix64(seed) + id); }

}  // namespace

uint64_t Random::next() { return runtime::splitmix64(state++); }

Cluster::Cluster(const Program& p, const Launch& l, GlobalMemory& global, runtime::Dim3 first, uint64_t linear_id)
    : program(p), launch(l) {
  random.state = mix(l.seed, linear_id);
  if (l.trace) trace = std::make_unique<Trace>();
  const runtime::Dim3& k = l.cluster;
  const auto count = static_cast<uint32_t>(k.count());
  const auto threads = static_cast<uint32_t>(l.block.count()), per_cta = (threads + 31) / 32;
  if (l.checks.any())
    race = std::make_unique<RaceChecker>(count * per_cta, per_cta, threads % 32 ? (1u << threads % 32) - 1 : ~0u,
                                         l.races, static_cast<uint32_t>(linear_id));
  for (uint32_t r = 0; r < count; ++r) {
    const runtime::Dim3 id{first.x + r % k.x, first.y + r / k.x % k.y, first.z + r / (k.x * k.y)};
    ctas.push_back(std::make_unique<Cta>(*this, global, id, r));
    for (Warp& w : ctas.back()->warps) {
      w.agent = r * per_cta + w.index;
      // Preference of the adversarial schedule: every second seed by warpgroup, so that whole roles starve.
      w.preference = static_cast<uint32_t>(mix(l.seed, (l.seed & 1 ? w.agent / 4 : w.agent) + 1));
      warps.push_back(&w);
    }
  }
}
Cluster::~Cluster() = default;

bool Cluster::finished() const {
  for (const Warp* w : warps)
    if (w->live) return false;
  return true;
}

uint64_t Cluster::due_time(uint64_t latency) {
  if (steered) return AsyncOp::kLate;
  switch (launch.schedule) {
    case Schedule::rr: return time + latency;
    case Schedule::random: return time + random.below(static_cast<uint32_t>(4 * latency + 1));
    case Schedule::adversarial: return random.coin() ? time : AsyncOp::kLate;
  }
  return time;
}

void Cluster::issue(std::unique_ptr<AsyncOp> op, uint64_t latency) {
  op->sequence = async.issued++;
  op->issued_at = time;
  op->due = due_time(latency);
  if (op->queue)  // in order within a queue
    for (const auto& o : async.ops)
      if (o->queue == op->queue) op->due = std::max(op->due, o->due);
  async.next_due = std::min(async.next_due, op->due);
  async.ops.push_back(std::move(op));
}

void Cluster::step_async(AsyncOp* op, uint64_t latency) {
  const bool late = op->due == AsyncOp::kLate;
  ++progress;
  if (!op->step(*op->cta)) {
    if (!late) op->due = launch.schedule == Schedule::adversarial ? time : due_time(latency);
    return;
  }
  if (trace) trace->operation(*op, op->issued_at, time);
  auto& ops = async.ops;
  ops.erase(std::find_if(ops.begin(), ops.end(), [&](const auto& o) { return o.get() == op; }));
}

void Cluster::forget_due() {
  async.next_due = AsyncOp::kLate;
  for (const auto& o : async.ops) async.next_due = std::min(async.next_due, o->due);
}

void Cluster::run_due() {
  while (async.next_due <= time && !trap) {
    AsyncOp* best = nullptr;
    for (const auto& o : async.ops)
      if (o->due <= time && (!best || o->due < best->due)) best = o.get();
    if (best) step_async(async.first_of_queue(best), kPieceLatency);
    forget_due();
    if (!best) return;
  }
}

// ---------------------------------------------------------------- barrier.cluster

namespace {

bool everybody_arrived(const Cluster& c) {
  bool any = false;
  for (const Warp* w : c.warps) {
    if (w->live & ~w->cluster_arrived) return false;
    any |= w->cluster_arrived != 0;
  }
  return any;
}

void complete(Cluster& c) {
  for (Warp* w : c.warps) w->cluster_arrived = 0;
  c.barrier.previous = std::exchange(c.barrier.clock, {});
  ++c.barrier.generation;
  ++c.progress;
}

}  // namespace

bool arrive_cluster(Warp& w, bool releases, uint32_t place) {
  Cluster& c = w.cta->cluster;
  if (c.race && w.cluster_arrived & w.mask)
    w.cta->finding(w.cta->violation(
        "CLUST-05", place,
        "warp " + std::to_string(w.index) + " arrives again at the barrier of the cluster before waiting for it"));
  w.cluster_arrived |= w.mask;
  for (uint32_t m = w.mask; m; m &= m - 1) w.cluster_generation[std::countr_zero(m)] = c.barrier.generation;
  if (c.race) {
    c.race->settle(w.agent, w.mask);
    if (releases) c.race->snapshot_into(c.barrier.clock, w.agent, w.mask);
    else c.race->fenced_into(c.barrier.clock, w.agent, w.mask), c.race->passed_into(c.barrier.clock, w.agent, w.mask);
    c.race->released(w.agent, place);
  }
  ++c.progress;
  if (!everybody_arrived(c)) return false;
  complete(c);
  return true;
}

void recheck_cluster(Cluster& c) {
  if (everybody_arrived(c)) complete(c);
}

}  // namespace tc::sim
