// Rule LANG-04, a warning: a buffer of the kernel is read before anything writes it. The questions are those of
// tilelang's transform/verify_buffer_init:
//   fragments and local buffers   has a statement before, in the order of the text, written it? Branches and loops are
//                                 walked through once: what one branch writes counts after it
//   shared and tensor memory      does any other operation write it, wherever it stands? Sections run at the same time
//   x[0] = x[0] + 1, T.gemm(a, b, c)   read x and c first: their own write does not count; a gemm that clears, or may
//                                 clear, does not read
// Global memory and barriers are the caller's. Once a buffer.
#include <map>
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::OpKind;
using ir::Space;

struct InitCheck {
  const ir::Module& m;
  std::set<uint32_t> written = {}, reported = {};
  std::map<uint32_t, std::set<uint32_t>> writers = {};  // operations that write a buffer
  std::vector<std::pair<ir::ValueId, ir::OpId>> findings = {};

  // The allocation behind a region or view.
  ir::ValueId allocation(ir::ValueId v) const {
    ir::ValueId at = ir::buffer_of(m, v);
    for (ir::OpId def = m[at].def; def.valid() && m[def].kind == OpKind::view; def = m[at].def)
      at = ir::buffer_of(m, m[def].operands[0]);
    return at;
  }
  static bool accumulates(const ir::Op& op) {
    if (op.kind == OpKind::gemm || op.kind == OpKind::gemm_sparse || op.kind == OpKind::reduce)
      return ir::int_attr(op, op.kind == OpKind::reduce ? "clear" : "clear_accum", 0) == 0;
    return false;
  }
  bool reads(const ir::Op& op, size_t operand) const {
    char role = ir::operand_role(op, operand);
    return role == 'r' || (role == 'u' && accumulates(op));
  }
  bool writes(const ir::Op& op, size_t operand) const {
    char role = ir::operand_role(op, operand);
    return op.kind != OpKind::annotate && (role == 'w' || role == 'u' || role == 'x');
  }

  void collect(ir::BlockId block) {
    ir::walk(m, block, [&](ir::OpId id) {
      const ir::Op& op = m[id];
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (writes(op, i)) writers[allocation(op.operands[i]).index].insert(id.index);
    });
  }

  // Is the value of a load part of what the store writes, or of where?
  bool feeds(ir::OpId load, const ir::Op& store) const {
    std::set<uint32_t> seen;
    std::vector<ir::ValueId> work(store.operands.begin() + 1, store.operands.end());
    while (!work.empty()) {
      ir::OpId def = m[work.back()].def;
      work.pop_back();
      if (!def.valid() || !seen.insert(def.index).second) continue;
      if (def == load) return true;
      for (ir::ValueId v : m[def].operands) work.push_back(v);
    }
    return false;
  }
  bool written_elsewhere(ir::ValueId buffer, ir::OpId reader) const {
    auto it = writers.find(buffer.index);
    if (it == writers.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](uint32_t index) {
      ir::OpId writer{index};
      bool own = writer == reader || (m[writer].kind == OpKind::store && feeds(reader, m[writer]));
      return !own;
    });
  }

  void check_read(ir::ValueId buffer, ir::OpId reader) {
    const ir::Type& type = m[buffer].type;
    ir::OpId def = m[buffer].def;
    if (!def.valid() || m[def].kind != OpKind::alloc || type.space == Space::barrier || type.space == Space::global)
      return;
    bool anywhere = type.space == Space::shared || type.space == Space::tmem;
    if (reported.contains(buffer.index) ||
        (anywhere ? written_elsewhere(buffer, reader) : written.contains(buffer.index)))
      return;
    reported.insert(buffer.index);
    findings.emplace_back(buffer, reader);
  }

  void block(ir::BlockId id) {
    for (ir::OpId o : m[id].ops) {
      const ir::Op& op = m[o];
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (reads(op, i)) check_read(allocation(op.operands[i]), o);
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (writes(op, i)) written.insert(allocation(op.operands[i]).index);
      for (ir::BlockId b : op.blocks) block(b);
    }
  }
};
}  // namespace

void check_initialised(Session& s, const ir::Func& func) {
  InitCheck check{s.module};
  check.collect(func.body);
  check.block(func.body);
  for (auto [buffer, op] : check.findings) {
    const ir::Op& reader = s.module[op];
    bool added = false;  // to what is there: the buffer itself is the one that the operation updates
    for (size_t i = 0; i < reader.operands.size(); ++i)
      added |= ir::operand_role(reader, i) == 'u' && check.allocation(reader.operands[i]) == buffer;
    std::string what = "'" + s.module[buffer].name + "' is " +
                       (added                                  ? "added to before anything writes it"
                        : check.writers.contains(buffer.index) ? "read before anything writes it"
                                                               : "read and never written");
    Diag d{.severity = Severity::warning, .where = s.module[op].loc, .message = what};
    d.rule = "LANG-04";
    s.warnings.push_back(std::move(d));
  }
}

}  // namespace tc::eval
