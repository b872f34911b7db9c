// Where diverged lanes meet again: the immediate post-dominator of each branch, function by function (a call is one step
// of its caller).
// Blocks of the code, edges reversed, one virtual exit; dominators by the iteration of Cooper, Harvey and Kennedy, "A
// simple, fast dominance algorithm" (2001). A block that cannot reach the exit has no post-dominator: its lanes meet
// again only where they happen to.
//   0: @p bra 3   1: a   2: bra 4   3: b   4: ret     the branch at 0 joins at 4
#include "sim/exec/builder.h"
#include "sim/exec/code_flow.h"

namespace tc::sim {
namespace {

bool ends_block(InsnKind k) {
  return k == InsnKind::branch || k == InsnKind::branch_table || k == InsnKind::leave || k == InsnKind::ret;
}

}  // namespace

CodeFlow flow_of(const Program& p) {
  const auto n = static_cast<uint32_t>(p.code.size());
  std::vector<bool> leads(n + 1, false);
  leads[0] = true;
  for (uint32_t i = 0; i < n; ++i) {
    if (!ends_block(p.code[i].kind)) continue;
    leads[i + 1] = true;
    if (p.code[i].kind == InsnKind::branch) leads[p.code[i].target] = true;
    if (p.code[i].kind == InsnKind::branch_table)
      for (uint32_t k = 0; k < p.code[i].list_count; ++k) leads[p.lists[p.code[i].list + k]] = true;
  }
  for (const CalledFunction& c : p.functions)
    if (c.pc != kNone) leads[c.pc] = true;
  CodeFlow f;
  f.block_of.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (leads[i]) f.first.push_back(i);
    f.block_of[i] = static_cast<uint32_t>(f.first.size() - 1);
  }
  const auto blocks = static_cast<uint32_t>(f.first.size()), exit = blocks;
  f.next.resize(blocks + 1), f.previous.resize(blocks + 1);
  auto edge = [&](uint32_t from, uint32_t to) { f.next[from].push_back(to), f.previous[to].push_back(from); };
  for (uint32_t b = 0; b < blocks; ++b) {
    const uint32_t last = (b + 1 < blocks ? f.first[b + 1] : n) - 1;
    const Insn& i = p.code[last];
    const bool always = i.guard == kNone;
    if (i.kind == InsnKind::branch) edge(b, f.block_of[i.target]);
    if (i.kind == InsnKind::branch_table)
      for (uint32_t k = 0; k < i.list_count; ++k) edge(b, f.block_of[p.lists[i.list + k]]);
    if (i.kind == InsnKind::leave || i.kind == InsnKind::ret) edge(b, exit);
    const bool falls = !ends_block(i.kind) || !always;
    if (falls) edge(b, last + 1 < n ? f.block_of[last + 1] : exit);
  }
  return f;
}

namespace {

// Blocks in reverse post-order of the reversed graph, from the exit.
std::vector<uint32_t> order_from_exit(const CodeFlow& f) {
  const auto n = static_cast<uint32_t>(f.next.size());
  std::vector<uint32_t> post;
  std::vector<uint8_t> seen(n, 0);
  std::vector<std::pair<uint32_t, size_t>> stack{{n - 1, 0}};
  seen[n - 1] = 1;
  while (!stack.empty()) {
    auto& [b, k] = stack.back();
    if (k < f.previous[b].size()) {
      const uint32_t to = f.previous[b][k++];
      if (!seen[to]) seen[to] = 1, stack.emplace_back(to, 0);
    } else {
      post.push_back(b);
      stack.pop_back();
    }
  }
  return {post.rbegin(), post.rend()};
}

}  // namespace

void find_joins(Program& p) {
  const CodeFlow f = flow_of(p);
  const std::vector<uint32_t> order = order_from_exit(f);
  const auto n = static_cast<uint32_t>(f.next.size()), exit = n - 1;
  std::vector<uint32_t> rank(n, kNone), dominator(n, kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  dominator[exit] = exit;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (rank[a] > rank[b]) a = dominator[a];
      while (rank[b] > rank[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      if (b == exit) continue;
      uint32_t d = kNone;
      for (uint32_t s : f.next[b])
        if (rank[s] != kNone && dominator[s] != kNone) d = d == kNone ? s : meet(d, s);
      if (d != dominator[b]) dominator[b] = d, changed = true;
    }
  }
  for (uint32_t i = 0; i < p.code.size(); ++i) {
    Insn& insn = p.code[i];
    const uint32_t b = f.block_of[i];
    const bool parts = (insn.kind == InsnKind::branch && insn.guard != kNone) || insn.kind == InsnKind::branch_table;
    if (parts && dominator[b] != kNone && dominator[b] != exit)
      insn.join = f.first[dominator[b]];
  }
}

}  // namespace tc::sim
