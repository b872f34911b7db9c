// Boxes of buffers, as the interpreter's tile operations walk them. Internal to the files of this folder.
//   region s, 1, 0, 0, 1, 64, 32 of s: f16[3, 64, 32] is the box with offsets 1 0 0 and extents 1 64 32
#pragma once
#include <algorithm>
#include <vector>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {

struct Box {
  Memory mem;
  std::vector<int64_t> offset, extent;
  ValueId buffer;
};
// A region, or a whole buffer, as one lane sees it.
Box box_of(Cta& cta, Group& g, const Op& op, ValueId v, size_t lane);
void need_inside(const Cta& cta, const Op& op, const Box& b);
// Element offset of a place in a box, or -1 outside of the buffer.
int64_t element(const Box& b, const std::vector<int64_t>& at);
inline Number zero(DType t) { return is_float(t) ? of(0.0) : of(int64_t{0}); }

// Calls f(index within the box) for each element, the last dimension fastest.
template <class F>
void walk_box(const std::vector<int64_t>& extent, F&& f) {
  std::vector<int64_t> at(extent.size(), 0);
  int64_t left = 1;
  for (int64_t e : extent) left *= std::max<int64_t>(e, 0);
  for (; left > 0; --left) {
    f(at);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extent[d]) break;
      at[d] = 0;
    }
  }
}

// Both sides of a copy along the extents that are not 1: f(source offset or -1, destination offset or -1).
template <class F>
void walk_pair(const Op& op, const Box& a, const Box& b, F&& f) {
  std::vector<size_t> from, to;
  std::vector<int64_t> extent;
  for (size_t d = 0; d < a.extent.size(); ++d)
    if (a.extent[d] != 1) from.push_back(d), extent.push_back(a.extent[d]);
  for (size_t d = 0; d < b.extent.size(); ++d)
    if (b.extent[d] != 1) to.push_back(d);
  bool match = from.size() == to.size();
  for (size_t i = 0; match && i < from.size(); ++i) match = a.extent[from[i]] == b.extent[to[i]];
  if (!match) stop(op, "the sides differ in extents");
  std::vector<int64_t> x(a.extent.size(), 0), y(b.extent.size(), 0);
  walk_box(extent, [&](const std::vector<int64_t>& at) {
    for (size_t i = 0; i < at.size(); ++i) x[from[i]] = y[to[i]] = at[i];
    f(element(a, x), element(b, y));
  });
}

void exec_copy(Cta& cta, Group& g, const Op& op, size_t lane);  // tile.cc

}  // namespace tc::ir::interp
