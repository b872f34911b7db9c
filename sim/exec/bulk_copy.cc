// cp.async.bulk, one-dimensional: global to shared (completes on an mbarrier) and shared to global (bulk groups), and
// the groups themselves. PTX ISA 9.7.9.25.4-6. A size that is no multiple of 16 copies and signals the multiple below
// it (TX-10, H200); size 0 does nothing.
#include <cstring>

#include "sim/exec/bulk.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t kPieces = 2;

struct BulkLoad : LoadOp {
  uint32_t to = 0, bytes = 0, done = 0;
  uint64_t from = 0;
  bool step(Cta& c) override {
    const uint32_t half = (bytes / kPieces + 15) / 16 * 16, n = std::min(half ? half : 16, bytes - done);
    const uint8_t* p = c.global.find(from + done, n);
    if (p) std::memcpy(c.shared.data() + to + done, p, n);
    done += n;
    return !landed(c, n) || done == bytes;
  }
  std::string describe(const Cta& c) const override {
    return "bulk copy of " + std::to_string(bytes) + " bytes to " + c.shared_text(to);
  }
};

struct BulkStore : StoreOp {
  uint32_t from = 0, bytes = 0;
  uint64_t to = 0;
  bool step(Cta& c) override {
    if (!reads_done) {
      data.assign(c.shared.begin() + from, c.shared.begin() + from + bytes);
      reads_done = true;
      return false;
    }
    if (uint8_t* p = c.global.find(to, bytes)) std::memcpy(p, data.data(), bytes);
    return true;
  }
  std::string describe(const Cta& c) const override {
    return "bulk copy of " + std::to_string(bytes) + " bytes from " + c.shared_text(from);
  }
};

struct Ends {
  uint64_t shared, global;
};
// lists[imm ...]: first operand, second operand, mbarrier.
uint64_t list_address(Warp& w, const Insn& i, uint32_t which, uint32_t lane) {
  return stored_address(w, w.cta->program.lists.data() + i.imm + 3 * which, lane);
}

// Checks the ends of a copy; false after a trap. `bytes` becomes a multiple of 16.
bool check_ends(Warp& w, const Insn& i, uint32_t lane, Ends ends, uint32_t& bytes, uint32_t& shared) {
  Cta& c = *w.cta;
  if (bytes % 16) {
    c.finding(c.violation("TX-10", i.place, "the size of " + std::to_string(bytes) + " bytes is no multiple of 16"));
    bytes -= bytes % 16;
  }
  if (!shared_address(w, i, ends.shared, std::max(bytes, 1u), kTmaBulkSmemAlign, shared)) return false;
  if (ends.global % kTmaGlobalAlign)
    return c.fault("TMA-01", i.place, "the global address is no multiple of 16"), false;
  if (bytes == 0) return true;
  uint64_t global = ends.global;
  if (resolve(global) != Space::global) return c.fault("TMA-01", i.place, "a global address is expected"), false;
  if (c.global.find(global, bytes)) return true;
  Insn quiet = i;
  host_memory(w, quiet, lane, Space::global, global, bytes, false);
  return false;
}

Step bulk_load(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<BulkLoad>();
    op->bytes = w.reg<uint32_t>(i.src[1])[l];
    op->from = list_address(w, i, 1, l);
    if (!check_ends(w, i, l, {list_address(w, i, 0, l), op->from}, op->bytes, op->to)) return Step::trap;
    if (!load_barrier(w, i, list_address(w, i, 2, l), *op)) return Step::trap;
    if (op->bytes == 0) continue;
    note_copy(w, c, *c.mbarrier_at(op->barrier), op->barrier, i.place);
    note_load_write(w, l, *op, op->to, op->bytes);
    note_load_read(w, l, *op, op->from, op->bytes);
    c.issue(std::move(op), kLoadLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

Step bulk_store(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<BulkStore>();
    op->bytes = w.reg<uint32_t>(i.src[1])[l];
    op->to = list_address(w, i, 0, l);
    if (!check_ends(w, i, l, {list_address(w, i, 1, l), op->to}, op->bytes, op->from)) return Step::trap;
    enter_group(w, l, i, *op);
    if (op->bytes == 0) continue;
    note_store_read(w, l, *op, op->from, op->bytes);
    note_store_write(w, l, *op, op->to, op->bytes, Access::write);
    c.issue(std::move(op), kStoreLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

BulkGroups& groups_of(Cta& c, uint32_t thread) {
  auto [it, fresh] = c.bulk_groups.try_emplace(thread);
  if (fresh && c.race) it->second.slot = c.race->new_slot(), it->second.writes = c.race->new_slot();
  return it->second;
}

Step commit(Warp& w, const Insn&) {
  for_lanes(w.mask, [&](uint32_t l) { ++groups_of(*w.cta, 32 * w.index + l).open; });
  return Step::next;
}

// imm: newest groups that may stay outstanding; a: only their reads are waited for.
Step wait_group(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (const auto& op : c.async.ops) {
    if (!op->group || op->cta != &c || op->thread / 32 != w.index || !(w.mask >> op->thread % 32 & 1) ||
        (i.a && op->reads_done))
      continue;
    if (op->group + i.imm >= groups_of(c, op->thread).open) continue;
    w.path->wait = Wait{};
    w.path->wait.kind = Wait::Kind::bulk;
    w.path->wait.again = true;
    w.path->wait.number = i.imm, w.path->wait.flag = i.a;
    return Step::blocked;
  }
  if (c.race)
    for (uint32_t m = w.mask; m; m &= m - 1) {
      const uint32_t l = lowest_lane(m);
      const auto it = c.bulk_groups.find(32 * w.index + l);
      if (it == c.bulk_groups.end() || it->second.open <= i.imm + 1) continue;
      const auto through = static_cast<uint32_t>(it->second.open - 1 - i.imm);
      c.race->learn(w.agent, 1u << l, it->second.slot, through);
      if (!i.a) c.race->learn(w.agent, 1u << l, it->second.writes, through);
    }
  return Step::next;
}

}  // namespace

void append_address(std::vector<uint32_t>& list, const AddressOperand& a) {
  list.insert(list.end(), {a.base, a.wide ? 1u : 0u, static_cast<uint32_t>(a.displacement)});
}

uint64_t stored_address(Warp& w, const uint32_t* entry, uint32_t lane) {
  const auto displacement = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(entry[2])));
  if (entry[0] == kNone) return displacement;
  if (entry[1]) return w.reg<uint64_t>(entry[0])[lane] + displacement;
  return static_cast<uint32_t>(w.reg<uint32_t>(entry[0])[lane] + displacement);
}

bool LoadOp::landed(Cta& c, uint32_t bytes) {
  Mbarrier* b = c.mbarrier_at(barrier);
  if (!b) return c.fault("MBAR-03", place, "the mbarrier of this copy is gone: " + c.shared_text(barrier)), false;
  if (c.race && b->phase != phase)
    c.finding(c.violation("TX-02", place,
                          "bytes of this copy land in phase " + std::to_string(b->phase) + " of the mbarrier " +
                              c.shared_text(barrier) + ", it was issued in phase " + std::to_string(phase)));
  if (c.race) join(b->arriving, tickets);
  return c.settle_mbarrier(*b, barrier, complete_tx(*b, bytes), place);
}

bool load_barrier(Warp& w, const Insn& i, uint64_t address, LoadOp& op) {
  Cta& c = *w.cta;
  if (!shared_address(w, i, address, kMbarrierBytes, kMbarrierBytes, op.barrier)) return false;
  const Mbarrier* b = c.mbarrier_at(op.barrier);
  if (!b) return c.fault("MBAR-03", i.place, "there is no initialised mbarrier at " + c.shared_text(op.barrier)), false;
  op.phase = b->phase;
  op.place = i.place;
  if (c.race) c.race->pass_tickets(op.tickets, w.agent, lowest_lane(w.mask));
  return true;
}

void enter_group(Warp& w, uint32_t lane, const Insn& i, StoreOp& op) {
  op.thread = 32 * w.index + lane;
  op.place = i.place;
  BulkGroups& g = groups_of(*w.cta, op.thread);
  op.group = g.last = g.open;
  g.place = i.place;
}

void note_store_read(Warp& w, uint32_t lane, const StoreOp& op, uint32_t address, uint32_t bytes) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async(w.agent, lane, groups_of(c, op.thread).slot, static_cast<uint32_t>(op.group), c.flat(address), bytes,
                  Access::read, op.place);
}

void note_load_write(Warp& w, uint32_t lane, const LoadOp& op, uint32_t address, uint32_t bytes) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async(w.agent, lane, c.mbarrier_at(op.barrier)->slot, static_cast<uint32_t>(op.phase + 1), c.flat(address),
                  bytes, Access::write, op.place);
}

void note_load_read(Warp& w, uint32_t lane, const LoadOp& op, uint64_t address, uint64_t bytes) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async_global(w.agent, lane, c.mbarrier_at(op.barrier)->slot, static_cast<uint32_t>(op.phase + 1), address,
                         bytes, Access::read, op.place);
}

void note_store_write(Warp& w, uint32_t lane, const StoreOp& op, uint64_t address, uint64_t bytes, Access kind) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async_global(w.agent, lane, groups_of(c, op.thread).writes, static_cast<uint32_t>(op.group), address, bytes,
                         kind, op.place);
}

void build_bulk_copy(Builder& b) {
  const bool load = b.mods().take("mbarrier::complete_tx::bytes"), store = b.mods().take("bulk_group");
  const bool hint = b.mods().take("L2::cache_hint");
  const auto to = b.mods().take_any(), from = b.mods().take_any();
  const bool known = (load && to && to->starts_with("shared::") && from == "global") ||
                     (store && to == "global" && from == "shared::cta");
  if (load == store || !known) return b.unsupported_form(b.insn().opcode);
  const size_t count = load ? 4 : 3;
  b.expect_operands(count, count + (hint ? 1 : 0));
  if (const auto size = b.literal(b.operand(2)); size && *size % 16)
    return b.fail("the size must be a multiple of 16 [TX-10]");
  std::vector<uint32_t> list;
  append_address(list, b.address(b.operand(0)));
  append_address(list, b.address(b.operand(1)));
  if (load) append_address(list, b.address(b.operand(3)));
  const uint32_t size = b.source(2, Type::u32), at = b.list(list);
  Insn& i = b.emit(load ? bulk_load : bulk_store);
  i.src[1] = size, i.imm = at;
}

void build_bulk_group(Builder& b) {
  if (b.mnemonic().ends_with("commit_group")) return void(b.emit(commit));
  const bool read = b.mods().take("read");
  const auto n = b.literal(b.operand(0));
  if (!n) return b.fail("wait_group needs a constant [TMA-14]");
  Insn& i = b.emit(wait_group);
  i.imm = *n, i.a = read;
}

}  // namespace tc::sim
