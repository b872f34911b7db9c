// One access of some lanes to words of memory: compared with what the words have seen, then added to it.
//   entry of the word                      a new write by lane 3 of warp 0, bytes 0-3
//   write, warp 1, epoch 4                 race unless the writer knows epoch 4 of that lane of warp 1
//   write by generic proxy, new one async  FENCE-01 (it reads) or FENCE-04 (it writes) unless the fence is known, too
// Entries that the new one stands for are dropped: everything before a write; what the same lanes did before in the
// same way; what is known to have happened. Neighbouring words with the same past and lanes alike are judged once.
// Cost: about 1 ns a word where the past repeats, 50 ns where it does not.
#pragma once
#include <string_view>

#include "sim/check/clock.h"
#include "sim/check/shadow.h"

namespace tc::sim {

struct RaceReport {
  std::string_view rule;
  uint64_t word = 0;  // address / 4
  bool global = false;
  Touch now{}, before{};
  uint32_t released_place = UINT32_MAX;  // WGMMA-13: where the word was given away too early
  bool narrow = false;                   // ordered, were scopes not looked at
  uint32_t scope_place = UINT32_MAX;     // whose scope is too narrow, where it is known
  Scope scope = Scope::gpu;              // that it has
};

// Takes what was found; the first report of two instructions counts.
class RaceSink {
 public:
  virtual ~RaceSink() = default;
  virtual void race(const RaceReport& report) = 0;
  // A write of what another cluster has written before: no race, if it is.
  virtual void rewritten() {}
};

// Histories of one address space with the words that have them.
struct Memory {
  Histories histories;
  Shadow shadow;
  uint32_t most_readers = UINT32_MAX;  // reads kept of a word
  bool any_readers = false;            // any that many reads tell all
  void clear();
  bool has_many_histories() const { return histories.size() > compact_at_; }
  // Forgets histories that no word has any more; those that are left have new numbers.
  void compact();
  // Has any byte of [address, address + bytes) been given a value that is defined?
  bool has_value(uint64_t address, uint64_t bytes);

 private:
  bool defines(uint32_t history, uint32_t bytes) const;
  uint32_t defined_ = 0;  // the history of a whole word that has a value, found last
  static constexpr size_t kFewHistories = 1 << 14;
  size_t compact_at_ = kFewHistories;
};

// What is known to whom an access is attributed.
struct View {
  static constexpr uint32_t kNoRow = UINT32_MAX;
  const Clock* clock = nullptr;
  const Part* part = nullptr;  // of the clock, about the own cluster
  uint32_t cluster = 0;
  uint32_t own_row = kNoRow;                       // a lane's own accesses are known to it
  uint32_t own_copies = kNoRow, copies_known = 0;  // its own cp.async up to this group
};

class Toucher {
 public:
  Toucher(Memory& memory, const View& view, const Touch& event, RaceSink& sink);
  // Reads of bytes that nothing has written are reported, too (BOUND-02): where no byte of the word that is read is.
  void watch_written() { watch_written_ = true; }
  // The same event with another view (a lane with a clock of its own).
  void look_from(const View& view) { view_ = view, forget(); }
  // `lanes` touch the bytes [address, address + bytes).
  void range(uint64_t address, uint64_t bytes, uint32_t lanes);
  // A lane touches these bytes of each of `count` words.
  void words(uint64_t word, uint64_t count, uint8_t bytes);
  // Lane l touches [address + l * bytes, address + (l + 1) * bytes); address is a multiple of 4, bytes 1, 2, 4, 8 ...
  // The pattern repeats after `period` lanes: 32, or a smaller power of two that fills whole words, with bytes >= 4.
  void striped(uint64_t address, uint32_t bytes, uint32_t period);

 private:
  struct Memo {
    uint32_t before = UINT32_MAX, after = 0;
    bool single = false;
  };
  void forget() { memo_[0].before = memo_[1].before = UINT32_MAX; }
  void shape(uint8_t bytes, uint8_t part);
  void touch(Cell& cell, uint64_t word, uint32_t lanes) {
    const bool same = cell.lanes == lanes, single = (lanes & (lanes - 1)) == 0;
    if (cell.history == only_mine_ && (mergeable_ || (same && (single || part_)))) {
      cell.lanes |= lanes;
      return;
    }
    const Memo& m = memo_[same];
    if (m.before == cell.history && m.single == single) cell = {m.after, lanes};
    else judge(cell, word, lanes);
  }
  void judge(Cell& cell, uint64_t word, uint32_t lanes);
  bool is_written(uint32_t history) const;
  bool drops(const Entry& e, uint32_t theirs, uint32_t lanes, bool same, uint64_t word, uint32_t& mine, bool& reusable);

  // Known to have happened: whatever the lanes of the row, or looked up for these lanes.
  enum class Order : uint8_t { after_all, after_these, unordered };
  Order order(const Touch& e, uint32_t their_lanes, Knowledge Part::*by) const;
  bool is_own(const Touch& e) const;
  uint32_t lanes_on(const Entry& e, uint32_t lanes, uint32_t bytes) const;
  bool own_lanes_only(const Entry& e, uint32_t their_lanes, uint32_t lanes) const;
  void report(std::string_view rule, uint64_t word, const Touch& before, bool narrow = false);

  Memory& memory_;
  View view_;
  Touch event_;
  RaceSink& sink_;
  uint32_t number_ = 0, alone_ = 0, only_mine_ = 0;
  uint8_t bytes_ = 0, part_ = 0;
  bool mergeable_ = false;  // lanes of one instruction may share an entry
  bool watch_written_ = false;
  Memo memo_[2];
};

}  // namespace tc::sim
