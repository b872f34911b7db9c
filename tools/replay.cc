#include "tools/replay.h"

#include "sim/api.h"
#include "sim/ptx/module.h"

namespace tc::tools {
namespace {

constexpr int kAdversarialSeeds = 20;

static_assert(sim::kSharedStart % 1024 == 0, "dynamic shared memory of a generated kernel then starts there");

// The steps of the representative leading lane of each warp; the other lanes of a converged warp move with it.
std::vector<sim::SteerStep> steering(const verify::Extracted& e, const std::vector<TraceStep>& trace) {
  std::vector<sim::SteerStep> steps;
  std::map<std::pair<int64_t, SourceRange>, std::vector<int64_t>>
      issued;  // warp, statement → last iteration of a matrix run
  auto ring_address = [&](const TraceStep& s) {
    for (size_t i = 0; i < e.protocol.rings.size(); ++i)
      if (e.protocol.rings[i].name == s.ring)
        return static_cast<uint32_t>(sim::kSharedStart + e.ring_offsets[i] + 8 * s.slot);
    return 0u;
  };
  for (const TraceStep& s : trace) {
    if (s.completion) {
      if (s.kind != "copy" || s.ring.empty()) continue;
      auto parts = e.copies_of.find(s.where);
      for (int64_t i = 0; i < (parts == e.copies_of.end() ? 1 : parts->second); ++i)
        steps.push_back({.kind = sim::SteerStep::Kind::complete_async, .barrier = ring_address(s)});
      continue;
    }
    if (s.lane != 0 || s.first_thread < 0) continue;
    int64_t events = s.kind == "read" || s.kind == "write" ? 0 : 1;
    for (int64_t w = s.warp; w <= s.last_warp; ++w) {
      int64_t warp = s.first_thread / 32 + w;
      if (s.kind == "mma") {  // both operands of one run are one run
        auto& last = issued[{warp, s.where}];
        events = last == s.iteration && !last.empty() ? 0
                 : e.matrix_ops_of.contains(s.where)  ? e.matrix_ops_of.at(s.where)
                                                      : 1;
        last = s.iteration;
      }
      if (s.kind == "copy" && e.copies_of.contains(s.where)) events = e.copies_of.at(s.where);
      for (int64_t i = 0; i < events; ++i)
        steps.push_back({.kind = sim::SteerStep::Kind::run_warp, .warp = static_cast<uint32_t>(warp)});
    }
  }
  return steps;
}

}  // namespace

Replay replay_trace(const ir::Module& device, const std::vector<TraceStep>& trace) {
  Replay r;
  if (!toolchain::has_clang()) return {"not-run", "there is no clang plug-in to compile the kernel"};
  auto extracted = verify::protocol_from_ir(device);
  if (!extracted.ok()) return {"not-run", extracted.error().message};
  const ir::Func& f = device.funcs[0];
  auto ptx = toolchain::compile_to_ptx(toolchain::Compiler::clang, f.name + ".cu", codegen::print_cuda(device, f),
                                       device.arch);
  if (!ptx.ok()) return {"not-run", ptx.error().message};
  auto module = ptx::parse(*ptx, f.name + ".ptx");
  if (!module.ok()) return {"not-run", module.error().message};
  runtime::Manifest manifest = codegen::make_manifest(device, f);
  manifest.grid = {1, 1, 1};  // the trace is that of one CTA
  sim::Options options{.timeout_seconds = 20, .steer = steering(*extracted, trace)};
  auto run = sim::run(*module, manifest, {}, options);
  if (!run.ok()) return {"not-run", run.error().message};
  size_t happened = 0;
  for (const sim::SteerResult& s : run->steered) happened += s.happened;
  std::string steps = std::to_string(happened) + " of " + std::to_string(options.steer.size()) + " steps";
  if (run->outcome == sim::Outcome::limit) return {"not-run", "the simulator ran into its time limit"};
  if (run->outcome != sim::Outcome::clean)
    return {"yes", "steered along " + steps + ": " + std::string(sim::name_of(run->outcome))};
  for (int seed = 0; seed < kAdversarialSeeds; ++seed) {
    run =
        sim::run(*module, manifest, {},
                 {.schedule = sim::Schedule::adversarial, .seed = static_cast<uint64_t>(seed), .timeout_seconds = 20});
    if (run.ok() && run->outcome != sim::Outcome::clean && run->outcome != sim::Outcome::limit)
      return {"yes", "clean when steered along " + steps + "; adversarial schedule, seed " + std::to_string(seed) +
                         ": " + std::string(sim::name_of(run->outcome))};
  }
  return {"no", "clean when steered along " + steps + " and under " + std::to_string(kAdversarialSeeds) +
                    " adversarial seeds"};
}

}  // namespace tc::tools
