// Expressions. A run-time `and`, `or` or conditional expression evaluates its right side only where it is needed
// (`choose`); a compile-time one has Python's short circuit and records the decision as a precondition.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;

Value eval_constant(Session& s, const Constant& c, const SourceRange& where) {
  return std::visit(Overload{
                        [](NoneLit) { return none(); },
                        [](bool b) { return boolean(b); },
                        [](int64_t i) { return integer(ir::MetaInt(i)); },
                        [](double d) { return real(d); },
                        [](const std::string& t) { return text(t); },
                        [&](const BigIntLit&) -> Value { fail(where, "the integer does not fit 64 bits"); },
                        [&](EllipsisLit) -> Value { return opaque(s, "...", where); },
                    },
                    c.value);
}

// Evaluates an operand that counts only where a run-time condition says so.
Value lazily(Session& s, const std::function<Value()>& operand) {
  struct Leave {
    Trace& t;
    ~Leave() { --t.lazy_depth; }
  } leave{*s.trace};
  ++s.trace->lazy_depth;
  return operand();
}

Value eval_bool(Session& s, Scope& scope, const BoolExpr& e, const SourceRange& where) {
  bool is_and = e.op == BoolOp::and_;
  Value result = eval(s, scope, *e.values[0]);
  for (size_t i = 1; i < e.values.size(); ++i) {
    if (const OpaqueObject* unknown = unknown_condition(s, result, where)) {
      eval(s, scope, *e.values[i]);
      return derived(s, *unknown, unknown->what);
    }
    auto known = truth(s, result, e.values[i - 1]->where);
    if (known && *known != is_and) return result;
    const Expr& next = *e.values[i];
    if (known) {
      result = eval(s, scope, next);
      continue;
    }
    ir::ValueId left = as_condition(s, result, where);
    auto right = [&] { return lazily(s, [&] { return scalar(as_condition(s, eval(s, scope, next), next.where)); }); };
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
  if (const OpaqueObject* unknown = unknown_condition(s, test, where)) {
    Value first = eval(s, scope, *e.body);
    return merged(s, first, eval(s, scope, *e.orelse), unknown->what, where);
  }
  if (auto known = truth(s, test, e.test->where)) return eval(s, scope, *known ? *e.body : *e.orelse);
  return choose(
      s, as_condition(s, test, e.test->where), [&] { return lazily(s, [&] { return eval(s, scope, *e.body); }); },
      [&] { return lazily(s, [&] { return eval(s, scope, *e.orelse); }); }, where);
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

void put_item(DictObject& d, const Value& key, const Value& value) {
  for (auto& [k, v] : d.items)
    if (equal_values(k, key)) return static_cast<void>(v = value);
  d.items.emplace_back(key, value);
}

Value eval_dict(Session& s, Scope& scope, const DictExpr& e, const SourceRange& where) {
  DictObject dict;
  for (size_t i = 0; i < e.keys.size(); ++i) {
    if (!e.keys[i]) {
      Value more = eval(s, scope, *e.values[i]);
      auto* const* d = more.as<DictObject*>();
      if (!d) fail_unsupported(where, "** of " + kind_name(more) + " in a dict");
      for (const auto& [k, v] : (*d)->items) put_item(dict, k, v);
      continue;
    }
    Value key = eval(s, scope, *e.keys[i]);
    put_item(dict, key, eval(s, scope, *e.values[i]));
  }
  s.heap.dicts.push_back(std::move(dict));
  return Value{&s.heap.dicts.back()};
}

Value eval_set(Session& s, Scope& scope, const SetExpr& e) {
  DictObject& set = dict(s);
  set.is_set = true;
  for (const Value& v : eval_items(s, scope, e.items)) put_item(set, v, none());
  return Value{&set};
}

// What a comprehension has gathered; `unknown`: something it runs over or asks for is not known (host code).
struct Gathered {
  std::vector<Value> items;
  DictObject* dict = nullptr;
  const OpaqueObject* unknown = nullptr;
};

void comprehend(Session& s, Scope& scope, const ListComp& e, size_t level, Gathered& out) {
  if (level == e.generators.size()) {
    Value item = eval(s, scope, *e.element);
    if (out.dict) put_item(*out.dict, item, e.value ? eval(s, scope, *e.value) : none());
    else out.items.push_back(std::move(item));
    return;
  }
  const Comprehension& g = e.generators[level];
  Value iterable = eval(s, scope, *g.iter);
  if (const OpaqueObject* o = unknown_condition(s, iterable, g.iter->where)) {
    out.unknown = o;
    assign(s, scope, *g.target, opaque(s, "an item of " + o->what, g.iter->where));
    comprehend(s, scope, e, level + 1, out);
    return;
  }
  for (const Value& item : to_items(s, iterable, g.iter->where, "what the comprehension runs over")) {
    count_step(s, g.iter->where);
    assign(s, scope, *g.target, item);
    bool keep = true;
    for (ExprRef condition : g.ifs) {
      Value c = keep ? eval(s, scope, *condition) : none();
      if (const OpaqueObject* o = unknown_condition(s, c, condition->where)) out.unknown = o;
      else keep = keep && to_bool(s, c, condition->where, "the condition");
    }
    if (keep) comprehend(s, scope, e, level + 1, out);
  }
}

Value eval_comprehension(Session& s, Scope& scope, const ListComp& e) {
  Scope& inner = s.heap.scopes.emplace_back(
      Scope{.parent = &scope, .names = {}, .is_function = true, .is_loop = false, .staged = false, .outer_reads = {}});
  Gathered out;
  if (e.kind == ComprehensionKind::set || e.kind == ComprehensionKind::dict) out.dict = &dict(s);
  if (out.dict) out.dict->is_set = e.kind == ComprehensionKind::set;
  comprehend(s, inner, e, 0, out);
  if (out.unknown) return opaque(s, "a comprehension over " + out.unknown->what, e.element->where);
  return out.dict ? Value{out.dict} : list(s, std::move(out.items));
}

Value eval_fstring(Session& s, Scope& scope, const JoinedStr& e) {
  std::string out;
  for (ExprRef part : e.parts) {
    if (const auto* value = std::get_if<FormattedValue>(&part->node)) {
      Value v = eval(s, scope, *value->value);
      std::string spec = value->spec ? to_text(eval(s, scope, *value->spec), part->where, "the format") : "";
      bool quoted = value->conversion == 'r' && v.is<std::string>();
      out += quoted ? "'" + format(s, v) + "'" : format_spec(s, v, spec, part->where);
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
  if (!e.params.vararg.empty()) f.defaults.push_back(tuple(s, {}));
  if (!e.params.kwarg.empty()) f.defaults.push_back(Value{&dict(s)});
  s.heap.functions.push_back(std::move(f));
  return Value{&s.heap.functions.back()};
}
}  // namespace

Value subscript(Session& s, Scope& scope, const Value& base, const Expr& index, const SourceRange& where) {
  if (const auto* b = base.as<BufferV>()) return index_buffer(s, scope, *b, index, where);
  if (const auto* o = base.as<const OpaqueObject*>()) {
    // The library's table from dtypes to their names: what it gives is a dtype again.
    if ((*o)->what.ends_with("_TORCH_DTYPE_TO_STR")) return eval(s, scope, index);
    return derived(s, **o, (*o)->what + "[...]");
  }
  if (auto* const* object = base.as<ObjectObject*>(); object && !std::holds_alternative<Slice>(index.node))
    if (class_lookup(*(*object)->type, "__getitem__"))
      return *special_method(s, base, "__getitem__", {eval(s, scope, index)}, where);
  if (auto* const* type = base.as<ClassObject*>(); type && (*type)->is_enum)
    return enum_member(s, **type, eval(s, scope, index), where);
  if (s.host && !std::holds_alternative<Slice>(index.node)) {
    if (base.is<FunctionObject*>() || base.is<ClassObject*>() || base.is<HostObject*>() || base.is<Instance*>() ||
        base.is<const PartialObject*>() || base.is<NamespaceV>())
      return opaque(s, "an item of " + kind_name(base), where);
    if (base.is<ObjectObject*>()) return opaque(s, "an item of " + kind_name(base), where);
  }
  if (const auto* t = base.as<const HostTensor*>()) return tensor_item(s, scope, **t, index, where);
  if (const auto* d = base.as<DictObject*>()) {
    Value key = eval(s, scope, index);
    s.steps += static_cast<int64_t>((*d)->items.size() / 16);  // it is searched from the front
    if (const auto* i = key.as<ir::MetaInt>()) pin(s, *i, where);
    for (const auto& [k, v] : (*d)->items)
      if (equal_values(k, key)) return v;
    if (const OpaqueObject* o = unknown_condition(s, key, where)) return opaque(s, "the item of " + o->what, where);
    fail_raised(where, "KeyError", "the dict has no key " + format(s, key));
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
  if (const auto* l = base.as<ListObject*>(); l && (*l)->uncertain && s.host)
    return opaque(s, "an item of a list that is not known", where);
  auto position = [&](ExprRef e, int64_t otherwise) {
    if (!e) return otherwise;
    ir::MetaInt i = to_int(s, eval(s, scope, *e), e->where, "the index");
    pin(s, i, e->where);
    return i.value < 0 ? i.value + static_cast<int64_t>(items.size()) : i.value;
  };
  int64_t size = static_cast<int64_t>(items.size());
  if (const auto* slice = std::get_if<Slice>(&index.node)) {
    ir::MetaInt step = slice->step ? to_int(s, eval(s, scope, *slice->step), where, "the step") : ir::MetaInt(1);
    pin(s, step, where);
    if (step.value == 0) fail(where, "the step of a slice is 0");
    bool back = step.value < 0;
    int64_t first = back ? -1 : 0, last = back ? size - 1 : size;
    int64_t from = std::clamp(slice->lower ? position(slice->lower, 0)
                              : back       ? last
                                           : first,
                              first, last),
            to = std::clamp(slice->upper ? position(slice->upper, 0)
                            : back       ? first
                                         : last,
                            first, last);
    std::vector<Value> part;
    int64_t stride = std::clamp<int64_t>(step.value, -size - 1, size + 1);
    for (int64_t i = from; back ? i > to : i < to; i += stride) part.push_back(items[static_cast<size_t>(i)]);
    count_items(s, part.size(), where);
    if (base.is<std::string>()) {
      std::string out;
      for (const Value& v : part) out += *v.as<std::string>();
      return text(out);
    }
    return base.is<const TupleObject*>() ? tuple(s, std::move(part)) : list(s, std::move(part));
  }
  Value at = eval(s, scope, index);
  if (const OpaqueObject* o = unknown_condition(s, at, where)) return opaque(s, "the item of " + o->what, where);
  ir::MetaInt wanted = to_int(s, at, index.where, "the index");
  pin(s, wanted, index.where);
  int64_t i = wanted.value < 0 ? wanted.value + size : wanted.value;
  if (i < 0 || i >= size)
    fail_raised(where, "IndexError", "index " + std::to_string(i) + " of " + std::to_string(size) + " items");
  return items[static_cast<size_t>(i)];
}

Value eval(Session& s, Scope& scope, const Expr& e) {
  check_stack(s, e.where);
  return std::visit(
      Overload{
          [&](const Constant& n) { return eval_constant(s, n, e.where); },
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
          [&](const SetExpr& n) { return eval_set(s, scope, n); },
          [&](const NamedExpr& n) {
            Value v = eval(s, scope, *n.value);
            assign(s, scope, *n.target, v);
            return eval(s, scope, *n.target);
          },
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
