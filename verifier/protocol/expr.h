// Integer expressions of a protocol as small value trees: slots, parities, trip counts, tiles, guards.
//   "((i // S) & 1) ^ 1"  →  bit_xor(bit_and(div(i, S), 1), 1)
// Text form and precedence are Python's (comparison < ^ < & < + - < * // % < unary); / and % are floor division, and
// the proof demands operands >= 0, where floor, truncation and unsigned arithmetic agree. Booleans are 0 and 1. A
// negative constant is neg(constant), so that a printed tree reads back as itself.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tc::verify {

enum class ExprOp : uint8_t {
  constant,
  name,
  bit,
  neg,
  add,
  sub,
  mul,
  div,
  mod,
  bit_and,
  bit_xor,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  logical_and
};

struct Expr {
  ExprOp op = ExprOp::constant;
  int64_t value = 0;       // constant
  std::string name;        // name; of `bit(mask, slot)` the mask
  std::vector<Expr> args;  // operands
  bool operator==(const Expr&) const = default;
};

Expr constant(int64_t value);
Expr variable(std::string name);
Expr binary(ExprOp op, Expr a, Expr b);
// The parity of how often bit `slot` of `mask` was flipped.
Expr mask_bit(std::string mask, Expr slot);

std::string print(const Expr& e);
// The operator's text, " // "; empty for those that are no binary operator.
std::string_view operator_text(ExprOp op);
bool is_comparison(ExprOp op);
// The comparisons of a conjunction, in order.
std::vector<const Expr*> conjuncts(const Expr& e);
// Left sides of / and %, innermost first: they have to be >= 0.
std::vector<const Expr*> division_operands(const Expr& e);
// Names in order of appearance, each once, "S" left out.
std::vector<std::string> names_in(const Expr& e);

// What an expression is worth. `value` maps a name; `bit` a mask bit. No value: division by zero, or overflow.
struct ExprEnv {
  std::function<int64_t(const std::string&)> value;
  std::function<int64_t(const std::string&, int64_t)> bit;
};
std::optional<int64_t> evaluate(const Expr& e, const ExprEnv& env);
// The same with the result of an operator given its operands.
std::optional<int64_t> apply(ExprOp op, int64_t a, int64_t b);

}  // namespace tc::verify
