// What integer values can be: intervals, and affine forms with an optional modulus.
//   by in [0, 7], by*128 + 5 in [5, 901]; (k + 2) % 3 is the affine form k + 2 modulo 3.
// Used to drop bounds checks that always hold and to see that two ring slots differ.
#pragma once
#include <map>
#include <optional>

#include "compiler/ir/ir.h"

namespace tc::ir {

struct Range {
  int64_t lo = INT32_MIN, hi = INT32_MAX;
  bool operator==(const Range&) const = default;
};

// Intervals of the values of one function. Thread indices are bounded by the launch, and by the section of the query.
class Ranges {
 public:
  explicit Ranges(const Module& m);
  Range of(ValueId v) const;
  // The thread index lies in [lo, hi) from now on.
  void set_threads(int64_t lo, int64_t hi) { threads_ = {lo, hi - 1}; }
  // A bound known for a value (a lowered loop's index, …).
  void set(ValueId v, Range r) { known_[v.index] = r; }

 private:
  const Module& m_;
  Range threads_{0, 1023};
  std::map<uint32_t, Range> known_;
};

// sum of coefficients * values + offset, taken modulo `modulus` if that is not 0.
struct Affine {
  std::map<uint32_t, int64_t> terms;
  int64_t offset = 0;
  int64_t modulus = 0;
};
std::optional<Affine> affine_of(const Module& m, ValueId v);
// Provably never equal, when in `b` the value `shifted` stands for `shifted + distance` (another iteration of its
// loop).
bool never_equal(const Module& m, ValueId a, ValueId b, ValueId shifted, int64_t distance);

}  // namespace tc::ir
