// What the language forbids of a kernel as a whole, checked once it is traced (rules LANG-02 to LANG-05; LANG-01 is
// checked where loops are entered). Sources: tilelang/analysis/fragment_loop_checker.py,
// parallel_local_index_checker.py, transform/verify_parallel_loop, verify_buffer_init.
//   for i in T.Parallel(n): f[i] = 0.0    LANG-02 where n is known at run time only and f is a fragment
//   for i in T.Parallel(8): l[i] = 0.0    LANG-03 where l is a local buffer: every thread has its own
//   y = s[0]                              LANG-04, a warning, where nothing ever writes s
//   for i in T.Parallel(8): A[0] = i      LANG-05 where the pass config tl.disable_data_race_check is False
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::OpKind;
using ir::Space;

struct Checker {
  const ir::Module& m;
  bool races;
  std::vector<ir::OpId> loops;  // the parallel loops around
  std::set<uint32_t> read, written;
  std::vector<std::pair<ir::ValueId, ir::OpId>> first_reads;

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
        bool shared = buffer.type.space == Space::global || buffer.type.space == Space::shared;
        auto extent = ir::constant_value(m, loop.operands[i]);
        if (races && op.kind == OpKind::store && shared && !used && !(extent && extent->value == 1))
          fail_rule(op.loc, "LANG-05",
                    "iterations of a parallel loop that differ in '" + m[args[i]].name +
                        "' write the same element of '" + buffer.name + "'");
      }
    }
  }

  // The allocation behind a region or view.
  ir::ValueId allocation(ir::ValueId v) const {
    ir::ValueId at = ir::buffer_of(m, v);
    for (ir::OpId def = m[at].def; def.valid() && m[def].kind == OpKind::view; def = m[at].def)
      at = ir::buffer_of(m, m[def].operands[0]);
    return at;
  }
  void note_access(ir::OpId id) {
    const ir::Op& op = m[id];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      char role = ir::operand_role(op, i);
      ir::ValueId buffer = allocation(op.operands[i]);
      if (role == 'w' || role == 'u' || role == 'x') written.insert(buffer.index);
      ir::OpId def = m[buffer].def;
      bool here = def.valid() && m[def].kind == OpKind::alloc && m[buffer].type.space != Space::barrier;
      if (role == 'r' && here && read.insert(buffer.index).second) first_reads.emplace_back(buffer, id);
    }
  }

  void block(ir::BlockId id) {
    for (ir::OpId o : m[id].ops) {
      const ir::Op& op = m[o];
      note_access(o);
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
  Checker checker{s.module, !off("tl.disable_data_race_check", 1), {}, {}, {}, {}};
  checker.block(func.body);
  if (off("tl.disable_buffer_init_check", 0)) return;
  for (auto [buffer, op] : checker.first_reads) {
    if (checker.written.contains(buffer.index)) continue;
    Diag d{.severity = Severity::warning,
           .where = s.module[op].loc,
           .message = "'" + s.module[buffer].name + "' is read and never written"};
    d.rule = "LANG-04";
    s.warnings.push_back(std::move(d));
  }
}

}  // namespace tc::eval
