// mov (plain, pack, unpack, clocks), prmt, cvta, isspacep. PTX ISA 9.7.9.
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

template <class S>
Step copy(Warp& w, const Insn& i) {
  const S* a = w.reg<S>(i.src[0]);
  S* d = w.reg<S>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = a[l]; });
  return Step::next;
}
Step copy_predicate(Warp& w, const Insn& i) {
  const uint32_t a = i.a ? ~w.pred(i.src[0]) : w.pred(i.src[0]);
  w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | (a & w.mask);
  return Step::next;
}
// Time is the number of warp instructions that the CTA has executed.
template <class S>
Step read_clock(Warp& w, const Insn& i) {
  S* d = w.reg<S>(i.dst);
  const auto now = static_cast<S>(w.cta->time >> i.a);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = now; });
  return Step::next;
}
// mov.b64 d, {a, b}: i.a bits each, the first lowest.
Step pack(Warp& w, const Insn& i) {
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for_lanes(w.mask, [&](uint32_t l) {
    uint64_t v = 0;
    for (uint32_t k = 0; k < i.list_count; ++k) {
      const uint64_t part = w.reg<uint32_t>(list[k])[l];
      v |= (i.a == 32 ? part : part & ((1u << i.a) - 1)) << (k * i.a);
    }
    if (i.b) w.reg<uint64_t>(i.dst)[l] = v;
    else w.reg<uint32_t>(i.dst)[l] = static_cast<uint32_t>(v);
  });
  return Step::next;
}
Step unpack(Warp& w, const Insn& i) {
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for_lanes(w.mask, [&](uint32_t l) {
    const uint64_t v = i.b ? w.reg<uint64_t>(i.src[0])[l] : w.reg<uint32_t>(i.src[0])[l];
    for (uint32_t k = 0; k < i.list_count; ++k)
      if (list[k] != kNone)
        w.reg<uint32_t>(list[k])[l] = static_cast<uint32_t>(v >> (k * i.a)) & (i.a == 32 ? ~0u : (1u << i.a) - 1);
  });
  return Step::next;
}
// 128-bit registers: the low 64 bits of 32 lanes, then the high ones.
Step copy_128(Warp& w, const Insn& i) {
  for (uint32_t half : {0u, kHighLanes}) {
    const auto* a = w.reg<uint64_t>(i.src[0] + half);
    write_lanes(w.mask, w.reg<uint64_t>(i.dst + half), [=](uint32_t l) { return a[l]; });
  }
  return Step::next;
}
Step pack_128(Warp& w, const Insn& i) {
  for (uint32_t k = 0; k < 2; ++k) {
    const auto* a = w.reg<uint64_t>(w.cta->program.lists[i.list + k]);
    write_lanes(w.mask, w.reg<uint64_t>(i.dst + k * kHighLanes), [=](uint32_t l) { return a[l]; });
  }
  return Step::next;
}
Step unpack_128(Warp& w, const Insn& i) {
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t d = w.cta->program.lists[i.list + k];
    const auto* a = w.reg<uint64_t>(i.src[0] + k * kHighLanes);
    if (d != kNone) write_lanes(w.mask, w.reg<uint64_t>(d), [=](uint32_t l) { return a[l]; });
  }
  return Step::next;
}

// Byte k of the result: nibble k of the selector picks one of the eight bytes {b, a}; its top bit replicates the sign.
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  auto pick = [=](uint32_t s) {
    const uint32_t word = s & 4 ? b : a, byte = word >> (8 * (s & 3)) & 0xFF;
    const uint32_t sign = byte & 0x80 ? 0xFFu : 0u;
    return s & 8 ? sign : byte;
  };
  return pick(selector) | pick(selector >> 4) << 8 | pick(selector >> 8) << 16 | pick(selector >> 12) << 24;
}
// The other modes are permutations whose selector the low bits of c stand for: these, for c = 0, 1, 2, 3.
struct PermuteRow {
  std::string_view name;
  std::array<uint16_t, 4> selectors;
};
constexpr PermuteRow kPermutes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};
Step prmt(Warp& w, const Insn& i) {
  const auto *a = w.reg<uint32_t>(i.src[0]), *b = w.reg<uint32_t>(i.src[1]), *c = w.reg<uint32_t>(i.src[2]);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) { return permute(a[l], b[l], c[l]); });
  return Step::next;
}
Step prmt_mode(Warp& w, const Insn& i) {
  const auto *a = w.reg<uint32_t>(i.src[0]), *b = w.reg<uint32_t>(i.src[1]), *c = w.reg<uint32_t>(i.src[2]);
  const auto& selectors = kPermutes[i.a].selectors;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) { return permute(a[l], b[l], selectors[c[l] & 3]); });
  return Step::next;
}

uint64_t window(Space s) {
  switch (s) {
    case Space::shared: return kSharedWindow;
    case Space::local: return kLocalWindow;
    case Space::param: return kParamWindow;
    case Space::constant: return kConstWindow;
    case Space::global:
    case Space::generic: return 0;
  }
  return 0;
}
// Global addresses are generic ones; the others move into or out of their window.
template <class S>
Step add_window(Warp& w, const Insn& i) {
  const S* a = w.reg<S>(i.src[0]);
  S* d = w.reg<S>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = static_cast<S>(a[l] + i.imm); });
  return Step::next;
}
Step isspacep(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint64_t>(i.src[0]);
  uint32_t bits = 0;
  for (uint32_t l = 0; l < 32; ++l)
    bits |= static_cast<uint32_t>((i.a ? a[l] >= kGlobalWindow : a[l] - i.imm < kWindowBytes)) << l;
  w.pred(i.dst) = (w.pred(i.dst) & ~w.mask) | (bits & w.mask);
  return Step::next;
}

struct ClockRow {
  std::string_view name;
  uint8_t shift;
};
constexpr ClockRow kClocks[] = {{"%clock", 0},       {"%clock_hi", 32},      {"%clock64", 0},
                                {"%globaltimer", 0}, {"%globaltimer_lo", 0}, {"%globaltimer_hi", 32}};

bool build_clock(Builder& b, Type t) {
  for (const ClockRow& c : kClocks) {
    if (b.operand(1).name != c.name) continue;
    const uint32_t dst = b.destination(0, t);
    Insn& i = b.emit(row(t).bits == 64 ? read_clock<uint64_t> : read_clock<uint32_t>);
    i.dst = dst, i.a = c.shift;
    return true;
  }
  return false;
}

void build_pack_128(Builder& b, const std::vector<Operand>& parts, bool packs) {
  std::vector<uint32_t> registers;
  for (const Operand& o : parts) {
    if (!packs && o.kind == Operand::Kind::sink) registers.push_back(kNone);
    else registers.push_back(packs ? b.source(o, Type::b64) : b.destination(o, Type::b64));
  }
  const uint32_t whole = packs ? b.destination(0, Type::b128) : b.source(1, Type::b128);
  Insn& i = b.emit(packs ? pack_128 : unpack_128);
  (packs ? i.dst : i.src[0]) = whole;
  i.list = b.list(registers), i.list_count = 2, i.list_dst = packs ? 0 : 2;
}

void build_pack(Builder& b, Type t, bool packs) {
  const std::vector<Operand>& parts = b.operand(packs ? 1 : 0).parts;
  const uint32_t bits = parts.empty() ? 0 : row(t).bits / static_cast<uint32_t>(parts.size());
  if (row(t).bits == 128 && bits == 64) return build_pack_128(b, parts, packs);
  if (row(t).bits > 64 || (bits != 32 && bits != 16 && bits != 8)) return b.unsupported_form(b.insn().opcode);
  const Type part = bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8;
  std::vector<uint32_t> registers;
  for (const Operand& o : parts) {
    if (const auto type = b.register_type(o); type && row(*type).bits != bits)
      return b.fail("register " + o.name + " has not the " + std::to_string(bits) + " bits of a part in " +
                    b.insn().opcode);
    if (!packs && o.kind == Operand::Kind::sink) registers.push_back(kNone);
    else registers.push_back(packs ? b.source(o, part) : b.destination(o, part));
  }
  const uint32_t whole = packs ? b.destination(0, t) : b.source(1, t);
  Insn& i = b.emit(packs ? pack : unpack);
  (packs ? i.dst : i.src[0]) = whole;
  i.list = b.list(registers), i.list_count = static_cast<uint32_t>(registers.size());
  i.list_dst = packs ? 0 : i.list_count;
  i.a = static_cast<uint8_t>(bits), i.b = row(t).bits == 64;
}

void build_mov(Builder& b, Type t) {
  b.expect_operands(2, 2);
  if (t == Type::pred) {
    bool negated = false, ignored = false;
    const uint32_t dst = b.predicate(b.operand(0), ignored), a = b.predicate(b.operand(1), negated);
    Insn& i = b.emit(copy_predicate);
    i.dst = dst, i.src[0] = a, i.a = negated;
    return;
  }
  if (b.operand(1).kind == Operand::Kind::vector) return build_pack(b, t, true);
  if (b.operand(0).kind == Operand::Kind::vector) return build_pack(b, t, false);
  if (build_clock(b, t)) return;
  if (t == Type::b128) return b.emit_typed(copy_128, t, {t});
  const uint32_t dst = b.destination(0, t), a = b.source(1, t);
  Insn& i = b.emit(row(t).bits == 64 ? copy<uint64_t> : copy<uint32_t>);
  i.kind = InsnKind::move;
  i.dst = dst, i.src[0] = a, i.bytes = row(t).bits == 64 ? 8 : 4;
}

std::optional<Space> take_space(Builder& b) {
  for (std::string_view s : {"shared::cta", "shared::cluster"})
    if (b.mods().take(s)) return Space::shared;
  if (b.mods().take("param::entry")) return Space::param;
  for (size_t s = 1; s < ptx::kSpaceNames.size(); ++s)
    if (b.mods().take(ptx::kSpaceNames[s])) return static_cast<Space>(s);
  return std::nullopt;
}

void build_cvta(Builder& b) {
  const bool to = b.mods().take("to");
  const auto space = take_space(b);
  const auto type = b.mods().take_type();
  if (!space || !type) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(2, 2);
  const uint32_t dst = b.destination(0, *type), a = b.source(1, *type);
  const bool wide = row(*type).bits == 64;
  if (!wide) return b.unsupported_form("cvta of 32-bit addresses");
  Insn& i = b.emit(add_window<uint64_t>);
  i.dst = dst, i.src[0] = a;
  i.imm = to ? -window(*space) : window(*space);
}

}  // namespace

void build_move(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "cvta") return build_cvta(b);
  if (op == "isspacep") {
    const auto space = take_space(b);
    if (!space) return b.unsupported_form(b.insn().opcode);
    bool ignored = false;
    const uint32_t p = b.predicate(b.operand(0), ignored), a = b.source(1, Type::u64);
    Insn& i = b.emit(isspacep);
    i.dst = p, i.src[0] = a, i.imm = window(*space), i.a = *space == Space::global;
    return;
  }
  const auto type = b.mods().take_type();
  if (!type) return b.unsupported_form(b.insn().opcode);
  if (op == "mov") return build_mov(b, *type);
  const std::vector<Type> three(3, Type::b32);
  for (uint8_t k = 0; k < std::size(kPermutes); ++k) {
    if (!b.mods().take(kPermutes[k].name)) continue;
    b.emit_typed(prmt_mode, Type::b32, three);
    if (!b.failed()) b.program().code.back().a = k;
    return;
  }
  b.emit_typed(prmt, Type::b32, three);
}

}  // namespace tc::sim
