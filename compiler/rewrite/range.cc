#include "compiler/rewrite/range.h"

#include <algorithm>

#include "compiler/ir/floor_div.h"

namespace tc::ir {
namespace {

int64_t clamp(int64_t v) { return std::clamp<int64_t>(v, INT32_MIN, INT32_MAX); }
bool unbounded(const Range& r) { return r.lo <= INT32_MIN || r.hi >= INT32_MAX; }

Range product(const Range& a, const Range& b) {
  if (unbounded(a) || unbounded(b)) return {};
  auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return {clamp(lo), clamp(hi)};
}

}  // namespace

Ranges::Ranges(const Module& m) : m_(m) {
  for (const Op& o : m.ops) {
    if (o.kind == OpKind::launch) {
      threads_ = {0, int_attr(o, "threads", 1024) - 1};
      const Block& body = m[o.blocks[0]];
      for (size_t i = 0; i < body.args.size() && i < o.operands.size(); ++i)
        if (auto c = constant_value(m, o.operands[i])) known_[body.args[i].index] = {0, c->value - 1};
    }
    if (o.kind == OpKind::parallel) {
      const Block& body = m[o.blocks[0]];
      for (size_t i = 0; i < body.args.size(); ++i) known_[body.args[i].index] = {0, of(o.operands[i]).hi - 1};
    }
    if (o.kind == OpKind::for_) {
      Range lo = of(o.operands[0]), hi = of(o.operands[1]);
      if (int_attr(o, "step", 1) > 0 && !m[o.blocks[0]].args.empty())
        known_[m[o.blocks[0]].args[0].index] = {lo.lo, std::max(lo.lo, hi.hi - 1)};
    }
  }
}

Range Ranges::of(ValueId v) const {
  if (auto it = known_.find(v.index); it != known_.end()) return it->second;
  OpId def = m_[v].def;
  if (!def.valid()) return {};
  const Op& o = m_[def];
  if (auto c = constant_value(m_, v)) return {c->value, c->value};
  if (o.kind == OpKind::thread_index) return threads_;
  if (o.operands.size() != 2) return {};
  Range a = of(o.operands[0]), b = of(o.operands[1]);
  if (o.kind == OpKind::add)
    return unbounded(a) || unbounded(b) ? Range{} : Range{clamp(a.lo + b.lo), clamp(a.hi + b.hi)};
  if (o.kind == OpKind::sub)
    return unbounded(a) || unbounded(b) ? Range{} : Range{clamp(a.lo - b.hi), clamp(a.hi - b.lo)};
  if (o.kind == OpKind::mul) return product(a, b);
  if (o.kind == OpKind::min) return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  if (o.kind == OpKind::max) return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  bool divisor = b.lo == b.hi && b.lo > 0;
  if (o.kind == OpKind::floordiv && divisor && !unbounded(a)) return {floor_div(a.lo, b.lo), floor_div(a.hi, b.lo)};
  if (o.kind == OpKind::floormod && divisor) return a.lo >= 0 && a.hi < b.lo ? a : Range{0, b.lo - 1};
  if (o.kind == OpKind::bit_and && b.lo == b.hi && b.lo >= 0) return {0, a.lo >= 0 ? std::min(a.hi, b.lo) : b.lo};
  return {};
}

std::optional<Affine> affine_of(const Module& m, ValueId v) {
  if (auto c = constant_value(m, v)) return Affine{.terms = {}, .offset = c->value};
  OpId def = m[v].def;
  Affine self{.terms = {{v.index, 1}}};
  if (!def.valid()) return self;
  const Op& o = m[def];
  if (o.kind != OpKind::add && o.kind != OpKind::sub && o.kind != OpKind::mul && o.kind != OpKind::floormod)
    return self;
  auto a = affine_of(m, o.operands[0]), b = affine_of(m, o.operands[1]);
  if (!a || !b || a->modulus || b->modulus) return self;
  if (o.kind == OpKind::floormod) {
    if (!b->terms.empty() || b->offset <= 0) return self;
    a->modulus = b->offset;
    return a;
  }
  if (o.kind == OpKind::mul) {
    if (!a->terms.empty()) std::swap(a, b);
    if (!a->terms.empty()) return self;
    for (auto& [id, n] : b->terms) n *= a->offset;
    b->offset *= a->offset;
    return b;
  }
  int64_t sign = o.kind == OpKind::add ? 1 : -1;
  for (auto [id, n] : b->terms) a->terms[id] += sign * n;
  a->offset += sign * b->offset;
  return a;
}

bool never_equal(const Module& m, ValueId a, ValueId b, ValueId shifted, int64_t distance) {
  auto x = affine_of(m, a), y = affine_of(m, b);
  if (!x || !y) return false;
  if (shifted.valid())
    if (auto it = y->terms.find(shifted.index); it != y->terms.end()) y->offset += it->second * distance;
  // A constant slot inside the ring is its own residue.
  auto adopt = [](Affine& p, const Affine& q) {
    if (!p.modulus && q.modulus && p.terms.empty() && p.offset >= 0 && p.offset < q.modulus) p.modulus = q.modulus;
  };
  adopt(*x, *y);
  adopt(*y, *x);
  if (x->modulus != y->modulus) return false;
  for (auto [id, n] : y->terms) x->terms[id] -= n;
  int64_t d = x->offset - y->offset;
  for (auto [id, n] : x->terms)
    if (n != 0) return false;
  return x->modulus ? d % x->modulus != 0 : d != 0;
}

}  // namespace tc::ir
