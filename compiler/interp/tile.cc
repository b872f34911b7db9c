// Tile operations that move data, and parallel loops. An operation on threads' own arrays is carried out by each
// thread.
#include "compiler/interp/box.h"

namespace tc::ir::interp {
namespace {

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

}  // namespace

void exec_copy(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op, op.operands[0], lane), b = box_of(cta, g, op, op.operands[1], lane);
  if (copy_rows(a, b)) return;
  walk_pair(op, a, b, [&](int64_t from, int64_t to) {
    if (to < 0) return;
    Number v = from < 0 ? zero(a.mem.dtype) : load(a.mem.dtype, a.mem.data, from);
    store(b.mem.dtype, b.mem.data, to, convert(a.mem.dtype, b.mem.dtype, v));
  });
}

namespace {

void exec_fill(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box b = box_of(cta, g, op, op.operands[0], lane);
  need_inside(cta, op, b);
  Number v = convert(cta.p.m[op.operands[1]].type.dtype, b.mem.dtype, slot(cta.p, g, op.operands[1]).at(lane));
  walk_box(b.extent, [&](const std::vector<int64_t>& at) { store(b.mem.dtype, b.mem.data, element(b, at), v); });
}

void exec_transpose(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box a = box_of(cta, g, op, op.operands[0], lane), b = box_of(cta, g, op, op.operands[1], lane);
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

// Columns [rows: output pixels][kernel row, kernel column, channel] of an image NHWC; rows of it that lie in the
// padding are 0.
void exec_im2col(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box img = box_of(cta, g, op, op.operands[0], lane), col = box_of(cta, g, op, op.operands[1], lane);
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
  Box a = box_of(cta, g, op, op.operands[0], lane), b = box_of(cta, g, op, op.operands[1], lane);
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
  Box a = box_of(cta, g, op, op.operands[0], lane), b = box_of(cta, g, op, op.operands[1], lane);
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

constexpr TileRow kTileRows[] = {
    {OpKind::copy, exec_copy},         {OpKind::async_copy, exec_copy},     {OpKind::tma_copy, exec_copy},
    {OpKind::fill, exec_fill},         {OpKind::transpose, exec_transpose}, {OpKind::im2col, exec_im2col},
    {OpKind::tma_gather, exec_gather}, {OpKind::tma_scatter, exec_gather},  {OpKind::copy_cluster, exec_copy_cluster},
    {OpKind::parallel, exec_parallel},
};
const TileRow* row_of_tile(OpKind kind) {
  for (std::span<const TileRow> rows : {std::span<const TileRow>(kTileRows), matrix_rows(), fold_rows()})
    for (const TileRow& row : rows)
      if (row.kind == kind) return &row;
  return nullptr;
}

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

bool is_tile_op(OpKind kind) { return row_of_tile(kind) != nullptr; }

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
  row_of_tile(op.kind)->exec(cta, g, op, lane);
}

void exec_parallel(Cta& cta, Group& group, const Op& op, size_t lane) {
  const Module& m = cta.p.m;
  BlockId body = op.blocks[0];
  Group g = representative(cta, group, op, lane);
  std::vector<int64_t> extent;
  int64_t total = 1;
  constexpr int64_t kMaxIterations = int64_t{1} << 32;
  for (ValueId v : op.operands) {
    int64_t e = extent.emplace_back(std::max<int64_t>(0, uniform_int(cta.p, group, op, v)));
    if (__builtin_mul_overflow(total, e, &total) || total > kMaxIterations)
      stop_unsupported(op, "a parallel loop of more than 2^32 iterations, in the tile interpreter");
  }
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
