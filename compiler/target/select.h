// Instruction selection: an ordered chain of predicates for every gemm and copy, each with the reason it failed.
// `tilec --explain-selection` prints `chain`.
//   gemm: … WGMMA: A is 64×64 f16 K-major, B 64×128 f16 MN-major → 1×1 warpgroups, wgmma.m64n128k16
#pragma once
#include "compiler/ir/box.h"
#include "compiler/ir/ir.h"
#include "specs/arch.h"

namespace tc::ir {

struct GemmPlan {
  bool wgmma = false;                  // the only form there is today
  int64_t m = 0, n = 0, k = 0;         // of the tile
  int64_t groups_m = 1, groups_n = 1;  // warpgroups along M and N
  bool transpose_a = false, transpose_b = false;
  ValueId a, b, c;  // buffers
  std::vector<std::string> chain;
};
// `threads`: of the enclosing section.
GemmPlan select_gemm(const Module& m, const Op& gemm, int64_t threads, const ArchInfo& arch);

enum class CopyForm { simt, cp_async, tma_tiled, bulk };
struct CopyPlan {
  bool possible = false;
  CopyForm form = CopyForm::simt;
  int64_t vector_bytes = 0;  // simt, cp_async: bytes of one access; 0 = element by element
  std::vector<std::string> chain;
};
// Widest access (16, 8, 4 bytes, or the element) with which the tile can move between global and shared memory so that
// every access is aligned and lies wholly inside or outside of the tensor.
int64_t vector_width(const Module& m, const Box& global, const Box& shared);
CopyPlan select_copy(const Module& m, const Op& copy, const ArchInfo& arch);

}  // namespace tc::ir
