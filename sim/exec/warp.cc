// shfl, vote, match, redux, elect, activemask: data exchange between the lanes of a warp. PTX
// ISA 9.7.9.6, 9.7.13.10-16. The lanes named by the member mask execute together; those that are elsewhere are waited
// for.
#include "sim/exec/builder.h"
#include "sim/exec/collective.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr char kTogether[] = "WARP-01", kElected[] = "ELECT-01";

enum class Mode : uint8_t { up, down, bfly, idx };
constexpr std::string_view kModes[] = {"up", "down", "bfly", "idx"};

void write_predicate(Warp& w, uint32_t at, uint32_t bits) {
  if (at != kNone) w.pred(at) = (w.pred(at) & ~w.mask) | (bits & w.mask);
}

// c = segment mask << 8 | clamp, as the ISA's pseudocode has it.
Step shfl(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!met(w, i, i.src[3], kTogether, s)) return s;
  std::array<uint32_t, 32> value, lane_b, lane_c;
  for (uint32_t l = 0; l < 32; ++l)
    value[l] = w.reg<uint32_t>(i.src[0])[l], lane_b[l] = w.reg<uint32_t>(i.src[1])[l],
    lane_c[l] = w.reg<uint32_t>(i.src[2])[l];
  auto* d = w.reg<uint32_t>(i.dst);
  uint32_t in_range = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint32_t b = lane_b[l] & 31, clamp = lane_c[l] & 31, segment = (lane_c[l] >> 8) & 31;
    const int32_t most = static_cast<int32_t>((l & segment) | (clamp & ~segment)),
                  least = static_cast<int32_t>(l & segment);
    int32_t j = static_cast<int32_t>(l);
    bool ok = false;
    switch (static_cast<Mode>(i.a)) {
      case Mode::up: j = static_cast<int32_t>(l) - static_cast<int32_t>(b), ok = j >= most; break;
      case Mode::down: j = static_cast<int32_t>(l + b), ok = j <= most; break;
      case Mode::bfly: j = static_cast<int32_t>(l ^ b), ok = j <= most; break;
      case Mode::idx: j = least | static_cast<int32_t>(b & ~segment), ok = j <= most; break;
    }
    d[l] = value[ok ? static_cast<uint32_t>(j) & 31 : l];
    in_range |= static_cast<uint32_t>(ok) << l;
  }
  write_predicate(w, i.list_count ? w.cta->program.lists[i.list] : kNone, in_range);
  return Step::next;
}

enum class Vote : uint8_t { all, any, uni, ballot };
Step vote(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!met(w, i, i.src[1], kTogether, s)) return s;
  const uint32_t said = i.b ? ~w.pred(i.src[0]) : w.pred(i.src[0]);
  each_group(w, i.src[1], [&](uint32_t who) {
    const uint32_t yes = said & who;
    switch (static_cast<Vote>(i.a)) {
      case Vote::all: write_predicate(w, i.dst, yes == who ? ~0u : 0); break;
      case Vote::any: write_predicate(w, i.dst, yes ? ~0u : 0); break;
      case Vote::uni: write_predicate(w, i.dst, yes == 0 || yes == who ? ~0u : 0); break;
      case Vote::ballot: for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = yes; }); break;
    }
  });
  return Step::next;
}

template <class T>
Step match(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!met(w, i, i.src[1], kTogether, s)) return s;
  std::array<T, 32> v;
  for (uint32_t l = 0; l < 32; ++l) v[l] = w.reg<T>(i.src[0])[l];
  uint32_t equal_all = 0;
  each_group(w, i.src[1], [&](uint32_t who) {
    for_lanes(w.mask, [&](uint32_t l) {
      uint32_t same = 0;
      for (uint32_t m = who; m; m &= m - 1)
        if (v[lowest_lane(m)] == v[l]) same |= 1u << lowest_lane(m);
      const bool all = same == who;
      w.reg<uint32_t>(i.dst)[l] = i.a ? (all ? same : 0) : same;
      equal_all |= static_cast<uint32_t>(all) << l;
    });
  });
  if (i.a) write_predicate(w, i.src[2], equal_all);
  return Step::next;
}

enum class Reduce : uint8_t { add, min, max, and_, or_, xor_ };
constexpr std::string_view kReductions[] = {"add", "min", "max", "and", "or", "xor"};
template <class T>
Step redux(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!met(w, i, i.src[1], kTogether, s)) return s;
  each_group(w, i.src[1], [&](uint32_t who) {
    bool first = true;
    T r = 0;
    for (uint32_t m = who; m; m &= m - 1) {
      const T v = static_cast<T>(w.reg<uint32_t>(i.src[0])[lowest_lane(m)]);
      if (std::exchange(first, false)) {
        r = v;
        continue;
      }
      switch (static_cast<Reduce>(i.a)) {
        case Reduce::add: r = static_cast<T>(static_cast<uint32_t>(r) + static_cast<uint32_t>(v)); break;
        case Reduce::min: r = std::min(r, v); break;
        case Reduce::max: r = std::max(r, v); break;
        case Reduce::and_: r &= v; break;
        case Reduce::or_: r |= v; break;
        case Reduce::xor_: r ^= v; break;
      }
    }
    for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = static_cast<uint32_t>(r); });
  });
  return Step::next;
}

// The leader is the lowest lane of the member mask (ELECT-01, measured on an H200).
Step elect(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!met(w, i, i.src[0], kElected, s)) return s;
  each_group(w, i.src[0], [&](uint32_t who) {
    const uint32_t leader = lowest_lane(who ? who : w.mask);
    for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = leader; });
    write_predicate(w, i.src[1], 1u << leader);
  });
  return Step::next;
}

Step activemask(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = w.mask; });
  return Step::next;
}

void build_shfl(Builder& b) {
  Mode mode = Mode::up;
  bool found = false;
  for (size_t k = 0; k < 4 && !found; ++k)
    if (b.mods().take(kModes[k])) mode = static_cast<Mode>(k), found = true;
  const auto type = b.mods().take_type();
  if (!found || type != Type::b32) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(5, 5);
  const Operand& d = b.operand(0);
  const bool pair = d.kind == Operand::Kind::pair;
  bool ignored = false;
  const uint32_t dst = b.destination(pair ? d.parts[0] : d, Type::b32);
  std::vector<uint32_t> p;
  if (pair) p.push_back(b.predicate(d.parts[1], ignored));
  const std::array<uint32_t, 4> src{b.source(1, Type::b32), b.source(2, Type::b32), b.source(3, Type::b32),
                                    b.source(4, Type::b32)};
  Insn& i = b.emit(shfl);
  i.dst = dst, i.src = src, i.a = static_cast<uint8_t>(mode);
  i.list = b.list(p), i.list_count = i.list_dst = static_cast<uint32_t>(p.size());
}

void build_vote(Builder& b) {
  constexpr std::string_view kVotes[] = {"all", "any", "uni", "ballot"};
  for (uint8_t k = 0; k < 4; ++k) {
    if (!b.mods().take(kVotes[k])) continue;
    b.mods().take_type();
    b.expect_operands(3, 3);
    bool negated = false, ignored = false;
    const uint32_t dst = k == 3 ? b.destination(0, Type::b32) : b.predicate(b.operand(0), ignored);
    const uint32_t p = b.predicate(b.operand(1), negated), members = b.source(2, Type::b32);
    Insn& i = b.emit(vote);
    i.dst = dst, i.src = {p, members, kNone, kNone}, i.a = k, i.b = negated;
    return;
  }
  b.unsupported_form(b.insn().opcode);
}

void build_match(Builder& b) {
  const bool all = b.mnemonic() == "match.all" || b.mods().take("all");
  b.mods().take("any"), b.mods().take("sync");
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(3, 3);
  const Operand& d = b.operand(0);
  const bool pair = d.kind == Operand::Kind::pair;
  bool ignored = false;
  const uint32_t dst = b.destination(pair ? d.parts[0] : d, Type::b32),
                 p = pair ? b.predicate(d.parts[1], ignored) : kNone;
  const uint32_t a = b.source(1, *type), members = b.source(2, Type::b32);
  Insn& i = b.emit(row(*type).bits == 64 ? match<uint64_t> : match<uint32_t>);
  i.dst = dst, i.src = {a, members, p, kNone}, i.a = all;
}

void build_redux(Builder& b) {
  for (uint8_t k = 0; k < std::size(kReductions); ++k) {
    if (!b.mods().take(kReductions[k])) continue;
    const auto type = b.mods().take_type();
    if (!type || is_real(*type)) break;
    b.expect_operands(3, 3);
    const uint32_t dst = b.destination(0, *type), a = b.source(1, *type), members = b.source(2, Type::b32);
    Insn& i = b.emit(*type == Type::s32 ? redux<int32_t> : redux<uint32_t>);
    i.dst = dst, i.src = {a, members, kNone, kNone}, i.a = k;
    return;
  }
  b.unsupported_form(b.insn().opcode);
}

void build_elect(Builder& b) {
  b.expect_operands(2, 2);
  const Operand& d = b.operand(0);
  if (d.kind != Operand::Kind::pair || d.parts.size() != 2) return b.fail("elect.sync needs d|p");
  bool ignored = false;
  const uint32_t dst = b.destination(d.parts[0], Type::b32), p = b.predicate(d.parts[1], ignored);
  const uint32_t members = b.source(1, Type::b32);
  Insn& i = b.emit(elect);
  i.dst = dst, i.src = {members, p, kNone, kNone};
}

}  // namespace

void build_warp(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "shfl.sync") return build_shfl(b);
  if (op == "vote.sync") return build_vote(b);
  if (op.starts_with("match.")) return build_match(b);
  if (op == "redux.sync") return build_redux(b);
  if (op == "elect.sync") return build_elect(b);
  b.mods().take_type();
  const uint32_t dst = b.destination(0, Type::b32);
  b.emit(activemask).dst = dst;
}

}  // namespace tc::sim
