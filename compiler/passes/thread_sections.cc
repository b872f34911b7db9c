// Pass thread_sections, tile → tile. A chain `if tx == 128: … elif tx < 128: … else: …` on the thread index alone
// becomes sections, as `T.ws` does: the sets that reach each branch are worked out, and a branch whose set is one range
// becomes `ws {lo, hi}`. (The front end makes simple ones itself.) A branch that is reached by several ranges becomes a
// section for each only if it holds barrier operations and scalars, which mean the same for every thread; else the
// chain stays.
//   256 threads, tx == 128 / elif tx == 160 / elif tx < 128:  [128,129), [160,161), [0,128)
#include "compiler/passes/passes.h"
#include "compiler/rewrite/clone.h"

namespace tc::ir {
namespace {

struct Interval {
  int64_t lo, hi;  // half open
};
using ThreadSet = std::vector<Interval>;

ThreadSet intersect(const ThreadSet& a, const ThreadSet& b) {
  ThreadSet out;
  for (const Interval& x : a)
    for (const Interval& y : b)
      if (std::max(x.lo, y.lo) < std::min(x.hi, y.hi)) out.push_back({std::max(x.lo, y.lo), std::min(x.hi, y.hi)});
  return out;
}
ThreadSet complement(const ThreadSet& a, int64_t threads) {
  ThreadSet out;
  int64_t at = 0;
  for (const Interval& x : a) {
    if (x.lo > at) out.push_back({at, x.lo});
    at = std::max(at, x.hi);
  }
  if (at < threads) out.push_back({at, threads});
  return out;
}

// The threads for which a condition holds, if it only compares the thread index with constants.
std::optional<ThreadSet> holds_for(const Module& m, ValueId condition, int64_t threads) {
  OpId def = m[condition].def;
  if (!def.valid()) return std::nullopt;
  const Op& op = m[def];
  if (op.kind == OpKind::logical_and || op.kind == OpKind::logical_or) {
    auto a = holds_for(m, op.operands[0], threads), b = holds_for(m, op.operands[1], threads);
    if (!a || !b) return std::nullopt;
    if (op.kind == OpKind::logical_and) return intersect(*a, *b);
    return complement(intersect(complement(*a, threads), complement(*b, threads)), threads);
  }
  if (op.operands.size() != 2) return std::nullopt;
  auto is_thread = [&](ValueId v) { return m[v].def.valid() && m[m[v].def].kind == OpKind::thread_index; };
  auto left = constant_value(m, op.operands[0]), right = constant_value(m, op.operands[1]);
  OpKind kind = op.kind;
  int64_t c = 0;
  if (is_thread(op.operands[0]) && right) c = right->value;
  else if (is_thread(op.operands[1]) && left) {
    c = left->value;
    static constexpr std::pair<OpKind, OpKind> kTurned[] = {
        {OpKind::lt, OpKind::gt}, {OpKind::gt, OpKind::lt}, {OpKind::le, OpKind::ge}, {OpKind::ge, OpKind::le}};
    for (auto [a, b] : kTurned)
      if (op.kind == a) kind = b;
  } else {
    return std::nullopt;
  }
  auto range = [&](int64_t lo, int64_t hi) {
    lo = std::clamp<int64_t>(lo, 0, threads);
    hi = std::clamp<int64_t>(hi, 0, threads);
    return lo < hi ? ThreadSet{{lo, hi}} : ThreadSet{};
  };
  if (kind == OpKind::lt) return range(0, c);
  if (kind == OpKind::le) return range(0, c + 1);
  if (kind == OpKind::ge) return range(c, threads);
  if (kind == OpKind::gt) return range(c + 1, threads);
  if (kind == OpKind::eq) return range(c, c + 1);
  if (kind == OpKind::ne) return complement(range(c, c + 1), threads);
  return std::nullopt;
}

class Sections {
 public:
  explicit Sections(int64_t threads) : threads_(threads), current_{{0, threads}} {}

  bool rewrite(Cloner& c, OpId id, BlockId at) {
    const Op& op = c.from[id];
    if (op.kind == OpKind::launch) {
      threads_ = int_attr(op, "threads", threads_);
      current_ = {{0, threads_}};
    }
    if (op.kind == OpKind::ws) {
      ThreadSet outer = current_;
      current_ = intersect(current_, {{int_attr(op, "lo", 0), int_attr(op, "hi", 0)}});
      if (current_.size() == 1) {  // never more: can_split saw to it
        OpId copy = c.copy_op(id, at);
        set_attr(c.to[copy].attrs, "lo", MetaInt(current_[0].lo));
        set_attr(c.to[copy].attrs, "hi", MetaInt(current_[0].hi));
      }
      current_ = outer;
      return true;
    }
    if (op.kind != OpKind::if_) return false;
    auto set = holds_for(c.from, op.operands[0], threads_);
    if (!set) return false;
    ThreadSet yes = intersect(current_, *set), no = intersect(current_, complement(*set, threads_));
    if (!can_split(c.from, op.blocks[0], yes) || !can_split(c.from, op.blocks[1], no)) return false;
    branch(c, op, op.blocks[0], yes, at);
    branch(c, op, op.blocks[1], no, at);
    return true;
  }

 private:
  int64_t threads_;
  ThreadSet current_;

  // One range, or nothing that acts collectively at the top of the branch but further conditions on the thread.
  bool can_split(const Module& m, BlockId b, const ThreadSet& set) const {
    if (set.size() <= 1) return true;
    for (OpId id : m[b].ops) {
      const Op& op = m[id];
      bool scalar = op.blocks.empty() && info(op.kind).proxy == Proxy::none;
      bool chain = op.kind == OpKind::if_ && holds_for(m, op.operands[0], threads_);
      bool section =
          op.kind == OpKind::ws && intersect(set, {{int_attr(op, "lo", 0), int_attr(op, "hi", 0)}}).size() <= 1;
      if (!scalar && !chain && !section) return false;
    }
    return true;
  }
  void branch(Cloner& c, const Op& op, BlockId b, const ThreadSet& set, BlockId at) {
    if (c.from[b].ops.empty()) return;
    ThreadSet outer = current_;
    bool only_scalars = std::ranges::all_of(c.from[b].ops, [&](OpId id) {
      return c.from[id].kind == OpKind::if_ || c.from[id].kind == OpKind::ws ||
             info(c.from[id].kind).sync == Sync::none;
    });
    if (set.size() > 1 && only_scalars) {  // a further condition of the chain: its branches become the sections
      current_ = set;
      c.clone_ops(b, at);
    } else {
      for (const Interval& i : set) {
        OpId section = c.to.new_op(at, OpKind::ws, {}, {}, op.loc);
        c.to[section].text_loc = op.text_loc;
        set_attr(c.to[section].attrs, "lo", MetaInt(i.lo));
        set_attr(c.to[section].attrs, "hi", MetaInt(i.hi));
        current_ = {i};
        BlockId inner = c.clone_block(b);
        c.to[section].blocks.push_back(inner);
      }
    }
    current_ = outer;
  }
};

}  // namespace

Status thread_sections(Module& m, const PassContext&) {
  Module to = empty_like(m);
  Sections sections(kMaxThreads);
  Cloner(m, to, [&](Cloner& c, OpId id, BlockId at) { return sections.rewrite(c, id, at); }).clone_functions();
  m = std::move(to);
  return {};
}

}  // namespace tc::ir
