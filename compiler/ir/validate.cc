// Is a module well formed, and are all its ops legal at its level? Values are defined before use, operands have the
// type their role asks for, blocks and results have the number that op.def states; scalar operations have one type, an
// element has its buffer's type, blocks end as their op wants it. The first failure is returned.
//   store %a, %i, %v with %a: shared f16[64], %v: f32   →   'store': the value is f32, the buffer f16
#include <set>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

struct Validator {
  const Module& m;
  std::set<uint32_t> defined;
  int loops = 0;  // around the op that a break would leave

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
    bool may_have_none = row.operands.empty() || row.operands.find('*') == 1;  // "v*"
    if (op.operands.empty() && !may_have_none)
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

  // ---- types
  static bool same(const Type& a, const Type& b) { return a.dtype == b.dtype && a.lanes == b.lanes; }
  static std::string element_text(const Type& t) {
    return std::string(info(t.dtype).name) + (t.lanes > 1 ? "x" + std::to_string(t.lanes) : "");
  }
  bool integer(ValueId v) const { return is_integer(m[v].type.dtype) && m[v].type.lanes == 1; }

  Status integers(const Op& op, size_t first, size_t end, const char* what) const {
    for (size_t i = first; i < end; ++i)
      if (!integer(op.operands[i]))
        return failure(op, std::string(what) + " is an integer, not " + element_text(m[op.operands[i]].type));
    return {};
  }

  Status scalar_types(const Op& op) const {
    const Type& first = m[op.operands[0]].type;
    size_t from = op.kind == OpKind::select ? 1 : 0;
    for (size_t i = from; i < op.operands.size(); ++i)
      if (!same(m[op.operands[i]].type, m[op.operands[from]].type))
        return failure(op, "operands of types " + element_text(m[op.operands[from]].type) + " and " +
                               element_text(m[op.operands[i]].type));
    bool truth = (op.kind >= OpKind::eq && op.kind <= OpKind::logical_not);
    Type want = truth ? Type::scalar(DType::b1, first.lanes) : m[op.operands[from]].type;
    const Type& result = m[op.results[0]].type;
    if (!same(result, want))
      return failure(op, "the result is " + element_text(result) + ", it has to be " + element_text(want));
    return {};
  }

  Status memory_types(const Op& op) const {
    const Type& buffer = m[op.operands[0]].type;
    size_t values = op.kind == OpKind::store || op.kind == OpKind::atomic_store ? 1
                    : op.kind == OpKind::store_pair                             ? 2
                                                                                : 0;
    if (Status s = integers(op, 1, op.operands.size() - values, "an index"); !s) return s;
    for (size_t i = op.operands.size() - values; i < op.operands.size(); ++i)
      if (!same(m[op.operands[i]].type, buffer))
        return failure(op,
                       "the value is " + element_text(m[op.operands[i]].type) + ", the buffer " + element_text(buffer));
    if (!op.results.empty() && !same(m[op.results[0]].type, buffer))
      return failure(op,
                     "the result is " + element_text(m[op.results[0]].type) + ", the buffer " + element_text(buffer));
    return {};
  }

  Status region_type(const Op& op) const {
    const Type &buffer = m[op.operands[0]].type, &result = m[op.results[0]].type;
    if (Status s = integers(op, 1, op.operands.size(), "an offset or extent"); !s) return s;
    bool fits = result.kind == TypeKind::tile && same(result, buffer) && result.rank() == buffer.rank();
    for (size_t d = 0; fits && d < buffer.rank(); ++d)
      if (auto extent = constant_value(m, op.operands[1 + buffer.rank() + d]))
        fits = extent->value == result.shape[d].value;
    return fits ? Status() : failure(op, "the result's type is not that of the box");
  }

  Status types(const Op& op) const {
    switch (op.kind) {
      case OpKind::load:
      case OpKind::store:
      case OpKind::store_pair:
      case OpKind::atomic_load:
      case OpKind::atomic_store: return memory_types(op);
      case OpKind::region: return region_type(op);
      case OpKind::launch: return integers(op, 0, op.operands.size(), "an extent of the grid");
      case OpKind::parallel: return integers(op, 0, op.operands.size(), "an extent");
      case OpKind::for_: return integers(op, 0, op.operands.size(), "a bound");
      case OpKind::alloc:
        return m[op.results[0]].type.kind == TypeKind::buffer ? Status() : failure(op, "the result is a buffer");
      default: break;
    }
    return op.kind >= OpKind::add && op.kind <= OpKind::select ? scalar_types(op) : Status();
  }

  // ---- blocks
  Status arguments(const Op& op) const {
    size_t want = op.kind == OpKind::launch || op.kind == OpKind::parallel ? op.operands.size()
                  : op.kind == OpKind::for_                                ? 1
                                                                           : 0;
    bool any = op.kind == OpKind::layout || op.kind == OpKind::loop_layout;
    for (BlockId b : op.blocks)
      if (!any && m[b].args.size() != want)
        return failure(op,
                       "its block has " + std::to_string(m[b].args.size()) + " arguments, not " + std::to_string(want));
    if (op.kind == OpKind::launch && (op.operands.empty() || op.operands.size() > 3))
      return failure(op, "a grid has one to three extents");
    if (op.kind == OpKind::parallel && op.operands.empty()) return failure(op, "needs an extent");
    return {};
  }

  // What a block's last op has to be: nullopt where it may be any but these.
  static std::optional<OpKind> last_of(const Op& op, size_t block) {
    if (op.kind == OpKind::while_ && block == 0) return OpKind::condition;
    if (op.kind == OpKind::layout || op.kind == OpKind::loop_layout) return OpKind::yield_;
    return std::nullopt;
  }

  Status endings(const Op& op) const {
    for (size_t b = 0; b < op.blocks.size(); ++b) {
      const std::vector<OpId>& ops = m[op.blocks[b]].ops;
      auto want = last_of(op, b);
      bool named = ops.empty() && want == OpKind::yield_;  // a layout of the library, by its kind
      if (want && !named && (ops.empty() || m[ops.back()].kind != *want))
        return failure(op, "its block has to end in '" + std::string(info(*want).name) + "'");
      for (size_t i = 0; i < ops.size(); ++i) {
        OpKind kind = m[ops[i]].kind;
        bool ending = kind == OpKind::condition || kind == OpKind::yield_;
        if (ending && (i + 1 < ops.size() || want != kind)) return failure(m[ops[i]], "may not stand here");
      }
    }
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
    for (auto check : {&Validator::types, &Validator::arguments, &Validator::endings})
      if (Status s = (this->*check)(o); !s) return s;
    if ((o.kind == OpKind::break_ || o.kind == OpKind::continue_) && loops == 0) return failure(o, "is in no loop");
    bool loop = o.kind == OpKind::for_ || o.kind == OpKind::while_;
    loops += loop;
    for (BlockId b : o.blocks)
      if (Status s = block(b); !s) return s;
    loops -= loop;
    for (ValueId v : o.results) defined.insert(v.index);
    return {};
  }

  Status block(BlockId id) {
    for (ValueId v : m[id].args) defined.insert(v.index);
    for (OpId o : m[id].ops)
      if (Status s = op(o); !s) return s;
    for (ValueId v : m[id].args) defined.erase(v.index);
    for (OpId o : m[id].ops)
      for (ValueId v : m[o].results) defined.erase(v.index);
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
