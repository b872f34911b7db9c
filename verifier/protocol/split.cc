#include "verifier/protocol/split.h"

#include <algorithm>
#include <functional>

namespace tc::verify {
namespace {
using Range = std::pair<int64_t, int64_t>;

void each_event(std::vector<Stmt>& body, const std::function<void(Event&)>& visit) {
  for (Stmt& s : body) {
    if (auto* e = std::get_if<Event>(&s.node)) visit(*e);
    else if (auto* l = std::get_if<Loop>(&s.node)) each_event(l->body, visit);
    else each_event(std::get<Branch>(s.node).body, visit);
  }
}

// Overlapping ranges joined, in order; empty where one is not known or leaves the array.
std::vector<Range> parts(std::vector<std::optional<Range>> ranges, int64_t slots) {
  std::vector<Range> known, out;
  for (const std::optional<Range>& r : ranges) {
    if (!r || r->first < 0 || r->second >= slots) return {};
    known.push_back(*r);
  }
  std::ranges::sort(known);
  for (const Range& r : known) {
    if (out.empty() || r.first > out.back().second) out.push_back(r);
    else out.back().second = std::max(out.back().second, r.second);
  }
  return out;
}

// (x + 3) - 3 is x.
Expr lowered(const Expr& e, int64_t by, int64_t stages) {
  if (by == 0) return e;
  if (e.op == ExprOp::constant) return constant(e.value - by);
  if (e.op == ExprOp::add)
    for (size_t i : {0, 1}) {
      std::optional<Range> r = range_of(e.args[i], stages);
      if (r && r->first == by && r->second == by) return e.args[1 - i];
    }
  return binary(ExprOp::sub, e, constant(by));
}

// Takes the rows of one table apart; `index` and `slot` of an event are given by the accessors.
template <class Row>
void split(Protocol& p, std::vector<Row>& rows, int Event::*index, Expr Event::*slot) {
  std::vector<Row> out;
  struct Part {
    Range range;
    int row;
  };
  std::vector<std::vector<Part>> parts_of(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::optional<Range>> ranges;
    for (Role& role : p.roles)
      each_event(role.body, [&](Event& e) {
        if (e.*index == static_cast<int>(i)) ranges.push_back(range_of(e.*slot, p.stages));
      });
    std::vector<Range> found = parts(std::move(ranges), rows[i].slots);
    if (found.size() < 2) found = {{0, rows[i].slots - 1}};
    for (const Range& r : found) {
      parts_of[i].push_back({r, static_cast<int>(out.size())});
      out.push_back(rows[i]);
      if (found.size() == 1) continue;
      out.back().name += "_" + std::to_string(r.first);
      out.back().slots = r.second - r.first + 1;
    }
  }
  for (Role& role : p.roles)
    each_event(role.body, [&](Event& e) {
      if (e.*index < 0) return;
      const std::vector<Part>& ps = parts_of[static_cast<size_t>(e.*index)];
      if (ps.size() == 1) {
        e.*index = ps[0].row;
        return;
      }
      int64_t low = range_of(e.*slot, p.stages)->first;
      auto it = std::ranges::find_if(ps, [&](const Part& x) { return x.range.first <= low && low <= x.range.second; });
      e.*slot = lowered(e.*slot, it->range.first, p.stages);
      e.*index = it->row;
    });
  rows = std::move(out);
}
}  // namespace

std::optional<std::pair<int64_t, int64_t>> range_of(const Expr& e, int64_t stages) {
  if (e.op == ExprOp::constant) return Range{e.value, e.value};
  if (e.op == ExprOp::name) return e.name == "S" ? std::optional(Range{stages, stages}) : std::nullopt;
  if (e.args.size() != 2) return std::nullopt;
  std::optional<Range> a = range_of(e.args[0], stages), b = range_of(e.args[1], stages);
  if (e.op == ExprOp::mod && b && b->first == b->second && b->first > 0)
    return a && a->first >= 0 && a->second < b->first ? a : Range{0, b->first - 1};
  if (e.op == ExprOp::bit_and && b && b->first == b->second && b->first >= 0) return Range{0, b->first};
  if (!a || !b) return std::nullopt;
  if (e.op == ExprOp::add) return Range{a->first + b->first, a->second + b->second};
  if (e.op == ExprOp::sub) return Range{a->first - b->second, a->second - b->first};
  if (e.op == ExprOp::mul && b->first == b->second && b->first >= 0)
    return Range{a->first * b->first, a->second * b->first};
  if (e.op == ExprOp::mul && a->first == a->second && a->first >= 0)
    return Range{b->first * a->first, b->second * a->first};
  return std::nullopt;
}

Protocol split_rings(const Protocol& p) {
  Protocol out = p;
  split(out, out.rings, &Event::ring, &Event::slot);
  split(out, out.buffers, &Event::buffer, &Event::at);
  return out;
}

}  // namespace tc::verify
