// ldmatrix, stmatrix (m8n8.b16) and mma.sync of 16-bit floats. PTX ISA 9.7.14.5; rules MMA-02 ... 04, MMA-30, 31,
// 34, 60. Lanes 8m ... 8m+7 give the row addresses of matrix m; lane l holds row l/4, columns 2(l%4) and +1; .trans
// swaps.
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/collective.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// Shared addresses of the rows; false after a trap. `count` matrices.
bool row_addresses(Warp& w, const Insn& i, uint32_t count, LaneAddresses& at) {
  addresses(w, i, at);
  for (uint32_t l = 0; l < 8 * count; ++l) {
    uint32_t shared = 0;
    if (!shared_address(w, i, at.at[l], 16, 16, shared)) return false;
    at.at[l] = shared;
  }
  return true;
}
uint32_t lanes_below(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

template <bool Store>
Step move_matrices(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!gathered(w, ~0u, s)) return s;
  LaneAddresses at;
  const uint32_t count = i.list_count;
  if (!row_addresses(w, i, count, at)) return Step::trap;
  const uint32_t* list = c.program.lists.data() + i.list;
  for (uint32_t m = 0; m < count; ++m)
    for (uint32_t l = 0; l < 32; ++l)
      for (uint32_t h = 0; h < 2; ++h) {
        const uint32_t r = l / 4, col = 2 * (l % 4) + h;
        const uint32_t row = i.c ? col : r, column = i.c ? r : col;
        uint8_t* p = c.shared.data() + at.at[8 * m + row] + 2 * column;
        uint32_t& reg = w.reg<uint32_t>(list[m])[l];
        uint16_t v;
        if (Store) {
          v = static_cast<uint16_t>(reg >> (16 * h));
          std::memcpy(p, &v, 2);
        } else {
          std::memcpy(&v, p, 2);
          reg = (reg & ~(0xFFFFu << (16 * h))) | static_cast<uint32_t>(v) << (16 * h);
        }
      }
  if (Store) ++c.progress;
  if (c.race) note_own_shared(w, i, at, lanes_below(8 * count), 16, Store ? Access::write : Access::read);
  return Step::next;
}

// Insn: list = D, A, B, C registers; a = registers of A (2 for k8, 4 for k16); b = bf16; c = f16 accumulators.
Step mma(Warp& w, const Insn& i) {
  Step s = Step::next;
  if (!gathered(w, ~0u, s)) return s;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const uint32_t a_regs = i.a, b_regs = i.a / 2, d_regs = i.c ? 2 : 4, k = 4u * i.a;
  auto half = [&](uint32_t reg, uint32_t lane, uint32_t h) {
    const auto v = static_cast<uint16_t>(w.reg<uint32_t>(reg)[lane] >> (16 * h));
    return i.b ? runtime::bf16_to_float(v) : runtime::half_to_float(v);
  };
  float a[16][16], b[16][8], d[16][8];
  for (uint32_t l = 0; l < 32; ++l) {
    const uint32_t g = l / 4, t = l % 4;
    for (uint32_t h = 0; h < 2; ++h) {
      for (uint32_t r = 0; r < a_regs; ++r) a[g + 8 * (r & 1)][2 * t + h + 8 * (r >> 1)] = half(list[d_regs + r], l, h);
      for (uint32_t r = 0; r < b_regs; ++r) b[2 * t + h + 8 * r][g] = half(list[d_regs + a_regs + r], l, h);
    }
    for (uint32_t e = 0; e < 4; ++e) {
      const uint32_t c_list = d_regs + a_regs + b_regs;
      d[g + 8 * (e >> 1)][2 * t + (e & 1)] =
          i.c ? half(list[c_list + e / 2], l, e & 1) : w.reg<float>(list[c_list + e])[l];
    }
  }
  for (uint32_t r = 0; r < 16; ++r)
    for (uint32_t n = 0; n < 8; ++n)
      for (uint32_t x = 0; x < k; ++x) d[r][n] += a[r][x] * b[x][n];
  for (uint32_t l = 0; l < 32; ++l)
    for (uint32_t e = 0; e < 4; ++e) {
      const float v = d[l / 4 + 8 * (e >> 1)][2 * (l % 4) + (e & 1)];
      if (!i.c) {
        w.reg<float>(list[e])[l] = v;
        continue;
      }
      uint32_t& reg = w.reg<uint32_t>(list[e / 2])[l];
      reg = (reg & ~(0xFFFFu << (16 * (e & 1)))) | static_cast<uint32_t>(runtime::float_to_half(v)) << (16 * (e & 1));
    }
  return Step::next;
}

}  // namespace

void build_matrix(Builder& b) {
  const bool store = b.mnemonic() == "stmatrix";
  b.mods().take("sync"), b.mods().take("aligned"), b.mods().take("b16");
  const bool trans = b.mods().take("trans");
  const size_t count = b.mods().take("x1") ? 1 : b.mods().take("x2") ? 2 : b.mods().take("x4") ? 4 : 0;
  if (!b.mods().take("m8n8") || count == 0 || take_space(b) != Space::shared)
    return b.unsupported_form(b.insn().opcode);
  b.expect_operands(2, 2);
  const Operand& data = b.operand(store ? 1 : 0);
  const std::vector<Operand> parts = data.kind == Operand::Kind::vector ? data.parts : std::vector<Operand>{data};
  if (parts.size() != count) return b.fail("wrong number of registers");
  std::vector<uint32_t> registers;
  for (const Operand& o : parts) registers.push_back(store ? b.source(o, Type::b32) : b.destination(o, Type::b32));
  const AddressOperand a = b.address(b.operand(store ? 0 : 1));
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(store ? move_matrices<true> : move_matrices<false>);
  set_address(i, a);
  i.c = trans;
  i.list = at, i.list_count = static_cast<uint32_t>(count), i.list_dst = store ? 0 : i.list_count;
}

void build_mma(Builder& b) {
  for (std::string_view m : {"aligned", "row", "col"}) b.mods().take(m);
  const bool k16 = b.mods().take("m16n8k16"), k8 = b.mods().take("m16n8k8");
  const auto d = b.mods().take_type(), a = b.mods().take_type(), bb = b.mods().take_type(), c = b.mods().take_type();
  const bool bf = a == Type::bf16,
             fits = (a == Type::f16 || bf) && a == bb && d == c && (d == Type::f32 || (d == Type::f16 && !bf));
  if (k16 == k8 || !fits) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(4, 4);
  const size_t wanted[] = {d == Type::f16 ? 2u : 4u, k16 ? 4u : 2u, k16 ? 2u : 1u, d == Type::f16 ? 2u : 4u};
  std::vector<uint32_t> registers;
  for (size_t k = 0; k < 4; ++k) {
    const Operand& o = b.operand(k);
    const std::vector<Operand> parts = o.kind == Operand::Kind::vector ? o.parts : std::vector<Operand>{o};
    if (parts.size() != wanted[k])
      return b.fail("operand " + std::to_string(k) + " has " + std::to_string(wanted[k]) + " registers");
    for (const Operand& p : parts) registers.push_back(k == 0 ? b.destination(p, Type::b32) : b.source(p, Type::b32));
  }
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(mma);
  i.list = at, i.list_count = static_cast<uint32_t>(registers.size()), i.list_dst = static_cast<uint32_t>(wanted[0]);
  i.a = k16 ? 4 : 2, i.b = bf, i.c = d == Type::f16;
}

}  // namespace tc::sim
