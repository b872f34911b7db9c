// Control of the tile interpreter where threads can block: groups with explicit frames, run round robin until each is
// done or blocked. A group splits where its threads go different ways (a section's border, a condition, a loop bound, a
// barrier index) and runs on as two. Control flow in which nothing can block is left to lanes.cc.
#include <algorithm>

#include "compiler/interp/control.h"

namespace tc::ir::interp {

void count_step(Cta& cta, const Op& op) {
  if (++cta.steps > cta.p.max_steps)
    stop(op, "more than " + std::to_string(cta.p.max_steps) + " operations in one CTA");
}

namespace {

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
  for (int64_t t = lo; t < hi; ++t) g.frames.back().threads += in_section(op, lo, hi, static_cast<int32_t>(t));
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
  if (op.kind == OpKind::thread_return) return exec_thread_return(cta, index);
  if (auto step = exec_blocking(cta, index, id)) return *step;
  Group& g = cta.groups[index];
  Mask all(g.lanes, 1);
  if (!exec_plain_op(cta, g, id, all)) refuse(op);
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

void allocate(Cta& cta, BlockId body) {
  const Module& m = cta.p.m;
  walk(m, body, [&](OpId id) {
    const Op& op = m[id];
    if (op.kind != OpKind::alloc) return;
    const Type& type = m[op.results[0]].type;
    std::vector<int64_t> shape = shape_at_launch(m, cta.p.f, type, cta.p.symbols);
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
    check_size(op, type, shape, 1);
    cta.memory[at] = make_memory(type, shape, true);
    cta.memory[at].root = at;
  });
}
}  // namespace

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
