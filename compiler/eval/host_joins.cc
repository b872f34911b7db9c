// Functions of module torch that put tensors together, the limits of its element types, and its linear layer.
//   torch.cat([x, y], dim=0) of (3, 4) and (5, 4)          ->  (8, 4)
//   torch.einsum("bqd,bkd->bqk", q, k) of (2, 8, 64) twice  ->  (2, 8, 8)
#include "compiler/eval/host_values.h"

namespace tc::eval {
namespace {
Value joined(Session& s, const std::string& name, const std::vector<Value>& args, const Keywords& keywords,
             const SourceRange& where) {
  const Value* dim = args.size() > 1 ? &args[1] : nullptr;
  for (const auto& [n, v] : keywords)
    if (n == "dim" || n == "axis") dim = &v;
  const Value zero = integer(0);
  auto parts = args.empty() ? std::nullopt : list_items(&args[0]);
  if (!parts || parts->empty() || !tensor_of(&parts->front())) return opaque(s, "torch." + name + "(...)", where);
  const HostTensor& first = *tensor_of(&parts->front());
  HostTensor out{"torch." + name + "(...)", where, first.dtype, first.shape};
  bool stacks = name == "stack";
  auto at = first.shape ? axis(dim ? dim : &zero, first.shape->size() + stacks) : std::nullopt;
  if (!at) {
    out.shape.reset();
  } else if (stacks) {
    Value count = integer(static_cast<int64_t>(parts->size()));
    out.shape->insert(out.shape->begin() + static_cast<std::ptrdiff_t>(*at), count);
  } else {
    out.values = first.values;
    for (size_t i = 1; i < parts->size(); ++i) {
      const HostTensor* t = tensor_of(&(*parts)[i]);
      if (!t || !t->shape || t->shape->size() <= *at) {
        out.shape.reset(), out.values.reset();
        break;
      }
      (*out.shape)[*at] = binary(s, ast::BinOp::add, (*out.shape)[*at], (*t->shape)[*at], where);
      if (out.values && t->values && out.shape->size() == 1)
        out.values->insert(out.values->end(), t->values->begin(), t->values->end());
      else out.values.reset();
    }
  }
  return host_tensor(s, std::move(out));
}

// "bhqd,bhkd->bhqk": extents by letter. Ellipsis and implicit results are not followed.
Value einsum(Session& s, const std::vector<Value>& args, const SourceRange& where) {
  Value open = opaque(s, "torch.einsum(...)", where);
  const auto* text = args.empty() ? nullptr : args[0].as<std::string>();
  if (!text || text->find('.') != std::string::npos) return open;
  std::string formula;
  for (char c : *text)
    if (c != ' ') formula += c;
  size_t arrow = formula.find("->");
  if (arrow == std::string::npos) return open;
  std::unordered_map<char, Value> extents;
  size_t operand = 1, letter = 0;
  std::optional<DType> dtype;
  for (size_t i = 0; i <= arrow; ++i) {
    const HostTensor* t = operand < args.size() ? tensor_of(&args[operand]) : nullptr;
    if (!t || !t->shape) return open;
    dtype = t->dtype;
    if (i == arrow || formula[i] == ',') ++operand, letter = 0;
    else if (letter >= t->shape->size()) return open;
    else extents.try_emplace(formula[i], (*t->shape)[letter++]);
  }
  Shape shape;
  for (char c : formula.substr(arrow + 2)) {
    if (!extents.contains(c)) return open;
    shape.push_back(extents.at(c));
  }
  return host_tensor(s, {"torch.einsum(...)", where, dtype, shape});
}

Value limits(Session& s, const std::vector<Value>& args, const SourceRange& where) {
  struct Limit {
    DType type;
    double max, eps;
  };
  static constexpr Limit kLimits[] = {{DType::f16, 65504.0, 0x1p-10},
                                      {DType::bf16, 0x1.fep127, 0x1p-7},
                                      {DType::f32, 0x1.fffffep127, 0x1p-23},
                                      {DType::f64, 0x1.fffffffffffffp1023, 0x1p-52}};
  HostObject& o = host_object(s, HostKind::record, "the limits of a dtype", where);
  const auto* type = args.empty() ? nullptr : args[0].as<DType>();
  for (const Limit& l : kLimits)
    if (type && l.type == *type)
      o.attrs = {
          {"max", real(l.max)}, {"min", real(-l.max)}, {"eps", real(l.eps)}, {"bits", integer(info(*type).bits)}};
  std::string name = type ? std::string(info(*type).name) : "";
  double narrow = name == "float8_e4m3fn" ? 448 : name == "float8_e5m2" ? 57344 : 0;
  if (narrow > 0) o.attrs = {{"max", real(narrow)}, {"min", real(-narrow)}};
  if (type && !is_float(*type) && info(*type).bits < 63 && name.starts_with("int")) {
    int64_t half = int64_t{1} << (info(*type).bits - 1);
    o.attrs = {{"max", integer(half - 1)}, {"min", integer(-half)}, {"bits", integer(info(*type).bits)}};
  }
  return Value{&o};
}

Value make_layer(Session& s, const std::vector<Value>& args, const Keywords& keywords, const SourceRange& where) {
  HostObject& o = host_object(s, HostKind::layer, "a linear layer", where);
  HostTensor weight{"the weight of a linear layer", where, DType::f32, {}};
  if (args.size() >= 2) weight.shape = Shape{args[1], args[0]};
  for (const auto& [name, v] : keywords)
    if (name == "dtype" && v.is<DType>()) weight.dtype = *v.as<DType>();
  o.attrs["weight"] = host_tensor(s, std::move(weight));
  return Value{&o};
}
}  // namespace

std::optional<Value> call_joining_function(Session& s, const std::string& name, const std::vector<Value>& args,
                                           const Keywords& keywords, const SourceRange& where) {
  if (name == "cat" || name == "stack" || name == "concat" || name == "concatenate")
    return joined(s, name == "stack" ? name : "cat", args, keywords, where);
  if (name == "einsum") return einsum(s, args, where);
  if (name == "finfo" || name == "iinfo") return limits(s, args, where);
  if (name == "nn.Linear") return make_layer(s, args, keywords, where);
  return std::nullopt;
}

}  // namespace tc::eval
