// Operators on objects of the program's classes: the methods that they call, and what members of enumerations are.
//   a + b     a.__add__(b), else b.__radd__(a)
//   a == b    a.__eq__(b), else b.__eq__(a); dataclasses and named tuples: the same class and equal fields
//   Kind.A    of IntEnum, IntFlag, StrEnum or (str, Enum): its value wherever an operator takes it
// Nothing is returned where the classes say nothing: the caller goes on. Source: Python's data model, "Emulating
// numeric types" and "Basic customization".
#include <array>

#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ast::BinOp, ast::CmpOp;

constexpr std::array<std::string_view, 13> kBinary = {"add",    "sub",    "mul", "matmul", "truediv", "mod",     "pow",
                                                      "lshift", "rshift", "or",  "xor",    "and",     "floordiv"};
static_assert(kBinary[static_cast<size_t>(BinOp::floordiv)] == "floordiv");

struct Compared {
  CmpOp op;
  const char *method, *reflected;
};
constexpr Compared kCompared[] = {{CmpOp::eq, "__eq__", "__eq__"}, {CmpOp::ne, "__ne__", "__ne__"},
                                  {CmpOp::lt, "__lt__", "__gt__"}, {CmpOp::le, "__le__", "__ge__"},
                                  {CmpOp::gt, "__gt__", "__lt__"}, {CmpOp::ge, "__ge__", "__le__"}};

bool same_fields(Session& s, ObjectObject& a, ObjectObject& b, const SourceRange& where) {
  return a.type == b.type && a.attrs.size() == b.attrs.size() &&
         std::all_of(a.attrs.begin(), a.attrs.end(), [&](const auto& item) {
           auto other = b.attrs.find(item.first);
           return other != b.attrs.end() && to_bool(s, compare(s, CmpOp::eq, item.second, other->second, where), where,
                                                    "the comparison of a field");
         });
}
}  // namespace

std::optional<Value> special_method(Session& s, const Value& self, const std::string& name, std::vector<Value> args,
                                    const SourceRange& where) {
  auto* const* object = self.as<ObjectObject*>();
  const Value* method = object ? class_lookup(*(*object)->type, name) : nullptr;
  if (!method) return std::nullopt;
  args.insert(args.begin(), self);
  Scope scope;
  return apply(s, scope, *method, std::move(args), {}, where);
}

Value plain_member(const Value& v) {
  auto* const* object = v.as<ObjectObject*>();
  if (!object || !(*object)->type->is_enum) return v;
  const ClassObject& type = *(*object)->type;
  constexpr std::string_view kPlain[] = {"IntEnum", "IntFlag", "StrEnum"};
  auto value = (*object)->attrs.find("value");
  bool plain = std::any_of(std::begin(kPlain), std::end(kPlain), [&](auto base) { return derives_from(type, base); });
  for (const Value& base : type.bases)  // class Mode(str, Enum)
    plain |= base.is<const Builtin*>() || base.is<DType>();
  return plain && value != (*object)->attrs.end() ? value->second : v;
}

std::optional<Value> object_binary(Session& s, BinOp op, const Value& a, const Value& b, const SourceRange& where) {
  if (!a.is<ObjectObject*>() && !b.is<ObjectObject*>()) return std::nullopt;
  std::string name(kBinary[static_cast<size_t>(op)]);
  if (auto v = special_method(s, a, "__" + name + "__", {b}, where)) return v;
  if (auto v = special_method(s, b, "__r" + name + "__", {a}, where)) return v;
  Value x = plain_member(a), y = plain_member(b);
  if (x.is<ObjectObject*>() || y.is<ObjectObject*>()) return std::nullopt;
  return binary(s, op, x, y, where);
}

std::optional<Value> object_compare(Session& s, CmpOp op, const Value& a, const Value& b, const SourceRange& where) {
  auto *const *x = a.as<ObjectObject*>(), *const *y = b.as<ObjectObject*>();
  if (op == CmpOp::in || op == CmpOp::not_in) {
    auto found = special_method(s, b, "__contains__", {a}, where);
    return found && op == CmpOp::not_in ? unary(s, ast::UnaryOp::not_, *found, where) : found;
  }
  if ((!x && !y) || op == CmpOp::is || op == CmpOp::is_not) return std::nullopt;
  for (const Compared& row : kCompared) {
    if (row.op != op) continue;
    if (auto v = special_method(s, a, row.method, {b}, where)) return v;
    if (auto v = special_method(s, b, row.reflected, {a}, where)) return v;
  }
  bool equality = op == CmpOp::eq || op == CmpOp::ne;
  if (op == CmpOp::ne)
    if (auto equal = object_compare(s, CmpOp::eq, a, b, where)) return unary(s, ast::UnaryOp::not_, *equal, where);
  if (equality && x && y && (*x)->type->is_record) return boolean(same_fields(s, **x, **y, where) == (op == CmpOp::eq));
  Value p = plain_member(a), q = plain_member(b);
  if (p.is<ObjectObject*>() || q.is<ObjectObject*>()) return std::nullopt;
  return compare(s, op, p, q, where);
}

}  // namespace tc::eval
