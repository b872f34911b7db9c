// Host code under conditions that cannot be known without running the file: both ways are run, a loop once. What then
// differs is unknown; of two tensors what they share stays.
//   if args.causal is unknown:   x = torch.empty(4, n)   else:   x = torch.empty(4, m)   ->  x has the shape (4, ?)
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;
using Names = std::unordered_map<std::string, Value>;

struct Uncertain {
  Session& s;
  explicit Uncertain(Session& session) : s(session) { ++s.uncertain; }
  ~Uncertain() { --s.uncertain; }
};

Names merged_names(Session& s, const Names& a, const Names& b, const std::string& why, const SourceRange& where) {
  Names out = a;
  for (const auto& [name, value] : b) {
    auto [it, fresh] = out.try_emplace(name, value);
    if (!fresh) it->second = merged(s, it->second, value, why, where);
  }
  return out;
}

Value merged_tensors(Session& s, const HostTensor& a, const HostTensor& b, const std::string& why,
                     const SourceRange& where) {
  HostTensor out{a.what, a.where, a.dtype == b.dtype ? a.dtype : std::nullopt, {}};
  if (a.shape && b.shape && a.shape->size() == b.shape->size()) {
    out.shape.emplace();
    for (size_t i = 0; i < a.shape->size(); ++i)
      out.shape->push_back(merged(s, (*a.shape)[i], (*b.shape)[i], why, where));
  }
  if (a.values == b.values) out.values = a.values;
  return host_tensor(s, std::move(out));
}
}  // namespace

const OpaqueObject* unknown_condition(Session& s, const Value& v, const SourceRange& where) {
  if (!s.host) return nullptr;
  if (const auto* o = v.as<const OpaqueObject*>()) return *o;
  if (const auto* t = v.as<const HostTensor*>()) {
    if ((*t)->values && (*t)->values->size() == 1) return nullptr;
    return *opaque(s, (*t)->what, where).as<const OpaqueObject*>();
  }
  return nullptr;
}

Value merged(Session& s, const Value& a, const Value& b, const std::string& why, const SourceRange& where) {
  if (equal_values(a, b)) return a;
  if (a.is<const OpaqueObject*>()) return a;
  if (a.is<const HostTensor*>() && b.is<const HostTensor*>())
    return merged_tensors(s, **a.as<const HostTensor*>(), **b.as<const HostTensor*>(), why, where);
  const auto *x = a.as<const TupleObject*>(), *y = b.as<const TupleObject*>();
  if (x && y && (*x)->items.size() == (*y)->items.size() && (*x)->items.size() < 64) {
    std::vector<Value> items;
    for (size_t i = 0; i < (*x)->items.size(); ++i)
      items.push_back(merged(s, (*x)->items[i], (*y)->items[i], why, where));
    return tuple(s, std::move(items));
  }
  return opaque(s, "a choice that depends on " + why, where);
}

Outcome exec_unknown_if(Session& s, Scope& scope, const If& stmt, const OpaqueObject& condition,
                        const SourceRange& where) {
  Uncertain uncertain(s);
  Names before = scope.names;
  Outcome first = exec(s, scope, stmt.body);
  Names then = scope.names;
  scope.names = before;
  Outcome second = exec(s, scope, stmt.orelse);
  if (first.flow == Flow::returned && second.flow == Flow::returned)
    return {Flow::returned, merged(s, first.value, second.value, condition.what, where)};
  for (const Outcome* o : {&first, &second}) {
    if (o->flow == Flow::returned) scope.maybe_returned.push_back(o->value);
    s.maybe_left_loop += o->flow == Flow::broke;
  }
  if (first.flow == second.flow) {
    scope.names = merged_names(s, then, scope.names, condition.what, where);
    return {first.flow, {}};
  }
  if (first.flow == Flow::normal) scope.names = then;
  else if (second.flow != Flow::normal) scope.names = merged_names(s, then, scope.names, condition.what, where);
  return {};
}

Outcome exec_unknown_loop(Session& s, Scope& scope, ExprRef target, const Value& item, const Body& body,
                          const std::string& why, const SourceRange& where) {
  Uncertain uncertain(s);
  Names before = scope.names;
  if (target) assign(s, scope, *target, item);
  Leaving leaving(s, scope);
  Outcome o = exec(s, scope, body);
  if (o.flow == Flow::returned) scope.maybe_returned.push_back(o.value);
  scope.names = merged_names(s, before, scope.names, why, where);
  return {};
}

}  // namespace tc::eval
