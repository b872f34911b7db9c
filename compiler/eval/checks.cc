// What the language forbids of a kernel as a whole, checked once it is traced (rules LANG-02 to LANG-05; LANG-01 is
// checked where loops are entered, LANG-04 in check_init.cc, LANG-05 in check_races.cc). Sources:
// tilelang/analysis/fragment_loop_checker.py, parallel_local_index_checker.py.
//   for i in T.Parallel(n): f[i] = 0.0    LANG-02 where n is known at run time only and f is a fragment
//   for i in T.Parallel(8): l[i] = 0.0    LANG-03 where l is a local buffer: every thread has its own
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::OpKind;
using ir::Space;

struct Checker {
  const ir::Module& m;
  std::vector<ir::OpId> loops = {};  // the parallel loops around

  bool uses(ir::ValueId v, ir::ValueId wanted) const {
    std::set<uint32_t> seen;
    std::vector<ir::ValueId> work{v};
    while (!work.empty()) {
      ir::ValueId at = work.back();
      work.pop_back();
      if (at == wanted) return true;
      ir::OpId def = m[at].def;
      if (!seen.insert(at.index).second || !def.valid()) continue;
      for (ir::ValueId operand : m[def].operands) work.push_back(operand);
    }
    return false;
  }
  bool any_uses(std::span<const ir::ValueId> indices, ir::ValueId wanted) const {
    return std::any_of(indices.begin(), indices.end(), [&](ir::ValueId v) { return uses(v, wanted); });
  }

  void element(const ir::Op& op, std::span<const ir::ValueId> indices) const {
    const ir::Value& buffer = m[op.operands[0]];
    for (ir::OpId id : loops) {
      const ir::Op& loop = m[id];
      const auto& args = m[loop.blocks[0]].args;
      for (size_t i = 0; i < args.size(); ++i) {
        bool fixed = ir::constant_value(m, loop.operands[i]).has_value();
        bool used = any_uses(indices, args[i]);
        if (used && !fixed && buffer.type.space == Space::fragment)
          fail_rule(op.loc, "LANG-02",
                    "'" + m[args[i]].name +
                        "' of a parallel loop whose extent is known at run time only indexes the "
                        "fragment '" +
                        buffer.name + "'");
        if (used && buffer.type.space == Space::local)
          fail_rule(op.loc, "LANG-03",
                    "'" + m[args[i]].name + "' of a parallel loop indexes the local buffer '" + buffer.name +
                        "', of which every thread has its own");
      }
    }
  }

  void block(ir::BlockId id) {
    for (ir::OpId o : m[id].ops) {
      const ir::Op& op = m[o];
      std::span<const ir::ValueId> operands = op.operands;
      if (op.kind == OpKind::load && !loops.empty()) element(op, operands.subspan(1));
      if (op.kind == OpKind::store && !loops.empty()) element(op, operands.subspan(1, operands.size() - 2));
      if (op.kind == OpKind::parallel) loops.push_back(o);
      for (ir::BlockId b : op.blocks) block(b);
      if (op.kind == OpKind::parallel) loops.pop_back();
    }
  }
};
}  // namespace

void check_kernel(Session& s, const ir::Func& func) {
  auto off = [&](std::string_view key, int64_t otherwise) {
    const ir::AttrValue* v = ir::find_attr(func.attrs, key);
    const ir::MetaInt* i = v ? std::get_if<ir::MetaInt>(v) : nullptr;
    return (i ? i->value : otherwise) != 0;
  };
  if (off("tl.disable_prelower_semantic_check", 0)) return;
  Checker{s.module}.block(func.body);
  if (!off("tl.disable_data_race_check", 1)) check_races(s.module, func);
  if (!off("tl.disable_buffer_init_check", 0)) check_initialised(s, func);
}

}  // namespace tc::eval
