// From values to what a builtin needs: integers, dtypes, shapes, text; with errors that name the value's kind or, for
// an unknown value, where it came from.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "compiler/eval/builtin.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {

void fail(const SourceRange& where, std::string message) { throw Failure{input_error(where, std::move(message))}; }
void fail_rule(const SourceRange& where, std::string_view rule, std::string message) {
  Diag d = input_error(where, std::move(message));
  d.rule = rule;
  throw Failure{std::move(d)};
}
void fail_unsupported(const SourceRange& where, std::string message) {
  throw Failure{unsupported(where, std::move(message))};
}

Value none() { return Value{NoneV{}}; }
Value boolean(bool b) { return Value{BoolV{b}}; }
Value integer(ir::MetaInt i) { return Value{i}; }
Value real(double d) { return Value{FloatV{d}}; }
Value text(std::string s) { return Value{std::move(s)}; }
Value tuple(Session& s, std::vector<Value> items) {
  count_items(s, items.size(), {});
  s.heap.tuples.push_back({std::move(items)});
  return Value{static_cast<const TupleObject*>(&s.heap.tuples.back())};
}
Value list(Session& s, std::vector<Value> items) {
  count_items(s, items.size(), {});
  s.heap.lists.push_back({std::move(items), {}, s.uncertain, false});
  return Value{&s.heap.lists.back()};
}
Value scalar(ir::ValueId id) { return Value{ScalarV{id}}; }
Value opaque(Session& s, std::string what, const SourceRange& where) {
  if (what.size() > 80) what = what.substr(0, 77) + "...";
  s.heap.opaques.push_back({std::move(what), where, {}});
  return Value{static_cast<const OpaqueObject*>(&s.heap.opaques.back())};
}

Value derived(Session& s, const OpaqueObject& from, std::string what) {
  Value made = opaque(s, std::move(what), from.where);
  OpaqueObject& o = s.heap.opaques.back();
  o.cause = from.cause, o.reported = from.reported;
  return made;
}

Value partial(Session& s, Value callee, std::vector<Value> positional,
              std::vector<std::pair<std::string, Value>> keywords) {
  s.heap.partials.push_back({std::move(callee), std::move(positional), std::move(keywords)});
  return Value{static_cast<const PartialObject*>(&s.heap.partials.back())};
}
DictObject& dict(Session& s) { return s.heap.dicts.emplace_back(); }

Value symbol(Session& s, std::string name, DType dtype, const SourceRange& where) {
  s.heap.symbols.push_back({std::move(name), dtype, where});
  return Value{static_cast<const SymbolObject*>(&s.heap.symbols.back())};
}
Value host_tensor(Session& s, HostTensor tensor) {
  if (tensor.what.size() > 80) tensor.what = tensor.what.substr(0, 77) + "...";
  s.heap.tensors.push_back(std::move(tensor));
  return Value{static_cast<const HostTensor*>(&s.heap.tensors.back())};
}
HostObject& host_object(Session& s, HostKind kind, std::string what, const SourceRange& where) {
  return s.heap.objects.emplace_back(HostObject{kind, std::move(what), where, {}});
}
Value extent(Session& s, const ir::MetaInt& e) { return e.dynamic() ? scalar(constant(s, e)) : integer(e); }

std::string kind_name(const Value& value) {
  return std::visit(Overload{
                        [](NoneV) -> std::string { return "None"; },
                        [](const BoolV&) -> std::string { return "a truth value"; },
                        [](const ir::MetaInt&) -> std::string { return "an integer"; },
                        [](const FloatV&) -> std::string { return "a float"; },
                        [](const std::string&) -> std::string { return "a string"; },
                        [](const TupleObject*) -> std::string { return "a tuple"; },
                        [](ListObject*) -> std::string { return "a list"; },
                        [](DictObject*) -> std::string { return "a dict"; },
                        [](const RangeObject*) -> std::string { return "a range"; },
                        [](DType) -> std::string { return "a dtype"; },
                        [](FunctionObject* f) -> std::string { return "the function '" + f->name + "'"; },
                        [](const DecoratorObject*) -> std::string { return "a decorator"; },
                        [](const Builtin*) -> std::string { return "a function of the library"; },
                        [](const NamespaceV&) -> std::string { return "a module"; },
                        [](const BufferV& b) -> std::string { return b.is_var ? "a variable" : "a buffer"; },
                        [](const RegionObject* r) -> std::string {
                          return r->has_slice ? "a region of a buffer" : "an element of a buffer";
                        },
                        [](ScalarV) -> std::string { return "a run-time value"; },
                        [](const MethodObject*) -> std::string { return "a method"; },
                        [](const LoopObject*) -> std::string { return "a loop"; },
                        [](const FrameObject*) -> std::string { return "a launch or section"; },
                        [](const TensorType*) -> std::string { return "a tensor type"; },
                        [](Instance*) -> std::string { return "a kernel"; },
                        [](const OpaqueObject* o) -> std::string { return "the unknown value of " + o->what; },
                        [](const PoisonObject*) -> std::string { return "a value that is gone"; },
                        [](VectorTypeV) -> std::string { return "a vector type"; },
                        [](const LibraryObject* o) -> std::string { return "a " + o->what; },
                        [](PolicyV) -> std::string { return "a policy"; },
                        [](const SymbolObject* o) -> std::string { return "the run-time integer '" + o->name + "'"; },
                        [](const HostTensor* o) -> std::string { return "the tensor of " + o->what; },
                        [](HostObject* o) -> std::string { return o->what; },
                        [](ClassObject* c) -> std::string { return "the class '" + c->name + "'"; },
                        [](ObjectObject* o) -> std::string { return "an object of '" + o->type->name + "'"; },
                        [](const PartialObject*) -> std::string { return "a function with arguments"; },
                    },
                    value.v);
}

void fail_opaque(const OpaqueObject& o, const SourceRange& where, std::string_view what) {
  Diag d = input_error(where, std::string(what) + " is not known without running the file: it comes from " + o.what);
  if (o.where.valid()) d.notes.push_back({o.where, "from here"});
  if (o.cause) d.notes.push_back({o.cause->where, o.cause->message});
  throw Failure{d, o.reported};
}

namespace {
[[noreturn]] void fail_kind(const Value& v, const SourceRange& where, std::string_view what, std::string_view wanted) {
  if (const auto* o = v.as<const OpaqueObject*>()) fail_opaque(**o, where, what);
  fail(where, std::string(what) + " has to be " + std::string(wanted) + ", not " + kind_name(v));
}
}  // namespace

namespace {
// T.int32(4), T.bool(True): scalars of a kernel that are constants all the same.
std::optional<ir::MetaInt> constant_scalar(Session& s, const Value& v) {
  const auto* scalar = v.as<ScalarV>();
  return scalar && s.trace ? ir::constant_value(s.module, scalar->id) : std::nullopt;
}
}  // namespace

ir::MetaInt to_int(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  if (const auto* i = v.as<ir::MetaInt>()) return *i;
  if (const auto* b = v.as<BoolV>()) return ir::MetaInt(truth(s, v, where).value_or(b->value) ? 1 : 0);
  if (auto c = constant_scalar(s, v)) return *c;
  if (Value plain = plain_member(v); v.is<ObjectObject*>() && !plain.is<ObjectObject*>())
    return to_int(s, plain, where, what);
  fail_kind(v, where, what, "an integer known when the kernel is built");
}

bool to_bool(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  if (auto b = truth(s, v, where)) return *b;
  if (auto c = constant_scalar(s, v)) return c->value != 0;
  fail_kind(v, where, what, "known when the kernel is built");
}

double to_double(const Value& v, const SourceRange& where, std::string_view what) {
  if (const auto* f = v.as<FloatV>()) return f->value;
  if (const auto* i = v.as<ir::MetaInt>()) return static_cast<double>(i->value);
  if (const auto* b = v.as<BoolV>()) return b->value ? 1 : 0;
  fail_kind(v, where, what, "a number known when the kernel is built");
}

std::string to_text(const Value& v, const SourceRange& where, std::string_view what) {
  if (const auto* t = v.as<std::string>()) return *t;
  if (const auto* t = v.as<DType>()) return std::string(info(*t).name);
  fail_kind(v, where, what, "a string");
}

DType to_dtype(Session&, const Value& v, const SourceRange& where) {
  if (const auto* t = v.as<DType>()) return *t;
  std::string name;
  if (const auto* t = v.as<std::string>()) name = *t;
  else if (const auto* o = v.as<const OpaqueObject*>())
    name = (*o)->what.starts_with("torch.") ? (*o)->what.substr(6) : std::string();
  if (const auto* b = v.as<const Builtin*>(); b && std::string_view((*b)->space) == "builtins") {
    static constexpr std::pair<std::string_view, DType> kPython[] = {
        {"bool", DType::b1}, {"int", DType::i32}, {"float", DType::f32}};
    for (auto [type, meant] : kPython)
      if (type == (*b)->name) return meant;
  }
  static constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
      {"float", "float32"}, {"half", "float16"}, {"double", "float64"}, {"int", "int32"},
      {"uint", "uint32"},   {"long", "int64"},   {"short", "int16"}};
  for (auto [alias, meant] : kAliases)
    if (name == alias) name = meant;
  if (name == "handle") return DType::u64;  // an address
  if (auto t = dtype_from_name(name)) return *t;
  if (is_language_dtype(name)) fail_unsupported(where, "element type '" + name + "'");
  if (v.is<std::string>()) {
    std::vector<std::string> names;
    for (const std::string& n : language_names())
      if (is_language_dtype(n)) names.push_back(n);
    fail(where, "'" + name + "' is no element type" + did_you_mean(name, names));
  }
  fail_kind(v, where, "the element type", "a dtype");
}

std::optional<ElementType> vector_type(std::string_view name) {
  size_t x = name.rfind('x');
  if (x == std::string_view::npos) return std::nullopt;
  auto element = dtype_from_name(name.substr(0, x));
  uint32_t lanes = 0;
  std::string_view count = name.substr(x + 1);
  auto end = std::from_chars(count.data(), count.data() + count.size(), lanes).ptr;
  if (!element || end != count.data() + count.size() || lanes < 2 || lanes > 64) return std::nullopt;
  return ElementType{*element, lanes};
}

ElementType to_element(Session& s, const Value& v, const SourceRange& where) {
  if (const auto* t = v.as<VectorTypeV>()) return {t->element, t->lanes};
  if (const auto* t = v.as<std::string>())
    if (auto known = vector_type(*t)) return *known;
  return {to_dtype(s, v, where), 1};
}

std::vector<Value> to_items(Session& s, const Value& v, const SourceRange& where, std::string_view what) {
  if (const auto* t = v.as<const TupleObject*>()) return (*t)->items;
  if (const auto* l = v.as<ListObject*>()) {
    if ((*l)->uncertain)
      fail(where, std::string(what) + " is not known without running the file: it was changed under a condition");
    return (*l)->items;
  }
  if (const auto* r = v.as<const RangeObject*>()) {
    const RangeObject& range = **r;
    for (const ir::MetaInt* bound : {&range.start, &range.stop, &range.step}) pin(s, *bound, where);
    std::vector<Value> items;
    for (int64_t i = range.start.value; range.step.value > 0 ? i < range.stop.value : i > range.stop.value;
         i += range.step.value) {
      count_step(s, where);
      items.push_back(integer(i));
    }
    return items;
  }
  if (const auto* d = v.as<DictObject*>()) {
    std::vector<Value> keys;
    s.steps += static_cast<int64_t>((*d)->items.size() / 16);
    for (const auto& [key, value] : (*d)->items) keys.push_back(key);
    return keys;
  }
  if (v.is<std::string>() || v.is<DType>()) {
    std::string t = format(s, v);
    std::vector<Value> letters;
    for (char c : t) letters.push_back(text(std::string(1, c)));
    return letters;
  }
  fail_kind(v, where, what, "a list or tuple");
}

namespace {
ir::MetaInt to_extent(Session& s, const Value& v, const SourceRange& where, bool runtime) {
  if (const auto* o = v.as<const SymbolObject*>(); o && !s.trace)
    return {ir::MetaInt::kDynamic, s.module.new_meta({.kind = ir::MetaKind::symbol, .name = (*o)->name})};
  if (is_runtime(v) && s.trace) {
    ir::ValueId id = to_index(s, v, where, "an extent of the shape");
    if (auto m = as_meta(s, id)) return *m;
    if (runtime) return runtime_extent(s, id);
    fail(where,
         "an extent of the shape is known at run time only: it has to follow from factory parameters and names of "
         "T.dynamic");
  }
  return to_int(s, v, where, "an extent of the shape");
}
}  // namespace

std::vector<ir::MetaInt> to_static_shape(Session& s, const Value& v, const SourceRange& where) {
  std::vector<ir::MetaInt> shape = to_shape(s, v, where);
  for (const ir::MetaInt& e : shape)
    if (e.dynamic())
      fail(where, "the extent " + ir::meta_text(s.module, e) +
                      " is known at run time only; it has to be known when the kernel is built");
  return shape;
}

std::vector<ir::MetaInt> to_shape(Session& s, const Value& v, const SourceRange& where, int64_t least, bool runtime) {
  std::vector<ir::MetaInt> shape;
  if (v.is<ir::MetaInt>() || is_runtime(v)) shape.push_back(to_extent(s, v, where, runtime));
  else
    for (const Value& item : to_items(s, v, where, "the shape")) shape.push_back(to_extent(s, item, where, runtime));
  if (shape.empty()) fail_unsupported(where, "a shape without dimensions");
  int64_t elements = 1;
  for (const ir::MetaInt& e : shape) {
    if (e.dynamic()) continue;
    if (e.value < least) fail(where, "an extent of the shape is " + std::to_string(e.value));
    if (least > 0 && (__builtin_mul_overflow(elements, e.value, &elements) || elements > (int64_t{1} << 40)))
      fail(where, "the shape has more than 2^40 elements");
  }
  return shape;
}

namespace {
constexpr int kMaxNesting = 20;            // of lists in lists that are printed
constexpr size_t kMaxPrinted = 1'000'000;  // characters

std::string format_nested(Session& s, const Value& v, int depth) {
  const bool is_list = v.is<ListObject*>();
  const std::vector<Value>& items = is_list ? (*v.as<ListObject*>())->items : (*v.as<const TupleObject*>())->items;
  if (depth > kMaxNesting) return "...";
  std::string out;
  for (const Value& item : items) {
    bool nested = item.is<ListObject*>() || item.is<const TupleObject*>();
    out += (out.empty() ? "" : ", ") + (nested ? format_nested(s, item, depth + 1) : format(s, item));
    if (out.size() > kMaxPrinted) return out.substr(0, kMaxPrinted) + "...";
  }
  return (is_list ? "[" : "(") + out + (is_list ? "]" : ")");
}
}  // namespace

std::string format(Session& s, const Value& v) {
  if (const auto* t = v.as<std::string>()) return *t;
  if (const auto* i = v.as<ir::MetaInt>()) return std::to_string(i->value);
  if (const auto* b = v.as<BoolV>()) return b->value ? "True" : "False";
  if (v.is<NoneV>()) return "None";
  if (const auto* t = v.as<DType>()) return std::string(info(*t).name);
  if (const auto* t = v.as<VectorTypeV>()) return std::string(info(t->element).name) + "x" + std::to_string(t->lanes);
  if (const auto* p = v.as<PolicyV>()) return "GemmWarpPolicy." + std::string(policy_name(*p));
  if (const auto* f = v.as<FloatV>()) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", f->value);
    for (int digits = 1; digits < 17; ++digits) {
      char shorter[40];
      std::snprintf(shorter, sizeof shorter, "%.*g", digits, f->value);
      if (std::strtod(shorter, nullptr) == f->value) return shorter;
    }
    return buffer;
  }
  if (v.is<ListObject*>() || v.is<const TupleObject*>()) return format_nested(s, v, 0);
  if (const auto* o = v.as<ObjectObject*>(); o && (*o)->type->is_enum && (*o)->attrs.contains("name"))
    return (*o)->type->name + "." + format(s, (*o)->attrs.at("name"));
  return "<" + kind_name(v) + ">";
}

}  // namespace tc::eval
