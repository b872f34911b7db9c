// What operations on abstract tensors ask of their arguments. Internal to the host_*.cc files.
#pragma once
#include "compiler/eval/session.h"

namespace tc::eval {

using Shape = std::vector<Value>;  // extents: integers, or unknown
using Keywords = std::vector<std::pair<std::string, Value>>;

inline std::optional<int64_t> number(const Value* v) {
  const auto* i = v ? v->as<ir::MetaInt>() : nullptr;
  return i && !i->dynamic() ? std::optional(i->value) : std::nullopt;
}
inline const HostTensor* tensor_of(const Value* v) {
  const auto* t = v ? v->as<const HostTensor*>() : nullptr;
  return t ? *t : nullptr;
}
// A dimension that may count from the end.
inline std::optional<size_t> axis(const Value* v, size_t rank) {
  auto i = number(v);
  if (!i) return std::nullopt;
  int64_t d = *i < 0 ? *i + static_cast<int64_t>(rank) : *i;
  return d >= 0 && d < static_cast<int64_t>(rank) ? std::optional(static_cast<size_t>(d)) : std::nullopt;
}
inline std::optional<std::vector<Value>> list_items(const Value* v) {
  if (auto* const* l = v ? v->as<ListObject*>() : nullptr)
    return (*l)->uncertain ? std::nullopt : std::optional((*l)->items);
  const auto* t = v ? v->as<const TupleObject*>() : nullptr;
  return t ? std::optional((*t)->items) : std::nullopt;
}

// torch.cat, torch.stack, torch.einsum, torch.finfo, torch.nn.Linear (host_joins.cc); none: another function.
std::optional<Value> call_joining_function(Session& s, const std::string& name, const std::vector<Value>& args,
                                           const Keywords& keywords, const SourceRange& where);

}  // namespace tc::eval
