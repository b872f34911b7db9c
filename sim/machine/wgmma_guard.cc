#include "sim/machine/wgmma_guard.h"

#include <bit>
#include <cstring>

namespace tc::sim {
namespace {

struct Touched {
  bool any = false;
  bool hazard = false;  // a result or copy read, a result or operand written
};

Touched touched(const Warp& w, const Insn& i, const std::vector<uint8_t>& states) {
  Touched t;
  auto state = [&](uint32_t at) {
    return at == kNone ? RegisterState::free : static_cast<RegisterState>(states[at / 64]);
  };
  auto reads = [&](uint32_t at) {
    const RegisterState s = state(at);
    t.any |= s != RegisterState::free && s != RegisterState::operand;
    t.hazard |= s == RegisterState::result || s == RegisterState::copy;
  };
  auto writes = [&](uint32_t at) {
    const RegisterState s = state(at);
    t.any |= s != RegisterState::free;
    t.hazard |= s == RegisterState::result || s == RegisterState::operand;
  };
  writes(i.dst);
  for (uint32_t s : i.src) reads(s);
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for (uint32_t k = 0; k < i.list_count; ++k) k < i.list_dst ? writes(list[k]) : reads(list[k]);
  return t;
}

WgmmaRecord* last_unexecuted(WgmmaGroupState& g, uint32_t warp) {
  for (auto r = g.records.rbegin(); r != g.records.rend(); ++r)
    if (r->insn[warp] && !r->executed) return &*r;
  return nullptr;
}
WgmmaRecord* last_unwaited(WgmmaGroupState& g, uint32_t warp) {
  for (auto r = g.records.rbegin(); r != g.records.rend(); ++r)
    if (r->insn[warp] && !(r->waited >> warp & 1)) return &*r;
  return nullptr;
}

// A move that touches pending registers. True where it was put off; false: it may be executed at once.
bool put_off_move(Warp& w, const Insn& i) {
  WgmmaGroupState& g = *w.cta->wgmma[w.index / 4];
  const uint32_t warp = w.index % 4;
  auto& states = g.registers[warp];
  const auto from = static_cast<RegisterState>(states[i.src[0] / 64]);
  const bool pending_source = from != RegisterState::free && from != RegisterState::operand;
  const bool is_result = from == RegisterState::result || from == RegisterState::copy;
  WgmmaRecord* unexecuted = last_unexecuted(g, warp);
  WgmmaRecord* owner = unexecuted ? unexecuted : last_unwaited(g, warp);
  const RegisterState to = is_result ? RegisterState::copy : unexecuted ? RegisterState::late : RegisterState::free;
  states[i.dst / 64] = static_cast<uint8_t>(to);
  if (owner && to != RegisterState::free) owner->marks[warp].push_back({i.dst, to});
  if (!unexecuted) return false;
  DeferredMove m{i.dst, pending_source ? i.src[0] : kNone, w.mask, i.bytes, {}};
  for (uint32_t l = 0; l < 32 && !pending_source; ++l)
    m.value[l] = i.bytes == 8 ? w.reg<uint64_t>(i.src[0])[l] : w.reg<uint32_t>(i.src[0])[l];
  unexecuted->moves[warp].push_back(m);
  return true;
}

}  // namespace

bool guard_pending(Warp& w, const Insn& i, Step& step) {
  Cta& c = *w.cta;
  WgmmaGroupState& g = *c.wgmma[w.index / 4];
  if (i.kind == InsnKind::wgmma) return false;
  const Touched t = touched(w, i, g.registers[w.index % 4]);
  if (!t.any) return false;
  if (i.kind == InsnKind::move) {
    step = Step::next;
    if (!put_off_move(w, i)) return false;
    note_computed(w, i);
    return true;
  }
  if (t.hazard && c.race)
    c.finding(c.violation("WGMMA-11", i.place, "a register of a wgmma that has not been waited for is used"));
  while (!wgmma_done(c, w, UINT64_MAX)) {  // the value is needed now
    AsyncOp* next = nullptr;
    for (const auto& o : c.async.ops)
      if (o->queue == kWgmmaQueue + w.index / 4 && o->cta == &c && !next) next = o.get();
    if (!next) {  // another warp has not issued it
      w.path->wait = Wait{};
      w.path->wait.kind = Wait::Kind::wgmma;
      w.path->wait.again = true;
      w.path->wait.number = UINT64_MAX;
      step = Step::blocked;
      return true;
    }
    c.step_async(next, 0);
    c.forget_due();
  }
  return false;
}

bool wgmma_done(const Cta& c, const Warp& w, uint64_t number) {
  const uint32_t warp = w.index % 4;
  for (const WgmmaRecord& r : c.wgmma[w.index / 4]->records)
    if (r.insn[warp] && r.group[warp] <= number && !r.executed) return false;
  return true;
}

void mark_pending(Warp& w) {
  WgmmaGroupState& g = *w.cta->wgmma[w.index / 4];
  const uint32_t warp = w.index % 4;
  auto& states = g.registers[warp];
  const Program& program = w.cta->program;
  states.clear();
  for (const WgmmaRecord& r : g.records) {
    if (!r.insn[warp] || (r.waited >> warp & 1)) continue;
    if (states.empty()) states.assign(program.register_bytes / 64 + 1, 0);
    const Insn& i = *r.insn[warp];
    for (uint32_t k = 0; k < i.list_count; ++k) {
      uint8_t& s = states[program.lists[i.list + k] / 64];
      s = static_cast<uint8_t>(k < i.list_dst ? RegisterState::result : RegisterState::operand);
    }
    for (const auto& m : r.marks[warp]) states[m.at / 64] = static_cast<uint8_t>(m.state);
  }
}

void note_computed(Warp& w, const Insn& i) {
  if (!w.cta->race) return;
  const Program& p = w.cta->program;
  auto& computed = w.cta->wgmma[w.index / 4]->computed[w.index % 4];
  if (computed.empty()) computed.assign(p.register_bytes / 64 + 1, false);
  const bool copied = i.kind == InsnKind::move;
  auto mark = [&](uint32_t at) {
    if (at != kNone) computed[at / 64] = !copied || computed[i.src[0] / 64];
  };
  mark(i.dst);
  for (uint32_t k = 0; k < i.list_dst; ++k) mark(p.lists[i.list + k]);
}

void apply_moves(Warp& w, const std::vector<DeferredMove>& moves) {
  for (const DeferredMove& m : moves)
    for (uint32_t lanes = m.lanes; lanes; lanes &= lanes - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(lanes));
      if (m.bytes == 8) w.reg<uint64_t>(m.to)[l] = m.from == kNone ? m.value[l] : w.reg<uint64_t>(m.from)[l];
      else w.reg<uint32_t>(m.to)[l] = m.from == kNone ? static_cast<uint32_t>(m.value[l]) : w.reg<uint32_t>(m.from)[l];
    }
}

}  // namespace tc::sim
