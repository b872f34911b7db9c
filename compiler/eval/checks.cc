// What the language forbids of a kernel as a whole, checked once it is traced (rules LANG-01 to LANG-06; what
// else LANG-01 forbids in parallel loops is refused where it is built, LANG-04 in check_init.cc, LANG-05 in
// check_races.cc, LANG-06 in check_pipeline.cc). Sources: tilelang/analysis/nested_loop_checker.py,
// fragment_loop_checker.py, parallel_local_index_checker.py.
//   for i in T.Parallel(8):               LANG-01: the inner loop is not all that the outer one does
//     x = i * 2
//     for j in T.Parallel(8): …
//   for i in T.Parallel(n): f[i] = 0.0    LANG-02 where n is known at run time only and f is a fragment
//   for i in T.Parallel(8): l[i] = 0.0    LANG-03 where l is a local buffer: every thread has its own
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::OpKind;
using ir::Space;

struct Checker {
  Session& s;
  const ir::Module& m;
  bool accesses = true;              // look at what loops index
  std::vector<ir::OpId> loops = {};  // the parallel loops around

  void refuse(const SourceRange& where, std::string_view rule, std::string message) const {
    Diag d{.severity = Severity::error, .where = where, .message = std::move(message)};
    d.rule = rule;
    s.diags.push_back(std::move(d));
  }

  // `names`: follow values that are bound to names too.
  bool uses(ir::ValueId v, ir::ValueId wanted, bool names) const {
    std::set<uint32_t> seen;
    std::vector<ir::ValueId> work{v};
    while (!work.empty()) {
      ir::ValueId at = work.back();
      work.pop_back();
      if (at == wanted) return true;
      ir::OpId def = m[at].def;
      if (!seen.insert(at.index).second || !def.valid() || (!names && !m[at].name.empty())) continue;
      for (ir::ValueId operand : m[def].operands) work.push_back(operand);
    }
    return false;
  }
  bool any_uses(std::span<const ir::ValueId> indices, ir::ValueId wanted, bool names) const {
    return std::any_of(indices.begin(), indices.end(), [&](ir::ValueId v) { return uses(v, wanted, names); });
  }

  // A parallel loop inside another: the other's body is this loop and the arithmetic of its extents, without names.
  void nested(ir::BlockId block, ir::OpId inner) const {
    bool direct = block == m[loops.back()].blocks[0];
    for (ir::OpId id : m[block].ops) {
      const ir::Op& op = m[id];
      bool statement = op.results.empty() || op.kind == OpKind::alloc;
      bool named = !op.results.empty() && op.kind != OpKind::constant && !m[op.results[0]].name.empty();
      direct &= id == inner || !(statement || named);
    }
    if (!direct)
      refuse(m[inner].loc, "LANG-01", "a parallel loop inside a parallel loop has to be the only statement of it");
  }

  void element(const ir::Op& op, std::span<const ir::ValueId> indices) const {
    const ir::Value& buffer = m[op.operands[0]];
    for (ir::OpId id : loops) {
      const ir::Op& loop = m[id];
      const auto& args = m[loop.blocks[0]].args;
      for (size_t i = 0; i < args.size(); ++i) {
        bool fixed = ir::constant_value(m, loop.operands[i]).has_value();
        auto used = [&](bool names) { return any_uses(indices, args[i], names); };
        if (!fixed && buffer.type.space == Space::fragment && used(true))
          return refuse(op.loc, "LANG-02",
                        "'" + m[args[i]].name +
                            "' of a parallel loop whose extent is known at run time only indexes the "
                            "fragment '" +
                            buffer.name + "'");
        if (buffer.type.space == Space::local && used(false))
          return refuse(op.loc, "LANG-03",
                        "'" + m[args[i]].name + "' of a parallel loop indexes the local buffer '" + buffer.name +
                            "', of which every thread has its own");
      }
    }
  }

  void block(ir::BlockId id) {
    for (ir::OpId o : m[id].ops) {
      const ir::Op& op = m[o];
      std::span<const ir::ValueId> operands = op.operands;
      bool looked_at = accesses && !loops.empty();
      if (op.kind == OpKind::load && looked_at) element(op, operands.subspan(1));
      if (op.kind == OpKind::store && looked_at) element(op, operands.subspan(1, operands.size() - 2));
      if (op.kind == OpKind::parallel && !loops.empty()) nested(id, o);
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
  check_pipelines(s, func);
  Checker{s, s.module, !off("tl.disable_prelower_semantic_check", 0)}.block(func.body);
  if (!off("tl.disable_data_race_check", 1)) check_races(s, func);
  if (!off("tl.disable_buffer_init_check", 0)) check_initialised(s, func);
}

}  // namespace tc::eval
