#include "verifier/proof/order.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <limits>
#include <set>

namespace tc::verify {
namespace {
constexpr size_t kMostNodes = 20000;  // of one search; beyond it there is "no path", which proves nothing

bool blocks(EventKind k) {
  return k == EventKind::wait || k == EventKind::sync_warp || k == EventKind::sync_role || k == EventKind::mma_wait;
}
bool is_matrix(EventKind k) { return k == EventKind::mma || k == EventKind::aread; }
void append(std::vector<Aff>& to, const std::vector<Aff>& more) { to.insert(to.end(), more.begin(), more.end()); }
void append_equal(std::vector<Aff>& to, const Aff& difference) {
  to.push_back(difference);
  to.push_back(-difference);
}
bool same_at(const std::vector<Aff>& a, const std::vector<Aff>& b, const Point& at) {
  for (size_t i = 0; i < a.size(); ++i)
    if ((a[i] - b[i]).at(at) != 0) return false;
  return true;
}
std::vector<Aff> equality(const std::vector<Aff>& a, const std::vector<Aff>& b) {
  std::vector<Aff> out;
  for (size_t i = 0; i < a.size(); ++i) append_equal(out, a[i] - b[i]);
  return out;
}
// Nodes already seen; a total order over what makes a node.
struct Key {
  NodeKind kind;
  int id, ring;
  std::optional<Lane> thread;
  std::vector<Aff> parts;
  auto operator<=>(const Key&) const = default;
};
Key key_of(const Node& n) {
  if (n.on_ticket()) return {n.kind, -1, n.ring, std::nullopt, {n.ticket.w, n.ticket.k, n.ticket.K.value_or(Aff())}};
  return {n.kind, n.id, -1, n.thread, n.vec};
}
}  // namespace

// Where a predecessor comes from: its constraints are computed only for the path that is kept.
struct Order::Previous {
  Node node;
  enum class Why : uint8_t { free, solved, program_order } why = Why::free;
  std::vector<Aff> solved;              // constraints of a solution
  std::vector<std::vector<Aff>> newer;  // mma_wait: operations that exist between
};
struct Order::Step {
  Node node;
  int parent = -1;
  Previous::Why why = Previous::Why::free;
  std::vector<Aff> solved;
  std::vector<std::vector<Aff>> newer;
};

// Constraints under which a(x) comes before e(y) in the program of one thread; no value: not so at the point.
std::optional<std::vector<Aff>> Order::before(int a, const std::vector<Aff>& x, int e, const std::vector<Aff>& y,
                                              const Point& at) const {
  size_t shared = common_loops(m_[a], m_[e]);
  bool first = m_[a].place < m_[e].place;
  std::vector<Aff> out;
  if (shared == 0) return first ? std::optional(out) : std::nullopt;
  for (size_t l = 0; l < shared; ++l) {
    Aff d = y[l] - x[l];
    int64_t v = d.at(at);
    if (l + 1 == shared) {
      int64_t need = first ? 0 : 1;
      if (v < need) return std::nullopt;
      out.push_back(d - need);
      return out;
    }
    if (v < 0) return std::nullopt;
    if (v >= 1) {
      out.push_back(d - 1);
      return out;
    }
    append_equal(out, d);
  }
  return std::nullopt;
}

// Instances of a, in the thread of e, that come before e(vec): the latest first, then (unless latest_only) the
// earliest.
std::vector<std::vector<Aff>> Order::earlier(int a, int e, const std::vector<Aff>& vec, const Point& at,
                                             bool latest_only) const {
  const EventClass& c = m_[a];
  size_t shared = common_loops(c, m_[e]);
  std::vector<Aff> last(vec.begin(), vec.begin() + static_cast<std::ptrdiff_t>(shared));
  bool more_loops = c.loops.size() > shared;
  std::vector<std::vector<Aff>> out;
  if (more_loops) {
    if (c.place > m_[e].place) {
      if (shared == 0) return out;
      last.back() = last.back() - 1;
    }
    std::vector<std::pair<Sym, Aff>> map;
    for (size_t l = 0; l < c.loops.size(); ++l) {
      if (l >= shared) last.push_back(c.loops[l].trip.substitute(map) - 1);
      map.emplace_back(c.loops[l].var, last[l]);
    }
  }
  struct Start {
    std::vector<Aff> vec;
    int64_t step;
  };
  std::vector<Start> starts{{last, -1}};
  if (more_loops && shared == 0 && last.size() == 1 && !latest_only) starts.push_back({{Aff(0)}, 1});
  int64_t reach = c.loops.empty() ? 1 : m_.depth + 2;
  for (const Start& s : starts)
    for (int64_t n = 0; n < reach; ++n) {
      std::vector<Aff> v = s.vec;
      if (!v.empty()) v.back() = v.back() + n * s.step;
      if (v.size() == 2) {
        const Aff& K = c.loops[1].trip;
        while (v[1].at(at) < 0 && K.at(at) > 0 && v[0].at(at) > 0) v = {v[0] - 1, v[1] + K};
      }
      if (m_.lives(a, v, at) && before(a, v, e, vec, at)) out.push_back(std::move(v));
    }
  return out;
}

// Threads of a role worth looking at: lane 0 of warp 0 executes the most; the goal's thread and its lane 0.
std::vector<Lane> Order::crew(int role, const Node& goal, std::optional<Lane> more) const {
  std::vector<Lane> out{{0, 0}};
  auto add = [&](Lane l) {
    if (std::ranges::find(out, l) == out.end()) out.push_back(l);
  };
  if (!goal.on_ticket() && goal.thread && m_[goal.id].role == role) {
    add(*goal.thread);
    add({goal.thread->warp, 0});
  }
  if (more) add(*more);
  return out;
}

void Order::completed_by(const Node& n, const Point& at, const Node& goal, std::vector<Previous>& out) {
  for (const EventClass& e : m_.classes) {
    bool arrival = e.event.kind == EventKind::arrive;
    if (e.is_mark || e.event.ring != n.ring || !e.ticket ||
        !(arrival || (e.event.kind == EventKind::copy && n.kind == NodeKind::complete)))
      continue;
    for (Solution& s : algebra_.solve(e.id, *e.ticket, n.ticket, &at)) {
      if (!m_.lives(e.id, s.vec, at) ||
          !std::ranges::all_of(s.constraints, [&](const Aff& c) { return c.at(at) >= 0; }))
        continue;
      for (const Lane& t : crew(e.role, goal, std::nullopt))
        if (executes(m_, e.id, t.warp, t.lane))
          out.push_back({.node = {.kind = arrival ? NodeKind::happened : NodeKind::done,
                                  .id = e.id,
                                  .thread = t,
                                  .vec = s.vec,
                                  .ring = -1,
                                  .ticket = {}},
                         .why = Previous::Why::solved,
                         .solved = s.constraints,
                         .newer = {}});
    }
  }
  int64_t slots = m_.slots[static_cast<size_t>(n.ring)];
  if (n.kind == NodeKind::complete && n.ticket.at(at) >= slots)
    out.push_back({.node = {.kind = NodeKind::complete,
                            .id = -1,
                            .thread = {},
                            .vec = {},
                            .ring = n.ring,
                            .ticket = n.ticket.plus(-slots)},
                   .why = Previous::Why::free,
                   .solved = {},
                   .newer = {}});
}

void Order::waited_by(const Node& n, const Point& at, const Node& goal, std::vector<Previous>& out) {
  const EventClass& e = m_[n.id];
  auto put = [&](Node node) {
    out.push_back({.node = std::move(node), .why = Previous::Why::free, .solved = {}, .newer = {}});
  };
  if (e.event.kind == EventKind::wait)
    put({.kind = NodeKind::complete,
         .id = -1,
         .thread = {},
         .vec = {},
         .ring = e.event.ring,
         .ticket = e.ticket->substitute(m_.binding(n.id, n.vec))});
  if (e.event.kind == EventKind::sync_warp || e.event.kind == EventKind::sync_role)
    for (const Lane& t : crew(e.role, goal, Lane{n.thread->warp, 0}))
      if (e.event.kind == EventKind::sync_role || t.warp == n.thread->warp)
        put({.kind = NodeKind::reached, .id = n.id, .thread = t, .vec = n.vec, .ring = -1, .ticket = {}});
  if (e.event.kind != EventKind::mma_wait) return;
  std::vector<int> ops;
  for (int id : m_.role_events[static_cast<size_t>(e.role)])
    if (is_matrix(m_[id].event.kind) && executes(m_, id, n.thread->warp, n.thread->lane)) ops.push_back(id);
  if (ops.size() > 1 && e.event.pending > 0) return;  // "all but the newest N" of several operations: no edge
  for (int id : ops) {
    std::vector<std::vector<Aff>> old = earlier(id, n.id, n.vec, at, true);
    size_t skip = static_cast<size_t>(e.event.pending);
    for (size_t i = skip; i < old.size(); ++i) {
      std::optional<Lane> thread = m_[id].event.kind == EventKind::aread ? n.thread : std::nullopt;
      out.push_back(
          {.node = {.kind = NodeKind::done, .id = id, .thread = thread, .vec = old[i], .ring = -1, .ticket = {}},
           .why = Previous::Why::program_order,
           .solved = {},
           .newer = {old.begin(), old.begin() + static_cast<std::ptrdiff_t>(skip)}});
    }
  }
}

std::vector<Order::Previous> Order::predecessors(const Node& n, const Point& at, const Node& goal) {
  std::vector<Previous> out;
  if (n.on_ticket()) {
    completed_by(n, at, goal, out);
    return out;
  }
  if (n.kind == NodeKind::done) {  // an mma ends after every warp has issued it
    std::vector<Lane> threads =
        m_[n.id].event.kind == EventKind::mma ? crew(m_[n.id].role, goal, std::nullopt) : std::vector<Lane>{*n.thread};
    for (const Lane& t : threads)
      out.push_back(
          {.node = {.kind = NodeKind::happened, .id = n.id, .thread = t, .vec = n.vec, .ring = -1, .ticket = {}},
           .why = Previous::Why::free,
           .solved = {},
           .newer = {}});
    return out;
  }
  if (n.kind == NodeKind::happened) waited_by(n, at, goal, out);
  for (int id : m_.role_events[static_cast<size_t>(m_[n.id].role)])
    if (blocks(m_[id].event.kind) && executes(m_, id, n.thread->warp, n.thread->lane))
      for (std::vector<Aff>& v : earlier(id, n.id, n.vec, at, false))
        out.push_back({.node = {.kind = NodeKind::happened,
                                .id = id,
                                .thread = n.thread,
                                .vec = std::move(v),
                                .ring = -1,
                                .ticket = {}},
                       .why = Previous::Why::program_order,
                       .solved = {},
                       .newer = {}});
  return out;
}

// Constraints under which n is the goal or comes after it by a step that needs no search; no value: it does not.
std::optional<std::vector<Aff>> Order::reaches(const Node& n, const Node& goal, const Point& at) const {
  if (goal.on_ticket()) {
    if (n.kind != NodeKind::complete || n.ring != goal.ring) return std::nullopt;
    Num t = like(n.ticket, goal.ticket), g = like(goal.ticket, n.ticket);
    int64_t d = t.at(at) - g.at(at);
    if (d < 0 || d % m_.slots[static_cast<size_t>(n.ring)] || t.K.has_value() != g.K.has_value()) return std::nullopt;
    std::vector<Aff> out;
    if (!t.K) {
      append_equal(out, t.k - g.k - d);
    } else {
      if (*t.K != *g.K) return std::nullopt;
      int64_t j = (t.w - g.w).at(at);
      append_equal(out, t.w - g.w - j);
      append_equal(out, t.k - g.k + *t.K * j - d);
    }
    return out;
  }
  if (n.on_ticket() || n.thread != goal.thread) return std::nullopt;
  if (goal.kind == NodeKind::done) {
    if (n.kind == NodeKind::done && n.id == goal.id && same_at(n.vec, goal.vec, at)) return equality(n.vec, goal.vec);
    return std::nullopt;
  }
  if (n.kind == NodeKind::done) return std::nullopt;
  if (n.kind == NodeKind::happened && n.id == goal.id && same_at(n.vec, goal.vec, at)) return equality(n.vec, goal.vec);
  if (m_[n.id].role != m_[goal.id].role) return std::nullopt;
  return before(goal.id, goal.vec, n.id, n.vec, at);
}

int64_t Order::date(const Node& n, const Point& at) const {
  return schedule_ ? timing_.date(*schedule_, n.id, n.vec, at) : 0;
}

std::optional<Path> Order::search(const Node& target, const Node& goal, const Point& at) {
  std::vector<Step> steps{{.node = target, .parent = -1, .why = Previous::Why::free, .solved = {}, .newer = {}}};
  std::set<Key> seen{key_of(target)};
  // A path never goes back in time: what is older than the goal is on no path from it.
  int64_t start = std::numeric_limits<int64_t>::min();
  if (!goal.on_ticket()) {
    start = date(goal, at);
  } else if (schedule_) {
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const Previous& p : predecessors(goal, at, goal))
      if (!p.node.on_ticket()) first = std::min(first, date(p.node, at));
    if (first != std::numeric_limits<int64_t>::max()) start = first;
  }
  for (size_t next = 0; next < steps.size() && next < kMostNodes; ++next) {
    ++steps_;
    if (std::optional<std::vector<Aff>> end = reaches(steps[next].node, goal, at)) {
      Path path{.nodes = {goal}, .constraints = std::move(*end)};
      for (int i = static_cast<int>(next); i >= 0; i = steps[static_cast<size_t>(i)].parent) {
        const Step& s = steps[static_cast<size_t>(i)];
        path.nodes.push_back(s.node);
        if (s.parent < 0) break;
        const Node& after = steps[static_cast<size_t>(s.parent)].node;
        append(path.constraints, s.solved);
        if (s.why != Previous::Why::free) append(path.constraints, m_.domain(s.node.id, s.node.vec));
        if (s.why == Previous::Why::program_order)
          append(path.constraints, *before(s.node.id, s.node.vec, after.id, after.vec, at));
        for (const std::vector<Aff>& v : s.newer) {
          append(path.constraints, m_.domain(s.node.id, v));
          append(path.constraints, *before(s.node.id, v, after.id, after.vec, at));
        }
      }
      if (key_of(path.nodes[0]) == key_of(path.nodes[1])) path.nodes.erase(path.nodes.begin());
      std::erase_if(path.constraints, [](const Aff& c) { return c.is_constant(); });
      return path;
    }
    Node current = steps[next].node;
    for (Previous& p : predecessors(current, at, goal)) {
      if (!p.node.on_ticket() && schedule_ && date(p.node, at) < start) continue;
      if (!seen.insert(key_of(p.node)).second) continue;
      steps.push_back({.node = std::move(p.node),
                       .parent = static_cast<int>(next),
                       .why = p.why,
                       .solved = std::move(p.solved),
                       .newer = std::move(p.newer)});
    }
  }
  return std::nullopt;
}

std::string text_of(const Model& m, const Node& n) {
  if (n.on_ticket()) {
    std::string t = n.ticket.K ? "(" + m.terms.text(n.ticket.w) + ")*(" + m.terms.text(*n.ticket.K) + ") + " : "";
    return m.protocol.rings[static_cast<size_t>(n.ring)].name + "#(" + t + m.terms.text(n.ticket.k) + ")" +
           (n.kind == NodeKind::complete ? " complete" : " has an arrival to come");
  }
  std::string out = m.role_of(n.id).name;
  if (n.thread) out += "." + std::to_string(n.thread->warp) + "." + std::to_string(n.thread->lane);
  out += " '" + m.event_text(n.id) + "'(";
  for (size_t i = 0; i < n.vec.size(); ++i) out += (i ? ", " : "") + m.terms.text(n.vec[i]);
  out += ")";
  if (n.kind == NodeKind::done) out += " done";
  if (n.kind == NodeKind::reached) out += " reached";
  return out;
}

}  // namespace tc::verify
