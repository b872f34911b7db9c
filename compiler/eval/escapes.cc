// Does a kernel use a value of a run-time block after that block? Names end with their block (scope.cc), but lists,
// dicts and attributes of the program's objects outlive it:
//   for i in T.serial(3): l[0] = l[0] + A[i]     the sum of one iteration, which none other and nothing later has
//   A[1] = l[0]                                  the error is here
// Every use is reported once for each block that the value comes from.
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
struct EscapeChecker {
  Session& s;
  std::vector<bool> defined, lost;  // by value: its block is open; its block was left
  std::vector<SourceRange> block_of = {};
  std::set<std::pair<SourceRange, SourceRange>> reported = {};

  void use(const ir::Op& op, ir::ValueId v) {
    if (!v.valid() || defined[v.index] || !lost[v.index] || !reported.insert({op.loc, block_of[v.index]}).second)
      return;
    Diag d = input_error(op.loc,
                         "a value of a run-time block is used after the block, where it is not available; a "
                         "variable of T.alloc_var keeps one");
    if (ir::OpId def = s.module[v].def; def.valid()) d.notes.push_back({s.module[def].loc, "the value"});
    d.notes.push_back({block_of[v.index], "the block"});
    s.diags.push_back(std::move(d));
  }

  void block(ir::BlockId id, const SourceRange& where) {
    std::vector<ir::ValueId> made = s.module[id].args;
    for (ir::ValueId v : made) defined[v.index] = true;
    for (ir::OpId o : s.module[id].ops) {
      const ir::Op& op = s.module[o];
      for (ir::ValueId v : op.operands) use(op, v);
      for (ir::BlockId b : op.blocks) block(b, op.loc);
      for (ir::ValueId v : op.results) defined[v.index] = true;
      made.insert(made.end(), op.results.begin(), op.results.end());
    }
    for (ir::ValueId v : made) defined[v.index] = false, lost[v.index] = true, block_of[v.index] = where;
  }
};
}  // namespace

bool check_escapes(Session& s, const ir::Func& func) {
  size_t values = s.module.values.size();
  EscapeChecker checker{s, std::vector<bool>(values), std::vector<bool>(values)};
  checker.block_of.resize(values);
  size_t before = s.diags.size();
  for (ir::ValueId v : func.params) checker.defined[v.index] = true;
  for (ir::ValueId v : func.symbols) checker.defined[v.index] = true;
  checker.block(func.body, func.loc);
  return s.diags.size() == before;
}

}  // namespace tc::eval
