#include "sim/exec/tensor_box.h"

#include <algorithm>
#include <cstring>

namespace tc::sim {
namespace {

// The address of the element at these coordinates of dimensions 1 ... ; kOutside where one is outside.
uint64_t row_address(const TensorMap& m, const std::array<int64_t, kTmaMaxRank>& x) {
  auto address = static_cast<int64_t>(m.address);
  for (uint32_t d = 1; d < m.rank; ++d) {
    if (x[d] < 0 || static_cast<uint64_t>(x[d]) >= m.dims[d]) return TensorBox::kOutside;
    address += x[d] * static_cast<int64_t>(m.strides[d]);
  }
  return static_cast<uint64_t>(address + x[0] * m.element_bytes());
}

void tile_rows(TensorBox& b, const BoxStart& start) {
  std::array<uint32_t, kTmaMaxRank> i{};
  for (uint64_t& out : b.rows) {
    std::array<int64_t, kTmaMaxRank> x = start.at;
    for (uint32_t d = 1; d < b.map.rank; ++d) x[d] += int64_t{i[d]} * b.map.steps[d];
    out = row_address(b.map, x);
    for (uint32_t d = 1; d < b.map.rank && ++i[d] == b.map.count(d); ++d) i[d] = 0;
  }
}

void im2col_rows(TensorBox& b, const BoxStart& start) {
  const TensorMap& m = b.map;
  const uint32_t spatial = m.rank - 2;
  std::array<int64_t, kTmaMaxRank> pixel = start.at;
  for (uint64_t& out : b.rows) {
    std::array<int64_t, kTmaMaxRank> x = pixel;
    for (uint32_t d = 0; d < spatial; ++d) x[d + 1] += start.offsets[d];
    out = row_address(m, x);
    uint32_t d = 0;
    for (; d < spatial; ++d) {
      pixel[d + 1] += m.steps[d + 1];
      if (pixel[d + 1] < static_cast<int64_t>(m.dims[d + 1]) + m.upper[d]) break;
      pixel[d + 1] = m.lower[d];
    }
    if (d == spatial) ++pixel[m.rank - 1];
  }
}

}  // namespace

TensorBox make_box(const TensorMap& map, const BoxStart& start) {
  TensorBox b;
  b.map = map;
  b.row_bytes = static_cast<uint32_t>(map.row_bytes());
  const uint32_t span = row(map.swizzle).span_bytes;
  b.pitch = span ? span : b.row_bytes;
  const int64_t n = map.im2col ? map.channels : map.count(0), x = start.at[0], dim = static_cast<int64_t>(map.dims[0]);
  b.first = static_cast<uint32_t>(std::clamp<int64_t>(-x, 0, n));
  b.last = static_cast<uint32_t>(std::clamp<int64_t>(dim - x, b.first, n));
  b.rows.resize(map.rows());
  map.im2col ? im2col_rows(b, start) : tile_rows(b, start);
  return b;
}

void scatter_row(const TensorBox& b, uint32_t r, const uint8_t* line, uint8_t* shared, uint32_t base) {
  const uint32_t at = base + r * b.pitch;
  const uint32_t flip = (at >> 3) & row(b.map.swizzle).mask;
  if (flip == 0) return void(std::memcpy(shared + at, line, b.row_bytes));
  for (uint32_t x = 0; x < b.row_bytes; x += kTmaInnerAlign)
    std::memcpy(shared + ((at + x) ^ flip), line + x, kTmaInnerAlign);
}

void gather_row(const TensorBox& b, uint32_t r, uint8_t* line, const uint8_t* shared, uint32_t base) {
  const uint32_t at = base + r * b.pitch;
  const uint32_t flip = (at >> 3) & row(b.map.swizzle).mask;
  if (flip == 0) return void(std::memcpy(line, shared + at, b.row_bytes));
  for (uint32_t x = 0; x < b.row_bytes; x += kTmaInnerAlign)
    std::memcpy(line + x, shared + ((at + x) ^ flip), kTmaInnerAlign);
}

}  // namespace tc::sim
