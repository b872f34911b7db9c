// SMT-LIB 2 text of a query: declarations, one assertion a formula, check-sat. Products of variables are variables.
#include <algorithm>

#include "verifier/proof/solver.h"

namespace tc::verify {
namespace {
std::string number(int64_t n) { return n < 0 ? "(- " + std::to_string(-n) + ")" : std::to_string(n); }
std::string quoted(std::string name) {
  std::ranges::replace(name, '|', '/');
  std::ranges::replace(name, '\\', '/');
  return "|" + name + "|";
}
std::string formula(const Terms& t, Formula f);
std::string term(const Terms& t, const Aff& x) {
  std::string out;
  for (const auto& [s, c] : x.terms()) {
    const SymDef& d = t.definition(s);
    std::string text;
    switch (d.kind) {
      case SymKind::one: break;
      case SymKind::variable:
      case SymKind::product: text = quoted(d.name); break;
      case SymKind::quotient: text = "(div " + term(t, d.term) + " " + number(d.divisor) + ")"; break;
      case SymKind::choice:
        text = "(ite " + formula(t, d.condition) + " " + term(t, d.term) + " " + term(t, d.otherwise) + ")";
        break;
    }
    out += " " + (s == kOne ? number(c) : c == 1 ? text : "(* " + number(c) + " " + text + ")");
  }
  if (x.terms().empty()) return "0";
  return x.terms().size() == 1 ? out.substr(1) : "(+" + out + ")";
}
std::string formula(const Terms& t, Formula f) {
  const FormulaNode& n = t.node(f);
  std::string parts;
  for (Formula p : n.parts) parts += " " + formula(t, p);
  switch (n.kind) {
    case FormulaKind::constant: return f == kTrue ? "true" : "false";
    case FormulaKind::at_least_zero: return "(>= " + term(t, n.term) + " 0)";
    case FormulaKind::is_zero: return "(= " + term(t, n.term) + " 0)";
    case FormulaKind::all: return "(and" + parts + ")";
    case FormulaKind::any: return "(or" + parts + ")";
  }
  return "";
}
}  // namespace

std::string smt_lib(const Terms& terms, const LoggedQuery& query) {
  std::vector<bool> seen;
  for (Formula f : query.formulas) terms.variables(f, seen);
  std::string name = query.name;
  std::ranges::replace(name, '\n', ' ');
  std::string out = "; " + name + "\n(set-logic QF_LIA)\n(set-info :status ";
  out += query.result == Satisfiable::no ? "unsat)\n" : query.result == Satisfiable::yes ? "sat)\n" : "unknown)\n";
  for (Sym s = 0; s < seen.size(); ++s) {
    SymKind kind = terms.definition(s).kind;
    if (seen[s] && (kind == SymKind::variable || kind == SymKind::product))
      out += "(declare-const " + quoted(terms.definition(s).name) + " Int)\n";
  }
  for (Formula f : query.formulas) out += "(assert " + formula(terms, f) + ")\n";
  return out + "(check-sat)\n";
}

}  // namespace tc::verify
