// Groups of threads that part where their values differ, and meet again where an exchange needs whole warps.
//   a condition that holds in threads 0 … 31 of 128: the group keeps those, a new one gets the other 96
#include <algorithm>

#include "compiler/interp/control.h"

namespace tc::ir::interp {

void split(Cta& cta, size_t index, const std::vector<bool>& keep) {
  Group rest = cta.groups[index];
  Group& g = cta.groups[index];
  auto select = [&](Group& to, bool wanted) {
    auto filter = [&](auto& list, size_t width) {
      size_t n = 0;
      for (size_t i = 0; i < keep.size(); ++i) {
        if (keep[i] != wanted) continue;
        if (n != i) std::move(list.begin() + i * width, list.begin() + (i + 1) * width, list.begin() + n * width);
        ++n;
      }
      list.resize(n * width);
    };
    filter(to.threads, 1);
    to.lanes = to.threads.size();
    for (Slot& s : to.env) {
      if (s.is_uniform()) continue;
      filter(s.lanes, s.width);
      if (s.width == 1) set_lanes(s, std::vector<Number>(s.lanes));
    }
    for (auto& [buffer, local] : to.locals) {
      size_t bytes = static_cast<size_t>(local.shape.bytes), n = 0;
      for (size_t i = 0; i < keep.size(); ++i)
        if (keep[i] == wanted) std::memmove(local.of(n++), local.of(i), bytes);
      local.cells.resize(n * bytes);
    }
  };
  select(g, true);
  select(rest, false);
  cta.groups.push_back(std::move(rest));
}

bool same_place(const Group& a, const Group& b) {
  return std::ranges::equal(a.frames, b.frames, [](const Frame& x, const Frame& y) {
    return x.block == y.block && x.next == y.next && x.op == y.op && x.i == y.i && x.hi == y.hi && x.lo == y.lo &&
           x.top == y.top;
  });
}

void merge(Group& a, Group& b) {
  std::vector<std::pair<int32_t, std::pair<Group*, size_t>>> order;
  for (Group* g : {&a, &b})
    for (size_t i = 0; i < g->threads.size(); ++i) order.push_back({g->threads[i], {g, i}});
  std::sort(order.begin(), order.end());
  std::vector<Slot> env(a.env.size());
  for (size_t s = 0; s < env.size(); ++s) {
    const Slot &x = a.env[s], &y = b.env[s];
    if (x.is_uniform() && y.is_uniform() && x.width == y.width && x.uniform == y.uniform && x.lanes == y.lanes) {
      env[s] = x;
      continue;
    }
    env[s].width = x.width;  // a value that only one side has computed is not read later
    if (x.width != y.width) continue;
    for (const auto& [thread, from] : order)
      for (uint32_t k = 0; k < x.width; ++k) env[s].lanes.push_back(from.first->env[s].at(from.second, k));
  }
  std::erase_if(a.locals, [&](const auto& l) { return !b.locals.contains(l.first); });
  for (auto& [at, local] : a.locals) {
    Local& other = b.locals.at(at);
    std::vector<uint8_t> cells;
    for (const auto& [thread, from] : order) {
      const uint8_t* mine = (from.first == &a ? local : other).of(from.second);
      cells.insert(cells.end(), mine, mine + local.shape.bytes);
    }
    local.cells = std::move(cells);
  }
  for (const auto& [barrier, phase] : b.next_phase) {
    auto [it, fresh] = a.next_phase.try_emplace(barrier, phase);
    it->second = std::max(it->second, phase);
  }
  a.cluster_arrivals = std::max(a.cluster_arrivals, b.cluster_arrivals);
  a.env = std::move(env);
  a.threads.clear();
  for (const auto& [thread, from] : order) a.threads.push_back(thread);
  a.lanes = a.threads.size();
  b.done = true;
  b.frames.clear();
  b.threads.clear();
  b.blocked = Blocked::no;
}

bool agree(Cta& cta, size_t index, const std::vector<ValueId>& values) {
  Group& g = cta.groups[index];
  std::vector<bool> keep(g.threads.size(), true);
  bool same = true;
  for (ValueId v : values) {
    const Slot& s = slot(cta.p, g, v);
    for (size_t i = 0; i < s.lanes.size(); ++i)
      if (s.lanes[i].i != s.lanes[0].i) same = keep[i] = false;
  }
  if (!same) split(cta, index, keep);
  return same;
}

}  // namespace tc::ir::interp
