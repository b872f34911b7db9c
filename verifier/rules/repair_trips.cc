// PROG-02, MBAR-05: trip counts and conditions that differ between roles.
#include <algorithm>
#include <set>

#include "verifier/rules/repair_families.h"

namespace tc::verify {

// PROG-02: trip counts that differ between roles. Blamed is the wait that finds no partner, with a note at the loop.
void Repairs::trips() {
  std::vector<LoopSite> loops = loops_of(p_);
  for (const LoopSite& l : loops)
    for (const LoopSite& other : loops) {
      if (l.role == other.role || l.loop->trip == other.loop->trip) continue;
      Protocol fixed = p_;
      loop_at(fixed, l).trip = other.loop->trip;
      const Event* wait = partner_wait(l);
      if (!wait) wait = partner_wait(other);
      const Origin& o = wait ? wait->origin : l.loop->origin;
      Diagnosis d = at(o, "1", "PROG-02", "deadlock",
                       "the loop of " + p_.roles[l.role].name + " runs " + print(l.loop->trip) + " times, the one of " +
                           p_.roles[other.role].name + " " + print(other.loop->trip) + " times");
      d.notes.push_back({l.loop->origin.where.range, "the loop of " + p_.roles[l.role].name});
      d.notes.push_back({other.loop->origin.where.range, "the loop of " + p_.roles[other.role].name});
      d.also.push_back({l.loop->origin.where.range, d.message});
      add(std::move(fixed), std::move(d), -1, nullptr);
    }
}

// One iteration too many or too few.
void Repairs::trips_by_one() {
  for (const LoopSite& l : loops_of(p_))
    for (bool more : {false, true}) {
      Protocol fixed = p_;
      Expr& trip = loop_at(fixed, l).trip;
      trip = binary(more ? ExprOp::add : ExprOp::sub, trip, constant(1));
      const Event* arrive = nullptr;
      for (const Event* e : events_in(l.loop->body))
        if (!arrive && e->kind == EventKind::arrive) arrive = e;
      const Event* wait = partner_wait(l);
      std::string loop = "the loop of " + p_.roles[l.role].name + " runs " + print(l.loop->trip) + " times, one ";
      if (!more && arrive)
        add(std::move(fixed),
            at(arrive->origin, "1", "MBAR-05", "barrier-arrive-count",
               loop + "too many: its last arrival is on a phase that has its arrivals from elsewhere"),
            arrive->ring, arrive);
      else
        add(std::move(fixed),
            at(wait ? wait->origin : l.loop->origin, "1", "PROG-02", "deadlock",
               loop + (more ? "too few" : "too many")),
            wait ? wait->ring : -1, wait);
    }
}

// A wait of another role on a ring that this loop arrives on.
const Event* Repairs::partner_wait(const LoopSite& l) const {
  for (const Event* a : events_in(l.loop->body))
    for (const Site& s : sites_)
      if (a->kind == EventKind::arrive && s.role != l.role && s.event->kind == EventKind::wait &&
          s.event->ring == a->ring)
        return s.event;
  return nullptr;
}

// PROG-02: a wait under a wider condition than its arrivals. Tries the conditions of the other roles, and narrower
// ones.
void Repairs::guards(const Site& s) {
  Protocol fixed = p_;
  Stmt* parent = parent_at(fixed, s);
  auto message = [&] { return "this wait on " + name(*s.event) + " is reached in cases where nothing arrives"; };
  auto put = [&](Protocol q) {
    add(std::move(q), at(s.event->origin, "1", "PROG-02", "deadlock", message()), s.event->ring, s.event);
  };
  auto* b = parent ? std::get_if<Branch>(&parent->node) : nullptr;
  if (b && b->predicate.empty() && is_comparison(b->condition.op)) {
    Expr before = b->condition;
    for (ExprOp op : {ExprOp::lt, ExprOp::le, ExprOp::gt, ExprOp::ge}) {
      b->condition.op = op;
      put(fixed);
    }
    b->condition = before;
    for (int64_t d : {1, -1}) {
      b->condition.args[1] = binary(d > 0 ? ExprOp::add : ExprOp::sub, before.args[1], constant(1));
      put(fixed);
    }
  }
  if (auto* l = parent ? std::get_if<Loop>(&parent->node) : nullptr)
    for (const std::string& predicate : predicates()) {
      Protocol q = p_;
      auto& body = std::get<Loop>(parent_at(q, s)->node).body;
      Branch whole{.condition = {}, .predicate = predicate, .body = std::move(body), .origin = l->origin};
      body = {Stmt{std::move(whole)}};
      put(std::move(q));
    }
  else if (b && b->predicate.empty())
    for (const std::string& predicate : predicates()) {
      Protocol q = p_;
      auto& branch = std::get<Branch>(parent_at(q, s)->node);
      branch.predicate = predicate;
      branch.condition = Expr{};
      put(std::move(q));
    }
}

std::vector<std::string> Repairs::predicates() const {
  std::set<std::string> out;
  auto walk = [&](auto& self, const std::vector<Stmt>& body) -> void {
    for (const Stmt& x : body) {
      if (const auto* b = std::get_if<Branch>(&x.node)) {
        if (!b->predicate.empty()) out.insert(b->predicate);
        self(self, b->body);
      } else if (const auto* l = std::get_if<Loop>(&x.node)) {
        self(self, l->body);
      }
    }
  };
  for (const Role& r : p_.roles) walk(walk, r.body);
  return {out.begin(), out.end()};
}

}  // namespace tc::verify
