// The proof attempt: schedule, then every question by solver and path search.
// A question "for all points of region R: goal < target" is answered by counterexample: take a point of R, find a path
// there, keep it with the constraints of its instances, ask for a point of R that no kept path covers, until there is
// none. First, last, short and zero-trip cases come out as further paths by themselves.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "verifier/proof/questions.h"

namespace tc::verify {

struct Proof {
  std::unique_ptr<Model> model;
  std::vector<Finding> findings;  // empty: proved
  std::vector<Question> questions;
  std::vector<std::vector<Path>> paths;  // per question; of `ordered` ones
  std::vector<Dependency> dependencies;
  std::optional<Schedule> schedule;
  std::vector<LoggedQuery> log;
  size_t queries = 0, search_steps = 0;
  bool proved() const { return findings.empty(); }
  bool vacuous() const;
};

struct ProveOptions {
  size_t most_findings = 8;  // stop after so many
  bool keep_log = false;     // of queries, for SMT-LIB
};
// The protocol with its parameters at their actual values; with every parameter that is at least 1 there assumed so.
Protocol pinned(const Protocol& p);
// Without the events that are not executed at the actual values (block barriers lowered to their events).
Protocol live_part(const Protocol& p);
Protocol with_trips(const Protocol& p);
Proof prove(const Protocol& p, const Deadline& deadline, const ProveOptions& options);

}  // namespace tc::verify
