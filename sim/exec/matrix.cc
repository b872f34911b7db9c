// ldmatrix, stmatrix, movmatrix. PTX ISA 9.7.14.5.15-17; rules MMA-60 ... 63. A matrix is 8 or 16 rows of 16 bytes,
// each at the address that one lane names; what a register gets is in kMatrixForms.
//   m8n8.b16     register m, half h of lane 4g + t: row g, column 2t + h;   .trans: row 2t + h, column g
//   m8n16        register m, byte j: row g, column 4t + j, 6 or 4-bit elements spread to bytes
//   m16n16.trans registers 2m + r, byte j: row 4t + 2r + (j & 1), column g + 8 (j >> 1)
//   m16n8.trans  (store) register m, byte j: row 2t + (j & 1), column g + 8 (j >> 1) of 8 rows of 16 bytes
// The two 8-bit transpositions follow CuTe's layouts SM100_U8x8_LDSM_T and SM100_U8x4_STSM_T; no device has shown them.
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/mma_tile.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

enum class Packing : uint8_t { bytes, six_bits, four_bits };
struct MatrixForm {
  std::string_view name, shape, type, packing;
  bool needs_trans, may_trans;
  uint8_t rows, registers, most;  // of a matrix; matrices of one instruction
  TargetNeed need;
  std::string_view rule;
};
constexpr TargetNeed kByteForms{100, TargetFeature::specific};
constexpr MatrixForm kMatrixForms[] = {
    {"ldmatrix", "m8n8", "b16", "", false, true, 8, 1, 4, {75, TargetFeature::any}, "MMA-60"},
    {"ldmatrix", "m8n16", "b8x16", "b6x16_p32", false, false, 8, 1, 4, kByteForms, "MMA-61"},
    {"ldmatrix", "m8n16", "b8x16", "b4x16_p64", false, false, 8, 1, 4, kByteForms, "MMA-61"},
    {"ldmatrix", "m16n16", "b8", "", true, true, 16, 2, 2, kByteForms, "MMA-61"},
    {"ldmatrix", "m16n16", "b8x16", "b6x16_p32", true, true, 16, 2, 2, kByteForms, "MMA-61"},
    {"ldmatrix", "m16n16", "b8x16", "b4x16_p64", true, true, 16, 2, 2, kByteForms, "MMA-61"},
    {"stmatrix", "m8n8", "b16", "", false, true, 8, 1, 4, {90, TargetFeature::any}, "MMA-62"},
    {"stmatrix", "m16n8", "b8", "", true, true, 8, 1, 4, kByteForms, "MMA-62"},
};

uint32_t lanes_below(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// Shared addresses of the rows, one a lane; false after a trap.
bool row_addresses(Warp& w, const Insn& i, uint32_t rows, LaneAddresses& at) {
  addresses(w, i, at);
  for (uint32_t l = 0; l < rows; ++l) {
    uint32_t shared = 0;
    if (!shared_address(w, i, at.at[l], kPanelBytes, kPanelBytes, shared)) return false;
    at.at[l] = shared;
  }
  return true;
}

// Elements of one row to bytes: 6-bit ones to bits 5:0, 4-bit ones to bits 5:2 (MMA-20).
void unpack_row(const uint8_t* from, Packing packing, uint8_t* to) {
  for (uint32_t e = 0; e < 16; ++e) {
    if (packing == Packing::bytes) to[e] = from[e];
    else if (packing == Packing::four_bits) to[e] = static_cast<uint8_t>((from[e / 2] >> (4 * (e & 1)) & 0xF) << 2);
    else {
      const uint32_t bit = 6 * e, word = from[bit / 8] | uint32_t{from[bit / 8 + 1]} << 8;
      to[e] = word >> (bit % 8) & 0x3F;
    }
  }
}

// Where 16-bit half or byte x (0 ... 1, or 0 ... 3) of register r of a matrix lies: row, byte offset.
struct ElementPlace {
  uint32_t row, byte;
};
ElementPlace element_place(const MatrixForm& f, bool trans, uint32_t lane, uint32_t r, uint32_t x) {
  const uint32_t g = lane / 4, t = lane % 4;
  if (f.type == "b16") return trans ? ElementPlace{2 * t + x, 2 * g} : ElementPlace{g, 2 * (2 * t + x)};
  if (f.shape == "m8n16") return {g, 4 * t + x};
  if (f.shape == "m16n16") return {4 * t + 2 * r + (x & 1), g + 8 * (x >> 1)};
  return {2 * t + (x & 1), g + 8 * (x >> 1)};
}

// Registers of lanes all of whose elements lie in rows that nobody has written are undefined.
void undefine_rows(Warp& w, const Insn& i, const LaneAddresses& at, uint32_t rows, uint32_t per_register) {
  const uint32_t unwritten = undefined_shared(w, at, lanes_below(rows), kPanelBytes);
  if (unwritten == 0) return;
  const MatrixForm& f = kMatrixForms[i.a];
  const UndefinedCause cause{UndefinedCause::Kind::shared, static_cast<uint32_t>(at.at[lowest_lane(unwritten)]), i.place};
  for (uint32_t k = 0; k < i.list_count; ++k) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) {
      bool all = true;
      for (uint32_t x = 0; x < per_register; ++x) {
        const uint32_t row = element_place(f, i.c, l, k % f.registers, x).row;
        all &= (unwritten >> (f.rows * (k / f.registers) + row) & 1) != 0;
      }
      lanes |= all ? 1u << l : 0;
    }
    undefine(w, w.cta->program.lists[i.list + k], lanes, cause);
  }
}

// Insn: list registers; a = index into kMatrixForms, c = .trans, d = matrices.
template <bool Store>
Step move_matrices(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!whole_warp(w, i, s)) return s;
  const MatrixForm& f = kMatrixForms[i.a];
  LaneAddresses at;
  const uint32_t rows = f.rows * uint32_t{i.d};
  if (!row_addresses(w, i, rows, at)) return Step::trap;
  const uint32_t* list = c.program.lists.data() + i.list;
  const uint32_t element = f.type == "b16" ? 2 : 1, per_register = 4 / element;
  const Packing packing = f.packing.empty()     ? Packing::bytes
                          : f.packing[1] == '6' ? Packing::six_bits
                                                : Packing::four_bits;
  for (uint32_t m = 0; m < i.d; ++m) {
    uint8_t rows_of[16][kPanelBytes];
    for (uint32_t r = 0; r < f.rows && !Store; ++r)
      unpack_row(c.shared.data() + at.at[f.rows * m + r], packing, rows_of[r]);
    for (uint32_t r = 0; r < f.registers; ++r) {
      auto* reg = w.reg<uint8_t>(list[f.registers * m + r]);
      if (!Store && element == 2 && !i.c) {  // rows of the matrix are the register's rows
        std::memcpy(reg, rows_of, 8 * kPanelBytes);
        continue;
      }
      for (uint32_t l = 0; l < 32; ++l)
        for (uint32_t x = 0; x < per_register; ++x) {
          const ElementPlace p = element_place(f, i.c, l, r, x);
          if (Store) std::memcpy(&rows_of[p.row][p.byte], reg + 4 * l + element * x, element);
          else std::memcpy(reg + 4 * l + element * x, &rows_of[p.row][p.byte], element);
        }
    }
    for (uint32_t r = 0; r < f.rows && Store; ++r)
      std::memcpy(c.shared.data() + at.at[f.rows * m + r], rows_of[r], kPanelBytes);
  }
  if (Store) ++c.progress;
  if (c.race) note_own_shared(w, i, at, lanes_below(rows), kPanelBytes, Store ? Access::write : Access::read);
  if (!Store) undefine_rows(w, i, at, rows, per_register);
  return Step::next;
}

// movmatrix: the transposed 8x8 matrix of 16-bit elements.
Step transpose_matrix(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!whole_warp(w, i, s)) return s;
  uint16_t rows[8][8];
  std::memcpy(rows, w.reg<uint8_t>(i.src[0]), sizeof rows);
  auto* to = w.reg<uint16_t>(i.dst);
  for (uint32_t r = 0; r < 8; ++r)
    for (uint32_t c = 0; c < 8; ++c) to[8 * r + c] = rows[c][r];
  return Step::next;
}

void build_movmatrix(Builder& b) {
  if (!b.mods().take("m8n8") || !b.mods().take("trans") || !b.mods().take("b16"))
    return b.refuse("MMA-60", "movmatrix has the form .m8n8.trans.b16");
  b.need_target({75, TargetFeature::any}, "MMA-60");
  b.expect_operands(2, 2);
  const uint32_t dst = b.destination(0, Type::b32), src = b.source(1, Type::b32);
  Insn& i = b.emit(transpose_matrix);
  i.dst = dst, i.src[0] = src;
}

const MatrixForm* find_form(Builder& b, std::string_view shape) {
  for (const MatrixForm& f : kMatrixForms)
    if (f.name == b.mnemonic() && f.shape == shape && b.mods().take(f.type)) {
      if (f.type != "b8x16") return &f;
      for (const MatrixForm& packed : kMatrixForms)
        if (packed.shape == shape && !packed.packing.empty() && b.mods().take(packed.packing)) return &packed;
    }
  return nullptr;
}

}  // namespace

void build_matrix(Builder& b) {
  const bool store = b.mnemonic() == "stmatrix";
  b.mods().take("sync");
  if (!b.mods().take("aligned")) return b.refuse("MMA-60", b.mnemonic() + " needs .aligned");
  if (b.mnemonic() == "movmatrix") return build_movmatrix(b);
  const bool trans = b.mods().take("trans");
  const uint8_t count = b.mods().take("x1") ? 1 : b.mods().take("x2") ? 2 : b.mods().take("x4") ? 4 : 0;
  const Space space = take_space(b);
  if (count == 0 || (space != Space::shared && space != Space::generic)) return b.unsupported_form(b.insn().opcode);
  const auto shape = b.mods().take_any();
  const MatrixForm* f = shape ? find_form(b, *shape) : nullptr;
  if (!f || count > f->most)
    return b.refuse(store ? "MMA-62" : f ? f->rule : "MMA-63", b.mnemonic() + " has no such form: " + b.insn().opcode);
  if (trans ? !f->may_trans : f->needs_trans)
    return b.refuse(f->rule, std::string(f->shape) + (trans ? " has no .trans" : " needs .trans"));
  b.need_target(f->need, f->rule);
  b.expect_operands(2, 2);
  const Operand& data = b.operand(store ? 1 : 0);
  const std::vector<Operand> parts = data.kind == Operand::Kind::vector ? data.parts : std::vector<Operand>{data};
  if (parts.size() != size_t{count} * f->registers) return b.fail("wrong number of registers");
  std::vector<uint32_t> registers;
  for (const Operand& o : parts) registers.push_back(store ? b.source(o, Type::b32) : b.destination(o, Type::b32));
  const AddressOperand a = b.address(b.operand(store ? 0 : 1));
  if (b.failed()) return;
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(store ? move_matrices<true> : move_matrices<false>);
  set_address(i, a);
  i.a = static_cast<uint8_t>(f - kMatrixForms), i.c = trans, i.d = count;
  i.list = at, i.list_count = static_cast<uint32_t>(registers.size()), i.list_dst = store ? 0 : i.list_count;
}

}  // namespace tc::sim
