// tilec FILE [-o DIR] …: the compiler. Contract: docs/tools.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "tools/pipeline.h"
#include "tools/verdict.h"

namespace tc::tools {
namespace {

struct Options {
  std::string file, folder, arch = "sm_90a", kernel, print_after, backend, format = "text", obligations;
  std::vector<std::string> args, pass_configs, emit;
  std::string manifest;
  std::vector<std::string> bounds;
  bool prove = false, explain = false, all_configs = false;
  int timeout = 120;
};

// What --emit names, the suffix of its file, and whether it is text.
struct Product {
  std::string_view name, suffix;
  bool text;
};
constexpr Product kProducts[] = {{"ir", ".ir", true},
                                 {"device", ".device.ir", true},
                                 {"cuda", ".cu", true},
                                 {"host", ".host.c", true},
                                 {"ptx", ".ptx", true},
                                 {"cubin", ".cubin", false},
                                 {"manifest", ".manifest.txt", true}};
constexpr std::string_view kLater[] = {"fatbin", "sass", "cute", "adapter", "graph"};

const Product* product(std::string_view name) {
  for (const Product& p : kProducts)
    if (p.name == name) return &p;
  return nullptr;
}

struct Output {
  std::string name;  // file name in the folder
  std::string text;
};

Result<std::string> make(const Product& p, const Lowered& l, const std::string& name, const Options& o) {
  if (p.name == "device") return ir::print(l.device);
  if (p.name == "cuda") return l.cuda;
  if (p.name == "host") return l.host;
  if (p.name == "manifest") return runtime::print_manifest(l.manifest);
  auto ptx = toolchain::compile_to_ptx(*backend_named(o.backend), name + ".cu", l.cuda, l.device.arch, o.timeout);
  if (!ptx.ok() || p.name == "ptx") return ptx;
  return toolchain::assemble(*ptx, l.device.arch, nullptr, o.timeout);
}

void print_after(const Options& o, std::string_view pass, const ir::Module& m) {
  if (o.print_after == pass || o.print_after == "all")
    std::printf("// after %s\n%s", std::string(pass).c_str(), ir::print(m).c_str());
}

// Usage errors that CLI11 does not see; 0 if none.
int check(const Options& o) {
  for (const std::string& e : o.emit) {
    if (product(e)) continue;
    if (std::find(std::begin(kLater), std::end(kLater), e) != std::end(kLater))
      return refuse_option("tilec", "--emit " + e);
    std::fprintf(stderr, "tilec: error: --emit has no product '%s'\n", e.c_str());
    return kExitInput;
  }
  if (o.backend == "nvrtc") return refuse_option("tilec", "--backend nvrtc");
  if (!backend_named(o.backend)) {
    std::fprintf(stderr, "tilec: error: no backend '%s' (clang, nvcc)\n", o.backend.c_str());
    return kExitInput;
  }
  if (o.folder.empty() && (o.emit.size() > 1 || (o.emit.size() == 1 && !product(o.emit[0])->text))) {
    std::fprintf(stderr, "tilec: error: several products or a binary one need -o DIR\n");
    return kExitInput;
  }
  bool known = o.print_after.empty() || o.print_after == "all" || o.print_after == "eval";
  for (const ir::PassInfo& p : ir::passes()) known = known || o.print_after == p.name;
  if (known) return 0;
  std::fprintf(stderr, "tilec: error: --print-after: no pass '%s'\n", o.print_after.c_str());
  return kExitInput;
}

// Lowers, proves and makes the products of one kernel. Returns its exit code.
int compile_kernel(const Kernel& k, const std::string& name, const Options& o, const verify::JudgeOptions& judging,
                   std::vector<Output>& outputs, std::vector<KernelReport>& verdicts) {
  std::vector<std::string> explain;
  print_after(o, "eval", k.module);
  if (std::ranges::find(o.emit, "ir") != o.emit.end()) outputs.push_back({name + ".ir", ir::print(k.module)});
  bool only_ir = o.emit == std::vector<std::string>{"ir"} && !o.prove && !o.explain && o.print_after.empty();
  if (only_ir) return kExitOk;
  auto device = to_device(k, o.explain ? &explain : nullptr,
                          [&](const ir::PassInfo& pass, const ir::Module& m) { print_after(o, pass.name, m); });
  for (const std::string& line : explain) std::printf("%s\n", line.c_str());
  if (!device.ok()) {
    if (o.prove) verdicts.push_back(failed_lowering(k, device.error(), judging).report);
    else report(device.error());
    return exit_code_of(device.error());
  }
  if (o.prove) {
    verdicts.push_back(judge_device(k, *device, judging).report);
    if (int code = exit_code(std::span(&verdicts.back(), 1), false)) return code;
  }
  const ir::Func& f = device->funcs[0];
  Lowered l{*device, codegen::print_cuda(*device, f), codegen::print_host(*device, f),
            codegen::make_manifest(*device, f)};
  for (const std::string& e : o.emit) {
    if (e == "ir") continue;
    auto text = make(*product(e), l, name, o);
    if (!text.ok()) {
      report(text.error());
      return exit_code_of(text.error());
    }
    outputs.push_back({name + std::string(product(e)->suffix), std::move(*text)});
  }
  return kExitOk;
}

int write(const std::vector<Output>& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    std::fprintf(stderr, "tilec: error: %s: %s\n", folder.c_str(), error.message().c_str());
    return kExitInput;
  }
  for (const Output& o : outputs)
    if (Status s = write_file(folder + "/" + o.name, o.text); !s) {
      report(s.error());
      return kExitInput;
    }
  return kExitOk;
}

int run(Options o) {
  if (int code = check(o)) return code;
  eval::EvalOptions eval{
      .arch = o.arch, .kernel = o.kernel, .all_configs = o.all_configs, .manifest = o.manifest, .bounds = {}};
  if (!split_settings("tilec", "--arg", o.args, eval.args) ||
      !split_settings("tilec", "--pass-config", o.pass_configs, eval.pass_configs))
    return kExitInput;
  for (const std::string& bound : o.bounds)
    if (Status set = eval::set_bound(eval.bounds, bound); !set) {
      std::fprintf(stderr, "tilec: --bound: %s\n", set.error().message.c_str());
      return kExitInput;
    }
  if (!find_arch(o.arch)) {
    std::fprintf(stderr, "tilec: error: no target '%s'\n", o.arch.c_str());
    return kExitInput;
  }
  verify::JudgeOptions judging;
  judging.timeout_seconds = o.timeout;
  if (!o.obligations.empty()) {
    auto selected = verify::parse_obligations(o.obligations);
    if (!selected) {
      std::fprintf(stderr, "tilec: error: --obligations %s is no list of numbers and ranges within 0-8\n",
                   o.obligations.c_str());
      return kExitInput;
    }
    judging.obligations = *selected;
  }
  FileKind kind = file_kind(o.file);
  if (kind != FileKind::python && kind != FileKind::ir) {
    std::fprintf(stderr, "tilec: error: %s: tilec takes .py and .ir files\n", o.file.c_str());
    return kExitInput;
  }
  bool wants_ptx = toolchain::has_clang() || toolchain::find_tool("nvcc");
  if (o.emit.empty() && !o.folder.empty())
    o.emit = wants_ptx ? std::vector<std::string>{"ir", "cuda", "host", "manifest", "ptx"}
                       : std::vector<std::string>{"ir", "cuda", "host", "manifest"};
  if (o.emit.empty() && o.print_after.empty() && !o.explain && !o.prove) o.emit = {"cuda"};
  Program program = load_program(o.file, eval);
  int code = kExitOk;
  std::vector<KernelReport> verdicts;
  for (const Diag& d : program.warnings) report(d);
  for (const Diag& d : program.diags) {
    report(d);
    verdicts.push_back(failed_input(o.file, d));
    code = worse_exit(code, exit_code_of(d));
  }
  std::vector<Output> outputs;
  std::vector<std::string> names = file_names(program.kernels);
  for (size_t i = 0; i < program.kernels.size(); ++i)
    code = worse_exit(code, compile_kernel(program.kernels[i], names[i], o, judging, outputs, verdicts));
  if (o.format == "json") std::fputs(json_report("tilec", verdicts).c_str(), stdout);
  else if (o.prove) std::fputs(text_report(verdicts, true).c_str(), stdout);
  if (o.prove && code != kExitOk) return code;
  if (!o.folder.empty()) return worse_exit(code, write(outputs, o.folder));
  if (o.emit == std::vector<std::string>{"ir"}) std::fputs(ir::print(program.module).c_str(), stdout);
  else
    for (const Output& out : outputs) std::fputs(out.text.c_str(), stdout);
  return code;
}

}  // namespace
}  // namespace tc::tools

int main(int argc, char** argv) {
  tc::tools::Options o;
  CLI::App app{"tilec: tile programs to CUDA, with a proof if asked"};
  app.add_option("FILE", o.file, "a .py tile program or an .ir module")->required();
  app.add_option("-o", o.folder, "folder for the products");
  app.add_option("--arch", o.arch, "target (default sm_90a)");
  app.add_option("--kernel", o.kernel, "only this factory or prim_func");
  app.add_option("--arg", o.args, "NAME=VALUE of the specialisation")->allow_extra_args(false);
  app.add_option("--pass-config", o.pass_configs, "KEY=VALUE")->allow_extra_args(false);
  app.add_option("--manifest", o.manifest, "a manifest, or a folder of them (default: beside the file)");
  app.add_flag("--all-configs", o.all_configs, "every configuration of @autotune, not the first");
  app.add_option("--bound", o.bounds,
                 "NAME=N: a bound on the evaluation (steps, calls, items, operations, modules, errors)")
      ->allow_extra_args(false);
  app.add_flag("--prove", o.prove, "write nothing unless every obligation is proved");
  app.add_option("--obligations", o.obligations, "which to judge, as 0-4 or 0,2,3 (default all)");
  app.add_option("--emit", o.emit, "ir,device,cuda,host,ptx,cubin,manifest; ir: the tile program, device: lowered")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--print-after", o.print_after, "print the IR after a pass, 'eval' or 'all'");
  app.add_flag("--explain-selection", o.explain, "say which instruction each gemm and copy became, and why");
  app.add_option("--backend", o.backend, "clang, nvcc");
  app.add_option("--timeout", o.timeout, "seconds");
  app.add_option("--format", o.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : tc::tools::kExitInput;
  }
  return tc::tools::run(std::move(o));
}
