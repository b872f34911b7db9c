#include "tools/pipeline.h"

#include <cstdio>

#include "base/files.h"
#include "compiler/rewrite/clone.h"

namespace tc::tools {
namespace {

Kernel extract(const ir::Module& m, size_t index) {
  Kernel k{ir::empty_like(m)};
  ir::Cloner(m, k.module, nullptr).clone_function(m.funcs[index]);
  return k;
}

Program load_ir(const std::string& path, const eval::EvalOptions& options) {
  Program p;
  auto text = read_file(path);
  if (!text.ok()) return {.diags = {text.error()}};
  auto m = ir::parse(path, *text);
  if (!m.ok()) return {.diags = {m.error()}};
  if (Status s = ir::validate(*m); !s) return {.diags = {s.error()}};
  for (size_t i = 0; i < m->funcs.size(); ++i)
    if (options.kernel.empty() || m->funcs[i].name == options.kernel || m->funcs[i].instance == options.kernel)
      p.kernels.push_back(extract(*m, i));
  p.module = std::move(*m);
  if (!options.args.empty())
    p.diags.push_back(input_error({}, path + ": --arg applies to .py files, an .ir file is specialised"));
  if (p.kernels.empty() && p.diags.empty()) p.diags.push_back(input_error({}, path + ": no such kernel"));
  return p;
}

}  // namespace

FileKind file_kind(const std::string& path) {
  auto ends = [&](std::string_view s) { return path.ends_with(s); };
  if (ends(".py")) return FileKind::python;
  if (ends(".ir")) return FileKind::ir;
  if (ends(".protocol")) return FileKind::protocol;
  if (ends(".cu") || ends(".cuh")) return FileKind::cuda;
  if (ends(".ptx")) return FileKind::ptx;
  return FileKind::unknown;
}

Program load_program(const std::string& path, const eval::EvalOptions& options) {
  if (file_kind(path) == FileKind::ir) return load_ir(path, options);
  eval::Evaluated e = eval::evaluate_file(path, options);
  Program p{.diags = std::move(e.diags),
            .found = std::move(e.kernels),
            .not_followed = std::move(e.not_followed),
            .warnings = std::move(e.warnings)};
  if (Status valid = ir::validate(e.module); !valid) {  // our error: better said here than by who reads the text
    p.diags.push_back(valid.error());
    return p;
  }
  for (size_t i = 0; i < e.module.funcs.size(); ++i) p.kernels.push_back(extract(e.module, i));
  p.module = std::move(e.module);
  if (p.kernels.empty() && p.diags.empty()) p.diags.push_back(input_error({}, path + ": no kernel found"));
  return p;
}

Result<ir::Module> to_device(const Kernel& kernel, std::vector<std::string>* explain, const AfterPass& after) {
  ir::Module m = kernel.module;
  if (m.level == ir::Level::device) return m;
  auto arch = find_arch(m.arch);
  if (!arch) return input_error(kernel.func().loc, "no such target: " + m.arch);
  std::vector<Diag> warnings;
  ir::PassContext cx{.arch = *arch, .warnings = &warnings, .explain = explain};
  Status s = ir::lower_to_device(m, cx, after);
  for (const Diag& d : warnings) report(d);
  if (!s) return s.error();
  return m;
}

Result<Lowered> lower(const Kernel& kernel) {
  auto device = to_device(kernel);
  if (!device.ok()) return device.error();
  Lowered l{.device = std::move(*device)};
  const ir::Func& f = l.device.funcs[0];
  l.cuda = codegen::print_cuda(l.device, f);
  l.host = codegen::print_host(l.device, f);
  l.manifest = codegen::make_manifest(l.device, f);
  return l;
}

std::vector<std::string> file_names(const std::vector<Kernel>& kernels) {
  std::vector<std::string> names;
  for (const Kernel& k : kernels) {
    std::string base = k.func().name, name = base;
    for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = base + "_" + std::to_string(n);
    names.push_back(name);
  }
  return names;
}

std::optional<toolchain::Compiler> backend_named(const std::string& name) {
  if (name == "nvcc") return toolchain::Compiler::nvcc;
  if (name == "clang") return toolchain::Compiler::clang;
  if (!name.empty()) return std::nullopt;
  return toolchain::has_clang() || !toolchain::find_tool("nvcc") ? toolchain::Compiler::clang
                                                                 : toolchain::Compiler::nvcc;
}

int exit_code_of(const Diag& diag) { return diag.kind == DiagKind::violation ? kExitFinding : kExitInput; }

int worse_exit(int a, int b) {
  for (int code : {kExitFinding, kExitInput, kExitUnknown})
    if (a == code || b == code) return code;
  return kExitOk;
}

void report(const Diag& diag) { std::fputs(render(diag).c_str(), stderr); }

int refuse_option(const std::string& tool, const std::string& option) {
  std::fprintf(stderr, "%s: error: %s is not available yet\n", tool.c_str(), option.c_str());
  return kExitInput;
}

}  // namespace tc::tools
