#include "sim/machine/undefined.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>

#include "sim/machine/cta.h"

namespace tc::sim {

void UndefinedRegisters::set(uint32_t at, uint32_t mask, uint32_t lanes, const UndefinedCause& cause) {
  if (at == kNone) return;
  const uint32_t before = this->lanes(at), now = (before & ~mask) | (lanes & mask);
  if (now == before && !(lanes & mask)) return;
  uint64_t& some = some_[at / kSlot / 64];
  const uint64_t bit = uint64_t{1} << (at / kSlot % 64);
  if (now == 0) {
    of_.erase(at);
    some &= ~bit;
    return;
  }
  Entry& e = of_[at];
  e.lanes = now;
  if (lanes & mask) e.cause = cause;
  some |= bit;
}

void undefine(Warp& w, uint32_t at, uint32_t lanes, const UndefinedCause& cause) {
  if (lanes == 0) return;
  if (!w.undefined) w.undefined = std::make_unique<UndefinedRegisters>(w.cta->program.register_bytes);
  w.undefined->set(at, lanes, lanes, cause);
}

void undefine_unwritten(Warp& w, const CalledFunction* function, uint32_t lanes) {
  const auto& registers = function ? function->unwritten : w.cta->program.unwritten;
  for (uint32_t at : registers) undefine(w, at, lanes, {UndefinedCause::Kind::reg, at, kNone});
}

// ---------------------------------------------------------------- reports

namespace {

std::string hex(uint32_t v) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", v);
  return text;
}

Diag unwritten_register(const Cta& c, const Insn& i, const UndefinedCause& cause, const std::string& thread,
                        const char* what) {
  const Program& p = c.program;
  const auto d = std::ranges::find(p.declared, cause.at, &Program::DeclaredRegister::at);
  assert(d != p.declared.end() && "only declared registers are undefined when a kernel or function starts");
  const Program::RegisterNames& names = p.register_names[d->names];
  const std::string name = names.name + (d->number == kNone ? "" : std::to_string(d->number));
  Diag out = c.violation("BOUND-02", i.place,
                         std::string(what) + " comes from register " + name + ", which nothing has written" + thread);
  if (cause.place != kNone) out.notes.push_back({p.places[cause.place].where.front(), "it is computed with here first"});
  out.notes.push_back({names.where, "the register is declared here"});
  return out;
}

}  // namespace

void report_undefined(Warp& w, const Insn& i, uint32_t at, uint32_t lanes, const char* what) {
  lanes &= w.undefined ? w.undefined->lanes(at) : 0;
  if (lanes == 0) return;
  Cta& c = *w.cta;
  const UndefinedCause cause = w.undefined->cause(at);
  w.undefined->define(at, lanes);
  const std::string thread =
      " (thread " + std::to_string(32 * w.index + static_cast<uint32_t>(std::countr_zero(lanes))) + ")";
  if (cause.kind == UndefinedCause::Kind::reg) return c.finding(unwritten_register(c, i, cause, thread, what));
  const std::string read = cause.kind == UndefinedCause::Kind::local
                               ? "the thread has never written its local memory at " + hex(cause.at)
                               : "nothing has written " + c.shared_text(cause.at);
  Diag d = c.violation("BOUND-02", cause.place, read + ", which is read here" + thread);
  d.notes.push_back({c.program.places[i.place].where.front(), "it becomes " + std::string(what)});
  c.finding(std::move(d));
}

uint32_t undefined_values(const Warp& w, const Insn& i, uint32_t lanes) {
  if (i.passing == Passing::operands || !w.undefined || !w.undefined->any() || i.list_count == i.list_dst) return 0;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for (uint32_t k = i.list_dst; k < i.list_count && lanes; ++k) lanes &= w.undefined->lanes(list[k]);
  return lanes;
}

// ---------------------------------------------------------------- what becomes of it

namespace {

// One instruction of some lanes.
class Follower {
 public:
  Follower(Warp& w, const Insn& i, uint32_t mask)
      : w_(w), i_(i), mask_(mask), u_(*w.undefined), list_(w.cta->program.lists.data() + i.list) {}

  void run() {
    switch (i_.passing) {
      case Passing::any: return give(any());
      case Passing::all: return give(all());
      case Passing::conjunction: return give(decided(i_.a & 1, i_.a & 2, false));
      case Passing::disjunction: return give(decided(i_.a & 1, i_.a & 2, true));
      case Passing::compare: return give(compared());
      case Passing::select: return give(selected());
      case Passing::lanes: return give(across_lanes());
      case Passing::load:
      case Passing::store: report_undefined(w_, i_, i_.src[0], mask_, "an address"); return give(0);
      case Passing::product: return product();
      case Passing::wgmma: return wgmma();
      case Passing::operands: report_sources("an operand"); return give(0);
      case Passing::nothing: return give(0);
    }
  }

  void report_sources(const char* what) {
    for (uint32_t k = 0; k < i_.src.size(); ++k)
      if (k != i_.result) report_undefined(w_, i_, i_.src[k], mask_, what);
    for (uint32_t k = i_.list_dst; k < i_.list_count; ++k) report_undefined(w_, i_, list_[k], mask_, what);
  }

 private:
  uint32_t lanes(uint32_t at) const { return u_.lanes(at) & mask_; }
  // Remembers where what is undefined came from.
  uint32_t from(uint32_t at) {
    const uint32_t l = lanes(at);
    if (l) cause_ = u_.cause(at);
    if (cause_.place == kNone && i_.passing != Passing::all && i_.passing != Passing::select) cause_.place = i_.place;
    return l;
  }
  void give(uint32_t at, uint32_t lanes) { u_.set(at, mask_, lanes, cause_); }
  void give(uint32_t lanes) {
    give(i_.dst, lanes);
    if (i_.result != UINT8_MAX) give(i_.src[i_.result], lanes);
    for (uint32_t k = 0; k < i_.list_dst; ++k) give(list_[k], lanes);
  }

  uint32_t any() {
    uint32_t out = 0;
    for (uint32_t k = 0; k < i_.src.size(); ++k)
      if (k != i_.result) out |= from(i_.src[k]);
    for (uint32_t k = i_.list_dst; k < i_.list_count; ++k) out |= from(list_[k]);
    return out;
  }
  uint32_t all() {
    uint32_t out = ~0u;
    bool some = false;
    auto piece = [&](uint32_t at) {
      if (at != kNone) out &= from(at), some = true;
    };
    piece(i_.src[0]), piece(i_.src[1]);
    for (uint32_t k = i_.list_dst; k < i_.list_count; ++k) piece(list_[k]);
    return some ? out : 0;
  }
  // Of two predicates combined: where a defined one has the value that decides, the other does not matter.
  uint32_t decided(bool first_negated, bool second_negated, bool deciding) {
    return undecided(i_.src[0], first_negated, i_.src[1], second_negated, deciding);
  }
  uint32_t undecided(uint32_t x, bool x_negated, uint32_t y, bool y_negated, bool deciding) {
    const uint32_t ux = from(x), uy = from(y);
    auto decides = [&](uint32_t at, bool negated) {
      const uint32_t value = negated ? ~w_.pred(at) : w_.pred(at);
      return (deciding ? value : ~value) & ~lanes(at);
    };
    return (ux & ~decides(y, y_negated)) | (uy & ~decides(x, x_negated));
  }
  // Insn::a 1: and, 2: or with the predicate src[2], negated where Insn::b is (sim/exec/compare.cc).
  uint32_t compared() {
    const uint32_t values = from(i_.src[0]) | from(i_.src[1]);
    if (i_.src[2] == kNone) return values;
    const uint32_t other = i_.b ? ~w_.pred(i_.src[2]) : w_.pred(i_.src[2]), undefined = from(i_.src[2]);
    const uint32_t decided = i_.a == 1 ? ~other : i_.a == 2 ? other : 0;
    return (values & ~(decided & ~undefined)) | undefined;
  }
  uint32_t selected() {
    const uint32_t p = i_.a ? ~w_.pred(i_.src[2]) : w_.pred(i_.src[2]);
    const uint32_t first = from(i_.src[0]), second = from(i_.src[1]);
    return (first & p) | (second & ~p) | from(i_.src[2]);
  }
  uint32_t across_lanes() { return from(i_.src[0]) == mask_ ? mask_ : 0; }

  // Quads of lanes in which every `step`-th register from `first` is undefined in all four.
  uint32_t whole_quads(const uint32_t* registers, uint32_t first, uint32_t count, uint32_t step) {
    uint32_t out = ~0u;
    for (uint32_t r = first; r < count; r += step) out &= from(registers[r]);
    if (first >= count) return 0;
    out &= out >> 1, out &= out >> 2;
    return (out & 0x11111111) * 0xF;
  }
  // Rows of D where a row of A is undefined: `blocks` of 8 rows, register r of A in block r % blocks; the results of a
  // block come `per` behind each other.
  void rows(const uint32_t* a, uint32_t count, uint32_t blocks, uint32_t per, std::vector<uint32_t>& d) {
    for (uint32_t h = 0; h < blocks; ++h)
      if (const uint32_t l = whole_quads(a, h, count, blocks))
        for (size_t r = 0; r < d.size(); ++r)
          if (r / per % blocks == h) d[r] |= l;
  }
  // Columns of D where one of B is: quad n has column n, which is result n % 2 of the lanes 4g + n / 2.
  void columns(const uint32_t* b, uint32_t count, uint32_t per, std::vector<uint32_t>& d) {
    const uint32_t quads = whole_quads(b, 0, count, 1);
    for (uint32_t t = 0; t < 4 && quads; ++t) {
      const uint32_t both = quads >> (8 * t) & 0x11, lanes_of_t = 0x11111111u << t;
      for (uint32_t r = 0; r < d.size(); ++r) {
        const bool hit = per == 1 ? both == 0x11 : (both >> (4 * (r % 2)) & 1) != 0;
        if (hit) d[r] |= lanes_of_t;
      }
    }
  }
  void product() {
    const uint32_t nd = i_.list_dst, na = i_.bytes, nb = i_.vector, blocks = i_.d;
    const uint32_t *a = list_ + nd, *b = a + na, *c = b + nb;
    if (mask_ != ~0u || nd + na + nb + nd > i_.list_count) return give(0);
    std::vector<uint32_t> d(nd);
    for (uint32_t r = 0; r < nd; ++r) d[r] = from(c[r]);
    if (blocks && nd % blocks == 0) {
      rows(a, na, blocks, nd / blocks, d);
      columns(b, nb, nd / blocks, d);
    } else if (whole_quads(a, 0, na, 1) == ~0u || whole_quads(b, 0, nb, 1) == ~0u) {
      std::ranges::fill(d, ~0u);
    }
    for (uint32_t r = 0; r < nd; ++r) give(list_[r], d[r]);
  }
  void wgmma() {
    for (uint32_t k : {0u, 1u}) report_undefined(w_, i_, i_.src[k], mask_, "a matrix descriptor");
    report_undefined(w_, i_, i_.src[2], mask_, "whether a wgmma accumulates");
    const bool accumulates = ((w_.pred(i_.src[2]) & 1) != 0) != (i_.b != 0);
    std::vector<uint32_t> d(i_.list_dst);
    for (size_t r = 0; r < d.size() && accumulates; ++r) d[r] = from(list_[r]);
    constexpr uint32_t kBlocks = 2, kFragment = 4;  // 16 rows a warp
    if (i_.src[0] == kNone && mask_ == ~0u) rows(list_ + i_.list_dst, kFragment, kBlocks, i_.c ? 1 : 2, d);
    for (size_t r = 0; r < d.size(); ++r) give(list_[r], d[r]);
  }

  Warp& w_;
  const Insn& i_;
  const uint32_t mask_;
  UndefinedRegisters& u_;
  const uint32_t* list_;
  UndefinedCause cause_{};
};

}  // namespace

void follow_undefined(Warp& w, const Insn& i, uint32_t path, uint32_t mask) {
  const bool branches = i.kind == InsnKind::branch;
  report_undefined(w, i, i.guard, path, branches ? "the condition of a branch" : "the guard of an instruction");
  if (mask == 0 || branches) return;
  Follower f(w, i, mask);
  if (i.kind == InsnKind::branch_table || i.kind == InsnKind::call) f.report_sources("where to go");
  else f.run();
}

}  // namespace tc::sim
