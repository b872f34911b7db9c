// Pass thread_sync, device → device. Statements mean sequence, whichever threads carry them out; the barriers that this
// needs are put in here: before an access that conflicts (one of the two writes) with an earlier access of another
// thread to the same shared slot since the last barrier. At the top level a barrier of the CTA, inside a section a
// named barrier of the section's size (ids from 1).
//   cp_async a[1] … wait; BARRIER; wgmma reads a[0]
// * An element loop ({statement}) is one statement: its iterations touch different elements. A barrier stands before
// the
//   whole statement, before a whole run of wgmma, and before a conditional whose branches conflict.
// * Slots of a ring are told apart where their indices provably differ, in this or the next iteration (range.h).
// * Copies that complete on an mbarrier and accesses of different sections are ordered by the program, not here.
// * cp.async writes appear when they are waited for.
// * Before such a barrier, and before an mbarrier arrival, a proxy fence follows generic writes to buffers that the
// async
//   proxy reads or overwrites (FENCE-01, FENCE-04, CPASYNC-08), in every writing thread.
// Fails (unsupported): a barrier would stand under a condition on the thread.
#include "compiler/passes/passes.h"
#include "compiler/rewrite/range.h"
#include "specs/mbarrier.h"

namespace tc::ir {
namespace {

struct Access {
  ValueId buffer, slot;  // slot invalid: the whole buffer
  bool write = false, generic = false;
  int section = -1;       // which `ws` op it stands in; -1: outside
  bool previous = false;  // from the previous iteration of the innermost loop
};

struct State {
  std::vector<Access> pending;
  std::vector<Access> in_flight;  // cp.async writes not waited for
  bool unfenced = false;          // a generic write to an async buffer since the last fence
};

struct Insertion {
  BlockId block;
  size_t at;
  bool barrier, fence;
  auto operator<=>(const Insertion&) const = default;
};

class ThreadSync {
 public:
  explicit ThreadSync(Module& m) : m_(m) {}

  Status run(BlockId body, int64_t threads) {
    walk(m_, body, [&](OpId id) { note_async(m_[id]); });
    State s;
    top_ = &s;
    block(body, s, {-1, 0, threads}, {}, false);
    if (!failure_.ok()) return failure_;
    insert(threads);
    return {};
  }

 private:
  struct Context {
    int section;
    int64_t lo, hi;
  };
  Module& m_;
  std::set<uint32_t> async_;  // shared buffers that the async proxy reads or writes
  std::map<uint32_t, Context> contexts_;
  std::set<Insertion> insertions_;
  Status failure_;
  const State* top_ = nullptr;
  struct Section {
    int number;
    State state;
  };
  std::map<std::pair<int64_t, int64_t>, Section> sections_;  // by thread range

  bool shared(ValueId v) const { return m_[v].type.kind == TypeKind::buffer && m_[v].type.space == Space::shared; }

  void note_async(const Op& op) {
    if (info(op.kind).proxy != Proxy::async) return;
    for (ValueId v : op.operands)
      if (shared(buffer_of(m_, v))) async_.insert(buffer_of(m_, v).index);
  }

  // The accesses of one op to shared buffers.
  std::vector<Access> accesses(const Op& op, int section) const {
    std::vector<Access> list;
    const OpInfo& row = info(op.kind);
    bool by_mbarrier = op.kind == OpKind::tma_load || op.kind == OpKind::bulk_load;
    for (size_t i = 0; i < op.operands.size() && !by_mbarrier; ++i) {
      char role = operand_role(op, i);
      ValueId buffer = buffer_of(m_, op.operands[i]);
      if ((role != 'r' && role != 'w' && role != 'u') || !shared(buffer)) continue;
      Access a{.buffer = buffer,
               .slot = {},
               .write = role != 'r',
               .generic = row.proxy == Proxy::generic,
               .section = section};
      if (m_[buffer].type.rank() > 2) {
        if (buffer != op.operands[i]) a.slot = m_[m_[op.operands[i]].def].operands[1];
        else if (op.kind == OpKind::load || op.kind == OpKind::store) a.slot = op.operands[1];
      }
      list.push_back(a);
    }
    return list;
  }

  bool conflict(const Access& before, const Access& now, ValueId loop_variable) const {
    if (before.buffer != now.buffer || (!before.write && !now.write)) return false;
    if (before.section != now.section && before.section >= 0 && now.section >= 0) return false;
    if (!before.slot.valid() || !now.slot.valid()) return true;
    return !never_equal(m_, before.slot, now.slot, before.previous ? loop_variable : ValueId{}, 1);
  }

  void barrier(BlockId b, size_t at, State& s, bool divergent, const Op& op) {
    if (divergent && failure_.ok()) {
      Diag d = unsupported(place(op),
                           "a barrier is needed before this statement, which stands under a condition on the thread");
      d.notes = origin_notes(op);
      failure_ = d;
    }
    const Context& cx = contexts_.at(b.index);
    int64_t threads = cx.hi - cx.lo;
    if (cx.section >= 0 && threads % kWarpLanes && threads > 1 && failure_.ok())
      failure_ = unsupported(place(op), "a barrier is needed before this statement in a section of " +
                                            std::to_string(threads) + " threads (BAR-02)");
    if (threads > 1) insertions_.insert({b, at, true, s.unfenced});
    else if (s.unfenced) insertions_.insert({b, at, false, true});
    s.pending.clear();
    s.unfenced = false;
    if (&s != top_) return;
    for (auto& [range, section] : sections_)
      section.state.pending.clear();  // a barrier of the CTA orders sections, too
  }

  std::vector<Access> all_accesses(BlockId b, int section) const {
    std::vector<Access> all;
    walk(m_, b, [&](OpId o) {
      for (Access a : accesses(m_[o], section)) all.push_back(a);
    });
    return all;
  }

  // A barrier before the op at `at` if one of `all` conflicts with what is pending.
  void order(const std::vector<Access>& all, BlockId b, size_t at, State& s, ValueId loop, bool divergent) {
    for (const Access& a : all)
      if (std::ranges::any_of(s.pending, [&](const Access& p) { return conflict(p, a, loop); }))
        return barrier(b, at, s, divergent, m_[m_[b].ops[at]]);
  }

  void record(const Op& op, const Access& a, State& s) const {
    if (op.kind == OpKind::cp_async && a.write) {
      s.in_flight.push_back(a);
      return;
    }
    s.pending.push_back(a);
    if (a.write && a.generic && async_.contains(a.buffer.index)) s.unfenced = true;
  }

  void section(OpId id, BlockId b, size_t at, State& s, ValueId loop, bool divergent) {
    const Op& op = m_[id];
    Context inner{0, int_attr(op, "lo", 0), int_attr(op, "hi", 0)};
    auto [found, fresh] =
        sections_.emplace(std::pair(inner.lo, inner.hi), Section{static_cast<int>(sections_.size()), {}});
    inner.section = found->second.number;
    // Seen from outside the section is one statement; inside it has a state of its own, kept from one visit to the
    // next.
    std::vector<Access> all = all_accesses(op.blocks[0], inner.section);
    order(all, b, at, s, loop, divergent);
    block(op.blocks[0], found->second.state, inner, loop, false);
    s.pending.insert(s.pending.end(), all.begin(), all.end());
  }

  static void forget_slots(State& s, bool only_previous) {
    for (Access& a : s.pending)
      if (!only_previous || a.previous) a.slot = {};
  }
  template <class Change>
  void each_state(State& s, Change&& change) {
    change(s);
    for (auto& [range, section] : sections_)
      if (&section.state != &s) change(section.state);
  }

  void loop(OpId id, State& s, Context cx, bool divergent) {
    ValueId k = m_[m_[id].blocks[0]].args[0];
    each_state(s, [](State& t) { forget_slots(t, true); });
    block(m_[id].blocks[0], s, cx, k, divergent);
    each_state(s, [](State& t) {
      for (Access& a : t.pending) a.previous = true;
    });
    block(m_[id].blocks[0], s, cx, k, divergent);
    each_state(s, [](State& t) { forget_slots(t, false); });
  }

  void statement(OpId id, BlockId b, size_t at, State& s, Context cx, ValueId loop, bool divergent) {
    order(all_accesses(m_[id].blocks[0], cx.section), b, at, s, loop, divergent);
    walk(m_, m_[id].blocks[0], [&](OpId o) {
      for (const Access& a : accesses(m_[o], cx.section)) record(m_[o], a, s);
    });
  }

  void nested(OpId id, BlockId b, size_t at, State& s, Context cx, ValueId loop_variable, bool divergent) {
    const Op& op = m_[id];
    if (op.kind == OpKind::ws) return section(id, b, at, s, loop_variable, divergent);
    if (op.kind == OpKind::for_ && int_attr(op, "statement", 0))
      return statement(id, b, at, s, cx, loop_variable, divergent);
    if (op.kind == OpKind::for_) return loop(id, s, cx, divergent);
    bool depends = op.kind == OpKind::elected || (op.kind == OpKind::if_ && depends_on_thread(op.operands[0]));
    std::vector<Access> all;
    for (BlockId inner : op.blocks)
      for (const Access& a : all_accesses(inner, cx.section)) all.push_back(a);
    order(all, b, at, s, loop_variable, divergent);
    State other = s;
    for (size_t i = 0; i < op.blocks.size(); ++i)
      block(op.blocks[i], i == 0 ? s : other, cx, loop_variable, divergent || depends);
    if (op.blocks.size() < 2) return;
    s.pending.insert(s.pending.end(), other.pending.begin(), other.pending.end());
    s.in_flight.insert(s.in_flight.end(), other.in_flight.begin(), other.in_flight.end());
    s.unfenced = s.unfenced || other.unfenced;
  }

  bool depends_on_thread(ValueId v) const {
    OpId def = m_[v].def;
    if (!def.valid()) return false;
    const Op& op = m_[def];
    if (op.kind == OpKind::thread_index) return true;
    if (op.kind == OpKind::load && m_[op.operands[0]].type.space != Space::global) return true;
    return std::ranges::any_of(op.operands,
                               [&](ValueId o) { return m_[o].type.kind == TypeKind::scalar && depends_on_thread(o); });
  }

  void simple(OpId id, BlockId b, size_t at, State& s, Context cx, ValueId loop, bool divergent) {
    const Op& op = m_[id];
    if (op.kind == OpKind::sync_threads) {
      int64_t all = cx.section < 0 ? 0 : cx.hi - cx.lo;
      if (int_attr(op, "threads", 0) == all) s.pending.clear();
      return;
    }
    if (op.kind == OpKind::fence_proxy_async) s.unfenced = false;
    if (op.kind == OpKind::cp_async_wait) {
      for (Access a : s.in_flight) {
        a.slot = {};
        s.pending.push_back(a);
        s.unfenced = s.unfenced || async_.contains(a.buffer.index);
      }
      s.in_flight.clear();
      return;
    }
    if ((op.kind == OpKind::mbarrier_arrive || op.kind == OpKind::mbarrier_arrive_expect_tx) && s.unfenced) {
      insertions_.insert({b, at, false, true});
      s.unfenced = false;
    }
    if (op.kind == OpKind::wgmma_fence) {  // the run of wgmma that follows
      for (size_t i = at; i < m_[b].ops.size() && m_[m_[b].ops[i]].kind != OpKind::wgmma_commit; ++i)
        order(accesses(m_[m_[b].ops[i]], cx.section), b, at, s, loop, divergent);
      return;
    }
    if (op.kind != OpKind::wgmma) order(accesses(op, cx.section), b, at, s, loop, divergent);
    for (const Access& a : accesses(op, cx.section)) record(op, a, s);
  }

  void block(BlockId b, State& s, Context cx, ValueId loop, bool divergent) {
    contexts_.emplace(b.index, cx);
    for (size_t i = 0; i < m_[b].ops.size(); ++i) {
      OpId id = m_[b].ops[i];
      if (m_[id].blocks.empty()) simple(id, b, i, s, cx, loop, divergent);
      else nested(id, b, i, s, cx, loop, divergent);
    }
  }

  void insert(int64_t threads) {
    std::map<std::pair<int64_t, int64_t>, int64_t> ids;
    for (auto it = insertions_.rbegin(); it != insertions_.rend(); ++it) {
      const Context& cx = contexts_.at(it->block.index);
      SourceRange loc = m_[m_[it->block].ops[it->at]].loc, text_loc = m_[m_[it->block].ops[it->at]].text_loc;
      std::vector<OpId> added;
      auto add = [&](OpKind kind) {
        OpId id = m_.new_op(it->block, kind, {}, {}, loc);
        m_[id].text_loc = text_loc;
        m_[it->block].ops.pop_back();
        added.push_back(id);
        return id;
      };
      if (it->fence) add(OpKind::fence_proxy_async);
      if (it->barrier) {
        OpId sync = add(OpKind::sync_threads);
        if (cx.section >= 0) {
          auto [found, fresh] = ids.emplace(std::pair(cx.lo, cx.hi), static_cast<int64_t>(ids.size()) + 1);
          set_attr(m_[sync].attrs, "id", MetaInt(found->second));
          set_attr(m_[sync].attrs, "threads", MetaInt(cx.hi - cx.lo));
        }
      }
      auto& ops = m_[it->block].ops;
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(it->at), added.begin(), added.end());
    }
    if (ids.size() >= kNamedBarriers)
      failure_ =
          unsupported({}, "more than 15 named barriers in one kernel of " + std::to_string(threads) + " threads");
  }
};

}  // namespace

Status thread_sync(Module& m, const PassContext&) {
  for (const Func& f : m.funcs)
    for (OpId id : std::vector<OpId>(m[f.body].ops))
      if (m[id].kind == OpKind::launch)
        if (Status s = ThreadSync(m).run(m[id].blocks[0], int_attr(m[id], "threads", 0)); !s) return s;
  return {};
}

}  // namespace tc::ir
