// Bulk groups, targets of loads. PTX ISA 9.7.9.25.6, 9.7.9.27; rules TMA-08, TMA-10, TMA-14, TX-02, TX-07, MBAR-16.
#include "sim/exec/bulk.h"

#include <algorithm>

#include "sim/check/attribution.h"
#include "sim/machine/cluster.h"

namespace tc::sim {
namespace {

BulkGroups& groups_of(Cta& c, uint32_t thread) {
  auto [it, fresh] = c.bulk_groups.try_emplace(thread);
  if (fresh && c.race) it->second.slot = c.race->new_slot(), it->second.writes = c.race->new_slot();
  return it->second;
}

void note_use(const Warp& w, const Insn& i, bool commits) {
  Cta& c = *w.cta;
  if (!c.race) return;
  auto at = std::ranges::find(c.bulk_uses, i.place, &BulkUse::place);
  if (at == c.bulk_uses.end())
    at = c.bulk_uses.insert(at, {i.place, commits, std::vector<uint32_t>(c.warps.size())});
  at->lanes[w.index] |= w.mask;
}

Step commit(Warp& w, const Insn& i) {
  note_use(w, i, true);
  for_lanes(w.mask, [&](uint32_t l) { ++groups_of(*w.cta, 32 * w.index + l).open; });
  return Step::next;
}

// imm: newest groups that may stay outstanding; a: only their reads are waited for.
Step wait_group(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (const auto& op : c.async.ops) {
    if (op->cta != &c || !op->group || op->thread / 32 != w.index || !(w.mask >> op->thread % 32 & 1) ||
        (i.a && op->reads_done))
      continue;
    if (op->group + i.imm >= groups_of(c, op->thread).open) continue;
    w.path->wait = Wait{};
    w.path->wait.kind = Wait::Kind::bulk;
    w.path->wait.again = true;
    w.path->wait.number = i.imm, w.path->wait.flag = i.a;
    return Step::blocked;
  }
  note_use(w, i, false);
  for (uint32_t m = w.mask; m && c.race; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const auto it = c.bulk_groups.find(32 * w.index + l);
    if (it == c.bulk_groups.end()) continue;
    it->second.waited = true;
    if (it->second.open <= i.imm + 1) continue;
    const auto through = static_cast<uint32_t>(it->second.open - 1 - i.imm);
    c.race->learn(w.agent, 1u << l, it->second.slot, through);
    if (!i.a) c.race->learn(w.agent, 1u << l, it->second.writes, through);
  }
  return Step::next;
}

bool add_target(Warp& w, const Insn& i, Cta& cta, uint32_t to, uint32_t barrier, LoadOp& op) {
  Cta& c = *w.cta;
  if (cta.left)
    return c.fault("MBAR-16", i.place, "the CTA of rank " + std::to_string(cta.rank) + " has exited"), false;
  const Mbarrier* b = cta.mbarrier_at(barrier);
  if (!b) return c.fault("MBAR-03", i.place, "there is no initialised mbarrier at " + cta.shared_text(barrier)), false;
  op.targets.push_back({&cta, to, barrier, b->phase});
  return true;
}

}  // namespace

bool LoadOp::landed(Cta& issuer, uint32_t bytes) {
  for (const CopyTarget& t : targets) {
    if (t.cta->left && t.cta != &issuer)
      return issuer.fault("MBAR-16", place,
                          "the CTA of rank " + std::to_string(t.cta->rank) + " has exited before this copy landed"),
             false;
    Mbarrier* b = t.cta->mbarrier_at(t.barrier);
    if (!b)
      return issuer.fault("MBAR-03", place, "the mbarrier of this copy is gone: " + t.cta->shared_text(t.barrier)),
             false;
    if (issuer.race && b->phase != t.phase)
      issuer.finding(issuer.violation("TX-02", place,
                                      "bytes of this copy land in phase " + std::to_string(b->phase) +
                                          " of the mbarrier " + t.cta->shared_text(t.barrier) +
                                          ", it was issued in phase " + std::to_string(t.phase)));
    if (issuer.race) join(b->log.copies, tickets);
    if (!t.cta->settle_mbarrier(*b, t.barrier, complete_tx(*b, bytes), place)) return false;
  }
  return true;
}

bool find_targets(Warp& w, const Insn& i, const LoadEnds& ends, LoadOp& op) {
  Cta& c = *w.cta;
  op.place = i.place;
  op.thread = 32 * w.index + lowest_lane(w.mask);
  Cta *owner = &c, *barrier_owner = &c;
  uint32_t to = 0, barrier = 0;
  const bool found =
      ends.own ? shared_address(w, i, ends.to, ends.bytes, ends.align, to) &&
                     shared_address(w, i, ends.barrier, kMbarrierBytes, kMbarrierBytes, barrier)
               : cluster_address(w, i, ends.to, ends.bytes, ends.align, owner, to) &&
                     cluster_address(w, i, ends.barrier, kMbarrierBytes, kMbarrierBytes, barrier_owner, barrier);
  if (!found) return false;
  op.barrier = barrier;
  if (c.race) c.race->pass_tickets(op.tickets, w.agent, lowest_lane(w.mask));
  if (!ends.multicast_mask) {
    if (owner != barrier_owner)
      return c.fault("TMA-10", i.place, "destination and mbarrier are in different CTAs"), false;
    return add_target(w, i, *owner, to, barrier, op);
  }
  const auto& ctas = c.cluster.ctas;
  for (uint32_t rank = 0; rank < 16; ++rank) {
    if (!(*ends.multicast_mask >> rank & 1)) continue;
    if (rank >= ctas.size())
      return c.fault("TMA-08", i.place,
                     "the multicast mask names rank " + std::to_string(rank) + " in a cluster of " +
                         std::to_string(ctas.size())),
             false;
    if (!add_target(w, i, *ctas[rank], to, barrier, op)) return false;
  }
  return true;
}

void enter_group(Warp& w, uint32_t lane, const Insn& i, StoreOp& op) {
  op.thread = 32 * w.index + lane;
  op.place = i.place;
  BulkGroups& g = groups_of(*w.cta, op.thread);
  op.group = g.last = g.open;
  g.place = i.place, g.waited = false;
}

void note_phases(Warp& w, const LoadOp& op) {
  for (const CopyTarget& t : op.targets) note_copy(w, *t.cta, *t.cta->mbarrier_at(t.barrier), t.barrier, op.place);
}
void note_load_write(Warp& w, uint32_t lane, const LoadOp& op, uint32_t offset, uint32_t bytes) {
  const Checker race = w.cta->race;
  for (const CopyTarget& t : op.targets) {
    if (!race) return;
    const uint32_t slot = t.cta->mbarrier_at(t.barrier)->slot, epoch = static_cast<uint32_t>(t.phase + 1);
    if (t.cta != w.cta) race->remote_async(w.agent, lane, t.cta->rank, slot, epoch, op.place);
    race->async(w.agent, lane, slot, epoch, t.cta->flat(t.to + offset), bytes, Access::write, op.place);
  }
}
void note_load_read(Warp& w, uint32_t lane, const LoadOp& op, uint64_t address, uint64_t bytes) {
  if (!w.cta->race || op.targets.empty()) return;
  const CopyTarget& t = op.targets.front();
  w.cta->race->async_global(w.agent, lane, t.cta->mbarrier_at(t.barrier)->slot, static_cast<uint32_t>(t.phase + 1),
                            address, bytes, Access::read, op.place);
}
void note_store_read(Warp& w, uint32_t lane, const StoreOp& op, uint32_t address, uint32_t bytes) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async(w.agent, lane, groups_of(c, op.thread).slot, static_cast<uint32_t>(op.group), c.flat(address), bytes,
                  Access::read, op.place);
}
bool has_value(const Warp& w, uint32_t address, uint32_t bytes) {
  const Cta& c = *w.cta;
  const uint32_t flat = c.flat(address);
  return !c.launch.checks.has(Check::uninit) || !c.race->all_undefined({&flat, 1}, bytes);
}
void report_no_value(Warp& w, uint32_t address, uint32_t place) {
  Cta& c = *w.cta;
  c.finding(c.violation("BOUND-02", place,
                        "nothing has written " + c.shared_text(address) + ", nor anything else that is copied here"));
}
void note_store_write(Warp& w, uint32_t lane, const StoreOp& op, uint64_t address, uint64_t bytes, Access kind) {
  Cta& c = *w.cta;
  if (c.race)
    c.race->async_global(w.agent, lane, groups_of(c, op.thread).writes, static_cast<uint32_t>(op.group), address, bytes,
                         kind, op.place);
}

void append_address(std::vector<uint32_t>& list, const AddressOperand& a) {
  list.insert(list.end(), {a.base, a.wide ? 1u : 0u, static_cast<uint32_t>(a.displacement),
                           static_cast<uint32_t>(a.displacement >> 32)});
}

uint64_t stored_address(Warp& w, const uint32_t* entry, uint32_t lane) {
  const uint64_t displacement = entry[2] | uint64_t{entry[3]} << 32;
  if (entry[0] == kNone) return displacement;
  if (entry[1]) return w.reg<uint64_t>(entry[0])[lane] + displacement;
  return static_cast<uint32_t>(w.reg<uint32_t>(entry[0])[lane] + displacement);
}

std::string take_end(Builder& b) {
  for (std::string_view end : {"shared::cluster", "shared::cta", "global"})
    if (b.mods().take(end)) return std::string(end);
  return "";
}

void build_bulk_group(Builder& b) {
  b.need_target({90, TargetFeature::any}, "TMA-14");
  if (b.mnemonic().ends_with("commit_group")) return void(b.emit(commit));
  const bool read = b.mods().take("read");
  const auto n = b.literal(b.operand(0));
  if (!n) return b.refuse("TMA-14", "wait_group needs a constant");
  Insn& i = b.emit(wait_group);
  i.imm = *n, i.a = read;
}

}  // namespace tc::sim
