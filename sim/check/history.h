// What the bytes of a word have seen, as numbers: a history is an entry (event, lanes, bytes) on top of an older
// history, and neighbouring words with one past have one number, so that they are judged once.
//   warp 0 stores to 32 words, lane l to word l: one event 5, one history 9 = {event 5, the cell's lanes, bytes 0-3};
//   word l is the cell {history 9, lanes 1 << l}
// An event is an access of a row of agents in one epoch by one instruction. Number 0: nothing yet. That equal ones get
// equal numbers is a matter of speed alone: recent ones are found again, others are made once more.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/check/scope.h"

namespace tc::sim {

// Strong accesses (atomic, volatile, relaxed, acquire, release; operations on mbarriers) do not race with each other.
// rewrite: a write of the value that is there already. Like others who look for races we do not call it one where the
// earlier access is a write too (all threads of a block store the same flag).
// retire: an mbarrier ends (inval), a write for which Part::executed is enough after operations on the barrier.
enum class Access : uint8_t { read, write, strong_read, strong_write, rewrite, retire };
inline bool is_write(Access a) { return a != Access::read && a != Access::strong_read; }
// Of whatever was there before, nothing is left.
inline bool replaces(Access a) { return a == Access::write || a == Access::retire; }
inline bool is_strong(Access a) { return a == Access::strong_read || a == Access::strong_write; }

struct Touch {
  uint32_t cluster = 0, row = 0, epoch = 0, place = 0;
  Access kind = Access::read;
  bool async = false;        // through the async proxy
  bool undefined = false;    // a write of a value that nobody has defined
  Scope scope = Scope::gpu;  // of a strong access
  uint32_t cta = 0;          // of the thread, within its cluster
  Home home() const { return {cluster, cta}; }
  bool operator==(const Touch&) const = default;
};
// Two strong accesses whose scopes include each other.
inline bool morally_strong(const Touch& a, const Touch& b) {
  return is_strong(a.kind) && is_strong(b.kind) &&
         ((a.scope == Scope::gpu && b.scope == Scope::gpu) || std::max(a.scope, b.scope) <= needed(a.home(), b.home()));
}
inline bool conflict(const Touch& earlier, const Touch& now) {
  if (now.kind == Access::rewrite && (earlier.kind == Access::write || earlier.kind == Access::rewrite)) return false;
  return (is_write(earlier.kind) || is_write(now.kind)) && !morally_strong(earlier, now);
}

// `lanes` 0: those of the cell. `part` 1 or 2: each lane touched that many of the bytes, in the order of the lanes.
inline constexpr uint8_t kWholeWord = 0xF;
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
  // An entry on top of an older history.
  struct Node {
    Entry entry;
    uint32_t older = 0;
  };

  Histories() { clear(); }
  struct Numbers {
    uint32_t event = 0,
             alone = 0;  // alone: the history of a whole word that has seen this event by its lanes, no other
  };
  Numbers event(const Touch& e);
  const Touch& event(uint32_t number) const { return events_[number]; }
  uint32_t on_top(uint32_t older, const Entry& entry);
  const Node& node(uint32_t number) const { return nodes_[number]; }
  size_t size() const { return nodes_.size(); }
  void clear();
  // Keeps the marked histories, renumbered: the new number of each, 0 for those that are gone.
  std::vector<uint32_t> compact(std::vector<bool>& used);

 private:
  struct RecentEvent {
    Touch touch;
    Numbers numbers;
    uint32_t generation = 0;
  };
  struct RecentNode {
    Node node;
    uint32_t number = 0, generation = 0;
  };
  static constexpr size_t kRecentEvents = 512, kRecentNodes = 1024;

  std::vector<Touch> events_;
  std::vector<Node> nodes_;
  uint32_t generation_ = 0;  // of the numbers
  std::array<RecentEvent, kRecentEvents> recent_events_{};
  std::array<RecentNode, kRecentNodes> recent_nodes_{};
};

}  // namespace tc::sim
