// Names of TVM's expressions and statements that programs of the language use: T.And(a, b) is `a and b` with both sides
// evaluated, T.Add(a, b) is a + b, `with T.If(c), T.Then():` is an `if`, T.loop_break() a break.
#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::OpKind;

template <ast::BinOp op>
Value arithmetic(Session& s, Scope&, Args& a) {
  return binary(s, op, a.need("a"), a.need("b"), a.where);
}
template <ast::CmpOp op>
Value comparison(Session& s, Scope&, Args& a) {
  return compare(s, op, a.need("a"), a.need("b"), a.where);
}

// Sides that are known decide where they can.
Value both(Session& s, Args& a, OpKind kind) {
  bool decides = kind == OpKind::logical_or;
  const Value &x = a.need("a"), &y = a.need("b");
  for (auto [side, other] : {std::pair(&x, &y), std::pair(&y, &x)})
    if (!is_runtime(*side))
      if (auto known = truth(s, *side, a.where)) return *known == decides ? boolean(decides) : *other;
  traced(s, a);
  return scalar(s.trace->builder.binary(kind, as_condition(s, x, a.where), as_condition(s, y, a.where)));
}
Value logical_and(Session& s, Scope&, Args& a) { return both(s, a, OpKind::logical_and); }
Value logical_or(Session& s, Scope&, Args& a) { return both(s, a, OpKind::logical_or); }
Value logical_not(Session& s, Scope&, Args& a) { return unary(s, ast::UnaryOp::not_, a.need("a"), a.where); }

Value context(Session& s, FrameKind kind, std::vector<Value> condition = {}) {
  FrameObject frame;
  frame.kind = kind;
  frame.condition = std::move(condition);
  s.heap.frames.push_back(std::move(frame));
  return Value{static_cast<const FrameObject*>(&s.heap.frames.back())};
}
Value if_(Session& s, Scope&, Args& a) { return in_launch(s, a), context(s, FrameKind::if_, {a.need("condition")}); }
Value then(Session& s, Scope&, Args& a) { return in_launch(s, a), context(s, FrameKind::then); }
Value otherwise(Session& s, Scope&, Args& a) { return in_launch(s, a), context(s, FrameKind::otherwise); }

Value loop_break(Session& s, Scope& scope, Args& a) {
  in_launch(s, a);
  const Scope* at = &scope;
  while (at && !at->is_loop && !at->is_function) at = at->parent;
  if (!at || !at->is_loop) fail(a.where, "T.loop_break() is in no loop of the kernel");
  if (s.trace->parallel_depth > 0) fail(a.where, "T.loop_break() inside T.Parallel");
  s.trace->builder.op(OpKind::break_, {});
  return none();
}
Value thread_return(Session& s, Scope&, Args& a) {
  in_launch(s, a);
  if (s.trace->parallel_depth > 0) fail(a.where, "T.thread_return() inside T.Parallel");
  s.trace->builder.op(OpKind::thread_return, {});
  return none();
}

constexpr Builtin kRows[] = {
    {"T", "Add", "a, b, span=", arithmetic<ast::BinOp::add>},
    {"T", "Sub", "a, b, span=", arithmetic<ast::BinOp::sub>},
    {"T", "Mul", "a, b, span=", arithmetic<ast::BinOp::mult>},
    {"T", "Div", "a, b, span=", arithmetic<ast::BinOp::div>},
    {"T", "FloorDiv", "a, b, span=", arithmetic<ast::BinOp::floordiv>},
    {"T", "FloorMod", "a, b, span=", arithmetic<ast::BinOp::mod>},
    {"T", "EQ", "a, b, span=", comparison<ast::CmpOp::eq>},
    {"T", "NE", "a, b, span=", comparison<ast::CmpOp::ne>},
    {"T", "LT", "a, b, span=", comparison<ast::CmpOp::lt>},
    {"T", "LE", "a, b, span=", comparison<ast::CmpOp::le>},
    {"T", "GT", "a, b, span=", comparison<ast::CmpOp::gt>},
    {"T", "GE", "a, b, span=", comparison<ast::CmpOp::ge>},
    {"T", "And", "a, b, span=", logical_and},
    {"T", "Or", "a, b, span=", logical_or},
    {"T", "Not", "a, span=", logical_not},
    {"T", "If", "condition", if_},
    {"T", "Then", "", then},
    {"T", "Else", "", otherwise},
    {"T", "loop_break", "", loop_break},
    {"T", "thread_return", "", thread_return},
};
}  // namespace

std::span<const Builtin> node_builtins() { return kRows; }

}  // namespace tc::eval
