// Building ops with folding: an operation on integer constants becomes a constant that keeps the meta expression of its
// parts, so ceildiv(K, 64) - 1 reaches the verifier as an expression and not as 7.
#include <cassert>

#include "compiler/ir/floor_div.h"
#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

template <class Operation>
std::optional<int64_t> checked(Operation&& operation, int64_t a, int64_t b) {
  int64_t out = 0;
  return operation(a, b, &out) ? std::nullopt : std::optional(out);
}
// No value: division by zero, a shift out of range, or overflow.
std::optional<int64_t> fold(MetaKind kind, int64_t a, int64_t b) {
  bool divides = b != 0 && !(a == INT64_MIN && b == -1);
  switch (kind) {
    case MetaKind::add: return checked([](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); }, a, b);
    case MetaKind::sub: return checked([](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); }, a, b);
    case MetaKind::mul: return checked([](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); }, a, b);
    case MetaKind::floordiv: return divides ? std::optional(floor_div(a, b)) : std::nullopt;
    case MetaKind::floormod: return divides ? std::optional(a - floor_div(a, b) * b) : std::nullopt;
    case MetaKind::ceildiv: return divides && a != INT64_MIN ? std::optional(-floor_div(-a, b)) : std::nullopt;
    case MetaKind::min: return a < b ? a : b;
    case MetaKind::max: return a > b ? a : b;
    case MetaKind::bit_and: return a & b;
    case MetaKind::bit_or: return a | b;
    case MetaKind::bit_xor: return a ^ b;
    case MetaKind::shift_left:
      return b < 0 || b > 62
                 ? std::nullopt
                 : checked([](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); }, a, int64_t{1} << b);
    case MetaKind::shift_right: return b < 0 || b > 62 ? std::nullopt : std::optional(a >> b);
    case MetaKind::neg: return checked([](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); }, 0, a);
    case MetaKind::literal:
    case MetaKind::param:
    case MetaKind::symbol: return std::nullopt;
  }
  return std::nullopt;
}

// The meta operation that an integer op folds to.
std::optional<MetaKind> meta_kind(OpKind kind) {
  static constexpr std::pair<OpKind, MetaKind> kRows[] = {
      {OpKind::add, MetaKind::add},
      {OpKind::sub, MetaKind::sub},
      {OpKind::mul, MetaKind::mul},
      {OpKind::floordiv, MetaKind::floordiv},
      {OpKind::floormod, MetaKind::floormod},
      {OpKind::min, MetaKind::min},
      {OpKind::max, MetaKind::max},
      {OpKind::bit_and, MetaKind::bit_and},
      {OpKind::bit_or, MetaKind::bit_or},
      {OpKind::bit_xor, MetaKind::bit_xor},
      {OpKind::shift_left, MetaKind::shift_left},
      {OpKind::shift_right, MetaKind::shift_right},
  };
  for (auto [op, meta] : kRows)
    if (op == kind) return meta;
  return std::nullopt;
}

bool is_comparison(OpKind k) {
  return k == OpKind::eq || k == OpKind::ne || k == OpKind::lt || k == OpKind::le || k == OpKind::gt ||
         k == OpKind::ge || k == OpKind::logical_and || k == OpKind::logical_or;
}

std::optional<bool> fold_comparison(OpKind kind, int64_t a, int64_t b) {
  if (kind == OpKind::eq) return a == b;
  if (kind == OpKind::ne) return a != b;
  if (kind == OpKind::lt) return a < b;
  if (kind == OpKind::le) return a <= b;
  if (kind == OpKind::gt) return a > b;
  if (kind == OpKind::ge) return a >= b;
  if (kind == OpKind::logical_and) return a && b;
  if (kind == OpKind::logical_or) return a || b;
  return std::nullopt;
}

MetaId as_node(Module& m, const MetaInt& v) {
  return v.expr.valid() ? v.expr : m.new_meta({.kind = MetaKind::literal, .value = v.value});
}

}  // namespace

MetaInt meta_param(Module& m, std::string name, int64_t value) {
  return {value, m.new_meta({.kind = MetaKind::param, .name = std::move(name)})};
}

std::optional<int64_t> meta_value(const Module& m, const Func& f, MetaId expr,
                                  std::span<const std::pair<std::string, int64_t>> symbols) {
  const MetaNode& n = m[expr];
  auto named = [&](auto values) -> std::optional<int64_t> {
    for (const auto& [name, value] : values)
      if (name == n.name) return value;
    return std::nullopt;
  };
  if (n.kind == MetaKind::literal) return n.value;
  if (n.kind == MetaKind::param) return named(std::span(f.args));
  if (n.kind == MetaKind::symbol) return named(symbols);
  auto a = meta_value(m, f, n.lhs, symbols), b = n.rhs.valid() ? meta_value(m, f, n.rhs, symbols) : 0;
  return a && b ? fold(n.kind, *a, *b) : std::nullopt;
}

MetaInt meta_binary(Module& m, MetaKind kind, const MetaInt& a, const MetaInt& b) {
  bool dynamic = a.dynamic() || b.dynamic();
  auto value = dynamic ? std::optional(MetaInt::kDynamic) : fold(kind, a.value, b.value);
  assert(value && "division by zero and overflow at the meta level are the caller's to exclude");
  if (!a.expr.valid() && !b.expr.valid()) return *value;
  bool additive = kind == MetaKind::add || kind == MetaKind::sub;
  if (!b.expr.valid() && ((b.value == 0 && additive) || (b.value == 1 && kind == MetaKind::mul))) return a;
  if (!a.expr.valid() && ((a.value == 0 && kind == MetaKind::add) || (a.value == 1 && kind == MetaKind::mul))) return b;
  if (kind == MetaKind::neg) return {*value, m.new_meta({.kind = kind, .lhs = as_node(m, a)})};
  MetaId lhs = as_node(m, a), rhs = as_node(m, b);
  return {*value, m.new_meta({.kind = kind, .lhs = lhs, .rhs = rhs})};
}

ValueId Builder::constant(MetaInt value, DType type) {
  assert(!value.dynamic() && "a run-time integer is no constant");
  OpId id = module.new_op(block, OpKind::constant, {}, {Type::scalar(type)}, loc);
  set_attr(module[id].attrs, "value", value);
  return module[id].results[0];
}

ValueId Builder::constant(double value, DType type) {
  OpId id = module.new_op(block, OpKind::constant, {}, {Type::scalar(type)}, loc);
  set_attr(module[id].attrs, "value", value);
  return module[id].results[0];
}

ValueId Builder::binary(OpKind kind, ValueId a, ValueId b) {
  auto x = constant_value(module, a), y = constant_value(module, b);
  DType type = module[a].type.dtype;
  if (is_integer(type)) {  // neutral elements, so that lowering may write `x + 0` freely
    if (y && !y->expr.valid() && y->value == 0 && (kind == OpKind::add || kind == OpKind::sub)) return a;
    if (x && !x->expr.valid() && x->value == 0 && kind == OpKind::add) return b;
    if (y && !y->expr.valid() && y->value == 1 && (kind == OpKind::mul || kind == OpKind::floordiv)) return a;
    if (x && !x->expr.valid() && x->value == 1 && kind == OpKind::mul) return b;
    if (y && !y->expr.valid() && y->value == 1 && kind == OpKind::floormod) return constant(MetaInt(0), type);
    if (kind == OpKind::mul && ((x && !x->expr.valid() && x->value == 0) || (y && !y->expr.valid() && y->value == 0)))
      return constant(MetaInt(0), type);
  }
  if (x && y && is_integer(type)) {
    auto meta = meta_kind(kind);
    auto value = meta ? fold(*meta, x->value, y->value) : std::nullopt;
    if (value && holds(type, *value)) return constant(meta_binary(module, *meta, *x, *y), type);
    if (value && !x->expr.valid() && !y->expr.valid()) return constant(wrapped(type, *value), type);
  }
  if (x && y && !x->expr.valid() && !y->expr.valid())
    if (auto truth = fold_comparison(kind, x->value, y->value)) return constant(MetaInt(*truth ? 1 : 0), DType::b1);
  DType result = is_comparison(kind) ? DType::b1 : type;
  OpId id = module.new_op(block, kind, {a, b}, {Type::scalar(result, module[a].type.lanes)}, loc);
  return module[id].results[0];
}

ValueId Builder::unary(OpKind kind, ValueId a) {
  DType type = kind == OpKind::logical_not ? DType::b1 : module[a].type.dtype;
  OpId id = module.new_op(block, kind, {a}, {Type::scalar(type, module[a].type.lanes)}, loc);
  return module[id].results[0];
}

ValueId Builder::select(ValueId condition, ValueId a, ValueId b) {
  const Type& t = module[a].type;
  OpId id = module.new_op(block, OpKind::select, {condition, a, b}, {Type::scalar(t.dtype, t.lanes)}, loc);
  return module[id].results[0];
}

ValueId Builder::cast(ValueId a, DType type) {
  if (module[a].type.dtype == type) return a;
  OpId id = module.new_op(block, OpKind::cast, {a}, {Type::scalar(type, module[a].type.lanes)}, loc);
  return module[id].results[0];
}

ValueId Builder::thread_index() {
  OpId id = module.new_op(block, OpKind::thread_index, {}, {Type::scalar(DType::i32)}, loc);
  return module[id].results[0];
}

ValueId Builder::alloc(Type type, std::string name) {
  OpId id = module.new_op(block, OpKind::alloc, {}, {std::move(type)}, loc);
  ValueId v = module[id].results[0];
  module[v].name = std::move(name);
  return v;
}

ValueId Builder::region(ValueId buffer, std::span<const ValueId> offsets, std::span<const ValueId> extents) {
  assert(offsets.size() == extents.size() && "a region has an offset and an extent a dimension");
  std::vector<ValueId> operands{buffer};
  operands.insert(operands.end(), offsets.begin(), offsets.end());
  operands.insert(operands.end(), extents.begin(), extents.end());
  std::vector<MetaInt> shape;
  for (ValueId e : extents) shape.push_back(constant_value(module, e).value_or(MetaInt(MetaInt::kDynamic)));
  Type tile = Type::tile(module[buffer].type.dtype, std::move(shape));
  tile.lanes = module[buffer].type.lanes;
  OpId id = module.new_op(block, OpKind::region, std::move(operands), {std::move(tile)}, loc);
  return module[id].results[0];
}

ValueId Builder::load(ValueId buffer, std::span<const ValueId> indices) {
  std::vector<ValueId> operands{buffer};
  operands.insert(operands.end(), indices.begin(), indices.end());
  const Type& t = module[buffer].type;
  OpId id = module.new_op(block, OpKind::load, std::move(operands), {Type::scalar(t.dtype, t.lanes)}, loc);
  return module[id].results[0];
}

OpId Builder::op(OpKind kind, std::vector<ValueId> operands) {
  return module.new_op(block, kind, std::move(operands), {}, loc);
}

OpId Builder::call(std::string_view name, std::vector<ValueId> operands) {
  assert(find_intrinsic(name) && "an intrinsic has a row");
  OpId id = op(OpKind::call, std::move(operands));
  set_attr(module[id].attrs, "name", std::string(name));
  return id;
}

ValueId Builder::call(std::string_view name, std::vector<ValueId> operands, Type result) {
  assert(find_intrinsic(name) && "an intrinsic has a row");
  OpId id = module.new_op(block, OpKind::call, std::move(operands), {std::move(result)}, loc);
  set_attr(module[id].attrs, "name", std::string(name));
  return module[id].results[0];
}

OpId Builder::nest(OpKind kind, std::vector<ValueId> operands, const std::vector<std::string>& args) {
  OpId id = op(kind, std::move(operands));
  BlockId inner = module.new_block();
  for (const std::string& name : args) {
    ValueId v = module.new_value(Type::scalar(DType::i32), name);
    module[inner].args.push_back(v);
  }
  module[id].blocks.push_back(inner);
  return id;
}

}  // namespace tc::ir
