// From "this protocol fails" to "this line breaks that rule".
// A failing run shows a symptom (a hang at a wait); the cause may stand elsewhere (a count at the allocation). The
// cause is found by repair: small edits that undo the mistakes people make (a flipped parity, a count, a missing
// arrival, forgotten bytes, a loop one trip short, a release too early, …), each tried by exact runs and then proved.
// The first edit whose result is right names the line and the rule. Without one the open obligations and the symptom
// decide.
//   wait full[i % 3] ((i // 3) & 1) ^ 1   fails; with `(i // 3) & 1` the protocol is proved → MBAR-06 at this wait
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/diag.h"
#include "verifier/proof/exact.h"
#include "verifier/proof/prove.h"

namespace tc::verify {

struct Diagnosis {
  std::string obligation, rule, defect;  // defect: class of the finding
  SourceRange where;
  std::string message;
  std::vector<Note> notes;
  std::vector<Note> also;  // other lines that show the same defect
  bool by_repair = false;
};

// One edit of a protocol and what it would mean.
struct Repair {
  Protocol fixed;
  Diagnosis diagnosis;
  // Where this other edit is right as well, it is the one to believe.
  std::optional<std::pair<Protocol, Diagnosis>> without;
};
// Edits in the order of preference.
std::vector<Repair> repairs(const Protocol& p);

// The cause of a failed run.
Diagnosis find_cause(const Protocol& p, const Proof& proof, const Attack& attack, const Deadline& deadline);
// What the run shows where it fails.
Diagnosis symptom(const Model& m, const Attack& attack);
// Rule, place and message of an obligation that stayed open.
Diagnosis of_finding(const Model& m, const Finding& f);

// The place of a statement, and the notes "full is allocated here", "arrives here", … of a ring.
std::vector<Note> ring_notes(const Protocol& p, int ring, const Event* except);

}  // namespace tc::verify
