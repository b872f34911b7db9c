#include "verifier/proof/terms.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tc::verify {
namespace {
int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
}  // namespace

// ---------------------------------------------------------------------------------------------------- affine terms
Aff::Aff(int64_t value) {
  if (value != 0) terms_.emplace_back(kOne, value);
}
Aff Aff::of(Sym s, int64_t coefficient) {
  Aff out;
  if (coefficient != 0) out.terms_.emplace_back(s, coefficient);
  return out;
}
int64_t Aff::coefficient(Sym s) const {
  for (const auto& [t, c] : terms_)
    if (t == s) return c;
  return 0;
}
Aff& Aff::add(const Aff& other, int64_t factor) {
  if (factor == 0) return *this;
  std::vector<std::pair<Sym, int64_t>> out;
  out.reserve(terms_.size() + other.terms_.size());
  auto a = terms_.begin();
  for (auto b = other.terms_.begin(); a != terms_.end() || b != other.terms_.end();) {
    if (b == other.terms_.end() || (a != terms_.end() && a->first < b->first)) {
      out.push_back(*a++);
    } else if (a == terms_.end() || b->first < a->first) {
      out.emplace_back(b->first, b->second * factor);
      ++b;
    } else {
      int64_t sum = a->second + b->second * factor;
      if (sum != 0) out.emplace_back(a->first, sum);
      ++a, ++b;
    }
  }
  terms_ = std::move(out);
  return *this;
}
Aff Aff::substitute(std::span<const std::pair<Sym, Aff>> map) const {
  Aff out;
  for (const auto& [s, c] : terms_) {
    auto it = std::ranges::find(map, s, &std::pair<Sym, Aff>::first);
    out.add(it == map.end() ? Aff::of(s) : it->second, c);
  }
  return out;
}
int64_t Aff::at(const Point& point) const {
  int64_t sum = 0;
  for (const auto& [s, c] : terms_) sum += c * (s == kOne ? 1 : s < point.size() ? point[s] : 0);
  return sum;
}

// --------------------------------------------------------------------------------------------------------- symbols
Terms::Terms() {
  symbols_.push_back({.kind = SymKind::one, .name = "1", .shown = "1"});
  nodes_.push_back({});
  nodes_.push_back({});
}
Sym Terms::add(SymDef def) {
  symbols_.push_back(std::move(def));
  return static_cast<Sym>(symbols_.size() - 1);
}
Sym Terms::variable(std::string_view name, std::string_view shown) {
  if (auto it = by_name_.find(name); it != by_name_.end()) return it->second;
  Sym s = add({.kind = SymKind::variable, .name = std::string(name), .shown = std::string(shown)});
  by_name_.emplace(name, s);
  return s;
}
Sym Terms::primed(Sym s) { return variable(symbols_[s].name + "'", symbols_[s].shown + "'"); }
Sym Terms::product(Sym a, Sym b) {
  if (auto it = products_.find({a, b}); it != products_.end()) return it->second;
  Sym s = add({.kind = SymKind::product,
               .name = symbols_[a].name + "*" + symbols_[b].name,
               .shown = symbols_[a].shown + "*" + symbols_[b].shown,
               .left = a,
               .right = b});
  products_.emplace(std::pair{a, b}, s);
  return s;
}
Aff Terms::product(const Aff& w, const Aff& k) {
  Aff out;
  for (const auto& [s, c] : w.terms()) {
    if (s == kOne) {
      out.add(k, c);
      continue;
    }
    for (const auto& [t, d] : k.terms()) out.add(t == kOne ? Aff::of(s) : Aff::of(product(s, t)), c * d);
  }
  return out;
}
Aff Terms::quotient(const Aff& x, int64_t divisor) {
  assert(divisor > 0 && "a quotient has a positive divisor");
  if (divisor == 1) return x;
  Aff whole, rest;
  for (const auto& [s, c] : x.terms()) {
    int64_t q = floor_div(c, divisor);
    whole.add(Aff::of(s), q);
    rest.add(Aff::of(s), c - q * divisor);
  }
  if (rest.is_constant()) return whole;  // 0 <= rest < divisor
  auto key = std::pair{rest, divisor};
  auto it = quotients_.find(key);
  if (it == quotients_.end())
    it = quotients_.emplace(key, add({.kind = SymKind::quotient, .term = rest, .divisor = divisor})).first;
  return whole + Aff::of(it->second);
}
Aff Terms::choose(Formula condition, const Aff& x, const Aff& y) {
  if (condition == kTrue) return x;
  if (condition == kFalse || x == y) return y;
  auto key = std::pair{condition, std::pair{x, y}};
  auto it = choices_.find(key);
  if (it == choices_.end())
    it = choices_.emplace(key, add({.kind = SymKind::choice, .term = x, .otherwise = y, .condition = condition})).first;
  return Aff::of(it->second);
}

// -------------------------------------------------------------------------------------------------------- formulas
Formula Terms::intern(FormulaNode node) {
  nodes_.push_back(std::move(node));
  return {static_cast<uint32_t>(nodes_.size() - 1)};
}
Formula Terms::at_least_zero(const Aff& x) {
  int64_t divisor = 0;
  for (const auto& [s, c] : x.terms())
    if (s != kOne) divisor = std::gcd(divisor, c);
  if (divisor == 0) return x.constant_part() >= 0 ? kTrue : kFalse;
  Aff tight;
  for (const auto& [s, c] : x.terms()) tight.add(Aff::of(s), s == kOne ? floor_div(c, divisor) : c / divisor);
  auto it = at_least_.find(tight);
  if (it == at_least_.end())
    it = at_least_.emplace(tight, intern({.kind = FormulaKind::at_least_zero, .term = tight})).first;
  return it->second;
}
Formula Terms::is_zero(const Aff& x) {
  if (x.is_constant()) return x.constant_part() == 0 ? kTrue : kFalse;
  auto it = zero_.find(x);
  if (it == zero_.end()) it = zero_.emplace(x, intern({.kind = FormulaKind::is_zero, .term = x})).first;
  return it->second;
}
Formula Terms::join(FormulaKind kind, std::vector<Formula> parts, Formula neutral, Formula absorbing) {
  std::vector<Formula> flat;
  for (Formula f : parts) {
    if (f == absorbing) return absorbing;
    if (f == neutral) continue;
    if (nodes_[f.id].kind == kind) flat.insert(flat.end(), nodes_[f.id].parts.begin(), nodes_[f.id].parts.end());
    else flat.push_back(f);
  }
  std::ranges::sort(flat);
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return neutral;
  if (flat.size() == 1) return flat[0];
  auto key = std::pair{kind, flat};
  auto it = joins_.find(key);
  if (it == joins_.end()) it = joins_.emplace(key, intern({.kind = kind, .parts = flat})).first;
  return it->second;
}
Formula Terms::all(std::vector<Formula> parts) { return join(FormulaKind::all, std::move(parts), kTrue, kFalse); }
Formula Terms::any(std::vector<Formula> parts) { return join(FormulaKind::any, std::move(parts), kFalse, kTrue); }
Formula Terms::all_at_least_zero(std::span<const Aff> xs) {
  std::vector<Formula> parts;
  for (const Aff& x : xs) parts.push_back(at_least_zero(x));
  return all(std::move(parts));
}
Formula Terms::negation(Formula f) {
  if (f == kTrue) return kFalse;
  if (f == kFalse) return kTrue;
  const FormulaNode n = nodes_[f.id];
  switch (n.kind) {
    case FormulaKind::constant: break;
    case FormulaKind::at_least_zero: return at_least_zero(-n.term - 1);
    case FormulaKind::is_zero: return any({at_least_zero(n.term - 1), at_least_zero(-n.term - 1)});
    case FormulaKind::all:
    case FormulaKind::any: {
      std::vector<Formula> parts;
      for (Formula p : n.parts) parts.push_back(negation(p));
      return n.kind == FormulaKind::all ? any(std::move(parts)) : all(std::move(parts));
    }
  }
  assert(false && "a constant formula is true or false");
  return kFalse;
}

// -------------------------------------------------------------------------------------------------------- questions
std::string Terms::text(const Aff& x) const {
  std::string out;
  for (const auto& [s, c] : x.terms()) {
    if (s == kOne) continue;
    const SymDef& d = symbols_[s];
    std::string name = d.kind == SymKind::quotient ? "((" + text(d.term) + ") // " + std::to_string(d.divisor) + ")"
                       : d.kind == SymKind::choice ? "(a case)"
                                                   : d.shown;
    int64_t n = c < 0 ? -c : c;
    out += out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
    out += (n == 1 ? "" : std::to_string(n) + "*") + name;
  }
  int64_t c = x.constant_part();
  if (out.empty()) return std::to_string(c);
  if (c != 0) out += (c < 0 ? " - " : " + ") + std::to_string(c < 0 ? -c : c);
  return out;
}
int64_t Terms::value(const Aff& x, const Point& point) const {
  int64_t sum = 0;
  for (const auto& [s, c] : x.terms()) {
    const SymDef& d = symbols_[s];
    switch (d.kind) {
      case SymKind::one: sum += c; break;
      case SymKind::variable: sum += c * (s < point.size() ? point[s] : 0); break;
      case SymKind::product: sum += c * value(Aff::of(d.left), point) * value(Aff::of(d.right), point); break;
      case SymKind::quotient: sum += c * floor_div(value(d.term, point), d.divisor); break;
      case SymKind::choice: sum += c * value(holds(d.condition, point) ? d.term : d.otherwise, point); break;
    }
  }
  return sum;
}
bool Terms::holds(Formula f, const Point& point) const {
  if (f == kTrue || f == kFalse) return f == kTrue;
  const FormulaNode& n = nodes_[f.id];
  auto part = [&](Formula p) { return holds(p, point); };
  switch (n.kind) {
    case FormulaKind::constant: break;
    case FormulaKind::at_least_zero: return value(n.term, point) >= 0;
    case FormulaKind::is_zero: return value(n.term, point) == 0;
    case FormulaKind::all: return std::ranges::all_of(n.parts, part);
    case FormulaKind::any: return std::ranges::any_of(n.parts, part);
  }
  return false;
}
void Terms::variables(const Aff& x, std::vector<bool>& seen) const {
  seen.resize(symbols_.size());
  for (const auto& [s, c] : x.terms()) {
    if (seen[s]) continue;
    seen[s] = true;
    const SymDef& d = symbols_[s];
    if (d.kind == SymKind::quotient || d.kind == SymKind::choice) variables(d.term, seen);
    if (d.kind == SymKind::choice) variables(d.otherwise, seen), variables(d.condition, seen);
  }
}
void Terms::variables(Formula f, std::vector<bool>& seen) const {
  const FormulaNode& n = nodes_[f.id];
  variables(n.term, seen);
  for (Formula p : n.parts) variables(p, seen);
}

}  // namespace tc::verify
