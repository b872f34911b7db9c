#include "verifier/proof/algebra.h"

#include <algorithm>
#include <bit>

namespace tc::verify {

Num like(const Num& a, const Num& b) { return b.K && !a.K && a.k.is_constant() ? Num{{}, a.k, b.K} : a; }

std::optional<std::pair<int64_t, int64_t>> Algebra::borrows(const Aff& distance) {
  for (const auto& [s, c] : distance.terms())
    if (std::ranges::find(m_.params, s, &ModelParam::sym) != m_.params.end()) {
      set_unfit("a ticket with a parameter beside an inner trip count");
      return std::nullopt;
    }
  int64_t n = distance.constant_part();
  return std::pair{std::min<int64_t>(0, n), std::max<int64_t>(0, n)};
}

std::vector<Solution> Algebra::solve(int id, const Num& number, const Num& value, const Point* at) {
  Num t = like(number, value), T = like(value, number);
  auto give_up = [&](std::string_view what) {
    if (!at) set_unfit("'" + m_.event_text(id) + "': " + std::string(what));
    return std::vector<Solution>{};
  };
  if (t.K.has_value() != T.K.has_value() || (t.K && *t.K != *T.K))
    return give_up("tickets of different loop nests on one ring");
  std::vector<Sym> own, in_k, in_w;
  for (const LoopLevel& l : m_[id].loops) {
    own.push_back(l.var);
    if (int64_t c = t.k.coefficient(l.var)) {
      if (c != 1) return give_up("its ticket does not count iterations one by one");
      in_k.push_back(l.var);
    }
    if (int64_t c = t.w.coefficient(l.var)) {
      if (c != 1) return give_up("its ticket does not count iterations one by one");
      in_w.push_back(l.var);
    }
  }
  if (in_k.size() > 1 || in_w.size() > 1) return give_up("its ticket adds two loop variables");
  if (in_k.size() + in_w.size() != own.size() || (in_k.size() == 1 && in_w.size() == 1 && in_k[0] == in_w[0]))
    return give_up("its ticket does not tell the iteration");
  int64_t low = 0, high = 0;
  if (t.K && at) {  // at a point only one borrow is possible
    int64_t K = t.K->at(*at);
    if (K <= 0) return {};
    Aff rest = T.k - t.k;
    if (!in_k.empty()) rest = rest + Aff::of(in_k[0]);
    int64_t k = rest.at(*at);
    low = high = k / K - ((k % K != 0) && (k < 0));
  } else if (t.K) {
    auto js = borrows(T.k - t.k);
    if (!js) return {};
    std::tie(low, high) = *js;
  }
  std::vector<Solution> out;
  for (int64_t j = low; j <= high; ++j) {
    Solution s;
    std::vector<std::pair<Sym, Aff>> found;
    auto match = [&](const Aff& x, const Aff& y, const std::vector<Sym>& vars, bool always) {
      if (!vars.empty()) {
        found.emplace_back(vars[0], x - (y - Aff::of(vars[0])));
      } else if (always) {
        s.constraints.push_back(x - y);
        s.constraints.push_back(y - x);
      }
    };
    match(t.K ? T.k - *t.K * j : T.k, t.k, in_k, true);
    match(T.w + j, t.w, in_w, t.K.has_value());
    for (Sym v : own)
      for (const auto& [sym, x] : found)
        if (sym == v) s.vec.push_back(x);
    if (s.vec.size() == own.size()) out.push_back(std::move(s));
  }
  return out;
}

Formula Algebra::exists(int id, const Num& number, const Num& value) {
  std::vector<Formula> any;
  for (Solution& s : solve(id, number, value, nullptr)) {
    for (Aff& a : m_.domain(id, s.vec)) s.constraints.push_back(std::move(a));
    any.push_back(m_.terms.all_at_least_zero(s.constraints));
  }
  return m_.terms.any(std::move(any));
}

Formula Algebra::surely_exists(int id, const Num& number, const Num& value) {
  std::optional<std::string> before = unfit_;
  Formula f = exists(id, number, value);
  unfit_ = std::move(before);
  return f;
}

Formula Algebra::at_least_zero(const Num& n) {
  if (!n.K) return m_.terms.at_least_zero(n.k);
  auto js = borrows(n.k);
  if (!js) return kFalse;
  std::vector<Formula> any;
  for (int64_t j = js->first; j <= js->second; ++j) {
    std::vector<Aff> all = {n.k - *n.K * j, *n.K * (j + 1) - n.k - 1, n.w + j};
    any.push_back(m_.terms.all_at_least_zero(all));
  }
  any.push_back(m_.terms.all({m_.terms.at_least_zero(-*n.K), m_.terms.at_least_zero(n.k)}));
  return m_.terms.any(std::move(any));
}

Formula Algebra::equal(const Num& x, const Num& y) {
  Num a = like(x, y), b = like(y, x);
  if (a.K.has_value() != b.K.has_value() || (a.K && *a.K != *b.K)) {
    set_unfit("counters of different loops are compared");
    return kFalse;
  }
  if (!a.K) return m_.terms.equal(a.k, b.k);
  auto js = borrows(a.k - b.k);
  if (!js) return kFalse;
  std::vector<Formula> any;
  for (int64_t j = js->first; j <= js->second; ++j)
    any.push_back(m_.terms.all({m_.terms.is_zero(a.k - b.k - *a.K * j), m_.terms.is_zero(a.w + j - b.w)}));
  return m_.terms.any(std::move(any));
}

// How often slot s of the mask was flipped before the event, mod 2: the j-th flip is on slot (j + f) mod S, so n flips
// reach slot s (n + S - 1 - (s - f) mod S) // S times.
std::optional<Aff> Algebra::flips_parity(const std::string& mask, const Aff& slot, int id, std::string& why) {
  std::vector<int> flips;
  for (int f : m_.role_counts[static_cast<size_t>(m_[id].role)])
    if (m_[f].event.kind == EventKind::flip && m_[f].event.variable == mask) flips.push_back(f);
  const Num* before = m_[id].find(mask);
  const Num* index = flips.size() == 1 ? m_[flips[0]].find(mask) : nullptr;
  if (!before || !index) {
    why = "the mask " + mask + " is not flipped in exactly one place of this role";
    return std::nullopt;
  }
  std::optional<Aff> at = term(m_[flips[0]].event.slot, flips[0], why);
  if (!at) return std::nullopt;
  int64_t S = m_.protocol.stages;
  Terms& t = m_.terms;
  for (int64_t f = 0; f < S; ++f)
    if (*at == t.remainder(linear(*index) + f, S)) {
      Aff times = t.quotient(linear(*before) + (S - 1) - t.remainder(slot - f, S), S);
      return t.remainder(times, 2);
    }
  why = "the flips of the mask " + mask + " do not go round the ring";
  return std::nullopt;
}

std::optional<Aff> Algebra::term(const Expr& e, int id, std::string& why) {
  if (std::optional<Num> n = affine(e, m_[id].names, why)) return linear(*n);
  std::vector<Aff> args;
  for (const Expr& x : e.args) {
    std::optional<Aff> a = term(x, id, why);
    if (!a) return std::nullopt;
    args.push_back(std::move(*a));
  }
  Terms& t = m_.terms;
  auto constant = [&](size_t i) -> std::optional<int64_t> {
    return args[i].is_constant() ? std::optional(args[i].constant_part()) : std::nullopt;
  };
  why = "'" + print(e) + "' is outside linear arithmetic with division by constants";
  switch (e.op) {
    case ExprOp::neg: return -args[0];
    case ExprOp::add: return args[0] + args[1];
    case ExprOp::sub: return args[0] - args[1];
    case ExprOp::mul:
      if (auto c = constant(1)) return args[0] * *c;
      if (auto c = constant(0)) return args[1] * *c;
      return std::nullopt;
    case ExprOp::div:
    case ExprOp::mod: {
      auto c = constant(1);
      if (!c || *c <= 0) return std::nullopt;
      return e.op == ExprOp::div ? t.quotient(args[0], *c) : t.remainder(args[0], *c);
    }
    case ExprOp::bit_and:
      for (size_t i : {1, 0})
        if (auto c = constant(i); c && *c >= 0 && std::has_single_bit(static_cast<uint64_t>(*c) + 1))
          return t.remainder(args[1 - i], *c + 1);
      return std::nullopt;
    case ExprOp::bit_xor:
      for (size_t i : {1, 0}) {
        auto c = constant(i);
        if (c && *c == 0) return args[1 - i];
        if (c && *c == 1) return args[1 - i] + 1 - t.remainder(args[1 - i], 2) * 2;
      }
      return std::nullopt;
    case ExprOp::bit: return flips_parity(e.name, args[0], id, why);
    case ExprOp::constant:
    case ExprOp::name:
    case ExprOp::lt:
    case ExprOp::le:
    case ExprOp::gt:
    case ExprOp::ge:
    case ExprOp::eq:
    case ExprOp::ne:
    case ExprOp::logical_and: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tc::verify
