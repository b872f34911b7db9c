// mma.sync and mma.sp: every shape and type of specs/mma.h, and the m8n8k4 shape of sm_70. PTX ISA 9.7.14.5.
// Sums are f32 in order of k (sim/exec/tile_math.h); an f16 result is rounded once. Block scaling multiplies each
// block's f32 sum by the product of its scales, in f64, and adds it to the f32 accumulator. f64 is fused and ascending.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/exec/mma_form.h"
#include "sim/exec/mma_tile.h"

namespace tc::sim {
namespace {

// Where each operand starts in Insn::list.
struct Operands {
  const MmaForm form;
  const MmaShape& shape;
  const uint32_t *d, *a, *b, *c, *extra;
};
Operands operands_of(const Warp& w, const Insn& i) {
  const auto form = std::bit_cast<MmaForm>(i.imm);
  const MmaShape& s = kMmaShapes[form.shape];
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const MmaCounts n = mma_counts(s, form);
  return {form, s, list, list + n.d, list + n.d + n.a, list + n.d + n.a + n.b, list + n.d + n.a + n.b + n.c};
}

void expand_a(Warp& w, const Insn& i, const Operands& o, const float* kept, float* full) {
  const SparseForm f{register_bits(o.shape, o.form.a), o.shape.k, o.form.selector, (o.form.flags & kOrdered) != 0};
  if (!expand_sparse(f, w.reg<uint32_t>(o.extra[0]), kept, full) && w.cta->race)
    w.cta->finding(w.cta->violation("MMA-53", i.place, "the sparsity metadata holds an illegal pair of indices"));
}

// The byte and thread numbers of one operand's scales; out of range they are a finding, and wrapped.
struct ScaleSelector {
  uint32_t byte, thread;
};
ScaleSelector scale_selector(Warp& w, const Insn& i, const uint32_t* registers, uint32_t bytes, uint32_t threads) {
  const uint32_t byte = w.reg<uint16_t>(registers[0])[0], thread = w.reg<uint16_t>(registers[1])[0];
  if ((byte % bytes || byte >= 4 || thread >= threads) && w.cta->race)
    w.cta->finding(w.cta->violation(
        "MMA-42", i.place,
        "byte id " + std::to_string(byte) + ", thread id " + std::to_string(thread) + " of a scale are out of range"));
  return {byte % 4 / bytes * bytes, thread % threads};
}

void multiply_scaled(Warp& w, const Insn& i, const Operands& o, float* d, const float* a, const float* b) {
  const MmaShape& s = o.shape;
  const uint32_t block = s.k / s.scale_vec;
  const ScaleSelector sa = scale_selector(w, i, o.extra + s.sparse + 1, s.scale_vec, 2),
                      sb = scale_selector(w, i, o.extra + s.sparse + 4, s.scale_vec, 4);
  const uint32_t *scale_a = w.reg<uint32_t>(o.extra[s.sparse]), *scale_b = w.reg<uint32_t>(o.extra[s.sparse + 3]);
  auto scale = [&](uint32_t word, uint32_t byte) {
    return double{scale_value(s.ue4m3, static_cast<uint8_t>(word >> (8 * byte)))};
  };
  for (uint32_t x = 0; x < s.scale_vec; ++x) {
    float sums[16 * 8] = {};
    multiply(sums, 8, a + x * block, s.k, b + x * block * 8, 8, {s.m, 8, block});
    for (uint32_t r = 0; r < s.m; ++r)
      for (uint32_t n = 0; n < 8; ++n)
        d[r * 8 + n] = static_cast<float>(d[r * 8 + n] + sums[r * 8 + n] *
                                                             scale(scale_a[scale_a_lane(r, sa.thread)], sa.byte + x) *
                                                             scale(scale_b[scale_b_lane(n, sb.thread)], sb.byte + x));
  }
}

Step mma(Warp& w, const Insn& i) {
  Step step = Step::next;
  if (!whole_warp(w, i, step)) return step;
  const Operands o = operands_of(w, i);
  const MmaShape& s = o.shape;
  const uint32_t m = s.m, n = s.n, k = s.k;
  alignas(32) float a[kMmaMaxA], b[kMmaMaxB], d[kMmaMaxD];
  const Panels panels{o.form.a, register_bits(s, o.form.a), s.m, kept_k(s)};
  if (s.sparse) {
    alignas(32) float kept[16 * 64];
    load_panels(w, o.a, panels, kept);
    expand_a(w, i, o, kept, a);
  } else {
    load_panels(w, o.a, panels, a);
  }
  load_b(w, o.b, o.form.b, register_bits(s, o.form.b), k, n, b);
  if (o.form.d == MmaType::s32) {
    std::fill(d, d + m * n, 0.0f);
    multiply(d, n, a, k, b, n, {m, n, k});
    add_integers(w, o.c, o.d, m, n, d, o.form.flags & kSaturate);
    return Step::next;
  }
  load_accumulators(w, o.c, o.form.c == MmaType::f16, m, n, d);
  if (s.scale_vec) multiply_scaled(w, i, o, d, a, b);
  else multiply(d, n, a, k, b, n, {m, n, k});
  store_accumulators(w, o.d, o.form.d == MmaType::f16, m, n, d);
  return Step::next;
}

// b1: the count of set bits of A xor B or A and B.
Step mma_bits(Warp& w, const Insn& i) {
  Step step = Step::next;
  if (!whole_warp(w, i, step)) return step;
  const Operands o = operands_of(w, i);
  const uint32_t row_bytes = o.shape.k / 8u, words = row_bytes / 8;
  uint64_t a[16 * 4], b[8 * 4];
  load_raw(w, o.a, o.shape.m, row_bytes, reinterpret_cast<uint8_t*>(a));
  load_raw(w, o.b, 8, row_bytes, reinterpret_cast<uint8_t*>(b));
  float sums[16 * 8];
  for (uint32_t r = 0; r < o.shape.m; ++r)
    for (uint32_t n = 0; n < 8; ++n) {
      int count = 0;
      for (uint32_t x = 0; x < words; ++x) {
        const uint64_t p = a[r * words + x], q = b[n * words + x];
        count += std::popcount(o.shape.op == BitOp::xor_popc ? p ^ q : p & q);
      }
      sums[8 * r + n] = static_cast<float>(count);
    }
  add_integers(w, o.c, o.d, o.shape.m, 8, sums, o.form.flags & kSaturate);
  return Step::next;
}

Step mma_doubles(Warp& w, const Insn& i) {
  Step step = Step::next;
  if (!whole_warp(w, i, step)) return step;
  const Operands o = operands_of(w, i);
  const uint32_t m = o.shape.m, k = o.shape.k, blocks = m / 8;
  double a[16][16], b[16][8], d[16][8];
  for (uint32_t r = 0; r < mma_counts(o.shape, o.form).a; ++r)
    for (uint32_t l = 0; l < 32; ++l) a[r % blocks * 8 + l / 4][r / blocks * 4 + l % 4] = w.reg<double>(o.a[r])[l];
  for (uint32_t r = 0; r < k / 4; ++r)
    for (uint32_t l = 0; l < 32; ++l) b[4 * r + l % 4][l / 4] = w.reg<double>(o.b[r])[l];
  for (uint32_t r = 0; r < m / 4; ++r)
    for (uint32_t l = 0; l < 32; ++l) d[r / 2 * 8 + l / 4][2 * (l % 4) + r % 2] = w.reg<double>(o.c[r])[l];
  for (uint32_t r = 0; r < m; ++r)
    for (uint32_t x = 0; x < k; ++x)
      for (uint32_t n = 0; n < 8; ++n) d[r][n] = std::fma(a[r][x], b[x][n], d[r][n]);
  for (uint32_t r = 0; r < m / 4; ++r)
    for (uint32_t l = 0; l < 32; ++l) w.reg<double>(o.d[r])[l] = d[r / 2 * 8 + l / 4][2 * (l % 4) + r % 2];
  return Step::next;
}

// m8n8k4 of f16: four products, one a group of eight lanes.
float half_at(Warp& w, const uint32_t* registers, uint32_t lane, uint32_t element) {
  return runtime::half_to_float(
      static_cast<uint16_t>(w.reg<uint32_t>(registers[element / 2])[lane] >> (16 * (element & 1))));
}
Step mma_volta(Warp& w, const Insn& i) {
  Step step = Step::next;
  if (!whole_warp(w, i, step)) return step;
  const Operands o = operands_of(w, i);
  float a[4][8][4], b[4][4][8], d[4][8][8];
  auto place_c = [&](MmaType t, uint32_t lane, uint32_t e) {
    return t == MmaType::f16 ? volta_c_f16(lane, e) : volta_c_f32(lane, e);
  };
  for (uint32_t l = 0; l < 32; ++l) {
    const uint32_t q = l % 16 / 4;
    for (uint32_t e = 0; e < 4; ++e) {
      const MatrixPlace pa = volta_a(l, e, o.form.flags & kARowMajor), pb = volta_b(l, e, o.form.flags & kBRowMajor);
      a[q][pa.row][pa.col] = half_at(w, o.a, l, e);
      b[q][pb.row][pb.col] = half_at(w, o.b, l, e);
    }
    for (uint32_t e = 0; e < 8; ++e) {
      const MatrixPlace p = place_c(o.form.c, l, e);
      d[q][p.row][p.col] = o.form.c == MmaType::f16 ? half_at(w, o.c, l, e) : w.reg<float>(o.c[e])[l];
    }
  }
  for (uint32_t q = 0; q < 4; ++q) multiply(&d[q][0][0], 8, &a[q][0][0], 4, &b[q][0][0], 8, {8, 8, 4});
  for (uint32_t l = 0; l < 32; ++l)
    for (uint32_t e = 0; e < 8; ++e) {
      const MatrixPlace p = place_c(o.form.d, l, e);
      const float v = d[l % 16 / 4][p.row][p.col];
      if (o.form.d == MmaType::f32) w.reg<float>(o.d[e])[l] = v;
      else w.reg<uint16_t>(o.d[e / 2])[2 * l + (e & 1)] = runtime::float_to_half(v);
    }
  return Step::next;
}

}  // namespace

ExecFn mma_body(const MmaShape& s) {
  if (s.op != BitOp::none) return mma_bits;
  if (s.accumulators & kAccF64) return mma_doubles;
  return is_volta(s) ? mma_volta : mma;
}

}  // namespace tc::sim
