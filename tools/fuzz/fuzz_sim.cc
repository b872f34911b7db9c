// Mutated PTX for the parser, and for decoding and execution: every input must end in a module or a diagnostic, every
// run in an outcome, in bounded time. A child process works through inputs; one that dies or stalls leaves its input
// behind.
//   fuzz_sim parse|run SECONDS SEED FILE.ptx...      files with a launch header for `run`; exit 1: an input was left in
//   parse-<seed>-<number>.ptx or run-...
// With 0 seconds each file is tried as it is, in this process.
// Mutations are by line and by token (a number, a name, a modifier of another place) and, for the parser, by byte.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "sim/api.h"
#include "tools/fuzz/mutate.h"

namespace tc::tools {
namespace {

constexpr unsigned kMostSeconds = 20;       // for one input: a stall
constexpr uint64_t kSteps = 200'000;        // warp instructions of a cluster
constexpr size_t kMostBytes = 1 << 20;      // of an input
constexpr uint64_t kMostTensors = 1 << 22;  // bytes, so that a mutated header cannot ask for the whole memory
constexpr int kBatch = 64;                  // inputs of one child

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "-1",
                                    "31",
                                    "32",
                                    "33",
                                    "128",
                                    "255",
                                    "256",
                                    "4096",
                                    "65535",
                                    "0x7fffffff",
                                    "0x80000000",
                                    "0xffffffff",
                                    "0x7fffffffffffffff",
                                    "0f7FC00000",
                                    "0d7FF0000000000000",
                                    "18446744073709551615"};

void try_input(const std::string& text, bool executes) {
  auto module = ptx::parse(text, "fuzz.ptx");
  if (!module.ok()) return;
  if (!executes) {
    const std::string printed = ptx::print(*module);
    auto again = ptx::parse(printed, "printed.ptx");
    if (again.ok() && *again == *module) return;
    const std::vector<std::string> before = lines_of(printed),
                                   after = again.ok() ? lines_of(ptx::print(*again)) : before;
    for (size_t k = 0; k < before.size() && k < after.size(); ++k)
      if (before[k] != after[k]) std::fprintf(stderr, "%s\nreads as\n%s\n", before[k].c_str(), after[k].c_str());
    std::fputs(again.ok() ? "what was printed reads differently\n" : render(again.error()).c_str(), stderr);
    std::abort();
  }
  auto manifest = runtime::parse_manifest_header(text);
  if (!manifest.ok()) return;
  uint64_t bytes = 0;
  for (const auto& t : manifest->tensors) bytes += t.elements() > kMostTensors ? kMostTensors + 1 : t.bytes();
  if (bytes > kMostTensors || manifest->grid.count() > 64) return;
  sim::Options o;
  o.schedule = text.size() % 2 ? sim::Schedule::rr : sim::Schedule::adversarial;
  o.step_limit = kSteps, o.timeout_seconds = 5, o.threads = 1;
  (void)sim::run(*module, *manifest, {}, o);
}

int fuzz(bool executes, double seconds, uint64_t seed, const std::vector<std::string>& corpus) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t tried = 0;
  int bad = 0;
  for (uint64_t batch = 0;; ++batch) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (spent > seconds) break;
    std::fflush(stdout);
    const pid_t child = fork();
    Random r{seed * 1'000'003 + batch * 1009};
    if (child == 0) {
      const std::string name =
          std::string(executes ? "run-" : "parse-") + std::to_string(seed) + "-" + std::to_string(batch) + ".ptx";
      for (int i = 0; i < kBatch; ++i) {
        const std::string text = mutated(corpus[r.below(corpus.size())], r, !executes, kNumbers, kMostBytes);
        if (!write_file(name, text).ok()) _exit(2);
        alarm(kMostSeconds);
        try_input(text, executes);
        alarm(0);
      }
      std::remove(name.c_str());
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return std::perror("fuzz_sim"), 2;
    tried += kBatch;
    if (status != 0) {
      ++bad;
      std::printf("batch %llu: %s; the input is %s-%llu-%llu.ptx\n", static_cast<unsigned long long>(batch),
                  WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended badly", executes ? "run" : "parse",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(batch));
    }
  }
  std::printf("%llu inputs in %.0f s, %d left behind\n", static_cast<unsigned long long>(tried), seconds, bad);
  return bad ? 1 : 0;
}

}  // namespace
}  // namespace tc::tools

int main(int argc, char** argv) {
  const std::string what = argc > 4 ? argv[1] : "";
  if (what != "parse" && what != "run") {
    std::fputs("usage: fuzz_sim parse|run SECONDS SEED FILE.ptx...\n", stderr);
    return 2;
  }
  std::vector<std::string> corpus;
  for (int i = 4; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);  // an input may be no text at all
    if (file) corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) return std::fputs("fuzz_sim: no input could be read\n", stderr), 2;
  if (std::atof(argv[2]) == 0) {
    for (const std::string& text : corpus) tc::tools::try_input(text, what == "run");
    return 0;
  }
  return tc::tools::fuzz(what == "run", std::atof(argv[2]), std::strtoull(argv[3], nullptr, 10), corpus);
}
