// Functions of the module that define kernels inside: a @tilelang.jit function, or a factory, of their own parameters.
// Where nothing of the file calls one it is run with --arg, the manifest and its defaults, like a factory; what it
// defines then counts as a kernel of the file.
//   def attention(heads, dim):                       tilecheck --arg heads=8 --arg dim=64 FILE
//       @tilelang.jit                                runs attention(8, 64), and finds kernel[block=64]
//       def kernel(block=64): …
//       return kernel
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
bool is_maker(const FunctionObject& f) {
  return f.kind == FunctionKind::plain && !f.is_factory && !f.is_eager && !f.inner_kernels.empty();
}

bool inside(const FunctionObject& maker, const FunctionObject& g) {
  return std::any_of(maker.inner_kernels.begin(), maker.inner_kernels.end(),
                     [&](const InnerKernel& k) { return k.where == g.where; });
}

bool has_run(const Session& s, const FunctionObject& maker) {
  return std::any_of(s.heap.functions.begin(), s.heap.functions.end(),
                     [&](const FunctionObject& g) { return inside(maker, g); });
}

std::vector<FunctionObject*> makers_of(Session& s, FileId file) {
  std::vector<FunctionObject*> out;
  for (auto& [name, value] : s.globals->names)
    if (auto* const* f = value.as<FunctionObject*>(); f && is_maker(**f) && (*f)->where.file == file) out.push_back(*f);
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->where < b->where; });
  out.erase(std::unique(out.begin(), out.end(), [](auto* a, auto* b) { return a->where == b->where; }), out.end());
  return out;
}

using Named = std::vector<std::pair<std::string, Value>>;

void run_maker(Session& s, FunctionObject& f, const Named& given, const SourceRange& where) {
  auto args = bind_params(s, f, {}, given, where, true);
  override_args(s, f, args);
  std::string missing;
  for (size_t i = 0; i < args.size(); ++i)
    if (!args[i]) missing += (missing.empty() ? "" : ", ") + param_name(f, i);
  if (!missing.empty())
    fail(where, "'" + f.name + "' needs a value for " + missing + ": a call, --arg or a manifest can give it");
  std::string shown;
  for (size_t i = 0; i < args.size(); ++i) shown += (i ? ", " : "") + param_name(f, i) + "=" + format(s, *args[i]);
  size_t before = s.heap.functions.size();
  call_function(s, f, std::move(args), where);
  for (size_t i = before; i < s.heap.functions.size(); ++i)
    if (FunctionObject& g = s.heap.functions[i]; inside(f, g)) g.made_by = f.name + "[" + shown + "]";
}
}  // namespace

std::vector<std::string> maker_params(Session& s, FileId file) {
  std::vector<std::string> out;
  for (FunctionObject* f : makers_of(s, file))
    for (const ast::Param& p : f->params->list) out.push_back(p.name);
  return out;
}

std::vector<FunctionObject*> run_makers(Session& s, FileId file) {
  std::vector<FunctionObject*> failed;
  for (FunctionObject* f : makers_of(s, file)) {
    if (has_run(s, *f)) continue;
    try {
      run_maker(s, *f, {}, f->where);
      if (!has_run(s, *f)) fail(f->where, "'" + f->name + "' defines no kernel with these arguments");
    } catch (const Failure& failure) {
      if (failure.fatal) throw;
      s.unresolved.emplace_back(f->where, failure.diag.message);
      failed.push_back(f);
    }
  }
  return failed;
}

FunctionObject* made_kernel(Session& s, const std::string& name, FileId file, Named& args, const SourceRange& where) {
  for (FunctionObject* f : makers_of(s, file)) {
    bool named = f->name == name || std::any_of(f->inner_kernels.begin(), f->inner_kernels.end(),
                                                [&](const InnerKernel& k) { return k.name == name; });
    if (!named) continue;
    Named own, rest;
    for (auto& [param, value] : args) {
      bool of_maker = std::any_of(f->params->list.begin(), f->params->list.end(),
                                  [&](const ast::Param& p) { return p.name == param; });
      (of_maker ? own : rest).emplace_back(param, value);
    }
    size_t before = s.heap.functions.size();
    run_maker(s, *f, own, where);
    FunctionObject* made = nullptr;
    for (size_t i = before; i < s.heap.functions.size(); ++i)
      if (FunctionObject& g = s.heap.functions[i]; inside(*f, g) && (f->name == name || g.name == name)) made = &g;
    if (!made) fail(where, "'" + f->name + "' defines no kernel '" + name + "' with these arguments");
    args = std::move(rest);
    return made;
  }
  return nullptr;
}

}  // namespace tc::eval
