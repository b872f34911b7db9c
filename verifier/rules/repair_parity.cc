// MBAR-06, ATTR-01, FLOW-01: parities and slots.
#include <algorithm>
#include <set>

#include "verifier/rules/repair_families.h"

namespace tc::verify {

// MBAR-06: another parity at one wait.
void Repairs::parity(const Site& s) {
  const Event& e = *s.event;
  const Expr& p = *e.parity;
  int64_t n = ring(e).slots;
  std::vector<Expr> tries{
      p.op == ExprOp::bit_xor && p.args[1] == constant(1) ? p.args[0] : binary(ExprOp::bit_xor, p, constant(1))};
  std::vector<Expr> counts;
  if (e.slot.op == ExprOp::mod) counts.push_back(e.slot.args[0]);
  for (const std::string& v : s.names) counts.push_back(variable(v));
  counts.push_back(constant(0));
  for (const Expr& t : counts) {
    Expr phase = n == 1 ? t : binary(ExprOp::div, t, constant(n));
    tries.push_back(binary(ExprOp::bit_and, phase, constant(1)));
    tries.push_back(binary(ExprOp::bit_xor, tries.back(), constant(1)));
  }
  for (Expr& x : tries) {
    Protocol fixed = p_;
    event_at(fixed, s).parity = x;
    event_at(fixed, s).meant.reset();
    add(std::move(fixed),
        at(e.origin, "2", "MBAR-06", "barrier-parity",
           "the wait on " + name(e) + " asks for parity " + print(p) +
               "; the phase that it has to wait for is the one of parity " + print(x)),
        e.ring, &e);
    if (out_.empty()) continue;
    out_.back().without = surplus_wait(s);
    if (first_parity(x, p_.stages) != (fills(s.role) ? 1 : 0)) {
      unusual_.push_back(std::move(out_.back()));
      out_.pop_back();
    }
  }
}

// The protocol without this wait: right as well? Then the wait is one too many, whatever its parity.
std::pair<Protocol, Diagnosis> Repairs::surplus_wait(const Site& s) {
  Protocol without = p_;
  erase_at(without, s);
  Diagnosis d = at(s.event->origin, "1", "PROG-02", "deadlock",
                   "this wait on " + name(*s.event) + " is for a phase that is never completed or long over");
  d.notes = ring_notes(p_, s.event->ring, s.event);
  return {std::move(without), std::move(d)};
}

// MBAR-06: the phase bit of another stage is flipped.
void Repairs::flip_slot(const Site& s) {
  for (const Site& w : sites_) {
    if (w.role != s.role || w.event->kind != EventKind::wait) continue;
    Protocol fixed = p_;
    event_at(fixed, s).slot = w.event->slot;
    Diagnosis d = at(
        s.event->origin, "2", "MBAR-06", "barrier-parity",
        "the phase bit of slot " + print(s.event->slot) + " is flipped, the wait was on slot " + print(w.event->slot));
    d.notes = ring_notes(p_, w.event->ring, nullptr);
    add(std::move(fixed), std::move(d), -1, nullptr);
  }
}

// MBAR-06: a wait under a condition that lets its barrier run ahead.
void Repairs::widen_wait(const Site& s) {
  Protocol fixed = p_;
  Stmt* parent = parent_at(fixed, s);
  auto* b = parent ? std::get_if<Branch>(&parent->node) : nullptr;
  if (!b || b->body.size() != 1) return;
  Stmt wait = b->body[0];
  *parent = std::move(wait);
  add(std::move(fixed),
      at(s.event->origin, "2", "MBAR-06", "barrier-parity",
         "the wait on " + name(*s.event) +
             " is left out in some iterations, so its parity is asked of phases further on"),
      s.event->ring, s.event);
}

// Another slot at one event: MBAR-06 at a wait, ATTR-01 at an arrival, FLOW-01 at an access.
void Repairs::slots(const Site& s) {
  const Event& e = *s.event;
  std::set<std::string> tried;
  for (bool buffer : {false, true}) {
    if (buffer ? e.buffer < 0 : e.ring < 0) continue;
    int64_t n = buffer ? p_.buffers[static_cast<size_t>(e.buffer)].slots : ring(e).slots;
    if (n == 1) continue;
    std::vector<Expr> tries;
    for (const Site& x : sites_)  // what others use
      if (x.role == s.role && (x.event->ring == e.ring || x.event->buffer == e.buffer))
        for (const Expr* y : {&x.event->slot, &x.event->at}) tries.push_back(*y);
    for (const std::string& v : s.names)
      for (int64_t shift : {0, 1, -1}) {
        Expr t = shift == 0 ? variable(v) : binary(ExprOp::add, variable(v), constant(shift < 0 ? n - 1 : 1));
        tries.push_back(binary(ExprOp::mod, t, constant(n)));
      }
    for (const Expr& slot : tries) {
      if (slot == Expr{} || !in_scope(s, slot)) continue;
      Protocol fixed = p_;
      Event& x = event_at(fixed, s);
      (buffer ? x.at : x.slot) = slot;
      if (!tried.insert(print(fixed)).second) continue;
      std::string what = print(buffer ? e.at : e.slot),
                  where = buffer ? p_.buffers[static_cast<size_t>(e.buffer)].name : name(e);
      Diagnosis d =
          e.kind == EventKind::wait && !buffer
              ? at(e.origin, "2", "MBAR-06", "barrier-parity",
                   "the wait is on slot " + what + " of " + where + ", whose phase is not the one that it asks for")
          : !buffer ? at(e.origin, "0", "ATTR-01", "barrier-arrive-count",
                         "slot " + what + " of " + where + " is not the one whose phase this belongs to")
                    : at(e.origin, "4", "FLOW-01", "smem-race",
                         "slot " + what + " of " + where + " holds another tile than the one meant here");
      add(std::move(fixed), std::move(d), e.ring, &e);
    }
  }
}

// FLOW-01: every slot of a role counted by another variable.
void Repairs::slot_names(size_t role) {
  std::set<std::string> names;
  const Event* first = nullptr;
  for (const Site& s : sites_) {
    if (s.role != role) continue;
    names.insert(s.names.begin(), s.names.end());
    if (!first && s.event->buffer >= 0) first = s.event;
  }
  if (!first) return;
  std::vector<Expr> slots;
  for (const Site& s : sites_)
    if (s.role == role)
      for (const Expr* y : {&s.event->slot, &s.event->at})
        if (!y->args.empty() && std::ranges::find(slots, *y) == slots.end()) slots.push_back(*y);
  for (const Expr& a : slots)
    for (const Expr& b : slots) {
      if (a == b) continue;
      Protocol fixed = p_;
      const Event* used = nullptr;
      for (const Site& s : sites_) {
        if (s.role != role || !in_scope(s, b)) continue;
        Event& x = event_at(fixed, s);
        if (x.ring >= 0 && x.slot == a) x.slot = b;
        if (x.buffer >= 0 && x.at == a) x.at = b, used = used ? used : s.event;
      }
      if (used)
        add(std::move(fixed),
            at(used->origin, "4", "FLOW-01", "smem-race",
               "slot " + print(a) + " of " + p_.buffers[static_cast<size_t>(used->buffer)].name +
                   " holds another tile than the one meant here: the ring goes on with " + print(b)),
            used->ring, used);
    }
  for (const std::string& a : names)
    for (const std::string& b : names) {
      if (a == b) continue;
      Protocol fixed = p_;
      for (const Site& s : sites_)
        if (s.role == role && std::ranges::find(s.names, b) != s.names.end())
          rename(event_at(fixed, s).slot, a, b), rename(event_at(fixed, s).at, a, b);
      add(std::move(fixed),
          at(first->origin, "4", "FLOW-01", "smem-race",
             "slot " + print(first->at) + " of " + p_.buffers[static_cast<size_t>(first->buffer)].name +
                 " holds another tile than the one meant here: the ring goes on with " + b + ", not with " + a),
          first->ring, first);
    }
}

void Repairs::rename(Expr& e, const std::string& a, const std::string& b) {
  if (e.op == ExprOp::name && e.name == a) e.name = b;
  for (Expr& x : e.args) rename(x, a, b);
}

}  // namespace tc::verify
