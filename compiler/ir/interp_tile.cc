// Tile operations of the interpreter: copy, fill, gemm, parallel. Their operands are the same in all threads.
// Boxes are walked by an odometer; matrices are packed into contiguous panels before they are multiplied.
#include <algorithm>
#include <atomic>

#include "compiler/ir/interp_machine.h"

namespace tc::ir::interp {
namespace {

struct Box {
  Memory* mem;
  std::vector<int64_t> offset, extent;
  ValueId buffer;
};

Box box_of(Cta& cta, Group& g, const Op& user, ValueId v) {
  const Module& m = cta.p.m;
  Box box{nullptr, {}, {}, buffer_of(m, v)};
  if (m[box.buffer].type.space == Space::local) {
    Diag d = unsupported(place(user), "a tile operation on a thread's own array");
    throw Stop{d};
  }
  box.mem = &memory_of(cta, box.buffer);
  size_t rank = box.mem->shape.size();
  if (box.buffer == v) {
    box.offset.assign(rank, 0);
    box.extent = box.mem->shape;
    return box;
  }
  const Op& region = m[m[v].def];
  for (size_t d = 0; d < rank; ++d) {
    box.offset.push_back(uniform_int(cta.p, g, user, region.operands[1 + d]));
    box.extent.push_back(uniform_int(cta.p, g, user, region.operands[1 + rank + d]));
  }
  return box;
}

bool inside(const Box& b) {
  for (size_t d = 0; d < b.offset.size(); ++d)
    if (b.offset[d] < 0 || b.offset[d] + b.extent[d] > b.mem->shape[d]) return false;
  return true;
}

void need_inside(const Cta& cta, const Op& op, const Box& b) {
  if (inside(b)) return;
  std::string at;
  for (size_t d = 0; d < b.offset.size(); ++d)
    at += (d ? ", " : "") + std::to_string(b.offset[d]) + ":" + std::to_string(b.offset[d] + b.extent[d]);
  std::string size;
  for (size_t d = 0; d < b.offset.size(); ++d) size += (d ? ", " : "") + std::to_string(b.mem->shape[d]);
  stop(op, "region [" + at + "] of '" + cta.p.m[b.buffer].name + "', which has shape [" + size + "]");
}

int64_t elements(const Box& b) {
  int64_t n = 1;
  for (int64_t e : b.extent) n *= e;
  return n;
}

// The extents of a box that are not 1, with the dimension each belongs to.
std::vector<size_t> loop_dims(const Box& b) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < b.extent.size(); ++d)
    if (b.extent[d] != 1) dims.push_back(d);
  return dims;
}

// One side of a copy along the loop dimensions: index and offset of the current element.
struct Side {
  const Box& box;
  std::vector<size_t> dims;
  std::vector<int64_t> base;  // offset in each loop dimension
  int64_t fixed = 0;          // element offset of the other dimensions
  bool fixed_inside = true;
  explicit Side(const Box& b) : box(b), dims(loop_dims(b)) {
    for (size_t d = 0; d < b.extent.size(); ++d)
      if (b.extent[d] == 1) {
        fixed += b.offset[d] * b.mem->strides[d];
        fixed_inside &= b.offset[d] >= 0 && b.offset[d] < b.mem->shape[d];
      }
    for (size_t d : dims) base.push_back(b.offset[d]);
  }
};

void copy_rows(const Side& src, const Side& dst, std::vector<int64_t>& at, size_t level) {
  const Box &a = src.box, &b = dst.box;
  size_t n = src.dims.size();
  if (level + 1 < n) {
    int64_t extent = a.extent[src.dims[level]];
    for (at[level] = 0; at[level] < extent; ++at[level]) copy_rows(src, dst, at, level + 1);
    return;
  }
  bool src_in = src.fixed_inside, dst_in = dst.fixed_inside;
  int64_t from = src.fixed, to = dst.fixed;
  for (size_t d = 0; d + 1 < n; ++d) {
    int64_t i = src.base[d] + at[d], j = dst.base[d] + at[d];
    src_in &= i >= 0 && i < a.mem->shape[src.dims[d]];
    dst_in &= j >= 0 && j < b.mem->shape[dst.dims[d]];
    from += i * a.mem->strides[src.dims[d]];
    to += j * b.mem->strides[dst.dims[d]];
  }
  if (!dst_in) return;
  int64_t extent = n ? a.extent[src.dims[n - 1]] : 1;
  for (int64_t i = 0; i < extent; ++i) {
    int64_t x = n ? src.base[n - 1] + i : 0, y = n ? dst.base[n - 1] + i : 0;
    if (n && (y < 0 || y >= b.mem->shape[dst.dims[n - 1]])) continue;
    bool readable = src_in && (!n || (x >= 0 && x < a.mem->shape[src.dims[n - 1]]));
    Number v = 0;
    if (readable)
      v = std::atomic_ref(a.mem->data[from + (n ? x * a.mem->strides[src.dims[n - 1]] : 0)])
              .load(std::memory_order_relaxed);
    if (a.mem->dtype != b.mem->dtype) v = apply_cast(a.mem->dtype, b.mem->dtype, v);
    std::atomic_ref(b.mem->data[to + (n ? y * b.mem->strides[dst.dims[n - 1]] : 0)])
        .store(v, std::memory_order_relaxed);
  }
}

void exec_copy(Cta& cta, Group& g, const Op& op) {
  Box a = box_of(cta, g, op, op.operands[0]), b = box_of(cta, g, op, op.operands[1]);
  Side src(a), dst(b);
  bool match = src.dims.size() == dst.dims.size();
  for (size_t i = 0; match && i < src.dims.size(); ++i) match = a.extent[src.dims[i]] == b.extent[dst.dims[i]];
  if (!match) stop(op, "the sides of the copy differ in extents");
  std::vector<int64_t> at(std::max<size_t>(1, src.dims.size()), 0);
  copy_rows(src, dst, at, 0);
}

void exec_fill(Cta& cta, Group& g, const Op& op) {
  Box b = box_of(cta, g, op, op.operands[0]);
  need_inside(cta, op, b);
  Number v = slot(cta.p, g, op.operands[1]).at(0);
  std::vector<int64_t> at(b.extent.size(), 0);
  for (int64_t left = elements(b); left > 0; --left) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += (b.offset[d] + at[d]) * b.mem->strides[d];
    b.mem->data[offset] = round_to(b.mem->dtype, v);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < b.extent[d]) break;
      at[d] = 0;
    }
  }
}

struct Matrix {
  Number* data;
  int64_t rows, cols, row_stride, col_stride;
};

Matrix matrix_of(const Cta& cta, const Op& op, const Box& b, bool transposed) {
  need_inside(cta, op, b);
  size_t rank = b.extent.size();
  if (rank < 2) stop(op, "an operand of a gemm is no matrix");
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) offset += b.offset[d] * b.mem->strides[d];
  Matrix m{b.mem->data + offset, b.extent[rank - 2], b.extent[rank - 1], b.mem->strides[rank - 2],
           b.mem->strides[rank - 1]};
  if (transposed) {
    std::swap(m.rows, m.cols);
    std::swap(m.row_stride, m.col_stride);
  }
  return m;
}

std::vector<Number> packed(const Matrix& m) {
  std::vector<Number> out(static_cast<size_t>(m.rows * m.cols));
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.cols; ++j)
      out[static_cast<size_t>(i * m.cols + j)] = m.data[i * m.row_stride + j * m.col_stride];
  return out;
}

// c (rows x n) += a (rows x k) * b (k x n), all contiguous. Four rows of b at a time keep c in registers longer.
void multiply(const Number* a, const Number* b, Number* c, int64_t rows, int64_t n, int64_t k) {
  for (int64_t i = 0; i < rows; ++i) {
    Number* row = c + i * n;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      Number x0 = a[i * k + p], x1 = a[i * k + p + 1], x2 = a[i * k + p + 2], x3 = a[i * k + p + 3];
      const Number *b0 = b + p * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
      for (int64_t j = 0; j < n; ++j) row[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
    }
    for (; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) row[j] += a[i * k + p] * b[p * n + j];
  }
}

void exec_gemm(Cta& cta, Group& g, const Op& op) {
  Box boxes[3] = {box_of(cta, g, op, op.operands[0]), box_of(cta, g, op, op.operands[1]),
                  box_of(cta, g, op, op.operands[2])};
  Matrix a = matrix_of(cta, op, boxes[0], int_attr(op, "transpose_a", 0) != 0);
  Matrix b = matrix_of(cta, op, boxes[1], int_attr(op, "transpose_b", 0) != 0);
  Matrix c = matrix_of(cta, op, boxes[2], false);
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) stop(op, "the shapes of the gemm do not fit");
  std::vector<Number> pa = packed(a), pb = packed(b), sum(static_cast<size_t>(c.rows * c.cols), 0);
  if (int_attr(op, "clear_accum", 0) == 0) sum = packed(c);
  multiply(pa.data(), pb.data(), sum.data(), c.rows, c.cols, a.cols);
  DType type = boxes[2].mem->dtype;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.cols; ++j)
      c.data[i * c.row_stride + j * c.col_stride] = round_to(type, sum[static_cast<size_t>(i * c.cols + j)]);
}

// Scalar code inside a parallel loop: straight recursion, nothing there can block.
void exec_block(Cta& cta, Group& g, BlockId block);

void exec_nested(Cta& cta, Group& g, OpId id) {
  const Op& op = cta.p.m[id];
  count_step(cta, op);
  if (op.kind == OpKind::if_) return exec_block(cta, g, op.blocks[slot(cta.p, g, op.operands[0]).at(0) != 0 ? 0 : 1]);
  if (op.kind == OpKind::for_) {
    int64_t lo = uniform_int(cta.p, g, op, op.operands[0]), hi = uniform_int(cta.p, g, op, op.operands[1]);
    Slot& index = slot(cta.p, g, cta.p.m[op.blocks[0]].args[0]);
    for (int64_t i = lo; i < hi; ++i) {
      index = {static_cast<Number>(i), {}};
      exec_block(cta, g, op.blocks[0]);
    }
    return;
  }
  if (!exec_scalar(cta, g, id))
    throw Stop{unsupported(place(op), "'" + std::string(info(op.kind).name) + "' inside a parallel loop")};
}
void exec_block(Cta& cta, Group& g, BlockId block) {
  for (OpId id : cta.p.m[block].ops) exec_nested(cta, g, id);
}

// One thread that stands for all: its values have to be the same in all.
Group representative(const Cta& cta, const Group& g, BlockId body) {
  const Module& m = cta.p.m;
  Group one;
  one.threads = {g.threads[0]};
  one.env = g.env;
  for (const auto& [buffer, cells] : g.locals) one.locals[buffer] = {cells[0]};
  walk(m, body, [&](OpId id) {
    bool varies = m[id].kind == OpKind::thread_index;
    for (ValueId v : m[id].operands) varies |= m[v].type.kind == TypeKind::scalar && !slot(cta.p, g, v).is_uniform();
    if (varies) throw Stop{unsupported(place(m[id]), "a value that differs between threads, inside a parallel loop")};
  });
  return one;
}

void exec_parallel(Cta& cta, Group& group, const Op& op) {
  const Module& m = cta.p.m;
  BlockId body = op.blocks[0];
  Group g = representative(cta, group, body);
  std::vector<int64_t> extent, at(op.operands.size(), 0);
  int64_t total = 1;
  for (ValueId v : op.operands) total *= extent.emplace_back(std::max<int64_t>(0, uniform_int(cta.p, g, op, v)));
  for (int64_t n = 0; n < total; ++n) {
    for (size_t d = 0; d < at.size(); ++d) slot(cta.p, g, m[body].args[d]) = {static_cast<Number>(at[d]), {}};
    exec_block(cta, g, body);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extent[d]) break;
      at[d] = 0;
    }
  }
}

struct TileRow {
  OpKind kind;
  void (*exec)(Cta&, Group&, const Op&);
};
constexpr TileRow kTileRows[] = {
    {OpKind::copy, exec_copy}, {OpKind::async_copy, exec_copy}, {OpKind::tma_copy, exec_copy},
    {OpKind::fill, exec_fill}, {OpKind::gemm, exec_gemm},       {OpKind::parallel, exec_parallel},
};
}  // namespace

bool is_collective(OpKind kind) {
  return std::any_of(std::begin(kTileRows), std::end(kTileRows), [&](const TileRow& row) { return row.kind == kind; });
}

void exec_tile(Cta& cta, Group& g, OpId id) {
  const Op& op = cta.p.m[id];
  for (const TileRow& row : kTileRows)
    if (row.kind == op.kind) return row.exec(cta, g, op);
}

}  // namespace tc::ir::interp
