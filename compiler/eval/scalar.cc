// Run-time scalars of a kernel: constants, lazy choices, and two questions about them that the language needs answered
// while it is built: is the difference of two indices a constant, and which threads satisfy a condition.
#include <functional>

#include "compiler/eval/session.h"
#include "compiler/ir/floor_div.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::MetaKind;
using ir::OpKind;

std::optional<double> float_constant(Session& s, ir::ValueId v) {
  ir::OpId def = s.module[v].def;
  if (!def.valid() || s.module[def].kind != OpKind::constant) return std::nullopt;
  const ir::AttrValue* a = ir::find_attr(s.module[def].attrs, "value");
  const double* d = a ? std::get_if<double>(a) : nullptr;
  return d ? std::optional(*d) : std::nullopt;
}
}  // namespace

Trace& need_trace(Session& s, const SourceRange& where, std::string_view what) {
  if (!s.trace || s.host) fail(where, std::string(what) + " is only possible inside a kernel");
  return *s.trace;
}
Trace& need_launch(Session& s, const SourceRange& where, std::string_view what) {
  Trace& t = need_trace(s, where, what);
  if (t.threads.empty()) fail(where, std::string(what) + " is only possible inside `with T.Kernel(...)`");
  return t;
}
DType dtype_of(Session& s, ir::ValueId v) { return s.module[v].type.dtype; }

bool is_runtime(const Value& v) {
  if (v.is<ScalarV>() || v.is<const SymbolObject*>()) return true;
  if (const auto* b = v.as<BufferV>()) return b->is_var;
  if (const auto* r = v.as<const RegionObject*>()) return !(*r)->has_slice;
  if (const auto* l = v.as<const LoopObject*>()) return (*l)->kind == LoopKind::thread;
  return false;
}

ir::ValueId symbol_value(Session& s, const std::string& name, DType dtype) {
  for (const auto& [known, id] : s.trace->symbols)
    if (known == name) return id;
  ir::ValueId id = s.module.new_value(ir::Type::scalar(dtype), name);
  s.trace->symbols.emplace_back(name, id);
  return id;
}

namespace {
constexpr std::pair<MetaKind, OpKind> kMetaOps[] = {
    {MetaKind::add, OpKind::add},
    {MetaKind::sub, OpKind::sub},
    {MetaKind::mul, OpKind::mul},
    {MetaKind::floordiv, OpKind::floordiv},
    {MetaKind::floormod, OpKind::floormod},
    {MetaKind::min, OpKind::min},
    {MetaKind::max, OpKind::max},
    {MetaKind::bit_and, OpKind::bit_and},
    {MetaKind::bit_or, OpKind::bit_or},
    {MetaKind::bit_xor, OpKind::bit_xor},
    {MetaKind::shift_left, OpKind::shift_left},
    {MetaKind::shift_right, OpKind::shift_right},
};
// The value of a factory parameter inside of a dynamic expression is part of the expression's text only.
ir::ValueId meta_scalar(Session& s, ir::MetaId expr) {
  const ir::MetaNode n = s.module[expr];
  if (n.kind == MetaKind::symbol) {
    for (const auto& [name, id] : s.trace->lengths)
      if (name == n.name) return id;
    return symbol_value(s, n.name, DType::i32);
  }
  if (n.kind == MetaKind::literal) return constant(s, MetaInt(n.value));
  if (n.kind == MetaKind::param) {
    for (const auto& [name, value] : s.trace->param_values)
      if (name == n.name) return constant(s, MetaInt(value, expr));
    return constant(s, MetaInt(0, expr));
  }
  ir::ValueId a = meta_scalar(s, n.lhs);
  if (n.kind == MetaKind::neg) return scalar_binary(s, OpKind::sub, constant(s, MetaInt(0)), a);
  ir::ValueId b = meta_scalar(s, n.rhs);
  if (n.kind == MetaKind::ceildiv)
    return scalar_binary(s, OpKind::floordiv,
                         scalar_binary(s, OpKind::sub, scalar_binary(s, OpKind::add, a, b), constant(s, MetaInt(1))),
                         b);
  for (auto [meta, op] : kMetaOps)
    if (meta == n.kind) return scalar_binary(s, op, a, b);
  return a;
}
}  // namespace

MetaInt runtime_extent(Session& s, ir::ValueId length) {
  if (auto known = as_meta(s, length)) return *known;
  auto& lengths = s.trace->lengths;
  auto it = std::find_if(lengths.begin(), lengths.end(), [&](const auto& l) { return l.second == length; });
  std::string name = it != lengths.end() ? it->first : "length." + std::to_string(lengths.size());
  if (it == lengths.end()) lengths.emplace_back(name, length);
  return {MetaInt::kDynamic, s.module.new_meta({.kind = MetaKind::symbol, .name = name})};
}

std::optional<MetaInt> as_meta(Session& s, ir::ValueId v) {
  if (auto c = ir::constant_value(s.module, v)) return c;
  for (const auto& [name, id] : s.trace->symbols)
    if (id == v) return MetaInt(MetaInt::kDynamic, s.module.new_meta({.kind = MetaKind::symbol, .name = name}));
  ir::OpId def = s.module[v].def;
  if (!def.valid()) return std::nullopt;
  const ir::Op op = s.module[def];
  if (op.kind == OpKind::cast && is_integer(s.module[v].type.dtype) && is_integer(s.module[op.operands[0]].type.dtype))
    return as_meta(s, op.operands[0]);
  for (auto [meta, kind] : kMetaOps) {
    if (kind != op.kind) continue;
    auto a = as_meta(s, op.operands[0]), b = as_meta(s, op.operands[1]);
    if (!a || !b) return std::nullopt;
    return ir::meta_binary(s.module, meta, *a, *b);
  }
  return std::nullopt;
}

ir::ValueId constant(Session& s, MetaInt value, DType type) {
  if (value.dynamic()) return convert(s, meta_scalar(s, value.expr), type);
  Trace& t = *s.trace;
  for (const Trace::Known& k : t.constants)
    if (k.type == type && k.value.value == value.value && k.value.expr == value.expr) return k.id;
  ir::ValueId id = t.builder.constant(value, type);
  s.module[id].name = (value.value < 0 ? "cm" : "c") + std::to_string(value.value < 0 ? -value.value : value.value);
  t.constants.push_back({value, type, id});
  return id;
}

ir::ValueId to_scalar(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  Trace& t = need_trace(s, where, what);
  if (const auto* sc = v.as<ScalarV>()) return sc->id;
  if (const auto* o = v.as<const SymbolObject*>()) return symbol_value(s, (*o)->name, (*o)->dtype);
  if (const auto* l = v.as<const LoopObject*>(); l && (*l)->kind == LoopKind::thread) return (*l)->bounds[0].first;
  if (const auto* i = v.as<MetaInt>()) {
    bool narrow = i->value >= INT32_MIN && i->value <= INT32_MAX;
    return constant(s, *i, narrow ? DType::i32 : DType::i64);
  }
  if (v.is<BoolV>()) return constant(s, MetaInt(*truth(s, v, where) ? 1 : 0), DType::b1);
  if (const auto* f = v.as<FloatV>()) return t.builder.constant(f->value, DType::f32);
  if (is_runtime(v)) return load_element(s, v, where).as<ScalarV>()->id;
  if (const auto* r = v.as<const RegionObject*>()) return slice_value(s, **r, where);
  if (const auto* o = v.as<const OpaqueObject*>()) fail_opaque(**o, where, what);
  if (Value plain = plain_member(v); v.is<ObjectObject*>() && !plain.is<ObjectObject*>())
    return to_scalar(s, plain, where, what);
  fail(where, std::string(what) + " has to be a number, not " + kind_name(v));
}

ir::ValueId to_index(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  ir::ValueId id = to_scalar(s, v, where, what);
  if (is_float(dtype_of(s, id))) fail(where, std::string(what) + " has to be an integer, not a float");
  return dtype_of(s, id) == DType::b1 ? convert(s, id, DType::i32) : id;
}

ir::ValueId convert(Session& s, ir::ValueId v, DType type) {
  if (dtype_of(s, v) == type) return v;
  if (auto c = ir::constant_value(s.module, v)) {
    if (is_float(type)) return s.trace->builder.constant(static_cast<double>(c->value), type);
    if (is_integer(type) && holds(type, c->value)) return constant(s, *c, type);
    if (is_integer(type) && !c->expr.valid()) return constant(s, MetaInt(wrapped(type, c->value)), type);
  }
  if (auto c = float_constant(s, v); c && is_float(type)) return s.trace->builder.constant(*c, type);
  return s.trace->builder.cast(v, type);
}

ir::ValueId as_condition(Session& s, const Value& v, const SourceRange& where) {
  ir::ValueId id = to_scalar(s, v, where, "the condition");
  if (dtype_of(s, id) == DType::b1) return id;
  ir::ValueId zero = convert(s, constant(s, MetaInt(0)), dtype_of(s, id));
  return s.trace->builder.binary(OpKind::ne, id, zero);
}

// Pure arms become a select; an arm that reads memory must not do so where it is not chosen, and becomes a branch.
Value choose(Session& s, ir::ValueId condition, const std::function<Value()>& a, const std::function<Value()>& b,
             const SourceRange& where) {
  Trace& t = *s.trace;
  ir::BlockId outer = t.builder.block;
  ir::BlockId blocks[2] = {s.module.new_block(), s.module.new_block()};
  ir::ValueId values[2];
  bool pure = true;
  auto in_block = [&](int arm, auto&& body) {
    size_t known = t.constants.size();
    t.builder.block = blocks[arm];
    values[arm] = body();
    t.constants.resize(known);
    t.builder.block = outer;
  };
  for (int arm : {0, 1}) in_block(arm, [&] { return to_scalar(s, arm == 0 ? a() : b(), where, "the value"); });
  DType type = common_type(s, values[0], values[1], where);
  uint32_t lanes = std::max(s.module[values[0]].type.lanes, s.module[values[1]].type.lanes);
  for (int arm : {0, 1}) {
    in_block(arm, [&] { return in_lanes(s, convert(s, values[arm], type), lanes); });
    for (ir::OpId op : s.module[blocks[arm]].ops)
      pure &= s.module[op].kind != OpKind::load && s.module[op].blocks.empty();
  }
  if (pure) {
    for (ir::BlockId block : blocks)
      for (ir::OpId op : s.module[block].ops) s.module[outer].ops.push_back(op);
    return scalar(t.builder.select(condition, values[0], values[1]));
  }
  ir::Type kept = ir::Type::buffer(ir::Space::local, type, {MetaInt(1)});
  kept.lanes = lanes;
  ir::ValueId result = t.builder.alloc(std::move(kept), "choice");
  ir::ValueId zero = constant(s, MetaInt(0));
  for (int arm : {0, 1})
    in_block(arm, [&] {
      t.builder.op(OpKind::store, {result, zero, values[arm]});
      return values[arm];
    });
  ir::OpId branch = t.builder.op(OpKind::if_, {condition});
  s.module[branch].blocks = {blocks[0], blocks[1]};
  return scalar(t.builder.load(result, std::array{zero}));
}

// ---------------------------------------------------------------------------------------------- linear forms
namespace {
struct Linear {
  MetaInt constant;
  std::vector<std::pair<ir::ValueId, MetaInt>> terms;  // atom, factor
};

const ir::Op* pure_def(const ir::Module& m, ir::ValueId v) {
  ir::OpId def = m[v].def;
  if (!def.valid()) return nullptr;
  const ir::Op& op = m[def];
  return op.kind == OpKind::load || op.kind == OpKind::alloc || !op.blocks.empty() ? nullptr : &op;
}

bool same_value(const ir::Module& m, ir::ValueId a, ir::ValueId b) {
  if (a == b) return true;
  const ir::Op *x = pure_def(m, a), *y = pure_def(m, b);
  if (!x || !y || x->kind != y->kind || x->operands.size() != y->operands.size()) return false;
  if (x->kind == OpKind::constant) {
    auto p = ir::constant_value(m, a), q = ir::constant_value(m, b);
    return p && q && p->value == q->value && p->expr == q->expr;
  }
  for (size_t i = 0; i < x->operands.size(); ++i)
    if (!same_value(m, x->operands[i], y->operands[i])) return false;
  return true;
}

void add_term(Session& s, Linear& form, ir::ValueId atom, const MetaInt& factor, const SourceRange& where) {
  for (auto& [known, f] : form.terms)
    if (same_value(s.module, known, atom)) {
      f = meta(s, ir::MetaKind::add, f, factor, where);
      return;
    }
  form.terms.emplace_back(atom, factor);
}

Linear linear(Session& s, ir::ValueId v, const MetaInt& factor, const SourceRange& where) {
  if (auto c = ir::constant_value(s.module, v)) return {meta(s, ir::MetaKind::mul, *c, factor, where), {}};
  const ir::Op* op = pure_def(s.module, v);
  if (op && (op->kind == OpKind::add || op->kind == OpKind::sub)) {
    ir::ValueId right = op->operands[1];
    MetaInt right_factor = op->kind == OpKind::sub ? meta(s, ir::MetaKind::sub, MetaInt(0), factor, where) : factor;
    Linear form = linear(s, op->operands[0], factor, where);
    Linear more = linear(s, right, right_factor, where);
    form.constant = meta(s, ir::MetaKind::add, form.constant, more.constant, where);
    for (const auto& [atom, f] : more.terms) add_term(s, form, atom, f, where);
    return form;
  }
  if (op && op->kind == OpKind::mul)
    for (int side : {0, 1})
      if (auto c = ir::constant_value(s.module, op->operands[side]))
        return linear(s, op->operands[1 - side], meta(s, ir::MetaKind::mul, factor, *c, where), where);
  return {MetaInt(0), {{v, factor}}};
}
}  // namespace

std::optional<MetaInt> constant_difference(Session& s, ir::ValueId upper, ir::ValueId lower, const SourceRange& where) {
  Linear a = linear(s, upper, MetaInt(1), where), b = linear(s, lower, MetaInt(1), where);
  for (const auto& [atom, factor] : b.terms) {
    auto same = std::find_if(a.terms.begin(), a.terms.end(),
                             [&](const auto& term) { return same_value(s.module, term.first, atom); });
    if (same == a.terms.end() || !require_equal(s, same->second, factor, where)) return std::nullopt;
    a.terms.erase(same);
  }
  for (const auto& [atom, factor] : a.terms)
    if (factor.value != 0) return std::nullopt;
  return meta(s, ir::MetaKind::sub, a.constant, b.constant, where);
}

// ---------------------------------------------------------------------------------------------- thread conditions
namespace {
std::optional<int64_t> value_for_thread(const ir::Module& m, ir::ValueId v, int64_t tid) {
  if (auto c = ir::constant_value(m, v)) return c->value;
  const ir::Op* op = pure_def(m, v);
  if (!op) return std::nullopt;
  if (op->kind == OpKind::thread_index) return tid;
  std::vector<int64_t> x;
  for (ir::ValueId operand : op->operands) {
    auto value = value_for_thread(m, operand, tid);
    if (!value) return std::nullopt;
    x.push_back(*value);
  }
  if (x.size() == 1) {
    if (op->kind == OpKind::logical_not) return !x[0];
    if (op->kind == OpKind::neg) return -x[0];
    return op->kind == OpKind::cast && !is_float(m[v].type.dtype) ? std::optional(x[0]) : std::nullopt;
  }
  if (x.size() != 2) return std::nullopt;
  bool divides = op->kind == OpKind::floordiv || op->kind == OpKind::floormod;
  if (divides && x[1] == 0) return std::nullopt;
  struct Row {
    OpKind kind;
    int64_t (*apply)(int64_t, int64_t);
  };
  static constexpr Row kRows[] = {
      {OpKind::add, [](int64_t a, int64_t b) { return a + b; }},
      {OpKind::sub, [](int64_t a, int64_t b) { return a - b; }},
      {OpKind::mul, [](int64_t a, int64_t b) { return a * b; }},
      {OpKind::floordiv, ir::floor_div},
      {OpKind::floormod, [](int64_t a, int64_t b) { return a - ir::floor_div(a, b) * b; }},
      {OpKind::bit_and, [](int64_t a, int64_t b) { return a & b; }},
      {OpKind::bit_or, [](int64_t a, int64_t b) { return a | b; }},
      {OpKind::bit_xor, [](int64_t a, int64_t b) { return a ^ b; }},
      {OpKind::shift_right, [](int64_t a, int64_t b) { return b < 0 || b > 62 ? 0 : a >> b; }},
      {OpKind::eq, [](int64_t a, int64_t b) -> int64_t { return a == b; }},
      {OpKind::ne, [](int64_t a, int64_t b) -> int64_t { return a != b; }},
      {OpKind::lt, [](int64_t a, int64_t b) -> int64_t { return a < b; }},
      {OpKind::le, [](int64_t a, int64_t b) -> int64_t { return a <= b; }},
      {OpKind::gt, [](int64_t a, int64_t b) -> int64_t { return a > b; }},
      {OpKind::ge, [](int64_t a, int64_t b) -> int64_t { return a >= b; }},
      {OpKind::logical_and, [](int64_t a, int64_t b) -> int64_t { return a && b; }},
      {OpKind::logical_or, [](int64_t a, int64_t b) -> int64_t { return a || b; }},
  };
  for (const Row& row : kRows)
    if (row.kind == op->kind) return row.apply(x[0], x[1]);
  return std::nullopt;
}
}  // namespace

std::optional<std::vector<bool>> threads_where(Session& s, ir::ValueId condition, int64_t count) {
  std::vector<bool> set;
  for (int64_t tid = 0; tid < count; ++tid) {
    auto value = value_for_thread(s.module, condition, tid);
    if (!value) return std::nullopt;
    set.push_back(*value != 0);
  }
  return set;
}

}  // namespace tc::eval
