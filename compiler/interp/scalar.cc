// Values: pure ops over the lanes of a group; one computation where all operands are the same in all lanes.
#include <algorithm>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {

void stop(const Op& op, const std::string& message) {
  Diag d = input_error(place(op), message);
  d.kind = DiagKind::violation;
  d.notes = origin_notes(op);
  throw Stop{d};
}
void stop_unsupported(const Op& op, const std::string& message) {
  Diag d = unsupported(place(op), message);
  d.notes = origin_notes(op);
  throw Stop{d};
}

Slot& slot(const Program& p, Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }
const Slot& slot(const Program& p, const Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }
int64_t lane_int(const Program& p, const Group& g, ValueId v, size_t lane) { return slot(p, g, v).at(lane).i; }

int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v) {
  const Slot& s = slot(p, g, v);
  for (Number n : s.lanes)
    if (n.i != s.lanes[0].i) stop_unsupported(op, "a tile operation whose operand differs between threads");
  return s.is_uniform() ? s.uniform.i : s.lanes[0].i;
}

void set_lanes(Slot& s, std::vector<Number> lanes) {
  bool same = std::all_of(lanes.begin(), lanes.end(), [&](Number n) { return n.i == lanes[0].i; });
  s.width = 1;
  if (same) {
    s.uniform = lanes[0];
    s.lanes.clear();
  } else {
    s.lanes = std::move(lanes);
  }
}

namespace {

bool active(const Mask* mask, size_t lane) { return !mask || (*mask)[lane]; }

bool uniform_operands(const Program& p, const Group& g, const Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return slot(p, g, v).is_uniform(); });
}

Number constant_number(const Op& op, DType type) {
  const AttrValue* a = find_attr(op.attrs, "value");
  if (const auto* i = a ? std::get_if<MetaInt>(a) : nullptr)
    return is_float(type) ? of(round_to(type, static_cast<double>(i->value))) : of(wrap_to(type, i->value));
  if (const auto* d = a ? std::get_if<double>(a) : nullptr)
    return is_float(type) ? of(round_to(type, *d)) : of(wrap_to(type, static_cast<int64_t>(*d)));
  stop(op, "a constant without a value");
}

// f(lane) for one lane if all operands are uniform, else for each.
template <class F>
void for_lanes(const Program& p, Group& g, const Op& op, F&& f) {
  Slot& out = slot(p, g, op.results[0]);
  if (uniform_operands(p, g, op)) {
    out = {f(size_t{0}), {}};
    return;
  }
  std::vector<Number> lanes(g.lanes);
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = f(i);
  out.lanes = std::move(lanes);
}

bool exec_pure(const Program& p, Group& g, OpId id, const Mask* mask) {
  const Op& op = p.m[id];
  const Decoded& d = p.decoded[id.index];
  auto at = [&](size_t n) -> const Slot& { return slot(p, g, op.operands[n]); };
  if (op.kind == OpKind::constant) {
    Slot& out = slot(p, g, op.results[0]);
    out = {constant_number(op, d.result), {}};
    return true;
  }
  if (op.kind == OpKind::thread_index) {
    if (g.iterations) stop_unsupported(op, "the thread index inside a parallel loop");
    std::vector<Number> ids;
    for (int32_t t : g.threads) ids.push_back(of(int64_t{t}));
    set_lanes(slot(p, g, op.results[0]), std::move(ids));
    return true;
  }
  if (op.kind == OpKind::cast)
    return for_lanes(p, g, op, [&](size_t l) { return convert(d.operand, d.result, at(0).at(l)); }), true;
  if (op.kind == OpKind::select)
    return for_lanes(p, g, op, [&](size_t l) { return at(0).at(l).i ? at(1).at(l) : at(2).at(l); }), true;
  if (d.two) {
    bool divides = op.kind == OpKind::floordiv || op.kind == OpKind::floormod;
    if (divides && !is_float(d.operand))
      for (size_t l = 0; l < (at(1).is_uniform() ? 1 : g.lanes); ++l)
        if (at(1).at(l).i == 0 && active(mask, l)) stop(op, "division by zero");
    return for_lanes(p, g, op, [&](size_t l) { return d.two(d.operand, at(0).at(l), at(1).at(l)); }), true;
  }
  if (d.one) return for_lanes(p, g, op, [&](size_t l) { return d.one(d.operand, at(0).at(l)); }), true;
  if (d.pure) {
    const Pure& f = *d.pure;
    for_lanes(p, g, op, [&](size_t l) {
      return f.one   ? f.one(d.operand, at(0).at(l))
             : f.two ? f.two(d.operand, at(0).at(l), at(1).at(l))
                     : f.three(d.operand, at(0).at(l), at(1).at(l), at(2).at(l));
    });
    return true;
  }
  if (op.kind == OpKind::call && text_attr(op, "name", "") == "reinterpret")
    return for_lanes(p, g, op, [&](size_t l) { return reinterpret(d.operand, d.result, at(0).at(l)); }), true;
  return false;
}

}  // namespace

bool exec_scalar(Cta& cta, Group& g, OpId id, const Mask* mask) {
  const Op& op = cta.p.m[id];
  switch (op.kind) {
    case OpKind::load:
    case OpKind::store:
    case OpKind::alloc:
    case OpKind::view:
    case OpKind::pointer_view:
    case OpKind::atomic_element:
    case OpKind::atomic_load:
    case OpKind::atomic_store:
    case OpKind::reducer_update: return exec_memory(cta, g, id, mask);
    case OpKind::region: return true;  // read where it is used
    case OpKind::assume:
    case OpKind::layout:
    case OpKind::loop_layout:
    case OpKind::annotate:
    case OpKind::ws_schedule:
    case OpKind::condition:
    // Asynchronous operations act when they are issued: nothing is left to commit, to wait for or to order.
    case OpKind::cp_async_commit:
    case OpKind::cp_async_wait:
    case OpKind::wgmma_fence:
    case OpKind::wgmma_commit:
    case OpKind::wgmma_wait:
    case OpKind::fence_mbarrier_init:
    case OpKind::fence_proxy_async: return true;
    case OpKind::mbarrier_arrive:
    case OpKind::mbarrier_expect_tx:
    case OpKind::mbarrier_arrive_expect_tx:
      for (size_t i = 0; i < g.lanes; ++i)
        if (active(mask, i)) arrive(cta, g, op, i);
      return true;
    default:
      if (cta.p.decoded[id.index].vectors) {
        if (exec_vector(cta.p, g, id)) return true;
      } else if (op.results.size() == 1 && op.blocks.empty() && exec_pure(cta.p, g, id, mask)) {
        return true;
      }
      return op.kind == OpKind::call && exec_intrinsic(cta, g, op, mask);
  }
}

}  // namespace tc::ir::interp
