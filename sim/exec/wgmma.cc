// Issue of wgmma.mma_async, commit_group, wait_group. PTX ISA 9.7.15; rules WGMMA-01 ... 15.
// The operation is queued when the fourth warp has issued it, and reads shared memory and registers when the schedule
// carries it out, at the latest when a warp waits for its group. Registers are guarded by sim/machine/wgmma_guard.h.
#include <algorithm>

#include "sim/exec/collective.h"
#include "sim/exec/wgmma_form.h"
#include "sim/exec/wgmma_issue.h"
#include "sim/machine/wgmma_guard.h"

namespace tc::sim {
namespace {

constexpr uint32_t kChunkBytes = 16;
constexpr uint32_t kMostRows = 256;  // of an operand: the largest N
constexpr uint64_t kLatency = 100;  // under rr, in warp instructions

struct WgmmaOp : AsyncOp {
  uint32_t warpgroup = 0;
  uint64_t number = 0;
  bool step(Cta& c) override {
    for (WgmmaRecord& r : c.wgmma[warpgroup]->records)
      if (r.number == number) execute_wgmma(c, warpgroup, r);
    return true;
  }
  std::string describe(const Cta&) const override { return "wgmma of warpgroup " + std::to_string(warpgroup); }
};

// The lanes of warp k of the warpgroup in which accumulator register d depends on row `mn` of A (rows of the sums) or B
// (columns). Register 4j + 2h + e of lane 4g + t: row 16k + 8h + g, column 8j + 2t + e; pairs of f16: 2j + h, both e.
uint32_t lanes_of_sum(bool is_a, bool pairs, uint32_t mn, uint32_t k, uint32_t d) {
  const uint32_t h = pairs ? d % 2 : d / 2 % 2, j = pairs ? d / 2 : d / 4;
  if (is_a) return mn / 16 == k && mn / 8 % 2 == h ? 0xFu << (4 * (mn % 8)) : 0;
  return mn / 8 == j && (pairs || mn % 2 == d % 2) ? 0x11111111u << (mn % 8 / 2) : 0;
}

// Rows of an operand that nobody has written make the sums that they enter undefined.
void undefine_sums(Cta& c, const WgmmaRecord& r, uint32_t group, const WgmmaOperand& o, bool is_a) {
  std::array<bool, kMostRows> written{};
  std::array<uint32_t, kMostRows> first{};  // address of the row's first chunk
  const uint32_t together = o.mn_major ? 8 : 1;
  each_chunk(o, [&](uint32_t mn, uint32_t k, uint32_t address) {
    if (k == 0) first[mn] = address;
    const uint32_t flat = c.flat(address);
    if (!written[mn] && !c.race->all_undefined({&flat, 1}, kChunkBytes)) std::fill_n(&written[mn], together, true);
  });
  if (std::all_of(written.begin(), written.begin() + o.extent, [](bool b) { return b; })) return;
  const bool pairs = r.insn[0]->c != 0;
  for (uint32_t mn = 0; mn < o.extent; ++mn) {
    if (written[mn] || (!is_a && pairs && written[mn ^ 1])) continue;
    const UndefinedCause cause{UndefinedCause::Kind::shared, first[mn / together * together], r.insn[0]->place};
    for (uint32_t k = 0; k < kWarpgroupWarps; ++k)
      for (uint32_t d = 0; d < r.insn[k]->list_dst; ++d)
        undefine(c.warps[4 * group + k], c.program.lists[r.insn[k]->list + d], lanes_of_sum(is_a, pairs, mn, k, d), cause);
  }
}

// Bounds of an operand, and what the race checker is told.
bool check_operand(Cta& c, const WgmmaRecord& r, uint32_t group, const WgmmaOperand& o, const Insn& i, bool is_a) {
  static thread_local std::vector<uint32_t> chunks;
  chunks.clear();
  bool inside = true;
  each_chunk(o, [&](uint32_t, uint32_t, uint32_t address) {
    inside &= address >= kSharedStart && address + kChunkBytes <= c.program.shared_end;
    if (c.race) chunks.push_back(c.flat(address));
  });
  if (inside && c.race)
    c.race->async(r.start, c.wgmma[group]->slot, static_cast<uint32_t>(r.group[0]), chunks, kChunkBytes, Access::read, i.place);
  if (inside && c.launch.checks.has(Check::uninit)) undefine_sums(c, r, group, o, is_a);
  if (!inside)
    c.fault("BOUND-01", i.place,
            "a wgmma operand reaches outside of the CTA's shared memory (descriptor start " +
                c.shared_text(o.descriptor.start) + ")");
  return inside;
}

bool complete_record(Cta& c, uint32_t group, WgmmaRecord& r) {
  const Insn& i = *r.insn[0];
  if (i.src[0] != kNone && !check_operand(c, r, group, wgmma_operand_a(i, r.descriptors[0]), i, true)) return false;
  if (!check_operand(c, r, group, wgmma_operand_b(i, r.descriptors[1]), i, false)) return false;
  auto op = std::make_unique<WgmmaOp>();
  op->queue = kWgmmaQueue + group;
  op->warpgroup = group;
  op->number = r.number;
  op->place = i.place;
  c.issue(std::move(op), kLatency);
  return true;
}

// Compilers move what computes an operand across a fence, which to them is just another instruction. So a warp that has
// executed a fence since it last waited is given the benefit of the doubt.
void check_fenced(Warp& w, const Insn& i, WgmmaGroupState& g, uint32_t k) {
  Cta& c = *w.cta;
  if (!c.race) return;
  if (!g.ever_fenced[k])
    c.finding(c.violation("WGMMA-10", i.place, "no wgmma.fence comes before the first wgmma"));
  auto& computed = g.computed[k];
  if (computed.empty()) return;
  const uint32_t* list = c.program.lists.data() + i.list;
  const bool any = std::any_of(list, list + i.list_count, [&](uint32_t at) { return computed[at / 64]; });
  if (any && !g.fenced[k])
    c.finding(c.violation("WGMMA-10", i.place,
                          "registers of this wgmma have been written, and no wgmma.fence was executed since the last wait"));
  for (uint32_t d = 0; d < i.list_dst; ++d) computed[list[d] / 64] = false;
}

bool same_operation(const Insn& x, const Insn& y) { return x.a == y.a && x.imm == y.imm; }

}  // namespace

Step issue_wgmma(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  const uint32_t group = w.index / kWarpgroupWarps, k = w.index % kWarpgroupWarps;
  if (4 * group + 4 > c.warps.size() || w.live != ~0u)
    return c.fault("WGMMA-07", i.place,
                   "wgmma needs four whole warps, warp " + std::to_string(w.index) + " has no full warpgroup");
  if (!require_converged(w, i, "WGMMA-07", s)) return s;
  WgmmaGroupState& g = *c.wgmma[group];
  const uint64_t number = ++g.issued[k];
  if (number > g.issued_total) g.records.emplace_back().number = ++g.issued_total;
  WgmmaRecord& r = *std::find_if(g.records.begin(), g.records.end(), [&](const auto& x) { return x.number == number; });
  const std::array<uint64_t, 2> descriptors{i.src[0] == kNone ? 0 : w.reg<uint64_t>(i.src[0])[0],
                                            w.reg<uint64_t>(i.src[1])[0]};
  const bool scale = (w.pred(i.src[2]) & 1) != ((wgmma_form(i).flags & kScaleNegated) != 0);
  if (r.issued && (!same_operation(*r.insn[static_cast<uint32_t>(std::countr_zero(r.issued))], i) ||
                   descriptors != r.descriptors || scale != r.scale_d))
    return c.fault("WGMMA-07", i.place, "the warps of warpgroup " + std::to_string(group) + " issue different wgmma");
  check_fenced(w, i, g, k);
  r.insn[k] = &i, r.group[k] = g.committed[k] + 1;
  r.descriptors = descriptors, r.scale_d = scale;
  r.issued |= 1u << k;
  if (c.race) c.race->snapshot_into(r.start, w.agent, ~0u), c.race->released(w.agent);
  ++c.progress;
  mark_pending(w);
  c.note_event(EventKind::wgmma_issue, w, i.place);
  if (r.issued == 0xF && !complete_record(c, group, r)) return Step::trap;
  return Step::next;
}

Step fence_wgmma(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!require_converged(w, i, "WGMMA-07", s)) return s;
  WgmmaGroupState& g = *w.cta->wgmma[w.index / kWarpgroupWarps];
  const uint32_t k = w.index % kWarpgroupWarps;
  g.fenced[k] = g.ever_fenced[k] = true;
  g.computed[k].clear();
  return Step::next;
}

Step commit_wgmma(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!require_converged(w, i, "WGMMA-07", s)) return s;
  ++w.cta->wgmma[w.index / 4]->committed[w.index % 4];
  return Step::next;
}

// imm: newest groups that may stay outstanding.
Step wait_wgmma(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!require_converged(w, i, "WGMMA-07", s)) return s;
  WgmmaGroupState& g = *c.wgmma[w.index / 4];
  const uint32_t k = w.index % 4;
  const uint64_t through = g.committed[k] > i.imm ? g.committed[k] - i.imm : 0;
  if (!wgmma_done(c, w, through)) {
    w.path->wait = Wait{};
    w.path->wait.kind = Wait::Kind::wgmma;
    w.path->wait.again = true;
    w.path->wait.number = through;
    return Step::blocked;
  }
  g.fenced[k] = false;
  for (WgmmaRecord& r : g.records) {
    if (!r.insn[k] || r.group[k] > through) continue;
    r.waited |= 1u << k;
    if (c.race) c.race->acquire_tickets(w.agent, r.start);
  }
  while (!g.records.empty() && g.records.front().waited == 0xF) g.records.pop_front();
  mark_pending(w);
  if (c.race && through) c.race->learn(w.agent, w.mask, g.slot, static_cast<uint32_t>(through));
  c.note_event(EventKind::wgmma_wait, w, i.place);
  return Step::next;
}

}  // namespace tc::sim
