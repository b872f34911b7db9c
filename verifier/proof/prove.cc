#include "verifier/proof/prove.h"

#include <algorithm>
#include <array>

#include "verifier/proof/exact.h"

namespace tc::verify {
namespace {
constexpr size_t kMostPaths = 48;  // cases of one question
constexpr size_t kMostRecords = 200000;

class Prover {
 public:
  Prover(Proof& out, const Deadline& deadline, const ProveOptions& options)
      : out_(out), m_(*out.model), deadline_(deadline), options_(options), algebra_(m_), solver_(m_.terms, deadline) {
    if (options.keep_log) solver_.keep_log();
  }

  void go() {
    frame();
    if (out_.findings.empty()) judge();
    out_.queries = solver_.queries();
    out_.log = solver_.log();
  }

 private:
  void find(std::string obligation, Topic topic, FindingKind kind, int subject, SourceRange where, std::string text) {
    out_.findings.push_back({std::move(obligation), topic, kind, subject, -1, where, std::move(text)});
  }
  bool enough() const { return out_.findings.size() >= options_.most_findings; }

  // What the method does not cover, and contradictory assumptions.
  void frame() {
    for (const Trouble& t : m_.troubles) find("1", Topic::outside_method, FindingKind::unknown, -1, t.where, t.what);
    for (const EventClass& c : m_.classes)
      if (c.loops.size() == 2 &&
          std::ranges::any_of(c.loops[1].trip.terms(), [&](const auto& t) { return t.first == c.loops[0].var; })) {
        find("1", Topic::outside_method, FindingKind::unknown, c.id, c.event.origin.where.range,
             "an inner trip count depends on the outer iteration");
        break;
      }
    Formula all = m_.terms.all_at_least_zero(m_.assumptions);
    if (all == kTrue) return;
    Answer a = solver_.check("V: the assumptions are satisfiable", std::array{all}, m_.param_syms(), small());
    if (a.result != Satisfiable::yes)
      find("V", Topic::assumptions, a.result == Satisfiable::no ? FindingKind::vacuous : FindingKind::unknown, -1, {},
           "no parameter value satisfies the assumptions");
  }
  int64_t small() const { return 2 * m_.depth + 4; }

  void judge() {
    find_used_slots(m_);
    for (Finding& f : infer_meaning(m_)) out_.findings.push_back(std::move(f));
    bool tickets =
        std::ranges::all_of(m_.classes, [](const EventClass& c) { return c.is_mark || !c.on_ring() || c.ticket; });
    out_.questions = all_questions(m_, algebra_, out_.findings);
    out_.paths.resize(out_.questions.size());
    timing_.emplace(m_);
    if (tickets) {
      out_.dependencies = timing_->dependencies(algebra_);
      progress();
    }
    if (algebra_.unfit()) find("1", Topic::outside_method, FindingKind::unknown, -1, {}, *algebra_.unfit());
    for (size_t i = 0; i < out_.questions.size() && !enough(); ++i)
      if (out_.questions[i].kind != QuestionKind::ordered) answer(i);
    if (!out_.schedule) {
      if (out_.findings.empty()) find("3", Topic::schedule, FindingKind::unknown, -1, {}, "no schedule");
      return;
    }
    Order order(m_, algebra_, *timing_, &*out_.schedule);
    order_ = &order;
    for (size_t i = 0; i < out_.questions.size() && !enough(); ++i)
      if (out_.questions[i].kind == QuestionKind::ordered) ordered(i);
    out_.search_steps = order.steps();
    if (algebra_.unfit() && out_.findings.empty())
      find("1", Topic::outside_method, FindingKind::unknown, -1, {}, *algebra_.unfit());
  }

  void progress() {
    bool unsatisfiable = false;
    out_.schedule = find_schedule(m_, *timing_, out_.dependencies, deadline_, unsatisfiable);
    if (!out_.schedule)
      find("3", Topic::schedule, unsatisfiable ? FindingKind::open : FindingKind::unknown, -1, {},
           unsatisfiable ? "no schedule advances along every dependency" : "the search for a schedule ran out of time");
  }

  std::string at_point(const Question& q, const Point& p) const {
    std::string out;
    for (Sym v : q.variables)
      out += (out.empty() ? "" : ", ") + m_.terms.definition(v).shown + " = " + std::to_string(p[v]);
    return out;
  }
  void fail(const Question& q, FindingKind kind, std::string text) {
    out_.findings.push_back({std::string(q.obligation), q.topic, kind, q.subject, q.other,
                             m_[q.subject].event.origin.where.range, std::move(text)});
  }
  void answer(size_t i) {
    const Question q = out_.questions[i];
    if (q.kind == QuestionKind::possible) {
      Answer a = solver_.check(q.text, std::array{q.region}, q.variables, small());
      if (a.result == Satisfiable::no) fail(q, FindingKind::vacuous, q.text + ": never");
      if (a.result == Satisfiable::unknown) fail(q, FindingKind::unknown, q.text + ": not answered in time");
      return;
    }
    if (q.claim == kTrue || q.region == kFalse) return;
    Answer a = solver_.check(q.text, std::array{q.region, m_.terms.negation(q.claim)}, q.variables, small());
    if (a.result == Satisfiable::yes) fail(q, FindingKind::open, q.text + ": fails at " + at_point(q, a.point));
    if (a.result == Satisfiable::unknown) fail(q, FindingKind::unknown, q.text + ": not answered in time");
  }

  void ordered(size_t i) {
    const Question q = out_.questions[i];
    if (q.region == kFalse) return;
    std::vector<Formula> open{q.region};
    std::vector<Formula> deep{q.region};  // the steady state first
    int64_t far = m_.depth + 3;
    for (const Aff& d : q.wide) deep.push_back(m_.terms.at_least_zero(d - far));
    for (Sym v : q.variables) deep.push_back(m_.terms.at_least_zero(Aff::of(v) - far));
    Answer a = solver_.check(q.text, deep, q.variables, small());
    bool first = a.result == Satisfiable::yes;
    while (true) {
      if (!first) a = solver_.check(q.text, open, q.variables, small());
      first = false;
      if (a.result == Satisfiable::no) return;
      if (a.result == Satisfiable::unknown) return fail(q, FindingKind::unknown, q.text + ": not answered in time");
      if (out_.paths[i].size() > kMostPaths) return fail(q, FindingKind::unknown, q.text + ": too many cases");
      std::optional<Path> path = order_->search(q.target, q.goal, a.point);
      if (!path) return fail(q, FindingKind::open, q.text + ": no order at " + at_point(q, a.point));
      open.push_back(m_.terms.negation(m_.terms.all_at_least_zero(path->constraints)));
      out_.paths[i].push_back(std::move(*path));
    }
  }

  Proof& out_;
  Model& m_;
  const Deadline& deadline_;
  const ProveOptions& options_;
  Algebra algebra_;
  Solver solver_;
  std::optional<Timing> timing_;
  Order* order_ = nullptr;
};
}  // namespace

bool Proof::vacuous() const {
  return std::ranges::any_of(findings, [](const Finding& f) { return f.kind == FindingKind::vacuous; });
}

namespace {
Protocol assuming(const Protocol& p, ExprOp op, bool actual) {
  Protocol out = p;
  for (const Param& q : p.params) {
    if (!q.actual || (!actual && *q.actual < 1)) continue;
    int64_t value = actual ? *q.actual : 1;
    std::string name = q.means.empty() ? q.name : q.means;
    Assumption a{.condition = binary(op, variable(q.name), constant(value)),
                 .text = name + std::string(operator_text(op)) + std::to_string(value),
                 .origin = {}};
    bool known = std::ranges::any_of(p.assumptions, [&](const Assumption& b) { return b.condition == a.condition; });
    if (!known) out.assumptions.push_back(std::move(a));
  }
  return out;
}
}  // namespace

Protocol pinned(const Protocol& p) { return assuming(p, ExprOp::eq, true); }
namespace {
// Keeps the events whose entry in `live` is set, in program order; empty loops and conditions go.
std::vector<Stmt> kept(const std::vector<Stmt>& body, const std::vector<bool>& live, size_t& next) {
  std::vector<Stmt> out;
  for (const Stmt& s : body) {
    if (std::holds_alternative<Event>(s.node)) {
      if (live[next++]) out.push_back(s);
      continue;
    }
    Stmt inner = s;
    std::vector<Stmt>& inside =
        std::holds_alternative<Loop>(inner.node) ? std::get<Loop>(inner.node).body : std::get<Branch>(inner.node).body;
    inside = kept(std::vector<Stmt>(inside), live, next);
    if (!inside.empty()) out.push_back(std::move(inner));
  }
  return out;
}
}  // namespace

Protocol live_part(const Protocol& p) {
  Model m = build_model(p);
  auto actual = actual_parameters(m);
  if (!actual || !m.predicates.empty()) return p;
  std::optional<Traces> t = expand(m, make_inputs(m, *actual, 1, true), 2, kMostRecords);
  if (!t) return p;
  std::vector<bool> executed(m.classes.size());
  for (const auto& records : t->records)
    for (const Record& r : records) executed[static_cast<size_t>(r.id)] = true;
  Protocol out = m.protocol;
  for (size_t role = 0; role < out.roles.size(); ++role) {
    std::vector<bool> live;  // of the role's events in program order, which is the order of their classes
    for (const EventClass& c : m.classes) {
      if (c.is_mark || c.role != static_cast<int>(role)) continue;
      bool counts = c.event.kind == EventKind::increment || c.event.kind == EventKind::flip;
      live.push_back(counts || executed[static_cast<size_t>(c.id)]);
    }
    size_t next = 0;
    out.roles[role].body = kept(m.protocol.roles[role].body, live, next);
  }
  std::erase_if(out.roles, [](const Role& r) { return r.body.empty(); });
  return out;
}

Protocol with_trips(const Protocol& p) { return assuming(p, ExprOp::ge, false); }

Proof prove(const Protocol& p, const Deadline& deadline, const ProveOptions& options) {
  Proof out;
  out.model = std::make_unique<Model>(build_model(p));
  Prover(out, deadline, options).go();
  return out;
}

}  // namespace tc::verify
