// The order of preference, and what the families share.
#include <algorithm>
#include <set>

#include "verifier/rules/repair_families.h"

namespace tc::verify {
namespace {
constexpr size_t kMostRepairs = 400;
}  // namespace

std::vector<Repair> Repairs::all() {
  bytes();
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::flip) flip_slot(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::wait) parity(s);
  counts();
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::arrive) executors(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::wait) missing_arrival(s);
  for (const Site& s : sites_) slots(s);
  for (size_t r = 0; r < p_.roles.size(); ++r) slot_names(r);
  trips();
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::wait) guards(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::expect) late_expect(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::wait) lone_wait(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::arrive) release(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::wait) widen_wait(s);
  for (const Site& s : sites_)
    if (s.event->kind == EventKind::arrive || s.event->kind == EventKind::copy || s.event->kind == EventKind::write)
      missing_wait(s);
  for (const Site& s : sites_) surplus(s);
  trips_by_one();
  for (Repair& r : unusual_) out_.push_back(std::move(r));
  if (out_.size() > kMostRepairs) out_.resize(kMostRepairs);
  return std::move(out_);
}

void Repairs::add(Protocol fixed, Diagnosis d, int ring, const Event* except) {
  if (fixed == p_) return;
  if (ring >= 0) d.notes = ring_notes(p_, ring, except);
  out_.push_back({std::move(fixed), std::move(d), std::nullopt});
}

Diagnosis Repairs::at(const Origin& o, std::string obligation, std::string rule, std::string defect,
                      std::string message) {
  return {.obligation = std::move(obligation),
          .rule = std::move(rule),
          .defect = std::move(defect),
          .where = o.where.range,
          .message = std::move(message),
          .notes = {},
          .also = {},
          .by_repair = true};
}

bool Repairs::fills(size_t role) const {
  return std::ranges::any_of(sites_, [&](const Site& x) {
    return x.role == role && (x.event->kind == EventKind::copy || x.event->kind == EventKind::write);
  });
}

// Parity asked by the first wait. Whoever fills slots waits for their release, inverted: 1; whoever uses them 0.
int64_t Repairs::first_parity(const Expr& e, int64_t stages) {
  ExprEnv env{[&](const std::string& n) { return n == "S" ? stages : int64_t{0}; },
              [](const std::string&, int64_t) { return int64_t{0}; }};
  return evaluate(e, env).value_or(0) & 1;
}

bool Repairs::in_scope(const Site& s, const Expr& e) const {
  return std::ranges::all_of(names_in(e), [&](const std::string& n) {
    return std::ranges::find(s.names, n) != s.names.end() ||
           std::ranges::find(p_.params, n, &Param::name) != p_.params.end();
  });
}

std::vector<Repair> repairs(const Protocol& p) { return Repairs(p).all(); }

std::vector<Note> ring_notes(const Protocol& p, int ring, const Event* except) {
  std::vector<Note> out;
  const Ring& r = p.rings[static_cast<size_t>(ring)];
  auto put = [&](SourceRange where, std::string message) {
    bool known = std::ranges::any_of(out, [&](const Note& n) { return n.where == where; });
    if (where.valid() && !known && out.size() < 6) out.push_back({where, std::move(message)});
  };
  if (r.origin.where.range.valid())
    put(r.origin.where.range, r.name + ": " + std::to_string(r.slots) + (r.slots == 1 ? " slot" : " slots") +
                                  ", init count " + std::to_string(r.count));
  for (const Role& role : p.roles)
    for (const Event* e : events_in(role.body)) {
      if (e == except || e->ring != ring || (except && e->origin.where.range == except->origin.where.range)) continue;
      std::string_view what = e->kind == EventKind::wait     ? " waits here"
                              : e->kind == EventKind::copy   ? " copies here"
                              : e->kind == EventKind::expect ? " expects bytes here"
                                                             : " arrives here";
      put(e->origin.where.range, role.name + std::string(what));
    }
  return out;
}

}  // namespace tc::verify
