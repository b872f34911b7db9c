// interp_run FILE --kernel NAME[args] --tensors DIR: runs one kernel of a file by the tile interpreter on the tensors
// DIR/PARAM.npy and writes them back as DIR/PARAM.out.npy; for comparisons with other implementations. A tensor without
// a file has small numbers (floats: -3 … 3, integers: 0) and --extent for an extent known at the launch. Without
// --tensors nothing is read or written. Exit 0: it ran; 1: the interpreter found an error; 2: the input is wrong.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "compiler/ir/interp.h"
#include "runtime/npy.h"
#include "tools/pipeline.h"

namespace tc::tools {
namespace {

struct Options {
  std::string file, kernel, folder, arch = "sm_90a";
  std::vector<std::string> args;
  int index = 0;
  uint64_t extent = 64;
  int64_t steps = 200'000'000;
};

// The parameter's tensor: from its file, else of its shape.
std::optional<runtime::Tensor> tensor_of(const Options& o, const Kernel& k, ir::ValueId v) {
  const ir::Value& p = k.module[v];
  auto dtype = ir::runtime_dtype(p.type.dtype);
  std::string file = o.folder + "/" + p.name + ".npy";
  if (!o.folder.empty() && std::filesystem::exists(file)) {
    auto given = runtime::read_npy(file, dtype ? dtype : std::optional(runtime::DType::u8));
    if (!given) {
      std::fprintf(stderr, "interp_run: error: %s\n", given.error().message.c_str());
      return std::nullopt;
    }
    runtime::Tensor t = std::move(*given);
    t.name = p.name;
    return t;
  }
  runtime::Tensor t{.name = p.name, .dtype = dtype.value_or(runtime::DType::u8), .shape = {}, .bytes = {}};
  uint64_t count = p.type.lanes;
  for (const ir::MetaInt& e : p.type.shape) {
    bool is_symbol = e.dynamic() && k.module[e.expr].kind == ir::MetaKind::symbol;
    if (e.dynamic() && !is_symbol) {
      std::fprintf(stderr, "interp_run: error: '%s' has an extent that follows from others and needs a file\n",
                   p.name.c_str());
      return std::nullopt;
    }
    count *= t.shape.emplace_back(e.dynamic() ? o.extent : static_cast<uint64_t>(e.value));
  }
  t.bytes.assign((count * info(p.type.dtype).bits + 7) / 8, 0);
  if (dtype && is_float(p.type.dtype))
    for (uint64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(i % 7) - 3);
  return t;
}

int run(const Options& o) {
  eval::EvalOptions eval{.arch = o.arch, .kernel = o.kernel};
  for (const std::string& a : o.args) {
    size_t eq = a.find('=');
    if (eq == std::string::npos) {
      std::fprintf(stderr, "interp_run: error: --arg takes NAME=VALUE, not '%s'\n", a.c_str());
      return kExitInput;
    }
    eval.args.emplace_back(a.substr(0, eq), a.substr(eq + 1));
  }
  Program program = load_program(o.file, eval);
  for (const Diag& d : program.diags) report(d);
  if (o.index < 0 || static_cast<size_t>(o.index) >= program.kernels.size()) {
    std::fprintf(stderr, "interp_run: error: %s has %zu such kernels\n", o.file.c_str(), program.kernels.size());
    return kExitInput;
  }
  const Kernel& k = program.kernels[static_cast<size_t>(o.index)];
  std::vector<runtime::Tensor> tensors;
  for (ir::ValueId v : k.func().params) {
    auto t = tensor_of(o, k, v);
    if (!t) return kExitInput;
    tensors.push_back(std::move(*t));
  }
  if (Status s = ir::interpret(k.module, k.func(), tensors, {.max_steps = o.steps}); !s) {
    report(s.error());
    return kExitFinding;
  }
  for (const runtime::Tensor& t : tensors)
    if (o.folder.empty()) break;
    else if (auto written = runtime::write_npy(o.folder + "/" + t.name + ".out.npy", t); !written) {
      std::fprintf(stderr, "interp_run: error: %s\n", written.error().message.c_str());
      return kExitInput;
    }
  std::printf("%s\n", k.func().instance.c_str());
  return kExitOk;
}

}  // namespace
}  // namespace tc::tools

int main(int argc, char** argv) {
  tc::tools::Options o;
  CLI::App app{"interp_run: a kernel by the tile interpreter, on .npy files"};
  app.add_option("FILE", o.file, "a .py tile program or an .ir module")->required();
  app.add_option("--kernel", o.kernel, "only this factory or prim_func");
  app.add_option("--index", o.index, "which of them, from 0");
  app.add_option("--tensors", o.folder, "folder of the .npy files");
  app.add_option("--extent", o.extent, "of tensors without a file, where it is known at the launch only");
  app.add_option("--steps", o.steps, "operations that a CTA may execute");
  app.add_option("--arch", o.arch, "target (default sm_90a)");
  app.add_option("--arg", o.args, "NAME=VALUE of the specialisation")->allow_extra_args(false);
  CLI11_PARSE(app, argc, argv);
  return tc::tools::run(o);
}
