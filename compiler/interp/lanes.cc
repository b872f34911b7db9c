// Blocks in which nothing can block, for all lanes of a group at once. Lanes that a condition or a loop bound leaves
// out are masked: pure ops run for all lanes, memory is touched by active ones only.
//   if (lane % 2): lanes 0 2 4 … are masked in the first block, 1 3 5 … in the second
#include <algorithm>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

bool any(const Mask& m) {
  return std::any_of(m.begin(), m.end(), [](uint8_t b) { return b != 0; });
}

struct Loop {
  Mask broke;
};

struct Runner {
  Cta& cta;
  Group& g;
  std::vector<Loop> loops;

  void run(BlockId block, Mask& mask) {
    for (OpId id : cta.p.m[block].ops) {
      if (!op(id, mask)) refuse(cta.p.m[id]);
      if (!any(mask)) return;
    }
  }

  bool op(OpId id, Mask& mask) {
    const Op& o = cta.p.m[id];
    count_step(cta, o);
    switch (o.kind) {
      case OpKind::if_: return branch(o, mask), true;
      case OpKind::for_: return loop(o, mask), true;
      case OpKind::while_: return loop_while(o, mask), true;
      case OpKind::break_:
        if (loops.empty()) stop(o, "a break outside of a loop");
        for (size_t i = 0; i < mask.size(); ++i) loops.back().broke[i] |= mask[i];
        std::fill(mask.begin(), mask.end(), uint8_t{0});
        return true;
      case OpKind::continue_: std::fill(mask.begin(), mask.end(), uint8_t{0}); return true;
      case OpKind::parallel:
        if (!g.iterations) return false;
        return nested_parallel(o, mask), true;
      default: break;
    }
    if (is_tile_op(o.kind)) {
      for (size_t i = 0; i < mask.size(); ++i)
        if (mask[i]) exec_tile(cta, g, id, i);
      return true;
    }
    bool all = std::all_of(mask.begin(), mask.end(), [](uint8_t b) { return b != 0; });
    return exec_scalar(cta, g, id, all ? nullptr : &mask);
  }

  void branch(const Op& o, Mask& mask) {
    const Slot& condition = slot(cta.p, g, o.operands[0]);
    if (condition.is_uniform()) return run(o.blocks[condition.uniform.i ? 0 : 1], mask);
    Mask then = mask, otherwise = mask;
    for (size_t i = 0; i < mask.size(); ++i) (condition.lanes[i].i ? otherwise : then)[i] = 0;
    if (any(then)) run(o.blocks[0], then);
    if (any(otherwise)) run(o.blocks[1], otherwise);
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = then[i] | otherwise[i];
  }

  void loop(const Op& o, Mask& mask) {
    const Slot lo = slot(cta.p, g, o.operands[0]), hi = slot(cta.p, g, o.operands[1]);
    bool uniform = lo.is_uniform() && hi.is_uniform();
    loops.push_back({Mask(mask.size(), 0)});
    for (int64_t k = 0;; ++k) {
      count_step(cta, o);
      Mask active = mask;
      Slot& index = slot(cta.p, g, cta.p.m[o.blocks[0]].args[0]);
      if (uniform) {
        if (lo.uniform.i + k >= hi.uniform.i) break;
        index = {of(lo.uniform.i + k), {}};
      } else {
        std::vector<Number> lanes(mask.size());
        for (size_t i = 0; i < mask.size(); ++i) {
          lanes[i] = of(lo.at(i).i + k);
          if (lanes[i].i >= hi.at(i).i) active[i] = 0;
        }
        index = {of(int64_t{0}), std::move(lanes)};
      }
      for (size_t i = 0; i < mask.size(); ++i) active[i] &= static_cast<uint8_t>(!loops.back().broke[i]);
      if (!any(active)) break;
      run(o.blocks[0], active);
    }
    loops.pop_back();
  }

  void loop_while(const Op& o, Mask& mask) {
    loops.push_back({Mask(mask.size(), 0)});
    Mask active = mask;
    while (any(active)) {
      count_step(cta, o);
      Mask test = active;
      run(o.blocks[0], test);
      const Slot& condition = slot(cta.p, g, cta.p.m[cta.p.m[o.blocks[0]].ops.back()].operands[0]);
      for (size_t i = 0; i < mask.size(); ++i) active[i] &= static_cast<uint8_t>(condition.at(i).i != 0);
      if (!any(active)) break;
      Mask body = active;
      run(o.blocks[1], body);
      for (size_t i = 0; i < mask.size(); ++i) active[i] &= static_cast<uint8_t>(!loops.back().broke[i]);
    }
    loops.pop_back();
  }

  // A parallel loop inside another: its iterations one after the other in every lane.
  void nested_parallel(const Op& o, Mask& mask) {
    std::vector<int64_t> extent, at(o.operands.size(), 0);
    int64_t total = 1;
    for (ValueId v : o.operands) total *= extent.emplace_back(std::max<int64_t>(0, uniform_int(cta.p, g, o, v)));
    for (int64_t n = 0; n < total; ++n) {
      for (size_t d = 0; d < at.size(); ++d) slot(cta.p, g, cta.p.m[o.blocks[0]].args[d]) = {of(at[d]), {}};
      Mask active = mask;
      run(o.blocks[0], active);
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < extent[d]) break;
        at[d] = 0;
      }
    }
  }
};

}  // namespace

void refuse(const Op& op) {
  std::string_view name = row_of(op).name;
  if (name.starts_with("call_") && name.find("extern") != name.npos)
    stop_unsupported(op, "'" + std::string(text_attr(op, "function", "")) +
                             "', a function that is not part of the language, in the tile interpreter");
  stop_unsupported(op, "'" + std::string(name) + "' in the tile interpreter");
}

void exec_inline(Cta& cta, Group& g, BlockId block, Mask& mask) { Runner{cta, g, {}}.run(block, mask); }
bool exec_plain_op(Cta& cta, Group& g, OpId id, Mask& mask) { return Runner{cta, g, {}}.op(id, mask); }

}  // namespace tc::ir::interp
