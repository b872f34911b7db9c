#include "compiler/ir/layout.h"

#include <cassert>

namespace tc::ir {

SharedShape shared_shape(const Type& type) {
  SharedShape s;
  size_t rank = type.rank();
  int64_t bytes = bytes_of(type.dtype), outer = 1;
  s.cols = rank ? type.shape[rank - 1].value : 1;
  s.rows = rank > 1 ? type.shape[rank - 2].value : 1;
  for (size_t i = 0; i + 2 < rank; ++i) outer *= type.shape[i].value;
  int64_t span = type.layout.span;
  s.panel_cols = span ? span / bytes : s.cols;
  assert(s.panel_cols > 0 && s.cols % s.panel_cols == 0 && "a panel width divides the columns");
  s.panel_bytes = s.rows * s.panel_cols * bytes;
  s.tile_bytes = s.rows * s.cols * bytes;
  s.total_bytes = s.tile_bytes * outer;
  s.alignment = span > 16 ? 8 * span : span ? 128 : 128;  // TMA wants 128 (TMA-02), a swizzle its repeat (SMEM-10)
  return s;
}

bool Fragment::operator==(const Fragment& o) const {
  if (shape != o.shape || threads != o.threads || registers != o.registers) return false;
  for (int64_t t = 0; t < threads; ++t)
    for (int64_t r = 0; r < registers; ++r)
      if (element_of(*this, t, r) != element_of(o, t, r)) return false;
  return true;
}

Fragment wgmma_accumulator(int64_t m, int64_t n, int64_t groups_m, int64_t groups_n) {
  int64_t rows = m / groups_m, cols = n / groups_n;
  Fragment f{.shape = {m, n}, .threads = 128 * groups_m * groups_n, .registers = rows * cols / 128};
  f.thread_modes = {{4, {0, 2}}, {8, {1, 0}}, {4, {16, 0}}, {groups_m, {rows, 0}}, {groups_n, {0, cols}}};
  f.register_modes = {{2, {0, 1}}, {2, {8, 0}}, {cols / 8, {0, 8}}, {rows / 64, {64, 0}}};
  return f;
}

Fragment linear_fragment(std::vector<int64_t> shape, int64_t threads, int64_t vector) {
  int64_t total = 1;
  for (int64_t e : shape) total *= e;
  assert(total % vector == 0 && "vectors tile the elements");
  int64_t steps = (total / vector + threads - 1) / threads;
  return {.shape = std::move(shape), .threads = threads, .registers = steps * vector, .vector = vector};
}

int64_t element_of(const Fragment& f, int64_t thread, int64_t reg) {
  int64_t total = 1;
  for (int64_t e : f.shape) total *= e;
  if (f.linear()) {
    int64_t e = ((reg / f.vector) * f.threads + thread) * f.vector + reg % f.vector;
    return e < total ? e : -1;
  }
  std::vector<int64_t> at(f.shape.size(), 0);
  auto add = [&](const std::vector<Mode>& modes, int64_t number) {
    for (const Mode& m : modes) {
      for (size_t d = 0; d < at.size(); ++d) at[d] += number % m.extent * m.step[d];
      number /= m.extent;
    }
  };
  add(f.thread_modes, thread);
  add(f.register_modes, reg);
  int64_t e = 0;
  for (size_t d = 0; d < at.size(); ++d) e = e * f.shape[d] + at[d];
  return e;
}

bool is_bijective(const Fragment& f) {
  int64_t total = 1;
  for (int64_t e : f.shape) total *= e;
  std::vector<bool> seen(static_cast<size_t>(total), false);
  int64_t count = 0;
  for (int64_t t = 0; t < f.threads; ++t)
    for (int64_t r = 0; r < f.registers; ++r) {
      int64_t e = element_of(f, t, r);
      if (e < 0) continue;
      if (e >= total || seen[static_cast<size_t>(e)]) return false;
      seen[static_cast<size_t>(e)] = true;
      ++count;
    }
  return count == total;
}

}  // namespace tc::ir
