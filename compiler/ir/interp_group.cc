// Control of the tile interpreter: groups of threads with explicit frames, run round robin until each is done or
// blocked. A group splits where its threads go different ways (a section's border, a condition, a loop bound, a barrier
// index) and runs on as two.
#include <algorithm>

#include "compiler/ir/interp_machine.h"

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
    for (Slot& s : to.env) {
      if (s.is_uniform()) continue;
      filter(s.lanes);
      if (std::all_of(s.lanes.begin(), s.lanes.end(), [&](Number n) { return n == s.lanes[0]; })) {
        s.uniform = s.lanes[0];
        s.lanes.clear();
      }
    }
    for (auto& [buffer, cells] : to.locals) filter(cells);
  };
  select(g, true);
  select(rest, false);
  cta.groups.push_back(std::move(rest));
}

// True if the values agree in all threads; else splits off those that differ from the first.
bool agree(Cta& cta, size_t index, const std::vector<ValueId>& values) {
  Group& g = cta.groups[index];
  std::vector<bool> keep(g.threads.size(), true);
  bool same = true;
  for (ValueId v : values) {
    const Slot& s = slot(cta.p, g, v);
    for (size_t i = 0; i < s.lanes.size(); ++i)
      if (s.lanes[i] != s.lanes[0]) same = keep[i] = false;
  }
  if (!same) split(cta, index, keep);
  return same;
}

int64_t value(const Cta& cta, const Group& g, ValueId v) { return static_cast<int64_t>(slot(cta.p, g, v).at(0)); }

void enter(Group& g, OpId id, BlockId block) { g.frames.push_back({.block = block, .op = id}); }

void begin_iteration(const Cta& cta, Group& g, Frame& f) {
  f.next = 0;
  slot(cta.p, g, cta.p.m[f.block].args[0]) = {static_cast<Number>(f.i), {}};
}

Step exec_ws(Cta& cta, size_t index, OpId id) {
  Group& g = cta.groups[index];
  const Op& op = cta.p.m[id];
  int64_t lo = int_attr(op, "lo", 0), hi = int_attr(op, "hi", cta.thread_count);
  std::vector<bool> inside;
  for (int32_t t : g.threads) inside.push_back(t >= lo && t < hi);
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

Step exec_break(Cta& cta, size_t index) {
  Group& g = cta.groups[index];
  while (!g.frames.empty()) {
    OpId of = g.frames.back().op;
    g.frames.pop_back();
    if (of.valid() && cta.p.m[of].kind == OpKind::for_) return Step::go_on;
  }
  return Step::go_on;
}

// ---- mbarriers
Mbarrier& mbarrier(Cta& cta, Group& g, const Op& op) {
  auto it = cta.barriers.find(op.operands[0].index);
  if (it == cta.barriers.end()) stop(op, "the mbarrier was not allocated");
  int64_t i = value(cta, g, op.operands[1]);
  if (i < 0 || i >= static_cast<int64_t>(it->second.size()))
    stop(op, "mbarrier " + std::to_string(i) + " of '" + cta.p.m[op.operands[0]].name + "', which has " +
                 std::to_string(it->second.size()));
  return it->second[static_cast<size_t>(i)];
}

void settle(Mbarrier& b) {
  if (b.pending > 0 || b.tx != 0) return;
  b.pending = b.count;
  ++b.phase;
}

Step exec_arrive(Cta& cta, size_t index, const Op& op) {
  if (!agree(cta, index, {op.operands[1]})) return Step::split;
  Group& g = cta.groups[index];
  Mbarrier& b = mbarrier(cta, g, op);
  for (size_t i = 0; i < g.threads.size(); ++i) {
    if (op.kind != OpKind::mbarrier_arrive) b.tx += int_attr(op, "bytes", 0);
    if (op.kind == OpKind::mbarrier_expect_tx) continue;
    if (b.pending == 0)
      stop(op, "an arrival at '" + cta.p.m[op.operands[0]].name + "' beyond its count of " + std::to_string(b.count));
    --b.pending;
    settle(b);
  }
  ++g.frames.back().next;
  return Step::go_on;
}

Step exec_wait(Cta& cta, size_t index, OpId id) {
  const Op& op = cta.p.m[id];
  if (!agree(cta, index, {op.operands[1], op.operands[2]})) return Step::split;
  Group& g = cta.groups[index];
  Mbarrier& b = mbarrier(cta, g, op);
  int64_t slot_index = value(cta, g, op.operands[1]);
  bool odd = (value(cta, g, op.operands[2]) & 1) != 0;
  auto next = g.next_phase.try_emplace({op.operands[0].index, slot_index}, odd ? -1 : 0).first;
  if (b.phase <= next->second) {
    g.blocked = Blocked::mbarrier;
    g.blocked_on = id;
    g.barrier = op.operands[0].index;
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
  exec_tile(cta, g, id);
  for (Group* other : here) other->released = true;
  g.released = false;
  g.blocked = Blocked::no;
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
  if (op.kind == OpKind::for_) return exec_for(cta, index, id);
  if (op.kind == OpKind::if_) return exec_if(cta, index, id);
  if (op.kind == OpKind::break_) return exec_break(cta, index);
  if (op.kind == OpKind::mbarrier_wait) return exec_wait(cta, index, id);
  if (info(op.kind).sync == Sync::arrive || info(op.kind).sync == Sync::expect ||
      info(op.kind).sync == Sync::arrive_expect)
    return exec_arrive(cta, index, op);
  if (op.kind == OpKind::sync_threads) return exec_sync(cta, index, id);
  if (is_collective(op.kind)) return exec_collective(cta, index, id);
  Group& g = cta.groups[index];
  // Asynchronous copies act when they are issued: nothing is left to commit or wait for.
  bool waits_for_copies = op.kind == OpKind::cp_async_commit || op.kind == OpKind::cp_async_wait;
  if (!waits_for_copies && !exec_scalar(cta, g, id))
    throw Stop{unsupported(place(op), "'" + std::string(info(op.kind).name) + "' in the tile interpreter")};
  ++g.frames.back().next;
  return Step::go_on;
}

// Leaves finished blocks; false when the group is done.
bool settle_frames(const Cta& cta, Group& g) {
  while (!g.frames.empty()) {
    Frame& f = g.frames.back();
    if (f.next < cta.p.m[f.block].ops.size()) return true;
    bool loop = f.op.valid() && cta.p.m[f.op].kind == OpKind::for_;
    if (loop && ++f.i < f.hi) begin_iteration(cta, g, f);
    else g.frames.pop_back();
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
  if (cta.groups[index].blocked == Blocked::rendezvous || cta.groups[index].blocked == Blocked::named) return moved;
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

[[noreturn]] void deadlock(Cta& cta, const std::string& which) {
  Diag d = input_error({}, "deadlock: no thread of " + which + " can go on");
  d.kind = DiagKind::violation;
  for (const Group& g : cta.groups) {
    if (g.done) continue;
    const Op& op = cta.p.m[g.blocked_on];
    std::string what;
    if (g.blocked == Blocked::mbarrier) {
      const Mbarrier& b = cta.barriers[g.barrier][static_cast<size_t>(g.index)];
      what = " wait for phase " + std::to_string(g.phase) + " of '" + cta.p.m[ValueId{g.barrier}].name + "[" +
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
    size_t count = static_cast<size_t>(element_count(type));
    if (type.space == Space::barrier) {
      const AttrValue* a = find_attr(op.attrs, "counts");
      const auto* counts = a ? std::get_if<std::vector<MetaInt>>(a) : nullptr;
      if (!counts || counts->size() != count) stop(op, "an array of mbarriers needs as many counts");
      auto& list = cta.barriers[op.results[0].index];
      for (const MetaInt& c : *counts) list.push_back({.count = c.value, .pending = c.value});
      return;
    }
    if (type.space == Space::local) return;
    Memory& mem = cta.memory[op.results[0].index];
    mem.dtype = type.dtype;
    mem.space = type.space;
    mem.own.assign(count, unwritten(type.dtype));
    mem.data = mem.own.data();
    mem.strides.assign(type.rank(), 1);
    for (const MetaInt& e : type.shape) mem.shape.push_back(e.value);
    for (size_t d = type.rank(); d-- > 1;) mem.strides[d - 1] = mem.strides[d] * mem.shape[d];
  });
}
}  // namespace

void run_cta(Cta& cta, BlockId body, const std::vector<Slot>& env,
             const std::vector<std::pair<ValueId, int64_t>>& block_index) {
  allocate(cta, body);
  Group& all = cta.groups.emplace_back();
  for (int32_t t = 0; t < cta.thread_count; ++t) all.threads.push_back(t);
  all.env = env;
  for (auto [v, i] : block_index) slot(cta.p, all, v) = {static_cast<Number>(i), {}};
  all.frames.push_back({.block = body, .op = {}});
  std::string which = "CTA";
  for (auto [v, i] : block_index) which += " " + std::to_string(i);
  while (true) {
    bool moved = false, open = false;
    for (size_t i = 0; i < cta.groups.size(); ++i) {
      if (cta.groups[i].done) continue;
      moved |= run_group(cta, i);
      open |= !cta.groups[i].done;
    }
    if (!open && std::all_of(cta.groups.begin(), cta.groups.end(), [](const Group& g) { return g.done; })) return;
    if (!moved) deadlock(cta, which);
  }
}

}  // namespace tc::ir::interp
