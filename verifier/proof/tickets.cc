// Tickets and tiles: what does every event mean? Read off runs, proved afterwards by the questions of questions.cc.
//   wait empty[i % 3], parity ((i // 3) & 1) ^ 1: the reference run sees it return in phases 0, 0, 0, 1, 1, 1, … after
//   phases -1, -1, -1, 0, …: ticket slot + 3 * phase = i - 3 in every iteration.
#include <algorithm>
#include <map>
#include <set>

#include "verifier/proof/exact.h"
#include "verifier/proof/questions.h"

namespace tc::verify {
namespace {
constexpr size_t kMostRecords = 100000;

struct Sample {
  Point point;
  int64_t value;
};
using Samples = std::vector<std::vector<Sample>>;  // per class

// Numbers that a ticket or tile may differ from by a constant, likeliest first.
std::vector<Num> bases(const Model& m, int id, std::initializer_list<const Expr*> exprs) {
  const EventClass& c = m[id];
  std::vector<Num> out;
  std::vector<std::string> names;
  std::string why;
  for (const Expr* e : exprs) {
    if (!e) continue;
    if (e->op == ExprOp::mod)
      if (auto n = affine(e->args[0], c.names, why)) out.push_back(*n);
    for (const Expr* o : division_operands(*e))
      if (auto n = affine(*o, c.names, why)) out.push_back(*n);
    for (std::string& n : names_in(*e))
      if (c.find(n) && std::ranges::find(names, n) == names.end()) names.push_back(std::move(n));
  }
  auto is_param = [&](const std::string& n) {
    return n == "S" || std::ranges::find(m.params, n, &ModelParam::name) != m.params.end();
  };
  if (names.empty())
    for (const auto& [n, value] : c.names)
      if (!is_param(n)) names.push_back(n);
  for (const std::string& n : names) out.push_back(*c.find(n));
  for (const auto& [n, value] : c.names)  // e.g. two slots of one iteration: 2*i
    if (!is_param(n)) out.push_back(value);
  out.push_back(Num{});
  for (const ModelParam& q : m.params)
    if (std::ranges::find(names, q.name) == names.end()) out.push_back(Num{{}, Aff::of(q.sym), {}});
  return out;
}

std::optional<Num> fit(const std::vector<Num>& candidates, const std::vector<Sample>& samples) {
  for (const Num& b : candidates) {
    int64_t d = samples[0].value - b.at(samples[0].point);
    if (std::ranges::all_of(samples, [&](const Sample& s) { return s.value - b.at(s.point) == d; })) return b.plus(d);
  }
  return std::nullopt;
}

void sample_tickets(const Model& m, const Traces& t, const RunResult& r, const Point& params, Samples& out) {
  Point p = params;
  for (size_t i = 0; i < t.threads.size(); ++i)
    for (size_t j = 0; j < t.records[i].size(); ++j) {
      const Record& x = t.records[i][j];
      const Event& e = m[x.id].event;
      if (e.ring < 0) continue;
      Mark mark = e.kind == EventKind::wait     ? Mark::wait
                  : e.kind == EventKind::arrive ? Mark::arrive
                  : e.kind == EventKind::copy   ? Mark::copy
                                                : Mark::expect;
      const PhaseRange& phase = r.where[i][j][static_cast<size_t>(mark)];
      if (!phase.seen()) continue;
      set_iteration(m, x, p);
      int64_t n = phase.low - (mark == Mark::wait ? 1 : 0);
      out[static_cast<size_t>(x.id)].push_back({p, x.slot + m.slots[static_cast<size_t>(e.ring)] * n});
    }
}
void sample_tiles(const Model& m, const Traces& t, const RunResult& r, const Point& params, Samples& out) {
  Point p = params;
  for (size_t i = 0; i < t.threads.size(); ++i)
    for (size_t j = 0; j < t.records[i].size(); ++j) {
      const Record& x = t.records[i][j];
      const Event& e = m[x.id].event;
      if (e.buffer < 0 || r.seen_write[i][j] < 0) continue;
      set_iteration(m, x, p);
      out[static_cast<size_t>(x.id)].push_back(
          {p, x.at + m.protocol.buffers[static_cast<size_t>(e.buffer)].slots * r.seen_write[i][j]});
    }
}

bool interesting(const std::vector<int64_t>& params, int64_t depth) {
  int64_t most = params.empty() ? 1 : *std::ranges::max_element(params);
  return most == 1 || most == 2 || most == depth + 1 || most == 2 * depth + 3;
}
}  // namespace

std::vector<std::vector<int64_t>> trial_parameters(const Model& m, int64_t top) {
  std::vector<std::vector<int64_t>> out = small_parameters(m, top);
  if (!out.empty()) return out;
  if (auto actual = actual_parameters(m)) return {*actual};
  for (int64_t n = 2 * top; n <= 256 && out.empty(); n *= 2) out = small_parameters(m, n);
  return out;
}

void find_used_slots(Model& m) {
  std::vector<std::set<int64_t>> used(m.protocol.rings.size());
  std::vector<std::vector<int64_t>> params = trial_parameters(m, 2 * m.depth + 3);
  if (params.empty()) return;
  Inputs in = make_inputs(m, params.back(), 1, true);
  std::optional<Traces> t = expand(m, in, 2, kMostRecords);
  if (!t) return;
  for (const auto& records : t->records)
    for (const Record& r : records)
      if (m[r.id].event.ring >= 0) used[static_cast<size_t>(m[r.id].event.ring)].insert(r.slot);
  for (size_t i = 0; i < used.size(); ++i) {
    int64_t n = static_cast<int64_t>(used[i].size());
    bool whole = n > 0 && *used[i].begin() == 0 && *used[i].rbegin() == n - 1;
    if (whole) m.slots[i] = std::min(n, m.protocol.rings[i].slots);
  }
}

std::vector<Finding> infer_meaning(Model& m) {
  Samples tickets(m.classes.size()), by_ordinal(m.classes.size()), tiles(m.classes.size());
  bool want_tiles =
      std::ranges::any_of(m.classes, [](const EventClass& c) { return c.event.buffer >= 0 && !c.event.tile; });
  std::vector<std::vector<int64_t>> sets = trial_parameters(m, 2 * m.depth + 3);
  for (const std::vector<int64_t>& params : sets) {
    if (sets.size() > 1 && !interesting(params, m.depth)) continue;
    Inputs in = make_inputs(m, params, 1, true);
    std::optional<Traces> t = expand(m, in, 2, kMostRecords);
    if (!t) continue;
    Point p = parameter_point(m, in);
    RunResult real = run(m, *t, 0, Reading::parity, p), meant;
    sample_tickets(m, *t, real, p, tickets);
    if (real.failure || want_tiles) meant = run(m, *t, 0, Reading::ordinal, p);
    if (real.failure) sample_tickets(m, *t, meant, p, by_ordinal);
    if (want_tiles) sample_tiles(m, *t, meant, p, tiles);
  }
  std::vector<Finding> findings;
  for (EventClass& c : m.classes) {
    if (c.is_mark) continue;
    SourceRange where = c.event.origin.where.range;
    std::string why, text = "'" + m.event_text(c.id) + "'";
    // An event that a broken protocol never reaches keeps the meaning that it has by ordinals.
    const auto& real = tickets[static_cast<size_t>(c.id)];
    const auto& seen = real.empty() ? by_ordinal[static_cast<size_t>(c.id)] : real;
    auto miss = [&](std::string obligation, Topic topic, FindingKind kind, std::string what) {
      findings.push_back({std::move(obligation), topic, kind, c.id, -1, where, text + ": " + std::move(what)});
    };
    if (c.on_ring()) {
      std::string ob = c.event.kind == EventKind::wait ? "2" : "0";
      if (c.event.meant) {
        c.ticket = affine(*c.event.meant, c.names, why);
        if (!c.ticket) miss(ob, Topic::no_ticket, FindingKind::unknown, why);
      } else if (seen.empty()) {
        miss(ob, Topic::no_ticket, FindingKind::unknown, "it is never executed in the reference runs");
      } else {
        c.ticket = fit(bases(m, c.id, {&c.event.slot, c.event.parity ? &*c.event.parity : nullptr}), seen);
        if (!c.ticket)
          miss(ob, Topic::no_ticket, FindingKind::open, "the phases it belongs to are no running count of iterations");
      }
    }
    if (c.event.buffer < 0) continue;
    if (c.event.tile) {
      c.tile = affine(*c.event.tile, c.names, why);
      if (!c.tile) miss("4", Topic::no_tile, FindingKind::unknown, why);
      continue;
    }
    const auto& data = tiles[static_cast<size_t>(c.id)];
    if (data.empty()) {
      miss("4", Topic::no_tile, FindingKind::open,
           c.writes() ? "it is never executed in the reference runs" : "it sees no write in the runs by ordinal");
    } else {
      c.tile = fit(bases(m, c.id, {&c.event.at}), data);
      if (!c.tile)
        miss("4", Topic::no_tile, FindingKind::open, "the writes that it sees are no running count of iterations");
    }
  }
  return findings;
}

}  // namespace tc::verify
