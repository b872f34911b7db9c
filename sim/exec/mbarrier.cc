// mbarrier operations. PTX ISA 9.7.13.15; the state machine is sim/machine/mbarrier.h. Lanes act in lane order.
// Barriers are accesses of 8 bytes for the race checker: init and inval write, the others are atomic, so a use that is
// not ordered after the init is found. Relaxed arrivals publish as releasing ones do (an approximation that hides
// races). State tokens: phase << 20 | pending count before the arrival.
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

void touch(Warp& w, const Insn& i, uint32_t lanes, uint32_t address, Access kind) {
  if (!w.cta->race) return;
  std::array<uint32_t, 32> at;
  at.fill(address);
  w.cta->race->shared(w.agent, lanes, at.data(), kMbarrierBytes, kind, i.place);
}

// The live barrier that a lane names; null after a trap.
Mbarrier* barrier_of(Warp& w, const Insn& i, uint32_t lane, uint32_t& address) {
  Cta& c = *w.cta;
  if (!shared_address(w, i, lane_address(w, i, lane), kMbarrierBytes, kMbarrierBytes, address)) return nullptr;
  Mbarrier* b = c.mbarrier_at(address);
  if (!b) c.fault("MBAR-03", i.place, "there is no initialised mbarrier at " + c.shared_text(address));
  return b;
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
    touch(w, i, 1u << l, address, Access::write);
    if (!c.settle_mbarrier(b, address, init(b, w.reg<uint32_t>(i.src[1])[l]), i.place)) return Step::trap;
    b.init_place = i.place;
  }
  return Step::next;
}

Step inval_barrier(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint32_t address = 0;
    Mbarrier* b = barrier_of(w, i, l, address);
    if (!b) return Step::trap;
    touch(w, i, 1u << l, address, Access::write);
    b->valid = false;
    ++w.cta->progress;
  }
  return Step::next;
}

enum ArriveFlag : uint8_t { kExpect = 1, kDrop = 2, kNoComplete = 4 };

// Insn: dst state or kNone; src[1] count or bytes; c = ArriveFlag.
Step arrive_barrier(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint32_t address = 0;
    Mbarrier* b = barrier_of(w, i, l, address);
    if (!b) return Step::trap;
    touch(w, i, 1u << l, address, Access::strong_write);
    const uint32_t operand = i.src[1] == kNone ? 1 : w.reg<uint32_t>(i.src[1])[l];
    const int64_t count = i.c & kExpect ? 1 : operand;
    if (i.dst != kNone) w.reg<uint64_t>(i.dst)[l] = b->phase << 20 | static_cast<uint64_t>(b->pending);
    if (c.race) c.race->snapshot_into(b->arriving, w.agent, 1u << l);
    if (i.c & kNoComplete && count >= b->pending)
      return c.fault("MBAR-12", i.place, "arrive.noComplete would complete the phase of " + c.shared_text(address));
    if (i.c & kExpect) {
      const MbarrierEvent e = add_tx(*b, operand);
      if (e.broken) return c.settle_mbarrier(*b, address, e, i.place), Step::trap;
    }
    const MbarrierEvent e = i.c & kDrop ? arrive_drop(*b, count) : arrive(*b, count);
    if (!c.settle_mbarrier(*b, address, e, i.place)) return Step::trap;
  }
  if (c.race) c.race->released(w.agent, i.place);
  c.note_event(EventKind::arrive, w, i.place);
  return Step::next;
}

// expect_tx and complete_tx (c: 1).
Step transaction(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint32_t address = 0;
    Mbarrier* b = barrier_of(w, i, l, address);
    if (!b) return Step::trap;
    touch(w, i, 1u << l, address, Access::strong_write);
    const int64_t bytes = w.reg<uint32_t>(i.src[1])[l];
    if (!c.settle_mbarrier(*b, address, expect_tx(*b, i.c ? -bytes : bytes), i.place)) return Step::trap;
  }
  c.note_event(EventKind::expect_tx, w, i.place);
  return Step::next;
}

enum WaitFlag : uint8_t { kParity = 1, kTry = 2 };

void write_result(Warp& w, const Insn& i, uint32_t passed) { w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | passed; }

// What a poll that fails does: answer false, or sleep until the phase changes.
Step poll_again(Warp& w, const Insn& i, uint32_t address, const Mbarrier& b, uint32_t parity) {
  Cta& c = *w.cta;
  Path& p = *w.path;
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

// Insn: dst predicate; src[1] state or parity; c = WaitFlag.
Step wait_barrier(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  uint32_t passed = 0, first_address = 0, first_parity = 0;
  const Mbarrier* first = nullptr;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint32_t address = 0;
    const Mbarrier* b = barrier_of(w, i, l, address);
    if (!b) return Step::trap;
    uint32_t parity = 0;
    if (i.c & kParity) {
      parity = w.reg<uint32_t>(i.src[1])[l];
      if (parity > 1 && c.race)
        c.finding(c.violation("MBAR-09", i.place, "the parity operand is " + std::to_string(parity)));
      parity &= 1;
    } else {
      parity = (w.reg<uint64_t>(i.src[1])[l] >> 20) & 1;
    }
    const bool done = i.c & kParity ? b->passes_parity(parity) : b->phase != w.reg<uint64_t>(i.src[1])[l] >> 20;
    if (done) passed |= 1u << l;
    if (!first) first = b, first_address = address, first_parity = parity;
  }
  if (passed == 0) return poll_again(w, i, first_address, *first, first_parity);
  w.path->timed_out = false;
  w.path->poll_pc = kNone;
  write_result(w, i, passed);
  for (uint32_t m = passed; m && c.race;) {  // lanes at one barrier share what they learn
    uint32_t address = 0;
    const Mbarrier* b = barrier_of(w, i, lowest_lane(m), address);
    uint32_t same = 0;
    for (uint32_t k = m; k; k &= k - 1)
      if (lane_address(w, i, lowest_lane(k)) == lane_address(w, i, lowest_lane(m))) same |= 1u << lowest_lane(k);
    touch(w, i, same, address, Access::strong_write);
    c.race->acquire(w.agent, same, b->done);
    m &= ~same;
  }
  c.note_event(EventKind::wait, w, i.place);
  return Step::next;
}

Step pending_count(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = w.reg<uint64_t>(i.src[0])[l] & 0xFFFFF; });
  return Step::next;
}

void take_semantics(Builder& b) {
  for (std::string_view m :
       {"release", "relaxed", "acquire", "cta", "cluster", "shared", "shared::cta", "shared::cluster", "b64"})
    b.mods().take(m);
}

Insn& emit_at(Builder& b, ExecFn exec, size_t address_operand) {
  const AddressOperand a = b.address(b.operand(address_operand));
  Insn& i = b.emit(exec);
  set_address(i, a);
  return i;
}

void build_arrive(Builder& b, bool drop) {
  uint8_t flags = drop ? kDrop : 0;
  if (b.mods().take("expect_tx")) flags |= kExpect;
  if (b.mods().take("noComplete")) flags |= kNoComplete;
  take_semantics(b);
  b.expect_operands(1, 3);
  const bool has_state = b.operand(0).kind != Operand::Kind::address;
  const size_t at = has_state ? 1 : 0;
  const uint32_t state = has_state && b.operand(0).kind != Operand::Kind::sink ? b.destination(0, Type::b64) : kNone;
  const uint32_t count = b.operand_count() > at + 1 ? b.source(at + 1, Type::u32) : kNone;
  if (flags & (kExpect | kNoComplete) && count == kNone) return b.fail("a count is missing in " + b.insn().opcode);
  Insn& i = emit_at(b, arrive_barrier, at);
  i.dst = state, i.src[1] = count, i.c = flags;
}

void build_wait(Builder& b, bool is_try) {
  const bool parity = b.mods().take("parity");
  take_semantics(b);
  b.expect_operands(3, is_try ? 4 : 3);
  bool ignored = false;
  const uint32_t p = b.predicate(b.operand(0), ignored), what = b.source(2, parity ? Type::u32 : Type::b64);
  if (const auto literal = b.literal(b.operand(2)); parity && literal && *literal > 1)
    return b.fail("the parity must be 0 or 1 [MBAR-09]");
  Insn& i = emit_at(b, wait_barrier, 1);
  i.dst = p, i.src[1] = what;
  i.c = static_cast<uint8_t>((parity ? kParity : 0) | (is_try ? kTry : 0));
}

}  // namespace

void build_mbarrier(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "mbarrier.arrive" || op == "mbarrier.arrive_drop") return build_arrive(b, op == "mbarrier.arrive_drop");
  if (op == "mbarrier.test_wait" || op == "mbarrier.try_wait") return build_wait(b, op == "mbarrier.try_wait");
  take_semantics(b);
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
    return;
  }
  b.expect_operands(2, 2);
  const uint32_t value = b.source(1, Type::u32);
  Insn& i = emit_at(b, op == "mbarrier.init" ? init_barrier : transaction, 0);
  i.src[1] = value, i.c = op == "mbarrier.complete_tx";
}

}  // namespace tc::sim
