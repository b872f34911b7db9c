// Vector values: `width` numbers a lane. Arithmetic goes number by number; an operand of one number counts for all.
//   broadcast(1.5) : f32x2 = (1.5, 1.5);  vector_combine((1, 2), (3, 4)) = (1, 2, 3, 4), its vector_high = (3, 4)
// reinterpret takes the bits in order, the first number lowest: f16x2 (1, -2) as u32 = 0xC0003C00.
#include <algorithm>
#include <functional>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

struct Lanes {
  const Program& p;
  Group& g;
  const Op& op;
  const Decoded& d;
  const Slot& in(size_t n) const { return slot(p, g, op.operands[n]); }
  // f(lane, k) → number k of the result, for one lane where all operands are uniform, else for each.
  template <class F>
  void result(F&& f) {
    uint32_t width = p.m[op.results[0]].type.lanes;
    bool uniform =
        std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return slot(p, g, v).is_uniform(); });
    size_t lanes = uniform ? 1 : g.lanes;
    std::vector<Number> out(lanes * width);
    for (size_t l = 0; l < lanes; ++l)
      for (uint32_t k = 0; k < width; ++k) out[l * width + k] = f(l, k);
    Slot& s = slot(p, g, op.results[0]);
    if (width == 1 && uniform) s = {out[0], {}};
    else s = {{}, std::move(out), width};
  }
};

struct PairRow {
  std::string_view name;
  OpKind kind;
};
constexpr PairRow kPairs[] = {{"add2", OpKind::add}, {"sub2", OpKind::sub}, {"mul2", OpKind::mul},
                              {"max2", OpKind::max}, {"min2", OpKind::min}, {"abs2", OpKind::abs}};

bool elementwise(Lanes& c) {
  Binary two = c.d.two;
  Unary one = c.d.one;
  for (const PairRow& row : kPairs)
    if (c.op.kind == OpKind::call && text_attr(c.op, "name", "") == row.name)
      two = binary_function(row.kind, c.d.operand), one = unary_function(row.kind, c.d.operand);
  const Pure* pure = c.d.pure;
  if (c.op.kind == OpKind::call && text_attr(c.op, "name", "") == "fma2") pure = pure_intrinsic("fma");
  DType t = c.d.operand;
  if (c.op.kind == OpKind::cast)
    return c.result([&](size_t l, uint32_t k) { return convert(t, c.d.result, c.in(0).at(l, k)); }), true;
  if (c.op.kind == OpKind::select)
    return c.result([&](size_t l, uint32_t k) { return c.in(c.in(0).at(l, k).i ? 1 : 2).at(l, k); }), true;
  if (two) return c.result([&](size_t l, uint32_t k) { return two(t, c.in(0).at(l, k), c.in(1).at(l, k)); }), true;
  if (one) return c.result([&](size_t l, uint32_t k) { return one(t, c.in(0).at(l, k)); }), true;
  if (!pure) return false;
  c.result([&](size_t l, uint32_t k) {
    return pure->one   ? pure->one(t, c.in(0).at(l, k))
           : pure->two ? pure->two(t, c.in(0).at(l, k), c.in(1).at(l, k))
                       : pure->three(t, c.in(0).at(l, k), c.in(1).at(l, k), c.in(2).at(l, k));
  });
  return true;
}

void reinterpret_bits(Lanes& c) {
  uint32_t from = c.p.m[c.op.operands[0]].type.lanes;
  c.result([&](size_t l, uint32_t k) {
    std::vector<uint8_t> bytes(static_cast<size_t>(bytes_for(c.d.operand, from)) + 8);
    for (uint32_t j = 0; j < from; ++j) store(c.d.operand, bytes.data(), j, c.in(0).at(l, j));
    return load(c.d.result, bytes.data(), k);
  });
}

void lane_of(Lanes& c) {
  uint32_t width = c.p.m[c.op.operands[0]].type.lanes;
  c.result([&](size_t l, uint32_t) {
    int64_t k = c.in(1).at(l).i;
    if (k < 0 || k >= width) stop(c.op, "lane " + std::to_string(k) + " of " + std::to_string(width));
    return c.in(0).at(l, static_cast<uint32_t>(k));
  });
}

void combine(Lanes& c) {
  uint32_t half = c.p.m[c.op.operands[0]].type.lanes;
  c.result([&](size_t l, uint32_t k) { return k < half ? c.in(0).at(l, k) : c.in(1).at(l, k - half); });
}

struct VectorRow {
  std::string_view name;
  void (*exec)(Lanes&);
};
constexpr VectorRow kRows[] = {
    {"reinterpret", reinterpret_bits},
    {"broadcast", [](Lanes& c) { c.result([&](size_t l, uint32_t) { return c.in(0).at(l, 0); }); }},
    {"ramp",
     [](Lanes& c) {
       c.result([&](size_t l, uint32_t k) {
         return of(wrap_to(c.d.operand, c.in(0).at(l).i + c.in(1).at(l).i * int64_t{k}));
       });
     }},
    {"lane_of", lane_of},
    {"vector_low", [](Lanes& c) { c.result([&](size_t l, uint32_t k) { return c.in(0).at(l, k); }); }},
    {"vector_high",
     [](Lanes& c) {
       uint32_t half = c.p.m[c.op.results[0]].type.lanes;
       c.result([&](size_t l, uint32_t k) { return c.in(0).at(l, half + k); });
     }},
    {"vector_combine", combine},
};
}  // namespace

bool has_vectors(const Module& m, const Op& op) {
  auto wide = [&](ValueId v) { return m[v].type.kind == TypeKind::scalar && m[v].type.lanes > 1; };
  return std::any_of(op.operands.begin(), op.operands.end(), wide) ||
         std::any_of(op.results.begin(), op.results.end(), wide);
}

bool exec_vector(const Program& p, Group& g, OpId id) {
  const Op& op = p.m[id];
  if (op.results.size() != 1 || !op.blocks.empty()) return false;
  Lanes c{p, g, op, p.decoded[id.index]};
  if (elementwise(c)) return true;
  for (const VectorRow& row : kRows)
    if (op.kind == OpKind::call && text_attr(op, "name", "") == row.name) return row.exec(c), true;
  return false;
}

}  // namespace tc::ir::interp
