// Subscripts of abstract tensors: the shape of a part, and of small integer tensors the values that are picked or
// stored.
//   x[:, None, 2:] of (4, 8) -> (4, 1, 6)        lengths[1] = 5
#include "compiler/eval/host_values.h"

namespace tc::eval {
using ir::MetaInt;

namespace {
std::optional<std::vector<int64_t>> picked_values(Session& s, Scope& scope, const HostTensor& t,
                                                  const ast::Expr& index) {
  if (!t.values || !t.shape || t.shape->size() != 1) return std::nullopt;
  int64_t size = static_cast<int64_t>(t.values->size());
  auto bound = [&](ast::ExprRef e, int64_t otherwise) -> std::optional<int64_t> {
    if (!e) return otherwise;
    Value v = eval(s, scope, *e);
    auto i = number(&v);
    return i && *i < 0 ? *i + size : i;
  };
  if (const auto* slice = std::get_if<ast::Slice>(&index.node)) {
    auto lo = bound(slice->lower, 0), hi = bound(slice->upper, size);
    if (!lo || !hi || slice->step) return std::nullopt;
    int64_t from = std::clamp<int64_t>(*lo, 0, size), to = std::clamp<int64_t>(*hi, from, size);
    return std::vector<int64_t>(t.values->begin() + from, t.values->begin() + to);
  }
  auto i = bound(&index, 0);
  if (!i || *i < 0 || *i >= size) return std::nullopt;
  return std::vector{(*t.values)[static_cast<size_t>(*i)]};
}
}  // namespace

// t[i], t[a:b], t[None], t[..., i]; another index gives a tensor of unknown shape.
Value tensor_item(Session& s, Scope& scope, const HostTensor& t, const ast::Expr& index, const SourceRange& where) {
  HostTensor out{t.what + "[...]", where, t.dtype, {}};
  if (!t.shape) return host_tensor(s, std::move(out));
  std::vector<ast::ExprRef> items{&index};
  if (const auto* tuple = std::get_if<ast::TupleExpr>(&index.node)) items = tuple->items;
  Shape shape;
  size_t at = 0;
  for (ast::ExprRef item : items) {
    if (const auto* slice = std::get_if<ast::Slice>(&item->node)) {
      if (at >= t.shape->size()) return host_tensor(s, std::move(out));
      auto length = number(&(*t.shape)[at]);
      auto bound = [&](ast::ExprRef e, int64_t otherwise) -> std::optional<int64_t> {
        if (!e) return otherwise;
        Value v = eval(s, scope, *e);
        auto i = number(&v);
        return i && *i < 0 && length ? *i + *length : i;
      };
      if (!slice->lower && !slice->upper && !slice->step) {
        shape.push_back((*t.shape)[at++]);
        continue;
      }
      auto lo = bound(slice->lower, 0), hi = bound(slice->upper, length.value_or(INT64_MAX)),
           by = bound(slice->step, 1);
      ++at;
      if (!length || !lo || !hi || !by || *by <= 0)
        shape.push_back(opaque(s, "the length of a slice of " + t.what, where));
      else
        shape.push_back(
            integer(std::max<int64_t>(0, (std::min(*hi, *length) - std::min(*lo, *length) + *by - 1) / *by)));
      continue;
    }
    if (const auto* c = std::get_if<ast::Constant>(&item->node);
        c && std::holds_alternative<ast::EllipsisLit>(c->value)) {
      // What the items behind it do not take.
      size_t rest = static_cast<size_t>(
          std::count_if(std::find(items.begin(), items.end(), item) + 1, items.end(), [](ast::ExprRef other) {
            const auto* k = std::get_if<ast::Constant>(&other->node);
            return !(k && std::holds_alternative<ast::NoneLit>(k->value));
          }));
      while (at + rest < t.shape->size()) shape.push_back((*t.shape)[at++]);
      continue;
    }
    Value v = eval(s, scope, *item);
    if (v.is<NoneV>()) shape.push_back(integer(1));
    else if (v.is<MetaInt>() && at < t.shape->size()) ++at;
    else if (const HostTensor* picks = tensor_of(&v); picks && picks->shape && picks->dtype &&
                                                      *picks->dtype != DType::b1 && items.size() == 1 &&
                                                      !t.shape->empty())
      shape.insert(shape.end(), picks->shape->begin(), picks->shape->end()), ++at;
    else return host_tensor(s, std::move(out));
  }
  shape.insert(shape.end(), t.shape->begin() + static_cast<std::ptrdiff_t>(at), t.shape->end());
  out.shape = std::move(shape);
  if (items.size() == 1) out.values = picked_values(s, scope, t, index);
  return host_tensor(s, std::move(out));
}

// x[i] = v, x[a:b] = v: the values that are known stay so.
void store_tensor_item(Session& s, Scope& scope, HostTensor& x, const ast::Expr& index, const Value& value) {
  if (!x.values) return;
  const HostTensor* from = tensor_of(&value);
  std::optional<int64_t> one = number(&value);
  if (from && from->values && from->values->size() == 1) one = from->values->front();
  int64_t size = static_cast<int64_t>(x.values->size());
  auto bound = [&](ast::ExprRef e, int64_t otherwise) -> std::optional<int64_t> {
    if (!e) return otherwise;
    Value v = eval(s, scope, *e);
    auto i = number(&v);
    if (!i) return std::nullopt;
    return std::clamp<int64_t>(*i < 0 ? *i + size : *i, 0, size);
  };
  if (s.uncertain == 0) {
    if (const auto* slice = std::get_if<ast::Slice>(&index.node)) {
      auto lo = bound(slice->lower, 0), hi = bound(slice->upper, size);
      bool fits = lo && hi && *lo <= *hi && !slice->step;
      if (fits && one) {
        std::fill(x.values->begin() + *lo, x.values->begin() + *hi, *one);
        return;
      }
      if (fits && from && from->values && static_cast<int64_t>(from->values->size()) == *hi - *lo) {
        std::copy(from->values->begin(), from->values->end(), x.values->begin() + *lo);
        return;
      }
    } else {
      Value v = eval(s, scope, index);
      auto i = number(&v);
      int64_t at = i && *i < 0 ? *i + size : i.value_or(-1);
      if (one && i && at >= 0 && at < size) {
        (*x.values)[static_cast<size_t>(at)] = *one;
        return;
      }
    }
  }
  x.values.reset();
}

}  // namespace tc::eval
