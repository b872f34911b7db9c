// Matrix products of the interpreter: operands as panels of doubles. Internal to gemm.cc and scaled.cc.
#pragma once
#include <array>
#include <vector>

#include "compiler/interp/box.h"

namespace tc::ir::interp {

// rows x cols, row-major. Every element type but 64-bit integers is exact in a double.
struct Panel {
  int64_t rows = 0, cols = 0;
  std::vector<double> cells;
  double& at(int64_t i, int64_t j) { return cells[static_cast<size_t>(i * cols + j)]; }
};
// The last two dimensions of a box, transposed if asked for.
Panel panel_of(const Cta& cta, const Op& op, const Box& b, bool transposed);
// Writes C = (clear ? 0 : C) + A B, summed in double and rounded once.
void multiply_into(const Cta& cta, const Op& op, const Box& c, const Panel& a, const Panel& b, bool clear);

// With use_2cta the even CTA of a pair issues for both: each has its rows of A and of C and half of B's columns (PTX
// ISA, tcgen05.mma .cta_group::2; TileLang lets the CTA of rank 0 issue). Who multiplies, and whose B is joined.
struct Owners {
  std::vector<Cta*> ctas;  // empty: nothing to do here
};
Owners owners_of(Cta& cta, const Op& op);
// The operand as it lies in the memory of `owner`.
Box box_of_owner(Cta& cta, Cta& owner, Group& g, const Op& op, size_t operand, size_t lane);
Panel joined_columns(std::vector<Panel> parts);
// An asynchronous product is complete when it is issued; the barrier at this operand of every owner is told once.
void tell(Cta& cta, const Owners& owners, Group& g, const Op& op, size_t operand, size_t lane);

// scaled.cc
void exec_gemm_scaled(Cta& cta, Group& g, const Op& op, size_t lane);
void exec_gemm_sparse(Cta& cta, Group& g, const Op& op, size_t lane);

}  // namespace tc::ir::interp
