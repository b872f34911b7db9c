#include "sim/check/race.h"

#include <bit>

namespace tc::sim {
namespace {

constexpr size_t kMaxReports = 64;

template <class Visit>
void each_lane(uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1) visit(static_cast<uint32_t>(std::countr_zero(lanes)));
}

}  // namespace

RaceChecker::RaceChecker(uint32_t warps, uint32_t shared_bytes)
    : warps_(warps),
      next_slot_(64 * warps),
      epoch_(warps, 1),
      lanes_(32 * warps),
      heads_((shared_bytes + 3) / 4, kNone) {
  const Ref empty = std::make_shared<Clock>();
  for (Lane& l : lanes_) l.clock = empty;
}

RaceChecker::View RaceChecker::view(uint32_t warp, uint32_t lane) const {
  const Lane& l = lanes_[32 * warp + lane];
  return {l.clock.get(), &l, 32 * warp + lane, 32 * (warps_ + warp) + lane, epoch_[warp]};
}

bool RaceChecker::ordered(const Node& node, const View& v, bool need_visible) {
  bool all = true;
  each_lane(node.lanes, [&](uint32_t bit) {
    const uint32_t agent = node.agent + bit;
    uint32_t known = entry(need_visible ? v.clock->visible : v.clock->known, agent);
    if (agent == v.own) known = need_visible ? std::max(known, v.lane->own_visible) : kNone;
    else if (agent == v.own_cp) known = std::max(known, need_visible ? v.lane->cp_visible : v.lane->cp_known);
    all &= known >= node.epoch;
  });
  return all;
}

void RaceChecker::report(std::string_view rule, uint32_t word, const Node& now, const Node& before) {
  for (const RaceReport& r : reports_)
    if (r.place_now == now.place && r.place_before == before.place && r.rule == rule) return;
  if (reports_.size() < kMaxReports)
    reports_.push_back({rule, 4 * word, now.place, before.place, now.kind, before.kind, now.async, before.async});
}

uint32_t RaceChecker::allocate() {
  if (free_ == kNone) {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  const uint32_t n = free_;
  free_ = nodes_[n].next;
  return n;
}

void RaceChecker::insert(uint32_t word, Node node, const View& v) {
  uint32_t* link = &heads_[word];
  uint32_t same = kNone;  // the entry of another lane of this very access, or of its repetition
  while (*link != kNone) {
    Node& old = nodes_[*link];
    bool drop = false;
    const bool overlap = old.bytes & node.bytes;
    const bool conflict = overlap && (old.kind != Access::read || node.kind != Access::read) &&
                          !(old.kind == Access::atomic && node.kind == Access::atomic);
    const bool covered = (old.bytes & ~node.bytes) == 0;
    if (conflict) {
      const bool before = ordered(old, v, false);
      const bool crosses = node.async && !old.async && old.kind != Access::read;
      if (!before) report("RACE-01", word, node, old);
      else if (crosses && !ordered(old, v, true)) report("FENCE-01", word, node, old);
      drop = covered && node.kind != Access::read;
    } else if (old.agent == node.agent && old.kind == node.kind && old.async == node.async && old.cp == node.cp) {
      if (old.epoch == node.epoch && old.bytes == node.bytes) same = *link;
      else drop = covered && (old.lanes & ~node.lanes) == 0;
    }
    if (drop) {
      const uint32_t n = *link;
      *link = old.next;
      old.next = free_, free_ = n;
    } else {
      link = &old.next;
    }
  }
  if (same != kNone) {
    nodes_[same].lanes |= node.lanes;
    return;
  }
  const uint32_t n = allocate();  // may move nodes_: `link` is not used any more
  node.next = heads_[word];
  nodes_[n] = node;
  heads_[word] = n;
}

void RaceChecker::range(uint32_t address, uint32_t bytes, Node node, const View& v) {
  const uint32_t end = std::min<uint32_t>(address + bytes, static_cast<uint32_t>(4 * heads_.size()));
  for (uint32_t word = address / 4; 4 * word < end; ++word) {
    const uint32_t first = std::max(address, 4 * word) - 4 * word, last = std::min(end, 4 * word + 4) - 4 * word;
    node.bytes = static_cast<uint8_t>(((1u << last) - 1) & ~((1u << first) - 1));
    insert(word, node, v);
  }
}

void RaceChecker::generic(uint32_t warp, uint32_t lanes, const uint32_t* address, uint32_t bytes, Access kind,
                          uint32_t place) {
  each_lane(lanes, [&](uint32_t l) {
    range(address[l], bytes, {32 * warp, epoch_[warp], 1u << l, place, kNone, 0, kind, false, false}, view(warp, l));
  });
}

void RaceChecker::cp_async(uint32_t warp, uint32_t lane, uint32_t address, uint32_t bytes, uint32_t group,
                           uint32_t place) {
  range(address, bytes, {32 * (warps_ + warp), group, 1u << lane, place, kNone, 0, Access::write, false, true},
        view(warp, lane));
}

void RaceChecker::async(uint32_t warp, uint32_t lane, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes,
                        Access kind, uint32_t place) {
  range(address, bytes, {slot, epoch, 1, place, kNone, 0, kind, true, false}, view(warp, lane));
}

void RaceChecker::async(const Clock& start, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes,
                        Access kind, uint32_t place) {
  range(address, bytes, {slot, epoch, 1, place, kNone, 0, kind, true, false}, View{&start});
}

void RaceChecker::snapshot_into(Clock& into, uint32_t warp, uint32_t lanes) const {
  const Clock* last = nullptr;
  each_lane(lanes, [&](uint32_t bit) {
    const uint32_t id = 32 * warp + bit;
    const Lane& l = lanes_[id];
    if (l.clock.get() != last) join(into, *(last = l.clock.get()));
    raise(into.known, id, epoch_[warp]);
    raise(into.visible, id, l.own_visible);
    if (l.cp_known) raise(into.known, cp_slot(warp, bit), l.cp_known);
    if (l.cp_visible) raise(into.visible, cp_slot(warp, bit), l.cp_visible);
  });
}

Clock RaceChecker::snapshot(uint32_t warp, uint32_t lanes) const {
  Clock c;
  snapshot_into(c, warp, lanes);
  return c;
}

void RaceChecker::acquire(uint32_t warp, uint32_t lanes, const Clock& clock) {
  const Clock* from = nullptr;
  Ref to;
  each_lane(lanes, [&](uint32_t bit) {
    Lane& l = lanes_[32 * warp + bit];
    if (l.clock.get() != from) {
      auto joined = std::make_shared<Clock>(*l.clock);
      join(*joined, clock);
      from = l.clock.get(), to = std::move(joined);
    }
    l.clock = to;
  });
}

void RaceChecker::learn(uint32_t warp, uint32_t lanes, uint32_t slot, uint32_t epoch) {
  Clock c;
  raise(c.known, slot, epoch);
  acquire(warp, lanes, c);
}

void RaceChecker::cp_async_complete(uint32_t warp, uint32_t lane, uint32_t group) {
  Lane& l = lanes_[32 * warp + lane];
  l.cp_known = std::max(l.cp_known, group);
}

void RaceChecker::sync_lanes(uint32_t warp, uint32_t lanes) {
  const Clock c = snapshot(warp, lanes);
  released(warp);
  acquire(warp, lanes, c);
}

void RaceChecker::proxy_fence(uint32_t warp, uint32_t lanes) {
  const Clock* from = nullptr;
  Ref to;
  each_lane(lanes, [&](uint32_t bit) {
    Lane& l = lanes_[32 * warp + bit];
    if (l.clock.get() != from) {
      auto all = std::make_shared<Clock>(*l.clock);
      join(all->visible, all->known);
      from = l.clock.get(), to = std::move(all);
    }
    l.clock = to;
    l.own_visible = epoch_[warp];
    l.cp_visible = l.cp_known;
  });
  released(warp);
}

bool RaceChecker::knows(uint32_t warp, uint32_t lane, uint32_t slot, uint32_t epoch) const {
  return ordered({slot, epoch, 1, 0, kNone, 0, Access::write, true, false}, view(warp, lane), false);
}

void RaceChecker::forget(uint32_t address, uint32_t bytes) {
  for (uint32_t word = address / 4; word < heads_.size() && 4 * word < address + bytes; ++word)
    while (heads_[word] != kNone) {
      const uint32_t n = heads_[word];
      heads_[word] = nodes_[n].next;
      nodes_[n].next = free_, free_ = n;
    }
}

}  // namespace tc::sim
