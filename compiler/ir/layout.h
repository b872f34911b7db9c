// Where tile elements live.
//
// Shared buffers: the innermost two dimensions (rows × cols) are cut into column panels of `span` bytes; a panel holds
// its rows one after the other, `span` bytes each, and the 16-byte chunks are XORed by the swizzle of that span
// (specs/swizzle.h; span 16 means no swizzle, 8×16-byte core matrices). span 0 is plain row-major.
//   f16[64, 128] span 128: two panels of 64 × 128 B; element (3, 70) is in panel 1, row 3, byte 12:
//   8192 + 3*128 + 12 = 8588, XORed with (3 << 4) → 8604 (the panel base is a multiple of 1024).
// This is what one TMA box a panel writes and what a wgmma descriptor reads (rules SMEM-09, SMEM-20…23).
//
// Fragments: the map (thread, register) → element. Either `modes` (a mixed-radix number of the thread and of the
// register selects the coordinates: the wgmma accumulator, WGMMA-08) or `linear`: element
// ((reg / vector) * threads + thread) * vector + reg % vector of the row-major tile.
// Every fragment is checked for being a bijection by enumeration (check()).
#pragma once
#include "compiler/ir/ir.h"

namespace tc::ir {

struct SharedShape {
  int64_t rows = 1, cols = 1;  // innermost two dimensions
  int64_t panel_cols = 0;      // elements of a row that lie in one panel
  int64_t panel_bytes = 0;     // rows * span
  int64_t tile_bytes = 0;      // one rows × cols tile
  int64_t total_bytes = 0;     // with the outer dimensions
  int64_t alignment = 16;      // of the base address, bytes
};
// Of a shared buffer type. The panel width divides the columns (assign_layouts sees to it).
SharedShape shared_shape(const Type& type);

struct Mode {
  int64_t extent = 1;
  std::vector<int64_t> step;  // one a dimension
};
struct Fragment {
  std::vector<int64_t> shape;
  int64_t threads = 0, registers = 0;
  std::vector<Mode> thread_modes, register_modes;  // fastest first; empty = linear
  int64_t vector = 1;                              // linear
  bool linear() const { return thread_modes.empty(); }
  bool operator==(const Fragment& o) const;
};
// wgmma accumulator of an m × n tile over groups_m × groups_n warpgroups.
Fragment wgmma_accumulator(int64_t m, int64_t n, int64_t groups_m, int64_t groups_n);
// The tile in row-major order over the threads, `vector` consecutive elements at a time.
Fragment linear_fragment(std::vector<int64_t> shape, int64_t threads, int64_t vector);
// Row-major element of (thread, register), or -1 where a linear fragment runs past the tile.
int64_t element_of(const Fragment& f, int64_t thread, int64_t reg);
// Every element has exactly one (thread, register)?
bool is_bijective(const Fragment& f);

}  // namespace tc::ir
