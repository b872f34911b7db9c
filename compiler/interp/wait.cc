// What threads wait for: mbarriers, each other, named barriers, the cluster. The rules are those of interp.h.
#include <algorithm>

#include "compiler/interp/control.h"
#include "specs/arch.h"

namespace tc::ir::interp {
namespace {

int64_t section_lo(const Group& g) {
  for (auto f = g.frames.rbegin(); f != g.frames.rend(); ++f)
    if (f->top > 0) return f->lo;
  return 0;
}
// Threads that are still there.
int64_t present(const Cta& cta, int64_t all, int64_t lo, int64_t top) {
  return all - std::count_if(cta.gone.begin(), cta.gone.end(), [&](int32_t t) { return t >= lo && t < top; });
}
int64_t section_threads(const Cta& cta, const Group& g) {
  for (auto f = g.frames.rbegin(); f != g.frames.rend(); ++f)
    if (f->top > 0) return present(cta, f->threads, f->lo, f->top);
  return present(cta, cta.thread_count, 0, cta.thread_count);
}

Step exec_wait(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (!agree(cta, index, {op.operands[1], op.operands[2]})) return Step::split;
  Group& g = cta.groups[index];
  int64_t slot_index = value(cta, g, op.operands[1]);
  Mbarrier& b = mbarrier_at(cta, op, op.operands[0], slot_index);
  bool odd = (value(cta, g, op.operands[2]) & 1) != 0;
  uint32_t array = cta.p.slot_of[op.operands[0].index];
  auto next = g.next_phase.try_emplace({array, slot_index}, odd ? -1 : 0).first;
  if (b.phase <= next->second) {
    g.blocked = Blocked::mbarrier;
    g.blocked_on = id;
    g.barrier = array;
    g.index = slot_index;
    g.phase = next->second;
    return Step::blocked;
  }
  ++next->second;
  ++g.frames.back().next;
  return Step::go_on;
}

// ---- operations of all threads of a section
Step exec_collective(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  int64_t lo = section_lo(g);
  std::vector<Group*> here;
  int64_t count = 0;
  g.blocked = Blocked::rendezvous;
  g.blocked_on = id;
  for (Group& other : cta.groups)
    if (other.blocked == Blocked::rendezvous && other.blocked_on == id && !other.released && section_lo(other) == lo) {
      here.push_back(&other);
      count += static_cast<int64_t>(other.threads.size());
    }
  if (count < section_threads(cta, g)) return Step::blocked;
  exec_tile(cta, g, id, 0);
  for (Group* other : here) other->released = true;
  g.released = false;
  g.blocked = Blocked::no;
  ++g.frames.back().next;
  return Step::go_on;
}

// Every thread of the CTA, or of all CTAs (a grid that synchronises runs as one).
Step exec_rendezvous(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  bool wide = text_attr(op, "name", "") == "sync_grid";
  Group& g = cta.groups[index];
  g.blocked = Blocked::rendezvous;
  g.blocked_on = id;
  std::vector<Cta*> ctas = wide ? cta.cluster : std::vector<Cta*>{&cta};
  std::vector<Group*> here;
  int64_t count = 0, wanted = 0;
  for (Cta* c : ctas) {
    wanted += present(*c, c->thread_count, 0, c->thread_count);
    for (Group& other : c->groups)
      if (other.blocked == Blocked::rendezvous && other.blocked_on == id && !other.released) {
        here.push_back(&other);
        count += static_cast<int64_t>(other.threads.size());
      }
  }
  if (count < wanted) return Step::blocked;
  finish_rendezvous(cta, here, op);
  for (Group* other : here) other->released = true;
  g.released = false;
  g.blocked = Blocked::no;
  ++g.frames.back().next;
  return Step::go_on;
}

// An exchange wants whole warps: parts of them that come to it one after the other are joined again. A part that nobody
// else follows goes on alone.
Step exec_exchange(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  for (Group& other : cta.groups)
    if (&other != &g && other.blocked == Blocked::warp && other.blocked_on == id && same_place(g, other))
      merge(g, other);
  const int32_t warp = static_cast<int32_t>(kWarpLanes);
  bool whole = g.threads[0] % warp == 0;
  for (size_t i = 1; i < g.threads.size(); ++i)
    whole &= g.threads[i] % warp == 0 || g.threads[i] == g.threads[i - 1] + 1;
  whole &= g.threads.size() % kWarpLanes == 0 || g.threads.back() + 1 == cta.thread_count;
  if (!whole && !g.alone) {
    g.blocked = Blocked::warp;
    g.blocked_on = id;
    return Step::blocked;
  }
  g.alone = false;
  Mask all(g.lanes, 1);
  exec_plain_op(cta, g, id, all);
  ++g.frames.back().next;
  return Step::go_on;
}

void release(Cta& cta, int64_t barrier) {
  cta.named[barrier].arrived = 0;
  for (Group& other : cta.groups)
    if (other.blocked == Blocked::named && other.index == barrier) other.released = true;
}

// True when this completes the barrier; the threads that wait there go on.
bool count_at_barrier(Cta& cta, const Op& op, int64_t barrier, int64_t expected, size_t threads) {
  NamedBarrier& b = cta.named[barrier];
  b.arrived += static_cast<int64_t>(threads);
  if (b.arrived > expected)
    stop(op, std::to_string(b.arrived) + " threads at barrier " + std::to_string(barrier) + ", which waits for " +
                 std::to_string(expected));
  if (b.arrived < expected) return false;
  release(cta, barrier);
  return true;
}

Step exec_sync(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  const Op& op = cta.p.m[id];
  int64_t barrier = int_attr(op, "id", 0),
          expected = int_attr(op, "threads", present(cta, cta.thread_count, 0, cta.thread_count));
  if (!count_at_barrier(cta, op, barrier, expected, g.threads.size())) {
    g.blocked = Blocked::named;
    g.blocked_on = id;
    g.index = barrier;
    return Step::blocked;
  }
  ++g.frames.back().next;
  return Step::go_on;
}

// barrier.cluster: the n-th wait of a thread returns when all threads of the cluster that have not ended have arrived n
// times (PTX ISA, barrier.cluster).
void cluster_arrive(Cta& cta, size_t index) { ++cta.groups[index].cluster_arrivals; }
Step cluster_wait(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  for (Cta* c : cta.cluster)
    for (const Group& other : c->groups)
      if (!other.done && other.cluster_arrivals < g.cluster_arrivals) {
        g.blocked = Blocked::cluster;
        g.blocked_on = id;
        return Step::blocked;
      }
  ++g.frames.back().next;
  return Step::go_on;
}
// An arrival and a wait; a group that was blocked here has arrived already.
Step cluster_sync(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  if (!std::exchange(g.synchronises, true)) cluster_arrive(cta, index);
  Step step = cluster_wait(cta, index, id);
  if (step == Step::go_on) g.synchronises = false;
  return step;
}

// Threads that arrive at a named barrier and do not wait (PTX ISA, barrier.cta.arrive).
Step named_arrive(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (!agree(cta, index, op.operands)) return Step::split;
  Group& g = cta.groups[index];
  count_at_barrier(cta, op, value(cta, g, op.operands[0]), value(cta, g, op.operands[1]), g.threads.size());
  ++g.frames.back().next;
  return Step::go_on;
}

std::optional<Step> call_step(Cta& cta, size_t index, OpId id) {
  std::string_view name = text_attr(cta.p.m[id], "name", "");
  if (name == "cluster_wait") return cluster_wait(cta, index, id);
  if (name == "cluster_sync") return cluster_sync(cta, index, id);
  if (name == "named_barrier_arrive") return named_arrive(cta, index, id);
  if (name != "cluster_arrive" && name != "cluster_arrive_relaxed") return std::nullopt;
  cluster_arrive(cta, index);
  ++cta.groups[index].frames.back().next;
  return Step::go_on;
}
std::string threads_text(const Group& g) {
  if (g.threads.size() == 1) return "thread " + std::to_string(g.threads[0]);
  return "threads " + std::to_string(g.threads.front()) + ".." + std::to_string(g.threads.back());
}

}  // namespace

void deadlock(Cta& cta) {
  Diag d = input_error({}, "deadlock: no thread of " + cta.name + " can go on");
  d.kind = DiagKind::violation;
  for (const Group& g : cta.groups) {
    if (g.done) continue;
    const Op& op = cta.p.m[g.blocked_on];
    std::string what;
    if (g.blocked == Blocked::mbarrier) {
      const Mbarrier& b = cta.barriers[g.barrier][static_cast<size_t>(g.index)];
      what = " wait for phase " + std::to_string(g.phase) + " of '" + cta.p.m[op.operands[0]].name + "[" +
             std::to_string(g.index) + "]': " + std::to_string(b.phase) + " phases are complete, " +
             std::to_string(b.pending) + " of " + std::to_string(b.count) + " arrivals and " + std::to_string(b.tx) +
             " bytes are pending";
    } else {
      what = g.blocked == Blocked::named     ? " wait at barrier " + std::to_string(g.index)
             : g.blocked == Blocked::cluster ? " wait for the other threads of the cluster"
                                             : " wait for the other threads of the section";
    }
    // The first blocked mbarrier wait is the place of the report.
    if (!d.where.valid() && (g.blocked == Blocked::mbarrier || &g == &cta.groups.back())) d.where = place(op);
    d.notes.push_back({place(op), threads_text(g) + what});
  }
  throw Stop{d};
}

bool is_at_barrier(const Op& op) {
  std::string_view name = op.kind == OpKind::call ? text_attr(op, "name", "") : "";
  return name.starts_with("cluster_") || name == "named_barrier_arrive";
}

// The barrier of the whole CTA waits for the threads that are left (as bar.sync does on sm_70 and later).
Step exec_thread_return(Cta& cta, size_t index) {
  Group& g = cta.groups[index];
  cta.gone.insert(cta.gone.end(), g.threads.begin(), g.threads.end());
  g.frames.clear();
  NamedBarrier& b = cta.named[0];
  if (b.arrived > 0 && b.arrived == present(cta, cta.thread_count, 0, cta.thread_count)) release(cta, 0);
  return Step::go_on;
}

std::optional<Step> exec_blocking(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (op.kind == OpKind::mbarrier_wait) return exec_wait(cta, index, id);
  if (op.kind == OpKind::sync_threads) return exec_sync(cta, index, id);
  if (op.kind == OpKind::call && is_exchange(op)) return exec_exchange(cta, index, id);
  if (op.kind == OpKind::call && is_rendezvous(op)) return exec_rendezvous(cta, index, id);
  if (op.kind == OpKind::call) return call_step(cta, index, id);
  if (is_collective(cta.p.m, op)) return exec_collective(cta, index, id);
  return std::nullopt;
}

Mbarrier& mbarrier_at(Cta& cta, const Op& op, ValueId array, int64_t index) {
  auto it = cta.barriers.find(cta.p.slot_of[array.index]);
  if (it == cta.barriers.end()) stop(op, "the mbarrier was not allocated");
  if (index < 0 || index >= static_cast<int64_t>(it->second.size()))
    stop(op, "mbarrier " + std::to_string(index) + " of '" + cta.p.m[array].name + "', which has " +
                 std::to_string(it->second.size()));
  return it->second[static_cast<size_t>(index)];
}

void settle(Mbarrier& b) {
  if (b.pending > 0 || b.tx != 0) return;
  b.pending = b.count;
  ++b.phase;
}

void arrive(Cta& cta, Group& g, const Op& op, size_t lane) {
  Mbarrier& b = mbarrier_at(cta, op, op.operands[0], lane_int(cta.p, g, op.operands[1], lane));
  if (op.kind != OpKind::mbarrier_arrive) b.tx += int_attr(op, "bytes", 0);
  if (op.kind == OpKind::mbarrier_expect_tx) return;
  if (b.pending == 0)
    stop(op, "an arrival at '" + cta.p.m[op.operands[0]].name + "' beyond its count of " + std::to_string(b.count));
  --b.pending;
  settle(b);
}

}  // namespace tc::ir::interp
