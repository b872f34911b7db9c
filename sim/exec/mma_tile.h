// Fragments of a warp to tiles and back (maps of specs/mma.h), what mma.sync, wmma and wgmma share.
#pragma once
#include "sim/exec/tile_math.h"
#include "sim/machine/cta.h"

namespace tc::sim {

// Registers of an operand to out[rows][columns] floats: A with its rows, B with n as rows and k as columns.
struct Panels {
  MmaType type;
  uint32_t bits;  // of an element in the registers
  uint32_t rows, columns;
};
void load_panels(Warp& w, const uint32_t* registers, Panels p, float* out);
// B as it is multiplied: out[k][n].
void load_b(Warp& w, const uint32_t* registers, MmaType type, uint32_t bits, uint32_t k, uint32_t n, float* out);
// The bytes of the rows as they are: out[rows][row_bytes], row_bytes a multiple of 16.
void load_raw(Warp& w, const uint32_t* registers, uint32_t rows, uint32_t row_bytes, uint8_t* out);

// Accumulators, out[m][n]: f32 or f16.
void load_accumulators(Warp& w, const uint32_t* registers, bool half, uint32_t m, uint32_t n, float* out);
void store_accumulators(Warp& w, const uint32_t* registers, bool half, uint32_t m, uint32_t n, const float* rows);
// s32: D = C + sum for exact sums; wraps, or saturates.
void add_integers(Warp& w, const uint32_t* c, const uint32_t* d, uint32_t m, uint32_t n, const float* sums,
                  bool saturate);

// Kept elements of 16 rows of sparse A to their places: kept[16][k / 2] to full[16][k], the rest zero. Metadata: the
// register of all lanes. False where an index pair is illegal (MMA-53).
struct SparseForm {
  uint32_t bits, k, selector;
  bool ordered;
};
bool expand_sparse(const SparseForm& f, const uint32_t* metadata, const float* kept, float* full);

// Are all 32 lanes here? Lanes that have left make it a finding (MMA-19).
bool whole_warp(Warp& w, const Insn& i, Step& step);

}  // namespace tc::sim
