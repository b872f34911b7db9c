#include "compiler/ir/box.h"

#include <numeric>

namespace tc::ir {

Result<Box> box_of(const Module& m, ValueId v, const SourceRange& where) {
  Box box;
  box.buffer = buffer_of(m, v);
  const Type& type = m[box.buffer].type;
  if (box.buffer == v) {
    for (const MetaInt& e : type.shape) box.extents.push_back(e.value);
    return box;
  }
  const Op& region = m[m[v].def];
  size_t rank = type.rank();
  for (size_t d = 0; d < rank; ++d) {
    box.offsets.push_back(region.operands[1 + d]);
    auto extent = constant_value(m, region.operands[1 + rank + d]);
    if (!extent) return unsupported(where, "a tile whose extent is only known at run time");
    box.extents.push_back(extent->value);
  }
  return box;
}

int64_t known_factor(const Module& m, ValueId v) {
  if (auto c = constant_value(m, v)) return c->value < 0 ? -c->value : c->value;
  OpId def = m[v].def;
  if (!def.valid()) return 1;
  const Op& o = m[def];
  if (o.kind == OpKind::mul) return known_factor(m, o.operands[0]) * known_factor(m, o.operands[1]);
  if (o.kind == OpKind::add || o.kind == OpKind::sub || o.kind == OpKind::floormod)
    return std::gcd(known_factor(m, o.operands[0]), known_factor(m, o.operands[1]));
  return 1;
}

int64_t stride_of(const Type& type, size_t d) {
  if (!type.strides.empty()) return type.strides[d].value;
  int64_t s = 1;
  for (size_t i = d + 1; i < type.rank(); ++i) s *= type.shape[i].value;
  return s;
}

}  // namespace tc::ir
