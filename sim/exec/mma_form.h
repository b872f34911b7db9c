// What decoding and execution of mma.sync, mma.sp and wmma.mma share.
//   Insn: list = D, A, B, C, then what the form adds: metadata; scale A, byte id, thread id; scale B, byte id, thread
//   id. Insn::imm is an MmaForm, bytes and vector the registers of A and B,
//   d the blocks of 8 rows where lane 4g + t has row g of each (0: another map).
#pragma once
#include <bit>

#include "sim/exec/builder.h"
#include "specs/mma.h"

namespace tc::sim {

enum MmaFlag : uint8_t { kSaturate = 1, kOrdered = 2, kARowMajor = 4, kBRowMajor = 8 };
struct MmaForm {
  uint8_t shape = 0;  // index into kMmaShapes
  MmaType a{}, b{}, c{}, d{};
  uint8_t flags = 0, selector = 0, spare = 0;
};
static_assert(sizeof(MmaForm) == 8);

// The m8n8k4 shape of f16 does four products at once.
constexpr bool is_volta(const MmaShape& s) {
  return s.kind == MmaKind::plain && s.k == 4 && s.group.types == bit(MmaType::f16);
}
constexpr uint32_t kept_k(const MmaShape& s) { return s.sparse ? s.k / 2u : s.k; }

// Registers of each operand.
struct MmaCounts {
  uint32_t d, a, b, c;
};
constexpr MmaCounts mma_counts(const MmaShape& s, const MmaForm& f) {
  const uint32_t products = is_volta(s) ? 4 : 1;
  MmaCounts n{fragment_registers(products * s.m * s.n, row(f.d).bits),
              fragment_registers(products * s.m * kept_k(s), register_bits(s, f.a)),
              fragment_registers(products * s.n * s.k, register_bits(s, f.b)),
              fragment_registers(products * s.m * s.n, row(f.c).bits)};
  if (s.kind == MmaKind::wmma && f.a == MmaType::f16) n.a = n.b = kWmmaHalfRegisters;
  return n;
}

ExecFn mma_body(const MmaShape& s);

struct ParsedMma {
  uint32_t m = 0, n = 0, k = 0;
  MmaKind kind = MmaKind::plain;
  BitOp op = BitOp::none;
  bool sparse = false, ordered = false, saturate = false, block_scale = false;
  uint8_t scale_vec = 0;  // 0: not given
  std::string layout_a, layout_b, scale_type;
  MmaType d{}, a{}, b{}, c{};
};
// Pieces of decoding. Null or false after a refusal.
bool take_mma_shape(Builder& b, ParsedMma& p);
std::string take_layout(Builder& b);
const MmaShape* find_mma_shape(Builder& b, const ParsedMma& p);
void emit_mma(Builder& b, const MmaShape& s, const ParsedMma& p);

}  // namespace tc::sim
