// Element loops, guards and index arithmetic of pass lower_tiles, and the layouts of fragments.
// A fragment that a gemm accumulates into has the wgmma accumulator layout; one that is copied to or from such a
// fragment, or shares a parallel loop with it, adopts its layout; every other one is spread over its section row-major,
// two neighbouring elements a register pair where the columns allow it.
#include "compiler/passes/lower.h"

namespace tc::ir {
namespace {

// number / divisor % extent, leaving out what changes nothing.
ValueId digit(Builder& b, ValueId number, int64_t divisor, int64_t extent, bool last) {
  ValueId v = b.binary(OpKind::floordiv, number, b.constant(MetaInt(divisor)));
  return last ? v : b.binary(OpKind::floormod, v, b.constant(MetaInt(extent)));
}

void add_modes(Builder& b, std::vector<ValueId>& at, const std::vector<Mode>& modes, ValueId number) {
  int64_t divisor = 1;
  for (size_t i = 0; i < modes.size(); ++i) {
    const Mode& mode = modes[i];
    if (mode.extent > 1) {
      ValueId d = digit(b, number, divisor, mode.extent, i + 1 == modes.size());
      for (size_t dim = 0; dim < at.size(); ++dim)
        if (mode.step[dim])
          at[dim] = b.binary(OpKind::add, at[dim], b.binary(OpKind::mul, d, b.constant(MetaInt(mode.step[dim]))));
    }
    divisor *= mode.extent;
  }
}

}  // namespace

ElementLoop open_element_loop(Lowering& l, BlockId at, const Op& op, const Fragment& f, int64_t step) {
  Builder b = l.builder(at, op);
  ValueId zero = b.constant(MetaInt(0));
  OpId loop = b.nest(OpKind::for_, {zero, b.constant(MetaInt(f.registers / step))}, {"r"});
  set_attr(l.to[loop].attrs, "kind", std::string("unroll"));
  set_attr(l.to[loop].attrs, "statement", MetaInt(1));
  ElementLoop e{.block = l.to[loop].blocks[0], .reg = {}, .at = std::vector<ValueId>(f.shape.size(), zero)};
  Builder inner = l.builder(e.block, op);
  e.reg = inner.binary(OpKind::mul, l.to[e.block].args[0], inner.constant(MetaInt(step)));
  ValueId thread = l.local_thread(inner);
  if (!f.linear()) {
    add_modes(inner, e.at, f.thread_modes, thread);
    add_modes(inner, e.at, f.register_modes, e.reg);
    return e;
  }
  ValueId group = inner.binary(OpKind::floordiv, e.reg, inner.constant(MetaInt(f.vector)));
  ValueId unit =
      inner.binary(OpKind::add, inner.binary(OpKind::mul, group, inner.constant(MetaInt(f.threads))), thread);
  ValueId element = inner.binary(OpKind::add, inner.binary(OpKind::mul, unit, inner.constant(MetaInt(f.vector))),
                                 inner.binary(OpKind::floormod, e.reg, inner.constant(MetaInt(f.vector))));
  int64_t total = 1;
  for (int64_t n : f.shape) total *= n;
  if (total < f.registers * f.threads) {
    ValueId inside = inner.binary(OpKind::lt, element, inner.constant(MetaInt(total)));
    e.block = open_guard(l, e.block, op, inside).first;
    inner.block = e.block;
  }
  int64_t divisor = total;
  for (size_t d = 0; d < f.shape.size(); ++d) {
    divisor /= f.shape[d];
    e.at[d] = digit(inner, element, divisor, f.shape[d], d == 0);
  }
  return e;
}

std::pair<BlockId, BlockId> open_guard(Lowering& l, BlockId at, const Op& op, ValueId condition) {
  if (!condition.valid()) return {at, {}};
  Builder b = l.builder(at, op);
  OpId guard = b.nest(OpKind::if_, {condition}, {});
  BlockId otherwise = l.to.new_block();
  l.to[guard].blocks.push_back(otherwise);
  return {l.to[guard].blocks[0], otherwise};
}

std::vector<ValueId> box_indices(Lowering& l, Builder& b, const Box& box, std::span<const ValueId> at) {
  std::vector<ValueId> indices;
  size_t next = 0;
  for (size_t d = 0; d < box.extents.size(); ++d) {
    ValueId index = box.offsets.empty() ? b.constant(MetaInt(0)) : l.value(box.offsets[d]);
    if (box.extents[d] != 1) index = b.binary(OpKind::add, index, at[next++]);
    indices.push_back(index);
  }
  return indices;
}

ValueId inside_condition(Lowering& l, Builder& b, const Box& box, std::span<const ValueId> indices) {
  const Type& type = l.from[box.buffer].type;
  ValueId all;
  auto require = [&](ValueId c) { all = all.valid() ? b.binary(OpKind::logical_and, all, c) : c; };
  for (size_t d = 0; d < indices.size(); ++d) {
    Range r = box.offsets.empty() ? Range{0, 0} : l.ranges.of(box.offsets[d]);
    if (r.lo < 0) require(b.binary(OpKind::ge, indices[d], b.constant(MetaInt(0))));
    if (r.hi + box.extents[d] > type.shape[d].value)
      require(b.binary(OpKind::lt, indices[d], b.constant(type.shape[d])));
  }
  return all;
}

namespace {

bool is_fragment(const Module& m, ValueId v) {
  return m[v].type.kind == TypeKind::buffer && m[v].type.space == Space::fragment;
}

std::vector<int64_t> extents_of(const Type& type) {
  std::vector<int64_t> shape;
  for (const MetaInt& e : type.shape) shape.push_back(e.value);
  return shape;
}

// Visits ops with the section they run in.
void walk_sections(const Module& m, BlockId block, Section s, const std::function<void(const Op&, Section)>& visit) {
  for (OpId id : m[block].ops) {
    const Op& op = m[id];
    Section inner = s;
    if (op.kind == OpKind::launch) inner = {0, int_attr(op, "threads", 128)};
    if (op.kind == OpKind::ws) inner = {int_attr(op, "lo", 0), int_attr(op, "hi", 0)};
    visit(op, inner);
    for (BlockId b : op.blocks) walk_sections(m, b, inner, visit);
  }
}

// Fragments that have to lie alike: the sides of a copy, all that one parallel loop indexes by exactly its variables.
std::vector<std::vector<ValueId>> alike(const Module& m, const Func& f) {
  std::vector<std::vector<ValueId>> groups;
  walk(m, f.body, [&](OpId id) {
    const Op& op = m[id];
    if (op.kind == OpKind::copy && is_fragment(m, op.operands[0]) && is_fragment(m, op.operands[1]))
      groups.push_back({op.operands[0], op.operands[1]});
    if (op.kind != OpKind::parallel) return;
    std::vector<ValueId> group;
    walk(m, op.blocks[0], [&](OpId inner) {
      const Op& access = m[inner];
      if ((access.kind != OpKind::load && access.kind != OpKind::store) || !is_fragment(m, access.operands[0])) return;
      group.push_back(access.operands[0]);
    });
    if (group.size() > 1) groups.push_back(std::move(group));
  });
  return groups;
}

}  // namespace

void infer_fragments(Lowering& l, const Func& f) {
  std::unordered_map<ValueId, Section> used_in;
  walk_sections(l.from, f.body, {}, [&](const Op& op, Section s) {
    for (ValueId v : op.operands) {
      ValueId b = buffer_of(l.from, v);
      if (!is_fragment(l.from, b) || op.kind == OpKind::region) continue;
      auto [it, fresh] = used_in.emplace(b, s);
      if (!fresh && (it->second.lo != s.lo || it->second.hi != s.hi))
        l.refuse(op, "a fragment that is used by two different sets of threads");
    }
    if (op.kind != OpKind::gemm || l.failure) return;
    GemmPlan plan = select_gemm(l.from, op, s.threads(), l.cx.arch);
    if (l.cx.explain)
      for (const std::string& line : plan.chain) l.cx.explain->push_back(place_text(op.loc) + ": gemm: " + line);
    if (!plan.wgmma) {
      std::string why;
      for (const std::string& line : plan.chain) why += (why.empty() ? "" : "; ") + line;
      l.refuse(op, "this gemm (" + why + ")");
      return;
    }
    Fragment acc = wgmma_accumulator(plan.m, plan.n, plan.groups_m, plan.groups_n);
    auto [it, fresh] = l.fragments.emplace(plan.c, acc);
    if (!fresh && !(it->second == acc)) l.refuse(op, "two gemms that lay out one accumulator differently");
  });
  if (l.failure) return;
  auto groups = alike(l.from, f);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& group : groups)
      for (ValueId v : group) {
        if (!l.fragments.contains(v)) continue;
        for (ValueId w : group)
          if (!l.fragments.contains(w) && extents_of(l.from[w].type) == l.fragments.at(v).shape) {
            Fragment copy = l.fragments.at(v);
            l.fragments.emplace(w, std::move(copy));
            changed = true;
          }
      }
  }
  for (const auto& [buffer, section] : used_in) {
    if (l.fragments.contains(buffer)) continue;
    std::vector<int64_t> shape = extents_of(l.from[buffer].type);
    int64_t vector = shape.empty() || shape.back() % 2 ? 1 : 2;
    l.fragments.emplace(buffer, linear_fragment(std::move(shape), section.threads(), vector));
  }
  for (auto& [buffer, fragment] : l.fragments)
    assert(is_bijective(fragment) && "a fragment layout covers its tile exactly once");
}

}  // namespace tc::ir
