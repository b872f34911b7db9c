// Everything that has to be true for a protocol to be right, as a list of questions (proof/README of the method: the
// table of obligations 0, 1, 2, 4 and V). The list follows from the protocol and its tickets alone; the prover answers
// each with the solver and the path search, the certificate checker asks the same list again at small points.
//   valid    for all points of `region`: `claim`
//   ordered  for all points of `region`: goal happens before target
//   possible there is a point of `region`
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/order.h"

namespace tc::verify {

// What a question is about: decides the rule and the place of a finding (verifier/rules).
enum class Topic : uint8_t {
  assumptions,
  never_executed,
  outside_method,
  negative_trip,  // the frame
  no_ticket,
  slot,
  parity,
  operand,
  ticket_range,  // tickets: 0 and 2
  arrivals_of_wait,
  bytes_of_wait,
  byte_limit,
  most_arrivals,
  bytes,
  previous_count,
  nobody_arrives,  // 1
  attribution,
  overtaken,
  late_expect,  // 0 and 2 by order
  schedule,     // 3
  no_tile,
  tile_slot,
  tile_operand,
  tile_range,
  unwritten,
  write_before_read,
  read_before_overwrite,
  writes_in_order,
  gap,
  two_writers,  // 4
};
enum class QuestionKind : uint8_t { valid, ordered, possible };

struct Question {
  std::string_view obligation;
  Topic topic = Topic::outside_method;
  QuestionKind kind = QuestionKind::valid;
  int subject = -1, other = -1;  // classes
  std::string text;
  Formula region = kTrue, claim = kTrue;
  Node goal, target;
  std::vector<Aff> wide;       // ordered: terms that are large in the steady state
  std::vector<Sym> variables;  // parameters and loop variables it speaks of
};

enum class FindingKind : uint8_t { open, unknown, vacuous };  // open: a point where it fails; unknown: not answered
struct Finding {
  std::string obligation;
  Topic topic = Topic::outside_method;
  FindingKind kind = FindingKind::open;
  int subject = -1, other = -1;
  SourceRange where;
  std::string text;
};

// Reads tickets and tiles off reference runs and stores them in the classes; findings where there are none.
std::vector<Finding> infer_meaning(Model& m);
// Slots of every ring that are used; a spare slot that nobody uses is no part of the ring.
void find_used_slots(Model& m);
// Parameter sets to try: small ones, else the actual one, else larger ones.
std::vector<std::vector<int64_t>> trial_parameters(const Model& m, int64_t top);
std::vector<Question> all_questions(Model& m, Algebra& algebra, std::vector<Finding>& findings);
// Which threads of a class can tell the difference: lane 0 and another, of warp 0 and another warp.
std::vector<Lane> telling_threads(const Model& m, int id);

}  // namespace tc::verify
