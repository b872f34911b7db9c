#include "verifier/proof/solver.h"

#include <z3++.h>

#include <algorithm>

namespace tc::verify {
namespace {
constexpr int64_t kQueryMs = 2000;
}

struct Solver::Context {
  z3::context z3;
  z3::solver solver{z3, z3::solver::simple()};
  std::vector<std::optional<z3::expr>> symbols, formulas;

  z3::expr symbol(const Terms& t, Sym s) {
    if (symbols.size() <= s) symbols.resize(t.symbol_count());
    if (!symbols[s]) {
      const SymDef& d = t.definition(s);
      switch (d.kind) {
        case SymKind::one: symbols[s] = z3.int_val(1); break;
        case SymKind::variable:
        case SymKind::product: symbols[s] = z3.int_const(("s" + std::to_string(s)).c_str()); break;
        case SymKind::quotient: symbols[s] = z3::expr(z3, Z3_mk_div(z3, term(t, d.term), number(d.divisor))); break;
        case SymKind::choice:
          symbols[s] = z3::ite(formula(t, d.condition), term(t, d.term), term(t, d.otherwise));
          break;
      }
    }
    return *symbols[s];
  }
  z3::expr number(int64_t n) { return z3.int_val(n); }
  z3::expr term(const Terms& t, const Aff& x) {
    z3::expr_vector parts(z3);
    for (const auto& [s, c] : x.terms()) {
      if (s == kOne) parts.push_back(number(c));
      else parts.push_back(c == 1 ? symbol(t, s) : number(c) * symbol(t, s));
    }
    if (parts.empty()) return number(0);
    return parts.size() == 1 ? parts[0] : z3::sum(parts);
  }
  z3::expr formula(const Terms& t, Formula f) {
    if (formulas.size() <= f.id) formulas.resize(f.id + 64);
    if (formulas[f.id]) return *formulas[f.id];
    const FormulaNode& n = t.node(f);
    z3::expr_vector parts(z3);
    for (Formula p : n.parts) parts.push_back(formula(t, p));
    z3::expr out = z3.bool_val(f == kTrue);
    switch (n.kind) {
      case FormulaKind::constant: break;
      case FormulaKind::at_least_zero: out = term(t, n.term) >= 0; break;
      case FormulaKind::is_zero: out = term(t, n.term) == 0; break;
      case FormulaKind::all: out = z3::mk_and(parts); break;
      case FormulaKind::any: out = z3::mk_or(parts); break;
    }
    if (formulas.size() <= f.id) formulas.resize(f.id + 64);
    formulas[f.id] = out;
    return out;
  }
};

Solver::Solver(const Terms& terms, const Deadline& deadline)
    : terms_(terms), deadline_(deadline), cx_(std::make_unique<Context>()) {}
Solver::~Solver() = default;

Answer Solver::check(std::string_view name, std::span<const Formula> formulas, std::span<const Sym> variables,
                     int64_t small) {
  if (std::ranges::find(formulas, kFalse) != formulas.end()) return {Satisfiable::no, {}};
  ++queries_;
  Answer out;
  int64_t left = deadline_.left_ms();
  if (left > 0) {
    try {
      z3::solver& s = cx_->solver;
      s.push();
      z3::params p(cx_->z3);
      p.set("timeout", static_cast<unsigned>(std::min(kQueryMs, left)));
      s.set(p);
      for (Formula f : formulas) s.add(cx_->formula(terms_, f));
      z3::check_result r = s.check();
      if (r == z3::unsat) out.result = Satisfiable::no;
      if (r == z3::sat) {
        s.push();
        for (Sym v : variables) s.add(cx_->symbol(terms_, v) <= cx_->number(small));
        if (s.check() != z3::sat) {
          s.pop();
          r = s.check();
        }
      }
      if (r == z3::sat) {
        z3::model model = s.get_model();
        out.result = Satisfiable::yes;
        out.point.assign(terms_.symbol_count(), 0);
        out.point[kOne] = 1;
        for (Sym v : variables) {
          int64_t value = 0;
          if (!model.eval(cx_->symbol(terms_, v), true).is_numeral_i64(value) || std::abs(value) > INT32_MAX)
            out.result = Satisfiable::unknown;
          out.point[v] = value;
        }
      }
    } catch (const z3::exception&) {  // out of memory, interrupted: not answered
      out.result = Satisfiable::unknown;
    }
    Z3_solver_reset(cx_->z3, cx_->solver);
  }
  if (keep_log_) log_.push_back({std::string(name), {formulas.begin(), formulas.end()}, out.result});
  return out;
}

}  // namespace tc::verify
