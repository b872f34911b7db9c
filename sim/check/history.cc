#include "sim/check/history.h"

#include <algorithm>

namespace tc::sim {
namespace {

constexpr size_t kFirstBuckets = 256;

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

// The bucket of an equal element, or the free one where it belongs.
template <class Equal>
size_t find_bucket(const std::vector<uint32_t>& buckets, uint64_t hash, Equal equal) {
  size_t at = hash & (buckets.size() - 1);
  while (buckets[at] && !equal(buckets[at])) at = (at + 1) & (buckets.size() - 1);
  return at;
}

}  // namespace

Histories::Histories() { clear(); }

void Histories::clear() {
  events_.assign(1, {});
  ranges_.assign(1, {});
  entries_.clear();
  event_buckets_.assign(kFirstBuckets, 0);
  history_buckets_.assign(kFirstBuckets, 0);
}

uint64_t Histories::hash(const Touch& e) {
  return mix(mix(e.row, uint64_t{e.epoch} << 32 | e.place),
             uint64_t{e.cluster} << 8 | static_cast<uint64_t>(e.kind) << 1 | e.async);
}
uint64_t Histories::hash(std::span<const Entry> entries) {
  uint64_t h = entries.size();
  for (const Entry& e : entries) h = mix(h, uint64_t{e.event} << 32 | e.lanes) + (uint64_t{e.bytes} << 8 | e.part);
  return mix(h, 0);
}

void Histories::grow(std::vector<uint32_t>& buckets, size_t count, bool of_events) {
  if (2 * count < buckets.size()) return;
  std::vector<uint32_t> more(2 * buckets.size(), 0);
  for (uint32_t n : buckets)
    if (n) more[find_bucket(more, of_events ? hash(events_[n]) : hash(entries(n)), [](uint32_t) { return false; })] = n;
  buckets = std::move(more);
}

uint32_t Histories::event(const Touch& e) {
  grow(event_buckets_, events_.size(), true);
  uint32_t& bucket = event_buckets_[find_bucket(event_buckets_, hash(e), [&](uint32_t n) { return events_[n] == e; })];
  if (bucket) return bucket;
  events_.push_back(e);
  return bucket = static_cast<uint32_t>(events_.size() - 1);
}

uint32_t Histories::history(std::span<const Entry> list) {
  if (list.empty()) return 0;
  grow(history_buckets_, ranges_.size(), false);
  uint32_t& bucket = history_buckets_[find_bucket(history_buckets_, hash(list),
                                                  [&](uint32_t n) { return std::ranges::equal(entries(n), list); })];
  if (bucket) return bucket;
  ranges_.push_back({static_cast<uint32_t>(entries_.size()), static_cast<uint32_t>(list.size())});
  entries_.insert(entries_.end(), list.begin(), list.end());
  return bucket = static_cast<uint32_t>(ranges_.size() - 1);
}

std::vector<uint32_t> Histories::compact(const std::vector<bool>& used) {
  Histories kept;
  std::vector<uint32_t> now(ranges_.size(), 0);
  std::vector<Entry> list;
  for (uint32_t n = 1; n < ranges_.size(); ++n) {
    if (!used[n]) continue;
    list.assign(entries(n).begin(), entries(n).end());
    for (Entry& e : list) e.event = kept.event(events_[e.event]);
    now[n] = kept.history(list);
  }
  *this = std::move(kept);
  return now;
}

}  // namespace tc::sim
