// Concrete event lists of representative threads: counters and masks are really run.
#include <algorithm>
#include <map>
#include <random>

#include "verifier/proof/exact.h"

namespace tc::verify {
namespace {
struct State {
  std::vector<int64_t> values;                    // by Model::variables
  std::vector<std::map<int64_t, int64_t>> flips;  // per mask
  bool undefined = false;                         // an expression without value
};
int64_t eval(const Code& c, State& s) {
  switch (c.op) {
    case ExprOp::constant: return c.value;
    case ExprOp::name: return s.values[static_cast<size_t>(c.variable)];
    case ExprOp::bit: return s.flips[static_cast<size_t>(c.variable)][eval(c.args[0], s)] & 1;
    case ExprOp::neg: return -eval(c.args[0], s);
    case ExprOp::add:
    case ExprOp::sub:
    case ExprOp::mul:
    case ExprOp::div:
    case ExprOp::mod:
    case ExprOp::bit_and:
    case ExprOp::bit_xor:
    case ExprOp::lt:
    case ExprOp::le:
    case ExprOp::gt:
    case ExprOp::ge:
    case ExprOp::eq:
    case ExprOp::ne:
    case ExprOp::logical_and: break;
  }
  std::optional<int64_t> v = apply(c.op, eval(c.args[0], s), eval(c.args[1], s));
  s.undefined |= !v;
  return v.value_or(0);
}

// One thread's walk through its role's statements.
class Walk {
 public:
  Walk(const Model& m, const Inputs& in, const ThreadRef& t, size_t limit) : m_(m), in_(in), thread_(t), limit_(limit) {
    state_.values.assign(m.variables.size(), 0);
    state_.flips.resize(m.masks.size());
    for (size_t i = 0; i < m.params.size(); ++i)
      for (size_t v = 0; v < m.variables.size(); ++v)
        if (m.variables[v] == m.params[i].name) state_.values[v] = in.params[i];
    for (size_t v = 0; v < m.variables.size(); ++v)
      if (m.variables[v] == "S") state_.values[v] = m.protocol.stages;
    point_ = parameter_point(m, in);
  }
  bool go(const std::vector<Statement>& body) {
    for (const Statement& st : body)
      if (!step(st)) return false;
    return true;
  }
  std::vector<Record> records;

 private:
  bool step(const Statement& st) {
    switch (st.kind) {
      case Statement::Kind::branch: return !eval(st.trip, state_) || go(st.body);
      case Statement::Kind::data_branch: return !taken(st.variable, vec_.empty() ? 0 : vec_.back()) || go(st.body);
      case Statement::Kind::loop: return loop(st);
      case Statement::Kind::event: return event(st);
    }
    return true;
  }
  bool taken(int predicate, int64_t i) const {
    const std::vector<bool>& t = in_.taken[static_cast<size_t>(predicate)];
    return i < static_cast<int64_t>(t.size()) && t[static_cast<size_t>(i)];
  }
  bool loop(const Statement& st) {
    int64_t trip = eval(st.trip, state_), n = 0;
    bool whole_data = st.body.size() == 1 && st.body[0].kind == Statement::Kind::data_branch;
    for (int64_t i = 0; i < trip; ++i) {
      if (++steps_ > limit_) return false;
      state_.values[static_cast<size_t>(st.variable)] = i;
      if (whole_data && !taken(st.body[0].variable, i)) continue;
      vec_.push_back(whole_data ? n++ : i);
      bool more = go(whole_data ? st.body[0].body : st.body);
      vec_.pop_back();
      if (!more) return false;
    }
    return true;
  }
  bool event(const Statement& st) {
    const EventClass& c = m_[st.id];
    if (c.event.kind == EventKind::increment) return ++state_.values[static_cast<size_t>(st.variable)], true;
    if (c.event.kind == EventKind::flip)
      return ++state_.flips[static_cast<size_t>(st.variable)][eval(st.slot, state_)], true;
    if (!executes(m_, st.id, thread_.warp, thread_.lane)) return true;
    if (records.size() >= limit_) return false;
    Record r;
    r.id = st.id;
    r.vec = vec_;
    state_.undefined = false;
    if (c.event.ring >= 0) r.slot = eval(st.slot, state_);
    if (c.event.parity) r.parity = static_cast<int>(eval(st.parity, state_) & 1);
    if (c.event.buffer >= 0) r.at = eval(st.at, state_);
    for (const Code& o : st.operands) r.negative |= eval(o, state_) < 0;
    r.negative |= state_.undefined;
    r.weight = c.event.who == Who::one ? 1 : c.event.who == Who::warp ? thread_.warps_for : thread_.threads_for;
    tile(st, c, r);
    if (c.event.kind == EventKind::wait) {
      auto [it, first] = waits_.try_emplace({c.event.ring, r.slot}, r.parity ? -1 : 0);
      r.ordinal = it->second++;
    }
    records.push_back(std::move(r));
    return true;
  }
  void tile(const Statement& st, const EventClass& c, Record& r) {
    if (c.event.tile) {
      r.tile = eval(st.tile, state_);
      r.has_tile = true;
    } else if (c.tile) {
      set_iteration(m_, r, point_);
      r.tile = c.tile->at(point_);
      r.has_tile = true;
    }
  }
  const Model& m_;
  const Inputs& in_;
  ThreadRef thread_;
  size_t limit_, steps_ = 0;
  State state_;
  Point point_;
  std::vector<int64_t> vec_;
  std::map<std::pair<int, int64_t>, int64_t> waits_;
};

std::vector<ThreadRef> representatives(const Model& m, int role, int64_t most) {
  const Role& r = m.protocol.roles[static_cast<size_t>(role)];
  int64_t ws = std::min(r.warps, most), ls = std::min(r.lanes, most);
  std::vector<ThreadRef> out;
  for (int64_t w = 0; w < ws; ++w)
    for (int64_t l = 0; l < ls; ++l) {
      int64_t nw = w == ws - 1 ? r.warps - ws + 1 : 1, nl = l == ls - 1 ? r.lanes - ls + 1 : 1;
      bool acts = std::ranges::any_of(m.role_events[static_cast<size_t>(role)], [&](int id) {
        EventKind k = m[id].event.kind;
        return k != EventKind::sync_warp && k != EventKind::sync_role && executes(m, id, w, l);
      });
      if (acts) out.push_back({role, w, l, nw, nw * nl});
    }
  return out;
}

bool satisfies(const Model& m, const std::vector<int64_t>& params) {
  State s;
  s.values.assign(m.variables.size(), 0);
  s.flips.resize(m.masks.size());
  for (size_t v = 0; v < m.variables.size(); ++v) {
    if (m.variables[v] == "S") s.values[v] = m.protocol.stages;
    for (size_t i = 0; i < m.params.size(); ++i)
      if (m.params[i].name == m.variables[v]) s.values[v] = params[i];
  }
  return std::ranges::all_of(m.assumption_code, [&](const Code& c) { return eval(c, s) != 0; }) && !s.undefined;
}
}  // namespace

std::vector<std::vector<int64_t>> small_parameters(const Model& m, int64_t top) {
  std::vector<std::vector<int64_t>> out{{}};
  int n = 0;
  for (const ModelParam& q : m.params) {
    int64_t most = q.taken_of >= 0 ? 0 : n == 0 ? top : n == 1 ? 3 : 2;
    n += q.taken_of < 0;
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& p : out)
      for (int64_t v = 0; v <= most; ++v) {
        longer.push_back(p);
        longer.back().push_back(v);
      }
    out = std::move(longer);
    if (out.size() > 4096) break;  // many parameters: the rest stays 0 below
  }
  for (std::vector<int64_t>& p : out) p.resize(m.params.size());
  std::erase_if(out, [&](const std::vector<int64_t>& p) { return !satisfies(m, p); });
  return out;
}

std::optional<std::vector<int64_t>> actual_parameters(const Model& m) {
  std::vector<int64_t> out;
  for (const ModelParam& q : m.params) {
    if (q.taken_of < 0 && !q.actual) return std::nullopt;
    out.push_back(q.actual.value_or(0));
  }
  if (!satisfies(m, out)) return std::nullopt;
  return out;
}

Inputs make_inputs(const Model& m, const std::vector<int64_t>& params, uint64_t seed, bool all) {
  Inputs in{.params = params, .taken = {}};
  std::mt19937_64 random(seed);
  int64_t most = 0;
  for (int64_t v : params) most = std::max(most, v);
  for (size_t i = 0; i < m.predicates.size(); ++i) {
    std::vector<bool> t;
    for (int64_t k = 0; k < most + 4; ++k) t.push_back(all || random() % 10 < 6);
    in.taken.push_back(std::move(t));
  }
  for (size_t i = 0; i < m.params.size(); ++i) {
    const ModelParam& q = m.params[i];
    if (q.taken_of < 0) continue;
    const std::vector<bool>& t = in.taken[static_cast<size_t>(q.predicate)];
    in.params[i] = std::count(t.begin(), t.begin() + in.params[static_cast<size_t>(q.taken_of)], true);
  }
  return in;
}

Point parameter_point(const Model& m, const Inputs& in) {
  Point p(m.terms.symbol_count(), 0);
  p[kOne] = 1;
  for (size_t i = 0; i < m.params.size(); ++i) p[m.params[i].sym] = in.params[i];
  return p;
}
void set_iteration(const Model& m, const Record& r, Point& point) {
  const EventClass& c = m[r.id];
  for (size_t i = 0; i < r.vec.size() && i < c.loops.size(); ++i) point[c.loops[i].var] = r.vec[i];
}

std::optional<Traces> expand(const Model& m, const Inputs& in, int64_t most, size_t limit) {
  Traces out;
  for (int role = 0; role < static_cast<int>(m.protocol.roles.size()); ++role)
    for (const ThreadRef& t : representatives(m, role, most)) {
      Walk walk(m, in, t, limit - out.total);
      if (!walk.go(m.programs[static_cast<size_t>(role)])) return std::nullopt;
      out.total += walk.records.size();
      out.threads.push_back(t);
      out.records.push_back(std::move(walk.records));
    }
  return out;
}

}  // namespace tc::verify
