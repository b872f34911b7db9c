// tilecheck: the verdict on the pipelines of a file (design.md, "The contract of the tools").
//   .py, .ir   evaluated → lowered → protocol extracted → judged       .protocol  read → judged
// Exit: 0 proved · 1 a rule is violated · 2 input, usage or something unsupported · 3 unknown or only bounded.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "specs/rule.h"
#include "tools/pipeline.h"
#include "tools/replay.h"
#include "tools/verdict.h"
#include "verifier/judge.h"

namespace tc {
namespace {

struct Options {
  std::vector<std::string> files, args, pass_configs;
  std::string manifest;
  std::vector<std::string> bounds;
  bool all_configs = false, verbose = false;
  std::string format = "text", output, obligations = "0-8", certificate, emit_smt, kernel, arch = "sm_90a", explain;
  double timeout = 30;
  int jobs = 1;
  bool allow_bounded = false, no_replay = false, list = false, list_rules = false;
};
// Options of the contract that do not work yet are refused by name.
constexpr const char* kNotYet[] = {"--simulate"};

int usage_error(const std::string& message) {
  std::fprintf(stderr, "tilecheck: error: %s\n", message.c_str());
  return 2;
}

std::string rule_text(const Rule& r) {
  return std::string(r.id) + "  " + std::string(r.text) + "\n    class " + std::string(r.defect) + ", obligation " +
         std::string(r.obligation) + ", source " + std::string(r.source) + "\n";
}

struct Outcome {
  std::vector<KernelReport> kernels;
  std::string errors, certificates, listing;
  bool input_error = false;
};

// The file holds an array with a certificate for every proved kernel.
void add_certificate(Outcome& out, const std::string& json) {
  if (!json.empty()) out.certificates += (out.certificates.empty() ? "" : ",") + json;
}

Status emit_smt(const std::string& folder, const std::string& file, const verify::Judgement& j) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return input_error({}, folder + ": cannot create: " + error.message());
  for (size_t i = 0; i < j.proof.log.size(); ++i) {
    std::string name = folder + "/" + std::filesystem::path(file).stem().string() + "." + std::to_string(i) + ".smt2";
    if (Status s = write_file(name, smt_lib(j.proof.model->terms, j.proof.log[i])); !s.ok()) return s;
  }
  return {};
}

void check_protocol(const std::string& file, const Options& o, const verify::JudgeOptions& options, Outcome& out) {
  auto fail = [&](const Diag& d) {
    out.errors += render(d);
    out.input_error = true;
  };
  Result<std::string> text = read_file(file);
  if (!text) return fail(text.error());
  Result<verify::Protocol> p = verify::parse_protocol(file, *text);
  if (!p) return fail(p.error());
  if (!o.kernel.empty() && p->kernel != o.kernel) return;
  if (o.list) {
    out.kernels.push_back({.name = p->kernel, .file = file});
    return;
  }
  verify::Judgement j = verify::judge(*p, options);
  j.report.file = file;
  if (!o.emit_smt.empty())
    if (Status s = emit_smt(o.emit_smt, file, j); !s.ok()) fail(s.error());
  add_certificate(out, j.certificate_json);
  out.kernels.push_back(std::move(j.report));
}

// Runs a refutation on the simulator. A run that contradicts it makes the verdict unknown: one of the two is wrong.
void replay(const ir::Module& device, KernelReport& r) {
  for (ObligationReport& o : r.obligations) {
    if (o.status != Verdict::refuted || !o.method.starts_with("concrete run")) continue;
    tools::Replay replayed = tools::replay_trace(device, o.trace);
    o.replayed = replayed.replayed;
    o.notes.push_back({o.where, "replayed: " + replayed.replayed + " (" + replayed.how + ")"});
    if (replayed.replayed == "no") r.verdict = Verdict::unknown;
    return;
  }
}

// FILE: every kernel with its parameters, the instances found and where each came from, or why there is none.
//   gemm.py:12: matmul(M, N, K, block=128)
//     matmul[M=1024, N=1024, K=512, block=128]  main, gemm.py:40
std::string listing(const std::string& file, const tools::Program& program, bool verbose) {
  std::string out;
  auto line = [](const SourceRange& r) {
    std::string place = r.valid() ? place_text(r) : "?:?";  // file:line:column
    return place.substr(0, place.rfind(':'));
  };
  for (const eval::FoundKernel& k : program.found) {
    out += line(k.where) + ": " + k.name + "(" + k.params + ")\n";
    for (const eval::FoundInstance& i : k.instances)
      out +=
          "  " + i.text + "  " + i.from + ", " + line(i.where) + (i.error.empty() ? "" : "  error: " + i.error) + "\n";
    if (k.instances.empty())
      out += "  no instance: " + (k.unresolved.empty() ? "nothing calls it" : k.unresolved) + "\n";
  }
  if (program.found.empty()) {
    for (const tools::Kernel& k : program.kernels)
      out += file + ": " + (k.func().instance.empty() ? "(unnamed)" : k.func().instance) + "\n";
    for (const Diag& d : program.diags) out += render(d);
  }
  for (const Diag& d : program.not_followed)
    if (verbose) out += line(d.where) + ": not followed: " + d.message + "\n";
  return out;
}

void check_program(const std::string& file, const Options& o, const eval::EvalOptions& eval,
                   const verify::JudgeOptions& options, Outcome& out) {
  tools::Program program = tools::load_program(file, eval);
  if (o.list) {
    out.listing += listing(file, program, o.verbose);
    for (const Diag& d : program.diags) {
      // What is wrong with the request itself; what is wrong with a kernel stands in its line.
      bool of_request = d.where.line == 0 || source_file_name(d.where.file) != file ||
                        d.message.find("--bound") != std::string::npos;
      if (!of_request && !program.found.empty()) continue;
      if (!program.found.empty()) out.errors += render(d);
      out.input_error = true;
    }
    return;
  }
  for (const Diag& d : program.diags) out.kernels.push_back(tools::failed_input(file, d));
  for (const tools::Kernel& k : program.kernels) {
    auto device = tools::to_device(k);
    tools::KernelVerdict v =
        device.ok() ? tools::judge_device(k, *device, options) : tools::failed_lowering(k, device.error(), options);
    if (v.judgement && !o.emit_smt.empty())
      if (Status s = emit_smt(o.emit_smt, file, *v.judgement); !s.ok()) {
        out.errors += render(s.error());
        out.input_error = true;
      }
    add_certificate(out, v.certificate_json);
    if (device.ok() && v.report.verdict == Verdict::refuted && !o.no_replay) replay(*device, v.report);
    out.kernels.push_back(std::move(v.report));
  }
}

int report(const Options& o, const Outcome& out) {
  std::fputs(out.errors.c_str(), stderr);
  std::string text;
  if (o.list) {
    text = out.listing;
    for (const KernelReport& k : out.kernels) text += k.file + ": " + (k.name.empty() ? "(unnamed)" : k.name) + "\n";
  } else {
    text = o.format == "json" ? json_report("tilecheck", out.kernels) : text_report(out.kernels, true);
  }
  if (!o.output.empty()) {
    if (Status s = write_file(o.output, text); !s.ok()) return usage_error(s.error().message);
  } else {
    std::fputs(text.c_str(), stdout);
  }
  if (!o.certificate.empty() && !out.certificates.empty())
    if (Status s = write_file(o.certificate, "[" + out.certificates + "]\n"); !s.ok())
      return usage_error(s.error().message);
  int code = o.list ? 0 : exit_code(out.kernels, o.allow_bounded);
  if (out.input_error && code != 1) return 2;
  return code;
}

int run(const Options& o) {
  if (o.list_rules) {
    for (const Rule& r : all_rules()) std::fputs(rule_text(r).c_str(), stdout);
    return 0;
  }
  if (!o.explain.empty()) {
    const Rule* r = find_rule(o.explain);
    if (!r) return usage_error("no rule is called " + o.explain);
    std::fputs(rule_text(*r).c_str(), stdout);
    return 0;
  }
  if (o.files.empty()) return usage_error("no input file");
  if (o.format != "text" && o.format != "json")
    return usage_error("--format " + o.format + " is not supported yet: text or json");
  verify::JudgeOptions options;
  auto obligations = verify::parse_obligations(o.obligations);
  if (!obligations)
    return usage_error("--obligations " + o.obligations + " is no list of numbers and ranges within 0-8");
  if (!(o.timeout > 0)) return usage_error("--timeout needs a positive number of seconds");
  options.obligations = *obligations;
  options.timeout_seconds = o.timeout;
  options.keep_queries = !o.emit_smt.empty();
  if (!find_arch(o.arch)) return usage_error("no target is called " + o.arch);
  if (o.jobs != 1)
    return usage_error("-j " + std::to_string(o.jobs) + " is not supported yet: kernels are judged one after another");
  eval::EvalOptions eval{
      .arch = o.arch, .kernel = o.kernel, .all_configs = o.all_configs, .manifest = o.manifest, .bounds = {}};
  if (!tools::split_settings("tilecheck", "--arg", o.args, eval.args) ||
      !tools::split_settings("tilecheck", "--pass-config", o.pass_configs, eval.pass_configs))
    return 2;
  for (const std::string& bound : o.bounds)
    if (Status set = eval::set_bound(eval.bounds, bound); !set) return usage_error("--bound: " + set.error().message);
  Outcome out;
  for (const std::string& file : o.files) {
    tools::FileKind kind = tools::file_kind(file);
    if (kind == tools::FileKind::protocol) check_protocol(file, o, options, out);
    else if (kind == tools::FileKind::python || kind == tools::FileKind::ir) check_program(file, o, eval, options, out);
    else {
      out.errors += "tilecheck: error: " + file + ": this kind of input is not supported yet\n";
      out.input_error = true;
    }
  }
  if (!o.kernel.empty() && out.kernels.empty() && out.listing.empty() && !out.input_error)
    return usage_error("no kernel is called " + o.kernel);
  return report(o, out);
}

int main_program(int argc, char** argv) {
  Options o;
  CLI::App app{"Proves the asynchronous pipelines of kernels safe, or shows how they fail."};
  app.add_option("FILE", o.files, "inputs: .py .ir .protocol");
  app.add_option("--arg", o.args, "NAME=VALUE of the specialisation")->allow_extra_args(false);
  app.add_option("--pass-config", o.pass_configs, "KEY=VALUE")->allow_extra_args(false);
  app.add_option("--kernel", o.kernel, "only the kernel of this name");
  app.add_option("--arch", o.arch, "architecture (default sm_90a)");
  app.add_option("--format", o.format, "text or json");
  app.add_option("-o", o.output, "write the report to this file");
  app.add_option("--obligations", o.obligations, "which obligations are judged, as 0-4,7");
  app.add_flag("--allow-bounded", o.allow_bounded, "a bounded verdict exits with 0");
  app.add_flag("--no-replay", o.no_replay, "do not replay refutations in the simulator");
  app.add_option("--timeout", o.timeout, "seconds a kernel");
  app.add_option("-j", o.jobs, "kernels judged at a time");
  app.add_option("--certificate", o.certificate, "write the certificates of proofs to this file");
  app.add_option("--emit-smt", o.emit_smt, "write every query as SMT-LIB 2 into this folder");
  app.add_flag("--list", o.list, "list the kernels, their parameters and instances");
  app.add_flag("--verbose", o.verbose, "with --list: the host code that was not followed");
  app.add_option("--manifest", o.manifest, "a manifest, or a folder of them (default: beside the file)");
  app.add_flag("--all-configs", o.all_configs, "every configuration of @autotune, not the first");
  app.add_option("--bound", o.bounds,
                 "NAME=N: a bound on the evaluation (steps, calls, items, operations, modules, errors)")
      ->allow_extra_args(false);
  app.add_option("--explain", o.explain, "what a rule says");
  app.add_flag("--list-rules", o.list_rules, "every rule");
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  for (const std::string& extra : app.remaining()) {
    for (const char* name : kNotYet)
      if (extra == name || extra.starts_with(std::string(name) + "="))
        return usage_error(std::string(name) + " is not supported yet");
    return usage_error("unknown option " + extra);
  }
  return run(o);
}

}  // namespace
}  // namespace tc

int main(int argc, char** argv) { return tc::main_program(argc, argv); }
