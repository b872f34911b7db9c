// Arithmetic on tickets and tiles: which instance of an event has a given ticket, when that instance exists, when two
// numbers are equal. A number w*K + k with 0 <= k < K borrows: k - 5 < 0 becomes (w - j, k - 5 + j*K) for the right j,
// and for a distance d only the constants j between 0 and d occur, so K is never multiplied by an unknown.
//   solve "ticket(x) = 7" for a class with ticket i + 2: x = 5, no constraint
// What does not fit is noted in `unfit` and makes the verdict unknown: an existence that is missed must prove nothing.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/classes.h"

namespace tc::verify {

struct Solution {
  std::vector<Aff> vec;
  std::vector<Aff> constraints;  // each >= 0
};

class Algebra {
 public:
  explicit Algebra(Model& m) : m_(m) {}
  // w*K + k as one linear term, products being symbols.
  Aff linear(const Num& n) { return n.K ? n.k + m_.terms.product(n.w, *n.K) : n.k; }
  // Instances x of class `id` with number(x) = value, all of them or `unfit`; at a point only those that can hold
  // there.
  std::vector<Solution> solve(int id, const Num& number, const Num& value, const Point* at);
  // Whether there is such an instance: exactly, or (surely_exists) perhaps missing some, for claims that something is
  // there.
  Formula exists(int id, const Num& number, const Num& value);
  Formula surely_exists(int id, const Num& number, const Num& value);
  Formula at_least_zero(const Num& n);
  Formula equal(const Num& a, const Num& b);
  // Linear term of an expression whose names have the closed forms of class `id`; no value: `why` says what does not
  // fit.
  std::optional<Aff> term(const Expr& e, int id, std::string& why);
  const std::optional<std::string>& unfit() const { return unfit_; }
  void set_unfit(std::string why) {
    if (!unfit_) unfit_ = std::move(why);
  }

 private:
  std::optional<std::pair<int64_t, int64_t>> borrows(const Aff& distance);  // lowest and highest j
  std::optional<Aff> flips_parity(const std::string& mask, const Aff& slot, int id, std::string& why);
  Model& m_;
  std::optional<std::string> unfit_;
};

// A constant is a value of any counter: 0 is 0*K + 0.
Num like(const Num& a, const Num& b);

}  // namespace tc::verify
