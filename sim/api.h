// The simulator: runs one kernel of a PTX module as a launch manifest says, on the CPU.
//   auto module = ptx::parse(text, "k.ptx");
//   auto manifest = runtime::parse_manifest_header(source);
//   auto result = sim::run(*module, *manifest, {}, {.schedule = sim::Schedule::adversarial, .seed = 3});
//   result->outcome == Outcome::clean, result->outputs: the tensors with role out and inout
// Deterministic: the same module, manifest, inputs, schedule and seed give the same result on any number of threads.
// Fails (Diag): the kernel is not in the module, parameters do not fit the manifest, an instruction is not supported.
// What goes wrong in the kernel is not a failure but a finding.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/manifest.h"
#include "runtime/tensor.h"
#include "sim/check/checks.h"
#include "sim/machine/scheduler.h"
#include "sim/ptx/module.h"

namespace tc::sim {

struct Options {
  Schedule schedule = Schedule::rr;
  uint64_t seed = 0;
  Checks checks = true;          // the sanitizers; where all are off nothing is spent on them
  uint32_t threads = 0;          // 0: one a core
  uint64_t step_limit = 0;       // warp instructions of one cluster; 0: none
  double timeout_seconds = 0;    // wall clock; 0: none
  uint64_t output_limit = 0;     // bytes; larger outputs are not returned; 0: all are
  bool trace = false;            // RunResult::trace
  // Called now and then on runs of more than a second: clusters done, clusters in all, seconds.
  void (*progress)(uint64_t done, uint64_t all, double seconds) = nullptr;
  std::vector<SteerStep> steer;  // for the first cluster; afterwards rr
};

// In order of precedence when several CTAs end differently.
enum class Outcome : uint8_t { clean, finding, hang, trap, limit };
std::string_view name_of(Outcome outcome);

struct RunResult {
  Outcome outcome = Outcome::clean;
  std::vector<Diag> findings;  // rule ids of specs/rule.def; the first one is why the run ended, if it did early
  std::vector<runtime::Tensor> outputs;
  std::vector<SteerResult> steered;  // one for each step of Options::steer
  uint64_t instructions = 0;         // warp instructions executed
  double seconds = 0;                // from the first instruction to the last
  std::string printed;               // by printf, cluster after cluster
  std::string trace;                 // JSON, see sim/machine/trace.h
};

// `inputs` replace the tensors of the same name that the manifest would generate.
Result<RunResult> run(const ptx::Module& module, const runtime::Manifest& manifest,
                      const std::vector<runtime::Tensor>& inputs, const Options& options);

}  // namespace tc::sim
