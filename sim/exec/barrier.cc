// bar.warp.sync, named barriers (bar, barrier), fences, setmaxnreg.
// PTX ISA 9.7.13.1-4, 9.7.19.5. The simulator is sequentially consistent; fences are for the race checker.
#include "sim/exec/access.h"
#include "sim/exec/collective.h"
#include "sim/machine/named_barrier.h"
#include "specs/arch.h"
#include "specs/mbarrier.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr char kTogether[] = "WARP-01";

Step sync_lanes(Warp& w, const Insn& i) {
  const uint32_t members = members_of(w, i, i.src[0], kTogether);
  if ((members & w.live & ~w.mask) == 0) {
    if (w.cta->race) w.cta->race->sync_lanes(w.agent, w.mask);
    return Step::next;
  }
  w.path->wait = Wait{};
  w.path->wait.kind = Wait::Kind::sync_lanes;
  w.path->wait.lanes = members;
  w.path->wait.rule = kTogether;
  return Step::blocked;
}

Step wait_named(Warp& w, uint32_t id, uint64_t generation, bool again) {
  w.path->wait = Wait{};
  w.path->wait.kind = Wait::Kind::named_barrier;
  w.path->wait.id = id, w.path->wait.number = generation, w.path->wait.again = again;
  return Step::blocked;
}

// Insn: src[0] id, src[1] threads or kNone, a: waits, b: aligned.
Step named(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  const uint32_t lane = lowest_lane(w.mask), id = w.reg<uint32_t>(i.src[0])[lane];
  const uint32_t threads = i.src[1] == kNone ? 0 : w.reg<uint32_t>(i.src[1])[lane];
  if (id >= kNamedBarriers) return c.fault("BAR-01", i.place, "barrier " + std::to_string(id) + " does not exist");
  if (threads % 32)
    return c.fault("BAR-02", i.place, "a barrier count of " + std::to_string(threads) + " is no multiple of 32");
  if (i.b) check_converged(w, i, "BAR-05");
  const uint64_t generation = c.named[id].generation;
  c.note_event(EventKind::named_barrier, w, i.place);
  const bool done = arrive_named(w, id, threads, i.a, i.place);
  return done || !i.a ? Step::next : wait_named(w, id, generation, false);
}

enum class Reduction : uint8_t { popc, and_, or_ };
// bar.red: d, the barrier, a predicate of each thread. dst; src[2] the predicate; c the reduction; d negated.
Step reduce(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  const uint32_t lane = lowest_lane(w.mask), id = w.reg<uint32_t>(i.src[0])[lane];
  if (id >= kNamedBarriers) return c.fault("BAR-01", i.place, "barrier " + std::to_string(id) + " does not exist");
  NamedBarrier& b = c.named[id];
  const Reduction r = static_cast<Reduction>(i.c);
  if (w.path->wait.kind != Wait::Kind::named_barrier) {
    if (i.b) check_converged(w, i, "BAR-05");
    const uint32_t p = (i.d ? ~w.pred(i.src[2]) : w.pred(i.src[2])) & w.mask;
    const uint32_t threads = i.src[1] == kNone ? 0 : w.reg<uint32_t>(i.src[1])[lane];
    // For `and` the number of threads that say no is kept.
    b.reduced += static_cast<uint32_t>(std::popcount(r == Reduction::and_ ? w.mask & ~p : p));
    const uint64_t generation = b.generation;
    c.note_event(EventKind::named_barrier, w, i.place);
    if (!arrive_named(w, id, threads, true, i.place)) return wait_named(w, id, generation, true);
  }
  const uint32_t n = b.result;
  if (r == Reduction::popc) for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = n; });
  else w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | ((r == Reduction::and_ ? n == 0 : n != 0) ? w.mask : 0);
  return Step::next;
}

Step fence(Warp& w, const Insn& i) {
  if (w.cta->race) w.cta->race->fence(w.agent, w.mask, scope_of(i), i.place);
  return Step::next;
}

Step proxy_fence(Warp& w, const Insn&) {
  if (w.cta->race) w.cta->race->proxy_fence(w.agent, w.mask);
  return Step::next;
}

// All registers that setmaxnreg.dec gave back are one pool of the CTA (SETREG-05).
Step set_registers(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!require_converged(w, i, "SETREG-04", s)) return s;
  if (!c.program.known_registers) {  // ptxas leaves it out
    if (c.race)
      c.finding(c.violation("SETREG-02", i.place,
                            "this has no effect: the kernel has neither .maxnreg nor .maxntid with .minnctapersm"));
    return Step::next;
  }
  const RegisterRequest request{static_cast<uint32_t>(i.imm), i.place, i.a != 0};
  const int64_t change = (static_cast<int64_t>(i.imm) - w.registers) * 32;
  if (i.a ? change < 0 : change > 0) {
    // What the kernel starts with is ptxas's choice; the other direction is no change.
    if (i.a) return note_register_request(w, request), Step::next;
    return c.fault(
        "SETREG-03", i.place,
        "setmaxnreg.dec to " + std::to_string(i.imm) + " registers, the warp has " + std::to_string(w.registers));
  }
  if (change > c.free_registers) {
    w.path->wait = Wait{};
    w.path->wait.kind = Wait::Kind::registers;
    w.path->wait.again = true;
    w.path->wait.number = static_cast<uint64_t>(change);
    return Step::blocked;
  }
  note_register_request(w, request);
  c.free_registers -= change;
  w.registers = static_cast<uint32_t>(i.imm);
  ++c.progress;
  return Step::next;
}

}  // namespace

void build_barrier(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "bar.warp.sync") {
    const uint32_t members = b.source(0, Type::b32);
    b.emit(sync_lanes).src[0] = members;
    return;
  }
  const bool aligned = op.starts_with("bar.") || b.mods().take("aligned");
  const bool reduces = op.ends_with("red"), waits = !op.ends_with("arrive");
  uint8_t reduction = 0;
  uint32_t dst = kNone, p = kNone;
  bool negated = false, ignored = false;
  size_t at = 0;
  if (reduces) {
    const bool popc = b.mods().take("popc"), conjunction = b.mods().take("and");
    if (!popc && !conjunction && !b.mods().take("or")) return b.unsupported_form(b.insn().opcode);
    reduction = static_cast<uint8_t>(popc ? Reduction::popc : conjunction ? Reduction::and_ : Reduction::or_);
    b.mods().take_type();
    b.expect_operands(3, 4);
    dst = popc ? b.destination(0, Type::u32) : b.predicate(b.operand(0), ignored);
    p = b.predicate(b.operand(b.operand_count() - 1), negated);
    at = 1;
  } else {
    b.expect_operands(waits ? 1 : 2, 2);
  }
  const bool counted = b.operand_count() > at + (reduces ? 2u : 1u);
  if (const auto number = b.literal(b.operand(at)); number && *number >= kNamedBarriers)
    return b.refuse("BAR-01", "barriers have numbers from 0 to " + std::to_string(kNamedBarriers - 1));
  if (const auto count = counted ? b.literal(b.operand(at + 1)) : std::nullopt;
      count && (*count % kWarpLanes || (!waits && *count == 0)))
    return b.refuse(
        "BAR-02", "the threads of a barrier are a multiple of " + std::to_string(kWarpLanes) + ", of an arrival not 0");
  const uint32_t id = b.source(at, Type::u32);
  const uint32_t threads = counted ? b.source(at + 1, Type::u32) : kNone;
  Insn& i = b.emit(reduces ? reduce : named);
  i.dst = dst, i.src = {id, threads, p, kNone};
  i.a = waits, i.b = aligned, i.c = reduction, i.d = negated;
}

void build_fence(Builder& b) {
  if (b.mnemonic() == "membar") {
    if (b.mods().take("proxy")) return b.unsupported_form(b.insn().opcode);
    const Scope scope = take_scope(b);
    b.emit(fence).d = order_and_scope(Order::acq_rel, scope);
    return;
  }
  if (b.mods().take("proxy")) {
    if (b.mods().take("async")) {
      const bool other = b.mods().take("global");
      b.mods().take("shared::cta"), b.mods().take("shared::cluster");
      if (!other) b.emit(proxy_fence);
      return;
    }
    if (b.mods().take("alias")) return;
    return b.unsupported_form(b.insn().opcode);
  }
  for (std::string_view m : {"mbarrier_init", "sc", "acq_rel", "acquire", "release", "sync_restrict::shared::cta",
                             "sync_restrict::shared::cluster"})
    b.mods().take(m);
  const Scope scope = take_scope(b);
  b.emit(fence).d = order_and_scope(Order::acq_rel, scope);
}

void build_register_budget(Builder& b) {
  const bool increase = b.mods().take("inc");
  if (!increase && !b.mods().take("dec")) return b.unsupported_form(b.insn().opcode);
  for (std::string_view m : {"sync", "aligned", "u32"}) b.mods().take(m);
  const auto n = b.literal(b.operand(0));
  if (!n || *n < 24 || *n > 256 || *n % 8) return b.fail("setmaxnreg needs a multiple of 8 from 24 to 256 [SETREG-01]");
  Insn& i = b.emit(set_registers);
  i.imm = *n, i.a = increase;
}

}  // namespace tc::sim
