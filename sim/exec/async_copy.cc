// cp.async: copies of 4, 8 or 16 bytes from global to shared memory, commit groups of each thread, arrival on an
// mbarrier. PTX ISA 9.7.9.25.3, 9.7.13.15.15. The copies of one warp complete in order of issue, at the latest when a
// lane waits for their group; source and destination are accessed when they complete. Bytes beyond src-size are zero.
#include <cstring>

#include "sim/exec/access.h"

namespace tc::sim {
namespace {

using ptx::Type;

constexpr uint64_t kLatency = 200;  // under rr, in warp instructions

struct Copy : CpAsyncOp {
  uint32_t bytes = 0;
  std::array<uint32_t, 32> to{}, from_bytes{};
  std::array<uint64_t, 32> from{};
  Warp* warp = nullptr;
  const Insn* insn = nullptr;

  bool step(Cta& c) override {
    for (uint32_t m = lanes; m; m &= m - 1) {
      const uint32_t l = lowest_lane(m);
      uint8_t buffer[kCpAsyncMaxBytes] = {};
      const uint8_t* p = from_bytes[l] ? c.global.find(from[l], from_bytes[l]) : nullptr;
      if (p) std::memcpy(buffer, p, from_bytes[l]);
      std::memcpy(c.shared.data() + to[l], buffer, bytes);
    }
    std::erase(warp->cp_queue, this);
    return true;
  }
  std::string describe(const Cta& c) const override { return "cp.async to " + c.shared_text(to[lowest_lane(lanes)]); }
};

struct Arrival : CpAsyncOp {
  std::array<uint32_t, 32> at{};
  Warp* warp = nullptr;
  Clock tickets;  // of who issued it

  bool step(Cta& c) override {
    std::erase(warp->cp_queue, this);
    for (uint32_t m = lanes; m; m &= m - 1) {
      const uint32_t l = lowest_lane(m);
      Mbarrier* b = c.mbarrier_at(at[l]);
      if (!b) return c.fault("MBAR-03", place, "the mbarrier of this arrival is gone"), true;
      if (c.race) {
        c.race->complete_copies(b->arriving, warp->agent, l, groups[l]);
        join(b->arriving, tickets);
      }
      if (!c.settle_mbarrier(*b, at[l], arrive(*b, 1), place)) return true;
    }
    return true;
  }
  std::string describe(const Cta& c) const override {
    return "cp.async.mbarrier.arrive on " + c.shared_text(at[lowest_lane(lanes)]);
  }
};

template <class T>
void issue(Warp& w, const Insn& i, std::unique_ptr<T> op) {
  op->queue = kCpQueue + w.index;
  op->lanes = w.mask;
  op->warp = &w;
  op->place = i.place;
  for (uint32_t l = 0; l < 32; ++l) op->groups[l] = w.cp_group[l];
  w.cp_queue.push_back(op.get());
  w.cta->issue(std::move(op), kLatency);
}

uint64_t lane_value(Warp& w, uint32_t at, bool wide, uint32_t lane) {
  return wide ? w.reg<uint64_t>(at)[lane] : w.reg<uint32_t>(at)[lane];
}

// Insn: src[0]/imm destination; src[1] and lists[list] the source base and whether it is 64 bits wide (c); src[2]
// src-size; src[3] ignore-src predicate; bytes.
Step copy(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  auto op = std::make_unique<Copy>();
  op->bytes = i.bytes;
  op->insn = &i;
  uint32_t whole = 0;  // lanes that read all bytes
  const auto displacement = static_cast<uint64_t>(int64_t{static_cast<int32_t>(c.program.lists[i.list])});
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t to = (i.src[0] == kNone ? 0 : lane_value(w, i.src[0], i.b & kWideBase, l)) + i.imm;
    if (!shared_address(w, i, i.b & kWideBase ? to : static_cast<uint32_t>(to), i.bytes, i.bytes, op->to[l]))
      return Step::trap;
    uint32_t size = i.src[2] == kNone ? i.bytes : w.reg<uint32_t>(i.src[2])[l];
    if (i.src[3] != kNone && ((w.pred(i.src[3]) >> l & 1) != i.d)) size = 0;
    if (size > i.bytes)
      return c.fault("CPASYNC-03", i.place,
                     "src-size is " + std::to_string(size) + ", cp-size " + std::to_string(i.bytes));
    uint64_t from = lane_value(w, i.src[1], i.c, l) + displacement;
    if (size) {
      if (from % i.bytes)
        return c.fault("CPASYNC-02", i.place, "the source address is no multiple of " + std::to_string(i.bytes));
      if (!host_memory(w, i, l, ptx::Space::global, from, size, false)) return Step::trap;
    }
    op->from[l] = from, op->from_bytes[l] = size;
    if (size == i.bytes) whole |= 1u << l;
    if (c.race) c.race->cp_async(w.agent, l, c.flat(op->to[l]), i.bytes, w.cp_group[l], i.place);
  }
  if (c.race && whole) c.race->global(w.agent, whole, op->from.data(), i.bytes, Access::read, i.place);
  issue(w, i, std::move(op));
  return Step::next;
}

Step commit(Warp& w, const Insn&) {
  for_lanes(w.mask, [&](uint32_t l) { ++w.cp_group[l]; });
  return Step::next;
}

// imm: the number of newest groups that may stay outstanding. wait_all commits first.
Step wait(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  if (i.a && w.path->wait.kind == Wait::Kind::none) commit(w, i);
  auto outstanding = [&](const CpAsyncOp& op) {
    for (uint32_t m = w.mask & op.lanes; m; m &= m - 1)
      if (op.groups[lowest_lane(m)] + i.imm < w.cp_group[lowest_lane(m)]) return true;
    return false;
  };
  for (const AsyncOp* op : w.cp_queue)
    if (outstanding(*static_cast<const CpAsyncOp*>(op))) {
      w.path->wait = Wait{};
      w.path->wait.kind = Wait::Kind::cp_async;
      w.path->wait.again = true;
      w.path->wait.number = i.imm;
      return Step::blocked;
    }
  if (c.race)
    for_lanes(w.mask, [&](uint32_t l) {
      const uint64_t open = w.cp_group[l];
      if (open > i.imm + 1) c.race->cp_async_complete(w.agent, l, static_cast<uint32_t>(open - 1 - i.imm));
    });
  return Step::next;
}

// The arrival of each lane follows its copies. Without .noinc the pending count grows by one now.
Step arrive_after(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  auto op = std::make_unique<Arrival>();
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t at = (i.src[0] == kNone ? 0 : lane_value(w, i.src[0], i.b & kWideBase, l)) + i.imm;
    if (!shared_address(w, i, at, kMbarrierBytes, kMbarrierBytes, op->at[l])) return Step::trap;
    Mbarrier* b = c.mbarrier_at(op->at[l]);
    if (!b) return c.fault("MBAR-03", i.place, "there is no initialised mbarrier at " + c.shared_text(op->at[l]));
    if (!i.a) ++b->pending;
    note_arrival(w, c, *b, op->at[l], i.place);
  }
  if (c.race) c.race->pass_tickets(op->tickets, w.agent, lowest_lane(w.mask));
  issue(w, i, std::move(op));
  c.note_event(EventKind::arrive, w, i.place);
  return Step::next;
}

constexpr TargetNeed kNeed{80, TargetFeature::any};

// The fourth operand: src-size, or the predicate that ignores the source; the fifth: a cache policy.
void take_optional(Builder& b, uint64_t bytes, bool hint, uint32_t& size, uint32_t& ignore, bool& negated) {
  size_t count = b.operand_count();
  if (hint) b.source(--count, Type::b64);
  if (count < 4) return;
  const ptx::Operand& o = b.operand(3);
  if (b.register_type(o) == Type::pred) return void(ignore = b.predicate(o, negated));
  if (const auto literal = b.literal(o); literal && *literal > bytes)
    return b.refuse("CPASYNC-03", "src-size is " + std::to_string(*literal) + ", cp-size " + std::to_string(bytes));
  size = b.source(o, Type::u32);
}

void build_copy(Builder& b) {
  const bool only_16 = b.mnemonic() == "cp.async.cg";
  for (std::string_view m : {"shared", "shared::cta", "global", "L2::64B", "L2::128B", "L2::256B"}) b.mods().take(m);
  const bool hint = b.mods().take("L2::cache_hint");
  if (b.mods().left().starts_with(".L2::")) return b.refuse("CPASYNC-07", "L2 prefetch is of 64, 128 or 256 bytes");
  b.need_target(kNeed, "CPASYNC-01");
  b.expect_operands(hint ? 4 : 3, hint ? 5 : 4);
  if (b.failed()) return;
  const auto bytes = b.literal(b.operand(2));
  if (!bytes || (*bytes != 16 && (only_16 || (*bytes != 4 && *bytes != 8))))
    return b.refuse("CPASYNC-01", "cp-size must be 4, 8 or 16 (16 for .cg)");
  const AddressOperand to = b.address(b.operand(0)), from = b.address(b.operand(1));
  const uint32_t base = from.base == kNone ? b.constant(64, 0) : from.base;
  uint32_t size = kNone, ignore = kNone;
  bool negated = false;
  take_optional(b, *bytes, hint, size, ignore, negated);
  if (b.failed()) return;
  Insn& i = b.emit(copy);
  set_address(i, to);
  i.src[1] = base, i.src[2] = size, i.src[3] = ignore, i.d = negated;
  i.c = from.base == kNone || from.wide;
  i.bytes = static_cast<uint16_t>(*bytes);
  i.list = b.list({static_cast<uint32_t>(from.displacement)});
}

}  // namespace

void build_async_copy(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "cp.async.ca" || op == "cp.async.cg") return build_copy(b);
  b.need_target(kNeed, "CPASYNC-01");
  if (b.failed()) return;
  if (op == "cp.async.commit_group") return void(b.emit(commit));
  if (op == "cp.async.mbarrier.arrive") {
    const bool noinc = b.mods().take("noinc");
    for (std::string_view m : {"shared", "shared::cta", "b64"}) b.mods().take(m);
    b.expect_operands(1, 1);
    const AddressOperand a = b.address(b.operand(0));
    Insn& i = b.emit(arrive_after);
    set_address(i, a);
    i.a = noinc;
    return;
  }
  const bool all = op == "cp.async.wait_all";
  const auto n = all ? std::optional<uint64_t>(0) : b.literal(b.operand(0));
  if (!n) return b.refuse("CPASYNC-04", "wait_group needs a constant");
  Insn& i = b.emit(wait);
  i.imm = *n, i.a = all;
}

}  // namespace tc::sim
