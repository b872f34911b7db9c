// The linear problem of the schedule, solved over the rationals by Z3 and scaled to integers.
#include <z3++.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "verifier/proof/schedule.h"

namespace tc::verify {
namespace {
constexpr int64_t kLongestMs = 20000;
constexpr int64_t kLargest = int64_t{1} << 40;  // of a certificate number: products of two small ones stay in 64 bits

struct Fraction {
  int64_t top = 0, bottom = 1;
};

class LinearProblem {
 public:
  LinearProblem(Model& m, const Timing& timing, const std::vector<Dependency>& deps)
      : m_(m), timing_(timing), deps_(deps), solver_(z3_, "QF_LRA") {
    flat_ = unknown("A");
    outer_ = unknown("B");
    solver_.add(*flat_ >= 0 && *outer_ >= 0);
    offsets_.resize(m.classes.size());
    for (size_t n = 0; n < deps.size(); ++n) constrain(n);
  }

  std::optional<Schedule> solve(int64_t ms, bool& unsatisfiable) {
    z3::params p(z3_);
    p.set("timeout", static_cast<unsigned>(std::clamp<int64_t>(ms, 1, kLongestMs)));
    solver_.set(p);
    z3::check_result r = solver_.check();
    unsatisfiable = r == z3::unsat;
    if (r != z3::sat) return std::nullopt;
    return integers(solver_.get_model());
  }

 private:
  z3::expr unknown(const std::string& name) { return z3_.real_const(name.c_str()); }
  z3::expr number(int64_t n) { return z3_.real_val(n); }
  const std::vector<z3::expr>& offsets(int id) {
    auto& d = offsets_[static_cast<size_t>(id)];
    for (size_t i = d.size(); i <= timing_.symbols().size(); ++i)
      d.push_back(unknown("d" + std::to_string(id) + "_" + std::to_string(i)));
    return d;
  }
  void constrain(size_t n) {
    const Dependency& d = deps_[n];
    Clock to = timing_.clock(d.to, d.to_vec), from = timing_.clock(d.from, d.from_vec);
    Aff flat = to.flat - from.flat, outer = to.outer - from.outer;
    std::vector<z3::expr> l;
    for (size_t i = 0; i < d.region.size(); ++i) {
      l.push_back(unknown("l" + std::to_string(n) + "_" + std::to_string(i)));
      solver_.add(l.back() >= 0);
    }
    std::vector<bool> symbols;
    for (const Aff* a : {&flat, &outer}) mark(*a, symbols);
    for (const Aff& g : d.region) mark(g, symbols);
    for (Sym s : timing_.symbols()) mark(Aff::of(s), symbols);
    mark(Aff(1), symbols);
    for (Sym s = 0; s < symbols.size(); ++s)
      if (symbols[s]) row(d, s, flat.coefficient(s), outer.coefficient(s), l);
    multipliers_.push_back(std::move(l));
  }
  static void mark(const Aff& a, std::vector<bool>& symbols) {
    for (const auto& [s, c] : a.terms()) {
      if (symbols.size() <= s) symbols.resize(s + 1);
      symbols[s] = true;
    }
  }
  // The coefficient of symbol s in psi equals the one of the combination; the constant may be larger.
  void row(const Dependency& d, Sym s, int64_t flat, int64_t outer, const std::vector<z3::expr>& l) {
    z3::expr_vector psi(z3_), sum(z3_);
    if (flat) psi.push_back(number(flat) * *flat_);
    if (outer) psi.push_back(number(outer) * *outer_);
    auto it = std::ranges::find(timing_.symbols(), s);
    if (d.from != d.to && (s == kOne || it != timing_.symbols().end())) {
      size_t i = s == kOne ? timing_.symbols().size() : static_cast<size_t>(it - timing_.symbols().begin());
      psi.push_back(offsets(d.to)[i]);
      psi.push_back(-offsets(d.from)[i]);
    }
    for (size_t i = 0; i < l.size(); ++i)
      if (int64_t c = d.region[i].coefficient(s)) sum.push_back(number(c) * l[i]);
    z3::expr left = psi.empty() ? number(0) : z3::sum(psi), right = sum.empty() ? number(0) : z3::sum(sum);
    if (s == kOne) solver_.add(left - 1 >= right);
    else solver_.add(left == right);
  }

  std::optional<Fraction> value(const z3::model& model, const z3::expr& e) {
    z3::expr v = model.eval(e, true);
    Fraction f;
    if (!v.is_numeral() || !v.numerator().is_numeral_i64(f.top) || !v.denominator().is_numeral_i64(f.bottom))
      return std::nullopt;
    return f;
  }
  // Scales by the common denominator D: times grow by D, every psi + 1 as well, so rest = D*rest + D - 1 fits.
  std::optional<Schedule> integers(const z3::model& model) {
    std::vector<Fraction> all;
    auto take = [&](const z3::expr& e) {
      std::optional<Fraction> f = value(model, e);
      if (f) all.push_back(*f);
      return f.has_value();
    };
    if (!take(*flat_) || !take(*outer_)) return std::nullopt;
    for (const auto& d : offsets_)
      for (const z3::expr& e : d)
        if (!take(e)) return std::nullopt;
    for (const auto& l : multipliers_)
      for (const z3::expr& e : l)
        if (!take(e)) return std::nullopt;
    int64_t scale = 1;
    for (const Fraction& f : all) {
      scale = std::lcm(scale, f.bottom);
      if (scale > kLargest) return std::nullopt;
    }
    for (Fraction& f : all)
      if (__builtin_mul_overflow(f.top, scale / f.bottom, &f.top) || f.top > kLargest || f.top < -kLargest)
        return std::nullopt;
    size_t at = 0;
    Schedule s;
    s.symbols = timing_.symbols();
    s.flat = all[at++].top;
    s.outer = all[at++].top;
    for (const auto& d : offsets_) {
      s.offsets.emplace_back(timing_.symbols().size() + 1, 0);
      for (size_t i = 0; i < d.size(); ++i) s.offsets.back()[i] = all[at++].top;
    }
    for (size_t n = 0; n < deps_.size(); ++n) {
      Farkas f;
      for (size_t i = 0; i < multipliers_[n].size(); ++i) f.multipliers.push_back(all[at++].top);
      s.proofs.push_back(std::move(f));
    }
    for (size_t n = 0; n < deps_.size(); ++n) s.proofs[n].rest = rest(s, n);
    return s;
  }
  // What the constant of psi has beyond the combination.
  int64_t rest(const Schedule& s, size_t n) const {
    const Dependency& d = deps_[n];
    Clock to = timing_.clock(d.to, d.to_vec), from = timing_.clock(d.from, d.from_vec);
    int64_t c = s.flat * (to.flat - from.flat).constant_part() + s.outer * (to.outer - from.outer).constant_part() - 1;
    c += s.offsets[static_cast<size_t>(d.to)].back() - s.offsets[static_cast<size_t>(d.from)].back();
    for (size_t i = 0; i < d.region.size(); ++i) c -= s.proofs[n].multipliers[i] * d.region[i].constant_part();
    return c;
  }

  Model& m_;
  const Timing& timing_;
  const std::vector<Dependency>& deps_;
  z3::context z3_;
  z3::solver solver_;
  std::optional<z3::expr> flat_, outer_;
  std::vector<std::vector<z3::expr>> offsets_, multipliers_;
};
}  // namespace

std::optional<Schedule> find_schedule(Model& m, const Timing& timing, const std::vector<Dependency>& deps,
                                      const Deadline& deadline, bool& unsatisfiable) {
  unsatisfiable = false;
  try {
    return LinearProblem(m, timing, deps).solve(deadline.left_ms(), unsatisfiable);
  } catch (const z3::exception&) {
    return std::nullopt;
  }
}

}  // namespace tc::verify
