#include "sim/machine/scheduler.h"

#include "sim/check/report.h"

#include "sim/machine/paths.h"
#include "sim/machine/trace.h"
#include "sim/machine/wgmma_state.h"

namespace tc::sim {
namespace {

constexpr uint64_t kTurn = 64;          // instructions a path runs under rr before the next one
constexpr uint64_t kStallTurn = 512;    // under adversarial: that long without progress is a spin
constexpr uint64_t kIdleTurns = 20000;  // turns of spins without progress and with nothing outstanding: a hang
constexpr uint64_t kQuiet = 512;        // instructions of a warp without a poll: it computes

struct Choice {
  Warp* warp = nullptr;
  size_t path = 0;
};

}  // namespace

class ClusterRun::Scheduler {
 public:
  Scheduler(Cluster& cluster, const Limits& limits) : c_(cluster), limits_(limits), order_(cluster.warps) {
    std::stable_sort(order_.begin(), order_.end(), [](auto* a, auto* b) { return a->preference < b->preference; });
  }

  ClusterEnd run(uint64_t budget) {
    idle_turns_ = 0;
    unblock_progress_ = UINT64_MAX;
    for (uint64_t turn = 0; turn < budget; ++turn) {
      if (c_.trap) return ClusterEnd::trap;
      if (ClusterEnd e = over_limit(turn); e != ClusterEnd::done) return e;
      if (c_.time >= c_.async.next_due) c_.run_due();
      if (c_.trap) return ClusterEnd::trap;
      Choice next = choose();
      if (!next.warp) {
        if (c_.finished()) return ClusterEnd::done;
        if (!unblock()) return limits_.shared_grid ? ClusterEnd::waiting : ClusterEnd::hang;
        continue;
      }
      if (run_turn(next) == SliceEnd::trap) return ClusterEnd::trap;
      if (c_.progress != seen_progress_) seen_progress_ = c_.progress, idle_turns_ = 0;
      else if (polled_ && ++idle_turns_ > idle_limit() && c_.async.empty())
        return limits_.shared_grid ? ClusterEnd::waiting : ClusterEnd::hang;
    }
    return c_.finished() ? ClusterEnd::done : ClusterEnd::waiting;
  }

  SteerResult steer(const SteerStep& step) {
    switch (step.kind) {
      case SteerStep::Kind::run_warp: return steer_warp(step.warp);
      case SteerStep::Kind::complete_async: return steer_async(step.barrier, step.n);
    }
    return {};
  }

 private:
  ClusterEnd over_limit(uint64_t turn) const {
    if (c_.time > limits_.steps) return ClusterEnd::step_limit;
    if (turn % 256 != 0) return ClusterEnd::done;
    if (limits_.stop && limits_.stop->load(std::memory_order_relaxed)) return ClusterEnd::stopped;
    return std::chrono::steady_clock::now() > limits_.deadline ? ClusterEnd::time_limit : ClusterEnd::done;
  }
  // Beside others a spin hands over soon: whoever it waits for may not have run yet.
  uint64_t idle_limit() const { return limits_.shared_grid ? 4 * c_.warps.size() : kIdleTurns; }

  // The next runnable path of a warp, after the one that ran last.
  bool find_path(Warp& w, size_t& path) const {
    const size_t n = w.paths.size();
    for (size_t k = 0; k < n; ++k) {
      const size_t i = n == 1 ? 0 : (c_.time + k) % n;
      if (!ready(w, w.paths[i])) continue;
      path = i;
      return true;
    }
    return false;
  }

  Choice choose() {
    switch (c_.launch.schedule) {
      case Schedule::rr: return choose_next();
      case Schedule::random: return choose_random();
      case Schedule::adversarial: return choose_preferred();
    }
    return {};
  }

  Choice choose_next() {
    const size_t n = c_.warps.size();
    for (size_t k = 0; k < n; ++k) {
      cursor_ = (cursor_ + 1) % n;
      Choice choice{c_.warps[cursor_]};
      if (find_path(*choice.warp, choice.path)) return choice;
    }
    return {};
  }

  Choice choose_random() {
    const size_t n = c_.warps.size();
    const size_t start = c_.random.below(static_cast<uint32_t>(n));
    for (size_t k = 0; k < n; ++k) {
      Choice choice{c_.warps[(start + k) % n]};
      if (find_path(*choice.warp, choice.path)) return choice;
    }
    return {};
  }

  // Spinning warps give way; when all spin and operations are outstanding, the machine completes one of those instead.
  Choice choose_preferred() {
    if (c_.progress != stall_progress_) clear_stalls();
    for (int round = 0; round < 2; ++round) {
      for (Warp* w : order_) {
        Choice choice{w};
        if (!w->stalled && find_path(*w, choice.path)) return choice;
      }
      bool any = false;
      for (Warp* w : order_) any |= w->stalled;
      if (!any || !c_.async.empty()) return {};
      clear_stalls();
    }
    return {};
  }
  void clear_stalls() {
    for (Warp* w : c_.warps) w->stalled = false;
    stall_progress_ = c_.progress;
  }

  SliceEnd run_turn(Choice next) {
    const uint64_t before = c_.progress;
    uint64_t budget = kTurn;
    if (c_.launch.schedule == Schedule::random) budget = 1 + c_.random.below(kTurn);
    if (c_.launch.schedule == Schedule::adversarial) budget = kStallTurn;
    const uint64_t from = c_.time;
    const uint32_t place = c_.program.code[next.warp->paths[next.path].pc].place;
    Polls& polls = next.warp->polls;
    const uint64_t polls_before = polls.count;
    const SliceEnd end = run_slice(*next.warp, next.path, budget);
    if (c_.trace) c_.trace->run(*next.warp, place, from, c_.time);
    // A turn that ended by budget or by a poll, with no effect: a spin.
    if (c_.progress == before && (end == SliceEnd::budget || end == SliceEnd::yielded)) next.warp->stalled = true;
    polled_ = polls.count != polls_before;
    polls.quiet = polled_ ? 0 : polls.quiet + (c_.time - from);
    if (polls.quiet > kQuiet) polls.quiet = 0, ++c_.progress;
    return end;
  }

  // Nothing can run. Completes an operation, lets joins go, or times polls out; false: deadlock.
  bool unblock() {
    if (!c_.async.empty()) {
      complete_one();
      return true;
    }
    report_divergence(c_);
    bool any = false;
    for (Warp* w : c_.warps) any |= break_joins(*w);
    if (any) return true;
    if (unblock_progress_ == c_.progress) return false;
    unblock_progress_ = c_.progress;
    for (Warp* w : c_.warps)
      for (Path& p : w->paths)
        if (p.wait.kind == Wait::Kind::mbarrier) p.wait = Wait{}, p.timed_out = true, any = true;
    clear_stalls();
    return any;
  }

  void complete_one() {
    // Not adversarial: time passes until the next operation is due.
    if (c_.async.next_due != AsyncOp::kLate) {
      c_.time = std::max(c_.time, c_.async.next_due);
      return c_.run_due();
    }
    const auto& ops = c_.async.ops;
    AsyncOp* op = ops[c_.random.below(static_cast<uint32_t>(ops.size()))].get();
    c_.step_async(c_.async.first_of_queue(op), 1);
    c_.forget_due();
  }

  // One protocol event of the warp, or until all its paths are blocked.
  SteerResult steer_warp(uint32_t index) {
    if (index >= c_.warps.size()) return {};
    Warp& w = *c_.warps[index];
    const uint64_t before = c_.events;
    for (uint64_t turns = 0; turns < kIdleTurns && w.live && !c_.trap; ++turns) {
      size_t path = 0;
      if (!find_path(w, path)) {
        if (!complete_needed(w)) break;
        continue;
      }
      run_slice(w, path, kTurn);
      if (c_.events != before) {
        const Place& at = c_.program.places[c_.last_event.place];
        return {true, c_.last_event.kind, at.where.front()};
      }
    }
    return {};
  }

  // Operations that a wait of this warp asks for (its own copies and wgmma) complete on demand.
  bool complete_needed(Warp& w) {
    for (const Path& p : w.paths)
      if (AsyncOp* op = needed_by(w, p)) {
        c_.step_async(op, 1);
        return true;
      }
    return false;
  }

  SteerResult steer_async(uint32_t barrier, uint32_t n) {
    for (const auto& o : c_.async.ops) {
      if (o->barrier != barrier || n-- != 0) continue;
      AsyncOp* op = o.get();
      const SteerResult r{true, EventKind::bulk_issue, c_.program.places[op->place].where.front()};
      const uint64_t sequence = op->sequence;
      auto outstanding = [&] {
        for (const auto& x : c_.async.ops)
          if (x->sequence == sequence) return true;
        return false;
      };
      while (outstanding() && !c_.trap) c_.step_async(op, 1);
      return r;
    }
    return {};
  }

  Cluster& c_;
  const Limits& limits_;
  std::vector<Warp*> order_;
  size_t cursor_ = 0;
  bool polled_ = false;  // in the last turn
  uint64_t seen_progress_ = 0, idle_turns_ = 0, stall_progress_ = 0, unblock_progress_ = UINT64_MAX;
};

namespace {

ClusterEnd finish(Cluster& c, ClusterEnd end) {
  if (end == ClusterEnd::waiting) return end;
  report_races(c);
  if (end == ClusterEnd::hang) report_hang(c);
  if (end == ClusterEnd::trap) c.findings.push_back(*c.trap);
  if (end == ClusterEnd::done) {
    report_exit(c);
    while (!c.async.empty() && !c.trap) c.step_async(c.async.first_of_queue(c.async.ops.front().get()), 1);
    if (c.trap) c.findings.push_back(*c.trap), end = ClusterEnd::trap;
  }
  return end;
}

}  // namespace

ClusterRun::ClusterRun(Cluster& cluster, const Limits& limits)
    : cluster_(cluster), scheduler_(std::make_unique<Scheduler>(cluster, limits)) {}
ClusterRun::~ClusterRun() = default;

ClusterEnd ClusterRun::run(uint64_t budget) { return finish(cluster_, scheduler_->run(budget)); }

ClusterEnd ClusterRun::run_steered(const std::vector<SteerStep>& steps, std::vector<SteerResult>& results) {
  cluster_.steered = true;
  for (const SteerStep& s : steps) results.push_back(scheduler_->steer(s));
  cluster_.steered = false;
  for (const auto& op : cluster_.async.ops) op->due = cluster_.time;
  cluster_.forget_due();
  return run();
}

void ClusterRun::explain_hang() { finish(cluster_, ClusterEnd::hang); }

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::none: return "none";
    case EventKind::arrive: return "arrive";
    case EventKind::expect_tx: return "expect_tx";
    case EventKind::wait: return "wait";
    case EventKind::bulk_issue: return "bulk copy";
    case EventKind::wgmma_issue: return "wgmma";
    case EventKind::wgmma_wait: return "wgmma wait";
    case EventKind::named_barrier: return "named barrier";
    case EventKind::cluster_barrier: return "cluster barrier";
  }
  return "none";
}

}  // namespace tc::sim
