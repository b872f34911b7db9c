// Tile operations of the interpreter. Boxes are walked by an odometer; matrices are packed into contiguous panels of
// doubles (or integers) before they are multiplied. An operation on threads' own arrays is carried out by each thread.
#include <algorithm>
#include <limits>

#include "compiler/ir/interp_machine.h"

namespace tc::ir::interp {
namespace {

struct Box {
  Memory mem;
  std::vector<int64_t> offset, extent;
  ValueId buffer;
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t e : extent) n *= e;
    return n;
  }
};

Box box_of(Cta& cta, Group& g, ValueId v, size_t lane) {
  const Module& m = cta.p.m;
  Box box{.mem = {}, .offset = {}, .extent = {}, .buffer = buffer_of(m, v)};
  box.mem = memory_for(cta, g, box.buffer, lane);
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

// Element offset of a place in a box, or -1 outside of the buffer.
int64_t element(const Box& b, const std::vector<int64_t>& at) {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    int64_t i = b.offset[d] + at[d];
    if (i < 0 || i >= b.mem.shape[d]) return -1;
    offset += i * b.mem.strides[d];
  }
  return offset;
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

Number zero(DType t) { return is_float(t) ? of(0.0) : of(int64_t{0}); }

// Rows that lie side by side are moved as they are.
bool copy_rows(const Box& a, const Box& b) {
  if (a.mem.dtype != b.mem.dtype || is_packed(a.mem.dtype) || a.extent != b.extent || a.extent.empty()) return false;
  size_t last = a.extent.size() - 1;
  if (a.mem.strides[last] != 1 || b.mem.strides[last] != 1) return false;
  for (size_t d = 0; d < a.extent.size(); ++d)
    if (a.offset[d] < 0 || b.offset[d] < 0 || a.offset[d] + a.extent[d] > a.mem.shape[d] ||
        b.offset[d] + b.extent[d] > b.mem.shape[d])
      return false;
  std::vector<int64_t> rows(a.extent.begin(), a.extent.end() - 1);
  int64_t bytes = info(a.mem.dtype).bits / 8;
  walk_box(rows, [&](std::vector<int64_t> at) {
    at.push_back(0);
    std::memmove(b.mem.data + element(b, at) * bytes, a.mem.data + element(a, at) * bytes,
                 static_cast<size_t>(a.extent[last] * bytes));
  });
  return true;
}

void exec_copy(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op.operands[0], lane), b = box_of(cta, g, op.operands[1], lane);
  if (copy_rows(a, b)) return;
  walk_pair(op, a, b, [&](int64_t from, int64_t to) {
    if (to < 0) return;
    Number v = from < 0 ? zero(a.mem.dtype) : load(a.mem.dtype, a.mem.data, from);
    store(b.mem.dtype, b.mem.data, to, convert(a.mem.dtype, b.mem.dtype, v));
  });
}

void exec_fill(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box b = box_of(cta, g, op.operands[0], lane);
  need_inside(cta, op, b);
  Number v = convert(cta.p.m[op.operands[1]].type.dtype, b.mem.dtype, slot(cta.p, g, op.operands[1]).at(lane));
  walk_box(b.extent, [&](const std::vector<int64_t>& at) { store(b.mem.dtype, b.mem.data, element(b, at), v); });
}

void exec_transpose(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op.operands[0], lane), b = box_of(cta, g, op.operands[1], lane);
  need_inside(cta, op, a), need_inside(cta, op, b);
  walk_box(a.extent, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> to = at;
    std::swap(to[to.size() - 1], to[to.size() - 2]);
    for (size_t d = 0; d < to.size(); ++d)
      if (to[d] >= b.extent[d]) stop(op, "the shapes of the transposition do not fit");
    Number v = load(a.mem.dtype, a.mem.data, element(a, at));
    store(b.mem.dtype, b.mem.data, element(b, to), convert(a.mem.dtype, b.mem.dtype, v));
  });
}

// ---- matrices
struct Matrix {
  const Memory& mem;
  int64_t first, rows, cols, row_stride, col_stride;
};

Matrix matrix_of(const Cta& cta, const Op& op, const Box& b, bool transposed) {
  need_inside(cta, op, b);
  size_t rank = b.extent.size();
  if (rank < 2) stop(op, "an operand of a gemm is no matrix");
  Matrix m{b.mem,
           element(b, std::vector<int64_t>(rank, 0)),
           b.extent[rank - 2],
           b.extent[rank - 1],
           b.mem.strides[rank - 2],
           b.mem.strides[rank - 1]};
  if (transposed) {
    std::swap(m.rows, m.cols);
    std::swap(m.row_stride, m.col_stride);
  }
  return m;
}

std::vector<double> packed(const Matrix& m) {
  std::vector<double> out(static_cast<size_t>(m.rows * m.cols));
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.cols; ++j)
      out[static_cast<size_t>(i * m.cols + j)] =
          as_double(m.mem.dtype, load(m.mem.dtype, m.mem.data, m.first + i * m.row_stride + j * m.col_stride));
  return out;
}

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

// Integer products of i8 sum exactly in doubles: 2^14 * k stays far below 2^53.
void product(Cta& cta, Group& g, const Op& op, size_t lane, bool clear) {
  Box boxes[3] = {box_of(cta, g, op.operands[0], lane), box_of(cta, g, op.operands[1], lane),
                  box_of(cta, g, op.operands[2], lane)};
  Matrix a = matrix_of(cta, op, boxes[0], int_attr(op, "transpose_a", 0) != 0);
  Matrix b = matrix_of(cta, op, boxes[1], int_attr(op, "transpose_b", 0) != 0);
  Matrix c = matrix_of(cta, op, boxes[2], false);
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) stop(op, "the shapes of the gemm do not fit");
  std::vector<double> pa = packed(a), pb = packed(b), sum(static_cast<size_t>(c.rows * c.cols), 0);
  if (!clear) sum = packed(c);
  multiply(pa.data(), pb.data(), sum.data(), c.rows, c.cols, a.cols);
  DType type = boxes[2].mem.dtype;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j) {
      double v = sum[static_cast<size_t>(i * c.cols + j)];
      store(type, c.mem.data, c.first + i * c.row_stride + j * c.col_stride,
            is_float(type) ? of(round_to(type, v)) : of(wrap_to(type, static_cast<int64_t>(v))));
    }
}

// An asynchronous product is complete when it is issued; its barrier is told once.
void tell(Cta& cta, Group& g, const Op& op, size_t at, size_t lane) {
  if (op.operands.size() <= at) return;
  Mbarrier& b = mbarrier_at(cta, op, op.operands[at], lane_int(cta.p, g, op.operands[at + 1], lane));
  --b.pending;
  settle(b);
}
void exec_gemm(Cta& cta, Group& g, const Op& op, size_t lane) {
  if (int_attr(op, "use_2cta", 0)) stop_unsupported(op, "a gemm of two CTAs, in the tile interpreter");
  product(cta, g, op, lane, int_attr(op, "clear_accum", 0) != 0);
  tell(cta, g, op, 3, lane);
}
void exec_gemm_conditional(Cta& cta, Group& g, const Op& op, size_t lane) {
  if (int_attr(op, "use_2cta", 0)) stop_unsupported(op, "a gemm of two CTAs, in the tile interpreter");
  product(cta, g, op, lane, slot(cta.p, g, op.operands[3]).at(lane).i != 0);
  tell(cta, g, op, 4, lane);
}

// ---- reductions
struct Fold {
  std::string_view name;
  OpKind kind;
  bool absolute;
  double first;  // identity of floats; integers: that of the operation
};
constexpr Fold kFolds[] = {{"sum", OpKind::add, false, 0},         {"abssum", OpKind::add, true, 0},
                           {"max", OpKind::max, false, -HUGE_VAL}, {"min", OpKind::min, false, HUGE_VAL},
                           {"absmax", OpKind::max, true, 0},       {"bitand", OpKind::bit_and, false, 0},
                           {"bitor", OpKind::bit_or, false, 0},    {"bitxor", OpKind::bit_xor, false, 0}};

const Fold& fold_of(const Op& op) {
  std::string_view name = text_attr(op, "op", "sum");
  for (const Fold& f : kFolds)
    if (f.name == name) return f;
  stop_unsupported(op, "a reduction '" + std::string(name) + "'");
}
// Sums of floats are rounded once, at the end.
struct Accumulator {
  const Fold& fold;
  DType type;
  bool propagate;
  bool begun = false;
  Number value{};
  void add(DType from, Number v) {
    if (fold.absolute) v = is_float(from) ? of(std::fabs(v.f)) : of(v.i < 0 ? -v.i : v.i);
    if (is_float(type)) {
      double x = as_double(from, v);
      if (!begun) value = of(x);
      else if (fold.kind == OpKind::add) value.f += x;
      else if (propagate && (std::isnan(value.f) || std::isnan(x))) value = of(std::nan(""));
      else value = binary_function(fold.kind, DType::f64)(DType::f64, value, of(x));
    } else {
      Number x = convert(from, type, v);
      value = begun ? binary_function(fold.kind, type)(type, value, x) : x;
    }
    begun = true;
  }
};

void exec_reduce(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box src = box_of(cta, g, op.operands[0], lane), dst = box_of(cta, g, op.operands[1], lane);
  need_inside(cta, op, src), need_inside(cta, op, dst);
  size_t rank = src.extent.size();
  int64_t dim = int_attr(op, "dim", -1);
  if (dim < 0) dim += static_cast<int64_t>(rank);
  if (dim < 0 || dim >= static_cast<int64_t>(rank)) stop(op, "the source has no dimension " + std::to_string(dim));
  std::vector<int64_t> outer = src.extent;
  outer[static_cast<size_t>(dim)] = 1;
  bool keeps = dst.extent.size() == rank;
  const Fold& fold = fold_of(op);
  walk_box(outer, [&](std::vector<int64_t> at) {
    std::vector<int64_t> to = at;
    if (!keeps) to.erase(to.begin() + dim);
    if (to.empty()) to.push_back(0);
    int64_t target = to.size() == dst.extent.size() ? element(dst, to) : -1;
    if (target < 0) stop(op, "the shapes of the reduction do not fit");
    Accumulator sum{fold, dst.mem.dtype, int_attr(op, "nan_propagate", 0) != 0};
    if (int_attr(op, "clear", 1) == 0) sum.add(dst.mem.dtype, load(dst.mem.dtype, dst.mem.data, target));
    for (int64_t i = 0; i < src.extent[static_cast<size_t>(dim)]; ++i) {
      at[static_cast<size_t>(dim)] = i;
      sum.add(src.mem.dtype, load(src.mem.dtype, src.mem.data, element(src, at)));
    }
    store(dst.mem.dtype, dst.mem.data, target, round_to(dst.mem.dtype, sum.value));
  });
}

void exec_scan(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box src = box_of(cta, g, op.operands[0], lane), dst = box_of(cta, g, op.operands[1], lane);
  need_inside(cta, op, src), need_inside(cta, op, dst);
  int64_t dim = int_attr(op, "dim", 0);
  if (dim < 0) dim += static_cast<int64_t>(src.extent.size());
  if (dim < 0 || dim >= static_cast<int64_t>(src.extent.size()) || src.extent != dst.extent)
    stop(op, "the shapes of the scan do not fit");
  size_t d = static_cast<size_t>(dim);
  std::vector<int64_t> outer = src.extent;
  outer[d] = 1;
  const Fold& fold = fold_of(op);
  walk_box(outer, [&](std::vector<int64_t> at) {
    Accumulator sum{fold, dst.mem.dtype, false};
    for (int64_t i = 0; i < src.extent[d]; ++i) {
      at[d] = int_attr(op, "reverse", 0) ? src.extent[d] - 1 - i : i;
      sum.add(src.mem.dtype, load(src.mem.dtype, src.mem.data, element(src, at)));
      store(dst.mem.dtype, dst.mem.data, element(dst, at), round_to(dst.mem.dtype, sum.value));
    }
  });
}

void exec_atomic_tile(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op.operands[0], lane), b = box_of(cta, g, op.operands[1], lane);
  std::string kind(text_attr(op, "op", "add"));
  walk_pair(op, a, b, [&](int64_t from, int64_t to) {
    if (to < 0 || from < 0) return;
    Number v = convert(a.mem.dtype, b.mem.dtype, load(a.mem.dtype, a.mem.data, from));
    add_atomically(cta.p, kind, b.mem, to, v, nullptr);
  });
}
void exec_atomic_fill(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box b = box_of(cta, g, op.operands[1], lane);
  Number v = convert(cta.p.m[op.operands[0]].type.dtype, b.mem.dtype, slot(cta.p, g, op.operands[0]).at(lane));
  std::string kind(text_attr(op, "op", "add"));
  walk_box(b.extent, [&](const std::vector<int64_t>& at) {
    if (int64_t to = element(b, at); to >= 0) add_atomically(cta.p, kind, b.mem, to, v, nullptr);
  });
}

// ---- reducers: all threads' parts lie in one place here
std::string reducer_op(const Cta& cta, ValueId reducer) {
  OpId def = cta.p.m[buffer_of(cta.p.m, reducer)].def;
  return def.valid() ? std::string(text_attr(cta.p.m[def], "reducer", "sum")) : "sum";
}
void exec_reducer_init(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box b = box_of(cta, g, op.operands[0], lane);
  std::string name = reducer_op(cta, op.operands[0]);
  DType type = b.mem.dtype;
  double inf = std::numeric_limits<double>::infinity();
  Number v = name == "max"    ? convert(DType::f64, type, of(-inf))
             : name == "min"  ? convert(DType::f64, type, of(inf))
             : is_float(type) ? of(0.0)
                              : of(wrap_to(type, name == "bitand" ? -1 : 0));
  if (op.operands.size() > 1)
    v = convert(cta.p.m[op.operands[1]].type.dtype, type, slot(cta.p, g, op.operands[1]).at(lane));
  walk_box(b.extent, [&](const std::vector<int64_t>& at) { store(type, b.mem.data, element(b, at), v); });
}
void exec_reducer_finalize(Cta& cta, Group& g, const Op& op, size_t lane) {
  if (op.operands.size() > 1) exec_copy(cta, g, op, lane);
}

// Columns [rows: output pixels][kernel row, kernel column, channel] of an image NHWC; rows of it that lie in the
// padding are 0.
void exec_im2col(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box img = box_of(cta, g, op.operands[0], lane), col = box_of(cta, g, op.operands[1], lane);
  if (img.extent.size() != 4 || col.extent.size() < 2) stop(op, "im2col takes an image NHWC and a matrix");
  int64_t kernel = int_attr(op, "kernel", 1), stride = int_attr(op, "stride", 1),
          dilation = int_attr(op, "dilation", 1), pad = int_attr(op, "pad", 0);
  int64_t h = img.mem.shape[1], w = img.mem.shape[2], c = img.mem.shape[3];
  int64_t out_h = (h + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  int64_t out_w = (w + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  size_t r = col.extent.size();
  int64_t rows = col.extent[r - 2], cols = col.extent[r - 1];
  int64_t first_row = lane_int(cta.p, g, op.operands[2], lane) * rows,
          first_col = lane_int(cta.p, g, op.operands[3], lane) * cols;
  walk_box(col.extent, [&](const std::vector<int64_t>& at) {
    int64_t m = first_row + at[r - 2], k = first_col + at[r - 1];
    int64_t y = m % (out_h * out_w) / out_w * stride + k / (kernel * c) * dilation - pad;
    int64_t x = m % out_w * stride + k / c % kernel * dilation - pad;
    int64_t from = element({img.mem, {0, 0, 0, 0}, img.mem.shape, img.buffer}, {m / (out_h * out_w), y, x, k % c});
    Number v = from < 0 || k >= kernel * kernel * c ? zero(img.mem.dtype) : load(img.mem.dtype, img.mem.data, from);
    store(col.mem.dtype, col.mem.data, element(col, at), convert(img.mem.dtype, col.mem.dtype, v));
  });
}

// Rows r0 … r3 of a matrix, from a column on; rows outside of the source are 0.
void exec_gather(Cta& cta, Group& g, const Op& op, size_t lane) {
  bool scatters = op.kind == OpKind::tma_scatter;
  Box a = box_of(cta, g, op.operands[0], lane), b = box_of(cta, g, op.operands[1], lane);
  Box &matrix = scatters ? b : a, &rows = scatters ? a : b;
  if (matrix.mem.shape.size() != 2 || rows.extent.size() < 2) stop(op, "gather and scatter take matrices");
  size_t r = rows.extent.size();
  int64_t column = lane_int(cta.p, g, op.operands[2], lane);
  walk_box(rows.extent, [&](const std::vector<int64_t>& at) {
    if (at[r - 2] >= 4) stop(op, "gather and scatter move four rows");
    int64_t i = lane_int(cta.p, g, op.operands[static_cast<size_t>(3 + at[r - 2])], lane), j = column + at[r - 1];
    bool in = i >= 0 && i < matrix.mem.shape[0] && j >= 0 && j < matrix.mem.shape[1];
    int64_t there = in ? i * matrix.mem.strides[0] + j * matrix.mem.strides[1] : -1, here = element(rows, at);
    if (!scatters) store(b.mem.dtype, b.mem.data, here, in ? load(a.mem.dtype, a.mem.data, there) : zero(a.mem.dtype));
    else if (in) store(b.mem.dtype, b.mem.data, there, load(a.mem.dtype, a.mem.data, here));
  });
}

// The same buffer of another CTA of the cluster.
void exec_copy_cluster(Cta& cta, Group& g, const Op& op, size_t lane) {
  size_t count = op.operands.size();
  bool one = count == 3 || count == 5;
  int64_t block = one ? lane_int(cta.p, g, op.operands[2], lane) : -1, mask = int_attr(op, "cluster_mask", 0);
  Box a = box_of(cta, g, op.operands[0], lane), b = box_of(cta, g, op.operands[1], lane);
  for (Cta* peer : cta.cluster) {
    if (one ? peer->rank != block : !(mask >> peer->rank & 1)) continue;
    Box there = b;
    if (b.mem.space != Space::global) there.mem = peer->memory.at(cta.p.slot_of[b.buffer.index]);
    walk_pair(op, a, there, [&](int64_t from, int64_t to) {
      if (to < 0) return;
      Number v = from < 0 ? zero(a.mem.dtype) : load(a.mem.dtype, a.mem.data, from);
      store(there.mem.dtype, there.mem.data, to, convert(a.mem.dtype, there.mem.dtype, v));
    });
  }
}

struct TileRow {
  OpKind kind;
  void (*exec)(Cta&, Group&, const Op&, size_t lane);
};
constexpr TileRow kTileRows[] = {
    {OpKind::copy, exec_copy},
    {OpKind::async_copy, exec_copy},
    {OpKind::tma_copy, exec_copy},
    {OpKind::fill, exec_fill},
    {OpKind::transpose, exec_transpose},
    {OpKind::gemm, exec_gemm},
    {OpKind::gemm_conditional, exec_gemm_conditional},
    {OpKind::reduce, exec_reduce},
    {OpKind::scan, exec_scan},
    {OpKind::atomic, exec_atomic_tile},
    {OpKind::atomic_fill, exec_atomic_fill},
    {OpKind::im2col, exec_im2col},
    {OpKind::reducer_init, exec_reducer_init},
    {OpKind::reducer_finalize, exec_reducer_finalize},
    {OpKind::tma_gather, exec_gather},
    {OpKind::tma_scatter, exec_gather},
    {OpKind::copy_cluster, exec_copy_cluster},
    {OpKind::parallel, exec_parallel},
};
constexpr int64_t kChunk = 512;  // iterations that are run at once

// One thread that stands for all: its values have to be the same in all.
Group representative(const Cta& cta, const Group& g, const Op& loop, size_t lane) {
  const Module& m = cta.p.m;
  Group one;
  one.threads = {g.threads[lane]};
  one.iterations = true;
  one.env = g.env;
  std::vector<bool> inner(m.values.size(), false);
  walk(m, loop.blocks[0], [&](OpId id) {
    for (ValueId v : m[id].results) inner[v.index] = true;
    for (BlockId b : m[id].blocks)
      for (ValueId v : m[b].args) inner[v.index] = true;
  });
  for (ValueId v : m[loop.blocks[0]].args) inner[v.index] = true;
  walk(m, loop.blocks[0], [&](OpId id) {
    const Op& op = m[id];
    for (size_t n = 0; n < op.operands.size(); ++n) {
      ValueId v = op.operands[n];
      if (inner[v.index]) continue;
      if (m[v].type.kind == TypeKind::scalar) {
        const Slot& s = slot(cta.p, g, v);
        if (s.is_uniform()) continue;
        uniform_int(cta.p, g, op, v);  // refuses values that differ
        slot(cta.p, one, v) = {s.at(lane), {}};
      }
      ValueId b = buffer_of(m, v);
      auto local = g.locals.find(cta.p.slot_of[b.index]);
      if (local == g.locals.end()) continue;
      char role = operand_role(op, n);
      if (role == 'w' || role == 'u') stop_unsupported(op, "a thread's own array that a parallel loop writes");
      one.locals[local->first] = local->second;  // cells of all threads; narrowed below
    }
  });
  // Random numbers are drawn in the order of the iterations; which thread runs which is not known, so there is one.
  if (auto random = g.locals.find(cta.p.random_slot); random != g.locals.end() && cta.thread_count == 1)
    one.locals[random->first] = random->second;
  for (auto& [at, local] : one.locals) {
    if (at == cta.p.random_slot) continue;
    uint8_t* cells = local.of(lane);
    std::vector<uint8_t> mine(cells, cells + local.shape.bytes);
    local.cells.clear();
    for (int64_t i = 0; i < kChunk; ++i) local.cells.insert(local.cells.end(), mine.begin(), mine.end());
  }
  return one;
}
}  // namespace

bool is_tile_op(OpKind kind) {
  return std::any_of(std::begin(kTileRows), std::end(kTileRows), [&](const TileRow& row) { return row.kind == kind; });
}

bool is_collective(const Module& m, const Op& op) {
  if (!is_tile_op(op.kind)) return false;
  if (op.kind == OpKind::parallel) return true;
  return std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
    const Type& t = m[buffer_of(m, v)].type;
    return t.kind == TypeKind::buffer && t.space == Space::local;
  });
}

void exec_tile(Cta& cta, Group& g, OpId id, size_t lane) {
  const Op& op = cta.p.m[id];
  for (const TileRow& row : kTileRows)
    if (row.kind == op.kind) return row.exec(cta, g, op, lane);
}

void exec_parallel(Cta& cta, Group& group, const Op& op, size_t lane) {
  const Module& m = cta.p.m;
  BlockId body = op.blocks[0];
  Group g = representative(cta, group, op, lane);
  std::vector<int64_t> extent;
  int64_t total = 1;
  for (ValueId v : op.operands) total *= extent.emplace_back(std::max<int64_t>(0, uniform_int(cta.p, group, op, v)));
  for (int64_t first = 0; first < total; first += kChunk) {
    g.lanes = static_cast<size_t>(std::min(kChunk, total - first));
    int64_t stride = 1;
    for (size_t d = extent.size(); d-- > 0;) {
      std::vector<Number> index(g.lanes);
      for (size_t i = 0; i < g.lanes; ++i) index[i] = of((first + static_cast<int64_t>(i)) / stride % extent[d]);
      set_lanes(slot(cta.p, g, m[body].args[d]), std::move(index));
      stride *= extent[d];
    }
    Mask mask(g.lanes, 1);
    exec_inline(cta, g, body, mask);
    if (auto random = g.locals.find(cta.p.random_slot); random != g.locals.end())
      group.locals[random->first] = random->second;
  }
}

}  // namespace tc::ir::interp
