#include "verifier/rules/diagnosis.h"

#include <algorithm>
#include <array>

#include "specs/rule.h"
#include "verifier/rules/sites.h"

namespace tc::verify {
namespace {
constexpr double kMostSeconds = 1.5;  // spent on looking for the cause
constexpr uint64_t kQuickSeeds = 4, kSlowSeeds = 12;

Diagnosis make(std::string obligation, std::string rule, SourceRange where, std::string message) {
  const Rule* r = find_rule(rule);
  return {.obligation = std::move(obligation),
          .rule = rule,
          .defect = r ? std::string(r->defect) : "",
          .where = where,
          .message = std::move(message),
          .notes = {},
          .also = {},
          .by_repair = false};
}

// Does the edited protocol run well where the original failed, and at other small sizes?
bool runs_well(const Protocol& fixed, const Attack& attack_found, const Deadline& deadline) {
  Model m = build_model(fixed);
  if (m.params.size() != attack_found.inputs.params.size()) {
    // another "taken" parameter: compare only the shared ones
    if (m.params.size() < attack_found.inputs.params.size()) return false;
  }
  auto late = [&] { return deadline.passed(); };
  std::vector<int64_t> params = attack_found.inputs.params;
  params.resize(m.params.size());
  if (attack(m, {.params = {params}, .seeds = kQuickSeeds, .most = 2, .out_of_time = late})) return false;
  bool has_actual = actual_parameters(m).has_value();
  std::vector<std::vector<int64_t>> more;
  if (!has_actual) more = small_parameters(m, 2 * m.depth + 2);
  more.push_back(params);
  if (attack(m, {.params = std::move(more), .seeds = kSlowSeeds, .most = 2, .out_of_time = late})) return false;
  if (attack(m, {.params = {params}, .seeds = 4, .most = 3, .out_of_time = late})) return false;
  return !deadline.passed();
}
}  // namespace

namespace {
// Do the threads that arrive on the ring of the failing arrival add up to its count?
bool counts_add_up(const Protocol& p, const Model& m, const Attack& a) {
  const Failure& f = *a.result.failure;
  int ring = m[a.traces.records[static_cast<size_t>(f.at.thread)][static_cast<size_t>(f.at.record)].id].event.ring;
  int64_t sum = 0;
  for (const Site& s : sites_of(p))
    if (s.event->kind == EventKind::arrive && s.event->ring == ring) sum += threads_of(p, s) * s.event->count;
  return ring >= 0 && static_cast<size_t>(ring) < p.rings.size() && sum == p.rings[static_cast<size_t>(ring)].count;
}
// A wait without partner is blamed where the run hangs.
Diagnosis at_hang(Diagnosis d, const Model& m, const Attack& a) {
  const Failure& f = *a.result.failure;
  if (d.rule != "PROG-02" || f.kind != FailureKind::hang) return d;
  auto place = [&](const Access& x) {
    return m[a.traces.records[static_cast<size_t>(x.thread)][static_cast<size_t>(x.record)].id]
        .event.origin.where.range;
  };
  for (const Access& x : f.blocked)
    if (place(x) == d.where) return d;
  d.where = place(f.blocked[0]);
  return d;
}
// Proved for all parameters, or at the actual ones.
bool holds(const Protocol& p, const Deadline& deadline) {
  if (prove(p, deadline, {.most_findings = 1, .keep_log = false}).proved()) return true;
  Protocol fixed = live_part(pinned(p));
  return fixed != p && prove(fixed, deadline, {.most_findings = 1, .keep_log = false}).proved();
}
}  // namespace

Diagnosis symptom(const Model& m, const Attack& a) {
  const Failure& f = *a.result.failure;
  const Record& r = a.traces.records[static_cast<size_t>(f.at.thread)][static_cast<size_t>(f.at.record)];
  const Event& e = m[r.id].event;
  SourceRange where = e.origin.where.range;
  Diagnosis d;
  auto matrix = [&](const Access& x) {
    EventKind k = m[a.traces.records[static_cast<size_t>(x.thread)][static_cast<size_t>(x.record)].id].event.kind;
    return k == EventKind::mma || k == EventKind::aread;
  };
  switch (f.kind) {
    case FailureKind::hang: d = make("3", "PROG-01", where, "deadlock: " + f.message); break;
    case FailureKind::race:
      d = std::ranges::any_of(f.earlier, matrix) ? make("4", "WGMMA-13", where, f.message)
                                                 : make("4", "RACE-01", where, f.message);
      break;
    case FailureKind::wrong_data: d = make("4", "FLOW-01", where, f.message); break;
    case FailureKind::over_arrival: d = make("1", "MBAR-05", where, f.message); break;
    case FailureKind::too_many_bytes: d = make("1", "TX-01", where, f.message); break;
    case FailureKind::negative:
      d = make(e.ring >= 0 ? "2" : "4", e.ring >= 0 ? "MBAR-06" : "BOUND-01", where, f.message);
      break;
    case FailureKind::bounds: d = make("4", "BOUND-01", where, f.message); break;
    case FailureKind::slip:
      d = make("0",
               e.kind == EventKind::expect ? "ATTR-02"
               : e.kind == EventKind::copy ? "ATTR-03"
                                           : "ATTR-01",
               where, f.message);
      break;
  }
  auto note = [&](const Access& x, std::string text) {
    const Event& other = m[a.traces.records[static_cast<size_t>(x.thread)][static_cast<size_t>(x.record)].id].event;
    SourceRange place = other.origin.where.range;
    bool known = place == where || std::ranges::any_of(d.notes, [&](const Note& n) { return n.where == place; });
    if (!known && d.notes.size() < 4) d.notes.push_back({place, std::move(text)});
  };
  for (const Access& x : f.earlier) note(x, "the access that is not ordered before it");
  for (const Access& x : f.blocked) note(x, "waits here as well");
  return d;
}

Diagnosis of_finding(const Model& m, const Finding& f) {
  bool wait = f.subject >= 0 && m[f.subject].event.kind == EventKind::wait;
  auto matrix = [&](int id) {
    return id >= 0 && (m[id].event.kind == EventKind::mma || m[id].event.kind == EventKind::aread);
  };
  std::string rule;
  switch (f.topic) {
    case Topic::assumptions:
    case Topic::never_executed: rule = "VAC-01"; break;
    case Topic::outside_method:
    case Topic::negative_trip: rule = "PROG-02"; break;
    case Topic::no_ticket:
    case Topic::slot:
    case Topic::parity:
    case Topic::operand:
    case Topic::ticket_range: rule = wait ? "MBAR-06" : "ATTR-01"; break;
    case Topic::arrivals_of_wait:
    case Topic::most_arrivals:
    case Topic::previous_count:
    case Topic::nobody_arrives: rule = "MBAR-05"; break;
    case Topic::byte_limit: rule = "TX-01"; break;
    case Topic::bytes_of_wait:
    case Topic::bytes: rule = "TX-02"; break;
    case Topic::attribution:
      rule = wait ? "MBAR-06" : m[f.subject].event.kind == EventKind::copy ? "ATTR-03" : "ATTR-01";
      break;
    case Topic::overtaken: rule = "MBAR-06"; break;
    case Topic::late_expect: rule = "ATTR-02"; break;
    case Topic::schedule: rule = "PROG-01"; break;
    case Topic::read_before_overwrite:
    case Topic::writes_in_order: rule = matrix(f.other) ? "WGMMA-13" : "RACE-01"; break;
    case Topic::write_before_read:
    case Topic::gap:
    case Topic::two_writers: rule = "RACE-01"; break;
    case Topic::no_tile:
    case Topic::tile_slot:
    case Topic::tile_range:
    case Topic::unwritten: rule = "FLOW-01"; break;
    case Topic::tile_operand: rule = "BOUND-01"; break;
  }
  return make(f.obligation, std::move(rule), f.where, f.text);
}

Diagnosis find_cause(const Protocol& p, const Proof& proof, const Attack& found, const Deadline& deadline) {
  Deadline limit(std::min(kMostSeconds, static_cast<double>(std::max<int64_t>(deadline.left_ms(), 0)) / 1000));
  std::optional<Diagnosis> plausible;
  for (Repair& r : repairs(p)) {
    if (limit.passed()) break;
    if (!runs_well(r.fixed, found, limit)) continue;
    if (holds(r.fixed, limit)) {
      if (r.without && runs_well(r.without->first, found, limit) && holds(r.without->first, limit))
        return std::move(r.without->second);
      return at_hang(std::move(r.diagnosis), *proof.model, found);
    }
    if (!plausible) plausible = std::move(r.diagnosis);
  }
  if (plausible) return *plausible;
  const Failure& failure = *found.result.failure;
  Diagnosis shown = symptom(*proof.model, found);
  if (failure.kind == FailureKind::over_arrival && counts_add_up(p, *proof.model, found)) {
    shown.obligation = "0";
    shown.rule = "ATTR-01";
    shown.message += ": a thread arrives again before the phase is complete";
  }
  if (failure.kind == FailureKind::over_arrival || failure.kind == FailureKind::slip) return shown;
  // No single edit: the first open obligation about what the failing run shows, else the symptom itself.
  constexpr std::array order = {Topic::parity,        Topic::bytes,     Topic::bytes_of_wait, Topic::arrivals_of_wait,
                                Topic::most_arrivals, Topic::no_ticket, Topic::slot};
  for (Topic t : order)
    for (const Finding& f : proof.findings)
      if (f.topic == t && f.kind == FindingKind::open) return of_finding(*proof.model, f);
  return shown;
}

}  // namespace tc::verify
