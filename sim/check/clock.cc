#include "sim/check/clock.h"

#include <algorithm>

namespace tc::sim {

const Knowledge::Ahead* Knowledge::ahead(uint32_t row) const {
  for (const Ahead& a : ahead_)
    if (a.row == row) return &a;
  return nullptr;
}

uint32_t Knowledge::of(uint32_t row, uint32_t lane) const {
  const Ahead* a = ahead(row);
  return a ? std::max(floor(row), a->lane[lane]) : floor(row);
}

void Knowledge::settle(size_t at) {
  Ahead& a = ahead_[at];
  const auto [least, most] = std::minmax_element(a.lane.begin(), a.lane.end());
  if (a.row >= all_.size()) all_.resize(a.row + 1, 0);
  all_[a.row] = std::max(all_[a.row], *least);
  if (*most <= all_[a.row]) ahead_.erase(ahead_.begin() + static_cast<ptrdiff_t>(at));
}

void Knowledge::raise(uint32_t row, uint32_t lanes, uint32_t epoch) {
  if (epoch <= floor(row)) return;
  auto at = std::find_if(ahead_.begin(), ahead_.end(), [&](const Ahead& a) { return a.row >= row; });
  const bool found = at != ahead_.end() && at->row == row;
  if (lanes == ~0u) {
    if (row >= all_.size()) all_.resize(row + 1, 0);
    all_[row] = epoch;
    if (found) settle(static_cast<size_t>(at - ahead_.begin()));
    return;
  }
  if (!found) at = ahead_.insert(at, Ahead{row, {}});
  for (uint32_t l = 0; l < 32; ++l)
    if (lanes >> l & 1) at->lane[l] = std::max(at->lane[l], epoch);
  settle(static_cast<size_t>(at - ahead_.begin()));
}

void Knowledge::join(const Knowledge& other) {
  if (all_.size() < other.all_.size()) all_.resize(other.all_.size(), 0);
  for (size_t i = 0; i < other.all_.size(); ++i) all_[i] = std::max(all_[i], other.all_[i]);
  for (const Ahead& a : other.ahead_) {
    auto at = std::find_if(ahead_.begin(), ahead_.end(), [&](const Ahead& x) { return x.row >= a.row; });
    if (at == ahead_.end() || at->row != a.row) ahead_.insert(at, a);
    else
      for (uint32_t l = 0; l < 32; ++l) at->lane[l] = std::max(at->lane[l], a.lane[l]);
  }
  for (size_t i = ahead_.size(); i-- > 0;) settle(i);
}

void Knowledge::forget(uint32_t row) {
  if (row < all_.size()) all_[row] = 0;
  std::erase_if(ahead_, [row](const Ahead& a) { return a.row == row; });
}

bool Knowledge::covers(const Knowledge& other) const {
  const size_t n = std::min(all_.size(), other.all_.size());
  uint32_t more = 0;
  for (size_t i = 0; i < n; ++i) more |= other.all_[i] > all_[i];
  for (size_t i = n; i < other.all_.size(); ++i) more |= other.all_[i] != 0;
  if (more) return false;
  for (const Ahead& a : other.ahead_)
    for (uint32_t l = 0; l < 32; ++l)
      if (a.lane[l] > of(a.row, l)) return false;
  return true;
}

namespace {

bool covers(const Part& a, const Part& b) {
  return a.known.covers(b.known) && a.visible.covers(b.visible) && a.passed.covers(b.passed) &&
         a.executed.covers(b.executed) && a.narrow.covers(b.narrow) && a.fenced.covers(b.fenced);
}

void join(Shared<Part>& into, const Shared<Part>& other) {
  if (!other || into == other) return;
  if (!into || covers(*other, *into)) {
    into = other;
    return;
  }
  if (covers(*into, *other)) return;
  Part& p = into.own();
  p.known.join(other->known);
  p.visible.join(other->visible);
  p.passed.join(other->passed);
  p.executed.join(other->executed);
  p.narrow.join(other->narrow);
  p.fenced.join(other->fenced);
}

void join_foreign(Clock& into, uint32_t cluster, const Shared<Part>& part) {
  auto place = [&](auto& parts) {
    return std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first >= cluster; });
  };
  if (into.foreign) {
    auto at = place(into.foreign->parts);
    if (at != into.foreign->parts.end() && at->first == cluster && at->second == part) return;
  }
  ForeignParts& f = into.foreign.own();
  auto at = place(f.parts);
  if (at != f.parts.end() && at->first == cluster) join(at->second, part);
  else f.parts.insert(at, {cluster, part});
}

void join_about(Clock& into, uint32_t cluster, const Shared<Part>& part) {
  if (!part) return;
  if (into.cluster == Clock::kNoCluster) into.cluster = cluster;
  if (into.cluster == cluster) join(into.part, part);
  else join_foreign(into, cluster, part);
}

}  // namespace

const Part* Clock::about(uint32_t of_cluster) const {
  if (of_cluster == cluster) return part.get();
  if (!foreign) return nullptr;
  const auto& parts = foreign->parts;
  auto at =
      std::lower_bound(parts.begin(), parts.end(), of_cluster, [](const auto& p, uint32_t c) { return p.first < c; });
  return at != parts.end() && at->first == of_cluster ? at->second.get() : nullptr;
}

void join(Clock& into, const Clock& other) {
  join_about(into, other.cluster, other.part);
  if (!other.foreign || into.foreign == other.foreign) return;
  if (!into.foreign && into.cluster == other.cluster) into.foreign = other.foreign;
  else
    for (const auto& [cluster, part] : other.foreign->parts) join_about(into, cluster, part);
}

Clock fenced_part(const Clock& clock) {
  Clock out;
  auto add = [&](uint32_t cluster, const Shared<Part>& part) {
    if (!part || part->fenced.empty()) return;
    Part p;
    p.known = p.fenced = part->fenced;
    join_about(out, cluster, Shared<Part>::make(std::move(p)));
  };
  add(clock.cluster, clock.part);
  if (clock.foreign)
    for (const auto& [cluster, part] : clock.foreign->parts) add(cluster, part);
  return out;
}

}  // namespace tc::sim
