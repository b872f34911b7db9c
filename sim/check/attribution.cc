#include "sim/check/attribution.h"

#include <algorithm>

#include "sim/machine/cluster.h"

namespace tc::sim {
namespace {

// The lanes that execute with those of Warp::mask.
uint32_t together(const Warp& w) { return w.path ? w.path->mask | w.mask : w.mask; }

std::string phase_text(uint64_t phase) { return "phase " + std::to_string(phase); }

}  // namespace

void count_use(std::vector<BarrierUse>& uses, uint32_t agent, uint32_t place) {
  for (BarrierUse& u : uses)
    if (u.agent == agent && u.place == place) return void(++u.count);
  uses.push_back({agent, place, 1});
}

void note_arrival(Warp& w, Cta& owner, Mbarrier& b, uint32_t address, uint32_t place) {
  count_use(b.log.uses, w.agent, place);
  const BarrierLog::Arrival arrival{w.agent, place};
  if (std::ranges::find(b.log.arrived, arrival) == b.log.arrived.end()) b.log.arrived.push_back(arrival);
  const Checker race = w.cta->race;
  if (!race || b.phase == 0 || race->some_know(w.agent, together(w), b.log.ticket, static_cast<uint32_t>(b.phase)))
    return;
  w.cta->finding(w.cta->violation("MBAR-07", place,
                                  "nothing orders this arrival for " + phase_text(b.phase) + " of " +
                                      owner.shared_text(address) + " after the end of " + phase_text(b.phase - 1) +
                                      ": it may count for that one"));
}

void note_copy(Warp& w, Cta& owner, Mbarrier& b, uint32_t address, uint32_t place) {
  count_use(b.log.uses, w.agent, place);
  const Checker race = w.cta->race;
  if (!race || b.phase == 0 || race->some_know(w.agent, together(w), b.log.ticket, static_cast<uint32_t>(b.phase)))
    return;
  w.cta->finding(w.cta->violation("ATTR-03", place,
                                  "nothing orders this copy, which completes on " + phase_text(b.phase) + " of " +
                                      owner.shared_text(address) + ", after the end of " + phase_text(b.phase - 1)));
}

void note_expect(const Warp& w, Mbarrier& b, uint32_t place) {
  const Checker race = w.cta->race;
  if (!race) return;
  if (b.phase > 0 && !race->some_know(w.agent, together(w), b.log.ticket, static_cast<uint32_t>(b.phase)))
    w.cta->finding(w.cta->violation("TX-11", place,
                                    "nothing orders this before or after an arrival that ends " +
                                        phase_text(b.phase - 1) + ": the bytes may be expected in either phase"));
  b.log.expects.push_back({w.agent, race->number_event(w.agent), place});
}

void note_wait(const Warp& w, Mbarrier& b, int64_t phase, uint32_t place) {
  if (!w.cta->race) return;
  const uint32_t event = w.cta->race->number_event(w.agent);
  for (BarrierLog::Wait& o : b.log.waits)
    if (o.agent == w.agent) {
      o = {w.agent, event, place, phase};
      return;
    }
  b.log.waits.push_back({w.agent, event, place, phase});
}

void note_completion(Cta& c, Mbarrier& b, uint32_t address, uint32_t place) {
  if (!c.race) return;
  const auto ended = static_cast<int64_t>(b.phase) - 1;
  const SourceRange here = c.program.places[place].where.front();
  for (const BarrierLog::Wait& o : b.log.waits) {
    if (o.phase != ended - 1 || c.race->is_after(b.arriving, o.agent, o.event) ||
        c.race->is_after(b.log.copies, o.agent, o.event))
      continue;
    Diag d = c.violation("MBAR-06", o.place,
                         "the wait for phase " + std::to_string(o.phase) + " of " + c.shared_text(address) +
                             " need not be over when phase " + std::to_string(ended) +
                             " ends: none of its arrivals is ordered after this wait");
    d.notes.push_back({here, phase_text(static_cast<uint64_t>(ended)) + " ends here"});
    c.finding(std::move(d));
  }
  std::erase_if(b.log.waits, [&](const BarrierLog::Wait& o) { return o.phase < ended; });
  for (const BarrierLog::Expect& e : b.log.expects) {
    if (c.race->is_after(b.arriving, e.agent, e.event)) continue;
    Diag d = c.violation("TX-11", e.place,
                         "no arrival of " + phase_text(static_cast<uint64_t>(ended)) + " of " + c.shared_text(address) +
                             " is ordered after this: the phase may end before the bytes are expected");
    d.notes.push_back({here, "the phase ends here"});
    c.finding(std::move(d));
  }
  b.log.expects.clear();
  b.log.before = std::exchange(b.log.arrived, {});
  join(b.arriving, std::exchange(b.log.copies, {}));
  c.race->complete(b.arriving, b.log.ticket, static_cast<uint32_t>(b.phase));
}

void note_named_arrival(Warp& w, const NamedBarrier& b, uint32_t id, uint32_t place) {
  Cta& c = *w.cta;
  if (!c.race || b.generation == 0 ||
      c.race->some_know(w.agent, together(w), b.ticket, static_cast<uint32_t>(b.generation)))
    return;
  c.finding(c.violation("BAR-03", place,
                        "nothing orders the arrival of warp " + std::to_string(w.index) + " at barrier " +
                            std::to_string(id) + " after the generation before it: it may complete that one"));
}

}  // namespace tc::sim
