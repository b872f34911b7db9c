// What two operands of an operator become, as TVM matches them (asked of release 0.1.15:
// testdata/reference/promotion.tsv, which promotion_test.cc compares with all of this):
//   int8 + int16 → int16     int32 + uint32 → uint32     int64 * float16 → float16     float16 + bfloat16 → float16
//   float8_e4m3fn + float8_e5m2: refused     uint32 + (-1): refused     float32x2 * float16 → float32x2
// A float beats an integer, the wider type the narrower, unsigned beats signed of one width, bool becomes the other
// type, a scalar is repeated in every lane of the other side's vector. Python integers are int32 (int64 where they do
// not fit), floats float32; of shifts and of & | ^ integers take the other side's type.
#include <cmath>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

enum class Family { arithmetic, division, floor, shift, bits, comparison, logic };

Family family_of(OpKind kind) {
  switch (kind) {
    case OpKind::div: return Family::division;
    case OpKind::floordiv:
    case OpKind::floormod: return Family::floor;
    case OpKind::shift_left:
    case OpKind::shift_right: return Family::shift;
    case OpKind::bit_and:
    case OpKind::bit_or:
    case OpKind::bit_xor: return Family::bits;
    case OpKind::eq:
    case OpKind::ne:
    case OpKind::lt:
    case OpKind::le:
    case OpKind::gt:
    case OpKind::ge: return Family::comparison;
    case OpKind::logical_and:
    case OpKind::logical_or: return Family::logic;
    default: return Family::arithmetic;
  }
}

// As programs write it: the operator, or the function's name.
std::string_view written(OpKind kind) {
  static constexpr std::pair<OpKind, std::string_view> kRows[] = {
      {OpKind::add, "+"},       {OpKind::sub, "-"},         {OpKind::mul, "*"},          {OpKind::div, "/"},
      {OpKind::floordiv, "//"}, {OpKind::floormod, "%"},    {OpKind::bit_and, "&"},      {OpKind::bit_or, "|"},
      {OpKind::bit_xor, "^"},   {OpKind::shift_left, "<<"}, {OpKind::shift_right, ">>"}, {OpKind::eq, "=="},
      {OpKind::ne, "!="},       {OpKind::lt, "<"},          {OpKind::le, "<="},          {OpKind::gt, ">"},
      {OpKind::ge, ">="},
  };
  for (auto [op, text] : kRows)
    if (op == kind) return text;
  return ir::info(kind).name;
}

std::optional<DType> matched(DType a, DType b) {
  if (a == b || b == DType::b1) return a;
  if (a == DType::b1) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (info(a).bits != info(b).bits) return info(a).bits > info(b).bits ? a : b;
  if (!is_float(a)) return info(a).kind == NumberKind::uint ? a : b;
  if (info(a).bits == 16) return DType::f16;
  if (info(a).bits == 32) return DType::f32;  // with tfloat32
  return std::nullopt;
}

// A float holds an integer that does not exceed its largest value.
bool converts(DType type, int64_t value) {
  if (!is_float(type)) return holds(type, value);
  return std::fabs(static_cast<double>(value)) <= largest_finite(type) &&
         (value >= 0 || info(type).form != FloatForm::e8m0);
}

std::string operand_text(Session& s, ir::ValueId v) {
  auto known = ir::constant_value(s.module, v);
  if (known && dtype_of(s, v) != DType::b1) return std::to_string(known->value);
  const ir::Type t = s.module[v].type;
  return std::string(info(t.dtype).name) + (t.lanes > 1 ? "x" + std::to_string(t.lanes) : "");
}

struct Matching {
  Session& s;
  OpKind kind;
  ir::ValueId a, b;
  const SourceRange& where;

  DType left() const { return dtype_of(s, a); }
  DType right() const { return dtype_of(s, b); }
  [[noreturn]] void refuse(const std::string& why = "") const {
    fail(where, "operator " + std::string(written(kind)) + " does not take " + operand_text(s, a) + " and " +
                    operand_text(s, b) + (why.empty() ? "" : ": " + why));
  }
  // Of shifts and of & | ^ a constant takes the other side's type, which has to hold it; -1 is all ones of any.
  DType of_other() const {
    auto x = ir::constant_value(s.module, a), y = ir::constant_value(s.module, b);
    DType type = x && !y ? right() : y && !x ? left() : *matched(left(), right());
    for (const auto& c : {x, y})
      if (c && !holds(type, c->value) && !(type != DType::b1 && c->value < 0 && holds(type, ~c->value))) refuse();
    return type;
  }
  DType shifted() const {
    DType type = of_other();
    auto amount = ir::constant_value(s.module, b);
    bool counted = (type == DType::i32 || type == DType::i64) && lanes() == 1;
    if (amount && amount->value < 0) refuse("the amount is negative");
    auto known = ir::constant_value(s.module, a);
    if (amount && known && kind == OpKind::shift_left && info(type).bits < 64 &&
        (amount->value > 62 || !holds(type, known->value << amount->value)))
      refuse("the result does not fit");
    if (amount && counted && amount->value >= static_cast<int64_t>(info(type).bits))
      refuse("the amount has to be less than " + std::to_string(info(type).bits));
    return type;
  }
  void check_kinds(Family family) const {
    bool floats = is_float(left()) || is_float(right());
    bool truths = left() == DType::b1 || right() == DType::b1;
    if (family == Family::floor || family == Family::shift)
      if (floats || truths) refuse(floats ? "it takes integers" : "");
    if (family == Family::bits && floats) refuse("it takes integers");
    auto is_signed = [&](ir::ValueId v) {
      bool literal = ir::constant_value(s.module, v) && dtype_of(s, v) == DType::b1;
      return info(dtype_of(s, v)).kind == NumberKind::sint || literal;
    };
    if (family == Family::division && is_signed(a) && is_signed(b)) refuse("// is the integer division");
  }
  // A constant that is converted has to fit: -1 is no uint32, 70000 no float16.
  void check_constants(DType type) const {
    for (ir::ValueId v : {a, b})
      if (auto c = ir::constant_value(s.module, v); c && !c->dynamic() && dtype_of(s, v) != type)
        if ((info(type).kind == NumberKind::uint || is_float(type)) && !converts(type, c->value)) refuse();
  }
  DType type(Family family) const {
    check_kinds(family);
    if (family == Family::shift) return shifted();
    if (family == Family::bits) return of_other();
    auto common = matched(left(), right());
    if (!common) refuse();
    check_constants(*common);
    return *common;
  }
  uint32_t lanes() const {
    uint32_t x = s.module[a].type.lanes, y = s.module[b].type.lanes;
    if (x != y && x != 1 && y != 1) refuse("they differ in lanes");
    return std::max(x, y);
  }
};
}  // namespace

ir::ValueId in_lanes(Session& s, ir::ValueId v, uint32_t lanes) {
  if (s.module[v].type.lanes == lanes) return v;
  return s.trace->builder.call("broadcast", {v}, ir::Type::scalar(dtype_of(s, v), lanes));
}

std::pair<ir::ValueId, ir::ValueId> promote(Session& s, OpKind kind, ir::ValueId a, ir::ValueId b,
                                            const SourceRange& where) {
  Family family = family_of(kind);
  Matching m{s, kind, a, b, where};
  DType type = family == Family::logic ? DType::b1 : m.type(family);
  uint32_t lanes = m.lanes();
  return {in_lanes(s, convert(s, a, type), lanes), in_lanes(s, convert(s, b, type), lanes)};
}

ir::ValueId scalar_binary(Session& s, OpKind kind, ir::ValueId a, ir::ValueId b, const SourceRange& where) {
  auto [x, y] = promote(s, kind, a, b, where);
  return s.trace->builder.binary(kind, x, y);
}
ir::ValueId scalar_binary(Session& s, OpKind kind, ir::ValueId a, ir::ValueId b) {
  return scalar_binary(s, kind, a, b, s.trace->builder.loc);
}

DType common_type(Session& s, ir::ValueId a, ir::ValueId b, const SourceRange& where) {
  Matching m{s, OpKind::select, a, b, where};
  m.lanes();
  return m.type(Family::arithmetic);
}

}  // namespace tc::eval
