// Tensors of the host program, followed by shape and element type: what PyTorch's functions and methods give, as far as
// the arguments of kernels come from there. Nothing is computed. What is not known here is an opaque value.
//   torch.randn(M, K, dtype=torch.float16).transpose(0, 1).shape  ->  (K, M)
#include "compiler/eval/host_values.h"

namespace tc::eval {
namespace {
using ir::MetaInt;

// The arguments of one call.
struct Given {
  const std::vector<Value>& positional;
  const Keywords& keywords;
  const Value* keyword(std::string_view name) const {
    for (const auto& [n, v] : keywords)
      if (n == name) return &v;
    return nullptr;
  }
  const Value* get(size_t place, std::string_view name) const {
    return place < positional.size() ? &positional[place] : keyword(name);
  }
};

std::optional<DType> dtype_value(const Value* v) {
  const auto* t = v ? v->as<DType>() : nullptr;
  return t ? std::optional(*t) : std::nullopt;
}
bool is_list(const Value& v) { return v.is<ListObject*>() || v.is<const TupleObject*>(); }
Shape items_of(const Value& v) {
  if (const auto* l = v.as<ListObject*>()) return (*l)->items;
  return (*v.as<const TupleObject*>())->items;
}
// Extents given one by one, or as one list.
Shape sizes(const std::vector<Value>& args, size_t from = 0) {
  if (args.size() == from + 1 && is_list(args[from])) return items_of(args[from]);
  return {args.begin() + static_cast<std::ptrdiff_t>(std::min(from, args.size())), args.end()};
}

std::optional<int64_t> product(const Shape& shape) {
  int64_t n = 1;
  for (const Value& v : shape) {
    auto i = number(&v);
    if (!i || __builtin_mul_overflow(n, *i, &n)) return std::nullopt;
  }
  return n;
}

Shape resolve_minus_one(Session& s, Shape shape, const Shape& old, const SourceRange& where) {
  for (Value& v : shape) {
    if (number(&v) != -1) continue;
    Shape others;
    for (const Value& o : shape)
      if (&o != &v) others.push_back(o);
    auto total = product(old), known = product(others);
    v = total && known && *known > 0 ? integer(*total / *known) : opaque(s, "an extent of a reshaped tensor", where);
  }
  return shape;
}

std::optional<Shape> nested_shape(const Value& v) {
  if (!is_list(v)) return Shape{};
  Shape items = items_of(v), shape{integer(static_cast<int64_t>(items.size()))};
  if (items.empty()) return shape;
  auto inner = nested_shape(items[0]);
  if (inner) shape.insert(shape.end(), inner->begin(), inner->end());
  return shape;
}

// ---- functions of module torch
enum class Make { sized, like, full, randint, arange, tensor, same, linspace, eye };
struct MakeRow {
  std::string_view name;
  Make how;
  std::optional<DType> dtype;  // without dtype=
};
constexpr MakeRow kMakes[] = {
    {"randn", Make::sized, DType::f32},
    {"rand", Make::sized, DType::f32},
    {"zeros", Make::sized, DType::f32},
    {"ones", Make::sized, DType::f32},
    {"empty", Make::sized, DType::f32},
    {"full", Make::full, std::nullopt},
    {"randn_like", Make::like, {}},
    {"rand_like", Make::like, {}},
    {"zeros_like", Make::like, {}},
    {"ones_like", Make::like, {}},
    {"empty_like", Make::like, {}},
    {"full_like", Make::like, {}},
    {"randint_like", Make::like, {}},
    {"randint", Make::randint, DType::i64},
    {"arange", Make::arange, DType::i64},
    {"tensor", Make::tensor, std::nullopt},
    {"as_tensor", Make::tensor, {}},
    {"linspace", Make::linspace, DType::f32},
    {"eye", Make::eye, DType::f32},
    {"randperm", Make::arange, DType::i64},
    {"exp", Make::same, {}},
    {"sigmoid", Make::same, {}},
    {"softmax", Make::same, {}},
    {"clamp", Make::same, {}},
    {"abs", Make::same, {}},
    {"nn.functional.softmax", Make::same, {}},
    {"nn.functional.silu", Make::same, {}},
    {"nn.functional.sigmoid", Make::same, {}},
    {"nn.functional.normalize", Make::same, {}},
    {"nn.functional.logsigmoid", Make::same, {}},
    {"triu", Make::same, {}},
    {"tril", Make::same, {}},
    {"clone", Make::same, {}},
};

std::optional<Shape> made_shape(Session& s, const MakeRow& row, const Given& a, const SourceRange& where) {
  const std::vector<Value>& p = a.positional;
  switch (row.how) {
    case Make::sized: return a.keyword("size") ? sizes({*a.keyword("size")}) : sizes(p);
    case Make::full:
      if (const Value* size = a.get(0, "size"); size && is_list(*size)) return items_of(*size);
      return std::nullopt;
    case Make::randint:
      for (const Value& v : p)
        if (is_list(v)) return items_of(v);
      if (const Value* size = a.keyword("size"); size && is_list(*size)) return items_of(*size);
      return std::nullopt;
    case Make::arange: {
      auto first = number(a.get(0, "start")), last = number(a.get(1, "end")), step = number(a.get(2, "step"));
      if (!first) return Shape{opaque(s, "the length of an arange", where)};
      int64_t lo = last ? *first : 0, hi = last ? *last : *first, by = step.value_or(1);
      return Shape{integer(by > 0 && hi > lo ? (hi - lo + by - 1) / by : 0)};
    }
    case Make::linspace: return Shape{a.get(2, "steps") ? *a.get(2, "steps") : integer(100)};
    case Make::eye:
      if (p.empty()) return std::nullopt;
      return Shape{p[0], p.size() > 1 ? p[1] : p[0]};
    case Make::tensor:
      if (const Value* data = a.get(0, "data")) {
        if (const HostTensor* t = tensor_of(data)) return t->shape;
        if (!data->is<const OpaqueObject*>()) return nested_shape(*data);
      }
      return std::nullopt;
    case Make::like:
    case Make::same:
      if (const HostTensor* t = tensor_of(a.get(0, "input"))) return t->shape;
      return std::nullopt;
  }
  return std::nullopt;
}

constexpr int64_t kMaxValues = 4096;  // of a tensor whose values are followed

// The values of small integer tensors of one dimension or none, where the call states them.
std::optional<std::vector<int64_t>> made_values(const MakeRow& row, const Given& a, const HostTensor& made) {
  if (!made.shape || made.shape->size() > 1 || (made.dtype && is_float(*made.dtype))) return std::nullopt;
  auto size = product(*made.shape);
  if (!size || *size > kMaxValues || *size < 0) return std::nullopt;
  std::vector<int64_t> out;
  if (row.how == Make::arange && row.name == "arange") {
    auto first = number(a.get(0, "start")), last = number(a.get(1, "end")), step = number(a.get(2, "step"));
    for (int64_t i = 0; i < *size; ++i) out.push_back((last ? first.value_or(0) : 0) + i * step.value_or(1));
  } else if (row.how == Make::tensor && a.get(0, "data")) {
    const Value& data = *a.get(0, "data");
    for (const Value& v : is_list(data) ? items_of(data) : Shape{data}) {
      auto i = number(&v);
      if (!i) return std::nullopt;
      out.push_back(*i);
    }
  } else if (row.name.starts_with("zeros") || row.name.starts_with("ones")) {
    out.assign(static_cast<size_t>(*size), row.name.starts_with("ones"));
  } else if (row.how == Make::full && number(a.get(1, "fill_value"))) {
    out.assign(static_cast<size_t>(*size), *number(a.get(1, "fill_value")));
  } else {
    return std::nullopt;
  }
  return out;
}

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  return info(a).bits >= info(b).bits ? a : b;
}

// ---- methods
enum class Does { same, to, typed, view, transpose, permute, unsqueeze, squeeze, expand, repeat, flatten, size, count };
struct MethodRow {
  std::string_view name;
  Does what;
  std::optional<DType> dtype;
};
constexpr MethodRow kMethods[] = {
    {"cuda", Does::same, {}},
    {"cpu", Does::same, {}},
    {"contiguous", Does::same, {}},
    {"clone", Does::same, {}},
    {"detach", Does::same, {}},
    {"requires_grad_", Does::same, {}},
    {"normal_", Does::same, {}},
    {"uniform_", Does::same, {}},
    {"fill_", Does::same, {}},
    {"zero_", Does::same, {}},
    {"add_", Does::same, {}},
    {"mul_", Does::same, {}},
    {"div_", Does::same, {}},
    {"sub_", Does::same, {}},
    {"abs", Does::same, {}},
    {"exp", Does::same, {}},
    {"exp_", Does::same, {}},
    {"neg", Does::same, {}},
    {"clamp", Does::same, {}},
    {"clamp_", Does::same, {}},
    {"masked_fill", Does::same, {}},
    {"masked_fill_", Does::same, {}},
    {"sigmoid", Does::same, {}},
    {"softmax", Does::same, {}},
    {"copy_", Does::same, {}},
    {"random_", Does::same, {}},
    {"round", Does::same, {}},
    {"sqrt", Does::same, {}},
    {"pow", Does::same, {}},
    {"triu", Does::same, {}},
    {"tril", Does::same, {}},
    {"logsigmoid", Does::same, {}},
    {"retain_grad", Does::same, {}},
    {"mul", Does::same, {}},
    {"div", Does::same, {}},
    {"half", Does::typed, DType::f16},
    {"float", Does::typed, DType::f32},
    {"bfloat16", Does::typed, DType::bf16},
    {"double", Does::typed, DType::f64},
    {"int", Does::typed, DType::i32},
    {"long", Does::typed, DType::i64},
    {"bool", Does::typed, DType::b1},
    {"to", Does::to, {}},
    {"type", Does::to, {}},
    {"view", Does::view, {}},
    {"reshape", Does::view, {}},
    {"transpose", Does::transpose, {}},
    {"permute", Does::permute, {}},
    {"unsqueeze", Does::unsqueeze, {}},
    {"squeeze", Does::squeeze, {}},
    {"expand", Does::expand, {}},
    {"repeat", Does::repeat, {}},
    {"flatten", Does::flatten, {}},
    {"size", Does::size, {}},
    {"numel", Does::count, {}},
    {"nelement", Does::count, {}},
};

Value viewed(Session& s, const HostTensor& t, const Given& a, const SourceRange& where) {
  HostTensor out = t;
  if (auto dtype = dtype_value(a.get(0, "dtype"))) {  // the same bytes as other elements
    auto old = t.dtype ? std::optional(info(*t.dtype).bits) : std::nullopt;
    if (out.shape && !out.shape->empty() && (!old || *old != info(*dtype).bits)) {
      auto last = number(&out.shape->back());
      out.shape->back() = last && old
                              ? integer(*last * static_cast<int64_t>(*old) / static_cast<int64_t>(info(*dtype).bits))
                              : opaque(s, "the last extent of a view", where);
    }
    out.dtype = *dtype;
    return host_tensor(s, out);
  }
  out.shape = resolve_minus_one(s, sizes(a.positional), t.shape.value_or(Shape{opaque(s, t.what, where)}), where);
  return host_tensor(s, out);
}

std::optional<Shape> reshaped(Session& s, Does what, const Shape& old, const Given& a) {
  Shape out = old;
  if (what == Does::transpose) {
    auto i = axis(a.get(0, "dim0"), old.size()), j = axis(a.get(1, "dim1"), old.size());
    if (!i || !j) return std::nullopt;
    std::swap(out[*i], out[*j]);
  } else if (what == Does::permute) {
    Shape order = sizes(a.positional);
    if (order.size() != old.size()) return std::nullopt;
    for (size_t d = 0; d < order.size(); ++d) {
      auto from = axis(&order[d], old.size());
      if (!from) return std::nullopt;
      out[d] = old[*from];
    }
  } else if (what == Does::unsqueeze) {
    auto d = axis(a.get(0, "dim"), old.size() + 1);
    if (!d) return std::nullopt;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(*d), integer(1));
  } else if (what == Does::squeeze) {
    auto d = axis(a.get(0, "dim"), old.size());
    if (!d) return std::nullopt;
    if (number(&out[*d]) == 1) out.erase(out.begin() + static_cast<std::ptrdiff_t>(*d));
  } else if (what == Does::expand) {
    Shape wanted = sizes(a.positional);
    if (wanted.size() < old.size()) return std::nullopt;
    for (size_t d = 0; d < wanted.size(); ++d) {
      size_t skipped = wanted.size() - old.size();
      if (number(&wanted[d]) == -1 && d >= skipped) wanted[d] = old[d - skipped];
    }
    out = wanted;
  } else if (what == Does::repeat) {
    Shape times = sizes(a.positional);
    if (times.size() < old.size()) return std::nullopt;
    out.insert(out.begin(), times.size() - old.size(), integer(1));
    for (size_t d = 0; d < times.size(); ++d) {
      auto n = number(&out[d]), by = number(&times[d]);
      if (!n || !by) return std::nullopt;
      out[d] = integer(*n * *by);
    }
  } else if (what == Does::flatten) {
    auto from = a.positional.empty() ? std::optional<size_t>(0) : axis(&a.positional[0], old.size());
    auto to = a.positional.size() < 2 ? std::optional(old.size() - 1) : axis(&a.positional[1], old.size());
    if (!from || !to || *to < *from) return std::nullopt;
    auto n =
        product({old.begin() + static_cast<std::ptrdiff_t>(*from), old.begin() + static_cast<std::ptrdiff_t>(*to) + 1});
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(*from), out.begin() + static_cast<std::ptrdiff_t>(*to) + 1);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(*from), n ? integer(*n) : opaque(s, "a flattened extent", {}));
  }
  return out;
}
}  // namespace

// `name` without "torch."; nullopt: nothing is known of it.
std::optional<Value> call_torch(Session& s, const std::string& name, const std::vector<Value>& positional,
                                const Keywords& keywords, const SourceRange& where) {
  Given a{positional, keywords};
  for (const MakeRow& row : kMakes) {
    if (row.name != name) continue;
    HostTensor out{"torch." + name + "(...)", where, row.dtype, made_shape(s, row, a, where)};
    const HostTensor* like = tensor_of(a.get(0, "input"));
    if ((row.how == Make::like || row.how == Make::same) && like) out.dtype = like->dtype;
    if ((row.how == Make::like || row.how == Make::same) && !like) return std::nullopt;
    if (a.keyword("dtype")) out.dtype = dtype_value(a.keyword("dtype"));
    out.values = made_values(row, a, out);
    return host_tensor(s, std::move(out));
  }
  if (auto known = call_torch_function(s, name, positional, keywords, where)) return known;
  // torch.reshape(x, …) is x.reshape(…)
  const HostTensor* x = tensor_of(a.get(0, "input"));
  bool method =
      std::any_of(std::begin(kMethods), std::end(kMethods), [&](const MethodRow& r) { return r.name == name; });
  if (!x || !method || positional.empty()) return std::nullopt;
  return call_tensor_method(s, *x, name, {positional.begin() + 1, positional.end()}, keywords, where);
}

std::optional<Value> tensor_attribute(Session& s, const HostTensor& t, const std::string& name,
                                      const SourceRange& where) {
  if (name == "shape") return t.shape ? tuple(s, *t.shape) : opaque(s, t.what + ".shape", where);
  if (name == "dtype") return t.dtype ? Value{*t.dtype} : opaque(s, t.what + ".dtype", where);
  if (name == "ndim")
    return t.shape ? integer(static_cast<int64_t>(t.shape->size())) : opaque(s, t.what + ".ndim", where);
  if ((name == "T" || name == "mT") && t.shape && t.shape->size() >= 2) {
    HostTensor out = t;
    std::swap((*out.shape)[out.shape->size() - 1], (*out.shape)[out.shape->size() - 2]);
    return host_tensor(s, std::move(out));
  }
  if (name == "data") return host_tensor(s, t);
  if (name == "dim" || name == "stride" || name == "element_size") return std::nullopt;
  for (const MethodRow& row : kMethods)
    if (row.name == name) return std::nullopt;
  if (name == "device" || name == "grad" || name == "is_cuda") return opaque(s, t.what + "." + name, where);
  return std::nullopt;
}

Value call_tensor_method(Session& s, const HostTensor& t, const std::string& name, const std::vector<Value>& positional,
                         const Keywords& keywords, const SourceRange& where) {
  Given a{positional, keywords};
  if (name == "dim" && t.shape) return integer(static_cast<int64_t>(t.shape->size()));
  if (name == "element_size" && t.dtype) return integer(static_cast<int64_t>(bytes_of(*t.dtype)));
  auto row = std::find_if(std::begin(kMethods), std::end(kMethods), [&](const MethodRow& r) { return r.name == name; });
  if (row == std::end(kMethods))
    if (auto known = call_tensor_operation(s, t, name, positional, keywords, where)) return *known;
  if (row == std::end(kMethods)) return opaque(s, t.what + "." + name + "(...)", where);
  HostTensor out = t;
  bool keeps = row->what == Does::typed || row->what == Does::to ||
               (row->what == Does::same &&
                (name == "cuda" || name == "cpu" || name == "contiguous" || name == "clone" || name == "detach"));
  if (!keeps || (out.dtype && is_float(*out.dtype))) out.values.reset();
  if (name.ends_with('_') && t.values) const_cast<HostTensor&>(t).values.reset();  // changes the tensor itself
  switch (row->what) {
    case Does::same: return host_tensor(s, std::move(out));
    case Does::typed: out.dtype = row->dtype; return host_tensor(s, std::move(out));
    case Does::to:
      for (const Value& v : positional) {
        if (auto d = dtype_value(&v)) out.dtype = d;
        if (const HostTensor* like = tensor_of(&v)) out.dtype = like->dtype;
      }
      if (a.keyword("dtype")) out.dtype = dtype_value(a.keyword("dtype"));
      return host_tensor(s, std::move(out));
    case Does::view: return viewed(s, t, a, where);
    case Does::size:
      if (!t.shape) return opaque(s, t.what + ".size(...)", where);
      if (positional.empty() && keywords.empty()) return tuple(s, *t.shape);
      if (auto d = axis(a.get(0, "dim"), t.shape->size())) return (*t.shape)[*d];
      return opaque(s, t.what + ".size(...)", where);
    case Does::count:
      if (auto n = t.shape ? product(*t.shape) : std::nullopt) return integer(*n);
      return opaque(s, t.what + ".numel()", where);
    case Does::transpose:
    case Does::permute:
    case Does::unsqueeze:
    case Does::squeeze:
    case Does::expand:
    case Does::repeat:
    case Does::flatten:
      out.shape = t.shape ? reshaped(s, row->what, *t.shape, a) : std::nullopt;
      return host_tensor(s, std::move(out));
  }
  return opaque(s, t.what, where);
}

// Elementwise with broadcasting from the right.
Value tensor_arithmetic(Session& s, const Value& a, const Value& b, bool comparison, const SourceRange& where) {
  const HostTensor *x = tensor_of(&a), *y = tensor_of(&b);
  HostTensor out{(x ? x : y)->what, where, {}, {}};
  if (x && y) {
    if (x->dtype && y->dtype) out.dtype = promoted(*x->dtype, *y->dtype);
    if (x->shape && y->shape) {
      const Shape& longer = x->shape->size() >= y->shape->size() ? *x->shape : *y->shape;
      const Shape& shorter = x->shape->size() >= y->shape->size() ? *y->shape : *x->shape;
      Shape shape = longer;
      for (size_t i = 1; i <= shorter.size(); ++i)
        if (number(&shape[shape.size() - i]) == 1) shape[shape.size() - i] = shorter[shorter.size() - i];
      out.shape = std::move(shape);
    }
  } else {
    out.dtype = (x ? x : y)->dtype;
    out.shape = (x ? x : y)->shape;
  }
  if (comparison) out.dtype = DType::b1;
  return host_tensor(s, std::move(out));
}

std::optional<std::vector<int64_t>> tensor_values(ast::BinOp op, const Value& a, const Value& b) {
  const HostTensor *x = tensor_of(&a), *y = tensor_of(&b);
  std::optional<std::vector<int64_t>> left = x ? x->values : std::nullopt, right = y ? y->values : std::nullopt;
  if (auto i = number(&a)) left = std::vector{*i};
  if (auto i = number(&b)) right = std::vector{*i};
  if (!left || !right) return std::nullopt;
  size_t n = std::max(left->size(), right->size());
  if ((left->size() != n && left->size() != 1) || (right->size() != n && right->size() != 1)) return std::nullopt;
  std::vector<int64_t> out(n);
  for (size_t i = 0; i < n; ++i) {
    int64_t p = (*left)[left->size() == 1 ? 0 : i], q = (*right)[right->size() == 1 ? 0 : i];
    bool bad = true;
    if (op == ast::BinOp::add) bad = __builtin_add_overflow(p, q, &out[i]);
    if (op == ast::BinOp::sub) bad = __builtin_sub_overflow(p, q, &out[i]);
    if (op == ast::BinOp::mult) bad = __builtin_mul_overflow(p, q, &out[i]);
    if (op == ast::BinOp::floordiv && p >= 0 && q > 0) out[i] = p / q, bad = false;
    if (bad) return std::nullopt;
  }
  return out;
}

}  // namespace tc::eval
