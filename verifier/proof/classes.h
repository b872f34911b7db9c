// Protocol → event classes: one class a line of a role, with its loops, guards, place in the program and the closed
// form of every counter there.
//   for w < W { for k < K { e; inc it } }      class e: loops (w, W), (k, K); it = w*K + k at e
// A counter that runs on through tiles of K steps is kept as the pair (w, k) of a Num: no product of two unknowns ever
// reaches the solver as a product. What does not fit (three loops deep, guards that are not affine, a predicate around
// a part of a body, …) is a Trouble: the proof answers unknown there, the exact runs still work on the statements.
// syncthreads is lowered here to a ring "cta" of one slot on which every thread arrives and waits.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/terms.h"
#include "verifier/protocol/protocol.h"

namespace tc::verify {

// w*K + k; without K plainly k.
struct Num {
  Aff w, k;
  std::optional<Aff> K;
  Num plus(int64_t n) const { return {w, k + n, K}; }
  Num substitute(std::span<const std::pair<Sym, Aff>> map) const { return {w.substitute(map), k.substitute(map), K}; }
  int64_t at(const Point& p) const { return k.at(p) + (K ? w.at(p) * K->at(p) : 0); }
  bool operator==(const Num&) const = default;
};

struct LoopLevel {
  std::vector<int> place;  // path in the role's statements; equal place: the same loop
  Sym var = 0;
  Aff trip;
};

struct EventClass {
  int role = 0, id = 0;
  bool is_mark = false;  // the begin or end of an iteration, for schedules only
  Event event;
  std::vector<LoopLevel> loops;
  std::vector<Aff> guards;  // each >= 0
  std::vector<int> place;
  std::vector<std::pair<std::string, Num>> names;  // what every name is worth here
  std::optional<Num> ticket, tile;
  const Num* find(std::string_view name) const;
  bool writes() const { return event.kind == EventKind::copy || event.kind == EventKind::write; }
  bool on_ring() const { return event.ring >= 0; }
};

// Statements with compiled expressions, for exact runs.
struct Code {
  ExprOp op = ExprOp::constant;
  int64_t value = 0;
  int variable = -1;  // index of a name; of bit(): of the mask
  std::vector<Code> args;
};
struct Statement {
  enum class Kind : uint8_t { event, loop, branch, data_branch } kind = Kind::event;
  int id = -1;        // event: its class
  int variable = -1;  // loop: its variable; data_branch: its predicate; increment, flip: counter, mask
  Code trip;          // loop: trip count; branch: condition
  Code slot, parity, at, tile;
  std::vector<Code> operands;  // left sides of / and % in slot, parity, at
  std::vector<Statement> body;
};

// Program order as the schedule sees it: classes and nested loops with their marks.
struct Sequence {
  int id = -1;  // a class, or a loop:
  std::vector<Sequence> items;
  Aff trip;
};

struct ModelParam {
  Sym sym = 0;
  std::string name;
  std::optional<int64_t> actual;
  int taken_of = -1;   // "iterations taken": the parameter that counts all iterations …
  int predicate = -1;  // … and the predicate
};

struct Trouble {
  SourceRange where;
  std::string what;
};

struct Model {
  Protocol protocol;  // rings include "cta" where a block barrier is used
  Terms terms;
  std::vector<ModelParam> params;
  std::vector<Aff> assumptions;  // each >= 0, parameters included
  std::vector<Code> assumption_code;
  std::vector<EventClass> classes;
  std::vector<std::vector<int>> role_events, role_counts;  // per role: events; increments and flips
  std::vector<Sequence> sequences;
  std::vector<std::vector<Statement>> programs;
  std::vector<std::string> variables;  // names of Code: parameters first
  std::vector<std::string> predicates, masks, counters;
  std::vector<Trouble> troubles;
  std::vector<int64_t> slots;  // of every ring, spare slots that nobody uses left out (set by tickets.cc)
  int64_t depth = 1;           // the largest number of slots

  const EventClass& operator[](int id) const { return classes[static_cast<size_t>(id)]; }
  const Role& role_of(int id) const {
    return protocol.roles[static_cast<size_t>(classes[static_cast<size_t>(id)].role)];
  }
  // All constraints (>= 0) of instance `vec` of a class.
  std::vector<Aff> domain(int id, std::span<const Aff> vec) const;
  std::vector<Aff> instance(int id) const;   // its loop variables
  std::vector<Aff> primed_instance(int id);  // … of a second instance
  std::vector<std::pair<Sym, Aff>> binding(int id, std::span<const Aff> vec) const;
  bool lives(int id, std::span<const Aff> vec, const Point& at) const;
  std::vector<Sym> param_syms() const;
  std::string event_text(int id) const { return print(protocol, classes[static_cast<size_t>(id)].event); }
};

Model build_model(const Protocol& p);

// Which threads of its role execute an event, and how many.
bool executes(const Model& m, int id, int64_t warp, int64_t lane);
int64_t executors(const Model& m, int id);
// Loops that two classes of one role share.
size_t common_loops(const EventClass& a, const EventClass& b);
// The linear value of an expression; the error says what does not fit.
using Names = std::vector<std::pair<std::string, Num>>;
std::optional<Num> affine(const Expr& e, const Names& names, std::string& why);
// Constraints (>= 0) of a conjunction of comparisons.
std::optional<std::vector<Aff>> affine_guard(const Expr& e, const Names& names, std::string& why);

}  // namespace tc::verify
