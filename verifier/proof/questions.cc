#include "verifier/proof/questions.h"

#include <algorithm>

#include "specs/mbarrier.h"

namespace tc::verify {
namespace {
bool is_asynchronous(EventKind k) { return k == EventKind::copy || k == EventKind::mma || k == EventKind::aread; }

class Asker {
 public:
  Asker(Model& m, Algebra& algebra, std::vector<Finding>& findings)
      : m_(m), terms_(m.terms), algebra_(algebra), findings_(findings) {}

  std::vector<Question> ask() {
    for (size_t r = 0; r < m_.protocol.roles.size(); ++r)
      for (int id : m_.role_counts[r])
        for (const LoopLevel& l : m_[id].loops)
          valid("1", Topic::negative_trip, id, -1, "a counted loop has no negative trip count", kTrue,
                terms_.at_least_zero(l.trip), {});
    std::vector<int> events;
    for (const auto& role : m_.role_events) events.insert(events.end(), role.begin(), role.end());
    for (int id : events) executed(id);
    for (int id : events) meaning(id);
    for (int id : events)
      if (m_[id].on_ring() && m_[id].ticket) on_ring(id);
    for (size_t b = 0; b < m_.protocol.buffers.size(); ++b) data(static_cast<int>(b));
    return std::move(out_);
  }

 private:
  std::string name(int id) const { return "'" + m_.event_text(id) + "'"; }
  std::vector<Sym> variables(int id, bool primed = false) {
    std::vector<Sym> out;
    for (const LoopLevel& l : m_[id].loops) out.push_back(primed ? terms_.primed(l.var) : l.var);
    return out;
  }
  Formula region(int id) { return terms_.all_at_least_zero(m_.domain(id, m_.instance(id))); }
  Question& put(std::string_view obligation, Topic topic, QuestionKind kind, int subject, int other, std::string text,
                Formula where, std::vector<Sym> vars) {
    Question q;
    q.obligation = obligation;
    q.topic = topic;
    q.kind = kind;
    q.subject = subject;
    q.other = other;
    q.text = std::move(text);
    q.region = terms_.all({where, terms_.all_at_least_zero(m_.assumptions)});
    q.variables = m_.param_syms();
    for (Sym v : vars)
      if (std::ranges::find(q.variables, v) == q.variables.end()) q.variables.push_back(v);
    out_.push_back(std::move(q));
    return out_.back();
  }
  void valid(std::string_view obligation, Topic topic, int subject, int other, std::string text, Formula where,
             Formula claim, std::vector<Sym> vars) {
    put(obligation, topic, QuestionKind::valid, subject, other, std::move(text), where, std::move(vars)).claim = claim;
  }
  void ordered(std::string_view obligation, Topic topic, int subject, int other, std::string text, Formula where,
               std::vector<Sym> vars, Node goal, Node target, std::vector<Aff> wide) {
    Question& q =
        put(obligation, topic, QuestionKind::ordered, subject, other, std::move(text), where, std::move(vars));
    q.goal = std::move(goal);
    q.target = std::move(target);
    q.wide = std::move(wide);
  }
  void unknown(std::string obligation, Topic topic, int id, std::string why) {
    findings_.push_back({std::move(obligation), topic, FindingKind::unknown, id, -1, m_[id].event.origin.where.range,
                         name(id) + ": " + std::move(why)});
  }

  // V: a line that no run executes proves nothing.
  void executed(int id) {
    put("V", Topic::never_executed, QuestionKind::possible, id, -1, name(id) + " is executed for some parameters",
        region(id), variables(id));
  }

  // w*K >= 0 for the counters at hand, w being the outer loop's variable.
  Formula signs(int id) {
    std::vector<Formula> all{region(id)};
    for (const auto& [n, value] : m_[id].names)
      if (value.K && !m_[id].loops.empty())
        all.push_back(terms_.at_least_zero(terms_.product(Aff::of(m_[id].loops[0].var), *value.K)));
    for (const LoopLevel& l : m_[id].loops)  // products written out in the source: w * K with a parameter K >= 0
      for (const ModelParam& q : m_.params)
        all.push_back(terms_.at_least_zero(terms_.product(Aff::of(l.var), Aff::of(q.sym))));
    return terms_.all(std::move(all));
  }
  void operands(std::string_view ob, Topic topic, int id, const Expr& e) {
    std::string why;
    for (const Expr* o : division_operands(e)) {
      std::optional<Aff> x = algebra_.term(*o, id, why);
      if (!x) unknown(std::string(ob), topic, id, why);
      else
        valid(ob, topic, id, -1, name(id) + ": " + print(*o) + " is not negative", signs(id), terms_.at_least_zero(*x),
              variables(id));
    }
  }
  void meaning(int id) {
    const EventClass& c = m_[id];
    std::string why;
    if (c.on_ring() && c.ticket) {
      std::string_view ob = c.event.kind == EventKind::wait ? "2" : "0";
      int64_t n = m_.slots[static_cast<size_t>(c.event.ring)];
      Aff t = algebra_.linear(*c.ticket);
      std::string ticket = terms_.text(t);
      operands(ob, Topic::operand, id, c.event.slot);
      if (c.event.parity) operands(ob, Topic::operand, id, *c.event.parity);
      if (std::optional<Aff> slot = algebra_.term(c.event.slot, id, why))
        valid(ob, Topic::slot, id, -1, name(id) + ": the slot is ticket " + ticket + " mod " + std::to_string(n),
              region(id), terms_.equal(*slot, terms_.remainder(t, n)), variables(id));
      else unknown(std::string(ob), Topic::slot, id, why);
      if (c.event.parity) {
        if (std::optional<Aff> parity = algebra_.term(*c.event.parity, id, why))
          valid("2", Topic::parity, id, -1, name(id) + ": the parity is that of ticket " + ticket, region(id),
                terms_.equal(terms_.remainder(*parity, 2), terms_.remainder(terms_.quotient(t, n), 2)), variables(id));
        else unknown("2", Topic::parity, id, why);
      }
      Num lowest = c.event.kind == EventKind::wait ? c.ticket->plus(n) : *c.ticket;
      valid(ob, Topic::ticket_range, id, -1,
            name(id) + (c.event.kind == EventKind::wait ? ": no phase before -1" : ": its ticket is not negative"),
            region(id), algebra_.at_least_zero(lowest), variables(id));
    }
    if (c.event.buffer >= 0 && c.tile) {
      int64_t n = m_.protocol.buffers[static_cast<size_t>(c.event.buffer)].slots;
      operands("4", Topic::tile_operand, id, c.event.at);
      if (std::optional<Aff> at = algebra_.term(c.event.at, id, why))
        valid("4", Topic::tile_slot, id, -1, name(id) + ": the slot is the tile's mod " + std::to_string(n), region(id),
              terms_.equal(*at, terms_.remainder(algebra_.linear(*c.tile), n)), variables(id));
      else unknown("4", Topic::tile_slot, id, why);
      valid("4", Topic::tile_range, id, -1, name(id) + ": its tile is not negative", region(id),
            algebra_.at_least_zero(*c.tile), variables(id));
    }
  }

  Aff total(int ring, const Num& ticket, auto weigh) {
    Aff sum;
    for (const EventClass& e : m_.classes) {
      if (e.is_mark || e.event.ring != ring || !e.ticket) continue;
      if (int64_t w = weigh(e)) sum = sum + terms_.choose(algebra_.exists(e.id, *e.ticket, ticket), w, 0);
    }
    return sum;
  }
  Aff arrivals(int ring, const Num& t) {
    return total(ring, t, [&](const EventClass& e) {
      return e.event.kind == EventKind::arrive ? e.event.count * executors(m_, e.id) : 0;
    });
  }
  Aff expected(int ring, const Num& t) {
    return total(ring, t, [&](const EventClass& e) {
      bool expects = e.event.kind == EventKind::arrive || e.event.kind == EventKind::expect;
      return expects ? e.event.tx * executors(m_, e.id) : 0;
    });
  }
  Aff copied(int ring, const Num& t) {
    return total(ring, t, [&](const EventClass& e) {
      return e.event.kind == EventKind::copy ? e.event.bytes * executors(m_, e.id) : 0;
    });
  }

  // TX-01, unless all that is ever expected or copied on the ring stays below the limit anyway.
  void limit_bytes(int id, const Num& t, Formula here) {
    int ring = m_[id].event.ring;
    int64_t most = 0;
    for (const EventClass& e : m_.classes)
      if (!e.is_mark && e.event.ring == ring) most += (e.event.tx + e.event.bytes) * executors(m_, e.id);
    if (most <= kMbarrierMaxTxBytes) return;
    Formula few = terms_.all({terms_.at_least_zero(Aff(kMbarrierMaxTxBytes) - expected(ring, t)),
                              terms_.at_least_zero(Aff(kMbarrierMaxTxBytes) - copied(ring, t))});
    valid("1", Topic::byte_limit, id, -1,
          name(id) + ": at most " + std::to_string(kMbarrierMaxTxBytes) + " bytes in a phase", here, few,
          variables(id));
  }

  Node ticket_node(NodeKind kind, int ring, const Num& t) {
    return {.kind = kind, .id = -1, .thread = {}, .vec = {}, .ring = ring, .ticket = t};
  }
  Node event_node(NodeKind kind, int id, std::optional<Lane> thread, std::vector<Aff> vec) {
    return {.kind = kind, .id = id, .thread = thread, .vec = std::move(vec), .ring = -1, .ticket = {}};
  }

  void on_ring(int id) {
    const EventClass& c = m_[id];
    int ring = c.event.ring;
    int64_t n = m_.slots[static_cast<size_t>(ring)], count = m_.protocol.rings[static_cast<size_t>(ring)].count;
    std::vector<Aff> y = m_.instance(id), domain = m_.domain(id, y);
    std::vector<Sym> vars = variables(id);
    Num t = *c.ticket, previous = t.plus(-n), next = t.plus(n);
    Formula here = region(id), has_previous = terms_.all({here, algebra_.at_least_zero(previous)});
    std::string text = terms_.text(algebra_.linear(t)), before = terms_.text(algebra_.linear(previous));
    bool known = std::ranges::all_of(
        m_.classes, [&](const EventClass& e) { return e.is_mark || e.event.ring != ring || e.ticket; });
    if (!known) return;  // a finding already; counts without it would mislead
    if (c.event.kind == EventKind::wait) {
      Formula awaited = terms_.all({here, algebra_.at_least_zero(t)});
      valid("1", Topic::arrivals_of_wait, id, -1,
            name(id) + ": " + std::to_string(count) + " arrivals on ticket " + text, awaited,
            terms_.equal(arrivals(ring, t), count), vars);
      valid("1", Topic::bytes_of_wait, id, -1, name(id) + ": the bytes of ticket " + text + " are expected and copied",
            awaited, terms_.equal(expected(ring, t), copied(ring, t)), vars);
    } else {
      valid("1", Topic::most_arrivals, id, -1,
            name(id) + ": at most " + std::to_string(count) + " arrivals on ticket " + text, here,
            terms_.at_least_zero(Aff(count) - arrivals(ring, t)), vars);
      limit_bytes(id, t, here);
      valid("1", Topic::bytes, id, -1, name(id) + ": the bytes of ticket " + text + " are expected and copied", here,
            terms_.equal(expected(ring, t), copied(ring, t)), vars);
      valid("1", Topic::previous_count, id, -1,
            name(id) + ": " + std::to_string(count) + " arrivals on ticket " + before + " before it", has_previous,
            terms_.equal(arrivals(ring, previous), count), vars);
      if (c.event.kind != EventKind::arrive)
        valid("1", Topic::nobody_arrives, id, -1,
              name(id) + ": " + std::to_string(count) + " arrivals on ticket " + text, here,
              terms_.equal(arrivals(ring, t), count), vars);
    }
    for (const Lane& th : telling_threads(m_, id)) {
      std::string who = " of thread " + std::to_string(th.warp) + "." + std::to_string(th.lane);
      ordered(c.event.kind == EventKind::wait ? "2" : "0", Topic::attribution, id, -1,
              name(id) + who + " comes after ticket " + before + " is complete", has_previous, vars,
              ticket_node(NodeKind::complete, ring, previous), event_node(NodeKind::reached, id, th, y), domain);
      if (c.event.kind == EventKind::wait)
        ordered("2", Topic::overtaken, id, -1,
                name(id) + who + " returns before ticket " + terms_.text(algebra_.linear(next)) + " is complete",
                terms_.all({here, terms_.equal(arrivals(ring, next), count)}), vars,
                event_node(NodeKind::happened, id, th, y), ticket_node(NodeKind::complete, ring, next), domain);
      if (c.event.kind == EventKind::expect)
        ordered("0", Topic::late_expect, id, -1, name(id) + who + " is before an arrival of ticket " + text, here, vars,
                event_node(NodeKind::happened, id, th, y), ticket_node(NodeKind::pending, ring, t), domain);
    }
  }

  // The node at which an access is over.
  Node end(int id, std::optional<Lane> thread, std::vector<Aff> vec) {
    EventKind k = m_[id].event.kind;
    return event_node(is_asynchronous(k) ? NodeKind::done : NodeKind::happened, id,
                      k == EventKind::mma ? std::nullopt : thread, std::move(vec));
  }
  std::vector<Lane> representatives(int id, int64_t most) {
    const Role& r = m_.role_of(id);
    std::vector<Lane> out;
    for (int64_t w = 0; w < std::min(r.warps, most); ++w)
      for (int64_t l = 0; l < std::min(r.lanes, most); ++l)
        if (executes(m_, id, w, l)) out.push_back({w, l});
    return out;
  }
  // a(x) is over before b(y) starts wherever tile(y) = tile(x) + ahead.
  void pair(int a, int b, int64_t ahead, Topic topic, std::string_view what) {
    std::vector<Aff> x = m_.primed_instance(a), y = m_.instance(b);
    Num ta = m_[a].tile->substitute(m_.binding(a, x)), tb = *m_[b].tile;
    std::vector<Aff> domain = m_.domain(a, x);
    for (Aff& d : m_.domain(b, y)) domain.push_back(std::move(d));
    Formula where = terms_.all({terms_.all_at_least_zero(domain), algebra_.equal(ta.plus(ahead), tb)});
    std::vector<Sym> vars = variables(a, true);
    for (Sym v : variables(b)) vars.push_back(v);
    std::vector<std::optional<Lane>> from{std::nullopt};
    if (m_[a].event.kind != EventKind::mma) {
      from.clear();
      for (const Lane& l : m_[a].role == m_[b].role ? representatives(a, 3) : telling_threads(m_, a)) from.push_back(l);
    }
    for (const std::optional<Lane>& th : from)
      for (const Lane& u : telling_threads(m_, b)) {
        if (a == b && ahead == 0) continue;
        ordered("4", topic, b, a,
                std::string(what) + ": " + name(a) +
                    (th ? " of thread " + std::to_string(th->warp) + "." + std::to_string(th->lane) : "") +
                    " is over before " + name(b) + " of thread " + std::to_string(u.warp) + "." +
                    std::to_string(u.lane),
                where, vars, end(a, th, x), event_node(NodeKind::reached, b, u, y), domain);
      }
  }
  void data(int buffer) {
    std::vector<int> writes, reads;
    for (const EventClass& c : m_.classes) {
      if (c.is_mark || c.event.buffer != buffer) continue;
      if (!c.tile) return;  // a finding already
      (c.writes() ? writes : reads).push_back(c.id);
    }
    int64_t n = m_.protocol.buffers[static_cast<size_t>(buffer)].slots;
    for (int r : reads) {
      std::vector<Formula> some;
      for (int w : writes) some.push_back(algebra_.surely_exists(w, *m_[w].tile, *m_[r].tile));
      valid("4", Topic::unwritten, r, -1, name(r) + ": its tile is written", region(r), terms_.any(std::move(some)),
            variables(r));
      for (int w : writes)
        pair(w, r, 0, Topic::write_before_read, "the read sees the write"),
            pair(r, w, n, Topic::read_before_overwrite, "no early overwrite");
    }
    for (int a : writes) {
      std::vector<Formula> some;
      Num before = m_[a].tile->plus(-n);
      for (int w : writes) some.push_back(algebra_.surely_exists(w, *m_[w].tile, before));
      valid("4", Topic::gap, a, -1, name(a) + ": the tile before it in its slot is written",
            terms_.all({region(a), algebra_.at_least_zero(before)}), terms_.any(std::move(some)), variables(a));
      for (int b : writes) {
        pair(a, b, n, Topic::writes_in_order, "writes in order");
        two_writers(a, b);
      }
    }
  }
  // Tiles have one writer, unless one thread writes it twice by ordinary stores.
  void two_writers(int a, int b) {
    const EventClass &x = m_[a], &y = m_[b];
    bool one_thread = x.role == y.role && x.event.who == Who::one && y.event.who == Who::one &&
                      x.event.kind == EventKind::write && y.event.kind == EventKind::write;
    bool twice = a != b || (x.event.kind == EventKind::copy && executors(m_, a) > 1);
    if (!twice || one_thread) return;
    std::vector<Aff> other = m_.primed_instance(b);
    std::vector<Sym> vars = variables(a);
    for (Sym v : variables(b, true)) vars.push_back(v);
    Formula both = terms_.all({region(a), terms_.all_at_least_zero(m_.domain(b, other))});
    valid("4", Topic::two_writers, a, b, name(a) + " and " + name(b) + " never write the same tile", both,
          terms_.negation(algebra_.equal(*x.tile, y.tile->substitute(m_.binding(b, other)))), vars);
  }

  Model& m_;
  Terms& terms_;
  Algebra& algebra_;
  std::vector<Finding>& findings_;
  std::vector<Question> out_;
};
}  // namespace

std::vector<Lane> telling_threads(const Model& m, int id) {
  const Role& r = m.role_of(id);
  bool by_warp = false, by_lane = false;
  for (int e : m.role_events[static_cast<size_t>(m[id].role)]) {
    by_warp |= m[e].event.kind == EventKind::sync_warp || m[e].event.who == Who::warp;
    by_lane |= m[e].event.who == Who::one;
  }
  std::vector<Lane> out;
  if (by_warp) {
    for (int64_t w = 0; w < std::min<int64_t>(2, r.warps); ++w)
      for (int64_t l = 0; l < std::min<int64_t>(2, r.lanes); ++l) out.push_back({w, l});
  } else {
    out.push_back({0, 0});
    if (by_lane && r.threads() > 1) out.push_back(r.lanes > 1 ? Lane{0, 1} : Lane{1, 0});
  }
  std::erase_if(out, [&](const Lane& l) { return !executes(m, id, l.warp, l.lane); });
  return out;
}

std::vector<Question> all_questions(Model& m, Algebra& algebra, std::vector<Finding>& findings) {
  return Asker(m, algebra, findings).ask();
}

}  // namespace tc::verify
