// Queries over terms.h, answered by Z3. Only solver.cc (and schedule_lp.cc, which solves the linear problem of the
// schedule) includes it. Every query has a name, a time limit and is counted; what no solver needs to see (folded to
// true or false) is answered here.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verifier/proof/terms.h"

namespace tc::verify {

// A point in time after which everything is unknown.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool passed() const { return std::chrono::steady_clock::now() >= end_; }
  int64_t left_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now()).count();
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

enum class Satisfiable : uint8_t { no, yes, unknown };
struct Answer {
  Satisfiable result = Satisfiable::unknown;
  Point point;  // yes: a value for every variable asked for
};
struct LoggedQuery {  // for SMT-LIB export
  std::string name;
  std::vector<Formula> formulas;
  Satisfiable result;
};

class Solver {
 public:
  Solver(const Terms& terms, const Deadline& deadline);
  ~Solver();
  // Is there a point where all formulas hold? A small one (values up to `small`) is preferred.
  Answer check(std::string_view name, std::span<const Formula> formulas, std::span<const Sym> variables, int64_t small);
  size_t queries() const { return queries_; }
  // Keeps every query from now on.
  void keep_log() { keep_log_ = true; }
  const std::vector<LoggedQuery>& log() const { return log_; }

 private:
  struct Context;
  const Terms& terms_;
  const Deadline& deadline_;
  std::unique_ptr<Context> cx_;
  size_t queries_ = 0;
  bool keep_log_ = false;
  std::vector<LoggedQuery> log_;
};

// The query as SMT-LIB 2 text, written from our own terms (not by the solver that answered).
std::string smt_lib(const Terms& terms, const LoggedQuery& query);

}  // namespace tc::verify
