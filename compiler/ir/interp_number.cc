// Scalar arithmetic of the interpreter: one row an operation.
#include "compiler/ir/interp_number.h"

#include <algorithm>
#include <iterator>

namespace tc::ir::interp {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

struct IntRow {
  OpKind kind;
  int64_t (*apply)(int64_t, int64_t);
};
constexpr IntRow kIntRows[] = {
    {OpKind::floordiv, floor_div},
    {OpKind::floormod, [](int64_t a, int64_t b) { return a - floor_div(a, b) * b; }},
    {OpKind::bit_and, [](int64_t a, int64_t b) { return a & b; }},
    {OpKind::bit_or, [](int64_t a, int64_t b) { return a | b; }},
    {OpKind::bit_xor, [](int64_t a, int64_t b) { return a ^ b; }},
    {OpKind::shift_left, [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) << b); }},
    {OpKind::shift_right, [](int64_t a, int64_t b) { return a >> b; }},
};
// Exact on integers below 2^53 too, because a double holds them and their results.
struct NumberRow {
  OpKind kind;
  Number (*apply)(Number, Number);
};
constexpr NumberRow kNumberRows[] = {
    {OpKind::add, [](Number a, Number b) { return a + b; }},
    {OpKind::sub, [](Number a, Number b) { return a - b; }},
    {OpKind::mul, [](Number a, Number b) { return a * b; }},
    {OpKind::div, [](Number a, Number b) { return a / b; }},
    {OpKind::min, [](Number a, Number b) { return std::isnan(a)   ? b
                                                  : std::isnan(b) ? a
                                                                  : std::min(a, b); }},
    {OpKind::max, [](Number a, Number b) { return std::isnan(a)   ? b
                                                  : std::isnan(b) ? a
                                                                  : std::max(a, b); }},
    {OpKind::eq, [](Number a, Number b) -> Number { return a == b; }},
    {OpKind::ne, [](Number a, Number b) -> Number { return a != b; }},
    {OpKind::lt, [](Number a, Number b) -> Number { return a < b; }},
    {OpKind::le, [](Number a, Number b) -> Number { return a <= b; }},
    {OpKind::gt, [](Number a, Number b) -> Number { return a > b; }},
    {OpKind::ge, [](Number a, Number b) -> Number { return a >= b; }},
    {OpKind::logical_and, [](Number a, Number b) -> Number { return a != 0 && b != 0; }},
    {OpKind::logical_or, [](Number a, Number b) -> Number { return a != 0 || b != 0; }},
};
struct UnaryRow {
  OpKind kind;
  Number (*apply)(Number);
};
constexpr UnaryRow kUnaryRows[] = {
    {OpKind::neg, [](Number a) { return -a; }},
    {OpKind::abs, [](Number a) { return std::fabs(a); }},
    {OpKind::exp, [](Number a) { return std::exp(a); }},
    {OpKind::exp2, [](Number a) { return std::exp2(a); }},
    {OpKind::log, [](Number a) { return std::log(a); }},
    {OpKind::log2, [](Number a) { return std::log2(a); }},
    {OpKind::sqrt, [](Number a) { return std::sqrt(a); }},
    {OpKind::rsqrt, [](Number a) { return 1 / std::sqrt(a); }},
    {OpKind::tanh, [](Number a) { return std::tanh(a); }},
    {OpKind::logical_not, [](Number a) -> Number { return a == 0; }},
};

bool compares(OpKind k) {
  return k == OpKind::eq || k == OpKind::ne || k == OpKind::lt || k == OpKind::le || k == OpKind::gt ||
         k == OpKind::ge || k == OpKind::logical_and || k == OpKind::logical_or;
}

std::optional<Number> finish(DType type, Number v) {
  if (!is_float(type) && std::fabs(v) > kExactInteger) return std::nullopt;
  return round_to(type, v);
}
// Types up to 32 bits wrap before the double would lose low bits.
std::optional<Number> finish_integer(DType type, int64_t v) {
  if (info(type).bits <= 32) v &= (int64_t{1} << info(type).bits) - 1;
  return finish(type, static_cast<Number>(v));
}
}  // namespace

std::optional<Number> apply_binary(OpKind kind, DType type, Number a, Number b) {
  for (const NumberRow& row : kNumberRows)
    if (row.kind == kind) {
      if (compares(kind)) return row.apply(a, b);
      if (kind == OpKind::mul && is_integer(type) && info(type).bits <= 32)
        return finish_integer(type, static_cast<int64_t>(a) * static_cast<int64_t>(b));
      return finish(type, row.apply(a, b));
    }
  for (const IntRow& row : kIntRows)
    if (row.kind == kind) {
      int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
      bool divides = kind == OpKind::floordiv || kind == OpKind::floormod;
      bool shifts = kind == OpKind::shift_left || kind == OpKind::shift_right;
      if ((divides && y == 0) || (shifts && (y < 0 || y > 63))) return std::nullopt;
      return finish_integer(type, row.apply(x, y));
    }
  return std::nullopt;
}

std::optional<Number> apply_unary(OpKind kind, DType type, Number a) {
  for (const UnaryRow& row : kUnaryRows)
    if (row.kind == kind) return finish(type, row.apply(a));
  return std::nullopt;
}

Number apply_cast(DType from, DType to, Number a) {
  if (is_float(from) && is_integer(to)) {
    if (std::isnan(a)) return 0;
    a = std::trunc(std::clamp(a, -9.0e18, 9.0e18));
  }
  return round_to(to, a);
}

}  // namespace tc::ir::interp
