// The edits that undo one mistake, family by family; each says which rule the mistake breaks and where.
#include <algorithm>
#include <set>

#include "verifier/rules/diagnosis.h"
#include "verifier/rules/sites.h"

namespace tc::verify {
namespace {
constexpr size_t kMostRepairs = 400;

class Repairs {
 public:
  explicit Repairs(const Protocol& p) : p_(p), sites_(sites_of(p)) {}

  std::vector<Repair> all() {
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

 private:
  const Ring& ring(const Event& e) const { return p_.rings[static_cast<size_t>(e.ring)]; }
  std::string name(const Event& e) const { return e.ring >= 0 ? ring(e).name : std::string(); }
  Diagnosis at(const Origin& o, std::string obligation, std::string rule, std::string defect, std::string message) {
    return {.obligation = std::move(obligation),
            .rule = std::move(rule),
            .defect = std::move(defect),
            .where = o.where.range,
            .message = std::move(message),
            .notes = {},
            .also = {},
            .by_repair = true};
  }
  void add(Protocol fixed, Diagnosis d, int ring, const Event* except) {
    if (fixed == p_) return;
    if (ring >= 0) d.notes = ring_notes(p_, ring, except);
    out_.push_back({std::move(fixed), std::move(d), std::nullopt});
  }
  bool fills(size_t role) const {
    return std::ranges::any_of(sites_, [&](const Site& x) {
      return x.role == role && (x.event->kind == EventKind::copy || x.event->kind == EventKind::write);
    });
  }
  // Parity asked by the first wait. Whoever fills slots waits for their release, inverted: 1; whoever uses them 0.
  static int64_t first_parity(const Expr& e, int64_t stages) {
    ExprEnv env{[&](const std::string& n) { return n == "S" ? stages : int64_t{0}; },
                [](const std::string&, int64_t) { return int64_t{0}; }};
    return evaluate(e, env).value_or(0) & 1;
  }

  // MBAR-06: another parity at one wait.
  void parity(const Site& s) {
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
  std::pair<Protocol, Diagnosis> surplus_wait(const Site& s) {
    Protocol without = p_;
    erase_at(without, s);
    Diagnosis d = at(s.event->origin, "1", "PROG-02", "deadlock",
                     "this wait on " + name(*s.event) + " is for a phase that is never completed or long over");
    d.notes = ring_notes(p_, s.event->ring, s.event);
    return {std::move(without), std::move(d)};
  }
  // MBAR-06: the phase bit of another stage is flipped.
  void flip_slot(const Site& s) {
    for (const Site& w : sites_) {
      if (w.role != s.role || w.event->kind != EventKind::wait) continue;
      Protocol fixed = p_;
      event_at(fixed, s).slot = w.event->slot;
      Diagnosis d = at(s.event->origin, "2", "MBAR-06", "barrier-parity",
                       "the phase bit of slot " + print(s.event->slot) + " is flipped, the wait was on slot " +
                           print(w.event->slot));
      d.notes = ring_notes(p_, w.event->ring, nullptr);
      add(std::move(fixed), std::move(d), -1, nullptr);
    }
  }
  // MBAR-06: a wait under a condition that lets its barrier run ahead.
  void widen_wait(const Site& s) {
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

  // TX-02: the bytes of every phase are those of its copies.
  void bytes() {
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
  void bytes_added(const Site& s, int r, int64_t expected, int64_t copied) {
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
  const Origin& bytes_place(int r, const Event& expect, int64_t expected) const {
    if (expected) return expect.origin;
    for (const Site& s : sites_)
      if (s.event->ring == r && s.event->kind == EventKind::copy) return s.event->origin;
    return expect.origin;
  }

  // MBAR-05: another init count. Blamed is the allocation, unless a single thread or warp is what the count says.
  void counts() {
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
  void executors(const Site& s) {
    const Event& e = *s.event;
    auto put = [&](Protocol fixed) {
      add(std::move(fixed),
          at(e.origin, "1", "MBAR-05", "barrier-arrive-count",
             std::to_string(threads_of(p_, s) * e.count) + " arrivals on " + name(e) +
                 " from here; its init count is " + std::to_string(ring(e).count)),
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
  void missing_arrival(const Site& w) {
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
  bool in_scope(const Site& s, const Expr& e) const {
    return std::ranges::all_of(names_in(e), [&](const std::string& n) {
      return std::ranges::find(s.names, n) != s.names.end() ||
             std::ranges::find(p_.params, n, &Param::name) != p_.params.end();
    });
  }

  // Another slot at one event: MBAR-06 at a wait, ATTR-01 at an arrival, FLOW-01 at an access.
  void slots(const Site& s) {
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
  void slot_names(size_t role) {
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
  static void rename(Expr& e, const std::string& a, const std::string& b) {
    if (e.op == ExprOp::name && e.name == a) e.name = b;
    for (Expr& x : e.args) rename(x, a, b);
  }

  // ATTR-02: bytes that are expected after the phase can be complete.
  void late_expect(const Site& s) {
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
  void lone_wait(const Site& s) {
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

  // PROG-02: trip counts that differ between roles. Blamed is the wait that finds no partner, with a note at the loop.
  void trips() {
    std::vector<LoopSite> loops = loops_of(p_);
    for (const LoopSite& l : loops)
      for (const LoopSite& other : loops) {
        if (l.role == other.role || l.loop->trip == other.loop->trip) continue;
        Protocol fixed = p_;
        loop_at(fixed, l).trip = other.loop->trip;
        const Event* wait = partner_wait(l);
        if (!wait) wait = partner_wait(other);
        const Origin& o = wait ? wait->origin : l.loop->origin;
        Diagnosis d =
            at(o, "1", "PROG-02", "deadlock",
               "the loop of " + p_.roles[l.role].name + " runs " + print(l.loop->trip) + " times, the one of " +
                   p_.roles[other.role].name + " " + print(other.loop->trip) + " times");
        d.notes.push_back({l.loop->origin.where.range, "the loop of " + p_.roles[l.role].name});
        d.notes.push_back({other.loop->origin.where.range, "the loop of " + p_.roles[other.role].name});
        d.also.push_back({l.loop->origin.where.range, d.message});
        add(std::move(fixed), std::move(d), -1, nullptr);
      }
  }
  // One iteration too many or too few.
  void trips_by_one() {
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
  const Event* partner_wait(const LoopSite& l) const {
    for (const Event* a : events_in(l.loop->body))
      for (const Site& s : sites_)
        if (a->kind == EventKind::arrive && s.role != l.role && s.event->kind == EventKind::wait &&
            s.event->ring == a->ring)
          return s.event;
    return nullptr;
  }

  // PROG-02: a wait under a wider condition than its arrivals. Tries the conditions of the other roles, and narrower
  // ones.
  void guards(const Site& s) {
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
  std::vector<std::string> predicates() const {
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

  // RACE-01, WGMMA-13, PROG-01: a release at the wrong place of its body, or by one thread for all.
  void release(const Site& s) {
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
  const Event* matrix_before(const Site& s) const {
    for (const Site& x : sites_)
      if (x.role == s.role && (x.event->kind == EventKind::mma || x.event->kind == EventKind::aread)) return x.event;
    return nullptr;
  }
  size_t body_size(const Site& s) {
    Protocol copy = p_;
    return body_at(copy, s).size();
  }
  static void insert_to(Protocol& fixed, const Site& s, size_t to) {
    auto& body = body_at(fixed, s);
    Stmt moved = body[s.path.back()];
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(s.path.back()));
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(to > s.path.back() ? to - 1 : to), std::move(moved));
  }

  // RACE-01 at a copy, ATTR-01 at an arrival that no wait holds back: a wait for the release of the slot before it.
  void missing_wait(const Site& s) {
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
  const Event* first_write(size_t role) const {
    for (const Site& x : sites_)
      if (x.role == role && (x.event->kind == EventKind::copy || x.event->kind == EventKind::write)) return x.event;
    return nullptr;
  }

  // An event that is too much.
  void surplus(const Site& s) {
    const Event& e = *s.event;
    if (e.kind != EventKind::arrive && e.kind != EventKind::wait && e.kind != EventKind::copy) return;
    Protocol fixed = p_;
    erase_at(fixed, s);
    Diagnosis d = e.kind == EventKind::arrive ? at(e.origin, "1", "MBAR-05", "barrier-arrive-count",
                                                   "with this arrival more than " + std::to_string(ring(e).count) +
                                                       " arrive on " + name(e) + " in a phase")
                  : e.kind == EventKind::wait
                      ? at(e.origin, "1", "PROG-02", "deadlock",
                           "this wait on " + name(e) + " is for a phase that is never completed or long over")
                      : at(e.origin, "1", "TX-02", "barrier-expect-tx",
                           "with this copy more bytes complete on " + name(e) + " than are expected");
    add(std::move(fixed), std::move(d), e.ring, &e);
  }

  const Protocol& p_;
  std::vector<Site> sites_;
  std::vector<Repair> out_, unusual_;  // unusual: right perhaps, but not how rings are written
};
}  // namespace

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
