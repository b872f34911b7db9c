// Functions of Python's other modules and of the library's host side that the abstract run follows, one row each. The
// name is the full one; a row that starts with "." holds for every module (…testing.main).
//   functools.partial(f, 1)(2) -> f(1, 2)      os.environ.get("X", "d") -> "d", because the environment is empty here
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using Keywords = std::vector<std::pair<std::string, Value>>;

struct Call {
  Session& s;
  Scope& scope;
  const std::string& name;
  const std::vector<Value>& args;
  const Keywords& keywords;
  const SourceRange& where;
  const Value* get(size_t i, std::string_view key) const {
    if (i < args.size()) return &args[i];
    for (const auto& [n, v] : keywords)
      if (n == key) return &v;
    return nullptr;
  }
  std::vector<Value> items(size_t i) const {
    if (i >= args.size()) fail(where, name + " needs " + std::to_string(i + 1) + " arguments");
    return to_items(s, args[i], where, "an argument of " + name);
  }
};

Value make_partial(const Call& c) {
  if (c.args.empty()) fail(c.where, "functools.partial needs a function");
  return partial(c.s, c.args[0], {c.args.begin() + 1, c.args.end()}, c.keywords);
}
Value reduce(const Call& c) {
  std::vector<Value> items = c.items(1);
  size_t at = 0;
  if (c.args.size() < 3 && items.empty()) fail(c.where, "reduce of nothing");
  Value out = c.args.size() > 2 ? c.args[2] : items[at++];
  for (; at < items.size(); ++at) {
    count_step(c.s, c.where);
    out = apply(c.s, c.scope, c.args[0], {out, items[at]}, {}, c.where);
  }
  return out;
}
Value otherwise(const Call& c) {
  const Value* v = c.get(1, "default");
  return v ? *v : none();
}

// ---- itertools
Value product(const Call& c) {
  std::vector<std::vector<Value>> columns;
  for (size_t i = 0; i < c.args.size(); ++i) columns.push_back(c.items(i));
  if (const Value* times = c.get(c.args.size(), "repeat")) {
    MetaInt n = to_int(c.s, *times, c.where, "repeat");
    if (n.value < 0 || n.value > 16) fail(c.where, "repeat has to be within 0..16");
    std::vector<std::vector<Value>> once = columns;
    columns.clear();
    for (int64_t i = 0; i < n.value; ++i) columns.insert(columns.end(), once.begin(), once.end());
  }
  std::vector<std::vector<Value>> rows{{}};
  for (const auto& column : columns) {
    std::vector<std::vector<Value>> longer;
    for (const auto& row : rows)
      for (const Value& item : column) {
        count_step(c.s, c.where);
        count_items(c.s, row.size() + 1, c.where);
        longer.push_back(row);
        longer.back().push_back(item);
      }
    rows = std::move(longer);
  }
  std::vector<Value> out;
  for (auto& row : rows) out.push_back(tuple(c.s, std::move(row)));
  return list(c.s, std::move(out));
}
Value chain(const Call& c) {
  std::vector<Value> out;
  for (size_t i = 0; i < c.args.size(); ++i)
    for (Value& v : c.items(i)) out.push_back(std::move(v));
  return list(c.s, std::move(out));
}
Value accumulate(const Call& c) {
  std::vector<Value> out;
  if (const Value* initial = c.get(99, "initial")) out.push_back(*initial);
  const Value* function = c.get(1, "func");
  for (const Value& item : c.items(0)) {
    count_step(c.s, c.where);
    if (out.empty()) out.push_back(item);
    else if (function) out.push_back(apply(c.s, c.scope, *function, {out.back(), item}, {}, c.where));
    else out.push_back(binary(c.s, ast::BinOp::add, out.back(), item, c.where));
  }
  return list(c.s, std::move(out));
}
Value pairs(const Call& c) {  // combinations(items, 2), permutations(items, 2)
  std::vector<Value> items = c.items(0), out;
  const Value* size = c.get(1, "r");
  if (!size || to_int(c.s, *size, c.where, "the size").value != 2) return opaque(c.s, c.name + "(...)", c.where);
  bool both = c.name.ends_with("permutations");
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = both ? 0 : i + 1; j < items.size(); ++j) {
      count_step(c.s, c.where);
      if (i != j) out.push_back(tuple(c.s, {items[i], items[j]}));
    }
  return list(c.s, std::move(out));
}

// ---- objects
Value namespace_object(const Call& c) {  // SimpleNamespace(a=1), argparse.Namespace(a=1)
  HostObject& o = host_object(c.s, HostKind::record, "a name space", c.where);
  for (const auto& [name, value] : c.keywords) o.attrs[name] = value;
  return Value{&o};
}
Value namedtuple(const Call& c) {
  ClassObject& type = c.s.heap.classes.emplace_back();
  const Value *name = c.get(0, "typename"), *fields = c.get(1, "field_names");
  type.name = name && name->is<std::string>() ? *name->as<std::string>() : "a named tuple";
  type.where = c.where;
  type.is_record = true;
  if (fields && fields->is<std::string>()) {
    std::string word;
    for (char ch : *fields->as<std::string>() + " ") {
      if (ch != ' ' && ch != ',') word += ch;
      else if (!word.empty()) type.fields.push_back(std::exchange(word, {}));
    }
  } else if (fields) {
    for (const Value& v : to_items(c.s, *fields, c.where, "the fields"))
      type.fields.push_back(to_text(v, c.where, "a field"));
  }
  return Value{&type};
}
Value field(const Call& c) {  // of a dataclass: a default, or a function that makes it
  for (const auto& [name, value] : c.keywords) {
    if (name == "default") return value;
    if (name == "default_factory") return partial(c.s, value, {});
  }
  return opaque(c.s, "dataclasses.field(...)", c.where);
}
Value copied(const Call& c) {
  if (c.args.empty()) fail(c.where, c.name + " needs an argument");
  const Value& v = c.args[0];
  if (v.is<ListObject*>()) return list(c.s, c.items(0));
  if (auto* const* d = v.as<DictObject*>()) {
    DictObject& made = dict(c.s);
    made = **d;
    return Value{&made};
  }
  if (auto* const* o = v.as<ObjectObject*>())
    return Value{&c.s.heap.instances_of_classes.emplace_back(ObjectObject{(*o)->type, (*o)->attrs})};
  return v;
}
Value default_dict(const Call& c) { return Value{&dict(c.s)}; }
Value marker(const Call& c) {
  const Value *names = c.get(0, "argnames"), *values = c.get(1, "argvalues");
  std::string text_of_names;
  if (names && names->is<std::string>()) text_of_names = *names->as<std::string>();
  else if (names)
    for (const Value& v : to_items(c.s, *names, c.where, "the names"))
      text_of_names += to_text(v, c.where, "a name") + ",";
  HostObject& o = host_object(c.s, HostKind::marker, "a mark of pytest", c.where);
  o.attrs["names"] = text(text_of_names);
  o.attrs["values"] = values ? *values : list(c.s, {});
  return Value{&o};
}
Value test_param(const Call& c) {  // pytest.param(a, b, id=…)
  return c.args.size() == 1 ? c.args[0] : tuple(c.s, c.args);
}
Value tests(const Call& c) {
  run_tests(c.s);
  return none();
}
// Elements that one element of the metadata of 2:4 sparsity stands for: 4 bits say which 2 of 4 (of 32-bit elements
// which 1 of 2) are kept. Source: PTX ISA 9.7.14.6, sparse mma; tilelang/cuda/intrinsics/sparse_layout.py.
Value sparse_factor(const Call& c) {
  const Value *a = c.get(0, "a_dtype"), *meta = c.get(1, "meta_dtype");
  if (!a || !meta) fail(c.where, c.name + " needs two dtypes");
  int64_t group = info(to_dtype(c.s, *a, c.where)).bits == 32 ? 2 : 4;
  return integer(static_cast<int64_t>(info(to_dtype(c.s, *meta, c.where)).bits) / 4 * group);
}
Value fp8_type(const Call& c) {  // of an NVIDIA device
  const Value* kind = c.get(0, "fp8_format");
  bool e5 = kind && kind->is<std::string>() && *kind->as<std::string>() == "e5m2";
  return Value{*dtype_from_name(e5 ? "float8_e5m2" : "float8_e4m3fn")};
}
Value same(const Call& c) {
  const Value* v = c.get(0, "");
  return v ? *v : none();
}
Value joined(const Call& c) {  // os.path.join
  std::string out;
  for (const Value& v : c.args) {
    if (!v.is<std::string>()) return opaque(c.s, c.name + "(...)", c.where);
    out += (out.empty() ? "" : "/") + *v.as<std::string>();
  }
  count_items(c.s, out.size(), c.where);
  return text(out);
}
template <bool answer>
Value answers(const Call&) {
  return boolean(answer);
}

struct Row {
  std::string_view name;
  Value (*call)(const Call&);
};
constexpr Row kRows[] = {
    {"functools.partial", make_partial},
    {"functools.reduce", reduce},
    {"itertools.product", product},
    {"itertools.chain", chain},
    {"itertools.accumulate", accumulate},
    {"itertools.combinations", pairs},
    {"itertools.permutations", pairs},
    {"os.environ.get", otherwise},
    {"os.getenv", otherwise},
    {"os.path.join", joined},
    {"types.SimpleNamespace", namespace_object},
    {"argparse.Namespace", namespace_object},
    {"collections.namedtuple", namedtuple},
    {"collections.defaultdict", default_dict},
    {"collections.OrderedDict", copied},
    {"dataclasses.field", field},
    {"copy.copy", copied},
    {"copy.deepcopy", copied},
    {"pytest.mark.parametrize", marker},
    {"pytest.param", test_param},
    {"pytest.main", tests},
    {".testing.main", tests},
    {".get_e_factor", sparse_factor},
    {".determine_fp8_type", fp8_type},
    {".determine_torch_fp8_type", fp8_type},
    {"torch.compile", same},
    {"torch.cuda.is_available", answers<true>},
    {"torch.is_grad_enabled", answers<false>},
    {"torch.distributed.is_initialized", answers<false>},
    {".check_hip_availability", answers<false>},
    {".check_cuda_availability", answers<true>},
    {".check_metal_availability", answers<false>},
};
}  // namespace

std::optional<Value> call_host_function(Session& s, Scope& scope, const std::string& name,
                                        const std::vector<Value>& positional, const Keywords& keywords,
                                        const SourceRange& where) {
  for (const Row& row : kRows)
    if (row.name == name || (row.name.starts_with('.') && name.ends_with(row.name)))
      return row.call({s, scope, name, positional, keywords, where});
  return std::nullopt;
}

}  // namespace tc::eval
