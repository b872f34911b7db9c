// What the files of pass lower_tiles share: the section being lowered, the fragment layouts, index arithmetic.
// lower_tiles.cc dispatches; lower_copy.cc, lower_tma.cc, lower_gemm.cc and lower_parallel.cc each write one kind of
// op.
#pragma once
#include "compiler/ir/box.h"
#include "compiler/ir/layout.h"
#include "compiler/passes/passes.h"
#include "compiler/rewrite/clone.h"
#include "compiler/rewrite/range.h"
#include "compiler/target/select.h"

namespace tc::ir {

// Threads [lo, hi) that carry out the current statement.
struct Section {
  int64_t lo = 0, hi = 0;
  int64_t threads() const { return hi - lo; }
};

struct Lowering {
  const Module& from;
  Module& to;
  const PassContext& cx;
  Cloner* cloner = nullptr;
  Section section;
  Ranges ranges;                                    // of values of `from`
  std::unordered_map<ValueId, Fragment> fragments;  // of fragment buffers of `from`
  std::unordered_map<ValueId, ValueId> registers;   // of the fragments that the current parallel loop is at
  std::optional<Diag> failure;                      // the first one; nothing is written after it

  void fail(Diag d) {
    if (!failure) failure = std::move(d);
  }
  void refuse(const Op& op, std::string what);
  ValueId value(ValueId v) const { return cloner->value(v); }
  Builder builder(BlockId at, const Op& op) const;
  // The thread's number within the section.
  ValueId local_thread(Builder& b) const;
};

// A loop over the registers of a fragment: block, loop variable, and the coordinates of the element.
struct ElementLoop {
  BlockId block;
  ValueId reg;
  std::vector<ValueId> at;
};
// Opens `for reg in 0..registers/step` (unrolled) in `at`; coordinates are those of register reg*step. Where a linear
// fragment does not fill all threads the block is inside a guard.
ElementLoop open_element_loop(Lowering& l, BlockId at, const Op& op, const Fragment& f, int64_t step);
// if (condition) { … } else { … }; no branch at all if `condition` is not valid (always true). Returns the two blocks.
std::pair<BlockId, BlockId> open_guard(Lowering& l, BlockId at, const Op& op, ValueId condition);
// The indices of a box element: offset + coordinate in the spanned dimensions.
std::vector<ValueId> box_indices(Lowering& l, Builder& b, const Box& box, std::span<const ValueId> at);
// The condition that the element is inside the buffer, for the dimensions where it is not provable; invalid if always.
ValueId inside_condition(Lowering& l, Builder& b, const Box& box, std::span<const ValueId> indices);

void infer_fragments(Lowering& l, const Func& f);
void lower_copy(Lowering& l, const Op& op, BlockId at);
void lower_fill(Lowering& l, const Op& op, BlockId at);
void lower_tma_copy(Lowering& l, const Op& op, BlockId at);
void lower_gemm(Lowering& l, const Op& op, BlockId at);
void lower_parallel(Lowering& l, const Op& op, BlockId at);
// An element access outside of or inside a parallel loop, guarded where it may leave a global tensor.
void lower_load(Lowering& l, const Op& op, BlockId at);
void lower_store(Lowering& l, const Op& op, BlockId at);

}  // namespace tc::ir
