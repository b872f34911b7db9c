// mbarrier operations. PTX ISA 9.7.13.15; the state machine is sim/machine/mbarrier.h. Lanes act in lane order.
// Barriers are accesses of 8 bytes for the race checker: init and inval write, the others are atomic, so a use that is
// not ordered after the init is found. A relaxed wait learns what an acquiring one does (an approximation that hides
// races), the scope of a wait is not looked at. Arrivals may name a barrier of another CTA of the cluster. State tokens: phase <<
// 20 | pending count before the arrival. An arrival of .cta scope (the default) at another CTA's barrier says no more than
// that what came before it is over (MBAR-13).
#include "sim/exec/access.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

uint64_t lane_address(Warp& w, const Insn& i, uint32_t lane) {
  if (i.src[0] == kNone) return i.imm;
  return i.b & kWideBase ? w.reg<uint64_t>(i.src[0])[lane] + i.imm
                         : static_cast<uint32_t>(w.reg<uint32_t>(i.src[0])[lane] + i.imm);
}

void touch(Warp& w, const Insn& i, uint32_t lanes, const Cta& owner, uint32_t address, Access kind) {
  if (!w.cta->race) return;
  if (&owner != w.cta) w.cta->race->remote(w.agent, lanes, owner.rank, i.place);
  std::array<uint32_t, 32> at;
  at.fill(owner.flat(address));
  w.cta->race->shared(w.agent, lanes, at.data(), kMbarrierBytes, kind, i.place);
}

// The live barrier that a lane names, with the CTA that has it; `barrier` null after a trap.
struct Found {
  Mbarrier* barrier = nullptr;
  Cta* owner = nullptr;
  uint32_t address = 0;
};
Found barrier_of(Warp& w, const Insn& i, uint32_t lane) {
  Found f;
  if (!cluster_address(w, i, lane_address(w, i, lane), kMbarrierBytes, kMbarrierBytes, f.owner, f.address)) return f;
  f.barrier = f.owner->mbarrier_at(f.address);
  if (!f.barrier)
    w.cta->fault("MBAR-03", i.place, "there is no initialised mbarrier at " + f.owner->shared_text(f.address));
  return f;
}
// The same, in the executing CTA: init, inval, waits.
Found own_barrier(Warp& w, const Insn& i, uint32_t lane) {
  Found f;
  if (!shared_address(w, i, lane_address(w, i, lane), kMbarrierBytes, kMbarrierBytes, f.address)) return f;
  f.owner = w.cta;
  f.barrier = w.cta->mbarrier_at(f.address);
  if (!f.barrier)
    w.cta->fault("MBAR-03", i.place, "there is no initialised mbarrier at " + w.cta->shared_text(f.address));
  return f;
}

Step init_barrier(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint32_t address = 0;
    if (!shared_address(w, i, lane_address(w, i, l), kMbarrierBytes, kMbarrierBytes, address)) return Step::trap;
    Mbarrier& b = c.make_mbarrier(address);
    if (b.valid && c.race)
      c.finding(c.violation("MBAR-03", i.place,
                            "the mbarrier at " + c.shared_text(address) + " is initialised again without inval"));
    touch(w, i, 1u << l, c, address, Access::write);
    if (!c.settle_mbarrier(b, address, init(b, w.reg<uint32_t>(i.src[1])[l]), i.place)) return Step::trap;
    b.init_place = i.place;
  }
  return Step::next;
}

Step inval_barrier(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Found f = own_barrier(w, i, l);
    if (!f.barrier) return Step::trap;
    touch(w, i, 1u << l, *f.owner, f.address, Access::retire);
    f.barrier->valid = false;
    ++w.cta->progress;
  }
  return Step::next;
}

enum ArriveFlag : uint8_t { kExpect = 1, kDrop = 2, kNoComplete = 4, kRelaxed = 8, kClusterScope = 16 };

// What this lane had done is published by its arrival; by a relaxed one what it had done before its last fence.
void publish(Warp& w, const Insn& i, uint32_t lane, const Found& f) {
  const Checker race = w.cta->race;
  note_arrival(w, *f.owner, *f.barrier, f.address, i.place);
  if (!race) return;
  race->pass_tickets(f.barrier->arriving, w.agent, lane);
  const bool in_scope = f.owner == w.cta || i.c & kClusterScope;
  if (!(i.c & kRelaxed) && in_scope) return race->snapshot_into(f.barrier->arriving, w.agent, 1u << lane);
  if (!in_scope) race->out_of_scope_into(f.barrier->arriving, w.agent, lane, i.place);
  race->passed_into(f.barrier->arriving, w.agent, 1u << lane);
  f.barrier->relaxed = true;
  race->strong(w.agent, lane, false, f.owner->flat(f.address), StrongOp::update, Order::relaxed);
}

// Insn: dst state or kNone; src[1] count or bytes; c = ArriveFlag.
Step arrive_barrier(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Found f = barrier_of(w, i, l);
    if (!f.barrier) return Step::trap;
    Mbarrier& b = *f.barrier;
    touch(w, i, 1u << l, *f.owner, f.address, Access::strong_write);
    const uint32_t operand = i.src[1] == kNone ? 1 : w.reg<uint32_t>(i.src[1])[l];
    const int64_t count = i.c & kExpect ? 1 : operand;
    if (i.dst != kNone) w.reg<uint64_t>(i.dst)[l] = b.phase << 20 | static_cast<uint64_t>(b.pending);
    publish(w, i, l, f);
    if (i.c & kNoComplete && count >= b.pending)
      return c.fault("MBAR-12", i.place,
                     "arrive.noComplete would complete the phase of " + f.owner->shared_text(f.address));
    if (i.c & kExpect) {
      const MbarrierEvent e = add_tx(b, operand);
      if (e.broken) return f.owner->settle_mbarrier(b, f.address, e, i.place), Step::trap;
    }
    const MbarrierEvent e = i.c & kDrop ? arrive_drop(b, count) : arrive(b, count);
    if (!f.owner->settle_mbarrier(b, f.address, e, i.place)) return Step::trap;
  }
  if (c.race) c.race->released(w.agent, i.place);
  c.note_event(EventKind::arrive, w, i.place);
  return Step::next;
}

// expect_tx and complete_tx (c: 1).
Step transaction(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Found f = barrier_of(w, i, l);
    if (!f.barrier) return Step::trap;
    touch(w, i, 1u << l, *f.owner, f.address, Access::strong_write);
    const int64_t bytes = w.reg<uint32_t>(i.src[1])[l];
    if (!i.c) note_expect(w, *f.barrier, i.place);
    if (!f.owner->settle_mbarrier(*f.barrier, f.address, expect_tx(*f.barrier, i.c ? -bytes : bytes), i.place))
      return Step::trap;
  }
  w.cta->note_event(EventKind::expect_tx, w, i.place);
  return Step::next;
}

enum WaitFlag : uint8_t { kParity = 1, kTry = 2 };

void write_result(Warp& w, const Insn& i, uint32_t passed) { w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | passed; }

// What a poll that fails does: answer false, or sleep until the phase changes.
Step poll_again(Warp& w, const Insn& i, uint32_t address, const Mbarrier& b, uint32_t parity) {
  Cta& c = *w.cta;
  Path& p = *w.path;
  ++w.polls.count;
  const bool repeated = p.poll_pc == p.pc && p.poll_progress == c.progress;
  const bool peek = !(i.c & kTry) || (c.launch.schedule != Schedule::rr && !c.steered && c.random.below(4) == 0);
  if (p.timed_out || (!repeated && peek)) {
    p.timed_out = false;
    p.poll_pc = p.pc, p.poll_progress = c.progress;
    write_result(w, i, 0);
    return Step::yield;
  }
  p.wait = Wait{};
  p.wait.kind = Wait::Kind::mbarrier;
  p.wait.again = true;
  p.wait.address = address, p.wait.number = b.phase, p.wait.parity = parity;
  return Step::blocked;
}

// What the lanes whose wait has passed learn; lanes at one barrier share it.
void learn(Warp& w, const Insn& i, uint32_t passed) {
  const Checker race = w.cta->race;
  while (race && passed) {
    const Found f = own_barrier(w, i, lowest_lane(passed));
    uint32_t same = 0;
    for (uint32_t k = passed; k; k &= k - 1)
      if (lane_address(w, i, lowest_lane(k)) == lane_address(w, i, lowest_lane(passed))) same |= 1u << lowest_lane(k);
    const uint32_t flat = f.owner->flat(f.address);
    touch(w, i, same, *f.owner, f.address, Access::strong_write);
    race->acquire(w.agent, same, f.barrier->done);
    note_wait(w, *f.barrier, static_cast<int64_t>(f.barrier->phase) - 1, i.place);
    for (uint32_t k = same; f.barrier->relaxed && k; k &= k - 1)
      race->strong(w.agent, lowest_lane(k), false, flat, StrongOp::load, Order::acquire);
    passed &= ~same;
  }
}

// Insn: dst predicate; src[1] state or parity; c = WaitFlag.
Step wait_barrier(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  uint32_t passed = 0, first_parity = 0;
  Found first;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Found f = own_barrier(w, i, l);
    if (!f.barrier) return Step::trap;
    uint32_t parity = 0;
    if (i.c & kParity) {
      parity = w.reg<uint32_t>(i.src[1])[l];
      if (parity > 1 && c.race)
        c.finding(c.violation("MBAR-09", i.place, "the parity operand is " + std::to_string(parity)));
      parity &= 1;
    } else {
      parity = (w.reg<uint64_t>(i.src[1])[l] >> 20) & 1;
    }
    const bool done =
        i.c & kParity ? f.barrier->passes_parity(parity) : f.barrier->phase != w.reg<uint64_t>(i.src[1])[l] >> 20;
    if (done) passed |= 1u << l;
    if (!first.barrier) first = f, first_parity = parity;
  }
  if (passed == 0) return poll_again(w, i, first.address, *first.barrier, first_parity);
  w.path->timed_out = false;
  w.path->poll_pc = kNone;
  write_result(w, i, passed);
  learn(w, i, passed);
  c.note_event(EventKind::wait, w, i.place);
  return Step::next;
}

Step pending_count(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = w.reg<uint64_t>(i.src[0])[l] & 0xFFFFF; });
  return Step::next;
}

// The words that all forms share. Refused: a scope or semantics that this operation lacks (MBAR-13), another CTA's
// barrier where it must be the own one (MBAR-10), what the target is too old for (MBAR-11).
struct Words {
  bool relaxed = false, scoped = false, cluster_scope = false, remote = false;
};
Words take_words(Builder& b, std::string_view strong, bool may_be_remote) {
  Words w;
  w.relaxed = b.mods().take("relaxed");
  const bool named = b.mods().take(strong);
  w.cluster_scope = b.mods().take("cluster");
  w.scoped = b.mods().take("cta") || w.cluster_scope;
  w.remote = b.mods().take("shared::cluster");
  if (!w.remote && !b.mods().take("shared::cta")) b.mods().take("shared");
  b.mods().take("b64");
  if (!b.mods().left().empty() || ((w.relaxed || named) && !w.scoped) || (w.relaxed && named))
    b.refuse("MBAR-13", "mbarrier has no such form: " + b.insn().opcode);
  if (w.remote && !may_be_remote) b.refuse("MBAR-10", b.mnemonic() + " is for barriers of the own CTA");
  const bool newer = w.relaxed || w.cluster_scope || w.remote;
  b.need_target({newer ? 90u : 80u, TargetFeature::any}, newer ? "MBAR-11" : "MBAR-01");
  return w;
}

Insn& emit_at(Builder& b, ExecFn exec, size_t address_operand, bool remote = false) {
  const AddressOperand a = b.address(b.operand(address_operand));
  Insn& i = b.emit(exec);
  set_address(i, a);
  if (remote) i.b |= kClusterSpace;
  return i;
}

void build_arrive(Builder& b, bool drop) {
  uint8_t flags = drop ? kDrop : 0;
  if (b.mods().take("expect_tx")) flags |= kExpect;
  if (b.mods().take("noComplete")) flags |= kNoComplete;
  const Words words = take_words(b, "release", true);
  if (words.relaxed) flags |= kRelaxed;
  if (words.cluster_scope) flags |= kClusterScope;
  b.expect_operands(1, 3);
  if (b.failed()) return;
  const bool has_state = b.operand(0).kind != Operand::Kind::address;
  const size_t at = has_state ? 1 : 0;
  const bool sink = has_state && b.operand(0).kind == Operand::Kind::sink;
  if (words.remote && has_state && !sink) return b.refuse("MBAR-10", "a remote arrival has no state: write _");
  const bool counted = b.operand_count() > at + 1;
  if (flags & (kExpect | kNoComplete) && !counted) return b.fail("a count is missing in " + b.insn().opcode);
  if (flags & kExpect || (counted && !(flags & kNoComplete))) b.need_target({90, TargetFeature::any}, "MBAR-11");
  const uint32_t state = has_state && !sink ? b.destination(0, Type::b64) : kNone;
  const uint32_t count = counted ? b.source(at + 1, Type::u32) : kNone;
  Insn& i = emit_at(b, arrive_barrier, at, words.remote);
  i.dst = state, i.src[1] = count, i.c = flags;
}

void build_wait(Builder& b, bool is_try) {
  const bool parity = b.mods().take("parity");
  take_words(b, "acquire", false);
  if (is_try) b.need_target({90, TargetFeature::any}, "MBAR-11");
  b.expect_operands(3, is_try ? 4 : 3);
  if (b.failed()) return;
  bool ignored = false;
  const uint32_t p = b.predicate(b.operand(0), ignored), what = b.source(2, parity ? Type::u32 : Type::b64);
  if (b.operand_count() == 4) b.source(3, Type::u32);  // the time hint
  if (const auto literal = b.literal(b.operand(2)); parity && literal && *literal > 1)
    return b.refuse("MBAR-09", "the parity must be 0 or 1");
  Insn& i = emit_at(b, wait_barrier, 1);
  i.dst = p, i.src[1] = what;
  i.c = static_cast<uint8_t>((parity ? kParity : 0) | (is_try ? kTry : 0));
}

}  // namespace

void build_mbarrier(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "mbarrier.arrive" || op == "mbarrier.arrive_drop") return build_arrive(b, op == "mbarrier.arrive_drop");
  if (op == "mbarrier.test_wait" || op == "mbarrier.try_wait") return build_wait(b, op == "mbarrier.try_wait");
  const bool transfers = op == "mbarrier.expect_tx" || op == "mbarrier.complete_tx";
  const Words words = take_words(b, "release", transfers);
  if (transfers) b.need_target({90, TargetFeature::any}, "MBAR-11");
  if (b.failed()) return;
  if (op == "mbarrier.pending_count") {
    b.expect_operands(2, 2);
    const uint32_t dst = b.destination(0, Type::u32), state = b.source(1, Type::b64);
    Insn& i = b.emit(pending_count);
    i.dst = dst, i.src[0] = state;
    return;
  }
  if (op == "mbarrier.inval") {
    b.expect_operands(1, 1);
    emit_at(b, inval_barrier, 0);
    b.program().retires_barriers = true;
    return;
  }
  b.expect_operands(2, 2);
  const uint32_t value = b.source(1, Type::u32);
  Insn& i = emit_at(b, op == "mbarrier.init" ? init_barrier : transaction, 0, words.remote);
  i.src[1] = value, i.c = op == "mbarrier.complete_tx";
}

}  // namespace tc::sim
