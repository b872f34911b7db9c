// Diagnostics are values: a rule id, a place, a message, further places, and optionally a trace.
//   gemm.py:35:17: error: wait asks for parity (k // 3) & 1, the phase is k & 1 [MBAR-06]
//      35 |     T.mbarrier_wait_parity(b_full, (k // STAGES) & 1)
//         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   gemm.py:32:17: note: completed here
// Rule ids are those of specs/rule.def; a diagnostic about syntax or usage has none ("").
#pragma once
#include <string>
#include <vector>

#include "base/source.h"

namespace tc {

enum class Severity { note, warning, error };
// What kind of failure it is; decides the exit code of a tool (2 for input and unsupported).
enum class DiagKind { violation, input, unsupported, internal };

struct Note {
  SourceRange where;
  std::string message;
};

struct Diag {
  Severity severity = Severity::error;
  DiagKind kind = DiagKind::input;
  std::string rule;  // "MBAR-05", or empty
  SourceRange where;
  std::string message;
  std::vector<Note> notes;
  std::vector<std::string> trace;  // one line a step, oldest first
};

Diag input_error(SourceRange where, std::string message);
Diag unsupported(SourceRange where, std::string message);  // message names the construct
// clang's layout: place, severity, message, [rule], the line, a caret, notes, trace. Ends with a newline.
std::string render(const Diag& diag);

}  // namespace tc
