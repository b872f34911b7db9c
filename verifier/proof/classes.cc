#include "verifier/proof/classes.h"

#include <algorithm>
#include <cassert>

namespace tc::verify {
namespace {
constexpr int64_t kLargestCoefficient = int64_t{1} << 40;
constexpr int kEndMark = 1000000;  // after every statement of a body

bool too_large(const Aff& a) {
  return std::ranges::any_of(
      a.terms(), [](const auto& t) { return t.second > kLargestCoefficient || t.second < -kLargestCoefficient; });
}
std::optional<Num> multiply(const Num& a, const Num& b, std::string& why) {
  if (a.K || b.K) {
    why = "a product of three names";
    return std::nullopt;
  }
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (x->k.is_constant()) return Num{{}, y->k * x->k.constant_part(), {}};
  return Num{a.k, {}, b.k};  // w*K, written in this order
}
}  // namespace

const Num* EventClass::find(std::string_view name) const {
  for (const auto& [n, value] : names)
    if (n == name) return &value;
  return nullptr;
}

std::optional<Num> affine(const Expr& e, const Names& names, std::string& why) {
  if (e.op == ExprOp::constant) return Num{{}, e.value, {}};
  if (e.op == ExprOp::name) {
    for (const auto& [n, value] : names)
      if (n == e.name) return value;
    why = e.name + " has no closed form here";
    return std::nullopt;
  }
  if (e.op != ExprOp::neg && e.op != ExprOp::add && e.op != ExprOp::sub && e.op != ExprOp::mul) {
    why = "'" + print(e) + "' is not linear";
    return std::nullopt;
  }
  std::optional<Num> a = affine(e.args[0], names, why);
  if (!a) return std::nullopt;
  if (e.op == ExprOp::neg) return Num{-a->w, -a->k, a->K};
  std::optional<Num> b = affine(e.args[1], names, why);
  if (!b) return std::nullopt;
  std::optional<Num> out;
  if (e.op == ExprOp::mul) {
    out = multiply(*a, *b, why);
    if (!out) return std::nullopt;
  } else {
    if (a->K && b->K && *a->K != *b->K) {
      why = "'" + print(e) + "' mixes two inner trip counts";
      return std::nullopt;
    }
    int64_t sign = e.op == ExprOp::add ? 1 : -1;
    out = Num{a->w + b->w * sign, a->k + b->k * sign, a->K ? a->K : b->K};
  }
  if (too_large(out->w) || too_large(out->k)) {
    why = "'" + print(e) + "' has a coefficient above 2^40";
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<Aff>> affine_guard(const Expr& e, const Names& names, std::string& why) {
  std::vector<Aff> out;
  for (const Expr* c : conjuncts(e)) {
    std::optional<Num> a = affine(c->args[0], names, why), b = a ? affine(c->args[1], names, why) : std::nullopt;
    if (!a || !b) return std::nullopt;
    if (a->K || b->K) {
      why = "the condition '" + print(*c) + "' has a product of two names";
      return std::nullopt;
    }
    switch (c->op) {
      case ExprOp::lt: out.push_back(b->k - a->k - 1); break;
      case ExprOp::le: out.push_back(b->k - a->k); break;
      case ExprOp::gt: out.push_back(a->k - b->k - 1); break;
      case ExprOp::ge: out.push_back(a->k - b->k); break;
      case ExprOp::eq:
        out.push_back(a->k - b->k);
        out.push_back(b->k - a->k);
        break;
      case ExprOp::ne: why = "the condition '" + print(*c) + "' is no conjunction"; return std::nullopt;
      case ExprOp::constant:
      case ExprOp::name:
      case ExprOp::bit:
      case ExprOp::neg:
      case ExprOp::add:
      case ExprOp::sub:
      case ExprOp::mul:
      case ExprOp::div:
      case ExprOp::mod:
      case ExprOp::bit_and:
      case ExprOp::bit_xor:
      case ExprOp::logical_and: assert(false && "a conjunct is a comparison"); return std::nullopt;
    }
  }
  return out;
}

bool executes(const Model& m, int id, int64_t warp, int64_t lane) {
  Who who = m[id].event.who;
  return who == Who::all || (lane == 0 && (who == Who::warp || warp == 0));
}
int64_t executors(const Model& m, int id) {
  const Role& r = m.role_of(id);
  switch (m[id].event.who) {
    case Who::one: return 1;
    case Who::warp: return r.warps;
    case Who::all: return r.threads();
  }
  return 0;
}
size_t common_loops(const EventClass& a, const EventClass& b) {
  size_t n = 0;
  while (n < std::min(a.loops.size(), b.loops.size()) && a.loops[n].place == b.loops[n].place) ++n;
  return n;
}

// ------------------------------------------------------------------------------------------------- Model, questions
std::vector<std::pair<Sym, Aff>> Model::binding(int id, std::span<const Aff> vec) const {
  std::vector<std::pair<Sym, Aff>> map;
  const EventClass& c = (*this)[id];
  assert(vec.size() == c.loops.size() && "an instance has a value for every loop");
  for (size_t i = 0; i < vec.size(); ++i) map.emplace_back(c.loops[i].var, vec[i]);
  return map;
}
std::vector<Aff> Model::domain(int id, std::span<const Aff> vec) const {
  const EventClass& c = (*this)[id];
  auto map = binding(id, vec);
  std::vector<Aff> out;
  for (size_t i = 0; i < vec.size(); ++i) {
    out.push_back(vec[i]);
    out.push_back(c.loops[i].trip.substitute(map) - vec[i] - 1);
  }
  for (const Aff& g : c.guards) out.push_back(g.substitute(map));
  return out;
}
std::vector<Aff> Model::instance(int id) const {
  std::vector<Aff> out;
  for (const LoopLevel& l : (*this)[id].loops) out.push_back(Aff::of(l.var));
  return out;
}
std::vector<Aff> Model::primed_instance(int id) {
  std::vector<Aff> out;
  for (const LoopLevel& l : (*this)[id].loops) out.push_back(Aff::of(terms.primed(l.var)));
  return out;
}
bool Model::lives(int id, std::span<const Aff> vec, const Point& at) const {
  const EventClass& c = (*this)[id];
  Point p = at;
  p.resize(std::max(p.size(), terms.symbol_count()));
  for (size_t i = 0; i < vec.size(); ++i) p[c.loops[i].var] = vec[i].at(at);
  for (const LoopLevel& l : c.loops)
    if (p[l.var] < 0 || p[l.var] >= l.trip.at(p)) return false;
  return std::ranges::all_of(c.guards, [&](const Aff& g) { return g.at(p) >= 0; });
}
std::vector<Sym> Model::param_syms() const {
  std::vector<Sym> out;
  for (const ModelParam& q : params) out.push_back(q.sym);
  return out;
}

// --------------------------------------------------------------------------------------------------------- building
namespace {
int index_of(std::vector<std::string>& table, const std::string& name) {
  auto it = std::ranges::find(table, name);
  if (it == table.end()) it = table.insert(table.end(), name);
  return static_cast<int>(it - table.begin());
}

class ModelBuilder {
 public:
  explicit ModelBuilder(Model& m) : m_(m) {}

  void build(const Protocol& p) {
    m_.protocol = p;
    lower_block_barriers();
    for (const Param& q : m_.protocol.params) add_param(q.name, q.actual, -1, -1);
    index_of(m_.variables, "S");
    m_.role_events.resize(p.roles.size());
    m_.role_counts.resize(p.roles.size());
    m_.sequences.resize(p.roles.size());
    for (const Role& r : m_.protocol.roles)
      for (const Event* e : events_in(r.body)) {
        if (e->kind == EventKind::increment) index_of(m_.counters, e->variable);
        if (e->kind == EventKind::flip) index_of(m_.masks, e->variable);
      }
    for (role_ = 0; role_ < static_cast<int>(p.roles.size()); ++role_) build_role();
    Names names = base_names();
    std::string why;
    for (const Assumption& a : p.assumptions) {
      m_.assumption_code.push_back(compile(a.condition));
      if (auto g = affine_guard(a.condition, names, why))
        m_.assumptions.insert(m_.assumptions.end(), g->begin(), g->end());
      else m_.troubles.push_back({a.origin.where.range, why});
    }
    for (const ModelParam& q : m_.params) m_.assumptions.push_back(Aff::of(q.sym));
    m_.depth = p.stages;
    for (const Ring& r : m_.protocol.rings) m_.slots.push_back(r.slots), m_.depth = std::max(m_.depth, r.slots);
    for (const Buffer& b : m_.protocol.buffers) m_.depth = std::max(m_.depth, b.slots);
  }

 private:
  void add_param(const std::string& name, std::optional<int64_t> actual, int taken_of, int predicate) {
    m_.params.push_back({m_.terms.variable(name, name), name, actual, taken_of, predicate});
    index_of(m_.variables, name);
  }
  Names base_names() {
    Names names;
    for (const ModelParam& q : m_.params) names.emplace_back(q.name, Num{{}, Aff::of(q.sym), {}});
    names.emplace_back("S", Num{{}, m_.protocol.stages, {}});
    return names;
  }

  // syncthreads → arrive, wait and increment on a ring of one slot that counts every thread.
  void lower_block_barriers() {
    bool used = false;
    int ring = static_cast<int>(m_.protocol.rings.size());
    for (Role& r : m_.protocol.roles) used |= lower(r.body, ring);
    if (!used) return;
    int64_t threads = 0;
    for (const Role& r : m_.protocol.roles) threads += r.threads();
    m_.protocol.rings.push_back({.name = "cta", .slots = 1, .count = threads, .origin = {}});
  }
  static bool lower(std::vector<Stmt>& body, int ring) {
    bool used = false;
    for (size_t i = 0; i < body.size(); ++i) {
      if (auto* l = std::get_if<Loop>(&body[i].node)) used |= lower(l->body, ring);
      if (auto* b = std::get_if<Branch>(&body[i].node)) used |= lower(b->body, ring);
      auto* e = std::get_if<Event>(&body[i].node);
      if (!e || e->kind != EventKind::sync_threads) continue;
      Event arrive{.kind = EventKind::arrive, .ring = ring, .slot = constant(0), .origin = e->origin};
      Event wait{.kind = EventKind::wait, .ring = ring, .slot = constant(0), .origin = e->origin};
      wait.parity = binary(ExprOp::bit_and, variable("cta"), constant(1));
      Event count{.kind = EventKind::increment, .variable = "cta", .origin = e->origin};
      body[i].node = arrive;
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i) + 1, {Stmt{wait}, Stmt{count}});
      i += 2;
      used = true;
    }
    return used;
  }

  struct Scope {
    std::vector<LoopLevel> loops;
    std::vector<Aff> guards;
    std::vector<int> place;
    Names names;
    bool fits = true;  // false: inside something the proof cannot describe
    bool in_data = false;
  };
  int new_class(const Event& event, const Scope& s, std::vector<int> place, bool is_mark) {
    EventClass c;
    c.role = role_;
    c.id = static_cast<int>(m_.classes.size());
    c.is_mark = is_mark;
    c.event = event;
    c.loops = s.loops;
    c.guards = s.guards;
    c.place = std::move(place);
    c.names = s.names;
    m_.classes.push_back(std::move(c));
    return m_.classes.back().id;
  }
  void trouble(const Origin& o, std::string what) { m_.troubles.push_back({o.where.range, std::move(what)}); }

  void build_role() {
    Scope s;
    s.names = base_names();
    m_.programs.emplace_back();
    Role& r = m_.protocol.roles[static_cast<size_t>(role_)];
    m_.sequences[static_cast<size_t>(role_)].items = walk(r.body, s, m_.programs.back());
    for (const std::vector<int>* ids :
         {&m_.role_events[static_cast<size_t>(role_)], &m_.role_counts[static_cast<size_t>(role_)]})
      for (int id : *ids) counters_at(m_.classes[static_cast<size_t>(id)]);
  }

  // Classes of a body in order; `out` gets its statements for exact runs.
  std::vector<Sequence> walk(const std::vector<Stmt>& body, const Scope& s, std::vector<Statement>& out) {
    std::vector<Sequence> items;
    for (size_t n = 0; n < body.size(); ++n) {
      std::vector<int> place = s.place;
      place.push_back(static_cast<int>(n));
      if (const auto* e = std::get_if<Event>(&body[n].node)) {
        out.push_back(statement(*e, new_class(*e, s, place, false)));
        int id = out.back().id;
        bool counts = e->kind == EventKind::increment || e->kind == EventKind::flip;
        (counts ? m_.role_counts : m_.role_events)[static_cast<size_t>(role_)].push_back(id);
        if (counts && !s.guards.empty()) trouble(e->origin, "'" + print(m_.protocol, *e) + "' under a condition");
        if (!counts) items.push_back({.id = id, .items = {}, .trip = {}});
      } else if (const auto* b = std::get_if<Branch>(&body[n].node)) {
        branch(*b, s, place, items, out);
      } else {
        loop(std::get<Loop>(body[n].node), s, place, items, out);
      }
    }
    return items;
  }

  void branch(const Branch& b, const Scope& s, const std::vector<int>& place, std::vector<Sequence>& items,
              std::vector<Statement>& out) {
    Scope inner = s;
    inner.place = place;
    Statement st;
    if (!b.predicate.empty()) {
      trouble(b.origin, "a data-dependent condition '" + b.predicate + "' around a part of a loop body");
      st.kind = Statement::Kind::data_branch;
      st.variable = index_of(m_.predicates, b.predicate);
    } else {
      st.kind = Statement::Kind::branch;
      st.trip = compile(b.condition);
      std::string why;
      if (auto g = affine_guard(b.condition, s.names, why))
        inner.guards.insert(inner.guards.end(), g->begin(), g->end());
      else trouble(b.origin, why);
    }
    for (Sequence& q : walk(b.body, inner, st.body)) items.push_back(std::move(q));
    out.push_back(std::move(st));
  }

  void loop(const Loop& l, const Scope& s, const std::vector<int>& place, std::vector<Sequence>& items,
            std::vector<Statement>& out) {
    const Branch* data = l.body.size() == 1 ? std::get_if<Branch>(&l.body[0].node) : nullptr;
    if (data && data->predicate.empty()) data = nullptr;
    Statement st;
    st.kind = Statement::Kind::loop;
    st.variable = index_of(m_.variables, l.var);
    st.trip = compile(l.trip);
    Scope inner = s;
    inner.place = place;
    std::string var = m_.protocol.roles[static_cast<size_t>(role_)].name + "." + l.var;
    for (int x : place) var += "." + std::to_string(x);
    Sym v = m_.terms.variable(var, l.var);
    std::string why;
    std::optional<Num> trip;
    if (data) {  // iterate over the iterations that are taken: "K_mask" of K
      trip = taken_trip(l, *data);
      std::erase_if(inner.names, [&](const auto& n) { return n.first == l.var; });
    } else {
      trip = affine(l.trip, s.names, why);
      if (!trip) trouble(l.origin, why);
      else if (trip->K) trouble(l.origin, "the trip count '" + print(l.trip) + "' is a product"), trip.reset();
      inner.names.emplace_back(l.var, Num{{}, Aff::of(v), {}});
    }
    if (s.loops.size() == 2) trouble(l.origin, "a loop three deep");
    inner.loops.push_back({place, v, trip ? trip->k : Aff(0)});
    Sequence q;
    q.trip = inner.loops.back().trip;
    Event mark{.kind = EventKind::sync_warp, .origin = l.origin};
    std::vector<int> begin = place, end = place;
    begin.push_back(-1);
    end.push_back(kEndMark);
    q.items.push_back({.id = new_class(mark, inner, begin, true), .items = {}, .trip = {}});
    std::vector<Statement>* into = &st.body;
    if (data) {
      Statement d;
      d.kind = Statement::Kind::data_branch;
      d.variable = index_of(m_.predicates, data->predicate);
      st.body.push_back(std::move(d));
      into = &st.body.back().body;
    }
    for (Sequence& x : walk(data ? data->body : l.body, inner, *into)) q.items.push_back(std::move(x));
    q.items.push_back({.id = new_class(mark, inner, end, true), .items = {}, .trip = {}});
    items.push_back(std::move(q));
    out.push_back(std::move(st));
  }

  std::optional<Num> taken_trip(const Loop& l, const Branch& data) {
    int base = -1;
    for (size_t i = 0; i < m_.params.size(); ++i)
      if (l.trip.op == ExprOp::name && m_.params[i].name == l.trip.name) base = static_cast<int>(i);
    if (base < 0) {
      trouble(l.origin, "a data-dependent condition in a loop whose trip count is no parameter");
      return std::nullopt;
    }
    std::string name = l.trip.name + " taken by " + data.predicate;
    int predicate = index_of(m_.predicates, data.predicate);
    auto it = std::ranges::find(m_.params, name, &ModelParam::name);
    if (it == m_.params.end()) {
      add_param(name, std::nullopt, base, predicate);
      it = m_.params.end() - 1;
    }
    return Num{{}, Aff::of(it->sym), {}};
  }

  Code compile(const Expr& e) {
    Code c{.op = e.op, .value = e.value, .variable = -1, .args = {}};
    if (e.op == ExprOp::name) c.variable = index_of(m_.variables, e.name);
    if (e.op == ExprOp::bit) c.variable = index_of(m_.masks, e.name);
    for (const Expr& a : e.args) c.args.push_back(compile(a));
    return c;
  }
  Statement statement(const Event& e, int id) {
    Statement st;
    st.id = id;
    if (e.kind == EventKind::increment) st.variable = index_of(m_.variables, e.variable);
    if (e.kind == EventKind::flip) st.variable = index_of(m_.masks, e.variable);
    if (e.ring >= 0 || e.kind == EventKind::flip) st.slot = compile(e.slot);
    if (e.parity) st.parity = compile(*e.parity);
    if (e.buffer >= 0) st.at = compile(e.at);
    if (e.tile) st.tile = compile(*e.tile);
    std::vector<const Expr*> operands;
    if (e.ring >= 0) operands = division_operands(e.slot);
    if (e.parity)
      for (const Expr* x : division_operands(*e.parity)) operands.push_back(x);
    if (e.buffer >= 0)
      for (const Expr* x : division_operands(e.at)) operands.push_back(x);
    for (const Expr* x : operands) st.operands.push_back(compile(*x));
    return st;
  }

  // Closed forms of all counters (and of how often a mask was flipped) before class c.
  void counters_at(EventClass& c) {
    std::vector<std::string> names = m_.counters;
    names.insert(names.end(), m_.masks.begin(), m_.masks.end());
    for (const std::string& name : names) {
      std::vector<int> increments;
      for (int id : m_.role_counts[static_cast<size_t>(role_)])
        if (m_[id].event.variable == name) increments.push_back(id);
      if (std::optional<Num> n = count_before(increments, c)) c.names.emplace_back(name, *n);
    }
  }
  // How often the statements ran before c: in `for w<W {for k<K {e; inc}}` it is w*K + k at e.
  std::optional<Num> count_before(const std::vector<int>& increments, const EventClass& c) const {
    Num out;
    auto set_inner = [&](const Aff& K) {
      if (out.K && *out.K != K) return false;
      out.K = K;
      return true;
    };
    for (int id : increments) {
      const EventClass& s = m_[id];
      size_t shared = common_loops(s, c);
      for (size_t l = 0; l <= shared; ++l) {  // whole earlier iterations of loop l, then the part before c
        Aff factor = l < shared ? Aff::of(c.loops[l].var) : Aff(s.place < c.place ? 1 : 0);
        size_t first = l < shared ? l + 1 : shared;
        if (factor == Aff(0)) continue;
        size_t inner = s.loops.size() - first;
        if (inner == 0) {
          out.k = out.k + factor;
        } else if (inner == 1 && factor.is_constant() && l == 0 && shared == 0) {
          out.k = out.k + s.loops[first].trip * factor.constant_part();
        } else if (inner == 1) {
          if (!set_inner(s.loops[first].trip)) return std::nullopt;
          out.w = out.w + factor;
        } else if (inner == 2) {
          if (!set_inner(s.loops[first + 1].trip)) return std::nullopt;
          out.w = out.w + s.loops[first].trip;
        } else {
          return std::nullopt;
        }
      }
    }
    return out;
  }

  Model& m_;
  int role_ = 0;
};
}  // namespace

Model build_model(const Protocol& p) {
  Model m;
  ModelBuilder(m).build(p);
  return m;
}

}  // namespace tc::verify
