// One schedule of the real machine, and the search for a failing one.
#include "verifier/proof/exact.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>

#include "specs/mbarrier.h"

namespace tc::verify {
namespace {
// A set of accesses; the bit of an access is reused once nothing can refer to it.
class Bits {
 public:
  void set(size_t i) {
    if (words_.size() <= i / 64) words_.resize(i / 64 + 1);
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }
  bool has(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1); }
  void merge(const Bits& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void clear() { words_.clear(); }
  Bits renumbered(const std::vector<int>& to) const {
    Bits out;
    for (size_t i = 0; i < to.size(); ++i)
      if (to[i] >= 0 && has(i)) out.set(static_cast<size_t>(to[i]));
    return out;
  }

 private:
  std::vector<uint64_t> words_;
};

struct Barrier {
  int64_t phase = 0, pending = 0, tx = 0;
  Bits known, gathering;  // what a waiter learns; what the running phase collects
};
struct Slot {
  bool written = false;
  int64_t tile = 0, ordinal = -1;  // ordinal: which write to this slot
  Access writer;
  std::vector<size_t> writes, reads, older;  // bits
};
struct Operation {  // an asynchronous copy or matrix operation
  Access who;
  int ring = -1;
  int64_t slot = 0, bytes = 0, left = 0;
  size_t bit = 0;
  Bits know;
  bool done = false;
};
constexpr size_t kCompactAt = 4096;

class Machine {
 public:
  Machine(const Model& m, const Traces& t, uint64_t seed, Reading reading, const Point& params)
      : m_(m), t_(t), reading_(reading), random_(seed * 7919 + 13), point_(params) {
    out_.seed = seed;
    size_t n = t.threads.size();
    pc_.assign(n, 0);
    know_.resize(n);
    mine_.resize(n);
    absorbed_.assign(n, 0);
    bars_.resize(m.protocol.rings.size());
    for (size_t r = 0; r < bars_.size(); ++r) {
      bars_[r].resize(static_cast<size_t>(m.protocol.rings[r].slots));
      for (Barrier& b : bars_[r]) b.pending = m.protocol.rings[r].count;
    }
    for (const Buffer& b : m.protocol.buffers) memory_.emplace_back(static_cast<size_t>(b.slots));
    out_.where.resize(n);
    out_.seen_write.resize(n);
    for (size_t i = 0; i < n; ++i) {
      out_.where[i].resize(t.records[i].size());
      out_.seen_write[i].assign(t.records[i].size(), -1);
    }
    order_.resize(n + 1);  // the last entry is "an asynchronous operation completes"
    std::iota(order_.begin(), order_.end(), 0);
    shuffle();
  }

  RunResult go() {
    bool fair = out_.seed % 3 == 0;
    const int async = static_cast<int>(pc_.size());
    std::vector<int> ready;
    while (!out_.failure) {
      ready.clear();
      for (int t = 0; t < async; ++t)
        if (is_ready(t)) ready.push_back(t);
      if (ready.empty() && flight_.empty()) break;
      int pick = async;
      if (out_.seed == 0) {  // the reference schedule
        if (!ready.empty()) pick = ready[out_.log.size() % ready.size()];
      } else if (fair) {
        size_t i = draw(ready.size() + !flight_.empty());
        if (i < ready.size()) pick = ready[i];
      } else {  // adversarial: an order of preference, redrawn now and then
        if (draw(20) == 0) shuffle();
        for (int x : order_)
          if (x == async ? !flight_.empty() : std::ranges::binary_search(ready, x)) {
            pick = x;
            break;
          }
      }
      if (pick == async) finish(out_.seed == 0 ? 0 : draw(flight_.size()));
      else step(pick);
    }
    if (!out_.failure) find_hang();
    return std::move(out_);
  }

 private:
  size_t draw(size_t n) { return static_cast<size_t>(random_() % n); }
  void shuffle() {
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[draw(i)]);
  }
  const Record& record(int t, size_t i) const { return t_.records[static_cast<size_t>(t)][i]; }
  const Record* current(int t) const {
    const auto& rs = t_.records[static_cast<size_t>(t)];
    size_t i = pc_[static_cast<size_t>(t)];
    return i < rs.size() ? &rs[i] : nullptr;
  }
  Access access_of(int t) const { return {t, static_cast<int>(pc_[static_cast<size_t>(t)])}; }
  Barrier* barrier(const Record& r) {
    int ring = m_[r.id].event.ring;
    if (ring < 0 || r.slot < 0 || r.slot >= static_cast<int64_t>(bars_[static_cast<size_t>(ring)].size()))
      return nullptr;
    return &bars_[static_cast<size_t>(ring)][static_cast<size_t>(r.slot)];
  }
  std::string place(const Record& r) const {
    return m_.protocol.rings[static_cast<size_t>(m_[r.id].event.ring)].name + "[" + std::to_string(r.slot) + "]";
  }
  void fail(FailureKind kind, Access at, std::string message) {
    bool data = kind == FailureKind::race || kind == FailureKind::wrong_data;
    if (out_.failure || (data && reading_ == Reading::ordinal)) return;  // a run by ordinals asks what was meant
    out_.failure = Failure{.kind = kind, .message = std::move(message), .at = at, .blocked = {}, .earlier = {}};
  }
  void note(Access a, Mark mark, int64_t phase) {
    PhaseRange& p = out_.where[static_cast<size_t>(a.thread)][static_cast<size_t>(a.record)][static_cast<size_t>(mark)];
    p = p.seen() ? PhaseRange{std::min(p.low, phase), std::max(p.high, phase)} : PhaseRange{phase, phase};
  }

  bool may_pass(const Record& r, const Barrier& b) {
    switch (reading_) {
      case Reading::parity: return (b.phase & 1) != r.parity;
      case Reading::ordinal: return b.phase >= r.ordinal + 1;
      case Reading::ticket: break;
    }
    const EventClass& c = m_[r.id];
    assert(c.ticket && "a run by tickets needs every ticket");
    set_iteration(m_, r, point_);
    int64_t n = m_.slots[static_cast<size_t>(c.event.ring)], t = c.ticket->at(point_);
    return b.phase >= (t >= 0 ? t / n : -((n - 1 - t) / n)) + 1;
  }
  bool is_ready(int t) {
    const Record* r = current(t);
    if (!r) return false;
    switch (m_[r->id].event.kind) {
      case EventKind::wait: {
        const Barrier* b = barrier(*r);
        return r->negative || !b || may_pass(*r, *b);
      }
      case EventKind::mma_wait: {
        const auto& ops = mine_[static_cast<size_t>(t)];
        size_t n = covered(t, m_[r->id].event.pending);
        for (size_t i = absorbed_[static_cast<size_t>(t)]; i < n; ++i)
          if (!operations_[ops[i]].done) return false;
        return true;
      }
      case EventKind::sync_warp:
      case EventKind::sync_role:
        for (int u : peers(t, m_[r->id].event.kind)) {
          const Record* q = current(u);
          if (!q || m_[q->id].event.kind != m_[r->id].event.kind) return false;
        }
        return true;
      case EventKind::arrive:
      case EventKind::expect:
      case EventKind::copy:
      case EventKind::read:
      case EventKind::write:
      case EventKind::mma:
      case EventKind::aread:
      case EventKind::sync_threads:
      case EventKind::increment:
      case EventKind::flip: return true;
    }
    return true;
  }
  size_t covered(int t, int64_t pending) const {
    int64_t n = static_cast<int64_t>(mine_[static_cast<size_t>(t)].size()) - pending;
    return static_cast<size_t>(std::max<int64_t>(n, 0));
  }
  std::vector<int> peers(int t, EventKind kind) const {
    std::vector<int> out;
    const ThreadRef& me = t_.threads[static_cast<size_t>(t)];
    for (int u = 0; u < static_cast<int>(t_.threads.size()); ++u) {
      const ThreadRef& o = t_.threads[static_cast<size_t>(u)];
      if (o.role == me.role && (kind == EventKind::sync_role || o.warp == me.warp)) out.push_back(u);
    }
    return out;
  }

  void step(int t) {
    const Record& r = *current(t);
    const Event& e = m_[r.id].event;
    Access a = access_of(t);
    if (r.negative)
      return fail(FailureKind::negative, a, "/ or % of a negative number in '" + m_.event_text(r.id) + "'");
    Barrier* b = barrier(r);
    if (e.ring >= 0 && !b)
      return fail(FailureKind::bounds, a,
                  "'" + m_.event_text(r.id) + "' uses slot " + std::to_string(r.slot) + " of " +
                      std::to_string(bars_[static_cast<size_t>(e.ring)].size()));
    out_.log.push_back({t, a.record, false, b ? b->phase : -1});
    if (e.kind == EventKind::sync_warp || e.kind == EventKind::sync_role) return meet(t, e.kind);
    ++pc_[static_cast<size_t>(t)];
    switch (e.kind) {
      case EventKind::wait:
        know_[static_cast<size_t>(t)].merge(b->known);
        note(a, Mark::wait, b->phase);
        break;
      case EventKind::arrive:
      case EventKind::expect:
        if (e.tx) {
          b->tx += e.tx * r.weight;
          note(a, Mark::expect, b->phase);
          limit_bytes(a, r, *b);
        }
        if (e.kind == EventKind::arrive) arrive(a, r, *b);
        else flip(e.ring, *b);
        break;
      case EventKind::read:
      case EventKind::write: {
        size_t bit = new_bit(a);
        access(a, r, bit, e.kind == EventKind::write);
        know_[static_cast<size_t>(t)].set(bit);
        break;
      }
      case EventKind::copy: copy(a, r); break;
      case EventKind::mma:
      case EventKind::aread: issue(a, r); break;
      case EventKind::mma_wait: {
        size_t& from = absorbed_[static_cast<size_t>(t)];
        for (size_t n = covered(t, e.pending); from < n; ++from)
          know_[static_cast<size_t>(t)].merge(operations_[mine_[static_cast<size_t>(t)][from]].know);
        break;
      }
      case EventKind::sync_warp:
      case EventKind::sync_role:
      case EventKind::sync_threads:
      case EventKind::increment:
      case EventKind::flip: break;
    }
    if (owners_.size() > compact_at_) compact();
  }
  void meet(int t, EventKind kind) {
    std::vector<int> us = peers(t, kind);
    Bits k;
    for (int u : us) k.merge(know_[static_cast<size_t>(u)]);
    for (int u : us) {
      know_[static_cast<size_t>(u)] = k;
      ++pc_[static_cast<size_t>(u)];
    }
  }
  void flip(int ring, Barrier& b) {
    if (b.pending != 0 || b.tx != 0) return;
    ++b.phase;
    b.pending = m_.protocol.rings[static_cast<size_t>(ring)].count;
    b.known.merge(b.gathering);
    b.gathering.clear();
  }
  void arrive(Access a, const Record& r, Barrier& b) {
    const Event& e = m_[r.id].event;
    int64_t left = e.count * r.weight;
    while (left && !out_.failure) {
      if (b.pending == 0 || e.count > b.pending) {
        fail(FailureKind::over_arrival, a,
             "'" + m_.event_text(r.id) + "' arrives on " + place(r) + " in phase " + std::to_string(b.phase) +
                 ", where " + std::to_string(b.pending) + " of " +
                 std::to_string(m_.protocol.rings[static_cast<size_t>(e.ring)].count) + " arrivals are pending");
        describe(b);
        break;
      }
      int64_t n = std::min(left, b.pending - b.pending % e.count);
      note(a, Mark::arrive, b.phase);
      b.pending -= n;
      b.gathering.merge(know_[static_cast<size_t>(a.thread)]);
      left -= n;
      flip(e.ring, b);
    }
  }
  void limit_bytes(Access a, const Record& r, const Barrier& b) {
    if (std::abs(b.tx) <= kMbarrierMaxTxBytes) return;
    fail(FailureKind::too_many_bytes, a,
         "the transaction count of " + place(r) + " reaches " + std::to_string(b.tx) + " bytes");
    describe(b);
  }
  void describe(const Barrier& b) {
    out_.failure->phase = b.phase;
    out_.failure->pending = b.pending;
    out_.failure->bytes = b.tx;
  }
  void copy(Access a, const Record& r) {
    const Event& e = m_[r.id].event;
    size_t bit = new_bit(a);
    access(a, r, bit, true);
    Operation o{.who = a,
                .ring = e.ring,
                .slot = r.slot,
                .bytes = e.bytes * r.weight,
                .left = 0,
                .bit = bit,
                .know = know_[static_cast<size_t>(a.thread)],
                .done = false};
    o.know.set(bit);
    flight_.push_back(operations_.size());
    operations_.push_back(std::move(o));
  }
  // wgmma is one operation of its role: it is in flight once every thread has issued it.
  void issue(Access a, const Record& r) {
    bool shared = m_[r.id].event.kind == EventKind::mma;
    auto key = std::tuple(r.id, r.vec, shared ? -1 : a.thread);
    auto [it, fresh] = groups_.try_emplace(key, operations_.size());
    if (fresh) {
      int64_t n = shared ? static_cast<int64_t>(peers(a.thread, EventKind::sync_role).size()) : 1;
      operations_.push_back({.who = a, .left = n, .bit = new_bit(a), .know = {}});
    }
    size_t index = it->second;
    access(a, r, operations_[index].bit, false);
    Operation& o = operations_[index];
    o.know.merge(know_[static_cast<size_t>(a.thread)]);
    o.know.set(o.bit);
    mine_[static_cast<size_t>(a.thread)].push_back(index);
    if (--o.left == 0) flight_.push_back(index);
  }
  void finish(size_t i) {
    Operation& o = operations_[flight_[i]];
    flight_.erase(flight_.begin() + static_cast<std::ptrdiff_t>(i));
    o.done = true;
    int64_t phase = -1;
    if (o.ring >= 0) {
      Barrier& b = bars_[static_cast<size_t>(o.ring)][static_cast<size_t>(o.slot)];
      phase = b.phase;
      note(o.who, Mark::copy, b.phase);
      b.tx -= o.bytes;
      limit_bytes(o.who, record(o.who.thread, static_cast<size_t>(o.who.record)), b);
      b.gathering.merge(o.know);
      flip(o.ring, b);
    }
    out_.log.push_back({o.who.thread, o.who.record, true, phase});
  }

  size_t new_bit(Access a) {
    owners_.push_back(a);
    return owners_.size() - 1;
  }
  void access(Access a, const Record& r, size_t bit, bool write) {
    const Event& e = m_[r.id].event;
    auto& slots = memory_[static_cast<size_t>(e.buffer)];
    const std::string& buffer = m_.protocol.buffers[static_cast<size_t>(e.buffer)].name;
    if (r.at < 0 || r.at >= static_cast<int64_t>(slots.size()))
      return fail(
          FailureKind::bounds, a,
          "'" + m_.event_text(r.id) + "' uses slot " + std::to_string(r.at) + " of " + std::to_string(slots.size()));
    Slot& s = slots[static_cast<size_t>(r.at)];
    std::string where = buffer + "[" + std::to_string(r.at) + "]";
    if (write) {
      bool same = s.written && (r.has_tile ? s.tile == r.tile : same_instance(s.writer, a));
      if (!same) {
        s.older = s.writes;
        s.older.insert(s.older.end(), s.reads.begin(), s.reads.end());
        s.writes.clear();
        s.reads.clear();
        s.written = true;
        s.tile = r.tile;
        s.writer = a;
        ++s.ordinal;
      }
      std::vector<size_t> before = s.older;
      before.insert(before.end(), s.reads.begin(), s.reads.end());
      check_order(a, before,
                  "'" + m_.event_text(r.id) + "' writes " +
                      (r.has_tile ? "tile " + std::to_string(r.tile) + " into " : "") + where +
                      " while an earlier access is not ordered before it");
      s.writes.push_back(bit);
      out_.seen_write[static_cast<size_t>(a.thread)][static_cast<size_t>(a.record)] = s.ordinal;
    } else {
      if (r.has_tile && (!s.written || s.tile != r.tile)) {
        std::string found = s.written ? "tile " + std::to_string(s.tile) : std::string("nothing");
        fail(FailureKind::wrong_data, a,
             "'" + m_.event_text(r.id) + "' finds " + found + " in " + where + " instead of tile " +
                 std::to_string(r.tile));
        if (out_.failure && out_.failure->kind == FailureKind::wrong_data) {
          out_.failure->found_tile = s.written ? s.tile : -1;
          if (s.written) out_.failure->earlier.push_back(s.writer);
        }
      } else {
        check_order(a, s.writes,
                    "'" + m_.event_text(r.id) + "' reads " +
                        (r.has_tile ? "tile " + std::to_string(r.tile) + " in " : "") + where +
                        " before its write is known to be complete");
      }
      s.reads.push_back(bit);
      if (s.written) out_.seen_write[static_cast<size_t>(a.thread)][static_cast<size_t>(a.record)] = s.ordinal;
    }
  }
  bool same_instance(Access a, Access b) const {
    const Record &x = record(a.thread, static_cast<size_t>(a.record)),
                 &y = record(b.thread, static_cast<size_t>(b.record));
    return x.id == y.id && x.vec == y.vec;
  }
  void check_order(Access a, const std::vector<size_t>& bits, std::string message) {
    const Bits& k = know_[static_cast<size_t>(a.thread)];
    std::vector<Access> open;
    for (size_t b : bits)
      if (!k.has(b)) open.push_back(owners_[b]);
    if (open.empty() || out_.failure) return;
    fail(FailureKind::race, a, std::move(message));
    if (out_.failure) out_.failure->earlier = std::move(open);
  }
  void find_hang() {
    std::vector<Access> blocked;
    for (int t = 0; t < static_cast<int>(pc_.size()); ++t)
      if (current(t)) blocked.push_back(access_of(t));
    if (blocked.empty()) return;
    fail(FailureKind::hang, blocked[0], "");
    out_.failure->blocked = blocked;
    const Record& r = record(blocked[0].thread, static_cast<size_t>(blocked[0].record));
    if (const Barrier* b = barrier(r)) describe(*b);
    std::string text;
    size_t shown = 0;
    for (Access a : blocked)
      if (shown < 4) {
        text += (shown++ ? "; " : "") + waits(a);
      }
    out_.failure->message = text;
  }
  std::string waits(Access a) {
    const Record& r = record(a.thread, static_cast<size_t>(a.record));
    const ThreadRef& t = t_.threads[static_cast<size_t>(a.thread)];
    std::string s = m_.protocol.roles[static_cast<size_t>(t.role)].name + " warp " + std::to_string(t.warp) + " lane " +
                    std::to_string(t.lane) + " waits at '" + m_.event_text(r.id) + "'";
    const Barrier* b = barrier(r);
    if (!b) return s;
    return s + ": " + place(r) + " is in phase " + std::to_string(b->phase) + ", parity asked " +
           std::to_string(r.parity) + ", " + std::to_string(b->pending) + " of " +
           std::to_string(m_.protocol.rings[static_cast<size_t>(m_[r.id].event.ring)].count) + " arrivals pending, " +
           std::to_string(b->tx) + " bytes expected";
  }

  // Long runs: forget accesses that no slot and no operation refers to.
  void compact() {
    std::vector<int> to(owners_.size(), -1);
    std::vector<Access> owners;
    auto keep = [&](size_t b) {
      if (to[b] >= 0) return;
      to[b] = static_cast<int>(owners.size());
      owners.push_back(owners_[b]);
    };
    for (auto& slots : memory_)
      for (Slot& s : slots)
        for (auto* list : {&s.writes, &s.reads, &s.older})
          for (size_t& b : *list) {
            keep(b);
            b = static_cast<size_t>(to[b]);
          }
    std::vector<bool> live(operations_.size());
    for (size_t i : flight_) live[i] = true;
    for (size_t t = 0; t < mine_.size(); ++t)
      for (size_t i = absorbed_[t]; i < mine_[t].size(); ++i) live[mine_[t][i]] = true;
    for (size_t i = 0; i < operations_.size(); ++i) {
      Operation& o = operations_[i];
      if (!live[i]) {
        o.know.clear();
        continue;
      }
      keep(o.bit);
    }
    for (size_t i = 0; i < operations_.size(); ++i) {
      if (!live[i]) continue;
      operations_[i].know = operations_[i].know.renumbered(to);
      operations_[i].bit = static_cast<size_t>(to[operations_[i].bit]);
    }
    for (Bits& k : know_) k = k.renumbered(to);
    for (auto& ring : bars_)
      for (Barrier& b : ring) b.known = b.known.renumbered(to), b.gathering = b.gathering.renumbered(to);
    owners_ = std::move(owners);
    compact_at_ = std::max(kCompactAt, 2 * owners_.size());
  }

  const Model& m_;
  const Traces& t_;
  Reading reading_;
  std::mt19937_64 random_;
  Point point_;
  RunResult out_;
  std::vector<size_t> pc_, absorbed_;
  std::vector<Bits> know_;
  std::vector<std::vector<Barrier>> bars_;
  std::vector<std::vector<Slot>> memory_;
  std::vector<Operation> operations_;
  std::vector<size_t> flight_;
  std::vector<std::vector<size_t>> mine_;
  std::map<std::tuple<int, std::vector<int64_t>, int>, size_t> groups_;
  std::vector<Access> owners_;
  size_t compact_at_ = kCompactAt;
  std::vector<int> order_;
};

constexpr size_t kMostRecords = 200000;  // a run longer than this is not tried

std::string_view mark_name(size_t mark) {
  constexpr std::array<std::string_view, 4> names = {"the return of", "the expected bytes of", "the arrival of",
                                                     "the bytes of"};
  return names[mark];
}

// An event that belonged to two phases in one schedule, or to different ones in two schedules.
std::optional<Failure> slip(const Model& m, const Traces& t, const RunResult& now, const RunResult* before) {
  for (int i = 0; i < static_cast<int>(now.where.size()); ++i)
    for (int j = 0; j < static_cast<int>(now.where[static_cast<size_t>(i)].size()); ++j)
      for (size_t mark = 0; mark < 4; ++mark) {
        const PhaseRange& p = now.where[static_cast<size_t>(i)][static_cast<size_t>(j)][mark];
        if (!p.seen()) continue;
        const PhaseRange& q = before ? before->where[static_cast<size_t>(i)][static_cast<size_t>(j)][mark] : p;
        int64_t other = q.seen() && q != p ? q.low : p.high;
        if (p.low == p.high && other == p.low) continue;
        const Record& r = t.records[static_cast<size_t>(i)][static_cast<size_t>(j)];
        Failure f{.kind = FailureKind::slip, .message = {}, .at = {i, j}, .blocked = {}, .earlier = {}};
        f.phase = p.low;
        f.message = std::string(mark_name(mark)) + " '" + m.event_text(r.id) + "' " +
                    (p.low != p.high ? "falls into phases " + std::to_string(p.low) + " and " + std::to_string(p.high)
                                     : "belongs to phase " + std::to_string(std::min(other, p.low)) + " or " +
                                           std::to_string(std::max(other, p.low)) + ", depending on the schedule");
        return f;
      }
  return std::nullopt;
}
}  // namespace

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::hang: return "hang";
    case FailureKind::race: return "race";
    case FailureKind::wrong_data: return "wrong data";
    case FailureKind::over_arrival: return "over-arrival";
    case FailureKind::too_many_bytes: return "transaction count";
    case FailureKind::negative: return "negative operand";
    case FailureKind::bounds: return "slot out of bounds";
    case FailureKind::slip: return "phase slip";
  }
  return "";
}

RunResult run(const Model& m, const Traces& traces, uint64_t seed, Reading reading, const Point& params) {
  return Machine(m, traces, seed, reading, params).go();
}

std::optional<Attack> attack(const Model& m, const AttackPlan& plan) {
  for (const std::vector<int64_t>& params : plan.params)
    for (uint64_t draw = 0; draw < (m.predicates.empty() ? 1 : 6); ++draw) {
      Inputs in = make_inputs(m, params, 7 + draw, false);
      std::optional<Traces> traces = expand(m, in, plan.most, kMostRecords);
      if (!traces) continue;
      Point point = parameter_point(m, in);
      std::optional<RunResult> first;
      for (uint64_t seed = 0; seed < plan.seeds; ++seed) {
        if (plan.out_of_time && plan.out_of_time()) return std::nullopt;
        RunResult r = run(m, *traces, seed, Reading::parity, point);
        if (!r.failure) r.failure = slip(m, *traces, r, first ? &*first : nullptr);
        if (r.failure) return Attack{std::move(in), std::move(*traces), std::move(r)};
        if (!first) first = std::move(r);
      }
    }
  return std::nullopt;
}

}  // namespace tc::verify
