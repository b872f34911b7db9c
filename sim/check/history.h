// What the bytes of a word have seen, as numbers: a history is a list of entries (event, lanes, bytes), and equal
// histories have equal numbers, so that neighbouring words with one past are judged once.
//   warp 0 stores to 32 words, lane l to word l: one event 5, one history 9 = {event 5, the cell's lanes, bytes 0-3};
//   word l is the cell {history 9, lanes 1 << l}
// An event is an access of a row of agents in one epoch by one instruction. Number 0: nothing yet.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tc::sim {

// Strong accesses (atomic, volatile, relaxed, acquire, release; operations on mbarriers) do not race with each other.
enum class Access : uint8_t { read, write, strong_read, strong_write };
inline bool is_write(Access a) { return a == Access::write || a == Access::strong_write; }
inline bool is_strong(Access a) { return a == Access::strong_read || a == Access::strong_write; }
inline bool conflict(Access a, Access b) { return (is_write(a) || is_write(b)) && !(is_strong(a) && is_strong(b)); }

struct Touch {
  uint32_t cluster = 0, row = 0, epoch = 0, place = 0;
  Access kind = Access::read;
  bool async = false;  // through the async proxy
  bool operator==(const Touch&) const = default;
};

// `lanes` 0: those of the cell. `part` 1 or 2: each lane touched that many of the bytes, in the order of the lanes.
struct Entry {
  uint32_t event = 0, lanes = 0;
  uint8_t bytes = 0, part = 0;
  bool operator==(const Entry&) const = default;
};

struct Cell {
  uint32_t history = 0, lanes = 0;
};

class Histories {
 public:
  Histories();
  uint32_t event(const Touch& e);
  const Touch& event(uint32_t number) const { return events_[number]; }
  uint32_t history(std::span<const Entry> entries);
  std::span<const Entry> entries(uint32_t number) const {
    const Range& r = ranges_[number];
    return {entries_.data() + r.first, r.count};
  }
  size_t size() const { return ranges_.size(); }
  void clear();
  // Keeps the marked histories, renumbered: the new number of each, 0 for those that are gone.
  std::vector<uint32_t> compact(const std::vector<bool>& used);

 private:
  struct Range {
    uint32_t first, count;
  };
  void grow(std::vector<uint32_t>& buckets, size_t count, bool of_events);
  static uint64_t hash(const Touch& e);
  static uint64_t hash(std::span<const Entry> entries);

  std::vector<Touch> events_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;
  std::vector<uint32_t> event_buckets_, history_buckets_;  // open addressing; 0: free
};

}  // namespace tc::sim
