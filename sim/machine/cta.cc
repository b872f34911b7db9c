#include "sim/machine/cta.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/machine/cluster.h"
#include "specs/arch.h"
#include "sim/machine/trace.h"
#include "sim/machine/wgmma_state.h"

namespace tc::sim {
namespace {

constexpr size_t kMaxFindings = 32;

}  // namespace

Cta::Cta(Cluster& owner, GlobalMemory& g, runtime::Dim3 cta_id, uint32_t cta_rank)
    : cluster(owner),
      program(owner.program),
      launch(owner.launch),
      global(g),
      id(cta_id),
      rank(cta_rank),
      shared((owner.program.shared_end + 15) / 16 * 16 + 16),
      named(kNamedBarriers),
      mbarrier_index(shared.size() / 8 + 1),
      mbarriers(1),
      async(owner.async),
      race(owner.race.get()),
      random(owner.random),
      time(owner.time),
      progress(owner.progress),
      events(owner.events),
      findings(owner.findings),
      trap(owner.trap),
      last_event(owner.last_event),
      steered(owner.steered) {
  linear_id = (uint64_t{id.z} * launch.grid.y + id.y) * launch.grid.x + id.x;
  const uint32_t count = (thread_count() + 31) / 32;
  warps.resize(count);
  for (uint32_t i = 0; i < (count + 3) / 4 && program.uses_wgmma; ++i) {
    wgmma.push_back(std::make_unique<WgmmaGroupState>());
    if (race) wgmma.back()->slot = race->new_slot(cta_rank * count + 4 * i);
  }
  start(*this);
}
Cta::~Cta() = default;

void Cta::issue(std::unique_ptr<AsyncOp> op, uint64_t latency) {
  op->cta = this;
  cluster.issue(std::move(op), latency);
}
void Cta::step_async(AsyncOp* op, uint64_t latency) { cluster.step_async(op, latency); }
void Cta::forget_due() { cluster.forget_due(); }

Mbarrier* Cta::mbarrier_at(uint32_t address) {
  if (address % kMbarrierBytes || address / 8 >= mbarrier_index.size()) return nullptr;
  const uint32_t i = mbarrier_index[address / 8];
  return i && mbarriers[i].valid ? &mbarriers[i] : nullptr;
}

Mbarrier& Cta::make_mbarrier(uint32_t address) {
  uint32_t& i = mbarrier_index[address / 8];
  if (i == 0) {
    i = static_cast<uint32_t>(mbarriers.size());
    mbarriers.emplace_back();
    if (race) mbarriers.back().slot = race->new_slot(), mbarriers.back().log.ticket = race->new_ticket();
  }
  return mbarriers[i];
}

bool Cta::settle_mbarrier(Mbarrier& b, uint32_t address, const MbarrierEvent& e, uint32_t place) {
  ++progress;
  if (e.broken) {
    const std::string state = shared_text(address) + ": phase " + std::to_string(b.phase) + ", " +
                              std::to_string(b.pending) + " of " + std::to_string(b.expected) +
                              " arrivals pending, transaction count " + std::to_string(b.tx);
    const std::string_view rule = e.broken;
    const char* what = rule == "MBAR-05" ? "more arrivals than the mbarrier expects at "
                       : rule == "TX-01" ? "the transaction count leaves its range at "
                                         : "bad arrival count at ";
    fault(e.broken, place, what + state);
    return false;
  }
  if (e.completed && cluster.trace) cluster.trace->phase_completed(*this, address, b.phase - 1, time);
  if (e.completed && race) {
    note_completion(*this, b, address, place);
    join(b.done, b.arriving);
    race->complete(b.done, b.slot, static_cast<uint32_t>(b.phase));
    b.arriving = {};
  }
  return true;
}

Diag violation(const Program& program, const char* rule, uint32_t place, std::string message) {
  const Place& p = program.places[place];
  Diag d;
  d.kind = DiagKind::violation;
  d.rule = rule;
  d.where = p.where.front();
  d.message = std::move(message);
  for (size_t i = 1; i < p.where.size(); ++i) d.notes.push_back({p.where[i], "inlined from here"});
  if (p.where.front() != p.ptx) d.notes.push_back({p.ptx, "this instruction"});
  return d;
}

void Cta::finding(Diag d) {
  if (d.kind == DiagKind::violation && !launch.checks.wants(d.rule)) return;
  for (const Diag& f : findings)
    if (f.rule == d.rule && f.where == d.where) return;
  if (findings.size() < kMaxFindings) findings.push_back(std::move(d));
}

Step Cta::fault(const char* rule, uint32_t place, std::string message) {
  if (!trap) trap = violation(rule, place, std::move(message));
  return Step::trap;
}

namespace {

// A variable as the source calls it: _ZZ3sumE4part, `part` of the function sum, is "part".
std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "f" would be the type float
  int failed = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed);
  if (!text) return symbol;
  std::string name = text;
  std::free(text);
  const size_t scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

}  // namespace

std::string Cta::shared_text(uint32_t address) const {
  char hex[16];
  std::snprintf(hex, sizeof hex, "0x%x", address);
  for (const SharedSymbol& s : program.shared)
    if (address >= s.address && address - s.address < s.bytes) {
      const uint32_t off = address - s.address;
      return source_name(s.name) + (off ? "+" + std::to_string(off) : "") + " (" + hex + ")";
    }
  return std::string("shared address ") + hex;
}

void Cta::note_event(EventKind kind, const Warp& w, uint32_t place) {
  last_event = {kind, w.index, place};
  ++events;
  if (cluster.trace) cluster.trace->event(w, kind, place, time);
}

namespace {

// Special registers that all threads of a CTA agree on.
uint32_t common_value(const Cta& c, Special s) {
  const runtime::Dim3 &b = c.launch.block, &g = c.launch.grid, &k = c.launch.cluster;
  switch (s) {
    case Special::ntid_x: return b.x;
    case Special::ntid_y: return b.y;
    case Special::ntid_z: return b.z;
    case Special::ctaid_x: return c.id.x;
    case Special::ctaid_y: return c.id.y;
    case Special::ctaid_z: return c.id.z;
    case Special::nctaid_x: return g.x;
    case Special::nctaid_y: return g.y;
    case Special::nctaid_z: return g.z;
    case Special::nclusterid_x: return g.x / k.x;
    case Special::nclusterid_y: return g.y / k.y;
    case Special::nclusterid_z: return g.z / k.z;
    case Special::clusterid_x: return c.id.x / k.x;
    case Special::clusterid_y: return c.id.y / k.y;
    case Special::clusterid_z: return c.id.z / k.z;
    case Special::cluster_ctaid_x: return c.id.x % k.x;
    case Special::cluster_ctaid_y: return c.id.y % k.y;
    case Special::cluster_ctaid_z: return c.id.z % k.z;
    case Special::cluster_nctaid_x: return k.x;
    case Special::cluster_nctaid_y: return k.y;
    case Special::cluster_nctaid_z: return k.z;
    case Special::cluster_ctarank: return c.rank;
    case Special::cluster_nctarank: return static_cast<uint32_t>(k.count());
    case Special::is_explicit_cluster: return k.count() > 1;
    case Special::nwarpid: return static_cast<uint32_t>(c.warps.size());
    case Special::nsmid: return kSmCount;
    case Special::smid: return static_cast<uint32_t>(c.linear_id % kSmCount);
    case Special::gridid: return 0;
    case Special::dynamic_smem_size: return c.launch.dynamic_smem_bytes;
    case Special::total_smem_size: return c.program.shared_end - kSharedStart;
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
    case Special::laneid:
    case Special::warpid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt: break;
  }
  return 0;
}

uint32_t thread_value(const Cta& c, Special s, uint32_t thread) {
  const runtime::Dim3& b = c.launch.block;
  const uint32_t lane = thread % 32;
  switch (s) {
    case Special::tid_x: return thread % b.x;
    case Special::tid_y: return thread / b.x % b.y;
    case Special::tid_z: return thread / (b.x * b.y);
    case Special::laneid: return lane;
    case Special::warpid: return thread / 32;
    case Special::lanemask_eq: return 1u << lane;
    case Special::lanemask_lt: return (1u << lane) - 1;
    case Special::lanemask_le: return (2u << lane) - 1;
    case Special::lanemask_gt: return ~((2u << lane) - 1);
    case Special::lanemask_ge: return ~((1u << lane) - 1);
    default: return 0;
  }
}

bool of_thread(Special s) {
  return s == Special::tid_x || s == Special::tid_y || s == Special::tid_z || s == Special::laneid ||
         s == Special::warpid || (s >= Special::lanemask_eq && s <= Special::lanemask_gt);
}

template <class T>
void fill_special(Warp& w, const Program::SpecialUse& s) {
  T* d = w.reg<T>(s.at);
  const Cta& c = *w.cta;
  if (!of_thread(s.special)) {
    const uint32_t v = common_value(c, s.special);
    for (uint32_t l = 0; l < 32; ++l) d[l] = v;
  } else if (s.special == Special::tid_x && c.launch.block.x % 32 == 0) {
    const uint32_t first = 32 * w.index % c.launch.block.x;
    for (uint32_t l = 0; l < 32; ++l) d[l] = first + l;
  } else {
    for (uint32_t l = 0; l < 32; ++l) d[l] = thread_value(c, s.special, 32 * w.index + l);
  }
}

template <class T>
void add_rank(Warp& w, const Program::Constant& k) {
  for (uint32_t l = 0; l < 32; ++l) w.reg<T>(k.at)[l] |= T{w.cta->rank} << kRankShift;
}

}  // namespace

void start(Cta& c) {
  const uint32_t threads = c.thread_count();
  const size_t stride = (c.program.register_bytes + Buffer::kAlign - 1) / Buffer::kAlign * Buffer::kAlign;
  c.registers = Buffer(stride * c.warps.size(), false);
  for (uint32_t i = 0; i < c.warps.size(); ++i) {
    Warp& w = c.warps[i];
    w.cta = &c;
    w.index = i;
    w.live = threads - 32 * i >= 32 ? ~0u : (1u << (threads - 32 * i)) - 1;
    w.regs = c.registers.data() + i * stride;
    std::memcpy(w.regs, c.program.initial_registers.data(), c.program.register_bytes);
    w.local_bytes = c.program.local_bytes;
    if (w.local_bytes) w.local = Buffer(size_t{32} * w.local_bytes);
    if (w.local_bytes && c.launch.checks.has(Check::uninit)) w.local_written = Buffer(size_t{32} * w.local_bytes);
    undefine_unwritten(w, nullptr, w.live);
    w.paths.push_back(Path{0, w.live});
    w.registers = c.program.launch_registers;
    w.cp_group.fill(1);
    for (const auto& k : c.program.constants)
      if (k.is_shared && c.rank) k.bits == 64 ? add_rank<uint64_t>(w, k) : add_rank<uint32_t>(w, k);
    for (const auto& s : c.program.specials) s.wide ? fill_special<uint64_t>(w, s) : fill_special<uint32_t>(w, s);
  }
}

}  // namespace tc::sim
