// The certificate checker: no solver, substitution only. It asks the same list of questions that the prover answered
// (questions.cc) with the certificate's tickets, and puts the certificate's numbers in.
#include <algorithm>
#include <map>
#include <tuple>

#include "verifier/proof/certificate.h"
#include "verifier/proof/exact.h"

namespace tc::verify {
namespace {
constexpr size_t kMostRecords = 20000, kMostSets = 14;

class Checker {
 public:
  Checker(const Protocol& p, const Certificate& c) : c_(c), m_(build_model(p)), algebra_(m_) {}

  std::optional<std::string> check() {
    if (load() && farkas()) small_points();
    return std::move(wrong_);
  }

 private:
  bool fail(std::string why) {
    if (!wrong_) wrong_ = std::move(why);
    return false;
  }

  // ---- names → symbols
  std::optional<Sym> symbol(const std::string& name) const {
    for (Sym s = 0; s < m_.terms.symbol_count(); ++s) {
      const SymDef& d = m_.terms.definition(s);
      if (d.name == name && (d.kind == SymKind::one || d.kind == SymKind::variable || d.kind == SymKind::product))
        return s;
    }
    return std::nullopt;
  }
  bool read(const Linear& l, Aff& out) {
    for (const auto& [name, c] : l) {
      std::optional<Sym> s = symbol(name);
      if (!s) return fail("there is no variable " + name);
      out.add(Aff::of(*s), c);
    }
    return true;
  }
  bool read(const CertificateNum& n, Num& out) {
    Aff K;
    if (!read(n.w, out.w) || !read(n.k, out.k) || !read(n.K, K)) return false;
    if (n.nested) out.K = K;
    return true;
  }
  bool read(const CertificateNode& n, Node& out) {
    const std::map<std::string, NodeKind> kinds = {{"happened", NodeKind::happened},
                                                   {"reached", NodeKind::reached},
                                                   {"done", NodeKind::done},
                                                   {"complete", NodeKind::complete},
                                                   {"pending", NodeKind::pending}};
    auto kind = kinds.find(n.kind);
    if (kind == kinds.end()) return fail("there is no node kind " + n.kind);
    out.kind = kind->second;
    if (out.on_ticket()) {
      if (n.ring < 0 || n.ring >= static_cast<int64_t>(m_.protocol.rings.size())) return fail("a node names no ring");
      out.ring = static_cast<int>(n.ring);
      return read(n.ticket, out.ticket);
    }
    if (n.event < 0 || n.event >= static_cast<int64_t>(m_.classes.size()) || m_[static_cast<int>(n.event)].is_mark)
      return fail("a node names no event");
    out.id = static_cast<int>(n.event);
    if (n.warp >= 0) out.thread = Lane{n.warp, n.lane};
    if (!out.thread && out.kind != NodeKind::done) return fail("a node names no thread");
    if (n.vec.size() != m_[out.id].loops.size()) return fail("a node has another loop depth than its event");
    for (const Linear& l : n.vec) {
      out.vec.emplace_back();
      if (!read(l, out.vec.back())) return false;
    }
    return true;
  }

  bool load() {
    if (!m_.troubles.empty()) return fail(m_.troubles[0].what);
    if (c_.slots.size() != m_.slots.size()) return fail("another number of rings");
    for (size_t i = 0; i < c_.slots.size(); ++i) {
      if (c_.slots[i] < 1 || c_.slots[i] > m_.slots[i]) return fail("a ring has no such number of slots");
      m_.slots[i] = c_.slots[i];
    }
    if (c_.events.size() != m_.classes.size()) return fail("another number of events");
    for (EventClass& e : m_.classes) {
      const CertificateEvent& x = c_.events[static_cast<size_t>(e.id)];
      Num ticket, tile;
      if (x.ticket && !read(*x.ticket, ticket)) return false;
      if (x.tile && !read(*x.tile, tile)) return false;
      if (e.is_mark) continue;
      if (e.on_ring() != x.ticket.has_value() || (e.event.buffer >= 0) != x.tile.has_value())
        return fail("an event has no ticket or no tile");
      if (x.ticket) e.ticket = ticket;
      if (x.tile) e.tile = tile;
    }
    std::vector<Finding> findings;
    questions_ = all_questions(m_, algebra_, findings);
    if (!findings.empty()) return fail(findings[0].text);
    timing_.emplace(m_);
    dependencies_ = timing_->dependencies(algebra_);
    if (algebra_.unfit()) return fail(*algebra_.unfit());
    if (c_.questions.size() != questions_.size()) return fail("another number of questions");
    for (size_t i = 0; i < questions_.size(); ++i) {
      paths_.emplace_back();
      for (const CertificatePath& p : c_.questions[i]) {
        Path path;
        for (const CertificateNode& n : p.nodes) {
          path.nodes.emplace_back();
          if (!read(n, path.nodes.back())) return false;
        }
        for (const Linear& l : p.constraints) {
          path.constraints.emplace_back();
          if (!read(l, path.constraints.back())) return false;
        }
        if (path.nodes.empty() ||
            !(path.nodes.front() == questions_[i].goal || starts_at_goal(path.nodes.front(), questions_[i].goal)) ||
            !(path.nodes.back() == questions_[i].target))
          return fail("a path does not lead from the goal to the target: " + questions_[i].text);
        paths_.back().push_back(std::move(path));
      }
    }
    return true;
  }
  static bool starts_at_goal(const Node& n, const Node& goal) {
    return n.kind == goal.kind && n.id == goal.id && n.ring == goal.ring && n.thread == goal.thread;
  }

  bool farkas() {
    schedule_.flat = c_.flat;
    schedule_.outer = c_.outer;
    for (const std::string& name : c_.symbols) {
      std::optional<Sym> s = symbol(name);
      if (!s) return fail("there is no variable " + name);
      schedule_.symbols.push_back(*s);
    }
    for (const CertificateEvent& e : c_.events) schedule_.offsets.push_back(e.offsets);
    schedule_.proofs = c_.dependencies;
    if (std::optional<size_t> n = check_farkas(m_, *timing_, dependencies_, schedule_)) {
      if (*n >= dependencies_.size()) return fail("another number of dependencies");
      return fail("a dependency is not advanced: '" + m_.event_text(dependencies_[*n].from) + "' before '" +
                  m_.event_text(dependencies_[*n].to) + "'");
    }
    return unused_numbers();
  }
  // A number that no identity uses is 0.
  bool unused_numbers() {
    bool flat = false, outer = false;
    std::vector<bool> used(m_.classes.size());
    for (const Dependency& d : dependencies_) {
      Clock to = timing_->clock(d.to, d.to_vec), from = timing_->clock(d.from, d.from_vec);
      flat |= to.flat != from.flat;
      outer |= to.outer != from.outer;
      if (d.from != d.to) used[static_cast<size_t>(d.from)] = used[static_cast<size_t>(d.to)] = true;
    }
    if ((!flat && c_.flat) || (!outer && c_.outer)) return fail("a time scale that nothing uses is not 0");
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i] && std::ranges::any_of(c_.events[i].offsets, [](int64_t v) { return v != 0; }))
        return fail("a time that nothing uses is not 0");
    return true;
  }

  // ---- small parameters
  void small_points() {
    std::vector<std::vector<int64_t>> sets = trial_parameters(m_, 2 * m_.depth + 2);
    if (sets.size() > kMostSets)
      std::erase_if(sets, [&](const std::vector<int64_t>& s) {
        return std::ranges::any_of(s, [&](int64_t v) { return v > 2 && v != m_.depth + 1 && v != 2 * m_.depth + 2; });
      });
    for (const std::vector<int64_t>& s : sets) {
      inputs_ = make_inputs(m_, s, 1, false);
      std::optional<Traces> t = expand(m_, inputs_, 3, kMostRecords);
      if (!t) continue;
      traces_ = std::move(*t);
      point_ = parameter_point(m_, inputs_);
      point_.resize(m_.terms.symbol_count());
      index();
      if (!times()) return;
      for (size_t i = 0; i < questions_.size(); ++i)
        if (!question(i)) return;
    }
  }
  using Place = std::tuple<int, int64_t, int64_t, int, std::vector<int64_t>>;  // role, warp, lane, class, iteration
  void index() {
    place_.clear();
    longest_ = 0;
    for (size_t t = 0; t < traces_.threads.size(); ++t)
      for (size_t i = 0; i < traces_.records[t].size(); ++i) {
        const Record& r = traces_.records[t][i];
        const ThreadRef& th = traces_.threads[t];
        place_[{th.role, th.warp, th.lane, r.id, r.vec}] = static_cast<int>(i);
        for (int64_t v : r.vec) longest_ = std::max(longest_, v + 1);
      }
  }
  int64_t ticket(const Record& r) {
    Point p = point_;
    set_iteration(m_, r, p);
    return m_[r.id].ticket->at(p);
  }
  int64_t date(const Record& r) {
    std::vector<Aff> vec(r.vec.begin(), r.vec.end());
    return timing_->date(schedule_, r.id, vec, point_);
  }
  bool times() {
    std::map<std::pair<int, int64_t>, int64_t> latest;  // ring, ticket → the latest arrival or copy
    for (const auto& records : traces_.records) {
      std::optional<int64_t> before;
      for (const Record& r : records) {
        int64_t now = date(r);
        if (before && *before >= now) return fail("time does not advance at '" + m_.event_text(r.id) + "'");
        before = now;
        EventKind k = m_[r.id].event.kind;
        if (k != EventKind::arrive && k != EventKind::copy) continue;
        auto [it, fresh] = latest.try_emplace({m_[r.id].event.ring, ticket(r)}, now);
        it->second = std::max(it->second, now);
      }
    }
    for (const auto& records : traces_.records)
      for (const Record& r : records) {
        if (m_[r.id].event.kind != EventKind::wait) continue;
        auto it = latest.find({m_[r.id].event.ring, ticket(r)});
        if (it != latest.end() && it->second >= date(r))
          return fail("'" + m_.event_text(r.id) + "' is not later than what it waits for");
      }
    return true;
  }

  // Every assignment of the loop variables that satisfies the region.
  bool question(size_t i) {
    const Question& q = questions_[i];
    if (q.region == kFalse || (q.kind == QuestionKind::valid && q.claim == kTrue)) return true;
    std::vector<Formula> parts = m_.terms.node(q.region).kind == FormulaKind::all ? m_.terms.node(q.region).parts
                                                                                  : std::vector<Formula>{q.region};
    std::vector<Sym> loops;
    for (Sym v : q.variables)
      if (std::ranges::find(m_.params, v, &ModelParam::sym) == m_.params.end()) loops.push_back(v);
    // A conjunct is tested as soon as its last variable has a value.
    std::vector<std::vector<Formula>> tests(loops.size() + 1);
    for (Formula f : parts) {
      std::vector<bool> seen;
      m_.terms.variables(f, seen);
      size_t last = 0;
      for (size_t n = 0; n < loops.size(); ++n)
        if (uses(seen, loops[n])) last = n + 1;
      tests[last].push_back(f);
    }
    return assign(i, loops, tests, 0);
  }
  bool uses(const std::vector<bool>& seen, Sym v) const {
    for (Sym s = 0; s < seen.size(); ++s)
      if (seen[s] && (s == v || (m_.terms.definition(s).kind == SymKind::product &&
                                 (m_.terms.definition(s).left == v || m_.terms.definition(s).right == v))))
        return true;
    return false;
  }
  bool assign(size_t i, const std::vector<Sym>& loops, const std::vector<std::vector<Formula>>& tests, size_t n) {
    for (Formula f : tests[n])
      if (!m_.terms.holds(f, point_)) return true;
    if (n == loops.size()) return at_point(i);
    for (int64_t v = 0; v < longest_; ++v) {
      point_[loops[n]] = v;
      if (!assign(i, loops, tests, n + 1)) return false;
    }
    return true;
  }
  bool at_point(size_t i) {
    const Question& q = questions_[i];
    if (q.kind == QuestionKind::possible) return true;
    if (q.kind == QuestionKind::valid) return m_.terms.holds(q.claim, point_) || fail("not so: " + q.text);
    bool covered = false;
    for (const Path& p : paths_[i]) {
      if (!std::ranges::all_of(p.constraints, [&](const Aff& c) { return c.at(point_) >= 0; })) continue;
      covered = true;
      if (!is_chain(p)) return fail("a path has a step that is none: " + q.text);
    }
    return covered || fail("no path is listed for a case of: " + q.text);
  }

  // ---- one concrete path
  struct Concrete {
    const Node* node;
    std::vector<int64_t> vec;
    int64_t ticket = 0;
  };
  Concrete concrete(const Node& n) const {
    Concrete c{.node = &n, .vec = {}};
    for (const Aff& a : n.vec) c.vec.push_back(a.at(point_));
    if (n.on_ticket()) c.ticket = n.ticket.at(point_);
    return c;
  }
  bool is_chain(const Path& p) {
    if (p.nodes.size() == 1) return true;  // goal and target are one
    Concrete a = concrete(p.nodes[0]);
    for (size_t i = 1; i < p.nodes.size(); ++i) {
      Concrete b = concrete(p.nodes[i]);
      if (!is_step(a, b)) return false;
      a = std::move(b);
    }
    return true;
  }
  std::optional<int> position(const Concrete& x) const {
    auto it = place_.find({m_[x.node->id].role, x.node->thread->warp, x.node->thread->lane, x.node->id, x.vec});
    return it == place_.end() ? std::nullopt : std::optional(it->second);
  }
  int64_t ticket_of(const Concrete& x) const {
    Point p = point_;
    for (size_t i = 0; i < x.vec.size(); ++i) p[m_[x.node->id].loops[i].var] = x.vec[i];
    return m_[x.node->id].ticket->at(p);
  }
  bool is_step(const Concrete& a, const Concrete& b) const {
    const Node &x = *a.node, &y = *b.node;
    if (x.kind == y.kind && x.id == y.id && x.ring == y.ring && x.thread == y.thread && a.vec == b.vec &&
        a.ticket == b.ticket)
      return true;
    if (x.on_ticket() && y.kind == NodeKind::complete)
      return x.ring == y.ring && a.ticket <= b.ticket &&
             (b.ticket - a.ticket) % m_.slots[static_cast<size_t>(x.ring)] == 0;
    if (x.on_ticket()) {
      if (y.on_ticket() || y.kind != NodeKind::happened || x.kind != NodeKind::complete) return false;
      return m_[y.id].event.kind == EventKind::wait && m_[y.id].event.ring == x.ring && position(b) &&
             ticket_of(b) == a.ticket;
    }
    EventKind from = m_[x.id].event.kind;
    if (y.on_ticket()) {
      if (m_[x.id].event.ring != y.ring || !issued(a) || ticket_of(a) != b.ticket) return false;
      return from == EventKind::arrive
                 ? x.kind == NodeKind::happened
                 : from == EventKind::copy && x.kind == NodeKind::done && y.kind == NodeKind::complete;
    }
    if (y.kind == NodeKind::done)
      return x.kind == NodeKind::happened && x.id == y.id && a.vec == b.vec && (!y.thread || x.thread == y.thread) &&
             position(a);
    if (x.kind == NodeKind::done) return is_waited_for(a, b);
    if (x.thread != y.thread) {
      EventKind to = m_[y.id].event.kind;
      bool barrier = to == EventKind::sync_role || (to == EventKind::sync_warp && x.thread->warp == y.thread->warp);
      return x.id == y.id && barrier && x.kind == NodeKind::reached && a.vec == b.vec && position(a) && position(b);
    }
    if (m_[x.id].role != m_[y.id].role) return false;
    std::optional<int> i = position(a), j = position(b);
    return i && j && (*i < *j || (*i == *j && x.kind == NodeKind::reached));
  }
  bool issued(const Concrete& x) const { return !x.node->thread || position(x).has_value(); }
  // A wait of the same thread's role that leaves fewer operations pending than came after this one.
  bool is_waited_for(const Concrete& op, const Concrete& wait) const {
    const Node& y = *wait.node;
    if (y.kind != NodeKind::happened || m_[y.id].event.kind != EventKind::mma_wait ||
        m_[y.id].role != m_[op.node->id].role)
      return false;
    if (op.node->thread && op.node->thread != y.thread) return false;
    std::optional<int> end = position(wait);
    if (!end) return false;
    for (size_t t = 0; t < traces_.threads.size(); ++t) {
      const ThreadRef& th = traces_.threads[t];
      if (th.role != m_[y.id].role || th.warp != y.thread->warp || th.lane != y.thread->lane) continue;
      std::vector<const Record*> ops;
      for (int i = 0; i < *end; ++i) {
        const Record& r = traces_.records[t][static_cast<size_t>(i)];
        if (m_[r.id].event.kind == EventKind::mma || m_[r.id].event.kind == EventKind::aread) ops.push_back(&r);
      }
      int64_t covered = static_cast<int64_t>(ops.size()) - m_[y.id].event.pending;
      for (int64_t i = 0; i < covered; ++i)
        if (ops[static_cast<size_t>(i)]->id == op.node->id && ops[static_cast<size_t>(i)]->vec == op.vec) return true;
    }
    return false;
  }

  const Certificate& c_;
  Model m_;
  Algebra algebra_;
  std::optional<Timing> timing_;
  std::vector<Dependency> dependencies_;
  std::vector<Question> questions_;
  std::vector<std::vector<Path>> paths_;
  Schedule schedule_;
  Inputs inputs_;
  Traces traces_;
  Point point_;
  std::map<Place, int> place_;
  int64_t longest_ = 0;
  std::optional<std::string> wrong_;
};
}  // namespace

std::optional<std::string> recheck(const Protocol& p, const Certificate& c) { return Checker(p, c).check(); }

}  // namespace tc::verify
