// Operations of PyTorch on abstract tensors by their shapes: torch.f(x, …) and x.f(…) are one row. Beside
// host_tensor.cc, which makes tensors and reshapes them. Small integer tensors keep their values where that is easy,
// because lengths of sequences come from there:
//   torch.cumsum(torch.tensor([3, 5]), 0).max().item() -> 8
#include "compiler/eval/host_values.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using Ints = std::optional<std::vector<int64_t>>;

struct Op {
  Session& s;
  const HostTensor& x;
  const std::string& name;
  const std::vector<Value>& args;  // behind x
  const Keywords& keywords;
  const SourceRange& where;
  const Value* get(size_t place, std::string_view key) const {
    if (place < args.size()) return &args[place];
    for (const auto& [n, v] : keywords)
      if (n == key) return &v;
    return nullptr;
  }
  HostTensor like() const { return {"torch." + name + "(...)", where, x.dtype, x.shape}; }
  Value unknown() const { return opaque(s, x.what + "." + name + "(...)", where); }
};

bool yes(const Value* v) {
  const auto* b = v ? v->as<BoolV>() : nullptr;
  return b && b->value;
}
Value sum_of(Session& s, const Value& a, const Value& b, const SourceRange& where) {
  return binary(s, ast::BinOp::add, a, b, where);
}

// ---- element by element
Value same(const Op& o) { return host_tensor(o.s, o.like()); }
Value boolean_like(const Op& o) {
  HostTensor out = o.like();
  out.dtype = DType::b1;
  return host_tensor(o.s, std::move(out));
}
Value as_i64(const Op& o) {
  HostTensor out = o.like();
  out.dtype = DType::i64;
  return host_tensor(o.s, std::move(out));
}
Value broadcast(const Op& o) {
  const Value* other = o.get(0, "other");
  if (!tensor_of(other)) return same(o);
  const HostTensor* self = &o.x;
  return tensor_arithmetic(o.s, Value{self}, *other, false, o.where);
}
Value where_op(const Op& o) {  // torch.where(condition, a, b)
  const Value *a = o.get(0, "input"), *b = o.get(1, "other");
  if (!a || !b) return o.unknown();
  const HostTensor* self = &o.x;
  Value picked = tensor_of(a) || tensor_of(b) ? tensor_arithmetic(o.s, *a, *b, false, o.where) : *a;
  Value out = tensor_arithmetic(o.s, Value{self}, picked, false, o.where);
  HostTensor typed = *tensor_of(&out);
  typed.dtype = tensor_of(&picked) ? tensor_of(&picked)->dtype : std::nullopt;
  return host_tensor(o.s, std::move(typed));
}

// ---- reductions
std::optional<Shape> reduced_shape(const Op& o, bool& all) {
  const Value* dim = o.get(0, "dim");
  if (!dim) dim = o.get(99, "axis");
  all = !dim || dim->is<NoneV>();
  if (!o.x.shape) return all ? std::optional(Shape{}) : std::nullopt;
  if (all) return Shape{};
  std::vector<Value> dims = list_items(dim).value_or(std::vector<Value>{*dim});
  std::vector<bool> gone(o.x.shape->size(), false);
  for (const Value& d : dims) {
    auto at = axis(&d, gone.size());
    if (!at) return std::nullopt;
    gone[*at] = true;
  }
  Shape out;
  bool keep = yes(o.get(1, "keepdim")) || yes(o.get(99, "keepdims"));
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) out.push_back((*o.x.shape)[i]);
    else if (keep) out.push_back(integer(1));
  return out;
}

Ints reduced_values(const Op& o) {
  if (!o.x.values || o.x.values->empty()) return std::nullopt;
  const std::vector<int64_t>& v = *o.x.values;
  int64_t total = 0;
  for (int64_t i : v)
    if (__builtin_add_overflow(total, i, &total)) return std::nullopt;
  if (o.name == "sum") return std::vector{total};
  if (o.name == "max" || o.name == "amax") return std::vector{*std::max_element(v.begin(), v.end())};
  if (o.name == "min" || o.name == "amin") return std::vector{*std::min_element(v.begin(), v.end())};
  return std::nullopt;
}

Value reduce(const Op& o) {
  if (tensor_of(o.get(0, "other"))) return broadcast(o);  // torch.max(a, b)
  bool all = false;
  HostTensor out = o.like();
  out.shape = reduced_shape(o, all);
  if (all) out.values = reduced_values(o);
  if (o.name == "all" || o.name == "any") out.dtype = DType::b1;
  if (o.name.starts_with("arg") || o.name == "count_nonzero") out.dtype = DType::i64;
  bool pair = !all && (o.name == "max" || o.name == "min" || o.name == "median");
  if (!pair) return host_tensor(o.s, std::move(out));
  HostTensor places = out;
  places.dtype = DType::i64;
  return tuple(o.s, {host_tensor(o.s, std::move(out)), host_tensor(o.s, std::move(places))});
}

Value cumsum(const Op& o) {
  HostTensor out = o.like();
  if (o.x.values) {
    int64_t total = 0;
    out.values.emplace();
    for (int64_t i : *o.x.values) {
      if (__builtin_add_overflow(total, i, &total)) return same(o);
      out.values->push_back(total);
    }
  }
  const Value* dtype = o.get(99, "dtype");
  if (dtype && dtype->is<DType>()) out.dtype = *dtype->as<DType>();
  else if (out.dtype && !is_float(*out.dtype)) out.dtype = DType::i64;
  return host_tensor(o.s, std::move(out));
}

Value topk(const Op& o) {
  HostTensor out = o.like();
  const Value *k = o.get(0, "k"), *dim = o.get(1, "dim");
  auto at =
      o.x.shape && !o.x.shape->empty() ? (dim ? axis(dim, o.x.shape->size()) : o.x.shape->size() - 1) : std::nullopt;
  if (at && k) (*out.shape)[*at] = *k;
  else out.shape.reset();
  HostTensor places = out;
  places.dtype = DType::i64;
  return tuple(o.s, {host_tensor(o.s, std::move(out)), host_tensor(o.s, std::move(places))});
}
Value sort(const Op& o) { return tuple(o.s, {same(o), as_i64(o)}); }

// ---- products
Value matmul(const Op& o) {
  const HostTensor* y = tensor_of(o.get(0, "other"));
  if (!y) y = tensor_of(o.get(0, "mat2"));
  if (!y) return o.unknown();
  HostTensor out = o.like();
  out.shape.reset();
  if (o.x.shape && y->shape && o.x.shape->size() >= 2 && y->shape->size() >= 2) {
    bool longer = o.x.shape->size() >= y->shape->size();
    out.shape = longer ? o.x.shape : y->shape;
    size_t rank = out.shape->size();
    (*out.shape)[rank - 2] = (*o.x.shape)[o.x.shape->size() - 2];
    (*out.shape)[rank - 1] = y->shape->back();
  }
  return host_tensor(o.s, std::move(out));
}
Value linear(const Op& o) {  // x @ w.T
  const HostTensor* w = tensor_of(o.get(0, "weight"));
  HostTensor out = o.like();
  if (!w || !w->shape || w->shape->size() != 2 || !out.shape || out.shape->empty()) out.shape.reset();
  else out.shape->back() = w->shape->front();
  return host_tensor(o.s, std::move(out));
}

// ---- parts and joins
Value split(const Op& o) {
  const Value first = integer(0);
  const Value* dim = o.get(1, "dim");
  auto at = o.x.shape ? axis(dim ? dim : &first, o.x.shape->size()) : std::nullopt;
  const Value* how = o.get(0, o.name == "chunk" ? "chunks" : "split_size");
  const size_t along = at.value_or(0);
  auto length = at ? number(&(*o.x.shape)[along]) : std::nullopt;
  std::vector<Value> sizes;
  if (auto given = list_items(how)) {
    sizes = *given;
  } else if (auto n = number(how); n && *n > 0 && length && *length >= 0) {
    int64_t size = o.name == "chunk" ? (*length + *n - 1) / *n : *n;
    for (int64_t from = 0; from < *length && sizes.size() < 4096; from += size)
      sizes.push_back(integer(std::min(size, *length - from)));
  } else {
    return o.unknown();
  }
  std::vector<Value> parts;
  for (const Value& size : sizes) {
    HostTensor part = o.like();
    if (at && part.shape) part.shape->at(along) = size;
    else part.shape.reset();
    parts.push_back(host_tensor(o.s, std::move(part)));
  }
  return tuple(o.s, std::move(parts));
}
Value unbind(const Op& o) {
  const Value zero = integer(0);
  const Value* dim = o.get(0, "dim");
  auto at = o.x.shape ? axis(dim ? dim : &zero, o.x.shape->size()) : std::nullopt;
  auto n = at ? number(&(*o.x.shape)[*at]) : std::nullopt;
  if (!n || *n < 0 || *n > 4096) return o.unknown();
  HostTensor part = o.like();
  part.shape->erase(part.shape->begin() + static_cast<std::ptrdiff_t>(*at));
  std::vector<Value> parts;
  for (int64_t i = 0; i < *n; ++i) parts.push_back(host_tensor(o.s, part));
  return tuple(o.s, std::move(parts));
}
Value gather(const Op& o) {
  HostTensor out = o.like();
  const HostTensor* index = tensor_of(o.get(1, "index"));
  out.shape = index ? index->shape : std::nullopt;
  return host_tensor(o.s, std::move(out));
}
Value index_select(const Op& o) {
  HostTensor out = o.like();
  const HostTensor* index = tensor_of(o.get(1, "index"));
  auto at = out.shape ? axis(o.get(0, "dim"), out.shape->size()) : std::nullopt;
  if (at && index && index->shape && index->shape->size() == 1) (*out.shape)[*at] = index->shape->front();
  else out.shape.reset();
  return host_tensor(o.s, std::move(out));
}
Value narrow(const Op& o) {
  HostTensor out = o.like();
  auto at = out.shape ? axis(o.get(0, "dim"), out.shape->size()) : std::nullopt;
  const Value* length = o.get(2, "length");
  if (at && length) (*out.shape)[*at] = *length;
  else out.shape.reset();
  return host_tensor(o.s, std::move(out));
}
Value select(const Op& o) {
  HostTensor out = o.like();
  auto at = out.shape ? axis(o.get(0, "dim"), out.shape->size()) : std::nullopt;
  if (at) out.shape->erase(out.shape->begin() + static_cast<std::ptrdiff_t>(*at));
  else out.shape.reset();
  return host_tensor(o.s, std::move(out));
}
Value repeat_interleave(const Op& o) {
  HostTensor out = o.like();
  auto at = out.shape ? axis(o.get(1, "dim"), out.shape->size()) : std::nullopt;
  const Value* times = o.get(0, "repeats");
  if (at && number(times)) (*out.shape)[*at] = binary(o.s, ast::BinOp::mult, (*out.shape)[*at], *times, o.where);
  else out.shape.reset();
  return host_tensor(o.s, std::move(out));
}
Value movedim(const Op& o) {
  HostTensor out = o.like();
  auto from = out.shape ? axis(o.get(0, "source"), out.shape->size()) : std::nullopt;
  auto to = out.shape ? axis(o.get(1, "destination"), out.shape->size()) : std::nullopt;
  if (from && to) {
    Value moved = (*out.shape)[*from];
    out.shape->erase(out.shape->begin() + static_cast<std::ptrdiff_t>(*from));
    out.shape->insert(out.shape->begin() + static_cast<std::ptrdiff_t>(*to), moved);
  } else {
    out.shape.reset();
  }
  return host_tensor(o.s, std::move(out));
}
Value turned(const Op& o) {
  HostTensor out = o.like();
  if (out.shape) std::reverse(out.shape->begin(), out.shape->end());
  return host_tensor(o.s, std::move(out));
}
Value diff(const Op& o) {
  HostTensor out = o.like();
  if (!out.shape || out.shape->empty()) return o.unknown();
  out.shape->back() = binary(o.s, ast::BinOp::sub, out.shape->back(), integer(1), o.where);
  if (o.x.values && o.x.values->size() > 1) {
    out.values.emplace();
    for (size_t i = 1; i < o.x.values->size(); ++i) out.values->push_back((*o.x.values)[i] - (*o.x.values)[i - 1]);
  }
  return host_tensor(o.s, std::move(out));
}
// Pairs from the last dimension on: before, behind.
Value pad(const Op& o) {
  HostTensor out = o.like();
  auto by = list_items(o.get(0, "pad"));
  if (!by || !out.shape || by->size() > 2 * out.shape->size() || by->size() % 2) {
    out.shape.reset();
    return host_tensor(o.s, std::move(out));
  }
  for (size_t i = 0; i < by->size(); i += 2) {
    Value& extent = (*out.shape)[out.shape->size() - 1 - i / 2];
    extent = sum_of(o.s, sum_of(o.s, extent, (*by)[i], o.where), (*by)[i + 1], o.where);
  }
  const Value* fill = o.get(2, "value");
  auto before = by->empty() ? std::nullopt : number(&(*by)[0]), behind = by->empty() ? std::nullopt : number(&(*by)[1]);
  bool small = before && behind && *before >= 0 && *behind >= 0 && *before + *behind < 4096;
  if (o.x.values && out.shape->size() == 1 && small && (!fill || number(fill))) {
    int64_t filled = fill ? *number(fill) : 0;
    out.values = *o.x.values;
    out.values->insert(out.values->begin(), static_cast<size_t>(*before), filled);
    out.values->insert(out.values->end(), static_cast<size_t>(*behind), filled);
  }
  return host_tensor(o.s, std::move(out));
}

// ---- back to Python
Value item(const Op& o) {
  if (o.x.values && o.x.values->size() == 1) return integer(o.x.values->front());
  return o.unknown();
}
Value tolist(const Op& o) {
  if (!o.x.values) return o.unknown();
  std::vector<Value> out;
  for (int64_t i : *o.x.values) out.push_back(integer(i));
  return list(o.s, std::move(out));
}
Value created(const Op& o) {  // x.new_zeros(…): shape of the arguments
  HostTensor out = o.like();
  std::vector<Value> sizes = o.args;
  if (auto listed = o.args.empty() ? std::nullopt : list_items(&o.args[0])) sizes = *listed;
  out.shape = std::move(sizes);
  if (const Value* dtype = o.get(99, "dtype"))
    out.dtype = dtype->is<DType>() ? std::optional(*dtype->as<DType>()) : std::nullopt;
  return host_tensor(o.s, std::move(out));
}
Value shaped_like(const Op& o) {
  HostTensor out = o.like();
  const HostTensor* other = tensor_of(o.get(0, "other"));
  out.shape = other ? other->shape : std::nullopt;
  return host_tensor(o.s, std::move(out));
}
Value strided(const Op& o) {
  HostTensor out = o.like();
  out.shape = list_items(o.get(0, "size"));
  return host_tensor(o.s, std::move(out));
}
Value always(const Op&) { return boolean(true); }

struct Row {
  std::string_view name;
  Value (*call)(const Op&);
};
constexpr Row kRows[] = {
    {"sum", reduce},
    {"mean", reduce},
    {"max", reduce},
    {"min", reduce},
    {"amax", reduce},
    {"amin", reduce},
    {"argmax", reduce},
    {"argmin", reduce},
    {"all", reduce},
    {"any", reduce},
    {"prod", reduce},
    {"norm", reduce},
    {"logsumexp", reduce},
    {"var", reduce},
    {"std", reduce},
    {"median", reduce},
    {"count_nonzero", reduce},
    {"cumsum", cumsum},
    {"cumprod", same},
    {"topk", topk},
    {"sort", sort},
    {"argsort", as_i64},
    {"matmul", matmul},
    {"mm", matmul},
    {"bmm", matmul},
    {"nn.functional.linear", linear},
    {"split", split},
    {"chunk", split},
    {"unbind", unbind},
    {"gather", gather},
    {"index_select", index_select},
    {"narrow", narrow},
    {"select", select},
    {"repeat_interleave", repeat_interleave},
    {"movedim", movedim},
    {"t", turned},
    {"diff", diff},
    {"nn.functional.pad", pad},
    {"item", item},
    {"tolist", tolist},
    {"new_empty", created},
    {"new_zeros", created},
    {"new_ones", created},
    {"new_full", created},
    {"expand_as", shaped_like},
    {"view_as", shaped_like},
    {"reshape_as", shaped_like},
    {"is_contiguous", always},
    {"as_strided", strided},
    {"where", where_op},
    {"add", broadcast},
    {"sub", broadcast},
    {"mul", broadcast},
    {"div", broadcast},
    {"maximum", broadcast},
    {"minimum", broadcast},
    {"isnan", boolean_like},
    {"isinf", boolean_like},
    {"isfinite", boolean_like},
    {"eq", boolean_like},
    {"ne", boolean_like},
    {"lt", boolean_like},
    {"gt", boolean_like},
    {"le", boolean_like},
    {"ge", boolean_like},
    {"logical_not", boolean_like},
    {"logical_and", boolean_like},
    {"logical_or", boolean_like},
    {"nn.Parameter", same},
    {"relu", same},
    {"tanh", same},
    {"log", same},
    {"log2", same},
    {"exp2", same},
    {"rsqrt", same},
    {"sqrt", same},
    {"floor", same},
    {"ceil", same},
    {"pow", same},
    {"square", same},
    {"sin", same},
    {"cos", same},
    {"erf", same},
    {"neg", same},
    {"round", same},
    {"clamp_min", same},
    {"clamp_max", same},
    {"clip", same},
    {"flip", same},
    {"roll", same},
    {"nan_to_num", same},
    {"log_softmax", same},
    {"nn.functional.log_softmax", same},
    {"nn.functional.gelu", same},
    {"nn.functional.relu", same},
    {"nn.functional.softplus", same},
    {"nn.functional.dropout", same},
    {"nn.functional.layer_norm", same},
    {"nn.functional.rms_norm", same},
    {"scatter", same},
    {"scatter_", same},
    {"scatter_add_", same},
    {"index_add_", same},
    {"index_copy_", same},
    {"index_fill_", same},
    {"clamp_min_", same},
    {"sigmoid_", same},
    {"exponential_", same},
    {"bernoulli_", same},
    {"trunc", same},
    {"fmod", same},
    {"remainder", same},
    {"bitwise_and", same},
    {"bitwise_or", same},
    {"bitwise_not", same},
    {"contiguous", same},
    {"as_subclass", same},
    {"pin_memory", same},
    {"from_numpy", same},
    {"ascontiguousarray", same},
    {"view_as_real", same},
    {"numpy", same},
    {"asarray", same},
};

}  // namespace

Value layer_result(Session& s, const HostObject& layer, const std::vector<Value>& positional,
                   const SourceRange& where) {
  const HostTensor* x = positional.empty() ? nullptr : tensor_of(&positional[0]);
  if (!x) return opaque(s, "the result of " + layer.what, where);
  return linear({s, *x, layer.what, {layer.attrs.at("weight")}, {}, where});
}

std::optional<Value> call_tensor_operation(Session& s, const HostTensor& x, const std::string& name,
                                           const std::vector<Value>& args, const Keywords& keywords,
                                           const SourceRange& where) {
  for (const Row& row : kRows)
    if (row.name == name) return row.call({s, x, name, args, keywords, where});
  return std::nullopt;
}

std::optional<Value> call_torch_function(Session& s, const std::string& name, const std::vector<Value>& args,
                                         const Keywords& keywords, const SourceRange& where) {
  if (auto joined = call_joining_function(s, name, args, keywords, where)) return joined;
  const HostTensor* x = args.empty() ? nullptr : tensor_of(&args[0]);
  if (!x)
    for (const auto& [n, v] : keywords)
      if (n == "input") x = tensor_of(&v);
  if (!x) return std::nullopt;
  std::vector<Value> rest(args.begin() + (args.empty() ? 0 : 1), args.end());
  return call_tensor_operation(s, *x, name, rest, keywords, where);
}

}  // namespace tc::eval
