// Rule LANG-06: the order and the stages that T.Pipelined is given are those of the statements of its body. Source:
// what tilelang's transform/pipeline_planning and inject_software_pipeline refuse.
//   for k in T.Pipelined(8, order=[0, 1], stage=[0, 1]):
//       x = k * 8                     integer arithmetic under a name: no statement
//       y = I[k]                      a read under a name: may be counted; has to be where the body writes I
//       T.copy(A[x, 0], s)            a statement
//       if k < n:                     without `else`: as many as stand inside, else one
//           T.copy(s, B[y, 0])        the second: two are asked for
// Loops are one statement; those of T.unroll(explicit=True) as many as are written out. A statement that reads what an
// earlier one writes is of no earlier stage, and of the same stage comes after it. Nothing is said where the count is
// the library's own affair (T.assume, sections of threads) or `num_stages` leaves the plan to the library too.
#include <map>
#include <set>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::OpKind;

// What the body of a loop consists of.
struct Statements {
  std::vector<ir::OpId> ops;  // executable; one of an unrolled loop once for each time it is written out
  size_t required = 0;        // names that are scheduled too
  size_t optional = 0;        // names that may be counted
  bool known = true;
};
constexpr size_t kStatements = 4096;  // more are not counted

struct PipelineCheck {
  Session& s;
  const ir::Module& m;
  std::set<uint32_t> used = {};  // values that anything uses

  using Buffers = std::set<uint32_t>;

  void add_accesses(const ir::Op& op, Buffers& read, Buffers& written) const {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      char role = ir::operand_role(op, i);
      if (m[op.operands[i]].type.kind == ir::TypeKind::scalar || role == 'b' || role == 'v') continue;
      uint32_t buffer = ir::buffer_of(m, op.operands[i]).index;
      if (role == 'r' || role == 'u') read.insert(buffer);
      if (role == 'w' || role == 'u') written.insert(buffer);
    }
  }
  // visit(op, work) for `id` and every op that visits put into `work`, once each.
  template <class Visit>
  void visit_once(ir::OpId id, Visit&& visit) const {
    std::set<uint32_t> seen;
    std::vector<ir::OpId> work{id};
    while (!work.empty()) {
      ir::OpId next = work.back();
      work.pop_back();
      if (seen.insert(next.index).second) visit(m[next], work);
    }
  }
  // What a statement reads, in its operands too, and writes.
  void add_statement(ir::OpId id, Buffers& read, Buffers& written) const {
    visit_once(id, [&](const ir::Op& op, std::vector<ir::OpId>& work) {
      add_accesses(op, read, written);
      for (ir::ValueId v : op.operands)
        if (m[v].def.valid()) work.push_back(m[v].def);
      for (ir::BlockId b : op.blocks) work.insert(work.end(), m[b].ops.begin(), m[b].ops.end());
    });
  }
  // Does the value of a name come from memory, up to other names? `of_body`: from what the body writes.
  bool reads(ir::OpId id, const Buffers& body, bool& of_body) const {
    bool found = false;
    visit_once(id, [&](const ir::Op& op, std::vector<ir::OpId>& work) {
      found |= op.kind == OpKind::load || op.kind == OpKind::call || !op.blocks.empty();
      if (op.kind == OpKind::load) of_body |= body.contains(ir::buffer_of(m, op.operands[0]).index);
      for (ir::ValueId v : op.operands)
        if (m[v].def.valid() && m[v].name.empty()) work.push_back(m[v].def);
    });
    return found;
  }

  // Does an operation with a result write memory besides?
  static bool acts(const ir::Op& op) {
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (char role = ir::operand_role(op, i); role == 'w' || role == 'u') return true;
    return false;
  }

  void count_name(ir::OpId id, const Buffers& written, Statements& out) const {
    const ir::Value& value = m[m[id].results[0]];
    out.optional += m[id].kind == OpKind::call && !used.contains(m[id].results[0].index);
    if (value.name.empty() || value.type.kind != ir::TypeKind::scalar || !used.contains(m[id].results[0].index)) return;
    if (m[id].kind == OpKind::constant) return;
    bool of_body = acts(m[id]), from_memory = reads(id, written, of_body);
    out.required += of_body;
    out.optional += !of_body && (from_memory || is_float(value.type.dtype));
  }
  void count(ir::BlockId block, const Buffers& written, Statements& out) const {
    for (ir::OpId id : m[block].ops) {
      const ir::Op& op = m[id];
      if (out.ops.size() > kStatements || op.kind == OpKind::ws || op.kind == OpKind::assume) out.known = false;
      if (!out.known) return;
      bool declares = op.kind == OpKind::annotate || op.kind == OpKind::layout || op.kind == OpKind::loop_layout;
      bool unused = !op.results.empty() && acts(op) && !used.contains(op.results[0].index);
      if (declares) continue;
      if (!op.results.empty() && !unused) count_name(id, written, out);
      else if (op.kind == OpKind::if_ && m[op.blocks[1]].ops.empty()) count(op.blocks[0], written, out);
      else if (op.kind == OpKind::for_ && ir::find_attr(op.attrs, "explicit")) count_unrolled(op, written, out);
      else out.ops.push_back(id);
    }
  }
  void count_unrolled(const ir::Op& op, const Buffers& written, Statements& out) const {
    auto lo = ir::constant_value(m, op.operands[0]), hi = ir::constant_value(m, op.operands[1]);
    out.known = out.known && lo && hi;
    size_t before = out.ops.size();
    for (int64_t i = 0; out.known && i < hi->value - lo->value; ++i) {
      count(op.blocks[0], written, out);
      if (out.ops.size() == before) return;
    }
  }

  void error(const ir::Op& loop, std::string message) const {
    Diag d{.severity = Severity::error, .where = loop.loc, .message = std::move(message)};
    d.rule = "LANG-06";
    s.diags.push_back(std::move(d));
  }
  // The first statement that reads what another writes which is ordered after it.
  void check_dependences(const ir::Op& loop, const Statements& body, const std::vector<ir::MetaInt>& order,
                         const std::vector<ir::MetaInt>& stage) const {
    std::map<uint32_t, std::vector<size_t>> writers;
    for (size_t at = 0; at < body.ops.size(); ++at) {
      Buffers read, written;
      add_statement(body.ops[at], read, written);
      for (uint32_t buffer : read)
        for (size_t from : writers[buffer]) {
          bool earlier = stage[at].value < stage[from].value;
          if (!earlier && (stage[at].value > stage[from].value || order[at].value > order[from].value)) continue;
          return error(loop, "statement " + std::to_string(at + 1) + " reads '" + m[ir::ValueId{buffer}].name +
                                 "', which statement " + std::to_string(from + 1) + " writes, and is " +
                                 (earlier ? "of an earlier stage" : "before it in the order of their stage"));
        }
      for (uint32_t buffer : written) writers[buffer].push_back(at);
    }
  }
  void check(const ir::Op& loop) const {
    const auto* order = list(loop, "order");
    const auto* stage = list(loop, "stage");
    if (!order || !stage || order->size() != stage->size() || ir::int_attr(loop, "num_stages", 0) > 0) return;
    Buffers read, written;
    ir::walk(m, loop.blocks[0], [&](ir::OpId id) { add_accesses(m[id], read, written); });
    Statements body;
    count(loop.blocks[0], written, body);
    size_t least = body.ops.size() + body.required, most = least + body.optional;
    if (!body.known || body.ops.empty()) return;
    if (order->size() < least || order->size() > most)
      return error(loop, "T.Pipelined has an order for " + std::to_string(order->size()) +
                             " statements, its body has " + std::to_string(least) +
                             (most > least ? ", " + std::to_string(most) + " with what is bound to names" : ""));
    std::set<int64_t> places;
    for (const ir::MetaInt& place : *order)
      if (!places.insert(place.value).second)
        return error(loop, "two statements have the place " + std::to_string(place.value) + " in the order");
    if (most == body.ops.size()) check_dependences(loop, body, *order, *stage);
  }
  static const std::vector<ir::MetaInt>* list(const ir::Op& loop, std::string_view name) {
    const ir::AttrValue* v = ir::find_attr(loop.attrs, name);
    return v ? std::get_if<std::vector<ir::MetaInt>>(v) : nullptr;
  }
};
}  // namespace

void check_pipelines(Session& s, const ir::Func& func) {
  PipelineCheck check{s, s.module};
  ir::walk(s.module, func.body, [&](ir::OpId id) {
    for (ir::ValueId v : s.module[id].operands) check.used.insert(v.index);
  });
  ir::walk(s.module, func.body, [&](ir::OpId id) {
    if (s.module[id].kind == OpKind::for_) check.check(s.module[id]);
  });
}

}  // namespace tc::eval
