// Whole kernels: every .cu of testdata/sim as both compilers translate it, and testdata/ptx, under all schedules. Clean
// ones stay clean and compute what they say; defects are found by rule and line.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "sim/api.h"

namespace tc::sim {
namespace {

struct Case {
  std::string name, expected;   // "clean", or the rule
  std::vector<uint32_t> lines;  // a race may be found at either side
  runtime::Manifest manifest;
  ptx::Module module;
};

std::string header_value(const std::string& text, const std::string& key) {
  const size_t at = text.find("// " + key + ": ");
  if (at == text.npos) return {};
  const size_t start = at + key.size() + 5;
  return text.substr(start, text.find('\n', start) - start);
}

Case load_case(const std::string& header_file, const std::string& ptx_file) {
  Case c;
  auto header = read_file(header_file), text = read_file(ptx_file);
  EXPECT_TRUE(header.ok() && text.ok()) << ptx_file;
  c.name = std::filesystem::path(ptx_file).filename();
  auto m = runtime::parse_manifest_header(*header);
  EXPECT_TRUE(m.ok()) << header_file << ": " << (m.ok() ? "" : m.error().message);
  c.manifest = *m;
  auto module = ptx::parse(*text, c.name);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : render(module.error()));
  c.module = *module;
  const std::string expect = header_value(*header, "expect");
  c.expected = expect.substr(0, expect.find(' '));
  if (const size_t at = expect.find('@'); at != expect.npos) {
    std::istringstream lines(expect.substr(at + 1));
    for (std::string one; std::getline(lines, one, ',');) c.lines.push_back(static_cast<uint32_t>(std::stoul(one)));
  }
  return c;
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  const std::string folder = TESTDATA;
  for (const auto& e : std::filesystem::directory_iterator(folder + "/sim"))
    if (e.path().extension() == ".cu")
      for (const char* compiler : {".nvcc.ptx", ".clang.ptx"})
        out.push_back(load_case(e.path(), std::filesystem::path(e.path()).replace_extension(compiler)));
  for (const auto& e : std::filesystem::directory_iterator(folder + "/ptx"))
    if (e.path().extension() == ".ptx") out.push_back(load_case(e.path(), e.path()));
  std::sort(out.begin(), out.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return out;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = all_cases();
  return all;
}
const Case& named(std::string_view name) {
  for (const Case& c : cases())
    if (c.name == name) return c;
  ADD_FAILURE() << "no case " << name;
  return cases().front();
}

RunResult run_case(const Case& c, const Options& o) {
  auto r = run(c.module, c.manifest, {}, o);
  EXPECT_TRUE(r.ok()) << c.name << ": " << (r.ok() ? "" : render(r.error()));
  return r.ok() ? std::move(*r) : RunResult{};
}

std::vector<Options> schedules() {
  std::vector<Options> out{Options{}};
  for (uint64_t seed = 0; seed < 5; ++seed) {
    out.push_back({.schedule = Schedule::random, .seed = seed});
    out.push_back({.schedule = Schedule::adversarial, .seed = seed});
  }
  for (Options& o : out) o.step_limit = 5'000'000;
  return out;
}

std::string describe(const RunResult& r) {
  std::string out(name_of(r.outcome));
  for (const Diag& d : r.findings) out += "\n" + render(d);
  return out;
}

TEST(Kernels, CleanOnesAreCleanAndRightUnderAllSchedules) {
  size_t seen = 0;
  for (const Case& c : cases()) {
    if (c.expected != "clean") continue;
    ++seen;
    auto before = runtime::make_inputs(c.manifest);
    ASSERT_TRUE(before.ok());
    for (const Options& o : schedules()) {
      const RunResult r = run_case(c, o);
      ASSERT_EQ(r.outcome, Outcome::clean) << c.name << " seed " << o.seed << ": " << describe(r);
      // The results of functions.cu have a test of their own.
      ASSERT_TRUE(!c.manifest.checks.empty() || c.name.starts_with("functions.")) << c.name;
      for (const std::string& check : c.manifest.checks) {
        auto want = runtime::expected_output(c.manifest, *before, check);
        ASSERT_TRUE(want.ok()) << want.error().message;
        const runtime::Tensor* got = runtime::tensor_named(r.outputs, want->name);
        ASSERT_NE(got, nullptr);
        EXPECT_EQ(got->bytes, want->bytes) << c.name << " seed " << o.seed;
      }
    }
  }
  EXPECT_GE(seen, 25u);
}

TEST(Kernels, DefectsAreFoundByRuleAndLine) {
  size_t seen = 0;
  for (const Case& c : cases()) {
    if (c.expected == "clean") continue;
    ++seen;
    for (const Options& o : schedules()) {
      const RunResult r = run_case(c, o);
      EXPECT_NE(r.outcome, Outcome::clean) << c.name;
      const bool found = std::any_of(r.findings.begin(), r.findings.end(), [&](const Diag& d) {
        return d.rule == c.expected && std::find(c.lines.begin(), c.lines.end(), d.where.line) != c.lines.end();
      });
      EXPECT_TRUE(found) << c.name << " expects " << c.expected << ": " << describe(r);
    }
  }
  EXPECT_GE(seen, 20u);
}

TEST(Kernels, ResultsDoNotDependOnThreads) {
  for (const Case& c : cases())
    for (Schedule s : {Schedule::random, Schedule::adversarial}) {
      const RunResult one = run_case(c, {.schedule = s, .seed = 7, .threads = 1});
      const RunResult four = run_case(c, {.schedule = s, .seed = 7, .threads = 4});
      EXPECT_EQ(one.outputs, four.outputs) << c.name;
      EXPECT_EQ(one.instructions, four.instructions) << c.name;
      EXPECT_EQ(describe(one), describe(four)) << c.name;
    }
}

TEST(Kernels, ChecksOffFindNothingButTrapsAndHangs) {
  EXPECT_EQ(run_case(named("race_missing_sync.nvcc.ptx"), {.checks = false}).outcome, Outcome::clean);
  EXPECT_EQ(run_case(named("too_many_arrivals.nvcc.ptx"), {.checks = false}).outcome, Outcome::trap);
  EXPECT_EQ(run_case(named("deadlock_arrival_missing.nvcc.ptx"), {.checks = false}).outcome, Outcome::hang);
}

TEST(Kernels, ADeadlockNamesEveryBlockedWarp) {
  const RunResult r = run_case(named("deadlock_arrival_missing.nvcc.ptx"), {});
  ASSERT_EQ(r.outcome, Outcome::hang);
  const Diag& d = r.findings.front();
  EXPECT_EQ(d.rule, "PROG-01");
  size_t waits = 0;
  for (const Note& n : d.notes) {
    const bool wait = n.message.find("waits at mbarrier") != n.message.npos && n.where.line == 14;
    waits += wait;
    if (wait) {
      EXPECT_NE(n.message.find("for parity 0: it is in phase 0, 1 of 64 arrivals pending, 0 transaction bytes"),
                n.message.npos)
          << n.message;
    }
  }
  EXPECT_EQ(waits, 2u);
}

TEST(Kernels, ADeadlockNamesWhoShouldHaveArrived) {
  auto has_note = [](const RunResult& r, uint32_t line, std::string_view a, std::string_view b) {
    return std::ranges::any_of(r.findings.front().notes, [&](const Note& n) {
      return n.where.line == line && n.message.find(a) != n.message.npos && n.message.find(b) != n.message.npos;
    });
  };
  const RunResult none = run_case(named("deadlock_never_arrived.nvcc.ptx"), {});
  ASSERT_EQ(none.outcome, Outcome::hang);
  EXPECT_TRUE(has_note(none, 18, "may complete", "full (0x400): never executed")) << describe(none);
  EXPECT_TRUE(has_note(none, 22, "may complete barrier 1", "never executed")) << describe(none);
  EXPECT_TRUE(has_note(none, 24, "arrived at barrier 1", "1 time by warp 2")) << describe(none);
  EXPECT_FALSE(has_note(none, 19, "", "")) << describe(none);
  const RunResult few = run_case(named("deadlock_arrival_missing.nvcc.ptx"), {.checks = false});
  EXPECT_TRUE(has_note(few, 13, "arrived at", "32 times by warp 0, 31 times by warp 1")) << describe(few);
}

TEST(Kernels, OutOfBoundsNamesTheAllocation) {
  const RunResult r = run_case(named("out_of_bounds.nvcc.ptx"), {});
  ASSERT_EQ(r.outcome, Outcome::trap);
  EXPECT_NE(r.findings.front().message.find("0 bytes behind the end of 'dst' (252 bytes)"), std::string::npos)
      << r.findings.front().message;
}

TEST(Kernels, LimitsAreOutcomes) {
  EXPECT_EQ(run_case(named("matmul_shared.nvcc.ptx"), {.step_limit = 50}).outcome, Outcome::limit);
  EXPECT_EQ(run_case(named("matmul_shared.nvcc.ptx"), {.timeout_seconds = 1e-6}).outcome, Outcome::limit);
}

TEST(Kernels, LaunchesThatDoNotFitAreRefused) {
  const Case& c = named("vector_add.nvcc.ptx");
  runtime::Manifest m = c.manifest;
  m.kernel = "nobody";
  EXPECT_FALSE(run(c.module, m, {}, {}).ok());
  m = c.manifest;
  m.params.pop_back();
  EXPECT_NE(run(c.module, m, {}, {}).error().message.find("has 3 parameters, the manifest 2"), std::string::npos);
  m = c.manifest;
  m.cluster.x = m.grid.x + 1;
  ASSERT_TRUE(run(c.module, m, {}, {}).ok());
  EXPECT_EQ(run(c.module, m, {}, {})->findings.front().rule, "CLUST-02");
  m.grid.x = m.cluster.x = 17;
  EXPECT_EQ(run(c.module, m, {}, {})->findings.front().rule, "CLUST-01");
  m = c.manifest;
  m.smem_bytes = 232449;
  auto r = run(c.module, m, {}, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->findings.front().rule, "LAUNCH-01");
  m = named("tma_ring.nvcc.ptx").manifest;
  std::get<runtime::TensorMapArg>(m.params[0].value).strides_bytes[0] = 136;
  r = run(named("tma_ring.nvcc.ptx").module, m, {}, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->findings.front().rule, "TMA-23");
}

// Recursion, calls by address and tables of branch targets, against the same functions on the host.
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
TEST(Kernels, FunctionsComputeWhatTheySay) {
  for (const char* name : {"functions.nvcc.ptx", "functions.clang.ptx"}) {
    const Case& c = named(name);
    const auto src = runtime::make_tensor(*c.manifest.tensor_named("src"));
    for (const Options& o : schedules()) {
      const RunResult r = run_case(c, o);
      ASSERT_EQ(r.outputs.size(), 1u);
      for (int i = 0; i < 128; ++i) {
        const int by_switch[] = {11 * i, i ^ 5, i << 3, 2 * i - 1, i * i % 17, -i, 1};
        const int by_address[] = {2 * i, i * i, i + 7};
        const int expected[] = {fib(i % 9), by_address[i % 3], by_switch[(static_cast<int>(src.at(i)) + 4) % 7],
                                ackermann(i % 3, i % 4)};
        for (int k = 0; k < 4; ++k) ASSERT_EQ(r.outputs[0].at(4 * i + k), expected[k]) << name << " " << i << " " << k;
      }
    }
  }
}

// ---- steered runs: two waits of the ring, told who goes first
TEST(Steering, FollowsTheStepsAndSaysWhatHappened) {
  const Case& c = named("tma_ring.nvcc.ptx");
  const RunResult plain = run_case(c, {});
  using S = SteerStep::Kind;
  Options o;
  // Warps 0 and 1 wait for the block barrier; warp 2 joins it, waits, expects, loads. The load of slot 0 completes.
  o.steer = {{.kind = S::run_warp, .warp = 0},
             {.kind = S::run_warp, .warp = 1},
             {.kind = S::run_warp, .warp = 2},
             {.kind = S::run_warp, .warp = 0},  // cannot: the slot is empty
             {.kind = S::run_warp, .warp = 2},
             {.kind = S::run_warp, .warp = 2},
             {.kind = S::run_warp, .warp = 2},
             {.kind = S::run_warp, .warp = 0},  // cannot: the bytes have not landed
             {.kind = S::complete_async, .barrier = 0x400, .n = 0},
             {.kind = S::run_warp, .warp = 0},
             {.kind = S::complete_async, .barrier = 0x400, .n = 0}};
  const RunResult r = run_case(c, o);
  ASSERT_EQ(r.steered.size(), o.steer.size());
  const EventKind want[] = {EventKind::named_barrier, EventKind::named_barrier, EventKind::named_barrier,
                            EventKind::none,          EventKind::wait,          EventKind::arrive,
                            EventKind::bulk_issue,    EventKind::none,          EventKind::bulk_issue,
                            EventKind::wait,          EventKind::none};
  for (size_t i = 0; i < o.steer.size(); ++i) {
    EXPECT_EQ(r.steered[i].event, want[i]) << "step " << i << ": " << name_of(r.steered[i].event);
    EXPECT_EQ(r.steered[i].happened, want[i] != EventKind::none) << "step " << i;
  }
  EXPECT_EQ(r.steered[4].where.line, 23u);
  EXPECT_EQ(r.outcome, Outcome::clean) << describe(r);
  EXPECT_EQ(r.outputs, plain.outputs);
}

// ptxas accepts what the simulator runs (where it is installed). The debug sections that .loc refers to are not kept.
TEST(Kernels, PtxasAcceptsThem) {
  if (std::system("ptxas --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas";
  const std::string copy = std::filesystem::temp_directory_path() / ("tilecheck_sim_test." + std::to_string(getpid()) + ".ptx");
  for (const Case& c : cases()) {
    std::istringstream lines{std::string(source_file_text(c.module.text))};
    std::string text;
    for (std::string line; std::getline(lines, line);)
      if (line.find(".loc\t") == line.npos && line.find(".file\t") == line.npos) text += line + "\n";
    ASSERT_TRUE(write_file(copy, text).ok());
    EXPECT_EQ(std::system(("ptxas -arch=sm_90a -o /dev/null " + copy + " >/dev/null 2>&1").c_str()), 0) << c.name;
  }
  std::filesystem::remove(copy);
}

}  // namespace
}  // namespace tc::sim
