// TX-02, MBAR-05: bytes and arrivals of a phase.
#include <algorithm>
#include <set>

#include "verifier/rules/repair_families.h"

namespace tc::verify {

// TX-02: the bytes of every phase are those of its copies.
void Repairs::bytes() {
  for (int r = 0; r < static_cast<int>(p_.rings.size()); ++r) {
    int64_t expected = 0, copied = 0;
    for (const Site& s : sites_) {
      if (s.event->ring != r) continue;
      expected += s.event->tx * threads_of(p_, s);
      copied += s.event->bytes * threads_of(p_, s);
    }
    if (expected == copied) continue;
    for (const Site& s : sites_) {
      const Event& e = *s.event;
      bool expects = e.kind == EventKind::expect || (e.kind == EventKind::arrive && (e.tx || expected == 0));
      if (e.ring != r || !expects) continue;
      int64_t n = threads_of(p_, s), want = e.tx * n + copied - expected;
      if (want < 0 || want % n) continue;
      Protocol fixed = p_;
      event_at(fixed, s).tx = want / n;
      Diagnosis d = at(bytes_place(r, e, expected), "1", "TX-02", "barrier-expect-tx",
                       std::to_string(expected) + " bytes are expected on " + name(e) + " in a phase, " +
                           std::to_string(copied) + " are copied");
      for (const Site& c : sites_)
        if (c.event->ring == r && c.event->bytes * threads_of(p_, c) == copied - expected)
          d.also.push_back({c.event->origin.where.range, "nobody expects the " + std::to_string(copied - expected) +
                                                             " bytes of this copy on " + name(e)});
      add(std::move(fixed), std::move(d), r, &e);
    }
    for (const Site& s : sites_) bytes_added(s, r, expected, copied);
  }
}

// A copy whose bytes nobody expects: an expect of its own before it.
void Repairs::bytes_added(const Site& s, int r, int64_t expected, int64_t copied) {
  const Event& e = *s.event;
  int64_t n = threads_of(p_, s);
  if (e.kind != EventKind::copy || e.ring != r || copied <= expected || (copied - expected) % n) return;
  Event expect{.kind = EventKind::expect,
               .who = e.who,
               .ring = r,
               .slot = e.slot,
               .tx = (copied - expected) / n,
               .origin = e.origin};
  Protocol fixed = p_;
  insert_at(fixed, s, 0, {expect});
  add(std::move(fixed),
      at(e.origin, "1", "TX-02", "barrier-expect-tx",
         std::to_string(expected) + " bytes are expected on " + name(e) + " in a phase, " + std::to_string(copied) +
             " are copied"),
      r, &e);
}

const Origin& Repairs::bytes_place(int r, const Event& expect, int64_t expected) const {
  if (expected) return expect.origin;
  for (const Site& s : sites_)
    if (s.event->ring == r && s.event->kind == EventKind::copy) return s.event->origin;
  return expect.origin;
}

// MBAR-05: another init count. Blamed is the allocation, unless a single thread or warp is what the count says.
void Repairs::counts() {
  for (int r = 0; r < static_cast<int>(p_.rings.size()); ++r) {
    std::set<int64_t> tries;
    int64_t sum = 0;
    std::vector<const Site*> arrivals;
    for (const Site& s : sites_)
      if (s.event->ring == r && s.event->kind == EventKind::arrive) {
        arrivals.push_back(&s);
        sum += threads_of(p_, s) * s.event->count;
        tries.insert(threads_of(p_, s) * s.event->count);
      }
    tries.insert(sum);
    int64_t now = p_.rings[static_cast<size_t>(r)].count;
    for (int64_t n : tries) {
      if (n < 1 || n == now) continue;
      Protocol fixed = p_;
      fixed.rings[static_cast<size_t>(r)].count = n;
      bool blame_arrival = now == 1 && arrivals.size() == 1;
      const Origin &ring = p_.rings[static_cast<size_t>(r)].origin,
                   &o = blame_arrival ? arrivals[0]->event->origin : ring;
      Diagnosis d = at(o, "1", "MBAR-05", "barrier-arrive-count",
                       std::to_string(n) + " arrivals on " + p_.rings[static_cast<size_t>(r)].name +
                           " in a phase, its init count is " + std::to_string(now));
      if (blame_arrival) d.also.push_back({ring.where.range, d.message});
      else
        for (const Site* a : arrivals) d.also.push_back({a->event->origin.where.range, d.message});
      add(std::move(fixed), std::move(d), r, blame_arrival ? arrivals[0]->event : nullptr);
    }
  }
}

// MBAR-05: other threads, or another count, at one arrival.
void Repairs::executors(const Site& s) {
  const Event& e = *s.event;
  auto put = [&](Protocol fixed) {
    add(std::move(fixed),
        at(e.origin, "1", "MBAR-05", "barrier-arrive-count",
           std::to_string(threads_of(p_, s) * e.count) + " arrivals on " + name(e) + " from here; its init count is " +
               std::to_string(ring(e).count)),
        e.ring, &e);
  };
  for (Who w : {Who::one, Who::warp, Who::all}) {
    Protocol fixed = p_;
    event_at(fixed, s).who = w;
    if (e.tx == 0 || w == Who::one) put(std::move(fixed));
  }
  if (e.count != 1) {
    Protocol fixed = p_;
    event_at(fixed, s).count = 1;
    put(std::move(fixed));
  }
}

// MBAR-05 at a wait that nobody releases: an arrival behind a copy or read that belongs to the wait's ring.
void Repairs::missing_arrival(const Site& w) {
  const Event& e = *w.event;
  for (const Site& s : sites_) {
    bool fills = s.event->kind == EventKind::copy && s.event->ring == e.ring;
    bool expects = s.event->kind == EventKind::expect && s.event->ring == e.ring;
    bool uses =
        s.event->kind == EventKind::read || s.event->kind == EventKind::mma_wait || s.event->kind == EventKind::mma;
    if (s.role == w.role || !(fills || expects || uses)) continue;
    std::vector<Expr> slots{fills || expects ? s.event->slot : s.event->buffer >= 0 ? s.event->at : e.slot};
    for (const Expr& slot : slots)
      for (Who who : {Who::all, Who::one, Who::warp}) {
        Protocol fixed = p_;
        Event arrive{.kind = EventKind::arrive,
                     .who = who,
                     .ring = e.ring,
                     .slot = ring(e).slots == 1 ? constant(0) : slot,
                     .origin = s.event->origin};
        if (!in_scope(s, arrive.slot)) continue;
        insert_at(fixed, s, 1, {arrive});
        Diagnosis d;
        bool none = std::ranges::none_of(
            sites_, [&](const Site& x) { return x.event->ring == e.ring && x.event->kind == EventKind::arrive; });
        d = at(e.origin, "1", "MBAR-05", "barrier-arrive-count",
               none ? "nothing arrives on " + name(e) + ": this wait is never released"
                    : "arrivals on " + name(e) + " are missing: this wait is never released");
        if (fills || expects)
          d.also.push_back(
              {s.event->origin.where.range,
               "the phase of " + name(e) + " that this belongs to is never completed: arrivals are missing"});
        add(std::move(fixed), std::move(d), e.ring, &e);
      }
  }
}

// An event that is too much.
void Repairs::surplus(const Site& s) {
  const Event& e = *s.event;
  if (e.kind != EventKind::arrive && e.kind != EventKind::wait && e.kind != EventKind::copy) return;
  Protocol fixed = p_;
  erase_at(fixed, s);
  Diagnosis d =
      e.kind == EventKind::arrive
          ? at(e.origin, "1", "MBAR-05", "barrier-arrive-count",
               "with this arrival more than " + std::to_string(ring(e).count) + " arrive on " + name(e) + " in a phase")
      : e.kind == EventKind::wait
          ? at(e.origin, "1", "PROG-02", "deadlock",
               "this wait on " + name(e) + " is for a phase that is never completed or long over")
          : at(e.origin, "1", "TX-02", "barrier-expect-tx",
               "with this copy more bytes complete on " + name(e) + " than are expected");
  add(std::move(fixed), std::move(d), e.ring, &e);
}

}  // namespace tc::verify
