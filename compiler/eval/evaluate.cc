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

// Puts --arg values into bound arguments; says whether one applied.
bool override_args(Session& s, const FunctionObject& f, std::vector<std::optional<Value>>& args) {
  bool any = false;
  for (const auto& [name, value] : s.options->args)
    for (size_t i = 0; i < args.size(); ++i)
      if (f.params->list[i].name == name) {
        args[i] = value_of(s, parse_arg(value));
        any = true;
      }
  return any;
}

Instance& add_instance(Session& s, Instance instance) {
  FunctionObject& f = *instance.factory;
  for (Instance& known : s.heap.instances)
    if (known.factory && known.factory->where == f.where &&
        instance_text(s, f.name, known) == instance_text(s, f.name, instance))
      return known;
  s.heap.instances.push_back(std::move(instance));
  return s.heap.instances.back();
}

bool is_eager(const FunctionObject& f) { return f.is_eager && !f.is_factory; }

// The configurations of @autotune: one dict of arguments each; none if they are unknown.
std::vector<const DictObject*> configs_of(const FunctionObject& f) {
  std::vector<const DictObject*> out;
  if (!f.configs) return out;
  const std::vector<Value>* items = nullptr;
  if (const auto* l = f.configs->as<ListObject*>()) items = &(*l)->items;
  if (const auto* t = f.configs->as<const TupleObject*>()) items = &(*t)->items;
  for (size_t i = 0; items && i < items->size(); ++i)
    if (const auto* d = (*items)[i].as<DictObject*>()) out.push_back(*d);
  return out;
}

struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

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
  auto args = bind_params(f, call.positional, known, where, true);
  bool overridden = override_args(s, f, args);
  std::string missing;
  for (size_t i = 0; i < args.size(); ++i) {
    bool runtime = is_eager(f) && is_runtime_param(s, f, params[i]);
    if (runtime) {
      const auto* tensor = args[i] ? args[i]->as<const HostTensor*>() : nullptr;
      if (tensor) instance.tensors.emplace_back(params[i].name, *tensor);
    } else if (args[i]) {
      instance.args.emplace_back(params[i].name, *args[i]);
    } else {
      missing += (missing.empty() ? "" : ", ") + params[i].name;
    }
  }
  if (!missing.empty()) fail(where, "'" + f.name + "' needs a value for " + missing);
  size_t constants = instance.consts.size();
  if (is_eager(f)) probe_eager(s, instance);
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
  std::vector<const DictObject*> configs = configs_of(f);
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
    bool bare = f.kind == FunctionKind::prim_func && f.closure == s.globals;
    if (!(factory || bare) || f.where.file != module.file) continue;
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

void request_instances(Session& s, const std::vector<FunctionObject*>& kernels) {
  for (const KernelRequest& r : *s.requests) {
    auto f = std::find_if(kernels.begin(), kernels.end(), [&](FunctionObject* g) { return g->name == r.name; });
    if (f == kernels.end()) {
      s.diags.push_back(input_error(r.where, "the file has no kernel '" + r.name + "'"));
      continue;
    }
    CallArgs call;
    for (const auto& [name, value] : r.args) call.keywords.emplace_back(name, value_of(s, value));
    for (const auto& [name, shape] : r.shapes) {
      std::vector<Value> extents;
      for (int64_t e : shape) extents.push_back(integer(e));
      call.keywords.emplace_back(name, host_tensor(s, {"'" + name + "' of the manifest", r.where, {}, extents}));
    }
    try {
      Instance& instance = add_instances(s, **f, call, "manifest", r.where);
      for (const auto& [key, value] : r.pass_configs) {
        if (!is_pass_config(key)) fail(r.where, "there is no pass config '" + key + "'");
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
    s.diags.push_back(failure.diag);
  }
}

void find_default_instances(Session& s, const std::vector<FunctionObject*>& kernels) {
  for (FunctionObject* f : kernels) {
    bool called = std::any_of(s.heap.instances.begin(), s.heap.instances.end(),
                              [&](const Instance& i) { return i.factory && i.factory->where == f->where; });
    bool chosen = s.options->kernel.empty() || s.options->kernel == f->name;
    if (called || !chosen) continue;
    if (f->kind == FunctionKind::prim_func) {
      Instance instance;
      instance.prim_func = f;
      instance.from = "literal";
      instance.where = f->where;
      s.heap.instances.push_back(std::move(instance));
    } else {
      default_instance(s, *f);
    }
  }
}

void check_arg_names(Session& s, const std::vector<FunctionObject*>& kernels, FileId file) {
  for (const auto& [name, value] : s.options->args) {
    bool known = name == "sm_count" ||
                 std::find(s.constant_names.begin(), s.constant_names.end(), name) != s.constant_names.end();
    known |= std::any_of(kernels.begin(), kernels.end(), [&](FunctionObject* f) {
      return std::any_of(f->params->list.begin(), f->params->list.end(),
                         [&](const ast::Param& p) { return p.name == name; });
    });
    if (!known)
      s.diags.push_back(input_error({file, 0, 0, 0, 0}, "no kernel of the file has a parameter '" + name + "' (--arg " +
                                                            name + "=" + value + ")"));
  }
}

void apply_pass_configs(Session& s, Instance& instance, FileId file) {
  for (const auto& [key, value] : s.options->pass_configs) {
    if (!is_pass_config(key)) {
      s.diags.push_back(input_error({file, 0, 0, 0, 0}, "there is no pass config '" + key + "'"));
      continue;
    }
    Value v = value_of(s, parse_arg(value));
    if (const auto* b = v.as<BoolV>()) ir::set_attr(instance.options.pass_configs, key, ir::MetaInt(b->value));
    else if (const auto* i = v.as<ir::MetaInt>()) ir::set_attr(instance.options.pass_configs, key, *i);
    else ir::set_attr(instance.options.pass_configs, key, value);
  }
}

// main() of the file, if nobody has called it and it needs nothing.
void run_main(Session& s) {
  auto it = s.globals->names.find("main");
  const auto* f = it == s.globals->names.end() ? nullptr : it->second.as<FunctionObject*>();
  if (!f || (*f)->kind != FunctionKind::plain || (*f)->is_factory) return;
  try {
    s.in_main = true;
    call_function(s, **f, bind_params(**f, {}, {}, (*f)->where, false), (*f)->where);
  } catch (const Failure&) {
    // Host code that cannot be followed names no kernel.
  }
  s.in_main = false;
}

void evaluate_module(Session& s, const ast::Module& module) {
  Scope& globals = s.heap.scopes.emplace_back();
  s.globals = &globals;
  exec(s, globals, module.body);
  if (s.heap.instances.empty() && (!s.requests || s.requests->empty())) run_main(s);
  std::vector<FunctionObject*> kernels = kernels_of(s, module);

  if (s.requests && !s.requests->empty()) {
    s.heap.instances.clear();
    request_instances(s, kernels);
  } else {
    find_default_instances(s, kernels);
  }
  check_arg_names(s, kernels, module.file);
  if (kernels.empty())
    s.diags.push_back(input_error({module.file, 0, 0, 0, 0},
                                  "the file defines no kernel: no @T.prim_func and no @tilelang.jit factory"));
  bool any = false;
  for (Instance& instance : s.heap.instances) {
    if (!wanted(s, instance)) continue;
    any = true;
    trace_instance(s, instance);
    if (!instance.func) continue;
    apply_pass_configs(s, instance, module.file);
    ir::Func func = s.traced[*instance.func];
    func.attrs = instance.options.pass_configs;
    s.module.funcs.push_back(std::move(func));
  }
  if (!any && s.diags.empty())
    s.diags.push_back(input_error({module.file, 0, 0, 0, 0}, "the file has no kernel '" + s.options->kernel + "'"));
}

Evaluated failed(Diag diag) {
  Evaluated out;
  out.diags.push_back(std::move(diag));
  return out;
}

}  // namespace

// Every call of a factory at host level names an instance; the factory itself runs when the instance is traced.
Value call_factory(Session& s, FunctionObject& f, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where) {
  try {
    return Value{&add_instances(s, f, {positional, keywords}, s.in_main ? "main" : "literal", where)};
  } catch (const Failure& failure) {
    bool known = std::any_of(s.diags.begin(), s.diags.end(), [&](const Diag& d) {
      return d.where == failure.diag.where && d.message == failure.diag.message;
    });
    if (!known) s.diags.push_back(failure.diag);
    throw;
  }
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

Evaluated evaluate(FileId file, const std::string& path, const EvalOptions& options) {
  auto module = syntax::parse(file);
  if (!module) return failed(module.error());
  std::vector<KernelRequest> requests;
  std::string manifest = path.ends_with(".py") ? path.substr(0, path.size() - 3) + ".tilecheck.toml" : std::string();
  if (!manifest.empty() && std::filesystem::exists(manifest)) {
    auto text = read_file(manifest);
    if (!text) return failed(text.error());
    auto parsed = parse_manifest(add_source_file(manifest, *text));
    if (!parsed) return failed(parsed.error());
    requests = std::move(*parsed);
  }
  Session s;
  s.module.arch = options.arch;
  s.directory = std::filesystem::path(path).parent_path().string();
  s.options = &options;
  s.requests = &requests;
  evaluate_module(s, **module);
  return {std::move(s.module), std::move(s.diags)};
}

Evaluated evaluate_file(const std::string& path, const EvalOptions& options) {
  auto text = read_file(path);
  if (!text) return failed(text.error());
  return evaluate(add_source_file(path, *text), path, options);
}

}  // namespace tc::eval
