// Dependencies of a protocol and the clock of an instance; Farkas by substitution. No solver here.
#include <algorithm>
#include <cassert>
#include <set>

#include "verifier/proof/schedule.h"

namespace tc::verify {

Timing::Timing(Model& m) : m_(m) {
  for (const EventClass& c : m.classes)
    if (c.loops.size() == 2) {
      auto it = std::ranges::find(inner_, c.loops[0].trip, &std::pair<Aff, Aff>::first);
      if (it == inner_.end()) inner_.emplace_back(c.loops[0].trip, c.loops[1].trip);
    }
  symbols_ = m.param_syms();
  for (const auto& [outer, inner] : inner_) {
    Aff all = m.terms.product(outer, inner);
    for (const auto& [s, c] : all.terms())
      if (s != kOne && m.terms.definition(s).kind == SymKind::product &&
          std::ranges::find(symbols_, s) == symbols_.end())
        symbols_.push_back(s);
  }
}

Clock Timing::clock(int id, std::span<const Aff> vec) const {
  const EventClass& c = m_[id];
  if (vec.size() == 2) return {m_.terms.product(vec[0], c.loops[1].trip) + vec[1], vec[0]};
  if (vec.size() == 1) {
    auto it = std::ranges::find(inner_, c.loops[0].trip, &std::pair<Aff, Aff>::first);
    if (it == inner_.end()) return {vec[0], {}};
    return {m_.terms.product(vec[0], it->second), vec[0]};
  }
  return {};
}

int64_t Timing::date(const Schedule& s, int id, std::span<const Aff> vec, const Point& at) const {
  auto value = [&](const Aff& a) { return m_.terms.value(a, at); };
  Clock c = clock(id, vec);
  const std::vector<int64_t>& d = s.offsets[static_cast<size_t>(id)];
  int64_t t = s.flat * value(c.flat) + s.outer * value(c.outer) + d.back();
  for (size_t i = 0; i < s.symbols.size(); ++i)
    if (d[i]) t += d[i] * value(Aff::of(s.symbols[i]));
  return t;
}

namespace {
struct Border {
  int id;
  std::vector<Aff> vec;
  std::vector<Aff> region;  // the loop is entered
};
Border border(const Model& m, const Sequence& s, bool last) {
  if (s.id >= 0) return {s.id, m.instance(s.id), {}};
  int mark = last ? s.items.back().id : s.items.front().id;
  Border b{mark, m.instance(mark), {s.trip - 1}};
  b.vec.back() = last ? s.trip - 1 : Aff(0);
  return b;
}
}  // namespace

// Program order by generating edges: every statement to the ones after it up to the first that surely runs, the end of
// an iteration to the beginning of the next.
void Timing::chain(const std::vector<Sequence>& items, std::vector<Dependency>& out) const {
  std::vector<Aff> shared;
  if (!items.empty() && items[0].id >= 0 && m_[items[0].id].is_mark) shared = m_[items[0].id].guards;
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = i + 1; j < items.size(); ++j) {
      Border a = border(m_, items[i], true), b = border(m_, items[j], false);
      a.region.insert(a.region.end(), b.region.begin(), b.region.end());
      out.push_back({a.id, b.id, std::move(a.vec), std::move(b.vec), std::move(a.region)});
      if (items[j].id >= 0 && std::ranges::all_of(m_[items[j].id].guards, [&](const Aff& g) {
            return std::ranges::find(shared, g) != shared.end();
          }))
        break;
    }
  for (const Sequence& s : items) {
    if (s.id >= 0) continue;
    int begin = s.items.front().id, end = s.items.back().id;
    std::vector<Aff> now = m_.instance(begin), before = now;
    before.back() = before.back() - 1;
    out.push_back({end, begin, std::move(before), std::move(now), {}});
    chain(s.items, out);
  }
}

// The region of a dependency: both instances exist, the assumptions hold, and facts about the products.
void Timing::close(Dependency& d) const {
  std::vector<Aff> all = m_.assumptions;
  auto append = [&](std::vector<Aff> more) { all.insert(all.end(), more.begin(), more.end()); };
  append(m_.domain(d.from, d.from_vec));
  append(m_.domain(d.to, d.to_vec));
  append(d.region);
  for (auto [id, vec] : {std::pair(d.from, &d.from_vec), std::pair(d.to, &d.to_vec)}) {
    if (vec->empty()) continue;
    const LoopLevel& outer = m_[id].loops[0];
    auto it = std::ranges::find(inner_, outer.trip, &std::pair<Aff, Aff>::first);
    if (it == inner_.end()) continue;
    Aff wK = m_.terms.product((*vec)[0], it->second);
    // 0 <= w*K <= W*K - K needs K >= 0: inside the inner loop K >= 1, else it has to follow from the assumptions, which
    // hold for a trip count that is a parameter (others are left out).
    bool is_param = it->second.terms().size() == 1 &&
                    std::ranges::find(symbols_, it->second.terms()[0].first) != symbols_.end() &&
                    it->second.terms()[0].second > 0;
    if (vec->size() == 2 && m_[id].loops[1].trip == it->second) is_param = true;
    if (!is_param) continue;
    append({wK, m_.terms.product(outer.trip, it->second) - wK - it->second});
    if (vec->size() == 2 && m_[id].loops[1].trip == it->second) append({wK - (*vec)[0]});
  }
  std::erase_if(all, [](const Aff& g) { return g.is_constant() && g.constant_part() >= 0; });
  std::vector<Aff> unique;
  for (Aff& g : all)
    if (std::ranges::find(unique, g) == unique.end()) unique.push_back(std::move(g));
  d.region = std::move(unique);
}

std::vector<Dependency> Timing::dependencies(Algebra& algebra) const {
  std::vector<Dependency> out;
  for (const Sequence& s : m_.sequences) chain(s.items, out);
  for (const EventClass& f : m_.classes) {
    if (f.is_mark || f.event.kind != EventKind::wait || !f.ticket) continue;
    for (const EventClass& e : m_.classes) {
      bool completes =
          e.event.kind == EventKind::arrive || e.event.kind == EventKind::copy || e.event.kind == EventKind::expect;
      if (e.is_mark || !completes || e.event.ring != f.event.ring || !e.ticket) continue;
      for (Solution& s : algebra.solve(e.id, *e.ticket, *f.ticket, nullptr))
        out.push_back({e.id, f.id, std::move(s.vec), m_.instance(f.id), std::move(s.constraints)});
    }
  }
  for (Dependency& d : out) close(d);
  return out;
}

std::optional<size_t> check_farkas(const Model& m, const Timing& timing, const std::vector<Dependency>& deps,
                                   const Schedule& s) {
  if (s.proofs.size() != deps.size() || s.offsets.size() != m.classes.size() || s.symbols != timing.symbols()) return 0;
  for (const auto& d : s.offsets)
    if (d.size() != s.symbols.size() + 1) return 0;
  for (size_t n = 0; n < deps.size(); ++n) {
    const Dependency& d = deps[n];
    const Farkas& f = s.proofs[n];
    if (f.multipliers.size() != d.region.size() || f.rest < 0) return n;
    Clock to = timing.clock(d.to, d.to_vec), from = timing.clock(d.from, d.from_vec);
    Aff psi = Aff(-1) + (to.flat - from.flat) * s.flat + (to.outer - from.outer) * s.outer;
    for (size_t i = 0; i <= s.symbols.size(); ++i) {
      int64_t difference = s.offsets[static_cast<size_t>(d.to)][i] - s.offsets[static_cast<size_t>(d.from)][i];
      psi.add(i < s.symbols.size() ? Aff::of(s.symbols[i]) : Aff(1), difference);
    }
    psi.add(Aff(1), -f.rest);
    for (size_t i = 0; i < d.region.size(); ++i) {
      if (f.multipliers[i] < 0) return n;
      psi.add(d.region[i], -f.multipliers[i]);
    }
    if (psi != Aff(0)) return n;
  }
  return std::nullopt;
}

}  // namespace tc::verify
