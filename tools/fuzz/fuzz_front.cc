// Mutated tile programs for the front end: every input must end in valid tile IR that parses back to itself, or in
// located diagnostics, in bounded time and memory. A child process works through inputs; one that dies or stalls leaves
// its input behind.
//   fuzz_front SECONDS SEED FILE.py...      exit 1: an input was left in front-<seed>-<number>.py
// With 0 seconds each file is tried as it is, in this process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "tools/fuzz/front_input.h"
#include "tools/fuzz/mutate.h"

namespace tc::tools {
namespace {

constexpr unsigned kMostSeconds = 20;            // for one input: a stall
constexpr rlim_t kMostMemory = rlim_t{4} << 30;  // bytes of address space of a child
constexpr int kBatch = 64;                       // inputs of one child
constexpr int kMostFindings = 20;                // then the run ends

void run_batch(uint64_t seed, uint64_t batch, const std::vector<std::string>& corpus) {
  Random r{seed * 1'000'003 + batch * 1009};
  const std::string name = "front-" + std::to_string(seed) + "-" + std::to_string(batch) + ".py";
  const rlimit memory{kMostMemory, kMostMemory};
  setrlimit(RLIMIT_AS, &memory);
  for (int i = 0; i < kBatch; ++i) {
    const std::string text = mutated(corpus[r.below(corpus.size())], r, i % 8 == 0, kWords, kMostBytes);
    if (!write_file(name, text)) _exit(2);
    alarm(kMostSeconds);
    try_input(text);
    alarm(0);
  }
  std::remove(name.c_str());
  _exit(0);
}

int fuzz(double seconds, uint64_t seed, const std::vector<std::string>& corpus) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t tried = 0;
  int bad = 0;
  for (uint64_t batch = 0;; ++batch) {
    if (bad >= kMostFindings ||
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds)
      break;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_batch(seed, batch, corpus);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return std::perror("fuzz_front"), 2;
    tried += kBatch;
    if (status == 0) continue;
    ++bad;
    std::printf("batch %llu: %s; the input is front-%llu-%llu.py\n", static_cast<unsigned long long>(batch),
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended badly",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(batch));
  }
  std::printf("%llu inputs in %.0f s, %d left behind\n", static_cast<unsigned long long>(tried), seconds, bad);
  return bad ? 1 : 0;
}

}  // namespace
}  // namespace tc::tools

int main(int argc, char** argv) {
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i)
    if (auto text = tc::read_file(argv[i])) corpus.push_back(*text);
  if (corpus.empty()) return std::fputs("usage: fuzz_front SECONDS SEED FILE.py...\n", stderr), 2;
  if (std::atof(argv[1]) == 0) {
    for (const std::string& text : corpus) tc::tools::try_input(text);
    return 0;
  }
  return tc::tools::fuzz(std::atof(argv[1]), std::strtoull(argv[2], nullptr, 10), corpus);
}
