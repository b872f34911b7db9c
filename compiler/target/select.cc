#include "compiler/target/select.h"

#include <numeric>

#include "compiler/rewrite/range.h"
#include "specs/tma.h"

namespace tc::ir {
namespace {

std::string text(int64_t v) { return std::to_string(v); }

// How the policy splits `groups` warpgroups over the tile: Square wants the aspect of the tile (first best wins).
void partition(GemmPlan& p, std::string_view policy, int64_t groups) {
  double best = 1e30;
  for (int64_t gm = 1; gm <= groups; ++gm) {
    if (groups % gm || p.m % (64 * gm) || p.n % (8 * (groups / gm))) continue;
    int64_t gn = groups / gm;
    double score = policy == "full_row"   ? static_cast<double>(gn)
                   : policy == "full_col" ? static_cast<double>(gm)
                                          : std::abs(static_cast<double>(p.m) / static_cast<double>(64 * gm) -
                                                     static_cast<double>(p.n) / static_cast<double>(8 * gn) / 8.0);
    if (score >= best) continue;
    best = score;
    p.groups_m = gm;
    p.groups_n = gn;
  }
  p.wgmma = best < 1e30;
}

std::string wgmma_obstacle(const Module& m, const Op& gemm, const GemmPlan& p, int64_t threads, const ArchInfo& arch) {
  const Type &a = m[p.a].type, &b = m[p.b].type, &c = m[p.c].type;
  if (!arch.has_wgmma) return std::string(arch.name) + " has no wgmma";
  if (threads % kWarpgroupThreads) return text(threads) + " threads are no whole warpgroups";
  if (a.space != Space::shared || b.space != Space::shared) return "A and B have to be in shared memory";
  if (a.dtype != b.dtype || (a.dtype != DType::f16 && a.dtype != DType::bf16))
    return "A and B have to be both f16 or both bf16";
  if (c.space != Space::fragment || c.dtype != DType::f32) return "C has to be an f32 fragment";
  if (p.m % 64) return "M = " + text(p.m) + " is no multiple of 64 (WGMMA-01)";
  if (p.n % 8) return "N = " + text(p.n) + " is no multiple of 8 (WGMMA-02)";
  if (p.k % 16) return "K = " + text(p.k) + " is no multiple of 16 (WGMMA-01)";
  const AttrValue* clear = find_attr(gemm.attrs, "clear_accum");
  if (clear && !std::holds_alternative<MetaInt>(*clear)) return "clear_accum is known only at run time";
  return {};
}

}  // namespace

GemmPlan select_gemm(const Module& m, const Op& gemm, int64_t threads, const ArchInfo& arch) {
  GemmPlan p;
  p.a = buffer_of(m, gemm.operands[0]);
  p.b = buffer_of(m, gemm.operands[1]);
  p.c = buffer_of(m, gemm.operands[2]);
  p.transpose_a = int_attr(gemm, "transpose_a", 0) != 0;
  p.transpose_b = int_attr(gemm, "transpose_b", 0) != 0;
  auto extents = [&](ValueId v) {
    auto box = box_of(m, v, place(gemm));
    return box.ok() && box->extents.size() >= 2
               ? std::pair(box->extents[box->extents.size() - 2], box->extents[box->extents.size() - 1])
               : std::pair<int64_t, int64_t>(0, 0);
  };
  auto [a0, a1] = extents(gemm.operands[0]);
  auto [b0, b1] = extents(gemm.operands[1]);
  auto [c0, c1] = extents(gemm.operands[2]);
  p.m = p.transpose_a ? a1 : a0;
  p.k = p.transpose_a ? a0 : a1;
  p.n = p.transpose_b ? b0 : b1;
  int64_t bk = p.transpose_b ? b1 : b0;
  p.chain.push_back("TCGEN05: no, " + std::string(arch.name) + " has no tensor memory");
  if (bk != p.k || c0 != p.m || c1 != p.n) {
    p.chain.push_back("shapes disagree: A gives M×K = " + text(p.m) + "×" + text(p.k) + ", B gives K×N = " + text(bk) +
                      "×" + text(p.n) + ", C is " + text(c0) + "×" + text(c1));
    return p;
  }
  std::string obstacle = wgmma_obstacle(m, gemm, p, threads, arch);
  if (obstacle.empty()) {
    partition(p, text_attr(gemm, "policy", "square"), threads / kWarpgroupThreads);
    if (!p.wgmma)
      obstacle = text(threads / kWarpgroupThreads) + " warpgroups do not divide " + text(p.m) + "×" + text(p.n);
    if (p.n / p.groups_n > 256)
      obstacle = "N = " + text(p.n / p.groups_n) + " of one warpgroup is more than 256 (WGMMA-02)";
  }
  p.wgmma = obstacle.empty();
  p.chain.push_back(p.wgmma ? "WGMMA: yes, " + text(p.groups_m) + "×" + text(p.groups_n) + " warpgroups, m64n" +
                                  text(p.n / p.groups_n) + "k16"
                            : "WGMMA: no, " + obstacle);
  if (!p.wgmma) p.chain.push_back("MMA: no, mma.sync is not generated yet");
  return p;
}

int64_t vector_width(const Module& m, const Box& global, const Box& shared) {
  const Type& g = m[global.buffer].type;
  const Type& s = m[shared.buffer].type;
  int64_t e = bytes_of(g.dtype);
  if (g.dtype != s.dtype) return e;
  size_t last = g.rank() - 1, slast = s.rank() - 1;
  if (stride_of(g, last) != 1 || global.extents[last] == 1) return e;
  for (int64_t w : {16, 8, 4}) {
    int64_t n = w / e;
    if (w <= e || w % e) continue;
    bool fits = global.extents[last] % n == 0 && g.shape[last].value % n == 0 && s.shape[slast].value % n == 0;
    for (size_t d = 0; d < last; ++d) fits = fits && stride_of(g, d) % n == 0;
    if (!global.offsets.empty()) fits = fits && known_factor(m, global.offsets[last]) % n == 0;
    if (!shared.offsets.empty()) fits = fits && known_factor(m, shared.offsets[slast]) % n == 0;
    if (fits) return w;
  }
  return e;
}

namespace {

// A box whose elements follow one another in memory, and lie inside the buffer for all values of its offsets.
bool contiguous_and_inside(const Module& m, const Box& box, const Ranges& ranges) {
  const Type& t = m[box.buffer].type;
  int64_t expected = 1;
  bool partial = false;  // a dimension that is not whole: all outer extents have to be 1
  for (size_t d = t.rank(); d-- > 0;) {
    if (box.extents[d] != 1 && (partial || stride_of(t, d) != expected)) return false;
    expected *= box.extents[d];
    partial = partial || box.extents[d] != t.shape[d].value;
    if (box.offsets.empty()) continue;
    Range r = ranges.of(box.offsets[d]);
    if (r.lo < 0 || r.hi + box.extents[d] > t.shape[d].value) return false;
  }
  return true;
}

std::string tma_obstacle(const Module& m, const Box& g, const Box& s) {
  const Type &gt = m[g.buffer].type, &st = m[s.buffer].type;
  int64_t e = bytes_of(gt.dtype);
  if (gt.dtype != st.dtype) return "element types differ";
  if (gt.rank() > kTmaMaxRank) return "rank " + text(static_cast<int64_t>(gt.rank())) + " is more than 5 (TMA-20)";
  if (stride_of(gt, gt.rank() - 1) != 1)
    return "the innermost stride is " + text(stride_of(gt, gt.rank() - 1)) + ", not 1";
  for (size_t d = 0; d + 1 < gt.rank(); ++d)
    if (stride_of(gt, d) * e % static_cast<int64_t>(kTmaGlobalAlign))
      return "stride " + text(stride_of(gt, d) * e) + " bytes of dimension " + text(static_cast<int64_t>(d)) +
             " is no multiple of 16 (TMA-23)";
  if (!g.offsets.empty() && known_factor(m, g.offsets.back()) * e % kTmaInnerAlign)
    return "the first coordinate is not known to be a multiple of 16 bytes (TMA-04)";
  if (g.extents.back() * e % kTmaInnerAlign)
    return "inner extent of " + text(g.extents.back() * e) + " bytes is no multiple of 16 (TMA-25)";
  return {};
}

}  // namespace

CopyPlan select_copy(const Module& m, const Op& copy, const ArchInfo& arch) {
  CopyPlan p;
  auto src = box_of(m, copy.operands[0], place(copy)), dst = box_of(m, copy.operands[1], place(copy));
  if (!src.ok() || !dst.ok()) {
    p.chain.push_back("extents are known only at run time");
    return p;
  }
  bool load = m[src->buffer].type.space == Space::global && m[dst->buffer].type.space == Space::shared;
  if (copy.kind == OpKind::tma_copy) {
    if (!load || copy.operands.size() != 4)
      p.chain.push_back("tma_copy: only loads from global to shared memory with a barrier");
    else if (!arch.has_tma) p.chain.push_back("tma_copy: " + std::string(arch.name) + " has no TMA");
    else {
      Ranges ranges(m);
      int64_t bytes = bytes_of(m[src->buffer].type.dtype);
      for (int64_t e : src->extents) bytes *= e;
      int64_t e = bytes_of(m[src->buffer].type.dtype);
      bool aligned = src->offsets.empty() || (known_factor(m, src->offsets.back()) * e % 16 == 0);
      for (size_t d = 0; d + 1 < src->extents.size(); ++d)
        aligned = aligned && stride_of(m[src->buffer].type, d) * e % 16 == 0;
      if (m[dst->buffer].type.layout.span == 0 && contiguous_and_inside(m, *src, ranges) &&
          contiguous_and_inside(m, *dst, ranges) && bytes % 16 == 0 && aligned &&
          m[src->buffer].type.dtype == m[dst->buffer].type.dtype) {
        p.chain.push_back("1-D bulk: yes, both sides contiguous and inside, " + text(bytes) + " bytes");
        p.form = CopyForm::bulk;
        p.possible = true;
        return p;
      }
      p.chain.push_back("1-D bulk: no, not contiguous on both sides, not provably inside, or swizzled");
      std::string obstacle = tma_obstacle(m, *src, *dst);
      p.possible = obstacle.empty();
      p.form = CopyForm::tma_tiled;
      p.chain.push_back(p.possible ? "tiled TMA: yes" : "tiled TMA: no, " + obstacle);
    }
    return p;
  }
  p.possible = true;
  bool staged = load || (m[src->buffer].type.space == Space::shared && m[dst->buffer].type.space == Space::global);
  p.vector_bytes = staged ? (load ? vector_width(m, *src, *dst) : vector_width(m, *dst, *src)) : 0;
  if (copy.kind == OpKind::async_copy) {
    p.possible =
        load && arch.has_cp_async && p.vector_bytes >= 4 && m[src->buffer].type.dtype == m[dst->buffer].type.dtype;
    p.form = CopyForm::cp_async;
    p.chain.push_back(p.possible ? "cp.async: yes, " + text(p.vector_bytes) + " bytes at a time"
                                 : "cp.async: no, rows allow accesses of " + text(p.vector_bytes) +
                                       " bytes only (CPASYNC-01, -02)");
    return p;
  }
  p.chain.push_back("SIMT: yes" + (p.vector_bytes ? ", " + text(p.vector_bytes) + " bytes at a time" : std::string()));
  return p;
}

}  // namespace tc::ir
