#include "sim/check/report.h"

#include <algorithm>
#include <cstdio>

#include "sim/check/bulk_use.h"
#include "sim/check/candidates.h"
#include "sim/check/grid.h"
#include "sim/machine/cluster.h"
#include "sim/machine/wgmma_state.h"

namespace tc::sim {
namespace {

std::string lanes_text(uint32_t lanes) {
  if (lanes == ~0u) return "";
  char text[32];
  std::snprintf(text, sizeof text, " (lanes 0x%x)", lanes);
  return text;
}

std::string wait_text(const Warp& w, const Path& p) {
  const Cta& c = *w.cta;
  const Wait& t = p.wait;
  switch (t.kind) {
    case Wait::Kind::none: return "spins without progress";
    case Wait::Kind::mbarrier: {
      std::string out = "waits at mbarrier " + c.shared_text(t.address) + " for parity " + std::to_string(t.parity);
      const uint32_t i = c.mbarrier_index[t.address / 8];
      const Mbarrier& b = c.mbarriers[i];
      return out + ": it is in phase " + std::to_string(b.phase) + ", " + std::to_string(b.pending) + " of " +
             std::to_string(b.expected) + " arrivals pending, " + std::to_string(b.tx) +
             " transaction bytes outstanding";
    }
    case Wait::Kind::named_barrier: {
      const NamedBarrier& b = c.named[t.id];
      std::string out = "waits at barrier " + std::to_string(t.id) + ": arrived are warps";
      for (const Warp& o : c.warps)
        if (b.arrived_warps >> o.index & 1) out += " " + std::to_string(o.index);
      if (b.arrived_warps == 0) out += " none (a part of this warp is elsewhere)";
      return out +
             (b.expected_threads ? " of " + std::to_string(b.expected_threads) + " threads" : ", expected are all");
    }
    case Wait::Kind::lanes:
    case Wait::Kind::sync_lanes: return "waits for the other lanes of the warp";
    case Wait::Kind::cp_async: return "waits for cp.async groups";
    case Wait::Kind::bulk: return "waits for bulk groups";
    case Wait::Kind::wgmma: return "waits for a wgmma that other warps of the warpgroup have not issued";
    case Wait::Kind::registers: {
      return "waits for " + std::to_string(t.number) + " registers of " + std::to_string(c.free_registers) + " free";
    }
    case Wait::Kind::cluster: {
      std::string out = "waits at the barrier of the cluster: not arrived are";
      for (const Warp* o : c.cluster.warps)
        if (o->live & ~o->cluster_arrived)
          out += " CTA " + std::to_string(o->cta->rank) + " warp " + std::to_string(o->index) +
                 lanes_text(o->live & ~o->cluster_arrived);
      return out;
    }
  }
  return {};
}

// What is still under way when all threads have left.
void check_exit(Cta& c) {
  for (const auto& [thread, g] : c.bulk_groups)
    if (g.last != 0 && !c.race->knows(c.warps[thread / 32].agent, thread % 32, g.slot, static_cast<uint32_t>(g.last)))
      c.finding(unread_store(c, thread));
  check_register_requests(c);
  for (const auto& g : c.wgmma)
    for (const WgmmaRecord& r : g->records)
      for (uint32_t w = 0; w < 4; ++w)
        if (r.insn[w] && !(r.waited >> w & 1))
          c.finding(c.violation("WGMMA-12", r.insn[w]->place, "the CTA has exited without waiting for this wgmma"));
}

std::string name_of(const Touch& e) {
  static constexpr std::string_view kNames[] = {"read", "write", "strong read", "atomic access", "write", "inval"};
  static_assert(std::size(kNames) == static_cast<size_t>(Access::retire) + 1);
  const std::string base{kNames[static_cast<size_t>(e.kind)]};
  return e.async ? base + " by an asynchronous operation" : base;
}

std::string global_text(const GlobalMemory& memory, uint64_t address) {
  const Allocation* a = memory.nearest(address);
  return a ? "'" + a->name + "' at byte " + std::to_string(address - a->address) : "global memory";
}

struct Spot {
  const Cta* cta;
  uint32_t address = 0;  // shared
  std::string text;
};
Spot spot_of(const Cluster& c, const RaceReport& r) {
  const uint64_t address = 4 * r.word;
  if (!r.global) {
    const auto stride = static_cast<uint32_t>(c.ctas[0]->shared.size());
    const Cta& cta = *c.ctas[address / stride];
    const auto offset = static_cast<uint32_t>(address % stride);
    return {&cta, offset, cta.shared_text(offset) + (c.ctas.size() > 1 ? " of CTA " + std::to_string(cta.rank) : "")};
  }
  return {c.ctas[0].get(), 0, global_text(c.ctas[0]->global, address)};
}

// That scopes are too narrow, where that is the reason.
void add_scope(const Cluster& cluster, const RaceReport& r, Diag& d) {
  const Scope due_scope = r.before.cluster == r.now.cluster ? Scope::cluster : Scope::gpu;
  const std::string due = std::string(name_of(due_scope)) + " is due";
  if (is_strong(r.before.kind) && is_strong(r.now.kind)) {
    const auto of = [](const Touch& t) { return std::string(name_of(t.scope)); };
    d.message +=
        ": their scopes, " + of(r.now) + " and " + of(r.before) + ", do not include each other's thread, " + due;
  } else if (r.narrow) {
    d.message += ", but by a scope that does not include both threads";
    if (r.scope_place != UINT32_MAX)
      d.notes.push_back({cluster.program.places[r.scope_place].where.front(),
                         "the scope here is " + std::string(name_of(r.scope)) + ": " + due});
  }
}

Diag describe(const Cluster& cluster, const RaceReport& r) {
  if (r.rule == "CLUST-07") {
    const std::string rank = "the CTA of rank " + std::to_string(r.word);
    return cluster.ctas[0]->violation("CLUST-07", r.now.place,
                                      r.before.epoch
                                          ? rank + " may have left before this: none of its threads waits for it"
                                          : rank + " need not have started when this is executed");
  }
  const Spot spot = spot_of(cluster, r);
  const Cta& c = *spot.cta;
  if (r.rule == "BOUND-02")
    return c.violation("BOUND-02", r.now.place, "nothing has written " + spot.text + ", which is read here");
  const std::string what = name_of(r.now) + " of " + spot.text;
  const SourceRange before = c.program.places[r.before.place].where.front();
  if (r.released_place != UINT32_MAX) {
    Diag d = c.violation("WGMMA-13", r.released_place,
                         "what a wgmma still reads is given away here: a " + what + " is not ordered after it");
    d.notes.push_back({before, "the wgmma"});
    d.notes.push_back({c.program.places[r.now.place].where.front(), "the " + name_of(r.now)});
    return d;
  }
  const bool strong = is_strong(r.now.kind) || is_strong(r.before.kind);
  const bool barrier = !r.global && c.mbarrier_index[spot.address / 8] != 0 && strong;
  Diag d = c.violation(barrier ? "MBAR-03" : std::string(r.rule).c_str(), r.now.place,
                       r.rule.starts_with("FENCE")
                           ? "no proxy fence orders this " + what + " after an earlier generic write"
                           : "this " + what + " is not ordered with an earlier " + name_of(r.before));
  d.notes.push_back({before, "the earlier " + name_of(r.before)});
  add_scope(cluster, r, d);
  for (const auto& cta : cluster.ctas)
    if (r.before.async && r.before.cluster == r.now.cluster)
      if (auto note = wait_for_nothing(*cta, r.before.row)) d.notes.push_back(std::move(*note));
  return d;
}

std::string cluster_text(const Launch& l, uint32_t cluster) {
  const uint32_t x = l.grid.x / l.cluster.x, y = l.grid.y / l.cluster.y;
  return std::string(l.cluster.count() > 1 ? "cluster (" : "CTA (") + std::to_string(cluster % x) + "," +
         std::to_string(cluster / x % y) + "," + std::to_string(cluster / x / y) + ")";
}

// Agents that a blocked path needs: those that have not arrived at its barrier; of an mbarrier, who arrived in the
// phase before and not yet in this one.
std::vector<BarrierLog::Arrival> awaited(const Warp& w, const Path& p) {
  const Cta& c = *w.cta;
  std::vector<BarrierLog::Arrival> out;
  if (p.wait.kind == Wait::Kind::mbarrier) {
    const BarrierLog& log = c.mbarriers[c.mbarrier_index[p.wait.address / 8]].log;
    for (const auto& a : log.before)
      if (std::ranges::find(log.arrived, a) == log.arrived.end()) out.push_back(a);
  } else if (p.wait.kind == Wait::Kind::named_barrier && c.named[p.wait.id].expected_threads == 0) {
    for (const Warp& o : c.warps)
      if (o.live && !(c.named[p.wait.id].arrived_warps >> o.index & 1)) out.push_back({o.agent, kNone});
  } else if (p.wait.kind == Wait::Kind::cluster) {
    for (const Warp* o : c.cluster.warps)
      if (o->live & ~o->cluster_arrived) out.push_back({o->agent, kNone});
  }
  return out;
}

std::string warp_text(const Cluster& c, const Warp& w) {
  return (c.ctas.size() > 1 ? "CTA " + std::to_string(w.cta->rank) + " " : "") + "warp " + std::to_string(w.index);
}

struct Blocked {
  const Warp* warp;
  const Path* path;
  std::vector<BarrierLog::Arrival> needs;
};

// The blocked paths, those of a wait-for cycle first and in its order. `cycle`: how many they are.
std::vector<Blocked> in_order_of_waiting(const Cluster& c, const Path* first, size_t& cycle) {
  std::vector<Blocked> all;
  for (const Warp* w : c.warps)
    for (const Path& p : w->paths) all.push_back({w, &p, awaited(*w, p)});
  std::vector<size_t> walk;
  auto at = static_cast<size_t>(std::ranges::find(all, first, &Blocked::path) - all.begin());
  for (bool found = true; found && std::ranges::find(walk, at) == walk.end();) {
    walk.push_back(at);
    found = false;
    for (const auto& need : all[at].needs)
      for (size_t k = 0; k < all.size() && !found; ++k)
        if (all[k].warp->agent == need.agent && k != at) at = k, found = true;
    if (!found) walk.clear();
    if (walk.empty()) break;
  }
  const auto start = std::ranges::find(walk, at);
  cycle = static_cast<size_t>(walk.end() - start);
  std::vector<Blocked> out;
  for (auto k = start; k != walk.end(); ++k) out.push_back(all[*k]);
  for (size_t k = 0; k < all.size(); ++k)
    if (std::find(start, walk.end(), k) == walk.end()) out.push_back(all[k]);
  return out;
}

std::string needs_text(const Cluster& c, const Blocked& b) {
  constexpr size_t kMost = 4;
  std::string out;
  for (size_t k = 0; k < std::min(kMost, b.needs.size()); ++k) {
    const auto& need = b.needs[k];
    out += (k ? ", " : "; needs ") + warp_text(c, *c.warps[need.agent]);
    if (need.place != kNone)
      out += " (which arrived in the phase before at line " +
             std::to_string(c.program.places[need.place].where.front().line) + ")";
  }
  return out + (b.needs.size() > kMost ? " and others" : "");
}

// Who may arrive at the first barriers at which somebody waits.
void add_candidates(const std::vector<Blocked>& blocked, Diag& d) {
  constexpr size_t kMostBarriers = 2;
  std::vector<const Blocked*> explained;
  for (const Blocked& b : blocked) {
    const Wait& t = b.path->wait;
    const bool known = std::ranges::any_of(explained, [&](const Blocked* o) {
      const Wait& other = o->path->wait;
      return o->warp->cta == b.warp->cta && other.kind == t.kind && other.address == t.address && other.id == t.id;
    });
    if (known || explained.size() == kMostBarriers) continue;
    std::vector<Note> notes = candidates(*b.warp, *b.path);
    if (notes.empty()) continue;
    explained.push_back(&b);
    d.notes.insert(d.notes.end(), std::make_move_iterator(notes.begin()), std::make_move_iterator(notes.end()));
  }
}

// Adds the finding that describes who is blocked where.
void add_hang(Cluster& c) {
  const Path* first = nullptr;
  const Cta* where = nullptr;
  for (const Warp* w : c.warps)
    for (const Path& p : w->paths) {
      const bool registers = p.wait.kind == Wait::Kind::registers;
      if (!first || registers || (first->wait.kind != Wait::Kind::mbarrier && p.wait.kind == Wait::Kind::mbarrier))
        first = &p, where = w->cta;
    }
  if (!first) return;
  size_t cycle = 0;
  const std::vector<Blocked> blocked = in_order_of_waiting(c, first, cycle);
  const bool registers = first->wait.kind == Wait::Kind::registers;
  Diag d = where->violation(
      registers ? "SETREG-05" : "PROG-01", c.program.code[first->pc].place,
      "deadlock: CTA (" + std::to_string(where->id.x) + "," + std::to_string(where->id.y) + "," +
          std::to_string(where->id.z) + "), " + std::to_string(blocked.size()) +
          " blocked and nothing outstanding can release them" +
          (cycle ? "; the first " + std::to_string(cycle) + " below wait for each other in turn" : ""));
  for (const Blocked& b : blocked)
    d.notes.push_back(
        {c.program.places[c.program.code[b.path->pc].place].where.front(),
         warp_text(c, *b.warp) + lanes_text(b.path->mask) + " " + wait_text(*b.warp, *b.path) + needs_text(c, b)});
  add_candidates(blocked, d);
  c.findings.push_back(std::move(d));
}

// Lanes that cannot come to where `p` waits for them: they stand at a join until lanes of `p` come, or wait for lanes
// of `p` at another instruction.
uint32_t lost_lanes(const Warp& w, const Path& p) {
  uint32_t lost = 0;
  for (const Join& j : w.joins)
    if (j.expected & p.mask) lost |= j.arrived;
  for (const Path& q : w.paths) {
    const bool same = q.wait.kind == Wait::Kind::sync_lanes ? p.wait.kind == q.wait.kind : q.pc == p.pc;
    const bool waits = q.wait.kind == Wait::Kind::lanes || q.wait.kind == Wait::Kind::sync_lanes;
    if (waits && !same && q.wait.lanes & p.mask) lost |= q.mask;
  }
  return lost & p.wait.lanes & w.live & ~p.mask;
}

}  // namespace

void report_divergence(Cluster& c) {
  if (!c.race) return;
  for (Warp* w : c.warps)
    for (const Path& p : w->paths)
      if (const uint32_t lost = p.wait.rule ? lost_lanes(*w, p) : 0)
        w->cta->finding(w->cta->violation(p.wait.rule, c.program.code[p.pc].place,
                                          "only a part of warp " + std::to_string(w->index) + lanes_text(p.mask) +
                                              " executes this: other lanes" + lanes_text(lost) + " have passed it by"));
}

void report_hang(Cluster& c) {
  report_divergence(c);
  add_hang(c);
}

void report_exit(Cluster& c) {
  if (!c.race) return;
  for (const auto& op : c.async.ops)
    if (op->barrier != 0)
      op->cta->finding(op->cta->violation("MBAR-16", op->place,
                                          "the CTA has exited while this is outstanding: " + op->describe(*op->cta)));
  for (const auto& cta : c.ctas) check_exit(*cta);
}

void report_races(Cluster& c) {
  if (!c.race) return;
  if (c.finished()) c.race->check_lifetimes();
  for (const RaceReport& r : c.race->reports()) c.ctas[0]->finding(describe(c, r));
}

std::vector<Diag> describe_grid_races(const GridRaces& races, const Program& program, const GlobalMemory& global,
                                      const Launch& launch) {
  std::vector<Diag> out;
  for (const RaceReport& r : races.reports()) {
    Diag d = violation(program, "RACE-02", r.now.place,
                       "nothing orders this " + name_of(r.now) + " of " + global_text(global, 4 * r.word) + " by " +
                           cluster_text(launch, r.now.cluster) + " and the " + name_of(r.before) + " by " +
                           cluster_text(launch, r.before.cluster));
    d.notes.push_back({program.places[r.before.place].where.front(), "the " + name_of(r.before)});
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace tc::sim
