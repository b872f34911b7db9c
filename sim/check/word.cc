#include "sim/check/word.h"

#include <algorithm>
#include <bit>

namespace tc::sim {
namespace {

constexpr uint64_t kWordBytes = 4;

}  // namespace

void Memory::clear() {
  defined_ = 0;
  histories.clear(), shadow.clear();
  compact_at_ = kFewHistories;
}

void Memory::compact() {
  std::vector<bool> used(histories.size(), false);
  shadow.each_page([&](uint64_t, Shadow::Page& page) {
    for (const Cell& c : page) used[c.history] = true;
  });
  const std::vector<uint32_t> now = histories.compact(used);
  shadow.each_page([&](uint64_t, Shadow::Page& page) {
    for (Cell& c : page) c.history = now[c.history];
  });
  defined_ = 0;
  compact_at_ = std::max({kFewHistories, 4 * histories.size(), shadow.pages() * Shadow::kPageWords / 8});
}

bool Memory::defines(uint32_t history, uint32_t bytes) const {
  for (uint32_t n = history; n; n = histories.node(n).older) {
    const Entry& e = histories.node(n).entry;
    const Touch& t = histories.event(e.event);
    if (e.bytes & bytes && is_write(t.kind) && !t.undefined) return true;
  }
  return false;
}

bool Memory::has_value(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  for (uint64_t word = address / kWordBytes; word * kWordBytes < end; ++word) {
    const uint64_t start = word * kWordBytes;
    const uint64_t first = address > start ? address - start : 0, last = std::min(end - start, kWordBytes);
    const bool whole = first == 0 && last == kWordBytes;
    const uint32_t history = shadow.cell(word)->history;
    if (history == 0) continue;
    if (whole && history == defined_) return true;
    if (!defines(history, ((1u << last) - 1) & ~((1u << first) - 1))) continue;
    if (whole) defined_ = history;
    return true;
  }
  return false;
}

Toucher::Toucher(Memory& memory, const View& view, const Touch& event, RaceSink& sink)
    : memory_(memory), view_(view), event_(event), sink_(sink) {
  if (memory_.has_many_histories()) memory_.compact();
  const Histories::Numbers numbers = memory_.histories.event(event_);
  number_ = numbers.event, alone_ = numbers.alone;
}

void Toucher::shape(uint8_t bytes, uint8_t part) {
  if (bytes == bytes_ && part == part_) return;
  bytes_ = bytes, part_ = part;
  only_mine_ = bytes == kWholeWord && part == 0 ? alone_ : memory_.histories.on_top(0, {number_, 0, bytes, part});
  mergeable_ = !replaces(event_.kind) && event_.kind != Access::rewrite && part == 0;
  forget();
}

void Toucher::range(uint64_t address, uint64_t bytes, uint32_t lanes) {
  const uint64_t end = address + bytes;
  for (uint64_t word = address / kWordBytes; word * kWordBytes < end;) {
    const uint64_t start = word * kWordBytes;
    const uint64_t first = address > start ? address - start : 0, last = std::min(end - start, kWordBytes);
    Cell* cell = memory_.shadow.cell(word);
    if (first != 0 || last != kWordBytes) {
      shape(static_cast<uint8_t>(((1u << last) - 1) & ~((1u << first) - 1)), 0);
      touch(*cell, word++, lanes);
      continue;
    }
    shape(kWholeWord, 0);
    const uint64_t n = std::min(Shadow::left_in_page(word), (end - start) / kWordBytes);
    for (uint64_t k = 0; k < n; ++k) touch(cell[k], word + k, lanes);
    word += n;
  }
}

void Toucher::words(uint64_t word, uint64_t count, uint8_t bytes) {
  shape(bytes, 0);
  for (uint64_t end = word + count; word < end;) {
    Cell* cell = memory_.shadow.cell(word);
    for (uint64_t n = std::min(Shadow::left_in_page(word), end - word); n; --n) touch(*cell++, word++, 1);
  }
}

void Toucher::striped(uint64_t address, uint32_t bytes, uint32_t period) {
  const uint64_t first = address / kWordBytes, words = std::max<uint64_t>(period * bytes / kWordBytes, 1);
  shape(kWholeWord, bytes < kWordBytes ? static_cast<uint8_t>(bytes) : 0);
  const uint32_t lanes_per_word = bytes < kWordBytes ? static_cast<uint32_t>(kWordBytes) / bytes : 1;
  const uint32_t words_per_lane = bytes < kWordBytes ? 1 : bytes / static_cast<uint32_t>(kWordBytes);
  uint32_t group = (1u << lanes_per_word) - 1;
  for (uint32_t p = period; p < 32; p *= 2) group |= group << p;
  for (uint64_t k = 0; k < words;) {
    Cell* cell = memory_.shadow.cell(first + k);
    for (const uint64_t end = std::min(words, k + Shadow::left_in_page(first + k)); k < end; ++k, ++cell) {
      touch(*cell, first + k, group);
      if ((k + 1) % words_per_lane == 0) group <<= lanes_per_word;
    }
  }
}

// Which of an entry's lanes touch one of `bytes`.
uint32_t Toucher::lanes_on(const Entry& e, uint32_t lanes, uint32_t bytes) const {
  if (e.part == 0) return lanes;
  uint32_t out = 0, at = 0;
  for (uint32_t m = lanes; m; m &= m - 1, at += e.part)
    if (bytes >> at & ((1u << e.part) - 1)) out |= m & -m;
  return out;
}

// Of an entry of the same row: is every byte that both touch touched by one and the same lane alone?
bool Toucher::own_lanes_only(const Entry& e, uint32_t their_lanes, uint32_t lanes) const {
  const Entry mine{number_, lanes, bytes_, part_};
  for (uint32_t b = 0; b < kWordBytes; ++b) {
    const uint32_t byte = 1u << b;
    if (!(e.bytes & bytes_ & byte)) continue;
    if (!std::has_single_bit(lanes_on(e, their_lanes, byte) | lanes_on(mine, lanes, byte))) return false;
  }
  return true;
}

bool Toucher::is_own(const Touch& e) const {
  return e.cluster == view_.cluster &&
         (e.row == view_.own_row || (e.row == view_.own_copies && e.epoch <= view_.copies_known));
}

Toucher::Order Toucher::order(const Touch& e, uint32_t their_lanes, Knowledge Part::*by) const {
  const Part* part = e.cluster == view_.cluster ? view_.part : view_.clock ? view_.clock->about(e.cluster) : nullptr;
  if (!part) return Order::unordered;
  const Knowledge& k = part->*by;
  if (k.floor(e.row) >= e.epoch) return Order::after_all;
  for (uint32_t m = their_lanes; m; m &= m - 1)
    if (k.of(e.row, static_cast<uint32_t>(std::countr_zero(m))) < e.epoch) return Order::unordered;
  return Order::after_these;
}

void Toucher::report(std::string_view rule, uint64_t word, const Touch& before, bool narrow) {
  sink_.race({.rule = rule, .word = word, .now = event_, .before = before, .narrow = narrow});
}

// What becomes of an older entry of the word. `reusable`: whether neighbouring words with this history are judged
// alike.
bool Toucher::drops(const Entry& e, uint32_t theirs, uint32_t lanes, bool same, uint64_t word, uint32_t& mine,
                    bool& reusable) {
  const Touch& ev = memory_.histories.event(e.event);
  const uint32_t common = e.bytes & bytes_;
  const bool covered = (e.bytes & ~bytes_) == 0, alike = ev.kind == event_.kind && ev.async == event_.async && ev.scope == event_.scope;
  if (common && conflict(ev, event_)) {
    const uint32_t who = lanes_on(e, theirs, common);
    Order known = order(ev, who, &Part::known);
    // What was read, or written by a copy that somebody saw complete, may be overwritten once it is over.
    const bool over = ev.kind == Access::read || (ev.async && replaces(event_.kind));
    if (known == Order::unordered && over) known = order(ev, who, &Part::passed);
    if (known == Order::unordered && event_.kind == Access::retire && is_strong(ev.kind))
      known = order(ev, who, &Part::executed);
    if (known != Order::after_all && is_own(ev) && own_lanes_only(e, theirs, lanes)) known = Order::after_these;
    reusable &= known == Order::after_all || (e.lanes == 0 && same);
    if (known == Order::unordered) {
      report("RACE-01", word, ev, order(ev, who, &Part::narrow) != Order::unordered);
    } else if (event_.async && !ev.async && is_write(ev.kind)) {
      const Order seen = order(ev, who, &Part::visible);
      reusable &= seen != Order::after_these;
      if (seen == Order::unordered) report(is_write(event_.kind) ? "FENCE-04" : "FENCE-01", word, ev);
    }
    return covered && replaces(event_.kind);
  }
  if (common && event_.kind == Access::rewrite && is_write(ev.kind) && ev.cluster != event_.cluster) sink_.rewritten();
  if (!alike) return false;
  if (ev.row == event_.row && ev.cluster == event_.cluster) {
    const bool equal = e.event == number_ && e.bytes == bytes_ && e.part == part_;
    reusable &= same && e.lanes == 0;
    if (equal && (part_ == 0 || theirs == lanes)) {
      mine |= theirs;
      return true;
    }
    return covered && e.part == part_ && (part_ == 0 ? (theirs & ~lanes) == 0 : theirs == lanes);
  }
  return covered && order(ev, theirs, &Part::known) == Order::after_all;
}

bool Toucher::is_written(uint32_t history) const {
  for (uint32_t n = history; n; n = memory_.histories.node(n).older) {
    const Entry& e = memory_.histories.node(n).entry;
    if (e.bytes & bytes_ && is_write(memory_.histories.event(e.event).kind)) return true;
  }
  return false;
}

void Toucher::judge(Cell& cell, uint64_t word, uint32_t lanes) {
  static thread_local std::vector<Entry> kept;  // newest first
  kept.clear();
  Histories& h = memory_.histories;
  if (watch_written_ && !is_written(cell.history)) report("BOUND-02", word, {});
  const bool same = cell.lanes == lanes, reads = event_.kind == Access::read;
  bool reusable = true;
  uint32_t mine = lanes, readers = 0, base = cell.history;  // what is under the deepest change stays as it is
  size_t above = 0;                                         // entries of `kept` that lie on the base
  for (uint32_t n = cell.history; n; n = h.node(n).older) {
    const Entry e = h.node(n).entry;
    const bool read = h.event(e.event).kind == Access::read;
    if (drops(e, e.lanes ? e.lanes : cell.lanes, lanes, same, word, mine, reusable)) {
      base = h.node(n).older, above = kept.size();
      continue;
    }
    readers += read;
    kept.push_back(e);
  }
  if (reads && readers >= memory_.most_readers) {
    if (memory_.any_readers) return;
    const auto is_read = [&](const Entry& e) { return h.event(e.event).kind == Access::read; };
    const auto newest = std::ranges::find_if(kept, is_read);
    if (newest == kept.begin() && above == 0) base = h.node(base).older;
    else base = 0, above = kept.size() - 1;
    kept.erase(newest);
  }
  if (cell.lanes != mine)
    for (Entry& e : kept)
      if (e.lanes == 0) e.lanes = cell.lanes, reusable = false, base = 0, above = kept.size();
  while (above > 0) base = h.on_top(base, kept[--above]);
  const uint32_t past = cell.history;
  cell = {base == 0 ? only_mine_ : h.on_top(base, {number_, 0, bytes_, part_}), mine};
  if (reusable && mine == lanes) memo_[same] = {past, cell.history, std::has_single_bit(lanes)};
}

}  // namespace tc::sim
