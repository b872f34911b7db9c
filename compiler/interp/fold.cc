// Reductions, scans, atomics over boxes and reducers. Sums of floats are rounded once, at the end of an operation.
#include <cmath>
#include <limits>

#include "compiler/interp/box.h"

namespace tc::ir::interp {
namespace {

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
  Box src = box_of(cta, g, op, op.operands[0], lane), dst = box_of(cta, g, op, op.operands[1], lane);
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
  Box src = box_of(cta, g, op, op.operands[0], lane), dst = box_of(cta, g, op, op.operands[1], lane);
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
  Box a = box_of(cta, g, op, op.operands[0], lane), b = box_of(cta, g, op, op.operands[1], lane);
  std::string kind(text_attr(op, "op", "add"));
  walk_pair(op, a, b, [&](int64_t from, int64_t to) {
    if (to < 0 || from < 0) return;
    Number v = convert(a.mem.dtype, b.mem.dtype, load(a.mem.dtype, a.mem.data, from));
    add_atomically(cta.p, kind, b.mem, to, v, nullptr);
  });
}
void exec_atomic_fill(Cta& cta, Group& g, const Op& op, size_t lane) {
  Box b = box_of(cta, g, op, op.operands[1], lane);
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
  Box b = box_of(cta, g, op, op.operands[0], lane);
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

constexpr TileRow kRows[] = {
    {OpKind::reduce, exec_reduce},
    {OpKind::scan, exec_scan},
    {OpKind::atomic, exec_atomic_tile},
    {OpKind::atomic_fill, exec_atomic_fill},
    {OpKind::reducer_init, exec_reducer_init},
    {OpKind::reducer_finalize, exec_reducer_finalize},
};
}  // namespace

std::span<const TileRow> fold_rows() { return kRows; }

}  // namespace tc::ir::interp
