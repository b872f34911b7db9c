// Control of the tile interpreter where threads can block: groups with explicit frames, run round robin until each is
// done or blocked. A group splits where its threads go different ways (a section's border, a condition, a loop bound, a
// barrier index) and runs on as two. Control flow in which nothing can block is left to interp_lanes.cc.
#include <algorithm>

#include "compiler/ir/interp_machine.h"
#include "specs/arch.h"

namespace tc::ir::interp {

void count_step(Cta& cta, const Op& op) {
  if (++cta.steps > cta.p.max_steps)
    stop(op, "more than " + std::to_string(cta.p.max_steps) + " operations in one CTA");
}

namespace {

enum class Step { go_on, blocked, split };

int64_t section_lo(const Group& g) {
  for (auto f = g.frames.rbegin(); f != g.frames.rend(); ++f)
    if (f->top > 0) return f->lo;
  return 0;
}
int64_t section_top(const Cta& cta, const Group& g) {
  for (auto f = g.frames.rbegin(); f != g.frames.rend(); ++f)
    if (f->top > 0) return f->top;
  return cta.thread_count;
}

// Moves the threads for which `keep` is false into a new group that is about to execute the same op.
void split(Cta& cta, size_t index, const std::vector<bool>& keep) {
  Group rest = cta.groups[index];
  Group& g = cta.groups[index];
  auto select = [&](Group& to, bool wanted) {
    auto filter = [&](auto& list) {
      size_t n = 0;
      for (size_t i = 0; i < keep.size(); ++i) {
        if (keep[i] != wanted) continue;
        if (n != i) list[n] = std::move(list[i]);
        ++n;
      }
      list.resize(n);
    };
    filter(to.threads);
    to.lanes = to.threads.size();
    for (Slot& s : to.env) {
      if (s.is_uniform()) continue;
      filter(s.lanes);
      set_lanes(s, std::vector<Number>(s.lanes));
    }
    for (auto& [buffer, local] : to.locals) {
      size_t bytes = static_cast<size_t>(local.shape.bytes), n = 0;
      for (size_t i = 0; i < keep.size(); ++i)
        if (keep[i] == wanted) std::memmove(local.of(n++), local.of(i), bytes);
      local.cells.resize(n * bytes);
    }
  };
  select(g, true);
  select(rest, false);
  cta.groups.push_back(std::move(rest));
}

bool same_place(const Group& a, const Group& b) {
  return std::ranges::equal(a.frames, b.frames, [](const Frame& x, const Frame& y) {
    return x.block == y.block && x.next == y.next && x.op == y.op && x.i == y.i && x.hi == y.hi && x.lo == y.lo &&
           x.top == y.top;
  });
}

// Adds the threads of `b`, which is at the same place, to `a`; they stay in order.
void merge(Group& a, Group& b) {
  std::vector<std::pair<int32_t, std::pair<Group*, size_t>>> order;
  for (Group* g : {&a, &b})
    for (size_t i = 0; i < g->threads.size(); ++i) order.push_back({g->threads[i], {g, i}});
  std::sort(order.begin(), order.end());
  std::vector<Slot> env(a.env.size());
  for (size_t s = 0; s < env.size(); ++s) {
    if (a.env[s].is_uniform() && b.env[s].is_uniform() && a.env[s].uniform == b.env[s].uniform) {
      env[s] = a.env[s];
      continue;
    }
    for (const auto& [thread, from] : order) env[s].lanes.push_back(from.first->env[s].at(from.second));
  }
  std::erase_if(a.locals, [&](const auto& l) { return !b.locals.contains(l.first); });
  for (auto& [at, local] : a.locals) {
    Local& other = b.locals.at(at);
    std::vector<uint8_t> cells;
    for (const auto& [thread, from] : order) {
      const uint8_t* mine = (from.first == &a ? local : other).of(from.second);
      cells.insert(cells.end(), mine, mine + local.shape.bytes);
    }
    local.cells = std::move(cells);
  }
  for (const auto& [barrier, phase] : b.next_phase) {
    auto [it, fresh] = a.next_phase.try_emplace(barrier, phase);
    it->second = std::max(it->second, phase);
  }
  a.env = std::move(env);
  a.threads.clear();
  for (const auto& [thread, from] : order) a.threads.push_back(thread);
  a.lanes = a.threads.size();
  b.done = true;
  b.frames.clear();
  b.threads.clear();
  b.blocked = Blocked::no;
}

// True if the values agree in all threads; else splits off those that differ from the first.
bool agree(Cta& cta, size_t index, const std::vector<ValueId>& values) {
  Group& g = cta.groups[index];
  std::vector<bool> keep(g.threads.size(), true);
  bool same = true;
  for (ValueId v : values) {
    const Slot& s = slot(cta.p, g, v);
    for (size_t i = 0; i < s.lanes.size(); ++i)
      if (s.lanes[i].i != s.lanes[0].i) same = keep[i] = false;
  }
  if (!same) split(cta, index, keep);
  return same;
}

int64_t value(const Cta& cta, const Group& g, ValueId v) { return slot(cta.p, g, v).at(0).i; }

void enter(Group& g, OpId id, BlockId block) { g.frames.push_back({.block = block, .op = id}); }

void begin_iteration(const Cta& cta, Group& g, Frame& f) {
  f.next = 0;
  slot(cta.p, g, cta.p.m[f.block].args[0]) = {of(f.i), {}};
}

// The threads of a section: lo … hi, or only the given ranges of them.
bool in_section(const Op& op, int64_t lo, int64_t hi, int32_t t) {
  const AttrValue* a = find_attr(op.attrs, "ranges");
  const auto* ranges = a ? std::get_if<std::vector<MetaInt>>(a) : nullptr;
  if (!ranges) return t >= lo && t < hi;
  for (size_t i = 0; i + 1 < ranges->size(); i += 2)
    if (t >= (*ranges)[i].value && t < (*ranges)[i + 1].value) return true;
  return false;
}

Step exec_ws(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  const Op& op = cta.p.m[id];
  int64_t lo = int_attr(op, "lo", 0), hi = int_attr(op, "hi", cta.thread_count);
  std::vector<bool> inside;
  for (int32_t t : g.threads) inside.push_back(in_section(op, lo, hi, t));
  bool all = std::all_of(inside.begin(), inside.end(), [](bool b) { return b; });
  bool none = std::none_of(inside.begin(), inside.end(), [](bool b) { return b; });
  if (!all && !none) {
    split(cta, index, inside);
    return Step::split;
  }
  ++g.frames.back().next;
  if (none) return Step::go_on;
  enter(g, id, op.blocks[0]);
  g.frames.back().lo = lo;
  g.frames.back().top = hi;
  return Step::go_on;
}

Step exec_for(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (!agree(cta, index, op.operands)) return Step::split;
  Group& g = cta.groups[index];
  ++g.frames.back().next;
  int64_t lo = value(cta, g, op.operands[0]), hi = value(cta, g, op.operands[1]);
  if (lo >= hi) return Step::go_on;
  enter(g, id, op.blocks[0]);
  g.frames.back().i = lo;
  g.frames.back().hi = hi;
  begin_iteration(cta, g, g.frames.back());
  return Step::go_on;
}

Step exec_if(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (!agree(cta, index, op.operands)) return Step::split;
  Group& g = cta.groups[index];
  ++g.frames.back().next;
  enter(g, id, op.blocks[value(cta, g, op.operands[0]) != 0 ? 0 : 1]);
  return Step::go_on;
}

// A while loop is two frames: its condition, whose end decides, and its body.
Step exec_while(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  ++g.frames.back().next;
  enter(g, id, cta.p.m[id].blocks[0]);
  return Step::go_on;
}
Step exec_condition(Cta& cta, size_t index, const Op& op) {
  if (!agree(cta, index, op.operands)) return Step::split;
  Group& g = cta.groups[index];
  OpId loop = g.frames.back().op;
  bool again = value(cta, g, op.operands[0]) != 0;
  g.frames.pop_back();
  if (again) enter(g, loop, cta.p.m[loop].blocks[1]);
  return Step::go_on;
}

bool is_loop(const Module& m, const Frame& f) {
  return f.op.valid() && (m[f.op].kind == OpKind::for_ || m[f.op].kind == OpKind::while_);
}
Step exec_break(Cta& cta, size_t index, bool leaves) {
  Group& g = cta.groups[index];
  while (!g.frames.empty() && !is_loop(cta.p.m, g.frames.back())) g.frames.pop_back();
  if (g.frames.empty()) return Step::go_on;
  Frame& loop = g.frames.back();
  if (leaves) g.frames.pop_back();
  else loop.next = cta.p.m[loop.block].ops.size();
  return Step::go_on;
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
  int64_t lo = section_lo(g), top = section_top(cta, g);
  std::vector<Group*> here;
  int64_t count = 0;
  g.blocked = Blocked::rendezvous;
  g.blocked_on = id;
  for (Group& other : cta.groups)
    if (other.blocked == Blocked::rendezvous && other.blocked_on == id && !other.released && section_lo(other) == lo) {
      here.push_back(&other);
      count += static_cast<int64_t>(other.threads.size());
    }
  if (count < top - lo) return Step::blocked;
  exec_tile(cta, g, id, 0);
  for (Group* other : here) other->released = true;
  g.released = false;
  g.blocked = Blocked::no;
  ++g.frames.back().next;
  return Step::go_on;
}

// Every thread of the CTA, or of all CTAs of the cluster (a grid that synchronises runs as one).
Step exec_rendezvous(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  std::string_view name = text_attr(op, "name", "");
  bool wide = name == "cluster_sync" || name == "sync_grid";
  Group& g = cta.groups[index];
  g.blocked = Blocked::rendezvous;
  g.blocked_on = id;
  std::vector<Cta*> ctas = wide ? cta.cluster : std::vector<Cta*>{&cta};
  std::vector<Group*> here;
  int64_t count = 0, wanted = 0;
  for (Cta* c : ctas) {
    wanted += c->thread_count;
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

Step exec_sync(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  const Op& op = cta.p.m[id];
  int64_t barrier = int_attr(op, "id", 0), expected = int_attr(op, "threads", cta.thread_count);
  NamedBarrier& b = cta.named[barrier];
  b.arrived += static_cast<int64_t>(g.threads.size());
  if (b.arrived > expected)
    stop(op, std::to_string(b.arrived) + " threads at barrier " + std::to_string(barrier) + ", which waits for " +
                 std::to_string(expected));
  if (b.arrived < expected) {
    g.blocked = Blocked::named;
    g.blocked_on = id;
    g.index = barrier;
    return Step::blocked;
  }
  b.arrived = 0;
  for (Group& other : cta.groups)
    if (other.blocked == Blocked::named && other.index == barrier) other.released = true;
  ++g.frames.back().next;
  return Step::go_on;
}

Step exec_op(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  count_step(cta, op);
  if (op.kind == OpKind::ws) return exec_ws(cta, index, id);
  auto framed = [&](bool escape_counts) {
    return std::any_of(op.blocks.begin(), op.blocks.end(),
                       [&](BlockId b) { return cta.p.blocking[b.index] || (escape_counts && cta.p.escapes[b.index]); });
  };
  if (op.kind == OpKind::for_ && framed(false)) return exec_for(cta, index, id);
  if (op.kind == OpKind::while_ && framed(false)) return exec_while(cta, index, id);
  if (op.kind == OpKind::condition) return exec_condition(cta, index, op);
  if (op.kind == OpKind::if_ && framed(true)) return exec_if(cta, index, id);
  if (op.kind == OpKind::break_ || op.kind == OpKind::continue_)
    return exec_break(cta, index, op.kind == OpKind::break_);
  if (op.kind == OpKind::mbarrier_wait) return exec_wait(cta, index, id);
  if (op.kind == OpKind::sync_threads) return exec_sync(cta, index, id);
  if (is_exchange(op)) return exec_exchange(cta, index, id);
  if (is_rendezvous(op)) return exec_rendezvous(cta, index, id);
  if (is_collective(cta.p.m, op)) return exec_collective(cta, index, id);
  Group& g = cta.groups[index];
  Mask all(g.lanes, 1);
  if (!exec_plain_op(cta, g, id, all))
    stop_unsupported(op, "'" + std::string(row_of(op).name) + "' in the tile interpreter");
  ++g.frames.back().next;
  return Step::go_on;
}

// Leaves finished blocks; false when the group is done.
bool settle_frames(const Cta& cta, Group& g) {
  while (!g.frames.empty()) {
    Frame& f = g.frames.back();
    if (f.next < cta.p.m[f.block].ops.size()) return true;
    bool loop = f.op.valid() && cta.p.m[f.op].kind == OpKind::for_;
    bool repeats = f.op.valid() && cta.p.m[f.op].kind == OpKind::while_;
    if (loop && ++f.i < f.hi) {
      begin_iteration(cta, g, f);
    } else if (repeats) {  // the body's end: the condition again
      f.block = cta.p.m[f.op].blocks[0];
      f.next = 0;
    } else {
      g.frames.pop_back();
    }
  }
  g.done = true;
  return false;
}

// True if the group moved.
bool run_group(Cta& cta, size_t index) {
  bool moved = false;
  if (cta.groups[index].released) {
    Group& g = cta.groups[index];
    g.released = false;
    g.blocked = Blocked::no;
    ++g.frames.back().next;
    moved = true;
  }
  // A rendezvous or named barrier is left only by being released; a wait looks again.
  Blocked why = cta.groups[index].blocked;
  if (why == Blocked::rendezvous || why == Blocked::named) return moved;
  if (why == Blocked::warp && !cta.groups[index].alone) return moved;
  cta.groups[index].blocked = Blocked::no;
  while (settle_frames(cta, cta.groups[index])) {
    const Frame& f = cta.groups[index].frames.back();
    Step step = exec_op(cta, index, cta.p.m[f.block].ops[f.next]);
    if (step == Step::blocked) return moved;
    moved = true;
  }
  return true;
}

std::string threads_text(const Group& g) {
  if (g.threads.size() == 1) return "thread " + std::to_string(g.threads[0]);
  return "threads " + std::to_string(g.threads.front()) + ".." + std::to_string(g.threads.back());
}

// Of all CTAs that run together, the first that cannot go on is reported.
[[noreturn]] void deadlock(Cta& cta) {
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
      what = g.blocked == Blocked::named ? " wait at barrier " + std::to_string(g.index)
                                         : " wait for the other threads of the section";
    }
    // The first blocked mbarrier wait is the place of the report.
    if (!d.where.valid() && (g.blocked == Blocked::mbarrier || &g == &cta.groups.back())) d.where = place(op);
    d.notes.push_back({place(op), threads_text(g) + what});
  }
  throw Stop{d};
}

void allocate(Cta& cta, BlockId body) {
  const Module& m = cta.p.m;
  walk(m, body, [&](OpId id) {
    const Op& op = m[id];
    if (op.kind != OpKind::alloc) return;
    const Type& type = m[op.results[0]].type;
    std::vector<int64_t> shape;
    for (const MetaInt& e : type.shape) {
      if (e.dynamic()) stop_unsupported(op, "an allocation whose size is known at run time only");
      shape.push_back(e.value);
    }
    uint32_t at = cta.p.slot_of[op.results[0].index];
    if (type.space == Space::barrier) {
      const AttrValue* a = find_attr(op.attrs, "counts");
      const auto* counts = a ? std::get_if<std::vector<MetaInt>>(a) : nullptr;
      if (!counts || static_cast<int64_t>(counts->size()) != element_count(type))
        stop(op, "an array of mbarriers needs as many counts");
      for (const MetaInt& c : *counts) cta.barriers[at].push_back({.count = c.value, .pending = c.value});
      return;
    }
    if (type.space == Space::local || type.space == Space::global) return;
    cta.memory[at] = make_memory(type, shape, true);
  });
}
}  // namespace

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

void run_ctas(std::vector<std::unique_ptr<Cta>>& ctas, BlockId body, const std::vector<Slot>& env,
              const std::vector<std::vector<std::pair<ValueId, int64_t>>>& block_index) {
  for (size_t n = 0; n < ctas.size(); ++n) {
    Cta& cta = *ctas[n];
    allocate(cta, body);
    Group& all = cta.groups.emplace_back();
    for (int32_t t = 0; t < cta.thread_count; ++t) all.threads.push_back(t);
    all.lanes = all.threads.size();
    all.env = env;
    cta.name = "CTA";
    for (auto [v, i] : block_index[n]) {
      slot(cta.p, all, v) = {of(i), {}};
      cta.name += " " + std::to_string(i);
    }
    all.frames.push_back({.block = body, .op = {}});
  }
  while (true) {
    bool moved = false;
    Cta* open = nullptr;
    for (auto& cta : ctas)
      for (size_t i = 0; i < cta->groups.size(); ++i) {
        if (cta->groups[i].done) continue;
        moved |= run_group(*cta, i);
        if (!cta->groups[i].done && !open) open = cta.get();
      }
    if (!open) {
      bool done = true;  // a group that split off may have come after its turn
      for (auto& cta : ctas)
        done &= std::all_of(cta->groups.begin(), cta->groups.end(), [](const Group& g) { return g.done; });
      if (done) return;
    }
    if (moved || !open) continue;
    bool alone = false;
    for (auto& cta : ctas)
      for (Group& g : cta->groups)
        if (!g.done && g.blocked == Blocked::warp && !g.alone) g.alone = alone = true;
    if (!alone) deadlock(*open);
  }
}

}  // namespace tc::ir::interp
