// RACE-01, WGMMA-13, ATTR-02, PROG-01: releases, waits and expected bytes at the wrong place.
#include <algorithm>
#include <set>

#include "verifier/rules/repair_families.h"

namespace tc::verify {

// ATTR-02: bytes that are expected after the phase can be complete.
void Repairs::late_expect(const Site& s) {
  for (size_t to = 0; to < s.path.back(); ++to) {
    Protocol fixed = p_;
    insert_to(fixed, s, to);
    add(std::move(fixed),
        at(s.event->origin, "0", "ATTR-02", "barrier-expect-tx",
           "the bytes on " + name(*s.event) + " are expected when the phase may be complete already"),
        s.event->ring, s.event);
  }
}

// RACE-01 at the access: one thread waits, others use what it waited for.
void Repairs::lone_wait(const Site& s) {
  const Event& e = *s.event;
  if (e.who == Who::all) return;
  const Event* use = nullptr;
  for (const Site& x : sites_)
    if (!use && x.role == s.role && x.event->buffer >= 0 && x.path > s.path) use = x.event;
  if (!use) return;
  auto put = [&](Protocol fixed) {
    Diagnosis d = at(use->origin, "4", "RACE-01", "smem-race",
                     "threads of " + p_.roles[s.role].name + " that did not wait on " + name(e) +
                         " use the slot without being ordered behind the one that did");
    d.notes.push_back({e.origin.where.range, "the wait of one thread"});
    add(std::move(fixed), std::move(d), -1, nullptr);
  };
  for (EventKind k : {EventKind::sync_warp, EventKind::sync_role}) {
    Protocol fixed = p_;
    insert_at(fixed, s, 1, {Event{.kind = k, .origin = e.origin}});
    put(std::move(fixed));
  }
  Protocol fixed = p_;
  event_at(fixed, s).who = Who::all;
  put(std::move(fixed));
}

// RACE-01, WGMMA-13, PROG-01: a release at the wrong place of its body, or by one thread for all.
void Repairs::release(const Site& s) {
  const Event& e = *s.event;
  const std::string role = p_.roles[s.role].name;
  if (const Event* mma = matrix_before(s)) {
    Protocol fixed = p_;
    for (const Site& w : sites_)  // every mma_wait of the role waits for all
      if (w.role == s.role && w.event->kind == EventKind::mma_wait)
        event_at(fixed, w).pending = std::max<int64_t>(0, w.event->pending - 1);
    Diagnosis d = at(e.origin, "4", "WGMMA-13", "wgmma-hazard",
                     name(e) + " is released while the matrix operation may still read the slot");
    d.notes.push_back({mma->origin.where.range, "the matrix operation"});
    add(std::move(fixed), d, e.ring, &e);
    fixed = p_;
    Event wait{.kind = EventKind::mma_wait, .who = Who::all, .origin = e.origin};
    insert_at(fixed, s, 0, {wait});
    add(std::move(fixed), std::move(d), e.ring, &e);
  }
  for (EventKind k : {EventKind::sync_role, EventKind::sync_warp}) {
    if (e.who == Who::all) break;
    Protocol fixed = p_;
    insert_at(fixed, s, 0, {Event{.kind = k, .origin = e.origin}});
    const Event* refill = nullptr;
    for (const Site& x : sites_)
      if (x.role == s.role && x.event->kind == EventKind::copy && x.event->ring == e.ring) refill = x.event;
    if (refill)
      add(std::move(fixed),
          at(refill->origin, "4", "RACE-01", "smem-race",
             "this overwrites a slot while other threads of " + role + " may still use it"),
          e.ring, refill);
    else
      add(std::move(fixed),
          at(e.origin, "4", "RACE-01", "smem-race",
             "one thread of " + role + " arrives on " + name(e) + " while its other threads may still use the slot"),
          e.ring, &e);
  }
  size_t size = body_size(s);
  for (size_t to = 0; to <= size; ++to) {
    if (to == s.path.back() || to == s.path.back() + 1) continue;
    bool later = to > s.path.back();
    Protocol fixed = p_;
    insert_to(fixed, s, to);
    Diagnosis d = later ? at(e.origin, "4", "RACE-01", "smem-race",
                             "the arrival on " + name(e) + " comes before " + role + " is done with the slot")
                        : at(e.origin, "3", "PROG-01", "deadlock",
                             "the arrival on " + name(e) + " comes behind an event that waits for its effect");
    add(std::move(fixed), std::move(d), e.ring, &e);
  }
}

const Event* Repairs::matrix_before(const Site& s) const {
  for (const Site& x : sites_)
    if (x.role == s.role && (x.event->kind == EventKind::mma || x.event->kind == EventKind::aread)) return x.event;
  return nullptr;
}

size_t Repairs::body_size(const Site& s) {
  Protocol copy = p_;
  return body_at(copy, s).size();
}

void Repairs::insert_to(Protocol& fixed, const Site& s, size_t to) {
  auto& body = body_at(fixed, s);
  Stmt moved = body[s.path.back()];
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(s.path.back()));
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(to > s.path.back() ? to - 1 : to), std::move(moved));
}

// RACE-01 at a copy, ATTR-01 at an arrival that no wait holds back: a wait for the release of the slot before it.
void Repairs::missing_wait(const Site& s) {
  const Event& e = *s.event;
  for (int r = 0; r < static_cast<int>(p_.rings.size()); ++r) {
    bool waited = std::ranges::any_of(sites_, [&](const Site& x) {
      return x.role == s.role && x.event->kind == EventKind::wait && x.event->ring == r;
    });
    bool mine = std::ranges::any_of(sites_, [&](const Site& x) {
      return x.role == s.role && x.event->kind == EventKind::arrive && x.event->ring == r;
    });
    if (waited || mine || s.names.empty()) continue;
    const Ring& q = p_.rings[static_cast<size_t>(r)];
    for (bool inverted : {true, false})
      for (const std::string& v : s.names) {
        Event wait{.kind = EventKind::wait,
                   .who = e.who,
                   .ring = r,
                   .slot = q.slots == 1 ? constant(0) : binary(ExprOp::mod, variable(v), constant(q.slots)),
                   .origin = e.origin};
        Expr phase = q.slots == 1 ? variable(v) : binary(ExprOp::div, variable(v), constant(q.slots));
        wait.parity = binary(ExprOp::bit_and, phase, constant(1));
        if (inverted) wait.parity = binary(ExprOp::bit_xor, *wait.parity, constant(1));
        Protocol fixed = p_;
        insert_at(fixed, s, 0, {wait});
        bool filler = fills(s.role);
        const Event& blamed = e.kind == EventKind::arrive && filler ? *first_write(s.role) : e;
        Diagnosis d = filler ? at(blamed.origin, "4", "RACE-01", "smem-race",
                                  "this overwrites a slot without waiting for its release on " + q.name)
                             : at(e.origin, "0", "ATTR-01", "barrier-arrive-count",
                                  "nothing keeps this thread from arriving on " + name(e) +
                                      " a second time before the phase is complete");
        if (e.kind == EventKind::arrive || filler) add(std::move(fixed), std::move(d), filler ? r : e.ring, &e);
      }
  }
}

const Event* Repairs::first_write(size_t role) const {
  for (const Site& x : sites_)
    if (x.role == role && (x.event->kind == EventKind::copy || x.event->kind == EventKind::write)) return x.event;
  return nullptr;
}

}  // namespace tc::verify
