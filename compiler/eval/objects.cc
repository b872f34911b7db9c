// Classes of the program: torch modules, autograd functions, configurations, enumerations. A class is its body, run
// once; an object is its attributes. What no class of the program defines is unknown where a base comes from elsewhere.
//   class Attention(torch.autograd.Function): forward, backward   ->  Attention.apply(q) runs forward(ctx, q), and then
//   backward(ctx, g) with a tensor g like the result, because training would
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using Keywords = std::vector<std::pair<std::string, Value>>;
constexpr int kMaxBases = 32;  // of a chain of classes

std::string opaque_name(const Value& v) {
  const auto* o = v.as<const OpaqueObject*>();
  return o ? (*o)->what : std::string();
}

const Value* lookup_in(const ClassObject& type, const std::string& name, int depth) {
  if (auto it = type.attrs.find(name); it != type.attrs.end()) return &it->second;
  for (const Value& base : type.bases)
    if (auto* const* c = base.as<ClassObject*>(); c && depth < kMaxBases)
      if (const Value* found = lookup_in(**c, name, depth + 1)) return found;
  return nullptr;
}

bool derives(const ClassObject& type, std::string_view base, int depth) {
  for (const Value& b : type.bases) {
    if (auto* const* c = b.as<ClassObject*>()) {
      if ((*c)->name == base || (depth < kMaxBases && derives(**c, base, depth + 1))) return true;
    } else if (opaque_name(b).ends_with(base)) {
      return true;
    }
  }
  return false;
}

bool has_unknown_base(const ClassObject& type, int depth = 0) {
  for (const Value& b : type.bases) {
    auto* const* c = b.as<ClassObject*>();
    if (!c || (depth < kMaxBases && has_unknown_base(**c, depth + 1))) return true;
  }
  return false;
}

// Fields of the bases first.
void fields_of(const ClassObject& type, std::vector<std::string>& out, int depth = 0) {
  for (const Value& b : type.bases)
    if (auto* const* c = b.as<ClassObject*>(); c && depth < kMaxBases) fields_of(**c, out, depth + 1);
  for (const std::string& f : type.fields)
    if (std::find(out.begin(), out.end(), f) == out.end()) out.push_back(f);
}

bool is_record(const ClassObject& type, int depth = 0) {
  if (type.is_record) return true;
  return std::any_of(type.bases.begin(), type.bases.end(), [&](const Value& b) {
    auto* const* c = b.as<ClassObject*>();
    return c && depth < kMaxBases && is_record(**c, depth + 1);
  });
}

Value bound(Session& s, const Value& function, const Value& self, const Value& type, const SourceRange& where) {
  auto* const* f = function.as<FunctionObject*>();
  bool method = f && ((*f)->kind == FunctionKind::plain || (*f)->kind == FunctionKind::macro);
  if (!method) return function;
  switch ((*f)->role) {
    case MethodRole::static_method: return function;
    case MethodRole::class_method: return partial(s, function, {type});
    case MethodRole::property: return call_function(s, **f, bind_params(s, **f, {self}, {}, where, false), where);
    case MethodRole::method: return partial(s, function, {self});
  }
  return function;
}

void make_members(Session& s, ClassObject& type) {
  for (auto& [name, value] : type.attrs) {
    if (name.starts_with('_') || value.is<FunctionObject*>()) continue;
    ObjectObject& member = s.heap.instances_of_classes.emplace_back(ObjectObject{&type, {}});
    member.attrs["value"] = value;
    member.attrs["name"] = text(name);
    value = Value{&member};
  }
}

void fill_record(Session& s, ObjectObject& o, const std::vector<Value>& positional, const Keywords& keywords,
                 const SourceRange& where) {
  std::vector<std::string> fields;
  fields_of(*o.type, fields);
  if (positional.size() > fields.size())
    fail(where, "'" + o.type->name + "' has " + std::to_string(fields.size()) + " fields, " +
                    std::to_string(positional.size()) + " are given");
  for (size_t i = 0; i < positional.size(); ++i) o.attrs[fields[i]] = positional[i];
  for (const auto& [name, value] : keywords) {
    if (std::find(fields.begin(), fields.end(), name) == fields.end())
      fail(where, "'" + o.type->name + "' has no field '" + name + "'" + did_you_mean(name, fields));
    o.attrs[name] = value;
  }
  for (const std::string& f : fields) {
    if (o.attrs.contains(f)) continue;
    const Value* otherwise = class_lookup(*o.type, f);
    if (!otherwise) fail(where, "'" + o.type->name + "' needs a value for " + f);
    Value value = *otherwise;
    if (const auto* p = value.as<const PartialObject*>()) {  // field(default_factory=…)
      Scope scope;
      value = apply(s, scope, (*p)->callee, {}, {}, where);
    }
    o.attrs[f] = value;
  }
}

// Tensors like those that forward returned.
std::vector<Value> gradients(const Value& result) {
  if (const auto* t = result.as<const TupleObject*>()) return (*t)->items;
  return {result};
}
}  // namespace

const Value* class_lookup(const ClassObject& type, const std::string& name) { return lookup_in(type, name, 0); }
bool derives_from(const ClassObject& type, std::string_view base) { return derives(type, base, 0); }

Value make_class(Session& s, Scope& scope, const ast::ClassDef& def, const SourceRange& where) {
  ClassObject& type = s.heap.classes.emplace_back();
  type.name = def.name;
  type.where = def.name_where;
  for (ast::ExprRef base : def.bases) {
    Value v = eval(s, scope, *base);
    std::string name = opaque_name(v);
    type.is_record |= name.ends_with("NamedTuple");
    type.is_enum |= name.ends_with("Enum") || name.ends_with("Flag");
    type.bases.push_back(std::move(v));
  }
  // Names of the class body are no names of the methods; `super()` finds the class by __class__.
  Scope& inside = s.heap.scopes.emplace_back(Scope{.parent = &scope});
  Scope& around = s.heap.scopes.emplace_back(Scope{.parent = &scope});
  around.names["__class__"] = Value{&type};
  exec(s, inside, def.body);
  for (auto& [name, value] : inside.names) {
    if (auto* const* f = value.as<FunctionObject*>(); f && (*f)->closure == &inside) (*f)->closure = &around;
    type.attrs[name] = value;
  }
  for (const ast::Stmt* stmt : def.body)
    if (const auto* a = std::get_if<ast::AnnAssign>(&stmt->node))
      if (const auto* name = std::get_if<ast::Name>(&a->target->node)) type.fields.push_back(name->id);
  if (type.is_enum) make_members(s, type);
  Value value{&type};
  for (auto d = def.decorators.rbegin(); d != def.decorators.rend(); ++d) {
    Value decorator = eval(s, scope, **d);
    std::string name = opaque_name(decorator);
    if (name.find("dataclass") != std::string::npos) type.is_record = true;
    else if (!decorator.is<const OpaqueObject*>()) value = apply(s, scope, decorator, {value}, {}, where);
  }
  return value;
}

Value instantiate(Session& s, Scope& scope, ClassObject& type, const std::vector<Value>& positional,
                  const Keywords& keywords, const SourceRange& where) {
  if (type.is_enum) {  // Kind(1): the member of that value
    for (auto& [name, value] : type.attrs)
      if (auto* const* o = value.as<ObjectObject*>(); o && positional.size() == 1)
        if (equal_values((*o)->attrs["value"], positional[0])) return value;
    return opaque(s, "a member of '" + type.name + "'", where);
  }
  ObjectObject& object = s.heap.instances_of_classes.emplace_back(ObjectObject{&type, {}});
  Value self{&object};
  if (const Value* init = class_lookup(type, "__init__")) {
    std::vector<Value> args{self};
    args.insert(args.end(), positional.begin(), positional.end());
    apply(s, scope, *init, std::move(args), keywords, where);
  } else if (is_record(type)) {
    fill_record(s, object, positional, keywords, where);
    if (const Value* post = class_lookup(type, "__post_init__")) apply(s, scope, *post, {self}, {}, where);
  } else if ((!positional.empty() || !keywords.empty()) && !has_unknown_base(type)) {
    fail(where, "'" + type.name + "' takes no arguments");
  }
  return self;
}

Value enum_member(Session& s, const ClassObject& type, const Value& name, const SourceRange& where) {
  if (const OpaqueObject* o = unknown_condition(s, name, where))
    return derived(s, *o, "a member of '" + type.name + "'");
  const std::string& wanted = to_text(name, where, "the name of a member");
  if (auto it = type.attrs.find(wanted); it != type.attrs.end() && it->second.is<ObjectObject*>()) return it->second;
  fail_raised(where, "KeyError", "'" + type.name + "' has no member '" + wanted + "'");
}

Value class_attribute(Session& s, ClassObject& type, const std::string& name, const SourceRange& where) {
  if (const Value* found = class_lookup(type, name)) {
    auto* const* f = found->as<FunctionObject*>();
    if (f && (*f)->role == MethodRole::class_method) return partial(s, *found, {Value{&type}});
    return *found;
  }
  if (name == "__name__") return text(type.name);
  if (name == "apply" && derives_from(type, "Function")) {
    s.heap.methods.push_back({Value{&type}, name});
    return Value{static_cast<const MethodObject*>(&s.heap.methods.back())};
  }
  if (type.is_enum && name == "__members__") return opaque(s, type.name + "." + name, where);
  if (has_unknown_base(type) || s.host) return opaque(s, type.name + "." + name, where);
  std::vector<std::string> names;
  for (const auto& [n, v] : type.attrs) names.push_back(n);
  fail(where, "class '" + type.name + "' has no attribute '" + name + "'" + did_you_mean(name, names));
}

Value object_attribute(Session& s, ObjectObject& o, const std::string& name, const SourceRange& where) {
  if (auto it = o.attrs.find(name); it != o.attrs.end()) return it->second;
  Value self{&o};
  if (const Value* found = class_lookup(*o.type, name)) return bound(s, *found, self, Value{o.type}, where);
  if (name == "__class__") return Value{o.type};
  if (name == "_replace" || name == "_asdict") return opaque(s, o.type->name + "." + name, where);
  // Of torch.nn.Module: these give the module back.
  static constexpr std::string_view kSame[] = {"cuda",     "cpu",  "to",    "half",           "float",
                                               "bfloat16", "eval", "train", "requires_grad_", "double"};
  if (std::find(std::begin(kSame), std::end(kSame), name) != std::end(kSame) && has_unknown_base(*o.type)) {
    s.heap.methods.push_back({self, name});
    return Value{static_cast<const MethodObject*>(&s.heap.methods.back())};
  }
  if (has_unknown_base(*o.type) || s.host) return opaque(s, "an object of '" + o.type->name + "'." + name, where);
  std::vector<std::string> names;
  for (const auto& [n, v] : o.attrs) names.push_back(n);
  for (const auto& [n, v] : o.type->attrs) names.push_back(n);
  fail(where, "an object of '" + o.type->name + "' has no attribute '" + name + "'" + did_you_mean(name, names));
}

// super().name: found in the bases of the class whose method runs.
Value super_attribute(Session& s, const HostObject& super, const std::string& name, const SourceRange& where) {
  auto type = super.attrs.find("class"), self = super.attrs.find("self");
  if (type == super.attrs.end() || self == super.attrs.end()) return opaque(s, "super()." + name, where);
  for (const Value& base : (*type->second.as<ClassObject*>())->bases)
    if (auto* const* c = base.as<ClassObject*>())
      if (const Value* found = class_lookup(**c, name)) return bound(s, *found, self->second, base, where);
  return opaque(s, "super()." + name, where);
}

Value apply_autograd(Session& s, Scope& scope, ClassObject& type, const std::vector<Value>& positional,
                     const Keywords& keywords, const SourceRange& where) {
  const Value* forward = class_lookup(type, "forward");
  if (!forward) return opaque(s, type.name + ".apply(...)", where);
  Value context{&host_object(s, HostKind::context, "the context of '" + type.name + "'", where)};
  std::vector<Value> args;
  const Value* setup = class_lookup(type, "setup_context");
  if (!setup) args.push_back(context);
  args.insert(args.end(), positional.begin(), positional.end());
  Value result = apply(s, scope, *forward, std::move(args), keywords, where);
  try {
    if (setup) apply(s, scope, *setup, {context, tuple(s, positional), result}, {}, where);
    if (const Value* backward = class_lookup(type, "backward")) {
      std::vector<Value> grads{context};
      for (const Value& g : gradients(result)) grads.push_back(g);
      apply(s, scope, *backward, std::move(grads), {}, where);
    }
  } catch (const Failure& failure) {
    if (failure.fatal) throw;  // else: the program may never train
  }
  return result;
}

}  // namespace tc::eval
