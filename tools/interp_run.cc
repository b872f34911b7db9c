// interp_run FILE --kernel NAME[args] --tensors DIR: runs one kernel of a file by the tile interpreter on the tensors
// DIR/PARAM.npy and writes them back as DIR/PARAM.out.npy; for comparisons with other implementations. A tensor without
// a file has small numbers (floats: -3 … 3, integers: 0); a scalar without one is --extent. Extents known at the launch
// are those of the files, --symbol NAME=VALUE or --extent. DIR/memory.0.npy, memory.1.npy … are global memory that only
// pointers lead to: number N lies at address (N + 1) << 40, parameter N at (N + 1) << 32. Without --tensors nothing is
// read or written. --describe prints a line of JSON a kernel instead: index, instance, parameters.
// Exit 0: it ran; 1: the interpreter found an error; 2: the input is wrong.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "compiler/interp/interp.h"
#include "runtime/npy.h"
#include "tools/pipeline.h"
#include "tools/verdict.h"

namespace tc::tools {
namespace {

struct Options {
  std::string file, kernel, folder, manifest, arch = "sm_90a";
  std::vector<std::string> args, symbols;
  int index = 0;
  unsigned threads = 2;
  int64_t extent = 64, steps = 200'000'000;
  bool describe = false;
};
using Symbols = std::vector<std::pair<std::string, int64_t>>;

std::optional<runtime::Tensor> read(const std::string& file, runtime::DType as) {
  auto given = runtime::read_npy(file, as);
  if (given) return std::move(*given);
  std::fprintf(stderr, "interp_run: error: %s\n", given.error().message.c_str());
  return std::nullopt;
}

// The parameter's tensor: from its file, else of its shape.
std::optional<runtime::Tensor> tensor_of(const Options& o, const Kernel& k, ir::ValueId v, const Symbols& symbols) {
  const ir::Value& p = k.module[v];
  auto dtype = ir::runtime_dtype(p.type.dtype);
  std::string file = o.folder + "/" + p.name + ".npy";
  if (!o.folder.empty() && std::filesystem::exists(file)) {
    auto t = read(file, dtype.value_or(runtime::DType::u8));
    if (t) t->name = p.name;
    return t;
  }
  runtime::Tensor t{.name = p.name, .dtype = dtype.value_or(runtime::DType::u8), .shape = {}, .bytes = {}};
  uint64_t count = p.type.lanes;
  constexpr uint64_t kMaxElements = uint64_t{1} << 32;
  for (int64_t e : ir::shape_at_launch(k.module, k.func(), p.type, symbols)) {
    uint64_t extent = t.shape.emplace_back(static_cast<uint64_t>(std::max<int64_t>(0, e)));
    if (extent && count > kMaxElements / extent) {
      std::fprintf(stderr, "interp_run: error: '%s' has more than 2^32 elements\n", p.name.c_str());
      return std::nullopt;
    }
    count *= extent;
  }
  t.bytes.assign((count * info(p.type.dtype).bits + 7) / 8, 0);
  bool is_scalar = p.type.kind == ir::TypeKind::scalar;
  if (dtype && is_scalar) t.set(0, static_cast<double>(o.extent));
  else if (dtype && is_float(p.type.dtype))
    for (uint64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(i % 7) - 3);
  return t;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') out += c;
  }
  return out + "\"";
}

// Which parameters the kernel reads, and so have to hold something before it runs, and which it writes.
struct Uses {
  std::vector<bool> read, written;
};
Uses uses_of(const ir::Module& m, const ir::Func& f) {
  Uses uses{std::vector<bool>(f.params.size(), false), std::vector<bool>(f.params.size(), false)};
  std::vector<ir::ValueId> root(m.values.size());  // of views
  for (ir::ValueId p : f.params) root[p.index] = p;
  ir::walk(m, f.body, [&](ir::OpId id) {
    const ir::Op& op = m[id];
    if (op.kind == ir::OpKind::view) root[op.results[0].index] = root[op.operands[0].index];
    for (size_t n = 0; n < op.operands.size(); ++n) {
      char role = ir::operand_role(op, n);
      ir::ValueId buffer = root[ir::buffer_of(m, op.operands[n]).index];
      auto at = std::find(f.params.begin(), f.params.end(), buffer);
      if (at == f.params.end()) continue;
      size_t i = static_cast<size_t>(at - f.params.begin());
      if (role != 'w' && role != 'b') uses.read[i] = true;
      if (role == 'w' || role == 'u') uses.written[i] = true;
    }
  });
  return uses;
}

// {"index": 0, "kernel": "main", "instance": "main[M=8]", "symbols": ["n"],
//  "params": [{"name": "A", "dtype": "f16", "bits": 16, "lanes": 1, "scalar": false, "shape": [8], "input": true,
//  "output": false}]}
void describe(const Kernel& k, size_t index, const Symbols& symbols) {
  const ir::Func& f = k.func();
  std::string names, params;
  Uses uses = uses_of(k.module, f);
  for (ir::ValueId v : f.symbols) names += (names.empty() ? "" : ", ") + json_text(k.module[v].name);
  for (size_t i = 0; i < f.params.size(); ++i) {
    const ir::Value& p = k.module[f.params[i]];
    std::string shape;
    for (int64_t e : ir::shape_at_launch(k.module, f, p.type, symbols))
      shape += (shape.empty() ? "" : ", ") + std::to_string(e);
    params += std::string(i ? ", " : "") + "{\"name\": " + json_text(p.name) +
              ", \"dtype\": " + json_text(info(p.type.dtype).short_name) +
              ", \"bits\": " + std::to_string(info(p.type.dtype).bits) +
              ", \"lanes\": " + std::to_string(p.type.lanes) +
              ", \"scalar\": " + (p.type.kind == ir::TypeKind::scalar ? "true" : "false") + ", \"shape\": [" + shape +
              "], \"input\": " + (uses.read[i] ? "true" : "false") +
              ", \"output\": " + (uses.written[i] ? "true" : "false") + "}";
  }
  std::printf("{\"index\": %zu, \"kernel\": %s, \"instance\": %s, \"symbols\": [%s], \"params\": [%s]}\n", index,
              json_text(f.name).c_str(), json_text(f.instance).c_str(), names.c_str(), params.c_str());
}

std::optional<std::vector<runtime::Tensor>> extra_memory(const Options& o) {
  std::vector<runtime::Tensor> memory;
  while (!o.folder.empty()) {
    std::string name = "memory." + std::to_string(memory.size()), file = o.folder + "/" + name + ".npy";
    if (!std::filesystem::exists(file)) break;
    auto t = read(file, runtime::DType::u8);
    if (!t) return std::nullopt;
    t->name = name;
    memory.push_back(std::move(*t));
  }
  return memory;
}

bool write(const Options& o, const std::vector<runtime::Tensor>& tensors) {
  for (const runtime::Tensor& t : tensors)
    if (auto written = runtime::write_npy(o.folder + "/" + t.name + ".out.npy", t); !written) {
      std::fprintf(stderr, "interp_run: error: %s\n", written.error().message.c_str());
      return false;
    }
  return true;
}

// Values of the symbols: as given, else the extent of a tensor that has a file, else --extent.
std::optional<Symbols> symbols_of(const Options& o, const Kernel& k) {
  Symbols given, all;
  std::vector<std::pair<std::string, std::string>> texts;
  if (!split_settings("interp_run", "--symbol", o.symbols, texts)) return std::nullopt;
  for (const auto& [name, value] : texts) {
    int64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    bool known = std::any_of(k.func().symbols.begin(), k.func().symbols.end(),
                             [&](ir::ValueId v) { return k.module[v].name == name; });
    if (error != std::errc() || end != value.data() + value.size() || !known) {
      std::fprintf(stderr, "interp_run: error: --symbol %s=%s: %s\n", name.c_str(), value.c_str(),
                   known ? "an integer is expected" : "the kernel has no such extent");
      return std::nullopt;
    }
    given.emplace_back(name, number);
  }
  for (ir::ValueId v : k.func().symbols) {
    auto same = [&](const auto& s) { return s.first == k.module[v].name; };
    auto it = std::find_if(given.begin(), given.end(), same);
    all.emplace_back(k.module[v].name, it == given.end() ? o.extent : it->second);
  }
  return all;
}

int run_kernel(const Options& o, const Kernel& k) {
  auto symbols = symbols_of(o, k);
  if (!symbols) return kExitInput;
  std::vector<runtime::Tensor> tensors;
  for (ir::ValueId v : k.func().params) {
    auto t = tensor_of(o, k, v, *symbols);
    if (!t) return kExitInput;
    tensors.push_back(std::move(*t));
  }
  auto memory = extra_memory(o);
  if (!memory) return kExitInput;
  ir::InterpOptions options{.threads = o.threads, .max_steps = o.steps, .memory = *memory, .symbols = {}};
  if (!o.symbols.empty()) options.symbols = *symbols;
  if (Status s = ir::interpret(k.module, k.func(), tensors, options); !s) {
    report(s.error());
    return kExitFinding;
  }
  if (!o.folder.empty() && !(write(o, tensors) && write(o, *memory))) return kExitInput;
  std::printf("%s\n", k.func().instance.c_str());
  return kExitOk;
}

int run(const Options& o) {
  eval::EvalOptions eval{.arch = o.arch, .kernel = o.kernel, .manifest = o.manifest};
  if (!split_settings("interp_run", "--arg", o.args, eval.args)) return kExitInput;
  Program program = load_program(o.file, eval);
  for (const Diag& d : program.diags) report(d);
  if (o.describe) {
    for (size_t i = 0; i < program.kernels.size(); ++i)
      if (auto symbols = symbols_of(o, program.kernels[i])) describe(program.kernels[i], i, *symbols);
    return program.diags.empty() ? kExitOk : kExitInput;
  }
  if (o.index < 0 || static_cast<size_t>(o.index) >= program.kernels.size()) {
    std::fprintf(stderr, "interp_run: error: %s has %zu such kernels\n", o.file.c_str(), program.kernels.size());
    return kExitInput;
  }
  // What is wrong with other kernels of the file is no matter of this one; what is wrong with the request is.
  bool request = std::any_of(program.diags.begin(), program.diags.end(), [&](const Diag& d) {
    return d.where.line == 0 || source_file_name(d.where.file) != o.file;
  });
  if (request) return kExitInput;
  return run_kernel(o, program.kernels[static_cast<size_t>(o.index)]);
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
  app.add_option("--manifest", o.manifest, "a manifest, or a folder of manifests");
  app.add_option("--extent", o.extent, "of tensors without a file, where it is known at the launch only");
  app.add_option("--symbol", o.symbols, "NAME=VALUE of an extent known at the launch")->allow_extra_args(false);
  app.add_option("--steps", o.steps, "operations that a CTA may execute");
  app.add_option("--threads", o.threads, "host threads");
  app.add_option("--arch", o.arch, "target (default sm_90a)");
  app.add_option("--arg", o.args, "NAME=VALUE of the specialisation")->allow_extra_args(false);
  app.add_flag("--describe", o.describe, "print the kernels and their parameters, run nothing");
  CLI11_PARSE(app, argc, argv);
  return tc::tools::run(o);
}
