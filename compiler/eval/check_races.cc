// Rule LANG-05, a warning: iterations of a parallel loop write different elements, or the same value. Asked for by the
// pass config tl.disable_data_race_check = False. Source: what tilelang's transform/verify_parallel_loop decides with a
// solver.
//   for i in T.Parallel(8): A[0] = i           two iterations write A[0]: warned about
//   for i in T.Parallel(8): A[0] = 1           the same value: fine
//   for i in T.Parallel(8): A[i // 2] = i      0 and 1 write A[0]: warned about
//   for i, j in T.Parallel(4, 8): A[i * 8 + j] = i     fine
// Here the iterations are run through: indices, conditions inside the loop and values are evaluated with the variables
// outside of it fixed, a few times with other values. Two iterations that meet are a witness, so a finding is real but
// for what memory holds: an index that is read from memory may be the same for all (B[A[i]] = i is warned about), a
// condition that is read holds, values that are read differ. What is missed: collisions that need particular values
// outside, of loops of more than kIterations iterations those beyond the first and last of each extent, what follows
// kBudget.
#include <cmath>
#include <map>
#include <unordered_map>

#include "compiler/eval/session.h"
#include "compiler/ir/floor_div.h"

namespace tc::eval {
namespace {
using ir::OpKind;
using ir::Space;

constexpr int64_t kIterations = 4096;   // of a store that are looked at
constexpr int64_t kBudget = 1'000'000;  // of all stores of a kernel
constexpr int kRounds = 3;
constexpr int kDepth = 1000;  // of an expression; deeper parts are unknown

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9E3779B97F4A7C15 + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9;
  return h ^ (h >> 29);
}

// A number of an iteration. What is not an integer that is known here is a hash: equal terms are equal.
struct Known {
  int64_t value = 0;
  bool exact = false;   // an integer as the machine has it
  bool memory = false;  // depends on what memory holds
};

enum class Purpose { index, value };  // what loads are taken for: the same everywhere, or different

struct Evaluator {
  const ir::Module& m;
  uint64_t round;
  std::unordered_map<uint32_t, int64_t> bound = {};  // loop variables of the region
  std::unordered_map<uint64_t, Known> values = {};   // of this iteration
  int depth = 0;

  Known outside(ir::ValueId v) const { return {static_cast<int64_t>(mix(v.index, round) % 97 + 1), true}; }

  Known of(ir::ValueId v, Purpose purpose) {
    if (auto it = bound.find(v.index); it != bound.end()) return {it->second, true};
    uint64_t key = uint64_t{v.index} * 2 + (purpose == Purpose::value);
    if (auto it = values.find(key); it != values.end()) return it->second;
    if (depth == kDepth) return {0, true, true};
    ++depth;
    bool computed = m[v].def.valid() && m[v].type.kind == ir::TypeKind::scalar;
    Known out = computed ? result(m[m[v].def], v, purpose) : outside(v);
    --depth;
    values[key] = out;
    return out;
  }
  Known result(const ir::Op& op, ir::ValueId v, Purpose purpose) {
    if (auto c = ir::constant_value(m, v)) return {c->value, true};
    if (op.kind == OpKind::thread_index) return outside(v);
    if (op.kind == OpKind::constant) {
      const ir::AttrValue* a = ir::find_attr(op.attrs, "value");
      const double* d = a ? std::get_if<double>(a) : nullptr;
      return {static_cast<int64_t>(mix(std::hash<double>{}(d ? *d : 0), 1)), false};
    }
    bool reads = op.kind == OpKind::load || op.kind == OpKind::call || !op.blocks.empty();
    if (reads && purpose == Purpose::index) return {3, true, true};
    if (op.operands.size() == 1 && op.kind == OpKind::cast) return of(op.operands[0], purpose);
    if (op.operands.size() == 2)
      if (auto exact = integer(op, of(op.operands[0], purpose), of(op.operands[1], purpose))) return *exact;
    if (op.kind == OpKind::select) {
      Known c = of(op.operands[0], purpose);
      if (c.exact) return of(op.operands[c.value ? 1 : 2], purpose);
    }
    Known out{static_cast<int64_t>(mix(static_cast<uint64_t>(op.kind), round)), false, reads};
    for (ir::ValueId operand : op.operands) {
      Known part = of(operand, purpose);
      out.value = static_cast<int64_t>(mix(static_cast<uint64_t>(out.value), static_cast<uint64_t>(part.value)));
      out.memory |= part.memory;
    }
    return out;
  }
  static std::optional<Known> integer(const ir::Op& op, Known a, Known b) {
    if (!a.exact || !b.exact) return std::nullopt;
    uint64_t x = static_cast<uint64_t>(a.value), y = static_cast<uint64_t>(b.value);
    bool divides = b.value != 0 && b.value != -1;
    auto known = [&](auto value) { return Known{static_cast<int64_t>(value), true, a.memory || b.memory}; };
    switch (op.kind) {
      case OpKind::add: return known(x + y);
      case OpKind::sub: return known(x - y);
      case OpKind::mul: return known(x * y);
      case OpKind::floordiv: return known(divides ? ir::floor_div(a.value, b.value) : 0);
      case OpKind::floormod: return known(divides ? ir::floor_mod(a.value, b.value) : 0);
      case OpKind::min: return known(std::min(a.value, b.value));
      case OpKind::max: return known(std::max(a.value, b.value));
      case OpKind::bit_and: return known(x & y);
      case OpKind::bit_or: return known(x | y);
      case OpKind::bit_xor: return known(x ^ y);
      case OpKind::shift_left: return known(x << (y & 63));
      case OpKind::shift_right: return known(a.value >> (y & 63));
      case OpKind::eq: return known(a.value == b.value);
      case OpKind::ne: return known(a.value != b.value);
      case OpKind::lt: return known(a.value < b.value);
      case OpKind::le: return known(a.value <= b.value);
      case OpKind::gt: return known(a.value > b.value);
      case OpKind::ge: return known(a.value >= b.value);
      case OpKind::logical_and: return known(a.value && b.value);
      case OpKind::logical_or: return known(a.value || b.value);
      default: return std::nullopt;
    }
  }
};

struct LoopVariable {
  ir::ValueId variable, lo, hi;  // lo: invalid for 0
  bool parallel;
};
struct Guard {
  ir::ValueId condition;
  bool holds;
};

struct RaceCheck {
  Session& s;
  const ir::Module& m;
  std::vector<LoopVariable> loops = {};  // from the outermost parallel loop inward
  std::vector<Guard> guards = {};        // inside of it
  int64_t budget = kBudget;

  void block(ir::BlockId id) {
    for (ir::OpId o : m[id].ops) {
      const ir::Op& op = m[o];
      size_t loops_before = loops.size(), guards_before = guards.size();
      if (op.kind == OpKind::parallel)
        for (size_t i = 0; i < op.operands.size(); ++i)
          loops.push_back({m[op.blocks[0]].args[i], {}, op.operands[i], true});
      else if (op.kind == OpKind::for_ && !loops.empty())
        loops.push_back({m[op.blocks[0]].args[0], op.operands[0], op.operands[1], false});
      if (op.kind == OpKind::store && !loops.empty()) store(op);
      for (size_t i = 0; i < op.blocks.size(); ++i) {
        if (op.kind == OpKind::if_ && !loops.empty()) guards.push_back({op.operands[0], i == 0});
        block(op.blocks[i]);
        guards.resize(guards_before);
      }
      loops.resize(loops_before);
    }
  }

  void store(const ir::Op& op) {
    const ir::Value& buffer = m[op.operands[0]];
    if (buffer.type.space == Space::local) return;
    if (buffer.def.valid() && ir::find_attr(m[buffer.def].attrs, "reducer")) return;
    for (int round = 0; round < kRounds; ++round)
      if (auto found = meeting(op, static_cast<uint64_t>(round)))
        return warn(op, "iterations " + *found + " of a parallel loop write the same element of '" + buffer.name + "'");
  }

  void warn(const ir::Op& op, std::string message) const {
    Diag d{.severity = Severity::warning, .where = op.loc, .message = std::move(message)};
    d.rule = "LANG-05";
    s.warnings.push_back(std::move(d));
  }

  // The values that a loop variable takes; of a long loop the first and the last.
  static std::vector<int64_t> values(int64_t lo, int64_t hi, int64_t most) {
    std::vector<int64_t> out;
    for (int64_t v = lo; v < hi; ++v) {
      if (v - lo == most) v = std::max(v, hi - 2);
      out.push_back(v);
    }
    return out;
  }

  struct Writer {
    std::vector<int64_t> iteration;  // parallel variables
    int64_t value;
  };
  // Two iterations that write one element with different values: "(0, 1) and (1, 0)".
  std::optional<std::string> meeting(const ir::Op& op, uint64_t round) {
    Evaluator e{m, round};
    // Of two nested loops 64 values each.
    auto each = static_cast<int64_t>(std::pow(kIterations, 1.0 / static_cast<double>(loops.size())) + 1e-9);
    std::map<std::vector<int64_t>, Writer> writers;
    std::optional<std::string> found;
    visit(op, e, 0, std::max<int64_t>(each, 2), writers, found);
    return found;
  }
  void visit(const ir::Op& op, Evaluator& e, size_t depth, int64_t each,
             std::map<std::vector<int64_t>, Writer>& writers, std::optional<std::string>& found) {
    if (found || budget <= 0) return;
    if (depth == loops.size()) {
      --budget;
      return record(op, e, writers, found);
    }
    const LoopVariable& loop = loops[depth];
    e.values.clear();
    int64_t lo = loop.lo.valid() ? e.of(loop.lo, Purpose::index).value : 0, hi = e.of(loop.hi, Purpose::index).value;
    for (int64_t v : values(lo, std::min(hi, lo + (int64_t{1} << 40)), each)) {
      e.bound[loop.variable.index] = v;
      e.values.clear();
      visit(op, e, depth + 1, each, writers, found);
    }
    e.bound.erase(loop.variable.index);
  }
  void record(const ir::Op& op, Evaluator& e, std::map<std::vector<int64_t>, Writer>& writers,
              std::optional<std::string>& found) const {
    for (const Guard& g : guards) {
      Known c = e.of(g.condition, Purpose::value);
      if (c.exact && !c.memory && (c.value != 0) != g.holds) return;
    }
    std::vector<int64_t> index, iteration;
    for (size_t i = 1; i + 1 < op.operands.size(); ++i) index.push_back(e.of(op.operands[i], Purpose::index).value);
    for (const LoopVariable& loop : loops)
      if (loop.parallel) iteration.push_back(e.bound[loop.variable.index]);
    int64_t value = e.of(op.operands.back(), Purpose::value).value;
    auto [it, first] = writers.try_emplace(std::move(index), Writer{iteration, value});
    if (first || it->second.iteration == iteration || it->second.value == value) return;
    found = text(it->second.iteration) + " and " + text(iteration);
  }
  static std::string text(const std::vector<int64_t>& iteration) {
    std::string out = iteration.size() == 1 ? "" : "(";
    for (size_t i = 0; i < iteration.size(); ++i) out += (i ? ", " : "") + std::to_string(iteration[i]);
    return out + (iteration.size() == 1 ? "" : ")");
  }
};
}  // namespace

void check_races(Session& s, const ir::Func& func) { RaceCheck{s, s.module}.block(func.body); }

}  // namespace tc::eval
