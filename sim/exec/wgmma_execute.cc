// The arithmetic of wgmma: operands from shared memory (or registers, for A) to float tiles, one product of 16 rows a
// warp (sim/exec/tile_math.h). f16 results are rounded once an instruction. Integers are exact, b1 counts bits.
// Cost of m64n128k16: 1 microsecond for the operands, 5 to 7 for the products.
#include <algorithm>
#include <cstring>

#include "sim/exec/mma_tile.h"
#include "sim/exec/wgmma_form.h"
#include "sim/machine/wgmma_guard.h"

namespace tc::sim {
namespace {

constexpr uint32_t kMaxK = 64;  // elements of B in a row: sparse, 8 bits
constexpr uint32_t kWarpRows = 16;

struct Tiles {
  alignas(64) float a[kWgmmaM * kMaxK];       // [64][k of A]
  alignas(64) float b[kMaxK * kWgmmaMaxN];    // [k][n]
  alignas(64) float full[kWarpRows * kMaxK];  // sparse A of one warp
  alignas(64) float d[kWarpRows * kWgmmaMaxN];
};

// Eight rows at a time, out[mn][k].
void read_rows(const Cta& c, const WgmmaOperand& o, float* out) {
  const uint32_t bits = row(o.type).bits, width = 128 / bits;
  const uint8_t* shared = c.shared.data();
  if (!o.mn_major)
    return each_chunk(o, [&](uint32_t mn, uint32_t k, uint32_t address) {
      widen(o.type, bits, shared + address, width, out + mn * o.k + k);
    });
  const WgmmaDescriptor& d = o.descriptor;
  for (uint32_t mn = 0; mn < o.extent; mn += 8)
    for (uint32_t k = 0; k < o.k; k += 8) {
      float block[8][8];
      for (uint32_t x = 0; x < 8; ++x)
        widen(o.type, bits, shared + wgmma_address(d, wgmma_chunk_mn_major(d, mn, k + x)), 8, block[x]);
      transpose8(&block[0][0], 8, 8, out + mn * o.k + k, o.k);
    }
}

// out[k][mn].
void read_columns(const Cta& c, const WgmmaOperand& o, float* out) {
  const uint32_t bits = row(o.type).bits, width = 128 / bits;
  const WgmmaDescriptor& d = o.descriptor;
  const uint8_t* shared = c.shared.data();
  if (o.mn_major)
    return each_chunk(o, [&](uint32_t mn, uint32_t k, uint32_t address) {
      widen(o.type, bits, shared + address, 8, out + k * o.extent + mn);
    });
  for (uint32_t mn = 0; mn < o.extent; mn += 8) {
    float rows[8][kMaxK];
    for (uint32_t r = 0; r < 8; ++r)
      for (uint32_t k = 0; k < o.k; k += width)
        widen(o.type, bits, shared + wgmma_address(d, wgmma_chunk_k_major(d, mn + r, k / width)), width, rows[r] + k);
    transpose8(&rows[0][0], kMaxK, o.k, out + mn, o.extent);
  }
}

// b1: rows of 32 bytes.
void read_bits(const Cta& c, const WgmmaOperand& o, uint64_t* out) {
  each_chunk(o, [&](uint32_t mn, uint32_t k, uint32_t address) {
    std::memcpy(out + mn * 4 + k / 64, c.shared.data() + address, kPanelBytes);
  });
}

void execute_bits(Cta& c, uint32_t group, WgmmaRecord& r) {
  const Insn& first = *r.insn[0];
  const uint32_t n = wgmma_columns(first);
  static thread_local uint64_t a[kWgmmaM * 4], b[kWgmmaMaxN * 4];
  static thread_local float sums[kWarpRows * kWgmmaMaxN];
  if (!(wgmma_form(first).flags & kARegisters)) read_bits(c, wgmma_operand_a(first, r.descriptors[0]), a);
  read_bits(c, wgmma_operand_b(first, r.descriptors[1]), b);
  for (uint32_t k = 0; k < kWarpgroupWarps; ++k) {
    Warp& w = c.warps[kWarpgroupWarps * group + k];
    const Insn& i = *r.insn[k];
    const uint32_t* list = c.program.lists.data() + i.list;
    uint64_t* mine = a + kWarpRows * 4 * k;
    if (wgmma_form(i).flags & kARegisters)
      load_raw(w, list + i.list_dst, kWarpRows, kWgmmaRowBytes, reinterpret_cast<uint8_t*>(mine));
    for (uint32_t row = 0; row < kWarpRows; ++row)
      for (uint32_t x = 0; x < n; ++x) {
        int count = 0;
        for (uint32_t word = 0; word < 4; ++word) count += std::popcount(mine[4 * row + word] & b[4 * x + word]);
        sums[row * n + x] = static_cast<float>(count);
      }
    if (!r.scale_d)
      for (uint32_t d = 0; d < i.list_dst; ++d) std::memset(w.reg<uint8_t>(list[d]), 0, 128);
    add_integers(w, list, list, kWarpRows, n, sums, false);
    apply_moves(w, r.moves[k]);
  }
}

// The rows of A of one warp, dense: out[16][k].
const float* warp_a(Cta& c, Warp& w, const Insn& i, Tiles& t, uint32_t k) {
  const WgmmaForm f = wgmma_form(i);
  const uint32_t kept = f.flags & kSparse ? k / 2 : k;
  const uint32_t* extra = c.program.lists.data() + i.list + i.list_dst;
  float* a = t.a + kWarpRows * kept * (w.index % kWarpgroupWarps);
  if (f.flags & kARegisters) load_panels(w, extra, {f.a, row(f.a).bits, kWarpRows, kept}, a);
  if (f.flags & kNegateProduct) std::for_each(a, a + kWarpRows * kept, [](float& v) { v = -v; });
  if (!(f.flags & kSparse)) return a;
  const uint32_t* metadata = w.reg<uint32_t>(extra[f.flags & kARegisters ? 4 : 0]);
  if (!expand_sparse({row(f.a).bits, k, f.selector, true}, metadata, a, t.full) && c.race)
    c.finding(c.violation("MMA-53", i.place, "the sparsity metadata holds an illegal pair of indices"));
  return t.full;
}

}  // namespace

WgmmaOperand wgmma_operand_a(const Insn& i, uint64_t descriptor) {
  const WgmmaForm f = wgmma_form(i);
  return {decode_wgmma_descriptor(descriptor), f.a, (f.flags & kTransposeA) != 0, kWgmmaM, kWgmmaKinds[f.kind].k};
}
WgmmaOperand wgmma_operand_b(const Insn& i, uint64_t descriptor) {
  const WgmmaForm f = wgmma_form(i);
  return {decode_wgmma_descriptor(descriptor), f.b, (f.flags & kTransposeB) != 0, wgmma_columns(i),
          kWgmmaKinds[f.kind].k * (f.flags & kSparse ? 2u : 1u)};
}

void execute_wgmma(Cta& c, uint32_t group, WgmmaRecord& r) {
  r.executed = true;
  const Insn& first = *r.insn[0];
  const WgmmaForm f = wgmma_form(first);
  if (f.a == MmaType::b1) return execute_bits(c, group, r);
  static thread_local Tiles t;
  const uint32_t n = wgmma_columns(first);
  const WgmmaOperand b = wgmma_operand_b(first, r.descriptors[1]);
  if (!(f.flags & kARegisters)) read_rows(c, wgmma_operand_a(first, r.descriptors[0]), t.a);
  read_columns(c, b, t.b);
  const bool half = f.d == MmaType::f16, integer = f.d == MmaType::s32;
  for (uint32_t k = 0; k < kWarpgroupWarps; ++k) {
    Warp& w = c.warps[kWarpgroupWarps * group + k];
    const Insn& i = *r.insn[k];
    const uint32_t* list = c.program.lists.data() + i.list;
    const float* a = warp_a(c, w, i, t, b.k);
    if (r.scale_d && !integer) load_accumulators(w, list, half, kWarpRows, n, t.d);
    else std::fill(t.d, t.d + kWarpRows * n, 0.0f);
    multiply(t.d, n, a, b.k, t.b, n, {kWarpRows, n, b.k});
    if (integer) {
      if (!r.scale_d)
        for (uint32_t d = 0; d < i.list_dst; ++d) std::memset(w.reg<uint8_t>(list[d]), 0, 128);
      add_integers(w, list, list, kWarpRows, n, t.d, f.flags & kSaturated);
    } else {
      store_accumulators(w, list, half, kWarpRows, n, t.d);
    }
    apply_moves(w, r.moves[k]);
  }
}

}  // namespace tc::sim
