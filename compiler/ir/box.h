// A box of a buffer, as copies and matrix operands name it: the buffer, an offset and an extent a dimension.
// A whole buffer is a box without offsets. `spanned` lists the dimensions whose extent is not 1: the tile dimensions.
#pragma once
#include "compiler/ir/ir.h"

namespace tc::ir {

struct Box {
  ValueId buffer;
  std::vector<ValueId> offsets;  // empty: all zero
  std::vector<int64_t> extents;
  std::vector<size_t> spanned() const {
    std::vector<size_t> dims;
    for (size_t i = 0; i < extents.size(); ++i)
      if (extents[i] != 1) dims.push_back(i);
    return dims;
  }
};
// Of a region or buffer value. Fails (unsupported) for an extent that is no constant.
Result<Box> box_of(const Module& m, ValueId v, const SourceRange& where);
// Largest constant that divides every value of `v` (0 for the constant 0).
int64_t known_factor(const Module& m, ValueId v);
// Distance in elements between neighbours along dimension d of a global or shared buffer.
int64_t stride_of(const Type& type, size_t d);

}  // namespace tc::ir
