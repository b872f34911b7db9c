// Progress (obligation 3): times for all events that every dependency advances, for every parameter value.
//   time of class e in iteration (w, k) = A*(w*K + k) + B*w + sum over parameters p of d_e[p]*p + c_e
// A dependency e(x) → f(y) exists on a polyhedron {g >= 0}; there psi = time_f - time_e - 1 >= 0 because
// psi = rest + sum of l_i * g_i with rest, l_i >= 0, coefficient by coefficient (Farkas). The multipliers make it
// checkable without a solver. All numbers are integers (times scaled by the common denominator).
//   ring of 3: A = 6; producer arrive 1, consumer wait 2, read 3, arrive 4, the producer's wait of the next lap -12
// w*K is a symbol of its own with 0 <= w*K <= W*K - K and, inside the inner loop, w*K >= w.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/algebra.h"
#include "verifier/proof/solver.h"

namespace tc::verify {

struct Dependency {
  int from = -1, to = -1;
  std::vector<Aff> from_vec, to_vec;
  std::vector<Aff> region;  // each >= 0 where the dependency exists
};
struct Farkas {
  int64_t rest = 0;
  std::vector<int64_t> multipliers;  // one a constraint of the region
  bool operator==(const Farkas&) const = default;
};
struct Schedule {
  int64_t flat = 0, outer = 0;                // A, B
  std::vector<std::vector<int64_t>> offsets;  // per class: one a symbol of `symbols`, the last the constant
  std::vector<Sym> symbols;
  std::vector<Farkas> proofs;  // one a dependency
};

// The two time coordinates of an instance.
struct Clock {
  Aff flat, outer;
};
class Timing {
 public:
  explicit Timing(Model& m);
  Clock clock(int id, std::span<const Aff> vec) const;
  std::vector<Dependency> dependencies(Algebra& algebra) const;
  const std::vector<Sym>& symbols() const { return symbols_; }
  // Time of an instance at a point.
  int64_t date(const Schedule& s, int id, std::span<const Aff> vec, const Point& at) const;

 private:
  void chain(const std::vector<Sequence>& items, std::vector<Dependency>& out) const;
  void close(Dependency& d) const;
  Model& m_;
  std::vector<std::pair<Aff, Aff>> inner_;  // outer trip count → inner trip count
  std::vector<Sym> symbols_;                // parameters and products of trip counts
};

// No value: `unsatisfiable` tells no schedule exists from time-outs and numbers out of range.
std::optional<Schedule> find_schedule(Model& m, const Timing& timing, const std::vector<Dependency>& deps,
                                      const Deadline& deadline, bool& unsatisfiable);
// Farkas by substitution: the index of the first dependency whose identity fails, or of none.
std::optional<size_t> check_farkas(const Model& m, const Timing& timing, const std::vector<Dependency>& deps,
                                   const Schedule& s);

}  // namespace tc::verify
