// Boxes of buffers: see box.h.
#include "compiler/interp/box.h"

namespace tc::ir::interp {

Box box_of(Cta& cta, Group& g, const Op& op, ValueId v, size_t lane) {
  const Module& m = cta.p.m;
  Box box{.mem = {}, .offset = {}, .extent = {}, .buffer = buffer_of(m, v)};
  box.mem = memory_for(cta, g, op, box.buffer, lane);
  size_t rank = box.mem.shape.size();
  if (box.buffer == v) {
    box.offset.assign(rank, 0);
    box.extent = box.mem.shape;
    return box;
  }
  const Op& region = m[m[v].def];
  for (size_t d = 0; d < rank; ++d) {
    box.offset.push_back(lane_int(cta.p, g, region.operands[1 + d], lane));
    box.extent.push_back(lane_int(cta.p, g, region.operands[1 + rank + d], lane));
  }
  return box;
}

void need_inside(const Cta& cta, const Op& op, const Box& b) {
  bool in = true;
  std::string at, size;
  for (size_t d = 0; d < b.offset.size(); ++d) {
    in &= b.offset[d] >= 0 && b.offset[d] + b.extent[d] <= b.mem.shape[d];
    at += (d ? ", " : "") + std::to_string(b.offset[d]) + ":" + std::to_string(b.offset[d] + b.extent[d]);
    size += (d ? ", " : "") + std::to_string(b.mem.shape[d]);
  }
  if (!in) stop(op, "region [" + at + "] of '" + cta.p.m[b.buffer].name + "', which has shape [" + size + "]");
}

int64_t element(const Box& b, const std::vector<int64_t>& at) {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    int64_t i = b.offset[d] + at[d];
    if (i < 0 || i >= b.mem.shape[d]) return -1;
    offset += i * b.mem.strides[d];
  }
  return offset;
}

}  // namespace tc::ir::interp
