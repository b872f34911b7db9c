// Which kernels a file has, and with which arguments: see evaluate.h for the order of sources.
#include "compiler/eval/evaluate.h"

#include <charconv>
#include <filesystem>

#include "base/files.h"
#include "compiler/eval/language_names.h"
#include "compiler/eval/session.h"
#include "compiler/syntax/parse.h"

namespace tc::eval {
namespace {

Value value_of(Session& s, const ArgValue& arg) {
  return std::visit(Overload{
                        [](int64_t i) { return integer(ir::MetaInt(i)); },
                        [](bool b) { return boolean(b); },
                        [](double d) { return real(d); },
                        [](const std::string& t) { return text(t); },
                        [&](const std::vector<int64_t>& l) {
                          std::vector<Value> items;
                          for (int64_t i : l) items.push_back(integer(i));
                          return list(s, std::move(items));
                        },
                    },
                    arg);
}

}  // namespace

// Puts --arg values into bound arguments; says whether one applied.
bool override_args(Session& s, const FunctionObject& f, std::vector<std::optional<Value>>& args) {
  bool any = false;
  for (const auto& [name, value] : s.options->args)
    for (size_t i = 0; i < args.size(); ++i)
      if (param_name(f, i) == name) {
        args[i] = value_of(s, parse_arg(value));
        any = true;
      }
  return any;
}

namespace {
// Two definitions of one nested factory mean the same where the names around them do.
bool same_surroundings(const Scope* a, const Scope* b) {
  auto plain = [](const Value& v) {
    return is_static_number(v) || v.is<std::string>() || v.is<DType>() || v.is<const TupleObject*>() ||
           v.is<ListObject*>();
  };
  for (; a != b; a = a->parent, b = b->parent) {
    if (!a || !b) return false;
    for (const auto& [name, value] : a->names) {
      auto other = b->names.find(name);
      if (other == b->names.end()) return false;
      if (plain(value) && !equal_values(value, other->second)) return false;
    }
  }
  return true;
}

Instance& add_instance(Session& s, Instance instance) {
  FunctionObject& f = *instance.factory;
  for (Instance& known : s.heap.instances)
    if (known.factory && known.factory->where == f.where && same_surroundings(known.factory->closure, f.closure) &&
        instance_text(s, f.name, known) == instance_text(s, f.name, instance))
      return known;
  s.heap.instances.push_back(std::move(instance));
  return s.heap.instances.back();
}

bool is_eager(const FunctionObject& f) { return f.is_eager && !f.is_factory; }

struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

// The configurations of @autotune: one dict of arguments each; none if they are unknown.
// They may be a function of the kernel's arguments.
std::vector<const DictObject*> configs_of(Session& s, const FunctionObject& f, const CallArgs& call,
                                          const SourceRange& where) {
  std::vector<const DictObject*> out;
  if (!f.configs) return out;
  Value configs = *f.configs;
  if (auto* const* make = configs.as<FunctionObject*>())
    configs = call_function(s, **make, bind_params(s, **make, call.positional, call.keywords, where, false), where);
  const std::vector<Value>* items = nullptr;
  if (const auto* l = configs.as<ListObject*>()) items = &(*l)->items;
  if (const auto* t = configs.as<const TupleObject*>()) items = &(*t)->items;
  for (size_t i = 0; items && i < items->size(); ++i)
    if (const auto* d = (*items)[i].as<DictObject*>()) out.push_back(*d);
  return out;
}

// One call → one instance that is not registered yet. Keywords that name no parameter of an eager kernel are values of
// T.const. Fails where a value is missing.
Instance make_instance(Session& s, FunctionObject& f, CallArgs call, const DictObject* config, std::string from,
                       const SourceRange& where) {
  Instance instance;
  instance.factory = &f;
  instance.where = where;
  instance.options = f.options;
  const auto& params = f.params->list;
  auto index_of = [&](const std::string& name) {
    return static_cast<size_t>(
        std::find_if(params.begin(), params.end(), [&](const ast::Param& p) { return p.name == name; }) -
        params.begin());
  };
  std::vector<std::pair<std::string, Value>> known;
  for (auto& [name, value] : call.keywords) {
    bool extra = is_eager(f) && index_of(name) == params.size();
    if (!extra) known.emplace_back(name, value);
    else instance.consts.emplace_back(name, to_int(s, value, where, "the value of T.const '" + name + "'").value);
  }
  auto given = [&](const std::string& name) {
    return index_of(name) < call.positional.size() ||
           std::any_of(known.begin(), known.end(), [&](const auto& k) { return k.first == name; });
  };
  for (size_t i = 0; config && i < config->items.size(); ++i) {
    std::string name = to_text(config->items[i].first, where, "the name in a configuration");
    if (index_of(name) < params.size() && !given(name)) known.emplace_back(name, config->items[i].second);
  }
  auto args = bind_params(s, f, call.positional, known, where, true);
  bool overridden = override_args(s, f, args);
  std::string missing;
  const OpaqueObject* unknown = nullptr;  // given for a run-time parameter
  for (size_t i = 0; i < args.size(); ++i) {
    std::string name = param_name(f, i);
    bool runtime = is_eager(f) && i < params.size() && is_runtime_param(s, f, params[i]);
    if (runtime) {
      // matmul.get_tir(T.Tensor((128, 128), "float16"), …): a type stands for a tensor of it.
      if (const auto* type = args[i] ? args[i]->as<const TensorType*>() : nullptr) {
        HostTensor like{"a tensor of the type given", where, (*type)->dtype, std::vector<Value>()};
        for (const ir::MetaInt& e : (*type)->shape) like.shape->push_back(integer(e));
        args[i] = host_tensor(s, std::move(like));
      }
      const auto* tensor = args[i] ? args[i]->as<const HostTensor*>() : nullptr;
      if (tensor) instance.tensors.emplace_back(name, *tensor);
      else if (const auto* o = args[i] ? args[i]->as<const OpaqueObject*>() : nullptr; o && !unknown) unknown = *o;
    } else if (args[i]) {
      instance.args.emplace_back(name, *args[i]);
    } else {
      missing += (missing.empty() ? "" : ", ") + name;
    }
  }
  if (!missing.empty())
    fail(where, "'" + f.name + "' needs a value for " + missing + ": a call, --arg or a manifest can give it");
  size_t constants = instance.consts.size();
  try {
    if (is_eager(f)) probe_eager(s, instance);
  } catch (Failure& failure) {
    if (unknown)
      failure.diag.notes.push_back(
          {unknown->where, "an argument of this call is not known: it comes from " + unknown->what});
    throw;
  }
  for (size_t i = 0; i < constants; ++i)
    if (const std::string& name = instance.consts[i].first;
        std::find(s.constant_names.begin(), s.constant_names.end(), name) == s.constant_names.end())
      fail(where, "'" + f.name + "' has no parameter '" + name + "' and no T.const of that name");
  instance.from = overridden ? "arg" : std::move(from);
  return instance;
}

// All instances of a call: with --all-configs one a configuration of @autotune, else of the first.
Instance& add_instances(Session& s, FunctionObject& f, const CallArgs& call, const std::string& from,
                        const SourceRange& where) {
  std::vector<const DictObject*> configs = configs_of(s, f, call, where);
  if (configs.empty()) return add_instance(s, make_instance(s, f, call, nullptr, from, where));
  Instance* first = nullptr;
  size_t count = s.options->all_configs ? configs.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    Instance& made = add_instance(s, make_instance(s, f, call, configs[i], from, where));
    if (!first) first = &made;
  }
  return *first;
}

// Every factory and prim_func that a name of the module is bound to.
std::vector<FunctionObject*> kernels_of(Session& s, const ast::Module& module) {
  std::vector<FunctionObject*> out;
  for (FunctionObject& f : s.heap.functions) {
    bool factory = f.kind == FunctionKind::jit || (f.kind == FunctionKind::plain && f.is_factory);
    bool bare = f.kind == FunctionKind::prim_func && (f.closure == s.globals || f.of_host_code);
    if (!(factory || bare) || f.of_trace || f.where.file != module.file) continue;
    // A decorated function exists twice: as it was, and as the decorator left it. The last one counts.
    std::erase_if(out, [&](FunctionObject* g) { return g->where == f.where; });
    out.push_back(&f);
  }
  return out;
}

bool wanted(const Session& s, const Instance& instance) {
  const std::string& name = s.options->kernel;
  if (name.empty()) return true;
  if (instance.factory && instance.factory->name == name) return true;
  if (instance.prim_func) return instance.prim_func->name == name;
  if (!instance.factory || !instance.factory->body) return false;
  for (const ast::Stmt* stmt : *instance.factory->body)  // the prim_func a plain factory defines
    if (const auto* def = std::get_if<ast::FunctionDef>(&stmt->node); def && def->name == name) return true;
  return false;
}

// The kernel that a request names; one that a function of the file defines is made, and added to the kernels.
FunctionObject* requested_kernel(Session& s, const KernelRequest& r, std::vector<FunctionObject*>& kernels, FileId file,
                                 CallArgs& call) {
  if (FunctionObject* made = made_kernel(s, r.name, file, call.keywords, r.where)) {
    std::erase_if(kernels, [&](FunctionObject* g) { return g->where == made->where; });
    return kernels.emplace_back(made);
  }
  auto f = std::find_if(kernels.begin(), kernels.end(), [&](FunctionObject* g) { return g->name == r.name; });
  if (f == kernels.end()) fail(r.where, "the file has no kernel '" + r.name + "'");
  return *f;
}

// The tensors that a request gives shapes of, as keyword arguments.
void add_tensors(Session& s, const KernelRequest& r, CallArgs& call) {
  for (const auto& [of, dtype] : r.dtypes) {
    if (!dtype_from_name(dtype)) fail(r.where, "'" + dtype + "' is no element type");
    if (std::none_of(r.shapes.begin(), r.shapes.end(), [&](const auto& shape) { return shape.first == of; }))
      fail(r.where, "'" + of + "' has an element type here, but no shape");
  }
  for (const auto& [name, shape] : r.shapes) {
    std::vector<Value> extents;
    for (int64_t e : shape) extents.push_back(integer(e));
    HostTensor tensor{"'" + name + "' of the manifest", r.where, {}, extents};
    for (const auto& [of, dtype] : r.dtypes)
      if (of == name) tensor.dtype = dtype_from_name(dtype);
    call.keywords.emplace_back(name, host_tensor(s, std::move(tensor)));
  }
}

void request_instances(Session& s, std::vector<FunctionObject*>& kernels, FileId file) {
  for (const KernelRequest& r : *s.requests) {
    // A definition that failed has left its name unknown; the function itself would be without its options.
    const Value* bound = lookup(*s.globals, r.name);
    if (const auto* o = bound ? bound->as<const OpaqueObject*>() : nullptr; o && (*o)->cause) {
      s.diags.push_back(*(*o)->cause);
      continue;
    }
    CallArgs call;
    for (const auto& [name, value] : r.args) call.keywords.emplace_back(name, value_of(s, value));
    try {
      add_tensors(s, r, call);
      FunctionObject* f = requested_kernel(s, r, kernels, file, call);
      std::string from = r.instance.empty() ? "manifest" : "manifest " + r.instance;
      Instance& instance = add_instances(s, *f, call, from, r.where);
      instance.sm_count = r.sm_count;
      for (const auto& [key, value] : r.pass_configs) {
        if (!is_pass_config(key))
          fail(r.where, "there is no pass config '" + key + "'" + did_you_mean(key, pass_configs()));
        Value v = value_of(s, value);
        if (const auto* t = v.as<std::string>()) ir::set_attr(instance.options.pass_configs, key, *t);
        else
          ir::set_attr(instance.options.pass_configs, key,
                       ir::MetaInt(to_int(s, v, r.where, "the value of a pass config").value));
      }
    } catch (const Failure& failure) {
      s.diags.push_back(failure.diag);
    }
  }
}

// A factory that nothing calls: its defaults and --arg have to do. Says which parameters stayed open.
void default_instance(Session& s, FunctionObject& f) {
  try {
    add_instances(s, f, {}, f.params->list.empty() ? "literal" : "default", f.where);
  } catch (const Failure& failure) {
    s.unresolved.emplace_back(f.where, failure.diag.message);
    s.diags.push_back(failure.diag);
  }
}

void find_default_instances(Session& s, const std::vector<FunctionObject*>& kernels) {
  for (FunctionObject* f : kernels) {
    bool called = std::any_of(s.heap.instances.begin(), s.heap.instances.end(),
                              [&](const Instance& i) { return i.factory && i.factory->where == f->where; }) ||
                  std::find(s.failed.begin(), s.failed.end(), f->where) != s.failed.end();
    bool chosen = s.options->kernel.empty() || s.options->kernel == f->name;
    if (called || !chosen) continue;
    if (f->kind == FunctionKind::prim_func) {
      if (!f->of_host_code) add_literal(s, *f);
    } else {
      default_instance(s, *f);
    }
  }
}

void check_arg_names(Session& s, const std::vector<FunctionObject*>& kernels, FileId file) {
  std::vector<std::string> outer = maker_params(s, file);
  for (const auto& [name, value] : s.options->args) {
    bool known = name == "sm_count" ||
                 std::find(s.constant_names.begin(), s.constant_names.end(), name) != s.constant_names.end();
    known |= std::any_of(kernels.begin(), kernels.end(), [&](FunctionObject* f) {
      return std::any_of(f->params->list.begin(), f->params->list.end(),
                         [&](const ast::Param& p) { return p.name == name; });
    });
    known |= std::find(outer.begin(), outer.end(), name) != outer.end();
    if (!known)
      s.diags.push_back(input_error({file, 0, 0, 0, 0}, "no kernel of the file has a parameter '" + name + "' (--arg " +
                                                            name + "=" + value + ")"));
  }
}

void apply_pass_configs(Session& s, Instance& instance, FileId file) {
  for (const auto& [key, value] : s.options->pass_configs) {
    if (!is_pass_config(key)) {
      s.diags.push_back(
          input_error({file, 0, 0, 0, 0}, "there is no pass config '" + key + "'" + did_you_mean(key, pass_configs())));
      continue;
    }
    Value v = value_of(s, parse_arg(value));
    if (const auto* b = v.as<BoolV>()) ir::set_attr(instance.options.pass_configs, key, ir::MetaInt(b->value));
    else if (const auto* i = v.as<ir::MetaInt>()) ir::set_attr(instance.options.pass_configs, key, *i);
    else ir::set_attr(instance.options.pass_configs, key, value);
  }
}

// Runs what names instances: module level and the entry points, or the requests of a manifest.
std::vector<FunctionObject*> find_instances(Session& s, const ast::Module& module) {
  bool requested = s.requests && !s.requests->empty(), replaced = requested && !s.keep_found;
  try {
    exec(s, *s.globals, module.body);
    if (!replaced) run_entry_points(s, module);
  } catch (const Failure& failure) {
    s.diags.push_back(failure.diag);  // a bound was reached
  }
  s.calls.clear();
  s.in_main = false;
  s.uncertain = 0;
  std::vector<FunctionObject*> failed;
  if (!replaced) failed = run_makers(s, module.file);
  std::vector<FunctionObject*> kernels = kernels_of(s, module);
  if (replaced) {
    s.heap.instances.clear();
    s.diags.clear();
  }
  if (requested) request_instances(s, kernels, module.file);
  if (!replaced) find_default_instances(s, kernels);
  kernels.insert(kernels.end(), failed.begin(), failed.end());
  // Beside kernels that have instances it is no error that such a function was not called.
  if (s.heap.instances.empty())
    for (FunctionObject* f : failed)
      for (const auto& [where, why] : s.unresolved)
        if (where == f->where) s.diags.push_back(input_error(where, why));
  return kernels;
}

std::string params_text(Session& s, const FunctionObject& f) {
  std::string out;
  for (size_t i = 0; i < f.params->list.size(); ++i) {
    const ast::Param& p = f.params->list[i];
    out += (out.empty() ? "" : ", ") + p.name + (f.defaults[i] ? "=" + format(s, *f.defaults[i]) : "");
  }
  if (!f.params->vararg.empty()) out += (out.empty() ? "*" : ", *") + f.params->vararg;
  if (!f.params->kwarg.empty()) out += (out.empty() ? "**" : ", **") + f.params->kwarg;
  return out;
}

std::vector<FoundKernel> found_kernels(Session& s, const std::vector<FunctionObject*>& kernels) {
  std::vector<FoundKernel> out;
  for (FunctionObject* f : kernels) {
    FoundKernel k{f->name, params_text(s, *f), f->where, {}, {}};
    for (Instance& i : s.heap.instances) {
      const FunctionObject* of = i.factory ? i.factory : i.prim_func;
      if (i.extra || !of || of->where != f->where) continue;
      k.instances.push_back({instance_text(s, f->name, i), i.from, i.func ? "" : i.error, i.where});
    }
    for (const auto& [where, why] : s.unresolved)
      if (k.instances.empty() && where == f->where) k.unresolved = why;
    out.push_back(std::move(k));
  }
  return out;
}

Evaluated evaluate_module(Session& s, const ast::Module& module) {
  Scope& globals = s.heap.scopes.emplace_back();
  s.globals = &globals;
  std::vector<FunctionObject*> kernels = find_instances(s, module);
  check_arg_names(s, kernels, module.file);
  if (kernels.empty())
    s.diags.push_back(input_error({module.file, 0, 0, 0, 0},
                                  "the file defines no kernel: no @T.prim_func and no @tilelang.jit factory"));
  bool any = false;
  for (Instance& instance : s.heap.instances) {
    if (instance.extra || !wanted(s, instance)) continue;
    any = true;
    trace_instance(s, instance);
    if (!instance.func) continue;
    apply_pass_configs(s, instance, module.file);
    ir::Func func = s.traced[*instance.func];
    func.attrs = instance.options.pass_configs;
    if (!check_escapes(s, func)) continue;
    size_t diags = s.diags.size();
    check_kernel(s, func);
    if (s.diags.size() == diags) s.module.funcs.push_back(std::move(func));
  }
  if (!any && s.diags.empty())
    s.diags.push_back(
        input_error({module.file, 0, 0, 0, 0}, s.options->kernel.empty()
                                                   ? "the program expects every kernel of the file to be refused"
                                                   : "the file has no kernel '" + s.options->kernel + "'"));
  std::vector<FoundKernel> found = found_kernels(s, kernels);
  return {std::move(s.module), std::move(s.diags), std::move(found), std::move(s.not_followed), std::move(s.warnings)};
}

Evaluated failed(Diag diag) {
  Evaluated out;
  out.diags.push_back(std::move(diag));
  return out;
}

}  // namespace

Instance& add_literal(Session& s, FunctionObject& f) {
  f.of_host_code = f.closure != s.globals;
  for (Instance& known : s.heap.instances)
    if (!known.factory && known.prim_func && known.prim_func->where == f.where &&
        same_surroundings(known.prim_func->closure, f.closure))
      return known;
  Instance& instance = s.heap.instances.emplace_back();
  instance.prim_func = &f;
  instance.from = f.of_host_code ? (s.in_main ? "main" : s.entry) : "literal";
  instance.where = f.where;
  return instance;
}

// Every call of a factory at host level names an instance; the factory itself runs when the instance is traced.
Value call_factory(Session& s, FunctionObject& f, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  try {
    return Value{&add_instances(s, f, {positional, keywords}, s.in_main ? "main" : s.entry, where)};
  } catch (const Failure& failure) {
    s.failed.push_back(f.where);
    s.unresolved.emplace_back(f.where, failure.diag.message);
    bool known = std::any_of(s.diags.begin(), s.diags.end(), [&](const Diag& d) {
      return d.where == failure.diag.where && d.message == failure.diag.message;
    });
    if (!known) s.diags.push_back(failure.diag);
    throw;
  }
}

Status set_bound(Bounds& bounds, const std::string& text) {
  const std::pair<std::string_view, int64_t*> known[] = {
      {"steps", &bounds.steps},           {"calls", &bounds.calls},     {"items", &bounds.items},
      {"operations", &bounds.operations}, {"modules", &bounds.modules}, {"errors", &bounds.errors}};
  size_t equals = text.find('=');
  ArgValue value = parse_arg(equals == std::string::npos ? "" : text.substr(equals + 1));
  const auto* number = std::get_if<int64_t>(&value);
  for (auto [name, bound] : known)
    if (name == text.substr(0, equals) && number && *number > 0) {
      *bound = *number;
      return {};
    }
  return input_error(
      {}, "a bound is steps, calls, items, operations, modules or errors with a positive number, not '" + text + "'");
}

ArgValue parse_arg(const std::string& text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  const char *begin = text.data(), *end = begin + text.size();
  int64_t i = 0;
  if (auto r = std::from_chars(begin, end, i); r.ec == std::errc() && r.ptr == end) return i;
  double d = 0;
  if (auto r = std::from_chars(begin, end, d); r.ec == std::errc() && r.ptr == end) return d;
  return text;
}

namespace {
// beside/NAME.tilecheck.toml, or the file of --manifest; of a folder DIR for a/b/NAME.py the first of
// DIR/a/b/NAME.tilecheck.toml, DIR/b/NAME.tilecheck.toml, DIR/NAME.tilecheck.toml. "": there is none.
std::string manifest_of(const std::string& path, const std::string& option) {
  namespace fs = std::filesystem;
  if (!path.ends_with(".py")) return option;
  std::error_code error;
  std::string name = path.substr(0, path.size() - 3) + ".tilecheck.toml";
  if (option.empty()) return fs::exists(name, error) ? name : std::string();
  if (!fs::is_directory(option, error)) return option;
  for (fs::path rest = fs::path(name).relative_path(); !rest.empty();) {
    if (fs::exists(option / rest, error)) return (option / rest).string();
    fs::path shorter;
    for (auto part = std::next(rest.begin()); part != rest.end(); ++part) shorter /= *part;
    rest = shorter;
  }
  return {};
}
}  // namespace

Evaluated evaluate(FileId file, const std::string& path, const EvalOptions& options) {
  auto module = syntax::parse(file);
  if (!module) return failed(module.error());
  Manifest requests;
  if (std::string manifest = manifest_of(path, options.manifest); !manifest.empty()) {
    auto text = read_file(manifest);
    if (!text) return failed(text.error());
    auto parsed = parse_manifest(add_source_file(manifest, *text));
    if (!parsed) return failed(parsed.error());
    requests = std::move(*parsed);
  }
  Session s;
  s.stack = static_cast<const char*>(__builtin_frame_address(0));
  s.module.arch = options.arch;
  s.directory = s.input_directory = std::filesystem::path(path).parent_path().string();
  s.options = &options;
  s.requests = &requests.kernels;
  s.sm_count = requests.sm_count;
  s.keep_found = requests.keep_found;
  return evaluate_module(s, **module);
}

Evaluated evaluate_file(const std::string& path, const EvalOptions& options) {
  auto text = read_file(path);
  if (!text) return failed(text.error());
  return evaluate(add_source_file(path, *text), path, options);
}

}  // namespace tc::eval
