#include "sim/machine/named_barrier.h"

#include <bit>

namespace tc::sim {
namespace {

bool is_complete(const Cta& c, const NamedBarrier& b) {
  if (b.arrived_warps == 0) return false;
  if (b.expected_threads) return 32u * b.arrivals >= b.expected_threads;
  for (const Warp& w : c.warps)
    if (w.live && !(b.arrived_warps >> w.index & 1)) return false;
  return true;
}

void complete(Cta& c, NamedBarrier& b) {
  if (c.race) {
    if (b.ticket == 0) b.ticket = c.race->new_ticket();
    c.race->complete(b.clock, b.ticket, static_cast<uint32_t>(b.generation + 1));
    for (const Warp& w : c.warps)
      if (b.syncing_warps >> w.index & 1) c.race->acquire(w.agent, w.live, b.clock);
  }
  b.arrived_warps = b.syncing_warps = b.expected_threads = b.arrivals = 0;
  b.result = b.reduced;
  b.reduced = 0;
  b.clock = {};
  ++b.generation;
  ++c.progress;
}

void publish(Cta& c, NamedBarrier& b, const Warp& w, uint32_t lanes, uint32_t place) {
  if (!c.race) return;
  c.race->settle(w.agent, lanes);
  c.race->snapshot_into(b.clock, w.agent, lanes);
  c.race->released(w.agent, place);
}

std::string name_of(uint32_t id) { return "barrier " + std::to_string(id); }

}  // namespace

bool arrive_named(Warp& w, uint32_t id, uint32_t threads, bool waits, uint32_t place) {
  Cta& c = *w.cta;
  NamedBarrier& b = c.named[id];
  const uint32_t bit = 1u << w.index;
  ++c.progress;
  count_use(b.uses, w.agent, place);
  if (b.arrived_warps == 0) b.expected_threads = threads, b.place = place;
  if (c.race) {
    if (b.expected_threads != threads)
      c.finding(c.violation("BAR-03", place,
                            name_of(id) + " is used with " + std::to_string(threads) +
                                " threads and, in the same generation, with " + std::to_string(b.expected_threads)));
    // A warpgroup may give itself the first turn: bar.arrive, then bar.sync at the same barrier (FlashAttention-3 does).
    const bool own_turn = waits && threads != 0 && !(b.syncing_warps & bit);
    if (b.arrived_warps & bit && !own_turn)
      c.finding(c.violation("BAR-04", place,
                            "warp " + std::to_string(w.index) + " arrives again at " + name_of(id) +
                                " before the generation it arrived for is complete"));
    if (threads > c.warps.size() * 32)
      c.finding(c.violation("BAR-02", place,
                            name_of(id) + " expects " + std::to_string(threads) + " threads, the CTA has " +
                                std::to_string(c.warps.size() * 32)));
  }
  note_named_arrival(w, b, id, place);
  publish(c, b, w, w.mask, place);
  b.lanes[w.index] |= w.mask;
  if ((b.lanes[w.index] & w.live) != w.live) {
    b.split_warps |= bit;
    if (waits) b.syncing_warps |= bit;
    return false;  // the rest of the warp is elsewhere
  }
  b.lanes[w.index] = 0;
  b.split_warps &= ~bit;
  b.arrived_warps |= bit;
  ++b.arrivals;
  if (waits) b.syncing_warps |= bit;
  if (!is_complete(c, b)) return false;
  complete(c, b);
  return true;
}

void recheck_named(Cta& c) {
  for (NamedBarrier& b : c.named) {
    if (b.arrived_warps == 0 && b.split_warps == 0) continue;
    for (const Warp& w : c.warps)
      if (b.lanes[w.index] && (b.lanes[w.index] & w.live) == w.live) {
        b.lanes[w.index] = 0;
        b.split_warps &= ~(1u << w.index);
        if (w.live) b.arrived_warps |= 1u << w.index, ++b.arrivals;
      }
    if (is_complete(c, b)) complete(c, b);
  }
}

}  // namespace tc::sim
