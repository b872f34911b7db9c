// What decoding, issue and execution of wgmma.mma_async share.
//   Insn: a = N / 8; b = scale-d is negated; c = results are pairs of f16; src[0], src[1] descriptors (src[0] kNone: A in registers); src[2] scale-d predicate;
//   list = accumulators, then the four registers of A, then the metadata; imm = WgmmaForm
#pragma once
#include <bit>

#include "sim/exec/builder.h"
#include "sim/machine/cta.h"
#include "sim/machine/wgmma_state.h"
#include "specs/wgmma.h"

namespace tc::sim {

enum WgmmaFlag : uint8_t {
  kARegisters = 1,
  kTransposeA = 2,
  kTransposeB = 4,
  kNegateProduct = 8,  // one of scale-a and scale-b is -1
  kScaleNegated = 16,  // scale-d is the negation of the predicate
  kSparse = 32,
  kSaturated = 64
};
struct WgmmaForm {
  uint8_t kind = 0;  // index into kWgmmaKinds
  MmaType a{}, b{}, d{};
  uint8_t flags = 0, selector = 0;
  uint16_t spare = 0;
  bool operator==(const WgmmaForm&) const = default;
};
static_assert(sizeof(WgmmaForm) == 8);

inline WgmmaForm wgmma_form(const Insn& i) { return std::bit_cast<WgmmaForm>(i.imm); }
inline uint32_t wgmma_columns(const Insn& i) { return 8u * i.a; }

// One operand in shared memory: A with 64 rows or B with N, K-major or MN-major.
struct WgmmaOperand {
  WgmmaDescriptor descriptor;
  MmaType type;
  bool mn_major;
  uint32_t extent;  // rows
  uint32_t k;       // elements in a row
};
WgmmaOperand wgmma_operand_a(const Insn& i, uint64_t descriptor);
WgmmaOperand wgmma_operand_b(const Insn& i, uint64_t descriptor);

// Visits its 16-byte chunks: visit(mn, k, shared address), k in elements.
template <class Visit>
void each_chunk(const WgmmaOperand& o, Visit visit) {
  const WgmmaDescriptor& d = o.descriptor;
  if (o.mn_major) {
    for (uint32_t k = 0; k < o.k; ++k)
      for (uint32_t mn = 0; mn < o.extent; mn += 8) visit(mn, k, wgmma_address(d, wgmma_chunk_mn_major(d, mn, k)));
    return;
  }
  const uint32_t width = 128 / row(o.type).bits;
  for (uint32_t mn = 0; mn < o.extent; ++mn)
    for (uint32_t k = 0; k < o.k; k += width) visit(mn, k, wgmma_address(d, wgmma_chunk_k_major(d, mn, k / width)));
}

// Carries out an operation that all four warps have issued: reads its operands, writes the accumulators.
void execute_wgmma(Cta& c, uint32_t warpgroup, WgmmaRecord& r);

}  // namespace tc::sim
