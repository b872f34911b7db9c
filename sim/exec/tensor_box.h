// What one tensor copy covers: rows of consecutive bytes in global memory, and where each lies in shared memory.
//   row r goes to shared + r * pitch; pitch = swizzle span, or the row without one (SMEM-09)
//   each 16-byte chunk goes to the XOR of its absolute address (SMEM-02 ... 04); since bases are multiples of 128 and
//   a row never crosses a 128-byte line of the pattern, the XOR is one number a row
//   tile    rows are all dimensions but the first, dimension 1 fastest; x = start + i * element stride
//   im2col  a row is `channels` of one pixel; pixels walk W, then H, D inside the bounding box of the corners, then N
//           (TMA-44); the element read lies `offsets` behind the pixel
// Rows outside of the tensor are filled (loads) or left out (stores); of the others the elements outside.
#pragma once
#include <array>
#include <vector>

#include "sim/machine/cta.h"
#include "sim/machine/tensor_map.h"

namespace tc::sim {

struct TensorBox {
  static constexpr uint64_t kOutside = 0;
  TensorMap map;
  std::vector<uint64_t> rows;     // global address of element 0 of each row, which may be outside; kOutside
  uint32_t first = 0, last = 0;   // elements of a row that are inside
  uint32_t row_bytes = 0, pitch = 0;

  uint32_t footprint() const { return pitch * static_cast<uint32_t>(rows.size()); }
  uint32_t inside_bytes() const { return (last - first) * map.element_bytes(); }
  // Global address of the part of row r that is inside.
  uint64_t address(size_t r) const { return rows[r] + uint64_t{first} * map.element_bytes(); }
  bool has(size_t r) const { return rows[r] != kOutside && first < last; }
};

// Coordinates of the first element; im2col: of the first pixel, with the offsets of the instruction (W, H, D).
struct BoxStart {
  std::array<int64_t, kTmaMaxRank> at{};
  std::array<uint32_t, 3> offsets{};
};
TensorBox make_box(const TensorMap& map, const BoxStart& start);

// Row r between a line of row_bytes and shared memory at `base`.
void scatter_row(const TensorBox& b, uint32_t r, const uint8_t* line, uint8_t* shared, uint32_t base);
void gather_row(const TensorBox& b, uint32_t r, uint8_t* line, const uint8_t* shared, uint32_t base);

// Visits the bytes of shared memory that the box covers: note(offset from base, bytes).
template <class Note>
void each_shared_range(const TensorBox& b, uint32_t base, Note note) {
  const uint32_t span = row(b.map.swizzle).span_bytes;
  if (b.row_bytes == b.pitch) return note(0u, b.footprint());
  for (uint32_t r = 0; r < b.rows.size(); ++r)
    for (uint32_t at = 0; at < b.row_bytes; at += kTmaInnerAlign) {
      const uint32_t address = base + r * b.pitch + at;
      note((span ? swizzled(b.map.swizzle, address) : address) - base, kTmaInnerAlign);
    }
}

}  // namespace tc::sim
