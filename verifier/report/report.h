// What tilecheck (and tilesim, whose findings are obligations with status refuted) says about a kernel: the JSON schema
// of docs, version 1, as a struct, with its two writers and the exit code.
//   verdict refuted → exit 1 · unsupported → 2 · unknown, bounded → 3 · proved → 0; over several kernels 1 before 2
//   before 3
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/diag.h"

namespace tc {

// One step of a refutation, so that a simulator can be steered along it: who runs, or which async operation completes.
struct TraceStep {
  std::string role;
  int64_t warp = 0, lane = 0;  // representative; it stands for the threads up to last_warp, last_lane
  int64_t last_warp = 0, last_lane = 0;
  int64_t first_thread = -1;  // of the role, -1 unknown
  std::string kind, text;     // "wait", "all wait full[i % S] …"
  SourceRange where;
  std::string ring;               // empty: none
  int64_t slot = -1, phase = -1;  // phase of the barrier when the step happens
  std::vector<int64_t> iteration;
  bool completion = false;  // the copy (or matrix operation) issued by this event completes
};
std::string text_of(const TraceStep& s);

enum class Verdict { proved, bounded, refuted, unknown, unsupported, vacuous };
enum class Scope { all, specialisation };
std::string_view name_of(Verdict s);
std::string_view name_of(Scope s);

struct ObligationReport {
  std::string id, rule, defect;  // "2", "MBAR-06", "barrier-parity"; rule and class empty where nothing is wrong
  Verdict status = Verdict::proved;
  std::string method;
  SourceRange where;
  std::string message;
  std::vector<Note> notes;
  std::vector<TraceStep> trace;
  std::string replayed = "not-run";  // yes | no | not-run
};
struct Reason {
  std::string obligation, why;
};
struct ReportAssumption {
  std::string text;
  bool used = true;
};

struct KernelReport {
  std::string name, file;
  uint32_t line = 0;
  std::string arch;
  std::vector<std::pair<std::string, int64_t>> args;
  std::string specialisation_from = "literal";  // arg | manifest | main | default | literal
  std::string level = "protocol";               // ir | protocol | ptx
  std::vector<std::string> generalised, judged;
  std::vector<Reason> not_applicable, not_judged;
  std::vector<ReportAssumption> assumptions;
  Verdict verdict = Verdict::unknown;
  Scope scope = Scope::all;
  std::optional<int64_t> bound;
  std::vector<std::string> preconditions;
  double seconds = 0;
  std::vector<ObligationReport> obligations;
  std::vector<std::string> certificate;  // lines for people; the text writer prints them
};

// The verdict that the obligations add up to: refuted, then unsupported (also: something is not judged), then unknown
// (also: vacuous), then bounded, then proved.
Verdict verdict_of(const KernelReport& k);
int exit_code(std::span<const KernelReport> kernels, bool allow_bounded);

// clang-like diagnostics and a summary line a kernel; with `details` the certificate as well.
std::string text_report(std::span<const KernelReport> kernels, bool details);
std::string json_report(std::string_view tool, std::span<const KernelReport> kernels);

}  // namespace tc
