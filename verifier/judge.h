// A protocol's verdict: the one entry that the tools call.
//   proved       every obligation holds for all parameters (scope all, perhaps with a found precondition such as K >=
//   1),
//                or with the parameters at their actual values (scope specialisation); the certificate was re-checked
//   refuted      a concrete run of the real machine fails: at the actual values where the protocol carries them, else
//   at
//                some small ones. The first obligation entry is the cause, with the trace
//   unknown      otherwise, with what stayed open
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/exact.h"
#include "verifier/proof/prove.h"
#include "verifier/report/report.h"

namespace tc::verify {

struct JudgeOptions {
  double timeout_seconds = 30;
  std::array<bool, 9> obligations = {true, true, true, true, true, true, true, true, true};  // 0 … 8
  bool diagnose = true;       // look for the cause of a refutation
  bool certificate = true;    // build and re-check it
  bool keep_queries = false;  // for SMT-LIB
};
struct Judgement {
  KernelReport report;
  Proof proof;                   // the attempt that decided
  std::optional<Attack> attack;  // refuted
  std::string certificate_json;  // proved
};
Judgement judge(const Protocol& p, const JudgeOptions& options);

// "0-4,7" → which obligations; no value: not a list of ranges within 0 … 8.
std::optional<std::array<bool, 9>> parse_obligations(std::string_view text);
std::vector<TraceStep> trace_of(const Model& m, const Attack& a);

}  // namespace tc::verify
