// tilesim run|bundle|replay: the generated (or any) PTX on a CPU. Contract: docs/tools.md.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "runtime/bundle.h"
#include "runtime/device.h"
#include "runtime/npy.h"
#include "runtime/reference.h"
#include "sim/api.h"
#include "sim/ptx/module.h"
#include "specs/rule.h"
#include "tools/launch.h"
#include "tools/oracle.h"
#include "tools/verdict.h"

namespace tc::tools {
namespace {

constexpr double kTolerance = 1e-3;  // of the norm
constexpr uint64_t kSamples = 4096;
constexpr size_t kMostName = 100;
constexpr uint64_t kMostChecked = 1 << 20;         // elements of all tensors, for `check:` lines to be followed
constexpr uint64_t kMostReturned = uint64_t{1} << 30;  // bytes of an output that nobody asked for

struct Options {
  std::string file, arch = "sm_90a", kernel, compare, check = "all", schedule = "rr", format = "text", backend,
                    fill = "normal", folder, device = "cuda:0", trace;
  std::vector<std::string> args, pass_configs, inputs, outputs;
  LaunchOptions launch;
  uint64_t seed = 0;
  int runs = 1;
  double timeout = 0;
  unsigned threads = 0;
  bool bench = false, stats = false;
};

int usage(const std::string& message) {
  std::fprintf(stderr, "tilesim: error: %s\n", message.c_str());
  return kExitInput;
}

int failed(const Diag& d) {
  report(d);
  return kExitInput;
}

// One kernel ready to run: image, manifest, and the tile program if there is one.
struct Runnable {
  std::string name, image;  // name: for messages; image: PTX
  runtime::Manifest manifest;
  std::optional<ptx::Module> module;  // of image, where it has been parsed already
  std::optional<Kernel> kernel;
  // Of a bundle:
  std::vector<runtime::Tensor> given;
  std::vector<runtime::ExpectedOutput> expected;
};

void set_fill(runtime::Manifest& m, const std::string& fill) {
  for (runtime::TensorSpec& t : m.tensors)
    if (t.role == runtime::Role::in && runtime::row(t.dtype).is_float)
      t.fill = fill == "ints" ? runtime::Fill::ints : runtime::Fill::normal;
}

Result<Runnable> from_program(const Options& o) {
  eval::EvalOptions eval{.arch = o.arch, .kernel = o.kernel};
  if (!split_settings("tilesim", "--arg", o.args, eval.args) ||
      !split_settings("tilesim", "--pass-config", o.pass_configs, eval.pass_configs))
    return input_error({}, "malformed option");
  Program program = load_program(o.file, eval);
  if (!program.diags.empty()) return program.diags[0];
  if (program.kernels.size() != 1)
    return input_error({},
                       o.file + ": has " + std::to_string(program.kernels.size()) + " kernels, choose one by --kernel");
  auto l = lower(program.kernels[0]);
  if (!l.ok()) return l.error();
  Runnable r{.name = program.kernels[0].func().instance,
             .image = {},
             .manifest = l->manifest,
             .module = {},
             .kernel = std::move(program.kernels[0])};
  set_fill(r.manifest, o.fill);
  auto ptx =
      toolchain::compile_to_ptx(*backend_named(o.backend), r.kernel->func().name + ".cu", l->cuda, l->device.arch);
  if (!ptx.ok()) return ptx.error();
  r.image = std::move(*ptx);
  return r;
}

// The arch a file asks for in its header, the option's otherwise.
std::string arch_of(const Options& o, const std::string& text) {
  auto m = runtime::parse_manifest_header(text);
  return m.ok() && !m->arch.empty() ? m->arch : o.arch;
}

// CUDA that we did not write: nvcc where it is found, since the clang of the plug-in has no CUDA headers.
toolchain::Compiler compiler_of_source(const Options& o) {
  return o.backend.empty() && toolchain::find_tool("nvcc") ? toolchain::Compiler::nvcc : *backend_named(o.backend);
}

Result<Runnable> from_source(const Options& o) {
  auto text = read_file(o.file);
  if (!text.ok()) return text.error();
  Runnable r{.name = {}, .image = *text, .manifest = {}, .module = {}, .kernel = {}};
  if (file_kind(o.file) == FileKind::cuda) {
    auto ptx = toolchain::compile_to_ptx(compiler_of_source(o), o.file, *text, arch_of(o, *text));
    if (!ptx.ok()) return ptx.error();
    r.image = std::move(*ptx);
  }
  auto module = ptx::parse(r.image, file_kind(o.file) == FileKind::ptx ? o.file : o.file + ".ptx");
  if (!module.ok()) return module.error();
  r.module = std::move(*module);
  std::vector<std::string> entries;
  for (const ptx::Function* f : r.module->entries()) entries.push_back(f->name);
  LaunchOptions launch = o.launch;
  launch.kernel = o.kernel;
  auto manifest = launch_of(o.file, *text, launch, entries);
  if (!manifest.ok()) return manifest.error();
  r.manifest = std::move(*manifest);
  // Names of template instances fill a screen.
  r.name = r.manifest.kernel.size() <= kMostName ? r.manifest.kernel : r.manifest.kernel.substr(0, kMostName) + "…";
  return r;
}

Result<Runnable> from_bundle(const std::string& folder) {
  auto b = runtime::read_bundle(folder);
  if (!b) return input_error({}, b.error().message);
  Runnable r{.name = b->manifest.kernel,
             .image = b->ptx,
             .manifest = b->manifest,
             .module = {},
             .kernel = {},
             .given = b->given,
             .expected = b->expected};
  return r;
}

Result<Runnable> load(const Options& o) {
  if (std::filesystem::is_directory(o.file)) return from_bundle(o.file);
  switch (file_kind(o.file)) {
    case FileKind::python:
    case FileKind::ir: return from_program(o);
    case FileKind::cuda:
    case FileKind::ptx: return from_source(o);
    case FileKind::protocol:
    case FileKind::unknown: break;
  }
  return input_error({}, o.file + ": tilesim runs .py, .ir, .cu and .ptx files, and bundles");
}

// What a bundle brings, and what the options give in its place.
Result<std::vector<runtime::Tensor>> given_tensors(const std::vector<std::string>& settings, const Runnable& r) {
  const runtime::Manifest& m = r.manifest;
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!split_settings("tilesim", "--input", settings, pairs)) return input_error({}, "malformed option");
  std::vector<runtime::Tensor> tensors = r.given;
  for (const auto& [name, path] : pairs) {
    const runtime::TensorSpec* spec = m.tensor_named(name);
    if (!spec) return input_error({}, "--input: the kernel has no tensor " + name);
    auto t = runtime::read_npy(path, spec->dtype);
    if (!t) return input_error({}, path + ": " + t.error().message);
    t->name = name;
    std::erase_if(tensors, [&](const runtime::Tensor& old) { return old.name == t->name; });
    tensors.push_back(std::move(*t));
  }
  return tensors;
}

// What outputs are compared with.
struct Reference {
  std::vector<runtime::Tensor> tensors;           // interp, .npy
  std::vector<runtime::ExpectedOutput> expected;  // .txt
};

// The intended results that the file states (`check:`), where that is not too much work; those of a bundle.
Result<Reference> intended(const Runnable& r, const std::vector<runtime::Tensor>& given) {
  Reference ref;
  ref.expected = r.expected;
  uint64_t elements = 0;
  for (const runtime::TensorSpec& t : r.manifest.tensors) elements += t.elements();
  if (r.manifest.checks.empty() || r.kernel || elements > kMostChecked) return ref;
  auto inputs = runtime::make_inputs(r.manifest, given);
  if (!inputs) return input_error({}, inputs.error().message);
  for (const std::string& check : r.manifest.checks) {
    auto out = runtime::expected_output(r.manifest, *inputs, check);
    if (!out) return input_error({}, "check: " + check + ": " + out.error().message);
    ref.tensors.push_back(std::move(*out));
  }
  return ref;
}

Result<Reference> reference(const Options& o, const Runnable& r, const std::vector<runtime::Tensor>& given) {
  Reference ref;
  if (o.compare == "none") return ref;
  if (o.compare.empty()) return intended(r, given);
  if (o.compare == "interp") {
    auto inputs = runtime::make_inputs(r.manifest, given);
    if (!inputs) return input_error({}, inputs.error().message);
    if (!r.kernel) return input_error({}, "--compare interp needs a tile program");
    auto out = run_oracle(*r.kernel, *inputs);
    if (!out.ok()) return out.error();
    for (const runtime::TensorSpec& t : r.manifest.tensors)
      if (t.role != runtime::Role::in) ref.tensors.push_back(*runtime::tensor_named(*out, t.name));
    return ref;
  }
  if (o.compare.ends_with(".txt")) {
    auto text = read_file(o.compare);
    if (!text.ok()) return text.error();
    auto list = runtime::parse_expected(*text);
    if (!list) return input_error({}, o.compare + ": " + list.error().message);
    ref.expected = std::move(*list);
    return ref;
  }
  for (const runtime::TensorSpec& t : r.manifest.tensors) {
    if (t.role == runtime::Role::in) continue;
    if (!ref.tensors.empty()) return input_error({}, "--compare FILE.npy: the kernel has several outputs");
    auto tensor = runtime::read_npy(o.compare, t.dtype);
    if (!tensor) return input_error({}, o.compare + ": " + tensor.error().message);
    tensor->name = t.name;
    ref.tensors.push_back(std::move(*tensor));
  }
  return ref;
}

// "" and equal, or what differs; `said` collects a phrase for the summary.
bool compare(const Reference& ref, const std::vector<runtime::Tensor>& outputs, std::string& said) {
  bool equal = true;
  char buffer[128];
  for (const runtime::Tensor& want : ref.tensors) {
    const runtime::Tensor* got = runtime::tensor_named(outputs, want.name);
    runtime::Distance d = got ? runtime::distance(*got, want) : runtime::Distance{};
    bool good = d.comparable && d.finite && d.relative <= kTolerance;
    equal = equal && good;
    std::snprintf(buffer, sizeof buffer, "%s%s: relative error %.3g", said.empty() ? "" : ", ", want.name.c_str(),
                  d.relative);
    said += d.comparable ? buffer : want.name + " is missing or of another shape";
    if (d.comparable && !d.finite) said += " (not finite: never written?)";
    if (!good && d.finite) said += ", largest difference at element " + std::to_string(d.largest_at);
  }
  for (const runtime::ExpectedOutput& want : ref.expected) {
    const runtime::Tensor* got = runtime::tensor_named(outputs, want.tensor);
    runtime::Comparison c = got ? runtime::compare(*got, want) : runtime::Comparison{false, 1, "missing"};
    equal = equal && c.equal;
    said += (said.empty() ? "" : ", ") + want.tensor + ": " + c.detail;
  }
  return equal;
}

ObligationReport as_obligation(const Diag& d) {
  ObligationReport o{.id = "-", .rule = d.rule, .status = Verdict::refuted, .method = "simulation"};
  if (const Rule* rule = find_rule(d.rule)) {
    o.id = rule->obligation;
    o.defect = rule->defect;
  }
  o.where = d.where;
  o.message = d.message;
  o.notes = d.notes;
  return o;
}

std::optional<sim::Schedule> schedule_named(const std::string& name) {
  if (name == "rr") return sim::Schedule::rr;
  if (name == "random") return sim::Schedule::random;
  if (name == "adversarial") return sim::Schedule::adversarial;
  return std::nullopt;
}

// Long runs say where they are, on a terminal.
void progress_line(uint64_t done, uint64_t all, double seconds) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%llu of %llu clusters, %.0f s ", static_cast<unsigned long long>(done),
                                          static_cast<unsigned long long>(all), seconds);
}

int write_outputs(const Options& o, const std::vector<runtime::Tensor>& outputs) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!split_settings("tilesim", "--output", o.outputs, pairs)) return kExitInput;
  for (const auto& [name, path] : pairs) {
    const runtime::Tensor* t = runtime::tensor_named(outputs, name);
    if (!t) return usage("--output: the kernel has no output " + name);
    if (auto done = runtime::write_npy(path, *t); !done) return usage(done.error().message);
  }
  return kExitOk;
}

int run_command(const Options& o) {
  auto schedule = schedule_named(o.schedule);
  if (!schedule) return usage("--schedule is rr, random or adversarial");
  const auto checks = sim::parse_checks(o.check);
  if (!checks) return usage("--check is one of, or several with commas between: " + sim::check_names());
  if (o.runs < 1) return usage("--runs is at least 1");
  if (!backend_named(o.backend)) return usage("no backend '" + o.backend + "' (clang, nvcc)");
  auto start = std::chrono::steady_clock::now();
  auto r = load(o);
  if (!r.ok()) return r.error().kind == DiagKind::violation ? (report(r.error()), kExitFinding) : failed(r.error());
  if (!r->module) {
    auto module = ptx::parse(r->image, r->name + ".ptx");
    if (!module.ok()) return failed(module.error());
    r->module = std::move(*module);
  }
  auto given = given_tensors(o.inputs, *r);
  if (!given.ok()) return failed(given.error());
  auto ref = reference(o, *r, *given);
  if (!ref.ok()) return failed(ref.error());

  KernelReport k{.name = r->name, .file = o.file, .line = 1, .arch = r->manifest.arch, .level = "ptx"};
  k.verdict = Verdict::proved;
  int code = kExitOk;
  std::string said;
  uint64_t instructions = 0;
  double seconds = 0;
  for (int i = 0; i < o.runs && code == kExitOk; ++i) {
    sim::Options options{.schedule = *schedule,
                         .seed = o.seed + static_cast<uint64_t>(i),
                         .checks = *checks,
                         .threads = o.threads,
                         .timeout_seconds = o.timeout,
                         .output_limit = o.outputs.empty() && o.compare.empty() ? kMostReturned : 0,
                         .trace = !o.trace.empty() && i == 0,
                         .progress = progress_line};
    auto result = sim::run(*r->module, r->manifest, *given, options);
    if (!result.ok()) return failed(result.error());
    if (!result->printed.empty() && o.format == "text") std::fputs(result->printed.c_str(), stdout);
    if (options.trace)
      if (Status s = write_file(o.trace, result->trace); !s.ok()) return failed(s.error());
    seconds += result->seconds;
    std::string where = std::string(o.schedule) + ", seed " + std::to_string(options.seed);
    instructions += result->instructions;
    said.clear();
    for (const Diag& d : result->findings) {
      k.obligations.push_back(as_obligation(d));
      if (o.format == "text") report(d);
    }
    if (result->outcome == sim::Outcome::limit) code = kExitUnknown;
    else if (result->outcome != sim::Outcome::clean) code = kExitFinding;
    bool equal = compare(*ref, result->outputs, said);
    if (code == kExitOk && !equal) {
      code = kExitFinding;
      k.obligations.push_back({.id = "4",
                               .rule = "FLOW-01",
                               .defect = "smem-race",
                               .status = Verdict::refuted,
                               .method = "simulation",
                               .message = "the result differs: " + said});
    }
    if (code != kExitOk)
      said = std::string(sim::name_of(result->outcome)) + " under " + where + (said.empty() ? "" : "; " + said);
    if (i + 1 == o.runs || code != kExitOk)
      if (int bad = write_outputs(o, result->outputs)) return bad;
  }
  k.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (code == kExitFinding) k.verdict = Verdict::refuted;
  if (code == kExitUnknown) k.verdict = Verdict::unknown;
  if (o.format == "json") {
    std::fputs(json_report("tilesim", std::span(&k, 1)).c_str(), stdout);
    return code;
  }
  if (o.stats)
    std::printf("%llu warp instructions in %.4f s: %.3f G thread instructions a second with all lanes active\n",
                static_cast<unsigned long long>(instructions), seconds,
                32 * static_cast<double>(instructions) / std::max(seconds, 1e-9) * 1e-9);
  std::string runs = o.runs == 1 ? "seed " + std::to_string(o.seed)
                                 : "seeds " + std::to_string(o.seed) + "–" +
                                       std::to_string(o.seed + static_cast<uint64_t>(o.runs) - 1);
  if (code == kExitOk)
    std::printf("%s: clean under %s, %s%s%s\n", r->name.c_str(), o.schedule.c_str(), runs.c_str(),
                said.empty() ? "" : "; ", said.c_str());
  else std::printf("%s: %s\n", r->name.c_str(), said.c_str());
  return code;
}

int bundle_command(const Options& o) {
  if (o.folder.empty()) return usage("bundle needs -o DIR");
  auto r = load(o);
  if (!r.ok()) return failed(r.error());
  auto inputs = runtime::make_inputs(r->manifest);
  if (!inputs) return usage(inputs.error().message);
  runtime::Bundle b{.manifest = r->manifest, .ptx = r->image, .cubin = {}, .given = {}, .expected = {}};
  // The cubin is nvcc's where there is one, so that a replay sees both compilers.
  if (toolchain::find_tool("ptxas")) {
    std::string ptx = r->image;
    if (toolchain::find_tool("nvcc") && r->kernel) {
      Options other = o;
      other.backend = "nvcc";
      if (auto n = load(other); n.ok()) ptx = n->image;
    }
    auto cubin = toolchain::assemble(ptx, r->manifest.arch.empty() ? o.arch : r->manifest.arch);
    if (!cubin.ok()) return failed(cubin.error());
    b.cubin = std::move(*cubin);
  }
  if (r->kernel && r->kernel->module.level == ir::Level::tile) {
    auto out = run_oracle(*r->kernel, *inputs);
    if (!out.ok()) return failed(out.error());
    for (const runtime::TensorSpec& t : r->manifest.tensors)
      if (t.role != runtime::Role::in) {
        const runtime::Tensor& x = *runtime::tensor_named(*out, t.name);
        b.expected.push_back(o.fill == "ints" ? runtime::expect_bits(x)
                                              : runtime::expect_samples(x, kSamples, kTolerance));
      }
  }
  if (auto done = runtime::write_bundle(o.folder, b); !done) return usage(done.error().message);
  std::printf("%s: %s%s, %zu expected outputs in %s\n", r->name.c_str(), "kernel.ptx",
              b.cubin.empty() ? "" : " and kernel.cubin", b.expected.size(), o.folder.c_str());
  return kExitOk;
}

int replay_on_cuda(const runtime::Bundle& b, const Options& o) {
  runtime::DeviceOptions device{.device = std::atoi(o.device.c_str() + 5),
                                .timeout_seconds = o.timeout > 0 ? static_cast<int>(o.timeout) : 20,
                                .timed_launches = o.bench ? 20 : 0};
  if (!runtime::cuda_device_present()) return usage("no CUDA device (libcuda.so.1)");
  auto inputs = runtime::make_inputs(b.manifest, b.given);
  if (!inputs) return usage(inputs.error().message);
  int code = kExitOk;
  for (const std::string* image : {&b.ptx, &b.cubin}) {
    if (image->empty()) continue;
    auto run = runtime::run_on_cuda(b.manifest, *image, *inputs, device);
    if (!run) return usage(run.error().message);
    std::string said;
    bool equal = compare({{}, b.expected}, run->tensors, said);
    std::printf("%s: %s; %s (%s)\n", o.file.c_str(), image == &b.ptx ? "ptx" : "cubin", said.c_str(),
                run->device.c_str());
    for (double ms : run->milliseconds) std::printf("  %.4f ms\n", ms);
    if (!equal) code = kExitFinding;
  }
  return code;
}

int replay_command(const Options& o) {
  auto b = runtime::read_bundle(o.file);
  if (!b) return usage(b.error().message);
  if (o.device == "sim") return o.bench ? usage("--bench needs a CUDA device") : run_command(o);
  if (!o.device.starts_with("cuda:")) return usage("--device is cuda:N or sim");
  return replay_on_cuda(*b, o);
}

void program_options(CLI::App& c, Options& o) {
  c.add_option("FILE", o.file, "a .py, .ir, .cu or .ptx file; a bundle's folder")->required();
  c.add_option("--arch", o.arch, "target (default sm_90a)");
  c.add_option("--kernel", o.kernel, "only this factory, prim_func or .entry");
  c.add_option("--arg", o.args, "NAME=VALUE of the specialisation")->allow_extra_args(false);
  c.add_option("--pass-config", o.pass_configs, "KEY=VALUE")->allow_extra_args(false);
  c.add_option("--backend", o.backend, "clang or nvcc");
  c.add_option("--fill", o.fill, "inputs: normal or ints")->check(CLI::IsMember({"normal", "ints"}));
}

}  // namespace

int tilesim_main(int argc, char** argv) {
  Options o;
  CLI::App app{"tilesim: kernels on a CPU, and bundles for a GPU"};
  app.require_subcommand(1);
  CLI::App& run = *app.add_subcommand("run", "simulate a kernel");
  program_options(run, o);
  run.add_option("--input", o.inputs, "NAME=x.npy")->allow_extra_args(false);
  run.add_option("--output", o.outputs, "NAME=y.npy")->allow_extra_args(false);
  run.add_option("--compare", o.compare, "interp, a .npy, an expected.txt, none; default: the file's `check:` lines");
  run.add_option("--check", o.check, "sanitizers: all, none, or names with commas between; all,-NAME leaves one out");
  run.add_option("--schedule", o.schedule, "rr, random or adversarial");
  run.add_option("--seed", o.seed, "of the schedule");
  run.add_option("--runs", o.runs, "seeds from --seed on");
  run.add_option("--timeout", o.timeout, "seconds a run");
  run.add_option("--format", o.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  run.add_option("--trace", o.trace, "t.json: what happened when, for Perfetto (first seed)");
  run.add_option("--threads", o.threads, "of the host; default: all cores");
  run.add_flag("--stats", o.stats, "instructions and their rate");
  run.add_option("--grid", o.launch.grid, "x[,y[,z]] CTAs, of a .cu or .ptx file");
  run.add_option("--block", o.launch.block, "x[,y[,z]] threads");
  run.add_option("--cluster", o.launch.cluster, "x[,y[,z]] CTAs");
  run.add_option("--smem", o.launch.smem, "bytes of dynamic shared memory");
  run.add_option("--param", o.launch.params, "\"A buffer f32 65536\", \"n i32 8\" ... as in `arg:` lines, in order")
      ->allow_extra_args(false);
  CLI::App& bundle = *app.add_subcommand("bundle", "write a bundle for a GPU");
  program_options(bundle, o);
  bundle.add_option("-o", o.folder, "folder");
  CLI::App& replay = *app.add_subcommand("replay", "run a bundle");
  replay.add_option("DIR", o.file, "a bundle")->required();
  replay.add_option("--device", o.device, "cuda:N or sim");
  replay.add_option("--timeout", o.timeout, "seconds");
  replay.add_flag("--bench", o.bench, "time it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitInput;
  }
  return run.parsed() ? run_command(o) : bundle.parsed() ? bundle_command(o) : replay_command(o);
}

}  // namespace tc::tools

int main(int argc, char** argv) { return tc::tools::tilesim_main(argc, argv); }
