// Is a module well formed, and are all its ops legal at its level? Values are defined before use, operands have the
// type their role asks for, blocks and results have the number that op.def states. The first failure is returned.
#include <set>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

struct Validator {
  const Module& m;
  std::set<uint32_t> defined;

  Diag failure(const Op& op, const std::string& what) const {
    Diag d = input_error(place(op), "'" + std::string(info(op.kind).name) + "': " + what);
    d.notes = origin_notes(op);
    return d;
  }

  // What a value in a role must be; empty when it is.
  std::string mismatch(char role, ValueId v) const {
    const Type& t = m[v].type;
    bool memory = t.kind == TypeKind::tile || (t.kind == TypeKind::buffer && t.space != Space::barrier);
    switch (role) {
      case 'v': return t.kind == TypeKind::scalar ? "" : "a scalar";
      case 'b': return t.kind == TypeKind::buffer ? "" : "a buffer";
      case 'B': return t.kind == TypeKind::buffer && t.space == Space::barrier ? "" : "an array of mbarriers";
      case 'm': return t.kind == TypeKind::map ? "" : "a tensor map";
      case 'r':
      case 'w':
      case 'u': return memory ? "" : "a buffer or region";
      case 'x': return "";
      default: return "absent";
    }
  }

  Status operands(const Op& op) const {
    const OpInfo& row = row_of(op);
    if (!op.operands.empty() && operand_role(row, 0, op.operands.size()) == 0)
      return failure(op,
                     "takes operands '" + std::string(row.operands) + "', has " + std::to_string(op.operands.size()));
    if (op.operands.empty() && !row.operands.empty() && row.operands.find('*') == std::string_view::npos)
      return failure(op, "takes operands '" + std::string(row.operands) + "', has none");
    for (size_t i = 0; i < op.operands.size(); ++i) {
      ValueId v = op.operands[i];
      if (!v.valid() || v.index >= m.values.size() || !defined.contains(v.index))
        return failure(op, "operand " + std::to_string(i) + " is not defined before its use");
      std::string want = mismatch(operand_role(op, i), v);
      if (!want.empty()) return failure(op, "operand " + std::to_string(i) + " has to be " + want);
    }
    return {};
  }

  // Ranks of regions, loads and stores.
  Status shapes(const Op& op) const {
    auto rank = [&](ValueId v) { return m[v].type.rank(); };
    if (op.kind == OpKind::region && op.operands.size() != 1 + 2 * rank(op.operands[0]))
      return failure(
          op, "a region of a rank-" + std::to_string(rank(op.operands[0])) + " buffer has as many offsets and extents");
    size_t fixed = op.kind == OpKind::load ? 1 : op.kind == OpKind::store ? 2 : op.kind == OpKind::store_pair ? 3 : 0;
    if (fixed && op.operands.size() != fixed + rank(op.operands[0]))
      return failure(op, "needs " + std::to_string(rank(op.operands[0])) + " indices");
    return {};
  }

  Status op(OpId id) {
    const Op& o = m[id];
    const OpInfo& row = row_of(o);
    if (o.kind == OpKind::call && !find_intrinsic(text_attr(o, "name", "")))
      return failure(o, "there is no intrinsic '" + std::string(text_attr(o, "name", "")) + "'");
    if (!is_legal(o.kind, m.level))
      return failure(o,
                     std::string("is no operation of the ") + (m.level == Level::tile ? "tile" : "device") + " level");
    if (Status s = operands(o); !s) return s;
    if (Status s = shapes(o); !s) return s;
    if (o.results.size() != static_cast<size_t>(row.results))
      return failure(o, "has " + std::to_string(row.results) + " results");
    if (o.blocks.size() != static_cast<size_t>(row.blocks))
      return failure(o, "has " + std::to_string(row.blocks) + " blocks");
    for (BlockId b : o.blocks)
      if (Status s = block(b); !s) return s;
    for (ValueId v : o.results) defined.insert(v.index);
    return {};
  }

  Status block(BlockId id) {
    auto outer = defined;
    for (ValueId v : m[id].args) defined.insert(v.index);
    for (OpId o : m[id].ops)
      if (Status s = op(o); !s) return s;
    defined = std::move(outer);
    return {};
  }
};

}  // namespace

Status validate(const Module& m) {
  for (const Func& f : m.funcs) {
    Validator v{m, {}};
    for (ValueId p : f.params) v.defined.insert(p.index);
    for (ValueId p : f.symbols) v.defined.insert(p.index);
    for (int64_t n : f.outputs)
      if (n < 0 || static_cast<size_t>(n) >= f.params.size())
        return input_error(f.loc, "output " + std::to_string(n) + " is no parameter");
    if (Status s = v.block(f.body); !s) return s;
  }
  return {};
}

}  // namespace tc::ir
