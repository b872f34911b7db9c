// Assignment to names, items, attributes and tuples of them; what a loop over something unknown binds its name to.
#include "compiler/eval/session.h"

namespace tc::eval {
using namespace tc::ast;

Value unknown_item(Session& s, const Value& iterable, const SourceRange& where) {
  if (const auto* o = iterable.as<const OpaqueObject*>()) return derived(s, **o, "an item of " + (*o)->what);
  if (const auto* t = iterable.as<const HostTensor*>()) {
    HostTensor item{"an item of " + (*t)->what, where, (*t)->dtype, {}};
    if ((*t)->shape && !(*t)->shape->empty()) item.shape.emplace((*t)->shape->begin() + 1, (*t)->shape->end());
    return host_tensor(s, std::move(item));
  }
  if (const auto* l = iterable.as<ListObject*>(); l && (*l)->uncertain && !(*l)->items.empty())
    return (*l)->items.size() == 1 ? (*l)->items[0] : opaque(s, "an item of a list that is not known", where);
  if (iterable.is<HostObject*>() || iterable.is<ObjectObject*>() || iterable.is<Instance*>())
    return opaque(s, "an item of " + kind_name(iterable), where);
  return none();
}

namespace {
// items[0] = v + 1, self.count = v + 1 where a variable of the kernel is: the program means a store.
void check_keeps_variable(const Value& old, const Value& value, const SourceRange& where) {
  const BufferV* var = old.as<BufferV>();
  if (var && (var->is_var || var->fresh) && (is_static_number(value) || is_runtime(value)))
    fail(where,
         "an assignment to an item or attribute binds it anew, and the variable that it has is not stored to; "
         "[0] behind it stores");
}

void assign_list_item(Session& s, Scope& scope, ListObject& list, const Expr& index, Value value,
                      const SourceRange& where) {
  Value at = eval(s, scope, index);
  if (s.uncertain > list.level || unknown_condition(s, at, where)) {
    list.uncertain = true;
    return;
  }
  ir::MetaInt i = to_int(s, at, where, "the index");
  pin(s, i, where);
  int64_t size = static_cast<int64_t>(list.items.size()), place = i.value < 0 ? i.value + size : i.value;
  if (place < 0 || place >= size)
    fail(where, "index " + std::to_string(i.value) + " of " + std::to_string(size) + " items");
  Value& item = list.items[static_cast<size_t>(place)];
  check_keeps_variable(item, value, where);
  item = std::move(value);
}

// a, *rest, z = items
bool assign_starred(Session& s, Scope& scope, const Exprs& targets, const std::vector<Value>& items,
                    const SourceRange& where) {
  auto star =
      std::find_if(targets.begin(), targets.end(), [](ExprRef t) { return std::holds_alternative<Starred>(t->node); });
  if (star == targets.end()) return false;
  size_t before = static_cast<size_t>(star - targets.begin()), after = targets.size() - before - 1;
  if (items.size() < before + after)
    fail(where, std::to_string(items.size()) + " values for " + std::to_string(before + after) + " names");
  for (size_t i = 0; i < before; ++i) assign(s, scope, *targets[i], items[i]);
  auto first = items.begin() + static_cast<std::ptrdiff_t>(before),
       last = items.end() - static_cast<std::ptrdiff_t>(after);
  assign(s, scope, *std::get<Starred>((*star)->node).value, list(s, {first, last}));
  for (size_t i = 0; i < after; ++i)
    assign(s, scope, *targets[before + 1 + i], *(last + static_cast<std::ptrdiff_t>(i)));
  return true;
}
}  // namespace

void assign(Session& s, Scope& scope, const Expr& target, Value value) {
  if (const auto* name = std::get_if<Name>(&target.node))
    return bind_name(s, scope, name->id, std::move(value), target.where);
  if (const auto* sub = std::get_if<Subscript>(&target.node)) {
    Value base = eval(s, scope, *sub->value);
    if (const auto* buffer = base.as<BufferV>())
      return store_element(s, scope, *buffer, *sub->index, value, target.where);
    if (const auto* d = base.as<DictObject*>()) {
      Value key = eval(s, scope, *sub->index);
      s.steps += static_cast<int64_t>((*d)->items.size() / 16);  // it is searched from the front
      for (auto& [k, v] : (*d)->items)
        if (equal_values(k, key)) {
          check_keeps_variable(v, value, target.where);
          v = s.uncertain ? merged(s, v, value, "an unknown condition", target.where) : value;
          return;
        }
      (*d)->items.emplace_back(key, value);
      return;
    }
    if (auto* const* l = base.as<ListObject*>(); l && !std::holds_alternative<Slice>(sub->index->node))
      return assign_list_item(s, scope, **l, *sub->index, std::move(value), target.where);
    if (base.is<const OpaqueObject*>()) return;
    if (const auto* t = base.as<const HostTensor*>())  // the one kind of tensor that changes: its values are followed
      return store_tensor_item(s, scope, const_cast<HostTensor&>(**t), *sub->index, value);
    if (s.host) return;
    fail_unsupported(target.where, "an assignment to an item of " + kind_name(base));
  }
  const auto* t = std::get_if<TupleExpr>(&target.node);
  const auto* l = std::get_if<ListExpr>(&target.node);
  if (t || l) {
    const Exprs& targets = t ? t->items : l->items;
    if (const auto* o = value.as<const OpaqueObject*>()) {
      for (ExprRef item : targets) assign(s, scope, *item, derived(s, **o, (*o)->what));
      return;
    }
    if (const auto* tensor = value.as<const HostTensor*>()) {
      for (ExprRef item : targets) assign(s, scope, *item, unknown_item(s, Value{*tensor}, target.where));
      return;
    }
    std::vector<Value> items = to_items(s, value, target.where, "what is unpacked");
    if (assign_starred(s, scope, targets, items, target.where)) return;
    if (items.size() != targets.size())
      fail(target.where, std::to_string(items.size()) + " values for " + std::to_string(targets.size()) + " names");
    // All right sides are read before the first name changes: a swap of two variables works.
    for (Value& item : items)
      if (s.trace && is_runtime(item)) item = scalar(to_scalar(s, item, target.where, "the value"));
    for (size_t i = 0; i < items.size(); ++i) assign(s, scope, *targets[i], items[i]);
    return;
  }
  if (const auto* a = std::get_if<Attribute>(&target.node)) {
    Value base = eval(s, scope, *a->value);
    std::unordered_map<std::string, Value>* attrs = nullptr;
    if (auto* const* object = base.as<HostObject*>()) attrs = &(*object)->attrs;
    if (auto* const* object = base.as<ObjectObject*>()) attrs = &(*object)->attrs;
    if (auto* const* type = base.as<ClassObject*>()) attrs = &(*type)->attrs;
    if (attrs) {
      auto [it, fresh] = attrs->try_emplace(a->attr, value);
      if (!fresh) check_keeps_variable(it->second, value, target.where);
      if (!fresh) it->second = s.uncertain ? merged(s, it->second, value, "an unknown condition", target.where) : value;
      return;
    }
  }
  if (s.host) return;  // an attribute of some object
  fail_unsupported(target.where, "this target of an assignment");
}

}  // namespace tc::eval
