#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/inputs.h"
#include "sim/api.h"
#include "sim/check/grid.h"
#include "sim/check/report.h"
#include "sim/exec/builder.h"
#include "sim/machine/trace.h"
#include "specs/arch.h"

namespace tc::sim {
namespace {

constexpr uint64_t kMaxGlobalBytes = uint64_t{256} << 30;
constexpr uint64_t kLazyBytes = uint64_t{64} << 20;  // larger tensors are generated as they are touched
const uint32_t kMaxSharedBytes = find_arch("sm_90a")->max_smem_bytes;  // LAUNCH-01

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
  if (b.count() > kMaxThreads || b.z > kMaxBlockZ)
    return rule_violation("LAUNCH-03", "a block of " + std::to_string(b.count()) + " threads cannot be launched");
  if (g.x > kMaxGridX || g.y > kMaxGridYZ || g.z > kMaxGridYZ)
    return rule_violation("LAUNCH-04", "the grid is too large");
  const auto& k = m.cluster;
  if (k.count() > kMaxClusterCtas)
    return rule_violation("CLUST-01", "a cluster of " + std::to_string(k.count()) + " CTAs cannot be launched");
  if (g.x % k.x || g.y % k.y || g.z % k.z)
    return rule_violation("CLUST-02", "the grid is no multiple of the cluster in every dimension");
  if (p.shared_end - kSharedStart > kMaxSharedBytes)
    return rule_violation("LAUNCH-01", "the kernel needs " + std::to_string(p.shared_end - kSharedStart) +
                                           " bytes of shared memory, there are " + std::to_string(kMaxSharedBytes));
  return std::nullopt;
}

struct Prepared {
  std::unique_ptr<GridRaces> races;
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

// The bytes of one parameter; an unusable tensor map becomes the refusal of the launch.
class ParamBytes {
 public:
  ParamBytes(const runtime::Manifest& m, const std::string& name, Prepared& p) : m_(m), name_(name), p_(p) {}

  std::vector<uint8_t> operator()(const runtime::ScalarArg& s) const {
    return words(s.bits, runtime::row(s.dtype).bytes);
  }
  std::vector<uint8_t> operator()(const runtime::BufferArg& b) const {
    return words(address_of(m_, p_, b.tensor) + b.offset_bytes, 8);
  }
  std::vector<uint8_t> operator()(const runtime::TensorMapArg& t) const {
    auto map = make_tensor_map(runtime::Param{name_, t}, address_of(m_, p_, t.tensor));
    if (!map.ok()) {
      if (!p_.refusal) p_.refusal = map.error();
      return std::vector<uint8_t>(t.by_pointer ? 8 : kTensorMapBytes);
    }
    map->name = static_cast<uint32_t>(p_.launch.map_names.size());
    p_.launch.map_names.push_back(name_);
    const TensorMapBytes bytes = encode_tensor_map(*map);
    if (!t.by_pointer) return {bytes.begin(), bytes.end()};
    const Allocation& a = p_.global.allocate(name_, bytes.size());
    std::memcpy(a.host, bytes.data(), bytes.size());
    return words(a.address, 8);
  }
  std::vector<uint8_t> operator()(const runtime::StructArg& s) const {
    std::vector<uint8_t> out = s.bytes;
    for (const runtime::StructArg::Part& part : s.parts) {
      const std::vector<uint8_t> piece = std::visit(*this, part.value);
      std::copy(piece.begin(), piece.end(), out.begin() + part.offset);
    }
    return out;
  }

 private:
  static std::vector<uint8_t> words(uint64_t v, size_t n) {
    std::vector<uint8_t> out(n);
    std::memcpy(out.data(), &v, n);
    return out;
  }
  const runtime::Manifest& m_;
  const std::string& name_;
  Prepared& p_;
};

Status fill_params(const runtime::Manifest& m, const ptx::Function& entry, Prepared& p) {
  const auto& slots = p.program.params;
  if (slots.size() != m.params.size())
    return input_error(entry.where.range, "kernel " + entry.name + " has " + std::to_string(slots.size()) +
                                              " parameters, the manifest " + std::to_string(m.params.size()));
  p.launch.params.assign(p.program.param_bytes, 0);
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::vector<uint8_t> bytes = std::visit(ParamBytes(m, m.params[i].name, p), m.params[i].value);
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

// The dimensions of a cluster: the launch's, or what the kernel was compiled for.
Result<runtime::Dim3> cluster_of(const runtime::Manifest& m, const ptx::Function& entry,
                                 std::optional<Diag>& refusal) {
  for (const ptx::Directive& d : entry.directives) {
    if (d.name != "reqnctapercluster" || d.values.empty()) continue;
    auto value = [&](size_t i) { return i < d.values.size() ? static_cast<uint32_t>(d.values[i]) : 1u; };
    const runtime::Dim3 required{value(0), value(1), value(2)};
    if (required.count() == 0) return input_error(entry.where.range, "an empty cluster");
    if (m.cluster.count() > 1 && m.cluster != required && !refusal)
      refusal = rule_violation("CLUST-03", "the launch asks for another cluster than the kernel was compiled for");
    return required;
  }
  return m.cluster;
}

Status place_tensors(const runtime::Manifest& m, const std::vector<runtime::Tensor>& given, Prepared& p) {
  uint64_t total = 0;
  for (const auto& t : m.tensors) total += t.bytes();
  if (total > kMaxGlobalBytes) return unsupported({}, "tensors of more than 256 GiB together");
  runtime::Manifest none = m;  // checks what was given, generates nothing
  none.tensors.clear();
  for (const runtime::TensorSpec& t : m.tensors)
    if (runtime::tensor_named(given, t.name)) none.tensors.push_back(t);
  auto tensors = runtime::make_inputs(none, given);
  if (!tensors.ok()) return input_error({}, tensors.error().message);
  for (const runtime::TensorSpec& t : m.tensors) {
    Allocation& a = p.global.allocate(t.name, t.bytes());
    p.addresses.push_back(a.address);
    if (const runtime::Tensor* g = runtime::tensor_named(*tensors, t.name)) {
      if (!g->bytes.empty()) std::memcpy(a.host, g->bytes.data(), g->bytes.size());
    } else if (t.fill == runtime::Fill::zero) {
      continue;
    } else if (t.bytes() < kLazyBytes) {
      runtime::fill_elements(t, 0, t.elements(), a.host);
    } else {
      a.generate([&t](uint64_t first, uint64_t n, uint8_t* to) {
        const uint64_t size = runtime::row(t.dtype).bytes;
        runtime::fill_elements(t, first / size, n / size, to);
      });
    }
  }
  return {};
}

// `m` outlives the run: lazy tensors look at it.
Status prepare(const ptx::Module& module, const runtime::Manifest& m, const std::vector<runtime::Tensor>& inputs,
               const Options& options, Prepared& p) {
  const ptx::Function* entry = find_entry(module, m.kernel);
  if (!entry) return input_error({module.text, 1, 1, 1, 1}, "no kernel '" + m.kernel + "' in the module");
  auto cluster = cluster_of(m, *entry, p.refusal);
  if (!cluster.ok()) return cluster.error();
  if (Status s = place_tensors(m, inputs, p); !s.ok()) return s;
  auto program = build_program(module, *entry, p.global, m.smem_bytes, static_cast<uint32_t>(m.block.count()));
  if (!program.ok()) return program.error();
  p.program = std::move(*program);
  if (options.checks.has(Check::uninit)) find_unwritten_registers(p.program);
  p.launch.grid = m.grid, p.launch.block = m.block, p.launch.cluster = *cluster;
  p.launch.dynamic_smem_bytes = m.smem_bytes;
  p.launch.schedule = options.schedule, p.launch.seed = options.seed, p.launch.checks = options.checks;
  p.launch.trace = options.trace;
  if (Status s = fill_params(m, *entry, p); !s.ok()) return s;
  runtime::Manifest launched = m;
  launched.cluster = *cluster;
  if (auto d = launch_refusal(launched, p.program); d && !p.refusal) p.refusal = d;
  return {};
}

struct ClusterResult {
  ClusterEnd end = ClusterEnd::stopped;
  std::vector<Diag> findings;
  uint64_t instructions = 0;
  std::string printed;
  std::vector<std::string> trace;
  bool trace_truncated = false;
};

// Runs the clusters of a grid. Independent ones in order on each of several threads, each to its end; after one that
// ended badly no later one counts. Those that share global memory by atomics or strong accesses in turns on one thread:
// a new one is started when all that have started wait for something that is not in their cluster.
class Grid {
 public:
  Grid(Prepared& p, const Options& options, const Limits& limits) : p_(p), options_(options), limits_(limits) {
    const auto &g = p_.launch.grid, &k = p_.launch.cluster;
    shape_ = {g.x / k.x, g.y / k.y, g.z / k.z};
  }

  void run(uint32_t most) {
    results_.resize(shape_.count());
    if (p_.program.orders_ctas) return run_in_turns();
    const auto threads = static_cast<uint32_t>(std::min<uint64_t>(most, results_.size()));
    parallel_ = threads > 1;
    std::vector<std::thread> pool;
    for (uint32_t t = 1; t < threads; ++t) pool.emplace_back([&] { work(); });
    work();
    for (std::thread& t : pool) t.join();
  }
  // Clusters ran side by side, and what they found may depend on which of them came first.
  bool is_luck() const {
    if (!parallel_ || !p_.races) return false;
    return p_.races->depends_on_order() || std::ranges::any_of(results_, [](const ClusterResult& r) {
             return r.end == ClusterEnd::trap || r.end == ClusterEnd::hang;
           });
  }
  std::vector<ClusterResult> results_;
  std::vector<SteerResult> steered_;

 private:
  struct Running {
    uint64_t index;
    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<ClusterRun> run;
    bool steered = false;
  };

  Running start(uint64_t index) {
    const auto& k = p_.launch.cluster;
    const runtime::Dim3 first{static_cast<uint32_t>(index % shape_.x) * k.x,
                              static_cast<uint32_t>(index / shape_.x % shape_.y) * k.y,
                              static_cast<uint32_t>(index / shape_.x / shape_.y) * k.z};
    Running r{index, std::make_unique<Cluster>(p_.program, p_.launch, p_.global, first, index), nullptr};
    r.run = std::make_unique<ClusterRun>(*r.cluster, limits_);
    return r;
  }
  ClusterEnd advance(Running& r, uint64_t budget) {
    if (r.index == 0 && !options_.steer.empty() && !std::exchange(r.steered, true))
      return r.run->run_steered(options_.steer, steered_);
    return r.run->run(budget);
  }
  void finish(Running& r, ClusterEnd end) {
    if (r.cluster->race) p_.races->finished(static_cast<uint32_t>(r.index), *r.cluster->race);
    report_progress();
    results_[r.index] = {end, std::move(r.cluster->findings), r.cluster->time, std::move(r.cluster->printed)};
    if (r.cluster->trace) {
      results_[r.index].trace = r.cluster->trace->events();
      results_[r.index].trace_truncated = r.cluster->trace->truncated();
    }
    if (end == ClusterEnd::done) return;
    uint64_t bad = first_bad_;
    while (r.index < bad && !first_bad_.compare_exchange_weak(bad, r.index)) {
    }
  }

  void report_progress() {
    const uint64_t done = ++done_;
    if (!options_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(progress_);
    if (now - last_report_ < std::chrono::seconds(1)) return;
    last_report_ = now;
    options_.progress(done, results_.size(), std::chrono::duration<double>(now - started_).count());
  }

  void work() {
    for (;;) {
      const uint64_t i = next_++;
      if (i >= results_.size() || i > first_bad_) return;
      Running r = start(i);
      finish(r, advance(r, UINT64_MAX));
    }
  }

  // How many clusters fit the device together; others start when one has left.
  size_t resident() const {
    const uint64_t ctas = p_.launch.cluster.count(), threads = (p_.launch.block.count() + 31) / 32 * 32;
    const uint64_t by_threads = kMaxSmThreads / threads,
                   by_smem = kMaxSmSmemBytes / (p_.program.shared_end + 1);  // with the reserved KiB of a CTA
    return std::max<uint64_t>(1, kSmCount * std::max<uint64_t>(1, std::min(by_threads, by_smem)) / ctas);
  }

  void run_in_turns() {
    std::vector<Running> running;
    const bool one_by_one = options_.schedule == Schedule::rr;
    Random random{p_.launch.seed};
    uint64_t next = 0, waits = 0;  // turns in a row in which nobody made progress
    for (size_t at = 0;;) {
      const bool room = next < results_.size() && running.size() < resident();
      if (room && (running.empty() || waits >= running.size() || !one_by_one)) {
        at = running.size();
        running.push_back(start(next++));
        waits = 0;
      }
      if (running.empty()) return;
      at %= running.size();
      Running& r = running[at];
      const uint64_t before = r.cluster->progress;
      const ClusterEnd end = advance(r, one_by_one ? UINT64_MAX : uint64_t{1} << random.below(kSharedTurnBits));
      if (end == ClusterEnd::waiting) {
        waits = r.cluster->progress == before ? waits + 1 : 0;
        if (waits > kHangRounds * running.size() && !(next < results_.size() && running.size() < resident())) {
          for (Running& x : running) x.run->explain_hang(), finish(x, ClusterEnd::hang);
          return;
        }
        ++at;
        continue;
      }
      finish(r, end);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      waits = 0;
      if (end != ClusterEnd::done) return;
    }
  }

  static constexpr uint32_t kSharedTurnBits = 7;  // under random and adversarial: 1 ... 64 turns before the next cluster
  static constexpr uint64_t kHangRounds = 64;   // rounds over all clusters without progress: nobody will make any
  bool parallel_ = false;
  Prepared& p_;
  const Options& options_;
  const Limits& limits_;
  runtime::Dim3 shape_;
  std::atomic<uint64_t> next_ = 0, first_bad_ = UINT64_MAX, done_ = 0;
  std::mutex progress_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now(), last_report_ = started_;
};

Outcome outcome_of(ClusterEnd end) {
  switch (end) {
    case ClusterEnd::done: return Outcome::clean;
    case ClusterEnd::hang: return Outcome::hang;
    case ClusterEnd::trap: return Outcome::trap;
    case ClusterEnd::step_limit:
    case ClusterEnd::time_limit:
    case ClusterEnd::stopped:
    case ClusterEnd::waiting: return Outcome::limit;
  }
  return Outcome::clean;
}

void add_grid_races(const GridRaces& races, const Prepared& p, RunResult& out) {
  if (!p.launch.checks.has(Check::race)) return;
  for (Diag& d : describe_grid_races(races, p.program, p.global, p.launch)) out.findings.push_back(std::move(d));
  if (!out.findings.empty() && out.outcome == Outcome::clean) out.outcome = Outcome::finding;
}

void collect(const std::vector<ClusterResult>& clusters, RunResult& out) {
  constexpr size_t kMaxFindings = 64;
  for (const ClusterResult& r : clusters) {
    for (const Diag& d : r.findings) {
      const bool known = std::any_of(out.findings.begin(), out.findings.end(),
                                     [&](const Diag& o) { return o.rule == d.rule && o.where == d.where; });
      if (!known && out.findings.size() < kMaxFindings) out.findings.push_back(d);
    }
    out.instructions += r.instructions;
    out.printed += r.printed;
    if (r.end == ClusterEnd::done) continue;
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
  std::unique_ptr<Prepared> prepared;
  auto prepare_again = [&] {
    prepared = std::make_unique<Prepared>();
    Status s = prepare(module, manifest, inputs, options, *prepared);
    if (options.checks.any()) prepared->races = std::make_unique<GridRaces>(prepared->program.orders_ctas);
    prepared->launch.races = prepared->races.get();
    return s;
  };
  if (Status s = prepare_again(); !s.ok()) return s.error();
  RunResult out;
  if (prepared->refusal) {
    out.outcome = Outcome::trap;
    out.findings.push_back(*prepared->refusal);
    return out;
  }
  Limits limits;
  if (options.step_limit) limits.steps = options.step_limit;
  if (options.timeout_seconds > 0)
    limits.deadline = std::chrono::steady_clock::now() +
                      std::chrono::microseconds(static_cast<int64_t>(options.timeout_seconds * 1e6));
  limits.shared_grid = prepared->program.orders_ctas;
  const auto started = std::chrono::steady_clock::now();
  auto in_order = std::make_unique<Grid>(*prepared, options, limits);
  in_order->run(options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency()));
  if (in_order->is_luck()) {  // once more, one after the other
    in_order.reset();
    if (Status s = prepare_again(); !s.ok()) return s.error();
    in_order = std::make_unique<Grid>(*prepared, options, limits);
    in_order->run(1);
  }
  Grid& grid = *in_order;
  Prepared& p = *prepared;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  out.steered = std::move(grid.steered_);
  collect(grid.results_, out);
  if (options.trace) {
    std::vector<std::vector<std::string>> events;
    bool truncated = false;
    for (ClusterResult& r : grid.results_) {
      truncated |= r.trace_truncated;
      events.push_back(std::move(r.trace));
    }
    out.trace = trace_file(events, truncated);
  }
  if (p.races) add_grid_races(*p.races, p, out);
  for (const Diag& d : out.findings)
    if (d.kind == DiagKind::unsupported) return d;
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const runtime::TensorSpec& t = manifest.tensors[i];
    if (t.role == runtime::Role::in) continue;
    if (options.output_limit && t.bytes() > options.output_limit) continue;
    const uint8_t* from = p.global.find(p.addresses[i], t.bytes());
    out.outputs.push_back({t.name, t.dtype, t.shape, std::vector<uint8_t>(from, from + t.bytes())});
  }
  return out;
}

}  // namespace tc::sim
