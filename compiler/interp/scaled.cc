// Block-scaled and 2:4 sparse matrix products.
//
// Scales. A product with scales multiplies element (row, k) of A by scale (row, (k_start + k) / granularity), and B's
// columns alike. Scales are bytes, four to a 32-bit word: byte ((k_start + k) / granularity) % 4.
//   tensor memory (tcgen05)    the word of row r lies in lane r % 32, column r / 32: the layout that tcgen05.cp
//                              .32x128b.warpx4 writes (PTX ISA 9.7.16.9; TileLang's tcgen05_cp_warpx4)
//   shared, row by row         word [r, (k_start + k) / (4 * granularity)]
//   blockscaled_chunk_kmajor   words of one k side by side: k * rows + (r % 32) * (rows / 32) + r / 32, and k counts
//                              from the tile's start (TileLang, mma_sm120_macro_generator.py)
// A byte is a power of two (UE8M0) or, for 4-bit elements with 16 to a scale, UE4M3 (PTX ISA 9.7.14.3, mxf4nvf4).
// Buffers of a float type hold one scale an element.
//
// Sparse. A holds two of every four elements along K (one of two where elements have 32 bits). E has four bits a
// group, from the low end: the places of both, two bits each; of 32-bit elements 0b0100 is the first and 0b1110 the
// second (PTX ISA 9.7.14.6.1). E is [M, K / n], n elements of K a metadata element: 16-bit E, 16-bit A: n = 16.
// Example: group (0, 5, 0, 7) is stored as 5 7 with bits 0b1101.
#include "compiler/interp/matrix_product.h"

namespace tc::ir::interp {
namespace {

double decode_scale(DType type, uint8_t byte) { return load(type, &byte, 0).f; }

// The scales of one operand: the place of each, and what a byte means.
struct Scales {
  const Op& op;
  Box box;
  int64_t start, granularity, rows;  // rows: of the operand
  DType byte;
  bool chunked;

  double at(int64_t row, int64_t k) const {
    int64_t scale = (chunked ? k : start + k) / granularity;
    size_t rank = box.extent.size();
    if (is_float(box.mem.dtype)) return load(box.mem.dtype, box.mem.data, place(row, scale)).f;
    if (info(box.mem.dtype).bits == 8)
      return decode_scale(byte, static_cast<uint8_t>(load(box.mem.dtype, box.mem.data, place(row, scale)).i));
    if (info(box.mem.dtype).bits != 32 || rank == 0) stop_unsupported(op, "scales in elements of this type");
    int64_t at = box.mem.space == Space::tmem ? place(row % 32, row / 32)
                 : chunked                    ? flat(scale / 4 * rows + row % 32 * (rows / 32) + row / 32)
                                              : place(row, scale / 4);
    uint64_t word = static_cast<uint64_t>(load(box.mem.dtype, box.mem.data, at).i);
    return decode_scale(byte, static_cast<uint8_t>(word >> (8 * (scale % 4))));
  }

 private:
  int64_t place(int64_t row, int64_t column) const {
    size_t rank = box.extent.size();
    std::vector<int64_t> at(rank, 0);
    if (rank < 2) at[rank - 1] = row * (box.extent[rank - 1] / std::max<int64_t>(rows, 1)) + column;
    else at[rank - 2] = row, at[rank - 1] = column;
    return inside(element(box, at));
  }
  int64_t flat(int64_t n) const { return inside(element(box, std::vector<int64_t>(box.extent.size(), 0)) + n); }
  int64_t inside(int64_t at) const {
    if (at < 0 || at >= box.mem.elements()) stop(op, "a scale lies outside of its buffer");
    return at;
  }
};

Scales scales_of(Cta& cta, Cta& owner, Group& g, const Op& op, size_t operand, int64_t rows, size_t lane) {
  bool is_a = operand == 3;
  int64_t granularity = int_attr(op, is_a ? "sf_a_granularity_k" : "sf_b_granularity_k", 0);
  if (granularity < 1) stop(op, "a block-scaled product without a granularity of its scales");
  DType type = cta.p.m[buffer_of(cta.p.m, op.operands[is_a ? 0 : 1])].type.dtype;
  bool nvfp4 = info(type).exponent_bits == 2 && info(type).mantissa_bits == 1 && granularity == 16;
  bool chunked = text_attr(op, "sf_layout", "") == "blockscaled_chunk_kmajor";
  if (chunked && rows % 32 != 0) stop(op, "scales in chunks are of a multiple of 32 rows");
  return {op,
          box_of_owner(cta, owner, g, op, operand, lane),
          lane_int(cta.p, g, op.operands[5], lane),
          granularity,
          rows,
          nvfp4 ? DType::e4m3 : DType::e8m0,
          chunked};
}

int64_t group_width(DType type) { return info(type).bits >= 32 ? 2 : 4; }

// Where the stored elements of a group are, as its four bits say; -1: no such pattern.
std::array<int64_t, 2> places(int64_t width, uint64_t bits) {
  if (width == 4) return {static_cast<int64_t>(bits & 3), static_cast<int64_t>(bits >> 2 & 3)};
  int64_t at = bits == 0b0100 ? 0 : bits == 0b1110 ? 1 : -1;
  return {at, at};
}

// A as it is without its zeros left out.
Panel expanded(const Op& op, Panel& stored, const Box& meta, bool transposed, DType type) {
  int64_t width = group_width(type), kept = width / 2;
  Panel full{stored.rows, stored.cols * 2, {}};
  full.cells.assign(static_cast<size_t>(full.rows * full.cols), 0);
  const int64_t groups = info(meta.mem.dtype).bits / 4;
  size_t rank = meta.extent.size();
  if (rank < 2) stop(op, "the metadata of a sparse product is no matrix");
  std::vector<int64_t> at(rank, 0);
  for (int64_t i = 0; i < full.rows; ++i)
    for (int64_t group = 0; group * width < full.cols; ++group) {
      at[rank - 2] = transposed ? group / groups : i, at[rank - 1] = transposed ? i : group / groups;
      int64_t e = element(meta, at);
      if (e < 0) stop(op, "the metadata of a sparse product is too small");
      uint64_t word = static_cast<uint64_t>(load(meta.mem.dtype, meta.mem.data, e).i);
      auto where = places(width, word >> (4 * (group % groups)) & 0xF);
      for (int64_t k = 0; k < kept; ++k) {
        int64_t place = where[static_cast<size_t>(k)];
        if (place < 0) stop(op, "metadata that names no element");
        full.at(i, group * width + place) += stored.at(i, group * kept + k);
      }
    }
  return full;
}
}  // namespace

void exec_gemm_scaled(Cta& cta, Group& g, const Op& op, size_t lane) {
  Owners owners = owners_of(cta, op);
  if (owners.ctas.empty()) return;
  bool clear = slot(cta.p, g, op.operands[6]).at(lane).i != 0;
  std::vector<Panel> parts;
  for (Cta* owner : owners.ctas)
    parts.push_back(panel_of(cta, op, box_of_owner(cta, *owner, g, op, 1, lane), int_attr(op, "transpose_b", 0) != 0));
  const Panel b = joined_columns(std::move(parts));
  for (Cta* owner : owners.ctas) {
    Panel a = panel_of(cta, op, box_of_owner(cta, *owner, g, op, 0, lane), int_attr(op, "transpose_a", 0) != 0);
    Panel columns = b;
    Scales sa = scales_of(cta, *owner, g, op, 3, a.rows, lane), sb = scales_of(cta, *owner, g, op, 4, b.cols, lane);
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t k = 0; k < a.cols; ++k) a.at(i, k) *= sa.at(i, k);
    for (int64_t k = 0; k < b.rows; ++k)
      for (int64_t j = 0; j < b.cols; ++j) columns.at(k, j) *= sb.at(j, k);
    multiply_into(cta, op, box_of_owner(cta, *owner, g, op, 2, lane), a, columns, clear);
  }
  tell(cta, owners, g, op, 7, lane);
}

void exec_gemm_sparse(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op, op.operands[0], lane), meta = box_of(cta, g, op, op.operands[1], lane);
  Panel stored = panel_of(cta, op, a, int_attr(op, "transpose_a", 0) != 0);
  Panel full = expanded(op, stored, meta, int_attr(op, "transpose_e", 0) != 0, a.mem.dtype);
  Panel b = panel_of(cta, op, box_of(cta, g, op, op.operands[2], lane), int_attr(op, "transpose_b", 0) != 0);
  bool clear = int_attr(op, "clear_accum", 0) != 0;
  multiply_into(cta, op, box_of(cta, g, op, op.operands[3], lane), full, b, clear);
  tell(cta, {{&cta}}, g, op, 4, lane);
}

}  // namespace tc::ir::interp
