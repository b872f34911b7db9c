// gemm → wgmma: fence, one m64nNk16 for every 64 rows and 16 columns of K of each warpgroup, commit, wait for all.
// A 128×128×64 tile on one warpgroup: 2 × 4 instructions; the first K step clears the accumulator where clear_accum
// asks. Operand regions are 64×16 (A) and 16×N (B) in the coordinates of the tile, so the printer finds their
// descriptors.
#include "compiler/passes/lower.h"

namespace tc::ir {
namespace {

struct Operand {
  Box box;
  bool transposed;  // rows are K (A) or N (B)
};

// Region of `rows` × `cols` at (row, col) of the last two dimensions of the operand's box.
ValueId sub_region(Lowering& l, Builder& b, const Box& box, ValueId row, ValueId col, int64_t rows, int64_t cols) {
  std::vector<ValueId> offsets, extents;
  size_t rank = box.extents.size();
  for (size_t d = 0; d < rank; ++d) {
    ValueId o = box.offsets.empty() ? b.constant(MetaInt(0)) : l.value(box.offsets[d]);
    if (d + 2 == rank) o = b.binary(OpKind::add, o, row);
    if (d + 1 == rank) o = b.binary(OpKind::add, o, col);
    offsets.push_back(o);
    extents.push_back(b.constant(MetaInt(d + 2 == rank ? rows : d + 1 == rank ? cols : 1)));
  }
  return b.region(l.value(box.buffer), offsets, extents);
}

// An operand has to start on a core matrix and, where it lies along a panel, not straddle one unevenly.
std::string misplaced(const Module& m, const Box& box, int64_t inner_step, int64_t inner_extent) {
  const Type& type = m[box.buffer].type;
  int64_t panel = shared_shape(type).panel_cols;
  if (!box.offsets.empty()) {
    if (known_factor(m, box.offsets.back()) % panel) return "an operand that does not start on a panel of its buffer";
    if (known_factor(m, box.offsets[box.offsets.size() - 2]) % 8)
      return "an operand that does not start on a multiple of 8 rows";
  }
  if (panel % inner_step && inner_step % panel) return "warpgroups that split a swizzled panel unevenly";
  if (inner_extent > panel && inner_extent % panel && inner_step % panel)
    return "warpgroups that split a swizzled panel unevenly";
  return {};
}

}  // namespace

void lower_gemm(Lowering& l, const Op& op, BlockId at) {
  GemmPlan p = select_gemm(l.from, op, l.section.threads(), l.cx.arch);
  auto a = box_of(l.from, op.operands[0], place(op)), b = box_of(l.from, op.operands[1], place(op)),
       c = box_of(l.from, op.operands[2], place(op));
  for (const auto* box : {&a, &b, &c})
    if (!box->ok()) return l.fail(box->error());
  if (l.section.lo % kWarpgroupThreads)
    return l.refuse(op, "a gemm in a section that does not start at a warpgroup (WGMMA-07)");
  if (c->extents != l.fragments.at(p.c).shape) return l.refuse(op, "a gemm into a part of a fragment");
  int64_t n = p.n / p.groups_n, rows = p.m / p.groups_m;
  std::string bad = misplaced(l.from, *a, p.transpose_a ? 64 : 16, p.transpose_a ? 64 : 16);
  if (bad.empty()) bad = misplaced(l.from, *b, p.transpose_b ? 16 : (p.groups_n > 1 ? n : p.n), p.transpose_b ? 16 : n);
  if (!bad.empty()) return l.refuse(op, "a gemm with " + bad);

  Builder w = l.builder(at, op);
  ValueId zero = w.constant(MetaInt(0)), row0 = zero, col0 = zero;
  if (p.groups_m * p.groups_n > 1) {
    ValueId group = w.binary(OpKind::floordiv, l.local_thread(w), w.constant(MetaInt(kWarpgroupThreads)));
    ValueId gm = w.binary(OpKind::floormod, group, w.constant(MetaInt(p.groups_m)));
    ValueId gn = w.binary(OpKind::floordiv, group, w.constant(MetaInt(p.groups_m)));
    if (p.groups_m > 1) row0 = w.binary(OpKind::mul, gm, w.constant(MetaInt(rows)));
    if (p.groups_n > 1) col0 = w.binary(OpKind::mul, gn, w.constant(MetaInt(n)));
  }
  w.op(OpKind::wgmma_fence, {});
  bool clear = int_attr(op, "clear_accum", 0) != 0;
  for (int64_t k = 0; k < p.k; k += 16)
    for (int64_t m = 0; m < rows; m += 64) {
      ValueId kk = w.constant(MetaInt(k)), row = w.binary(OpKind::add, row0, w.constant(MetaInt(m)));
      ValueId ra = p.transpose_a ? sub_region(l, w, *a, kk, row, 16, 64) : sub_region(l, w, *a, row, kk, 64, 16);
      ValueId rb = p.transpose_b ? sub_region(l, w, *b, col0, kk, n, 16) : sub_region(l, w, *b, kk, col0, 16, n);
      OpId id = w.op(OpKind::wgmma, {ra, rb, l.value(p.c)});
      auto& attrs = l.to[id].attrs;
      set_attr(attrs, "n", MetaInt(n));
      set_attr(attrs, "trans_a", MetaInt(p.transpose_a));
      set_attr(attrs, "trans_b", MetaInt(!p.transpose_b));
      set_attr(attrs, "acc", MetaInt(m / 64 * (n / 2)));
      set_attr(attrs, "clear", MetaInt(clear && k == 0));
    }
  w.op(OpKind::wgmma_commit, {});
  set_attr(l.to[w.op(OpKind::wgmma_wait, {})].attrs, "pending", MetaInt(0));
}

}  // namespace tc::ir
