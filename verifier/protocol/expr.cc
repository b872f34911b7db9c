#include "verifier/protocol/expr.h"

#include <algorithm>
#include <cassert>

namespace tc::verify {
namespace {
// Binding strength, as Python's grammar has it; operands of equal strength group to the left.
int strength(ExprOp op) {
  switch (op) {
    case ExprOp::logical_and: return 1;
    case ExprOp::lt:
    case ExprOp::le:
    case ExprOp::gt:
    case ExprOp::ge:
    case ExprOp::eq:
    case ExprOp::ne: return 2;
    case ExprOp::bit_xor: return 3;
    case ExprOp::bit_and: return 4;
    case ExprOp::add:
    case ExprOp::sub: return 5;
    case ExprOp::mul:
    case ExprOp::div:
    case ExprOp::mod: return 6;
    case ExprOp::neg: return 7;
    case ExprOp::constant:
    case ExprOp::name:
    case ExprOp::bit: return 8;
  }
  return 0;
}

std::string wrapped(const Expr& e, int least) {
  std::string text = print(e);
  return strength(e.op) < least ? "(" + text + ")" : text;
}

int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
}  // namespace

Expr constant(int64_t value) {
  if (value < 0) return Expr{.op = ExprOp::neg, .value = 0, .name = {}, .args = {constant(-value)}};
  return Expr{.op = ExprOp::constant, .value = value, .name = {}, .args = {}};
}
Expr variable(std::string name) { return Expr{.op = ExprOp::name, .value = 0, .name = std::move(name), .args = {}}; }
Expr binary(ExprOp op, Expr a, Expr b) {
  Expr e{.op = op, .value = 0, .name = {}, .args = {}};
  e.args.push_back(std::move(a));
  e.args.push_back(std::move(b));
  return e;
}
Expr mask_bit(std::string mask, Expr slot) {
  Expr e{.op = ExprOp::bit, .value = 0, .name = std::move(mask), .args = {}};
  e.args.push_back(std::move(slot));
  return e;
}

std::string_view operator_text(ExprOp op) {
  switch (op) {
    case ExprOp::add: return " + ";
    case ExprOp::sub: return " - ";
    case ExprOp::mul: return " * ";
    case ExprOp::div: return " // ";
    case ExprOp::mod: return " % ";
    case ExprOp::bit_and: return " & ";
    case ExprOp::bit_xor: return " ^ ";
    case ExprOp::lt: return " < ";
    case ExprOp::le: return " <= ";
    case ExprOp::gt: return " > ";
    case ExprOp::ge: return " >= ";
    case ExprOp::eq: return " == ";
    case ExprOp::ne: return " != ";
    case ExprOp::logical_and: return " and ";
    case ExprOp::constant:
    case ExprOp::name:
    case ExprOp::bit:
    case ExprOp::neg: return "";
  }
  return "";
}

bool is_comparison(ExprOp op) { return strength(op) == 2; }

std::string print(const Expr& e) {
  switch (e.op) {
    case ExprOp::constant: return std::to_string(e.value);
    case ExprOp::name: return e.name;
    case ExprOp::bit: return "bit(" + e.name + ", " + print(e.args[0]) + ")";
    case ExprOp::neg: return "-" + wrapped(e.args[0], strength(e.op));
    case ExprOp::add:
    case ExprOp::sub:
    case ExprOp::mul:
    case ExprOp::div:
    case ExprOp::mod:
    case ExprOp::logical_and:
      return wrapped(e.args[0], strength(e.op)) + std::string(operator_text(e.op)) +
             wrapped(e.args[1], strength(e.op) + 1);
    case ExprOp::bit_and:
    case ExprOp::bit_xor:  // few know how these bind
      return wrapped(e.args[0], 7) + std::string(operator_text(e.op)) + wrapped(e.args[1], 7);
    case ExprOp::lt:
    case ExprOp::le:
    case ExprOp::gt:
    case ExprOp::ge:
    case ExprOp::eq:
    case ExprOp::ne:  // comparisons do not chain
      return wrapped(e.args[0], strength(e.op) + 1) + std::string(operator_text(e.op)) +
             wrapped(e.args[1], strength(e.op) + 1);
  }
  return "";
}

std::vector<const Expr*> conjuncts(const Expr& e) {
  if (e.op != ExprOp::logical_and) return {&e};
  std::vector<const Expr*> out = conjuncts(e.args[0]);
  for (const Expr* c : conjuncts(e.args[1])) out.push_back(c);
  return out;
}

std::vector<const Expr*> division_operands(const Expr& e) {
  std::vector<const Expr*> out;
  for (const Expr& a : e.args)
    for (const Expr* o : division_operands(a)) out.push_back(o);
  if (e.op == ExprOp::div || e.op == ExprOp::mod) out.push_back(&e.args[0]);
  return out;
}

std::vector<std::string> names_in(const Expr& e) {
  std::vector<std::string> out;
  if (e.op == ExprOp::name && e.name != "S") out.push_back(e.name);
  for (const Expr& a : e.args)
    for (std::string& n : names_in(a))
      if (std::ranges::find(out, n) == out.end()) out.push_back(std::move(n));
  return out;
}

std::optional<int64_t> apply(ExprOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {
    case ExprOp::add: return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case ExprOp::sub: return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case ExprOp::mul: return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case ExprOp::div:
      if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
      return floor_div(a, b);
    case ExprOp::mod:
      if (b == 0 || b == -1) return b == 0 ? std::nullopt : std::optional<int64_t>(0);
      return a - b * floor_div(a, b);
    case ExprOp::bit_and: return a & b;
    case ExprOp::bit_xor: return a ^ b;
    case ExprOp::lt: return a < b;
    case ExprOp::le: return a <= b;
    case ExprOp::gt: return a > b;
    case ExprOp::ge: return a >= b;
    case ExprOp::eq: return a == b;
    case ExprOp::ne: return a != b;
    case ExprOp::logical_and: return a != 0 && b != 0;
    case ExprOp::constant:
    case ExprOp::name:
    case ExprOp::bit:
    case ExprOp::neg: break;
  }
  assert(false && "apply() wants a binary operator");
  return std::nullopt;
}

std::optional<int64_t> evaluate(const Expr& e, const ExprEnv& env) {
  if (e.op == ExprOp::constant) return e.value;
  if (e.op == ExprOp::name) return env.value(e.name);
  std::optional<int64_t> a = evaluate(e.args[0], env);
  if (!a) return std::nullopt;
  if (e.op == ExprOp::bit) return env.bit(e.name, *a);
  if (e.op == ExprOp::neg) return apply(ExprOp::sub, 0, *a);
  std::optional<int64_t> b = evaluate(e.args[1], env);
  return b ? apply(e.op, *a, *b) : std::nullopt;
}

}  // namespace tc::verify
