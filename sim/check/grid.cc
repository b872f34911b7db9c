#include "sim/check/grid.h"

#include <algorithm>

namespace tc::sim {
namespace {

constexpr size_t kMaxReports = 32;
constexpr uint32_t kMostReadersOfGrid = 2;  // any two tell whether another cluster has read the word

// What the entries of one history come to.
std::vector<Footprint::Act> acts_of(const Histories& h, uint32_t history) {
  std::vector<Footprint::Act> out;
  for (uint32_t n = history; n; n = h.node(n).older) {
    const Entry& e = h.node(n).entry;
    const Touch& ev = h.event(e.event);
    auto same = std::ranges::find_if(out, [&](const Footprint::Act& a) { return a.kind == ev.kind; });
    if (same == out.end()) out.push_back({ev.kind, e.bytes, ev.place});
    else same->bytes |= e.bytes;
  }
  return out;
}

Footprint footprint_of(Memory& m) {
  Footprint f;
  std::vector<uint32_t> index(m.histories.size(), UINT32_MAX);
  std::vector<std::pair<uint64_t, const Shadow::Page*>> pages;
  m.shadow.each_page([&](uint64_t number, Shadow::Page& page) { pages.emplace_back(number, &page); });
  std::ranges::sort(pages);
  for (const auto& [number, page] : pages)
    for (uint64_t k = 0; k < Shadow::kPageWords;) {
      const uint32_t h = (*page)[k].history;
      const uint64_t start = k;
      while (k < Shadow::kPageWords && (*page)[k].history == h) ++k;
      if (h == 0) continue;
      if (index[h] == UINT32_MAX) {
        index[h] = static_cast<uint32_t>(f.acts.size());
        f.acts.push_back(acts_of(m.histories, h));
      }
      f.runs.push_back({number * Shadow::kPageWords + start, static_cast<uint32_t>(k - start), index[h]});
    }
  return f;
}

}  // namespace

GridRaces::GridRaces(bool together) : together_(together) { memory_.most_readers = together ? 6 : kMostReadersOfGrid; }

void GridRaces::race(const RaceReport& report) {
  for (const RaceReport& r : reports_)
    if (r.now.place == report.now.place && r.before.place == report.before.place) return;
  if (reports_.size() >= kMaxReports) return;
  reports_.push_back(report);
  reports_.back().global = true, reports_.back().rule = "RACE-02";
}

void GridRaces::add(uint32_t number, const Footprint& footprint) {
  for (const Footprint::Run& run : footprint.runs)
    for (const Footprint::Act& a : footprint.acts[run.what]) {
      View v;
      v.own_row = 0, v.cluster = number;
      Toucher t(memory_, v, {number, 0, 1, a.place, a.kind, false}, *this);
      t.words(run.word, run.count, a.bytes);
    }
}

void GridRaces::finished(uint32_t number, RaceChecker& checker) {
  if (together_) return;
  Footprint f = footprint_of(*checker.global_memory_);
  const std::scoped_lock lock(mutex_);
  waiting_.emplace(number, std::move(f));
  for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; at = waiting_.erase(at), ++next_)
    add(at->first, at->second);
}

}  // namespace tc::sim
