// Dense matrix products: one CTA's, or a pair's. Integer products of 8 bits sum exactly in doubles: 2^14 * k stays far
// below 2^53.
#include "compiler/interp/matrix_product.h"

namespace tc::ir::interp {

Panel panel_of(const Cta& cta, const Op& op, const Box& b, bool transposed) {
  need_inside(cta, op, b);
  size_t rank = b.extent.size();
  if (rank < 2) stop(op, "an operand of a gemm is no matrix");
  int64_t first = element(b, std::vector<int64_t>(rank, 0)), row = b.mem.strides[rank - 2],
          column = b.mem.strides[rank - 1];
  Panel p{b.extent[rank - 2], b.extent[rank - 1], {}};
  if (transposed) std::swap(p.rows, p.cols), std::swap(row, column);
  p.cells.resize(static_cast<size_t>(p.rows * p.cols));
  if (transposed) {  // along memory, not across it
    std::vector<double> line(static_cast<size_t>(p.rows));
    for (int64_t j = 0; j < p.cols; ++j) {
      load_doubles(b.mem.dtype, b.mem.data, first + j * column, row, p.rows, line.data());
      for (int64_t i = 0; i < p.rows; ++i) p.at(i, j) = line[static_cast<size_t>(i)];
    }
    return p;
  }
  for (int64_t i = 0; i < p.rows; ++i)
    load_doubles(b.mem.dtype, b.mem.data, first + i * row, column, p.cols, p.cells.data() + i * p.cols);
  return p;
}

namespace {
// c (rows x n) += a (rows x k) * b (k x n), all contiguous. Four rows of b at a time keep c in registers longer.
void multiply(const double* a, const double* b, double* c, int64_t rows, int64_t n, int64_t k) {
  for (int64_t i = 0; i < rows; ++i) {
    double* row = c + i * n;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      double x0 = a[i * k + p], x1 = a[i * k + p + 1], x2 = a[i * k + p + 2], x3 = a[i * k + p + 3];
      const double *b0 = b + p * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
      for (int64_t j = 0; j < n; ++j) row[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
    }
    for (; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) row[j] += a[i * k + p] * b[p * n + j];
  }
}
}  // namespace

void multiply_into(const Cta& cta, const Op& op, const Box& box, const Panel& a, const Panel& b, bool clear) {
  size_t rank = box.extent.size();
  Panel c = rank < 2 || !clear ? panel_of(cta, op, box, false) : Panel{box.extent[rank - 2], box.extent[rank - 1], {}};
  need_inside(cta, op, box);
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) stop(op, "the shapes of the gemm do not fit");
  if (clear) c.cells.assign(static_cast<size_t>(c.rows * c.cols), 0);
  multiply(a.cells.data(), b.cells.data(), c.cells.data(), c.rows, c.cols, a.cols);
  DType type = box.mem.dtype;
  int64_t first = element(box, std::vector<int64_t>(rank, 0));
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) {
      double v = c.at(i, j);
      store(type, box.mem.data, first + i * box.mem.strides[rank - 2] + j * box.mem.strides[rank - 1],
            is_float(type) ? of(round_to(type, v)) : of(wrap_to(type, static_cast<int64_t>(v))));
    }
}

Owners owners_of(Cta& cta, const Op& op) {
  if (!int_attr(op, "use_2cta", 0)) return {{&cta}};
  if (cta.rank % 2 != 0) return {};
  if (cta.cluster.size() < 2) stop(op, "a product of two CTAs outside of a cluster");
  size_t even = static_cast<size_t>(cta.rank);
  return {{cta.cluster[even], cta.cluster[even + 1]}};
}

Box box_of_owner(Cta& cta, Cta& owner, Group& g, const Op& op, size_t operand, size_t lane) {
  Box b = box_of(cta, g, op, op.operands[operand], lane);
  if (&owner != &cta) b.mem = memory_of_peer(cta, owner, op, b.mem);
  return b;
}

Panel joined_columns(std::vector<Panel> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  Panel all{parts[0].rows, 0, {}};
  for (const Panel& p : parts) all.cols += p.cols;
  all.cells.resize(static_cast<size_t>(all.rows * all.cols));
  int64_t column = 0;
  for (Panel& p : parts) {
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.cols; ++j) all.at(i, column + j) = p.at(i, j);
    column += p.cols;
  }
  return all;
}

void tell(Cta& cta, const Owners& owners, Group& g, const Op& op, size_t operand, size_t lane) {
  if (op.operands.size() <= operand) return;
  int64_t index = lane_int(cta.p, g, op.operands[operand + 1], lane);
  for (Cta* owner : owners.ctas) {
    Mbarrier& b = mbarrier_at(*owner, op, op.operands[operand], index);
    --b.pending;
    settle(b);
  }
}

namespace {
void product(Cta& cta, Group& g, const Op& op, size_t lane, bool clear, size_t barrier) {
  Owners owners = owners_of(cta, op);
  if (owners.ctas.empty()) return;
  std::vector<Panel> parts;
  for (Cta* owner : owners.ctas)
    parts.push_back(panel_of(cta, op, box_of_owner(cta, *owner, g, op, 1, lane), int_attr(op, "transpose_b", 0) != 0));
  Panel b = joined_columns(std::move(parts));
  for (Cta* owner : owners.ctas) {
    Panel a = panel_of(cta, op, box_of_owner(cta, *owner, g, op, 0, lane), int_attr(op, "transpose_a", 0) != 0);
    multiply_into(cta, op, box_of_owner(cta, *owner, g, op, 2, lane), a, b, clear);
  }
  tell(cta, owners, g, op, barrier, lane);
}

void exec_gemm(Cta& cta, Group& g, const Op& op, size_t lane) {
  product(cta, g, op, lane, int_attr(op, "clear_accum", 0) != 0, 3);
}
void exec_gemm_conditional(Cta& cta, Group& g, const Op& op, size_t lane) {
  product(cta, g, op, lane, slot(cta.p, g, op.operands[3]).at(lane).i != 0, 4);
}

constexpr TileRow kRows[] = {
    {OpKind::gemm, exec_gemm},
    {OpKind::gemm_conditional, exec_gemm_conditional},
    {OpKind::gemm_scaled, exec_gemm_scaled},
    {OpKind::gemm_sparse, exec_gemm_sparse},
};
}  // namespace

std::span<const TileRow> matrix_rows() { return kRows; }

}  // namespace tc::ir::interp
