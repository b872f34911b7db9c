// wgmma.mma_async m64nNk16 of f16 and bf16, fence, commit_group, wait_group. PTX ISA 9.7.15; rules WGMMA-01 ... 14.
// The operation is queued when the fourth warp has issued it, and reads shared memory and registers when the schedule
// carries it out, at the latest when a warp waits for its group. Registers are guarded by sim/machine/wgmma_guard.h.
#include <algorithm>
#include <cstring>

#include "sim/exec/builder.h"
#include "sim/exec/collective.h"
#include "sim/exec/wgmma_math.h"
#include "sim/machine/wgmma_guard.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint64_t kLatency = 100;  // under rr, in warp instructions

// Insn: a = N / 8; b = flags; c = index into kWgmmaKinds; src[0], src[1] descriptors, src[2] scale-d predicate;
// list = accumulators, then the four registers of A.
enum Flag : uint8_t {
  kARegisters = 1,
  kTransposeA = 2,
  kTransposeB = 4,
  kNegateA = 8,
  kNegateB = 16,
  kScaleNegated = 32
};

struct Tile {
  float a[kWgmmaM * kWgmmaK];
  float b[kWgmmaK * 256];
};

MmaOperand operand_type(const Insn& i) { return kWgmmaKinds[i.c].ab == "bf16" ? MmaOperand::bf16 : MmaOperand::f16; }
bool half_accumulators(const Insn& i) { return kWgmmaKinds[i.c].d == "f16"; }
uint32_t columns(const Insn& i) { return 8u * i.a; }

// Visits the 16-byte chunks of an operand: visit(mn, k, shared address). K-major chunks hold eight k, MN-major eight
// mn.
template <class Visit>
void each_chunk(const WgmmaDescriptor& d, bool mn_major, uint32_t extent, Visit visit) {
  if (mn_major) {
    for (uint32_t k = 0; k < kWgmmaK; ++k)
      for (uint32_t mn = 0; mn < extent; mn += 8)
        visit(mn, k, swizzled(d.swizzle, d.start + wgmma_chunk_mn_major(d, mn, k)));
  } else {
    for (uint32_t mn = 0; mn < extent; ++mn)
      for (uint32_t k = 0; k < kWgmmaK; k += 8)
        visit(mn, k, swizzled(d.swizzle, d.start + wgmma_chunk_k_major(d, mn, k)));
  }
}

// Reads an operand from shared memory into out[mn * mn_step + k * k_step].
void read_operand(const Cta& c, uint64_t descriptor, bool mn_major, uint32_t extent, MmaOperand type, float* out,
                  uint32_t mn_step, uint32_t k_step) {
  const uint32_t step = mn_major ? mn_step : k_step;
  each_chunk(decode_wgmma_descriptor(descriptor), mn_major, extent, [&](uint32_t mn, uint32_t k, uint32_t address) {
    uint16_t raw[8];
    float v[8];
    std::memcpy(raw, c.shared.data() + address, sizeof raw);
    widen(raw, v, type);
    float* to = out + mn * mn_step + k * k_step;
    if (step == 1) std::memcpy(to, v, sizeof v);
    else
      for (uint32_t e = 0; e < 8; ++e) to[e * step] = v[e];
  });
}

void read_a_registers(Warp& w, const Insn& i, float* rows) {
  const uint32_t* list = w.cta->program.lists.data() + i.list + i.list_dst;
  const bool bf = operand_type(i) == MmaOperand::bf16;
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < 2; ++j) {
        const auto h = static_cast<uint16_t>(w.reg<uint32_t>(list[r])[lane] >> (16 * j));
        const FragmentPlace at = mma_a_fragment(lane, r, j);
        rows[at.row * kWgmmaK + at.col] = bf ? runtime::bf16_to_float(h) : runtime::half_to_float(h);
      }
}

// Accumulators of one warp to rows and back; f16 ones sit in pairs, two columns a register.
void load_accumulators(Warp& w, const Insn& i, float* rows) {
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const uint32_t n = columns(i);
  if (!half_accumulators(i)) {
    const float* registers[128];
    for (uint32_t k = 0; k < n / 2; ++k) registers[k] = w.reg<float>(list[k]);
    return fragment_to_rows(registers, rows, n);
  }
  for (uint32_t k = 0; k < n / 4; ++k)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < 2; ++j) {
        const FragmentPlace at = wgmma_accumulator(0, lane, 2 * k + j);
        rows[at.row * n + at.col] =
            runtime::half_to_float(static_cast<uint16_t>(w.reg<uint32_t>(list[k])[lane] >> (16 * j)));
      }
}
void store_accumulators(Warp& w, const Insn& i, const float* rows) {
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const uint32_t n = columns(i);
  if (!half_accumulators(i)) {
    float* registers[128];
    for (uint32_t k = 0; k < n / 2; ++k) registers[k] = w.reg<float>(list[k]);
    return rows_to_fragment(rows, registers, n);
  }
  for (uint32_t k = 0; k < n / 4; ++k)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const FragmentPlace at = wgmma_accumulator(0, lane, 2 * k);
      const float* from = rows + at.row * n + at.col;
      w.reg<uint32_t>(list[k])[lane] = runtime::float_to_half(from[0]) | uint32_t{runtime::float_to_half(from[1])}
                                                                             << 16;
    }
}

void execute(Cta& c, uint32_t group, WgmmaRecord& r) {
  static thread_local Tile tile;
  static thread_local float rows[16 * 256];
  const Insn& first = *r.insn[0];
  const uint32_t n = columns(first);
  const MmaOperand type = operand_type(first);
  if (!(first.b & kARegisters))
    read_operand(c, r.descriptors[0], first.b & kTransposeA, kWgmmaM, type, tile.a, kWgmmaK, 1);
  read_operand(c, r.descriptors[1], first.b & kTransposeB, n, type, tile.b, 1, n);
  for (uint32_t k = 0; k < 4; ++k) {
    Warp& w = c.warps[4 * group + k];
    const Insn& i = *r.insn[k];
    float* a = tile.a + 16 * k * kWgmmaK;
    if (i.b & kARegisters) read_a_registers(w, i, a);
    if (((i.b & kNegateA) != 0) != ((i.b & kNegateB) != 0))
      std::for_each(a, a + 16 * kWgmmaK, [](float& v) { v = -v; });
    if (r.scale_d) load_accumulators(w, i, rows);
    else std::fill(rows, rows + 16 * n, 0.0f);
    multiply_rows(rows, a, tile.b, n);
    store_accumulators(w, i, rows);
    apply_moves(w, r.moves[k]);
  }
  r.executed = true;
}

struct WgmmaOp : AsyncOp {
  uint32_t warpgroup = 0;
  uint64_t number = 0;
  bool step(Cta& c) override {
    for (WgmmaRecord& r : c.wgmma[warpgroup]->records)
      if (r.number == number) execute(c, warpgroup, r);
    return true;
  }
  std::string describe(const Cta&) const override { return "wgmma of warpgroup " + std::to_string(warpgroup); }
};

// Bounds of the operands, and what the race checker is told.
bool check_operand(Cta& c, const WgmmaRecord& r, uint32_t group, uint64_t descriptor, bool mn_major, uint32_t extent,
                   const Insn& i) {
  bool inside = true;
  const WgmmaDescriptor d = decode_wgmma_descriptor(descriptor);
  if (d.base_offset) {
    Diag u = unsupported(c.program.places[i.place].where.front(), "a wgmma descriptor with a base offset");
    c.trap = u;
    return false;
  }
  each_chunk(d, mn_major, extent, [&](uint32_t, uint32_t, uint32_t address) {
    inside &= address >= kSharedStart && address + 16 <= c.program.shared_end;
    if (inside && c.race)
      c.race->async(r.start, c.wgmma[group]->slot, static_cast<uint32_t>(r.group[0]), c.flat(address), 16, Access::read,
                    i.place);
  });
  if (!inside)
    c.fault(
        "BOUND-01", i.place,
        "a wgmma operand reaches outside of the CTA's shared memory (descriptor start " + c.shared_text(d.start) + ")");
  return inside;
}

bool complete_record(Cta& c, uint32_t group, WgmmaRecord& r) {
  const Insn& i = *r.insn[0];
  if (!(i.b & kARegisters) && !check_operand(c, r, group, r.descriptors[0], i.b & kTransposeA, kWgmmaM, i))
    return false;
  if (!check_operand(c, r, group, r.descriptors[1], i.b & kTransposeB, columns(i), i)) return false;
  auto op = std::make_unique<WgmmaOp>();
  op->queue = kWgmmaQueue + group;
  op->warpgroup = group;
  op->number = r.number;
  op->place = i.place;
  c.issue(std::move(op), kLatency);
  return true;
}

bool same_operation(const Insn& x, const Insn& y) { return x.a == y.a && x.b == y.b && x.c == y.c; }

Step mma_async(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  const uint32_t group = w.index / kWarpgroupWarps, k = w.index % kWarpgroupWarps;
  if (4 * group + 4 > c.warps.size() || w.live != ~0u)
    return c.fault("WGMMA-07", i.place,
                   "wgmma needs four whole warps, warp " + std::to_string(w.index) + " has no full warpgroup");
  if (!gathered(w, ~0u, s)) return s;
  WgmmaGroupState& g = *c.wgmma[group];
  const uint64_t number = ++g.issued[k];
  if (number > g.issued_total) g.records.emplace_back().number = ++g.issued_total;
  WgmmaRecord& r = *std::find_if(g.records.begin(), g.records.end(), [&](const auto& x) { return x.number == number; });
  const std::array<uint64_t, 2> descriptors{i.b & kARegisters ? 0 : w.reg<uint64_t>(i.src[0])[0],
                                            w.reg<uint64_t>(i.src[1])[0]};
  const bool scale = (w.pred(i.src[2]) & 1) != ((i.b & kScaleNegated) != 0);
  if (r.issued && (!same_operation(*r.insn[static_cast<uint32_t>(std::countr_zero(r.issued))], i) ||
                   descriptors != r.descriptors || scale != r.scale_d))
    return c.fault("WGMMA-07", i.place, "the warps of warpgroup " + std::to_string(group) + " issue different wgmma");
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

Step commit(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!gathered(w, ~0u, s)) return s;
  (void)i;
  ++w.cta->wgmma[w.index / 4]->committed[w.index % 4];
  return Step::next;
}

// imm: newest groups that may stay outstanding.
Step wait_group(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!gathered(w, ~0u, s)) return s;
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
  for (WgmmaRecord& r : g.records)
    if (r.insn[k] && r.group[k] <= through) r.waited |= 1u << k;
  while (!g.records.empty() && g.records.front().waited == 0xF) g.records.pop_front();
  mark_pending(w);
  if (c.race && through) c.race->learn(w.agent, w.mask, g.slot, static_cast<uint32_t>(through));
  c.note_event(EventKind::wgmma_wait, w, i.place);
  return Step::next;
}

const WgmmaKind* kind_of(Builder& b) {
  const auto d = b.mods().take_type(), a = b.mods().take_type(), bb = b.mods().take_type();
  if (!d || !a || a != bb) return nullptr;
  for (const WgmmaKind& k : kWgmmaKinds)
    if (k.d == row(*d).name && k.ab == row(*a).name) return &k;
  return nullptr;
}

// m64nNk16: N, or 0.
uint32_t shape_of(Builder& b, const WgmmaKind& kind) {
  for (uint32_t n = kind.n_step; n <= kind.n_max; n += kind.n_step)
    if (b.mods().take("m64n" + std::to_string(n) + "k" + std::to_string(kind.k))) return n;
  return 0;
}

bool immediate(Builder& b, size_t at, std::initializer_list<int64_t> allowed, int64_t& out) {
  const auto v = b.literal(b.operand(at));
  if (v)
    for (int64_t a : allowed)
      if (static_cast<int64_t>(*v) == a) return out = a, true;
  b.fail("operand " + std::to_string(at) + " of wgmma is out of range [WGMMA-05, WGMMA-06]");
  return false;
}

}  // namespace

void build_wgmma(Builder& b) {
  b.mods().take("sync"), b.mods().take("aligned");
  if (b.mnemonic() == "wgmma.fence") return;
  if (b.mnemonic() == "wgmma.commit_group") return void(b.emit(commit));
  const auto n = b.literal(b.operand(0));
  if (!n) return b.fail("wait_group needs a constant [WGMMA-12]");
  b.emit(wait_group).imm = *n;
}

void build_wgmma_mma(Builder& b) {
  b.mods().take("sync"), b.mods().take("aligned");
  const WgmmaKind* kind = kind_of(b);
  const uint32_t n = kind ? shape_of(b, *kind) : 0;
  if (n == 0) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(6, 8);
  const Operand& d = b.operand(0);
  const bool in_registers = b.operand(1).kind == Operand::Kind::vector;
  const bool half = kind->d == "f16";
  if (d.parts.size() != n / (half ? 4 : 2))
    return b.fail("wgmma n" + std::to_string(n) + " has " + std::to_string(n / (half ? 4 : 2)) +
                  " accumulator registers");
  std::vector<uint32_t> registers;
  for (const Operand& o : d.parts) registers.push_back(b.destination(o, Type::b32));
  const auto accumulators = static_cast<uint32_t>(registers.size());
  if (in_registers) {
    if (b.operand(1).parts.size() != 4) return b.fail("A has four registers");
    for (const Operand& o : b.operand(1).parts) registers.push_back(b.source(o, Type::b32));
  }
  const uint32_t desc_a = in_registers ? kNone : b.source(1, Type::b64), desc_b = b.source(2, Type::b64);
  bool negated = false;
  const uint32_t scale = b.predicate(b.operand(3), negated);
  int64_t scale_a = 1, scale_b = 1, trans_a = 0, trans_b = 0;
  if (!immediate(b, 4, {1, -1}, scale_a) || !immediate(b, 5, {1, -1}, scale_b)) return;
  const size_t count = b.operand_count();
  if (count > 6 && count != (in_registers ? 7u : 8u)) return b.fail("wrong number of operands of wgmma");
  if (count > 6 && !immediate(b, count - 1, {0, 1}, trans_b)) return;
  if (count == 8 && !immediate(b, 6, {0, 1}, trans_a)) return;
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(mma_async);
  i.kind = InsnKind::wgmma;
  i.list = at, i.list_count = static_cast<uint32_t>(registers.size()), i.list_dst = accumulators;
  i.src = {desc_a, desc_b, scale, kNone};
  i.a = static_cast<uint8_t>(n / 8), i.c = static_cast<uint8_t>(kind - kWgmmaKinds.data());
  i.b = static_cast<uint8_t>((in_registers ? kARegisters : 0) | (trans_a ? kTransposeA : 0) |
                             (trans_b ? kTransposeB : 0) | (scale_a < 0 ? kNegateA : 0) | (scale_b < 0 ? kNegateB : 0) |
                             (negated ? kScaleNegated : 0));
}

}  // namespace tc::sim
