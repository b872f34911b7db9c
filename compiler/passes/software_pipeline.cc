// Pass software_pipeline, tile → tile. A loop `for k in T.Pipelined(n, num_stages=S)` whose copies fill shared buffers:
//     prologue     for s < S-1: if s < n: copies of iteration s into slot s;  commit
//     for k < n:   wait (at most S-2 groups pending)
//                  if k + S-1 < n: copies of iteration k+S-1 into slot (k+S-1) % S;  commit
//                  the rest of the body on slot k % S
// The buffers get a leading dimension of S slots. A group is committed in every step, empty or not, so that "all but
// the newest S-2" always names the group of step k. S = 3: at k = 4 the groups 0…5 are committed, group 4 is complete.
// Slot reuse is ordered by thread_sync: the copy of step k writes the slot that step k-1 has read.
// Loops that cannot be pipelined (S < 2, a copy that cp.async cannot do, sections inside) become plain serial loops,
// which mean the same; --explain-selection says why.
#include "compiler/passes/passes.h"
#include "compiler/rewrite/clone.h"
#include "compiler/target/select.h"

namespace tc::ir {
namespace {

struct Plan {
  int64_t stages = 0;
  std::vector<OpId> copies;      // the copies that run ahead
  std::vector<ValueId> buffers;  // the shared buffers they fill
  std::string obstacle;          // why not
};

bool touches(const Module& m, const Op& op, ValueId buffer) {
  for (ValueId v : op.operands)
    if (buffer_of(m, v) == buffer) return true;
  return false;
}

// Does `block` write `buffer` by anything but the copies of the plan?
bool written_otherwise(const Module& m, BlockId block, ValueId buffer, const std::vector<OpId>& copies) {
  bool found = false;
  walk(m, block, [&](OpId id) {
    const Op& op = m[id];
    if (std::find(copies.begin(), copies.end(), id) != copies.end()) return;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      char role = operand_role(op, i);
      found = found || ((role == 'w' || role == 'u') && buffer_of(m, op.operands[i]) == buffer);
    }
  });
  return found;
}

Plan plan_loop(const Module& m, const Func& f, OpId loop_id, const PassContext& cx) {
  const Op& loop = m[loop_id];
  Plan plan{.stages = int_attr(loop, "num_stages", 0)};
  if (plan.stages < 2) plan.obstacle = "num_stages is " + std::to_string(plan.stages);
  walk(m, loop.blocks[0], [&](OpId id) {
    if (m[id].kind == OpKind::ws) plan.obstacle = "it has sections of its own";
  });
  if (!plan.obstacle.empty()) return plan;
  for (OpId id : m[loop.blocks[0]].ops) {
    const Op& op = m[id];
    if (op.kind != OpKind::copy) continue;
    ValueId src = buffer_of(m, op.operands[0]), dst = buffer_of(m, op.operands[1]);
    if (m[src].type.space != Space::global || m[dst].type.space != Space::shared) continue;
    Op as_async = op;
    as_async.kind = OpKind::async_copy;
    CopyPlan copy = select_copy(m, as_async, cx.arch);
    if (!copy.possible) plan.obstacle = copy.chain.back();
    if (op.operands[1] != dst) plan.obstacle = "a copy fills only a part of its buffer";
    if (written_otherwise(m, f.body, src, {})) plan.obstacle = "the kernel writes the tensor that is loaded";
    plan.copies.push_back(id);
    plan.buffers.push_back(dst);
  }
  if (plan.copies.empty()) plan.obstacle = "no copy from global to shared memory at its top level";
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    ValueId b = plan.buffers[i];
    if (written_otherwise(m, f.body, b, plan.copies)) plan.obstacle = "a loaded buffer is written elsewhere, too";
    if (std::count(plan.buffers.begin(), plan.buffers.end(), b) > 1) plan.obstacle = "two copies fill one buffer";
    bool outside = false;
    auto count = [&](BlockId block) {
      int n = 0;
      walk(m, block, [&](OpId id) { n += touches(m, m[id], b); });
      return n;
    };
    outside = count(f.body) != count(loop.blocks[0]);
    if (outside) plan.obstacle = "a loaded buffer is used outside of the loop";
  }
  return plan;
}

// Writes the pipelined form of one loop.
class LoopWriter {
 public:
  LoopWriter(Cloner& c, const Plan& plan, OpId loop, BlockId at) : c_(c), plan_(plan), loop_(c.from[loop]), at_(at) {}

  void write() {
    ValueId lo = c_.value(loop_.operands[0]), hi = c_.value(loop_.operands[1]);
    BlockId prologue = open_loop(at_, constant(at_, 0), constant(at_, plan_.stages - 1), "unroll", "stage");
    ValueId stage = c_.to[prologue].args[0];
    guarded_copies(prologue, sum(prologue, lo, stage), hi, stage);
    BlockId main = open_loop(at_, lo, hi, "serial", c_.from[c_.from[loop_.blocks[0]].args[0]].name);
    ValueId k = c_.to[main].args[0];
    Builder b = builder(main);
    set_attr(c_.to[b.op(OpKind::cp_async_wait, {})].attrs, "pending", MetaInt(plan_.stages - 2));
    ValueId step = b.binary(OpKind::sub, k, lo);
    ValueId ahead = b.constant(MetaInt(plan_.stages - 1)), slots = b.constant(MetaInt(plan_.stages));
    ValueId slot = b.binary(OpKind::floormod, step, slots);
    ValueId next_slot = b.binary(OpKind::floormod, b.binary(OpKind::add, step, ahead), slots);
    guarded_copies(main, b.binary(OpKind::add, k, ahead), hi, next_slot);
    body(main, k, slot, false);
  }

 private:
  Cloner& c_;
  const Plan& plan_;
  const Op& loop_;
  BlockId at_;

  Builder builder(BlockId block) {
    Builder b(c_.to, block);
    b.loc = loop_.loc;
    return b;
  }
  ValueId constant(BlockId at, int64_t v) { return builder(at).constant(MetaInt(v)); }
  ValueId sum(BlockId at, ValueId a, ValueId b) { return builder(at).binary(OpKind::add, a, b); }
  BlockId open_loop(BlockId at, ValueId lo, ValueId hi, std::string_view kind, std::string name) {
    OpId id = builder(at).nest(OpKind::for_, {lo, hi}, {std::move(name)});
    set_attr(c_.to[id].attrs, "kind", std::string(kind));
    c_.to[id].text_loc = loop_.text_loc;
    return c_.to[id].blocks[0];
  }
  // if (iteration < hi) { the copies of that iteration }; commit
  void guarded_copies(BlockId at, ValueId iteration, ValueId hi, ValueId slot) {
    Builder b = builder(at);
    ValueId inside = b.binary(OpKind::lt, iteration, hi);
    OpId guard = b.nest(OpKind::if_, {inside}, {});
    BlockId otherwise = c_.to.new_block();
    c_.to[guard].blocks.push_back(otherwise);
    body(c_.to[guard].blocks[0], iteration, slot, true);
    b.op(OpKind::cp_async_commit, {});
  }
  // The body's copies (with the scalars they need), or everything else, for one iteration and slot.
  void body(BlockId at, ValueId iteration, ValueId slot, bool copies) {
    BlockId from = loop_.blocks[0];
    c_.values[c_.from[from].args[0]] = iteration;
    for (OpId id : c_.from[from].ops) {
      const Op& op = c_.from[id];
      bool is_copy = std::find(plan_.copies.begin(), plan_.copies.end(), id) != plan_.copies.end();
      bool scalar = !op.results.empty() && op.blocks.empty() && op.kind != OpKind::alloc && op.kind != OpKind::load;
      if (is_copy && copies) write_copy(op, at, slot);
      else if (op.kind == OpKind::region) write_region(op, at, slot);
      else if (scalar || (!copies && !is_copy)) write_other(id, at, slot);
    }
  }
  size_t ring_index(ValueId buffer) const {
    return static_cast<size_t>(std::find(plan_.buffers.begin(), plan_.buffers.end(), buffer) - plan_.buffers.begin());
  }
  ValueId slot_region(BlockId at, ValueId buffer, ValueId slot) {
    Builder b = builder(at);
    const Type& type = c_.from[buffer].type;
    std::vector<ValueId> offsets{slot}, extents{b.constant(MetaInt(1))};
    for (const MetaInt& e : type.shape) {
      offsets.push_back(b.constant(MetaInt(0)));
      extents.push_back(b.constant(e));
    }
    return b.region(c_.value(buffer), offsets, extents);
  }
  void write_copy(const Op& op, BlockId at, ValueId slot) {
    ValueId dst = slot_region(at, buffer_of(c_.from, op.operands[1]), slot);
    OpId id = c_.to.new_op(at, OpKind::async_copy, {c_.value(op.operands[0]), dst}, {}, op.loc);
    c_.to[id].text_loc = op.text_loc;
    c_.to[id].attrs = op.attrs;
  }
  // A region of a ring buffer becomes the same region of the slot.
  void write_region(const Op& op, BlockId at, ValueId slot) {
    ValueId buffer = op.operands[0];
    if (ring_index(buffer) == plan_.buffers.size()) {
      c_.copy_op(c_.from[op.results[0]].def, at);
      return;
    }
    Builder b = builder(at);
    size_t rank = c_.from[buffer].type.rank();
    std::vector<ValueId> offsets{slot}, extents{b.constant(MetaInt(1))};
    for (size_t d = 0; d < rank; ++d) offsets.push_back(c_.value(op.operands[1 + d]));
    for (size_t d = 0; d < rank; ++d) extents.push_back(c_.value(op.operands[1 + rank + d]));
    c_.values[op.results[0]] = b.region(c_.value(buffer), offsets, extents);
  }
  // Whole-buffer operands of the rings become slots; loads get the slot as first index. Nested blocks follow.
  void write_other(OpId id, BlockId at, ValueId slot) {
    const Op& op = c_.from[id];
    bool uses_ring = false;
    walk_uses(id, [&](ValueId v) { uses_ring = uses_ring || ring_index(v) < plan_.buffers.size(); });
    if (!uses_ring) {
      c_.copy_op(id, at);
      return;
    }
    if (!op.blocks.empty()) {
      nested(op, at, slot);
      return;
    }
    std::vector<ValueId> operands;
    bool indexed = op.kind == OpKind::load || op.kind == OpKind::store;
    for (ValueId v : op.operands) {
      bool ring = ring_index(v) < plan_.buffers.size();
      operands.push_back(ring && !indexed ? slot_region(at, v, slot) : c_.value(v));
      if (ring && indexed) operands.push_back(slot);
    }
    std::vector<Type> types;
    for (ValueId v : op.results) types.push_back(c_.from[v].type);
    OpId copy = c_.to.new_op(at, op.kind, std::move(operands), std::move(types), op.loc);
    c_.to[copy].attrs = op.attrs;
    c_.to[copy].text_loc = op.text_loc;
    for (size_t i = 0; i < op.results.size(); ++i) c_.values[op.results[i]] = c_.to[copy].results[i];
  }
  void nested(const Op& op, BlockId at, ValueId slot) {
    std::vector<ValueId> operands;
    for (ValueId v : op.operands) operands.push_back(c_.value(v));
    OpId copy = c_.to.new_op(at, op.kind, std::move(operands), {}, op.loc);
    c_.to[copy].attrs = op.attrs;
    c_.to[copy].text_loc = op.text_loc;
    for (BlockId from : op.blocks) {
      BlockId inner = c_.to.new_block();
      c_.to[copy].blocks.push_back(inner);
      for (ValueId v : c_.from[from].args) {
        ValueId a = c_.to.new_value(c_.from[v].type, c_.from[v].name);
        c_.values[v] = a;
        c_.to[inner].args.push_back(a);
      }
      for (OpId id : c_.from[from].ops) {
        if (c_.from[id].kind == OpKind::region) write_region(c_.from[id], inner, slot);
        else write_other(id, inner, slot);
      }
    }
  }
  template <class Visit>
  void walk_uses(OpId id, Visit&& visit) {
    for (ValueId v : c_.from[id].operands) visit(v);
    for (BlockId b : c_.from[id].blocks)
      walk(c_.from, b, [&](OpId inner) {
        for (ValueId v : c_.from[inner].operands) visit(v);
      });
  }
};

}  // namespace

Status software_pipeline(Module& m, const PassContext& cx) {
  std::unordered_map<OpId, Plan> plans;
  std::unordered_map<ValueId, int64_t> rings;
  for (const Func& f : m.funcs)
    walk(m, f.body, [&](OpId id) {
      if (m[id].kind != OpKind::for_ || text_attr(m[id], "kind", "serial") != "pipelined") return;
      Plan plan = plan_loop(m, f, id, cx);
      if (cx.explain)
        cx.explain->push_back(
            place_text(m[id].loc) + ": pipelined loop: " +
            (plan.obstacle.empty() ? std::to_string(plan.stages) + " stages of cp.async" : "serial, " + plan.obstacle));
      if (plan.obstacle.empty())
        for (ValueId b : plan.buffers) rings[b] = plan.stages;
      plans.emplace(id, std::move(plan));
    });
  if (plans.empty()) return {};
  Module to = empty_like(m);
  Cloner cloner(m, to, [&](Cloner& c, OpId id, BlockId at) {
    const Op& op = c.from[id];
    if (op.kind == OpKind::alloc && rings.contains(op.results[0])) {
      OpId copy = c.copy_op(id, at);
      Type& type = c.to[c.to[copy].results[0]].type;
      type.shape.insert(type.shape.begin(), MetaInt(rings[op.results[0]]));
      return true;
    }
    auto plan = plans.find(id);
    if (plan == plans.end()) return false;
    if (plan->second.obstacle.empty()) LoopWriter(c, plan->second, id, at).write();
    else set_attr(c.to[c.copy_op(id, at)].attrs, "kind", std::string("serial"));
    return true;
  });
  cloner.clone_functions();
  m = std::move(to);
  return {};
}

}  // namespace tc::ir
