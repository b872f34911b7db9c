#include "sim/machine/paths.h"

#include <bit>

#include "sim/machine/calls.h"
#include "sim/machine/named_barrier.h"
#include "sim/machine/trace.h"
#include "sim/machine/wgmma_guard.h"
#include "sim/machine/wgmma_state.h"

namespace tc::sim {
namespace {

uint32_t lanes_waiting(const Warp& w, Wait::Kind kind, uint32_t pc) {
  uint32_t lanes = 0;
  for (const Path& p : w.paths)
    if (p.wait.kind == kind && (pc == kNone || p.pc == pc)) lanes |= p.mask;
  return lanes;
}

// A join of `p`, at the same depth of calls.
uint32_t new_join(Warp& w, const Path& p, uint32_t pc, uint32_t expected) {
  Join j{pc, expected, 0, p.join, p.calls};
  for (uint32_t i = 0; i < w.joins.size(); ++i)
    if (w.joins[i].expected == 0) return w.joins[i] = j, i;
  w.joins.push_back(j);
  return static_cast<uint32_t>(w.joins.size() - 1);
}

Path resumed(const Join& j, uint32_t lanes) {
  Path p;
  p.pc = j.pc, p.mask = lanes, p.join = j.parent;
  p.calls = j.calls;
  return p;
}

// A complete join becomes a path again.
void resume_if_complete(Warp& w, uint32_t join) {
  Join& j = w.joins[join];
  if (j.expected == 0 || j.arrived != j.expected) return;
  Path p = resumed(j, j.expected);
  j = Join{};
  w.paths.push_back(std::move(p));
}

bool at_join(const Warp& w, const Path& p) {
  return p.join != kNone && p.pc == w.joins[p.join].pc && p.calls.depth == w.joins[p.join].calls.depth;
}

// Paths that stand at their join are collected there. A resumed path may stand at the next join.
void settle_joins(Warp& w) {
  for (size_t i = 0; i < w.paths.size();) {
    if (w.paths[i].wait.kind != Wait::Kind::none || !at_join(w, w.paths[i])) {
      ++i;
      continue;
    }
    const Path p = w.paths[i];
    w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(i));
    w.joins[p.join].arrived |= p.mask;
    resume_if_complete(w, p.join);
    i = 0;
  }
}

void leave(Warp& w, size_t index, uint32_t lanes) {
  Path& p = w.paths[index];
  p.mask &= ~lanes;
  w.live &= ~lanes;
  if (w.cta->race) w.cta->race->left(w.agent, lanes);
  ++p.pc;
  const uint32_t first = p.join;
  if (p.mask == 0) w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(index));
  for (uint32_t j = first; j != kNone;) {
    const uint32_t parent = w.joins[j].parent;
    w.joins[j].expected &= ~lanes;
    resume_if_complete(w, j);
    j = parent;
  }
  settle_joins(w);
  recheck_named(*w.cta);
  recheck_cluster(w.cta->cluster);
  ++w.cta->progress;
}

// Lanes of the path are about to part, to meet again at `pc` (unless they would meet there anyway, or nowhere).
void join_for(Warp& w, Path& p, uint32_t pc) {
  if (pc == kNone || (p.join != kNone && w.joins[p.join].pc == pc && w.joins[p.join].calls.depth == p.calls.depth)) return;
  p.join = new_join(w, p, pc, p.mask);
}

// Lanes of path `index` that are not in `lanes` stay behind as a path of their own at `pc`.
void split_off(Warp& w, size_t index, uint32_t lanes, uint32_t pc) {
  Path& p = w.paths[index];
  if (lanes == p.mask) return;
  Path other = p;
  other.timed_out = false;
  other.mask = p.mask & ~lanes, other.pc = pc;
  p.mask = lanes;
  w.paths.push_back(std::move(other));
}

// Lanes of `mask` whose register at `at` has the value that the lowest of them has.
template <class T>
uint32_t same_value(Warp& w, uint32_t at, uint32_t mask) {
  const T* v = w.reg<T>(at);
  const T first = v[std::countr_zero(mask)];
  uint32_t lanes = 0;
  for (uint32_t m = mask; m; m &= m - 1)
    if (v[std::countr_zero(m)] == first) lanes |= m & -m;
  return lanes;
}

// brx.idx: lanes of one index go together; the others find this instruction again.
SliceEnd branch_by_table(Warp& w, size_t index, const Insn& i, uint32_t mask) {
  Path& p = w.paths[index];
  if (mask == 0) return ++p.pc, SliceEnd::gone;
  join_for(w, p, i.join);
  if (mask != p.mask) {  // guarded
    split_off(w, index, mask, p.pc + 1);
    return SliceEnd::gone;
  }
  const uint32_t lanes = same_value<uint32_t>(w, i.src[0], mask);
  const uint32_t which = w.reg<uint32_t>(i.src[0])[std::countr_zero(lanes)];
  if (which >= i.list_count) {
    w.cta->fault("PROG-02", i.place, "index " + std::to_string(which) + " of a table of " +
                                         std::to_string(i.list_count) + " branch targets");
    return SliceEnd::trap;
  }
  split_off(w, index, lanes, p.pc);
  w.paths[index].pc = w.cta->program.lists[i.list + which];
  settle_joins(w);
  return SliceEnd::gone;
}

// call: the lanes that do not take part, or call another function, meet the caller again behind the call.
SliceEnd call(Warp& w, size_t index, const Insn& i, uint32_t mask) {
  if (mask == 0) return ++w.paths[index].pc, SliceEnd::gone;
  const uint32_t at = w.paths[index].pc;
  w.paths[index].join = new_join(w, w.paths[index], at + 1, w.paths[index].mask);
  split_off(w, index, mask, at + 1);
  uint32_t lanes = mask;
  if (i.target == kNone) {
    lanes = same_value<uint64_t>(w, i.src[0], mask);
    split_off(w, index, lanes, at);
  }
  Path& p = w.paths[index];
  w.mask = lanes;
  if (!enter_function(w, p, i)) return SliceEnd::trap;
  settle_joins(w);
  return SliceEnd::gone;
}

SliceEnd ret(Warp& w, size_t index, uint32_t mask) {
  if (mask == 0) return ++w.paths[index].pc, SliceEnd::gone;
  split_off(w, index, mask, w.paths[index].pc + 1);
  w.mask = mask;
  leave_function(w, w.paths[index]);
  settle_joins(w);
  return SliceEnd::gone;
}

SliceEnd branch(Warp& w, size_t index, const Insn& i, uint32_t taken) {
  Path& p = w.paths[index];
  if (taken == 0 || taken == p.mask) {
    p.pc = taken ? i.target : p.pc + 1;
    if (!at_join(w, p)) return SliceEnd::budget;
    settle_joins(w);
    return SliceEnd::gone;
  }
  join_for(w, p, i.join);
  Path other = p;
  other.timed_out = false;
  other.mask = taken, other.pc = i.target;
  p.mask &= ~taken, ++p.pc;
  if (w.cta->launch.schedule != Schedule::rr && w.cta->random.coin()) std::swap(p, other);
  w.paths.push_back(other);
  settle_joins(w);
  return SliceEnd::gone;
}

void clear_wait(Path& p) { p.wait = Wait{}; }

// All lanes named by a bar.warp.sync are there: they go on together.
SliceEnd release_sync_lanes(Cta& c, Warp& w) {
  uint32_t lanes = 0;
  for (Path& p : w.paths)
    if (p.wait.kind == Wait::Kind::sync_lanes) lanes |= p.mask, clear_wait(p), ++p.pc;
  if (c.race) c.race->sync_lanes(w.agent, lanes);
  settle_joins(w);
  return SliceEnd::gone;
}

// The lanes that wait at the instruction of `p` execute it together.
SliceEnd run_together(Cta& c, Warp& w, size_t index) {
  Path& p = w.paths[index];
  const Insn& i = c.program.code[p.pc];
  const uint32_t pc = p.pc;
  w.mask = lanes_waiting(w, Wait::Kind::lanes, pc);
  w.path = &p;
  const Step s = i.exec(w, i);
  if (s == Step::trap) return SliceEnd::trap;
  if (s == Step::blocked) return SliceEnd::blocked;
  for (Path& q : w.paths)
    if (q.wait.kind == Wait::Kind::lanes && q.pc == pc) clear_wait(q), ++q.pc;
  settle_joins(w);
  return SliceEnd::gone;
}

// Every cp.async of the lanes but those in their newest `newest` committed groups has completed.
bool cp_async_done(const Warp& w, const Path& p, AsyncOp** first) {
  for (AsyncOp* op : w.cp_queue) {
    const auto* copy = static_cast<const CpAsyncOp*>(op);
    for (uint32_t lanes = p.mask & copy->lanes; lanes; lanes &= lanes - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(lanes));
      if (copy->groups[l] + p.wait.number >= w.cp_group[l]) continue;
      if (first) *first = op;
      return false;
    }
  }
  return true;
}

bool group_done(const Cta& c, const Warp& w, const Path& p, AsyncOp** first) {
  for (uint32_t lanes = p.mask; lanes; lanes &= lanes - 1) {
    const uint32_t thread = 32 * w.index + static_cast<uint32_t>(std::countr_zero(lanes));
    auto open = c.bulk_groups.find(thread);
    if (open == c.bulk_groups.end()) continue;
    for (const auto& op : c.async.ops)
      if (op->group && op->cta == &c && op->thread == thread && op->group + p.wait.number < open->second.open &&
          !(p.wait.flag && op->reads_done)) {
        if (first) *first = op.get();
        return false;
      }
  }
  return true;
}

}  // namespace

bool ready(Warp& w, const Path& p) {
  Cta& c = *w.cta;
  switch (p.wait.kind) {
    case Wait::Kind::none: return true;
    case Wait::Kind::mbarrier: {
      const Mbarrier* b = c.mbarrier_at(p.wait.address);
      return !b || b->phase != p.wait.number;
    }
    case Wait::Kind::named_barrier: return c.named[p.wait.id].generation != p.wait.number;
    case Wait::Kind::lanes: return (p.wait.lanes & w.live & ~lanes_waiting(w, Wait::Kind::lanes, p.pc)) == 0;
    case Wait::Kind::sync_lanes: return (p.wait.lanes & w.live & ~lanes_waiting(w, Wait::Kind::sync_lanes, kNone)) == 0;
    case Wait::Kind::cp_async: return cp_async_done(w, p, nullptr);
    case Wait::Kind::bulk: return group_done(c, w, p, nullptr);
    case Wait::Kind::wgmma: return wgmma_done(c, w, p.wait.number);
    case Wait::Kind::registers: return c.free_registers >= static_cast<int64_t>(p.wait.number);
    case Wait::Kind::cluster: return c.cluster.barrier.generation > p.wait.number;
  }
  return true;
}

AsyncOp* needed_by(const Warp& w, const Path& p) {
  Cta& c = *w.cta;
  AsyncOp* op = nullptr;
  if (p.wait.kind == Wait::Kind::cp_async) cp_async_done(w, p, &op);
  if (p.wait.kind == Wait::Kind::bulk) group_done(c, w, p, &op);
  if (p.wait.kind == Wait::Kind::wgmma)
    for (const auto& o : c.async.ops)
      if (o->queue == kWgmmaQueue + w.index / 4 && o->cta == &c) return o.get();
  return op ? c.async.first_of_queue(op) : nullptr;
}

bool break_joins(Warp& w) {
  bool any = false;
  for (size_t i = 0; i < w.joins.size(); ++i) {
    Join& j = w.joins[i];
    if (j.arrived == 0) continue;
    Path p = resumed(j, j.arrived);
    j.expected &= ~j.arrived;
    j.arrived = 0;
    w.paths.push_back(std::move(p));
    any = true;
  }
  settle_joins(w);
  return any;
}

SliceEnd run_slice(Warp& w, size_t index, uint64_t budget) {
  Cta& c = *w.cta;
  if (Trace* t = c.cluster.trace.get(); t && w.paths[index].wait.kind != Wait::Kind::none)
    t->wait(w, w.paths[index].wait, w.paths[index].blocked_at, c.time);
  if (w.paths[index].wait.kind == Wait::Kind::sync_lanes) return release_sync_lanes(c, w);
  if (w.paths[index].wait.kind == Wait::Kind::lanes) return run_together(c, w, index);
  if (w.paths[index].wait.kind != Wait::Kind::none && !w.paths[index].wait.again)
    clear_wait(w.paths[index]), ++w.paths[index].pc;
  const uint64_t first_event = c.events;
  const bool follows = c.launch.checks.has(Check::uninit);
  const Insn* const code = c.program.code.data();
  static const std::vector<uint8_t> kNothing;
  const std::vector<uint8_t>& pending =
      c.wgmma.empty() ? kNothing : c.wgmma[w.index / 4]->registers[w.index % 4];
  uint64_t& time = c.time;
  Path& p = w.paths[index];  // stays where it is until the paths change, which ends the slice
  w.path = &p;
  const bool meets = p.join != kNone && w.joins[p.join].calls.depth == p.calls.depth;
  const uint32_t join_pc = meets ? w.joins[p.join].pc : kNone;
  if (p.pc == join_pc && p.wait.kind == Wait::Kind::none) {
    settle_joins(w);
    return SliceEnd::gone;
  }
  while (budget-- != 0) {
    const Insn& i = code[p.pc];
    uint32_t mask = p.mask;
    if (i.guard != kNone) mask &= i.guard_negated ? ~w.pred(i.guard) : w.pred(i.guard);
    ++time;
    if (follows && w.undefined && w.undefined->any()) follow_undefined(w, i, p.mask, mask);
    if (i.kind == InsnKind::branch) {
      if (branch(w, index, i, mask) == SliceEnd::gone) return SliceEnd::gone;
      continue;
    }
    if (i.kind >= InsnKind::branch_table) {
      switch (i.kind) {
        case InsnKind::branch_table: return branch_by_table(w, index, i, mask);
        case InsnKind::call: return call(w, index, i, mask);
        default: return ret(w, index, mask);
      }
    }
    if (mask != 0) {
      if (i.kind == InsnKind::leave) {
        leave(w, index, mask);
        return SliceEnd::gone;
      }
      w.mask = mask;
      Step s = Step::next;
      if (pending.empty() || !guard_pending(w, i, s)) s = i.exec(w, i);
      if (s != Step::next) {
        if (s == Step::trap) return SliceEnd::trap;
        if (s == Step::blocked) return p.blocked_at = time, SliceEnd::blocked;
      }
      if (p.wait.kind != Wait::Kind::none) clear_wait(p);
      if (s == Step::yield || c.events != first_event) {
        ++p.pc;
        return SliceEnd::yielded;
      }
    }
    if (++p.pc == join_pc) {
      settle_joins(w);
      return SliceEnd::gone;
    }
  }
  return SliceEnd::budget;
}

}  // namespace tc::sim
