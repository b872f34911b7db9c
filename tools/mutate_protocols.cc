// The whole mutation test: every mutant of the right protocols of a folder is judged, and what is proved has to survive
// exact runs.  mutate_protocols FOLDER [MOST-PER-FILE] [VERDICTS-FILE]
// VERDICTS-FILE gets one line a mutant: file, verdict and the text with | for newlines. Exit 1 if a proof is
// contradicted.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "verifier/judge.h"
#include "verifier/proof/mutants.h"

int main(int argc, char** argv) {
  using namespace tc;
  using namespace tc::verify;
  if (argc < 2) {
    std::fprintf(stderr, "usage: mutate_protocols FOLDER [MOST-PER-FILE] [VERDICTS-FILE]\n");
    return 2;
  }
  size_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : SIZE_MAX;
  std::vector<std::filesystem::path> files;
  for (const auto& f : std::filesystem::directory_iterator(argv[1]))
    if (f.path().filename().string().starts_with("ok_")) files.push_back(f.path());
  std::ranges::sort(files);
  std::map<std::string, std::map<std::string, int>> table;
  std::map<std::string, int> total;
  std::string verdicts;
  int contradicted = 0;
  double slowest = 0;
  for (const auto& file : files) {
    Result<std::string> text = read_file(file.string());
    if (!text) return 2;
    std::vector<Mutant> mutants = mutants_of(*text);
    for (size_t i = 0; i < std::min(most, mutants.size()); ++i) {
      const Mutant& mutant = mutants[i];
      std::string verdict = "refused";
      if (Result<Protocol> p = parse_protocol(file.string(), mutant.text)) {
        JudgeOptions options;
        options.diagnose = false;
        options.obligations = *parse_obligations("0-4");
        Judgement j = judge(*p, options);
        slowest = std::max(slowest, j.report.seconds);
        verdict = j.proof.vacuous() ? "vacuous" : std::string(name_of(j.report.verdict));
        if (verdict == "proved")
          if (auto wrong = contradiction(j.proof, 30)) {
            ++contradicted;
            std::printf("CONTRADICTED %s / %s: %s\n%s\n", file.stem().c_str(), mutant.what.c_str(), wrong->c_str(),
                        mutant.text.c_str());
          }
        if (verdict == "unknown")
          std::printf("unknown %s / %s: %s\n", file.stem().c_str(), mutant.what.c_str(),
                      j.report.obligations.empty() ? "" : j.report.obligations[0].message.c_str());
      }
      ++table[mutant.what][verdict];
      ++total[verdict];
      std::string line = mutant.text;
      std::ranges::replace(line, '\n', '|');
      verdicts += file.stem().string() + "\t" + verdict + "\t" + line + "\n";
    }
  }
  for (const auto& [what, row] : table) {
    std::printf("%-14s", what.c_str());
    for (const auto& [verdict, n] : row) std::printf("  %s %d", verdict.c_str(), n);
    std::printf("\n");
  }
  for (const auto& [verdict, n] : total) std::printf("%s %d  ", verdict.c_str(), n);
  std::printf("contradicted %d, slowest %.2f s\n", contradicted, slowest);
  if (argc > 3)
    if (Status s = write_file(argv[3], verdicts); !s.ok()) return 2;
  return contradicted != 0;
}
