// wmma.load, wmma.store, wmma.mma. PTX ISA 9.7.14.4. The map of a wmma fragment is the machine's own affair; here it is
// that of mma.sync (specs/mma.h): panels of eight rows, row blocks first. wmma.mma is an mma of its own shapes.
// A matrix in memory is `lines` of consecutive elements, `stride` elements apart: rows, or columns with .col.
// Every lane names the same address; lane 0's is used. For the race checker lane x accesses line x.
#include <algorithm>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/mma_form.h"
#include "sim/exec/mma_tile.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// How the elements lie in registers: bits of one, rows and columns of the fragment (B: n and k), pairs: accumulators of
// 32 or 64 bits, whose even and odd columns have registers of their own.
struct Fragment {
  uint32_t rows = 0, columns = 0, bits = 0;
  bool pairs = false;
  uint32_t registers = 0;
};

// Insn: src[0], imm address; src[1] stride register; list registers; a = space (AccessFlag conventions), c = rows / 8,
// d = columns / 4, bytes = bits | flags.
enum Flag : uint16_t {
  kBitsMask = 0x7F,
  kPairs = 0x80,
  kAcross = 0x100
};  // kAcross: lines are columns of the fragment

Fragment fragment_of(const Insn& i) {
  return {8u * i.c, 4u * i.d, static_cast<uint32_t>(i.bytes & kBitsMask), (i.bytes & kPairs) != 0, i.list_count};
}

// The place of element (row, column) in the register file: the first byte. Elements narrower than a byte are not split:
// column is that of a whole byte.
uint8_t* element_at(Warp& w, const Fragment& f, const uint32_t* list, uint32_t row, uint32_t column, uint32_t copy) {
  const uint32_t blocks = f.rows / 8;
  if (f.pairs) {
    const uint32_t block = column / 8 * blocks + row / 8, lane = 4 * (row % 8) + column % 8 / 2;
    return w.reg<uint8_t>(list[2 * block + column % 2]) + lane * f.bits / 8;
  }
  const uint32_t row_bytes = f.bits == 64 ? 32 : kPanelBytes, width = row_bytes * 8 / f.bits;
  const uint32_t panel = column / width * blocks + row / 8 + copy;
  return w.reg<uint8_t>(list[panel]) + row % 8 * row_bytes + column % width * f.bits / 8;
}

// Line x is lane x's; told in pieces of 16 bytes, where the lines are not aligned to that of one byte.
void note_lines(Warp& w, const Insn& i, Space space, const LaneAddresses& at, uint32_t lines, uint32_t bytes,
                Access kind) {
  const uint32_t lanes = lines >= 32 ? ~0u : (1u << lines) - 1;
  const bool aligned = std::all_of(at.at.begin(), at.at.begin() + lines, [](uint64_t a) { return a % 16 == 0; });
  const uint32_t piece = aligned && bytes % 16 == 0 ? 16 : 1;
  for (uint32_t x = 0; x < bytes; x += piece) {
    LaneAddresses moved = at;
    for (uint64_t& a : moved.at) a += x;
    if (space == Space::shared) note_own_shared(w, i, moved, lanes, piece, kind);
    else if (space == Space::global) w.cta->race->global(w.agent, lanes, moved.at.data(), piece, kind, i.place);
  }
}

template <bool Store>
Step move_fragment(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!whole_warp(w, i, s)) return s;
  const Fragment f = fragment_of(i);
  const bool across = i.bytes & kAcross;
  const uint32_t lines = across ? f.columns : f.rows, length = across ? f.rows : f.columns,
                 line_bytes = length * f.bits / 8;
  const uint32_t lead = lowest_lane(w.mask);
  const int64_t stride = i.src[1] == kNone ? length : w.reg<int32_t>(i.src[1])[lead];
  LaneAddresses at;
  addresses(w, i, at);
  uint64_t base = at.at[lead];
  Space space = static_cast<Space>(i.a);
  if (space == Space::generic) space = resolve(base);
  if (space == Space::shared) {
    uint32_t shared = 0;
    if (!shared_address(w, i, base, line_bytes, 1, shared)) return Step::trap;
    base = shared;
  }
  const uint32_t* list = c.program.lists.data() + i.list;
  const uint32_t used =
      f.pairs ? f.registers : f.rows / 8 * (f.columns * f.bits / 8 / (f.bits == 64 ? 32 : kPanelBytes));
  const uint32_t unit = f.bits < 8 ? 8 / f.bits : 1, unit_bytes = f.bits < 8 ? 1 : f.bits / 8;
  for (uint32_t line = 0; line < lines; ++line) {
    at.at[line] = base + static_cast<uint64_t>(line * stride * static_cast<int64_t>(f.bits) / 8);
    uint8_t* memory = host_memory(w, i, lead, space, at.at[line], line_bytes, Store);
    if (!memory) return Step::trap;
    for (uint32_t x = 0; x < length; x += unit, memory += unit_bytes) {
      const uint32_t row = across ? x : line, column = across ? line : x;
      if (Store) std::memcpy(memory, element_at(w, f, list, row, column, 0), unit_bytes);
      for (uint32_t copy = 0; !Store && copy < f.registers; copy += used)
        std::memcpy(element_at(w, f, list, row, column, copy), memory, unit_bytes);
    }
  }
  if (Store) ++c.progress;
  if (c.race) note_lines(w, i, space, at, lines, line_bytes, Store ? Access::write : Access::read);
  // A fragment of which nothing is written is undefined.
  const uint32_t named = lines >= 32 ? ~0u : (1u << lines) - 1;
  if (!Store && space == Space::shared && undefined_shared(w, at, named, line_bytes) == named)
    for (uint32_t k = 0; k < f.registers; ++k)
      undefine(w, list[k], ~0u, {UndefinedCause::Kind::shared, static_cast<uint32_t>(at.at[0]), i.place});
  return Step::next;
}

// Is there a wmma shape with A and B, or accumulators, of this type?
bool has_fragment(PtxTarget target, const ParsedMma& p, MmaType type, bool accumulator) {
  const uint8_t acc = type == MmaType::f16   ? kAccF16
                      : type == MmaType::f32 ? kAccF32
                      : type == MmaType::s32 ? kAccS32
                      : type == MmaType::f64 ? kAccF64
                                             : 0;
  for (const MmaShape& s : kMmaShapes)
    if (s.kind == MmaKind::wmma && s.m == p.m && s.n == p.n && s.k == p.k && satisfies(target, s.need) &&
        (accumulator ? s.accumulators & acc : s.group.types & bit(type)))
      return true;
  return false;
}

void build_fragment_move(Builder& b) {
  const std::string& op = b.mnemonic();
  const bool store = op == "wmma.store.d";
  const char which = op.back();
  b.mods().take("sync"), b.mods().take("aligned");
  ParsedMma p;
  if (!take_mma_shape(b, p)) return b.refuse("MMA-18", "wmma has no such shape: " + b.insn().opcode);
  const Space space = take_space(b);
  const std::string layout = take_layout(b);
  const auto word = b.mods().take_any();
  const MmaType type = (word ? mma_type_named(*word) : std::nullopt).value_or(MmaType::e2m1);
  const bool accumulator = which == 'c' || which == 'd';
  if (layout.empty() || !has_fragment(b.target(), p, type, accumulator))
    return b.refuse("MMA-18", "wmma has no such form: " + b.insn().opcode);
  Fragment f;
  f.bits = row(type).bits;
  f.rows = which == 'b' ? p.n : p.m, f.columns = accumulator ? p.n : p.k;
  f.pairs = accumulator && f.bits >= 32;
  f.registers =
      !accumulator && type == MmaType::f16 ? kWmmaHalfRegisters : fragment_registers(f.rows * f.columns, f.bits);
  const bool natural = (layout == "row") == (which != 'b');  // lines of memory are rows of the fragment
  if (!natural && f.bits < 8) return b.refuse("MMA-18", "wmma of narrow types is .row for A, .col for B");
  b.expect_operands(2, 3);
  const Operand& data = b.operand(store ? 1 : 0);
  const std::vector<Operand> parts = data.kind == Operand::Kind::vector ? data.parts : std::vector<Operand>{data};
  if (parts.size() != f.registers) return b.fail("this fragment has " + std::to_string(f.registers) + " registers");
  std::vector<uint32_t> registers;
  const Type slot = f.bits == 64 ? Type::b64 : Type::b32;
  for (const Operand& o : parts) registers.push_back(store ? b.source(o, slot) : b.destination(o, slot));
  const AddressOperand a = b.address(b.operand(store ? 0 : 1));
  const uint32_t stride = b.operand_count() == 3 ? b.source(2, Type::s32) : kNone;
  if (b.failed()) return;
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(store ? move_fragment<true> : move_fragment<false>);
  set_address(i, a);
  i.src[1] = stride;
  i.a = static_cast<uint8_t>(space), i.c = static_cast<uint8_t>(f.rows / 8), i.d = static_cast<uint8_t>(f.columns / 4);
  i.bytes = static_cast<uint16_t>(f.bits | (f.pairs ? kPairs : 0) | (natural ? 0 : kAcross));
  i.list = at, i.list_count = f.registers, i.list_dst = store ? 0 : f.registers;
}

void build_fragment_product(Builder& b) {
  ParsedMma p;
  p.kind = MmaKind::wmma;
  b.mods().take("sync"), b.mods().take("aligned");
  if (b.mods().take("popc"))
    p.op = b.mods().take("xor") ? BitOp::xor_popc : b.mods().take("and") ? BitOp::and_popc : BitOp::none;
  if (!take_mma_shape(b, p)) return b.refuse("MMA-18", "wmma has no such shape: " + b.insn().opcode);
  p.saturate = b.mods().take("satfinite");
  b.mods().take("rn");
  p.layout_a = take_layout(b), p.layout_b = take_layout(b);
  std::vector<MmaType> types;
  while (const auto word = b.mods().take_any()) {
    const auto t = mma_type_named(*word);
    if (!t) return b.refuse("MMA-18", "wmma has no such form: " + b.insn().opcode);
    types.push_back(*t);
  }
  if (types.size() == 2) types = {types[0], MmaType::f16, MmaType::f16, types[1]};
  if (types.size() != 4 || p.layout_a.empty() || p.layout_b.empty())
    return b.refuse("MMA-18", "wmma has no such form: " + b.insn().opcode);
  p.d = types[0], p.a = types[1], p.b = types[2], p.c = types[3];
  if (p.saturate && p.d != MmaType::s32) return b.unsupported_form("wmma.mma.satfinite of floats");
  if (const MmaShape* s = find_mma_shape(b, p)) emit_mma(b, *s, p);
}

}  // namespace

void build_wmma(Builder& b) { b.mnemonic() == "wmma.mma" ? build_fragment_product(b) : build_fragment_move(b); }

}  // namespace tc::sim
