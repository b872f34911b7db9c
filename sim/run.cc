#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/inputs.h"
#include "sim/api.h"
#include "sim/exec/builder.h"

namespace tc::sim {
namespace {

constexpr uint64_t kMaxGlobalBytes = uint64_t{8} << 30;
constexpr uint32_t kMaxBlock = 1024, kMaxBlockZ = 64, kMaxGridYZ = 65535;
constexpr uint32_t kMaxSharedBytes = 232448;  // LAUNCH-01, sm_90

Diag rule_violation(const char* rule, std::string message) {
  Diag d;
  d.kind = DiagKind::violation;
  d.rule = rule;
  d.message = std::move(message);
  return d;
}

// What the driver would refuse; "" and nothing where the launch is fine.
std::optional<Diag> launch_refusal(const runtime::Manifest& m, const Program& p) {
  const auto &b = m.block, &g = m.grid;
  if (b.count() > kMaxBlock || b.z > kMaxBlockZ)
    return rule_violation("LAUNCH-03", "a block of " + std::to_string(b.count()) + " threads cannot be launched");
  if (g.x > INT32_MAX || g.y > kMaxGridYZ || g.z > kMaxGridYZ)
    return rule_violation("LAUNCH-04", "the grid is too large");
  if (p.shared_end - kSharedStart > kMaxSharedBytes)
    return rule_violation("LAUNCH-01", "the kernel needs " + std::to_string(p.shared_end - kSharedStart) +
                                           " bytes of shared memory, there are " + std::to_string(kMaxSharedBytes));
  return std::nullopt;
}

struct Prepared {
  GlobalMemory global;
  std::vector<uint64_t> addresses;  // of the manifest's tensors
  Launch launch;
  Program program;
  std::optional<Diag> refusal;
};

uint64_t address_of(const runtime::Manifest& m, const Prepared& p, const std::string& tensor) {
  for (size_t i = 0; i < m.tensors.size(); ++i)
    if (m.tensors[i].name == tensor) return p.addresses[i];
  assert(false && "the manifest's reader has checked that the tensor exists");
  return 0;
}

// 128 bytes that stand for the map: the number of the machine's own description.
std::array<uint8_t, kTensorMapBytes> map_bytes(uint32_t index) {
  std::array<uint8_t, kTensorMapBytes> out{};
  std::memcpy(out.data(), "tensmap", 8);
  std::memcpy(out.data() + 8, &index, sizeof index);
  return out;
}

// The bytes of one parameter; an unusable tensor map becomes the refusal of the launch.
std::vector<uint8_t> param_bytes(const runtime::Manifest& m, const runtime::Param& param, Prepared& p) {
  auto bytes_of = [](uint64_t v, size_t n) {
    std::vector<uint8_t> out(n);
    std::memcpy(out.data(), &v, n);
    return out;
  };
  if (auto* s = std::get_if<runtime::ScalarArg>(&param.value)) return bytes_of(s->bits, runtime::row(s->dtype).bytes);
  if (auto* b = std::get_if<runtime::BufferArg>(&param.value))
    return bytes_of(address_of(m, p, b->tensor) + b->offset_bytes, 8);
  const auto& t = std::get<runtime::TensorMapArg>(param.value);
  auto map = make_tensor_map(param, address_of(m, p, t.tensor));
  if (!map.ok()) {
    if (!p.refusal) p.refusal = map.error();
    return std::vector<uint8_t>(t.by_pointer ? 8 : kTensorMapBytes);
  }
  p.launch.tensor_maps.push_back(*map);
  const auto bytes = map_bytes(static_cast<uint32_t>(p.launch.tensor_maps.size() - 1));
  if (!t.by_pointer) return {bytes.begin(), bytes.end()};
  const uint64_t at = p.global.allocate(param.name, bytes.size());
  std::memcpy(p.global.at(at), bytes.data(), bytes.size());
  return bytes_of(at, 8);
}

Status fill_params(const runtime::Manifest& m, const ptx::Function& entry, Prepared& p) {
  const auto& slots = p.program.params;
  if (slots.size() != m.params.size())
    return input_error(entry.where.range, "kernel " + entry.name + " has " + std::to_string(slots.size()) +
                                              " parameters, the manifest " + std::to_string(m.params.size()));
  p.launch.params.assign(p.program.param_bytes, 0);
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::vector<uint8_t> bytes = param_bytes(m, m.params[i], p);
    if (bytes.size() != slots[i].bytes)
      return input_error(entry.params[i].where.range,
                         "parameter " + std::to_string(i) + " has " + std::to_string(slots[i].bytes) + " bytes, '" +
                             m.params[i].name + "' of the manifest " + std::to_string(bytes.size()));
    std::memcpy(p.launch.params.data() + slots[i].offset, bytes.data(), bytes.size());
  }
  return {};
}

const ptx::Function* find_entry(const ptx::Module& module, const std::string& name) {
  const ptx::Function* f = module.function_named(name);
  return f && f->is_entry && f->has_body ? f : nullptr;
}

Status prepare(const ptx::Module& module, const runtime::Manifest& m, const std::vector<runtime::Tensor>& inputs,
               const Options& options, Prepared& p) {
  const ptx::Function* entry = find_entry(module, m.kernel);
  if (!entry) return input_error({module.text, 1, 1, 1, 1}, "no kernel '" + m.kernel + "' in the module");
  if (m.cluster.count() > 1) return unsupported(entry->where.range, "a cluster of more than one CTA");
  for (const ptx::Directive& d : entry->directives) {
    uint64_t n = 1;
    for (uint64_t v : d.values) n *= v;
    if (d.name == "reqnctapercluster" && n > 1)
      return unsupported(entry->where.range, "a cluster of more than one CTA");
  }
  uint64_t total = 0;
  for (const auto& t : m.tensors) total += t.bytes();
  if (total > kMaxGlobalBytes) return unsupported({}, "tensors of more than 8 GiB together");
  auto tensors = runtime::make_inputs(m, inputs);
  if (!tensors.ok()) return input_error({}, tensors.error().message);
  for (const runtime::Tensor& t : *tensors) {
    p.addresses.push_back(p.global.allocate(t.name, t.bytes.size()));
    if (!t.bytes.empty()) std::memcpy(p.global.at(p.addresses.back()), t.bytes.data(), t.bytes.size());
  }
  auto program = build_program(module, *entry, p.global, m.smem_bytes, static_cast<uint32_t>(m.block.count()));
  if (!program.ok()) return program.error();
  p.program = std::move(*program);
  p.launch.grid = m.grid, p.launch.block = m.block, p.launch.cluster = m.cluster;
  p.launch.dynamic_smem_bytes = m.smem_bytes;
  p.launch.schedule = options.schedule, p.launch.seed = options.seed, p.launch.checks = options.checks;
  if (Status s = fill_params(m, *entry, p); !s.ok()) return s;
  if (auto d = launch_refusal(m, p.program); d && !p.refusal) p.refusal = d;
  return {};
}

struct CtaResult {
  CtaEnd end = CtaEnd::stopped;
  std::vector<Diag> findings;
  uint64_t instructions = 0;
};

// Runs the CTAs, in order on each thread; after one that ended badly no later one counts.
class Grid {
 public:
  Grid(Prepared& p, const Options& options, const Limits& limits) : p_(p), options_(options), limits_(limits) {}

  void run(std::vector<SteerResult>& steered) {
    const uint64_t count = p_.launch.grid.count();
    results_.resize(count);
    uint32_t threads = options_.threads ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    if (p_.program.orders_ctas) threads = 1;
    threads = static_cast<uint32_t>(std::min<uint64_t>(threads, count));
    std::vector<std::thread> pool;
    for (uint32_t t = 1; t < threads; ++t) pool.emplace_back([&] { work(nullptr); });
    work(&steered);
    for (std::thread& t : pool) t.join();
  }
  std::vector<CtaResult> results_;

 private:
  void work(std::vector<SteerResult>* steered) {
    for (;;) {
      const uint64_t i = next_++;
      if (i >= results_.size() || i > first_bad_) return;
      const auto& g = p_.launch.grid;
      const runtime::Dim3 id{static_cast<uint32_t>(i % g.x), static_cast<uint32_t>(i / g.x % g.y),
                             static_cast<uint32_t>(i / g.x / g.y)};
      Cta cta(p_.program, p_.launch, p_.global, id, i);
      CtaResult& r = results_[i];
      const bool steer = i == 0 && !options_.steer.empty();
      std::vector<SteerResult> unused;
      r.end = steer ? run_steered(cta, limits_, options_.steer, steered ? *steered : steered_elsewhere_)
                    : run_cta(cta, limits_);
      r.findings = std::move(cta.findings);
      r.instructions = cta.time;
      if (r.end != CtaEnd::done) {
        uint64_t bad = first_bad_;
        while (i < bad && !first_bad_.compare_exchange_weak(bad, i)) {
        }
      }
    }
  }

 public:
  std::vector<SteerResult> steered_elsewhere_;

 private:
  Prepared& p_;
  const Options& options_;
  const Limits& limits_;
  std::atomic<uint64_t> next_ = 0, first_bad_ = UINT64_MAX;
};

Outcome outcome_of(CtaEnd end) {
  switch (end) {
    case CtaEnd::done: return Outcome::clean;
    case CtaEnd::hang: return Outcome::hang;
    case CtaEnd::trap: return Outcome::trap;
    case CtaEnd::step_limit:
    case CtaEnd::time_limit:
    case CtaEnd::stopped: return Outcome::limit;
  }
  return Outcome::clean;
}

void collect(const std::vector<CtaResult>& ctas, RunResult& out) {
  constexpr size_t kMaxFindings = 64;
  for (const CtaResult& r : ctas) {
    for (const Diag& d : r.findings) {
      const bool known = std::any_of(out.findings.begin(), out.findings.end(),
                                     [&](const Diag& o) { return o.rule == d.rule && o.where == d.where; });
      if (!known && out.findings.size() < kMaxFindings) out.findings.push_back(d);
    }
    out.instructions += r.instructions;
    if (r.end == CtaEnd::done) continue;
    out.outcome = outcome_of(r.end);
    // The reason of the end comes first.
    if (!r.findings.empty() && out.outcome != Outcome::limit) {
      const Diag& reason = r.findings.back();
      std::erase_if(out.findings, [&](const Diag& o) { return o.rule == reason.rule && o.where == reason.where; });
      out.findings.insert(out.findings.begin(), reason);
    }
    return;
  }
  if (!out.findings.empty()) out.outcome = Outcome::finding;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::clean: return "clean";
    case Outcome::finding: return "finding";
    case Outcome::hang: return "hang";
    case Outcome::trap: return "trap";
    case Outcome::limit: return "limit";
  }
  return "clean";
}

Result<RunResult> run(const ptx::Module& module, const runtime::Manifest& manifest,
                      const std::vector<runtime::Tensor>& inputs, const Options& options) {
  auto prepared = std::make_unique<Prepared>();
  Prepared& p = *prepared;
  if (Status s = prepare(module, manifest, inputs, options, p); !s.ok()) return s.error();
  RunResult out;
  if (p.refusal) {
    out.outcome = Outcome::trap;
    out.findings.push_back(*p.refusal);
    return out;
  }
  Limits limits;
  if (options.step_limit) limits.steps = options.step_limit;
  if (options.timeout_seconds > 0)
    limits.deadline = std::chrono::steady_clock::now() +
                      std::chrono::microseconds(static_cast<int64_t>(options.timeout_seconds * 1e6));
  Grid grid(p, options, limits);
  grid.run(out.steered);
  if (out.steered.empty()) out.steered = std::move(grid.steered_elsewhere_);
  collect(grid.results_, out);
  for (const Diag& d : out.findings)
    if (d.kind == DiagKind::unsupported) return d;
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const runtime::TensorSpec& t = manifest.tensors[i];
    if (t.role == runtime::Role::in) continue;
    const uint8_t* from = p.global.at(p.addresses[i]);
    out.outputs.push_back({t.name, t.dtype, t.shape, std::vector<uint8_t>(from, from + t.bytes())});
  }
  return out;
}

}  // namespace tc::sim
