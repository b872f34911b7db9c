// Expressions. A run-time `and`, `or` or conditional expression evaluates its right side only where it is needed
// (`choose`); a compile-time one has Python's short circuit and records the decision as a precondition.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;

Value eval_constant(const Constant& c, const SourceRange& where) {
  return std::visit(Overload{
                        [](NoneLit) { return none(); },
                        [](bool b) { return boolean(b); },
                        [](int64_t i) { return integer(ir::MetaInt(i)); },
                        [](double d) { return real(d); },
                        [](const std::string& t) { return text(t); },
                        [&](const BigIntLit&) -> Value { fail(where, "the integer does not fit 64 bits"); },
                        [&](EllipsisLit) -> Value { fail_unsupported(where, "..."); },
                    },
                    c.value);
}

Value eval_bool(Session& s, Scope& scope, const BoolExpr& e, const SourceRange& where) {
  bool is_and = e.op == BoolOp::and_;
  Value result = eval(s, scope, *e.values[0]);
  for (size_t i = 1; i < e.values.size(); ++i) {
    if (s.host && result.is<const OpaqueObject*>()) return result;
    auto known = truth(s, result, e.values[i - 1]->where);
    if (known && *known != is_and) return result;
    const Expr& next = *e.values[i];
    if (known) {
      result = eval(s, scope, next);
      continue;
    }
    ir::ValueId left = as_condition(s, result, where);
    auto right = [&] { return scalar(as_condition(s, eval(s, scope, next), next.where)); };
    auto fixed = [&] { return scalar(constant(s, ir::MetaInt(is_and ? 0 : 1), DType::b1)); };
    // Without memory reads on the right the plain logical op says the same and stays readable.
    Value chosen = is_and ? choose(s, left, right, fixed, where) : choose(s, left, fixed, right, where);
    ir::ValueId id = chosen.as<ScalarV>()->id;
    const ir::Op op = s.module[s.module[id].def];
    if (op.kind == ir::OpKind::select) {
      ir::ValueId other = op.operands[is_and ? 1 : 2];
      id = s.trace->builder.binary(is_and ? ir::OpKind::logical_and : ir::OpKind::logical_or, left, other);
    }
    result = scalar(id);
  }
  return result;
}

Value eval_compare(Session& s, Scope& scope, const Compare& e, const SourceRange& where) {
  Value left = eval(s, scope, *e.first);
  Value result = boolean(true);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    Value right = eval(s, scope, *e.rest[i]);
    Value one = compare(s, e.ops[i], left, right, where);
    if (e.ops.size() == 1 || one.is<const OpaqueObject*>()) return one;
    auto known = truth(s, one, where);
    if (known && !*known) return one;
    if (!known) {
      bool first = result.is<BoolV>();
      result = first ? one
                     : scalar(s.trace->builder.binary(ir::OpKind::logical_and, as_condition(s, result, where),
                                                      as_condition(s, one, where)));
    }
    left = right;
  }
  return result;
}

Value eval_if(Session& s, Scope& scope, const IfExpr& e, const SourceRange& where) {
  Value test = eval(s, scope, *e.test);
  if (s.host && test.is<const OpaqueObject*>())
    return opaque(s, "a choice that depends on " + (*test.as<const OpaqueObject*>())->what, where);
  if (auto known = truth(s, test, e.test->where)) return eval(s, scope, *known ? *e.body : *e.orelse);
  return choose(
      s, as_condition(s, test, e.test->where), [&] { return eval(s, scope, *e.body); },
      [&] { return eval(s, scope, *e.orelse); }, where);
}

std::vector<Value> eval_items(Session& s, Scope& scope, const Exprs& items) {
  std::vector<Value> out;
  for (ExprRef item : items) {
    if (const auto* star = std::get_if<Starred>(&item->node)) {
      for (Value& v : to_items(s, eval(s, scope, *star->value), item->where, "what * unpacks"))
        out.push_back(std::move(v));
    } else {
      out.push_back(eval(s, scope, *item));
    }
  }
  return out;
}

Value eval_dict(Session& s, Scope& scope, const DictExpr& e, const SourceRange& where) {
  DictObject dict;
  for (size_t i = 0; i < e.keys.size(); ++i) {
    if (!e.keys[i]) fail_unsupported(where, "** in a dict");
    Value key = eval(s, scope, *e.keys[i]);
    dict.items.emplace_back(std::move(key), eval(s, scope, *e.values[i]));
  }
  s.heap.dicts.push_back(std::move(dict));
  return Value{&s.heap.dicts.back()};
}

void comprehend(Session& s, Scope& scope, const ListComp& e, size_t level, std::vector<Value>& out) {
  if (level == e.generators.size()) {
    out.push_back(eval(s, scope, *e.element));
    return;
  }
  const Comprehension& g = e.generators[level];
  for (const Value& item : to_items(s, eval(s, scope, *g.iter), g.iter->where, "what the comprehension runs over")) {
    count_step(s, g.iter->where);
    assign(s, scope, *g.target, item);
    bool keep = true;
    for (ExprRef condition : g.ifs)
      keep = keep && to_bool(s, eval(s, scope, *condition), condition->where, "the condition");
    if (keep) comprehend(s, scope, e, level + 1, out);
  }
}

Value eval_comprehension(Session& s, Scope& scope, const ListComp& e) {
  Scope& inner = s.heap.scopes.emplace_back(
      Scope{.parent = &scope, .names = {}, .is_function = true, .is_loop = false, .staged = false, .outer_reads = {}});
  std::vector<Value> out;
  comprehend(s, inner, e, 0, out);
  return list(s, std::move(out));
}

Value eval_fstring(Session& s, Scope& scope, const JoinedStr& e) {
  std::string out;
  for (ExprRef part : e.parts) {
    if (const auto* value = std::get_if<FormattedValue>(&part->node)) {
      Value v = eval(s, scope, *value->value);
      if (!value->plain && !s.host) fail_unsupported(part->where, "a format specification in an f-string");
      out += format(s, v);
    } else {
      out += to_text(eval(s, scope, *part), part->where, "the part of the f-string");
    }
  }
  return text(out);
}

Value eval_lambda(Session& s, Scope& scope, const Lambda& e, const SourceRange& where) {
  FunctionObject f;
  f.name = "<lambda>";
  f.params = &e.params;
  f.lambda_body = e.body;
  f.closure = &scope;
  f.where = where;
  for (const Param& p : e.params.list)
    f.defaults.push_back(p.default_value ? std::optional(eval(s, scope, *p.default_value)) : std::nullopt);
  s.heap.functions.push_back(std::move(f));
  return Value{&s.heap.functions.back()};
}
}  // namespace

Value subscript(Session& s, Scope& scope, const Value& base, const Expr& index, const SourceRange& where) {
  if (const auto* b = base.as<BufferV>()) return index_buffer(s, scope, *b, index, where);
  if (const auto* o = base.as<const OpaqueObject*>()) return opaque(s, (*o)->what + "[...]", where);
  if (const auto* t = base.as<const HostTensor*>()) return tensor_item(s, scope, **t, index, where);
  if (const auto* d = base.as<DictObject*>()) {
    Value key = eval(s, scope, index);
    if (const auto* i = key.as<ir::MetaInt>()) pin(s, *i, where);
    for (const auto& [k, v] : (*d)->items)
      if (equal_values(k, key)) return v;
    fail(where, "the dict has no key " + format(s, key));
  }
  if (base.is<const Builtin*>())
    return call_builtin(s, scope, **base.as<const Builtin*>(),
                        to_items(s, eval(s, scope, index), where, "the subscript"), {}, where);
  if (base.is<const RegionObject*>()) fail_unsupported(where, "a subscript of a region");
  std::vector<Value> items;
  if (const auto* t = base.as<std::string>()) {
    for (char c : *t) items.push_back(text(std::string(1, c)));
  } else {
    items = to_items(s, base, where, "what is subscripted");
  }
  auto position = [&](ExprRef e, int64_t otherwise) {
    if (!e) return otherwise;
    ir::MetaInt i = to_int(s, eval(s, scope, *e), e->where, "the index");
    pin(s, i, e->where);
    return i.value < 0 ? i.value + static_cast<int64_t>(items.size()) : i.value;
  };
  int64_t size = static_cast<int64_t>(items.size());
  if (const auto* slice = std::get_if<Slice>(&index.node)) {
    if (slice->step) fail_unsupported(where, "a slice with a step");
    int64_t from = std::clamp<int64_t>(position(slice->lower, 0), 0, size),
            to = std::clamp<int64_t>(position(slice->upper, size), from, size);
    std::vector<Value> part(items.begin() + from, items.begin() + to);
    return base.is<const TupleObject*>() ? tuple(s, std::move(part)) : list(s, std::move(part));
  }
  int64_t i = position(&index, 0);
  if (i < 0 || i >= size) fail(where, "index " + std::to_string(i) + " of " + std::to_string(size) + " items");
  return items[static_cast<size_t>(i)];
}

Value eval(Session& s, Scope& scope, const Expr& e) {
  return std::visit(
      Overload{
          [&](const Constant& n) { return eval_constant(n, e.where); },
          [&](const Name& n) { return read_name(s, scope, n.id, e.where); },
          [&](const Attribute& n) { return get_attribute(s, eval(s, scope, *n.value), n.attr, e.where); },
          [&](const Subscript& n) { return subscript(s, scope, eval(s, scope, *n.value), *n.index, e.where); },
          [&](const Slice&) -> Value { fail(e.where, "a slice is no value"); },
          [&](const Call& n) { return call_value(s, scope, eval(s, scope, *n.func), n, e.where); },
          [&](const BinaryExpr& n) {
            Value left = eval(s, scope, *n.left);
            return binary(s, n.op, left, eval(s, scope, *n.right), e.where);
          },
          [&](const UnaryExpr& n) { return unary(s, n.op, eval(s, scope, *n.operand), e.where); },
          [&](const BoolExpr& n) { return eval_bool(s, scope, n, e.where); },
          [&](const Compare& n) { return eval_compare(s, scope, n, e.where); },
          [&](const IfExpr& n) { return eval_if(s, scope, n, e.where); },
          [&](const TupleExpr& n) { return tuple(s, eval_items(s, scope, n.items)); },
          [&](const ListExpr& n) { return list(s, eval_items(s, scope, n.items)); },
          [&](const DictExpr& n) { return eval_dict(s, scope, n, e.where); },
          [&](const ListComp& n) { return eval_comprehension(s, scope, n); },
          [&](const Starred&) -> Value { fail(e.where, "* is not possible here"); },
          [&](const JoinedStr& n) { return eval_fstring(s, scope, n); },
          [&](const FormattedValue& n) { return eval(s, scope, *n.value); },
          [&](const Lambda& n) { return eval_lambda(s, scope, n, e.where); },
          [&](const OtherExpr& n) -> Value { fail_unsupported(e.where, "Python's " + n.kind); },
      },
      e.node);
}

}  // namespace tc::eval
