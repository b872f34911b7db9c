// Linear integer terms and formulas over them: the language of every query. No solver here.
//   Aff: sum of coefficient * symbol, symbol 0 being the constant 1.   K - 1  =  {(1, -1), (K, 1)}
// A symbol is a variable, a product of two variables (a symbol of its own: products never reach the solver), the floor
// quotient of a term by a positive constant, or a conditional. Quotients are canonical: all multiples of the divisor
// are pulled out, so that (i - 3) // 3 is i // 3 - 1 and most slot and parity claims fold to `true` without a solver.
//   x % c = x - c * (x // c)      x & (2^n - 1) = x % 2^n      x ^ 1 = x + 1 - 2 * (x % 2)
// Formulas are hash-consed: equal formulas have equal ids. Everything is owned by one Terms table; 64-bit coefficients
// (inputs are below 2^31, and affine() of classes.h refuses coefficients above 2^40).
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tc::verify {

using Sym = uint32_t;
inline constexpr Sym kOne = 0;
using Point = std::vector<int64_t>;  // value of every variable symbol; [0] is 1, missing entries are 0

class Aff {
 public:
  Aff() = default;
  Aff(int64_t value);
  static Aff of(Sym s, int64_t coefficient = 1);
  int64_t coefficient(Sym s) const;
  int64_t constant_part() const { return coefficient(kOne); }
  bool is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_[0].first == kOne); }
  std::span<const std::pair<Sym, int64_t>> terms() const { return terms_; }
  Aff& add(const Aff& other, int64_t factor);
  // Replaces symbols by terms.
  Aff substitute(std::span<const std::pair<Sym, Aff>> map) const;
  // Value at a point; only for terms over variables.
  int64_t at(const Point& point) const;
  auto operator<=>(const Aff&) const = default;
  friend Aff operator+(Aff a, const Aff& b) { return std::move(a.add(b, 1)); }
  friend Aff operator-(Aff a, const Aff& b) { return std::move(a.add(b, -1)); }
  friend Aff operator-(const Aff& a) { return Aff() - a; }
  friend Aff operator*(const Aff& a, int64_t n) { return std::move(Aff().add(a, n)); }

 private:
  std::vector<std::pair<Sym, int64_t>> terms_;  // by symbol, no zero coefficient
};

struct Formula {
  uint32_t id = 0;  // 0 false, 1 true
  auto operator<=>(const Formula&) const = default;
};
inline constexpr Formula kFalse{0}, kTrue{1};

enum class SymKind : uint8_t { one, variable, product, quotient, choice };
struct SymDef {
  SymKind kind = SymKind::variable;
  std::string name;         // variable; of a product "w*K". Unique
  std::string shown;        // the same for people: "i" for "producer.i.0"
  Sym left = 0, right = 0;  // product
  Aff term, otherwise;      // quotient: term // divisor; choice: condition ? term : otherwise
  int64_t divisor = 1;
  Formula condition;
};

enum class FormulaKind : uint8_t { constant, at_least_zero, is_zero, all, any };
struct FormulaNode {
  FormulaKind kind = FormulaKind::constant;
  Aff term;                    // at_least_zero, is_zero
  std::vector<Formula> parts;  // all, any
};

class Terms {
 public:
  Terms();
  Sym variable(std::string_view name, std::string_view shown);
  Sym primed(Sym s);  // the same variable of a second instance: "i'"
  Sym product(Sym a, Sym b);
  Aff product(const Aff& w, const Aff& k);  // products of symbols become symbols
  Aff quotient(const Aff& x, int64_t divisor);
  Aff remainder(const Aff& x, int64_t divisor) { return x - quotient(x, divisor) * divisor; }
  Aff choose(Formula condition, const Aff& x, const Aff& y);

  Formula at_least_zero(const Aff& x);
  Formula is_zero(const Aff& x);
  Formula equal(const Aff& x, const Aff& y) { return is_zero(x - y); }
  Formula all(std::vector<Formula> parts);
  Formula any(std::vector<Formula> parts);
  Formula all_at_least_zero(std::span<const Aff> xs);
  Formula negation(Formula f);

  const SymDef& definition(Sym s) const { return symbols_[s]; }
  const FormulaNode& node(Formula f) const { return nodes_[f.id]; }
  size_t symbol_count() const { return symbols_.size(); }
  std::string text(const Aff& x) const;
  // The value where every variable has its value of the point.
  int64_t value(const Aff& x, const Point& point) const;
  bool holds(Formula f, const Point& point) const;
  // Every variable (a product counts as one) under the formula.
  void variables(Formula f, std::vector<bool>& seen) const;
  void variables(const Aff& x, std::vector<bool>& seen) const;

 private:
  Formula intern(FormulaNode node);
  Formula join(FormulaKind kind, std::vector<Formula> parts, Formula neutral, Formula absorbing);
  Sym add(SymDef def);
  std::vector<SymDef> symbols_;
  std::map<std::string, Sym, std::less<>> by_name_;
  std::map<std::pair<Sym, Sym>, Sym> products_;
  std::map<std::pair<Aff, int64_t>, Sym> quotients_;
  std::map<std::pair<Formula, std::pair<Aff, Aff>>, Sym> choices_;
  std::vector<FormulaNode> nodes_;
  std::map<Aff, Formula> at_least_, zero_;
  std::map<std::pair<FormulaKind, std::vector<Formula>>, Formula> joins_;
};

}  // namespace tc::verify
