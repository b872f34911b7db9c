#include "verifier/protocol/from_ir.h"

#include <map>
#include <set>

#include "compiler/ir/floor_div.h"
#include "compiler/rewrite/range.h"

namespace tc::verify {
namespace {

using ir::BlockId;
using ir::MetaId;
using ir::MetaInt;
using ir::MetaKind;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::Space;
using ir::TypeKind;
using ir::ValueId;

struct Failure {
  Diag diag;
};

Expr sum(Expr a, Expr b) {
  if (a.op == ExprOp::constant && a.value == 0) return b;
  if (b.op == ExprOp::constant && b.value == 0) return a;
  return binary(ExprOp::add, std::move(a), std::move(b));
}
Expr number(int64_t v) {
  if (v >= 0) return constant(v);
  Expr e;
  e.op = ExprOp::neg;
  e.args = {constant(-v)};
  return e;
}

// A range of slots of one barrier array that is used as a ring.
struct SlotRange {
  int64_t lo, hi;
  int ring;
};

class Extractor {
 public:
  explicit Extractor(const ir::Module& m) : m_(m), f_(m.funcs[0]), ranges_(m) {}

  Extracted run() {
    p_.kernel = f_.instance.empty() ? f_.name : f_.instance;
    p_.arch = m_.arch;
    for (OpId id : m_[f_.body].ops)
      if (m_[id].kind == OpKind::launch) launch_ = id;
    note_concrete();
    note_buffers();
    make_rings();
    make_roles();
    walk(m_, f_.body, [&](OpId id) {
      if (m_[id].kind == OpKind::tma_load || m_[id].kind == OpKind::bulk_load) ++out_.copies_of[place(m_[id])];
      if (m_[id].kind == OpKind::wgmma) ++out_.matrix_ops_of[place(m_[id])];
    });
    for (const ir::Precondition& c : f_.preconditions) note_precondition(c);
    out_.protocol = std::move(p_);
    out_.has_rings = !out_.protocol.rings.empty();
    return std::move(out_);
  }

 private:
  const ir::Module& m_;
  const ir::Func& f_;
  ir::Ranges ranges_;
  OpId launch_;
  Protocol p_;
  Extracted out_;
  std::set<std::string> concrete_;                    // factory parameters that are not generalised
  std::map<std::string, std::string> param_names_;    // expression text → protocol parameter
  std::map<uint32_t, std::vector<SlotRange>> slots_;  // barrier array → rings
  std::map<uint32_t, int> buffers_;                   // ring buffer → index
  std::map<uint32_t, bool> slotted_;                  // its first dimension counts slots
  std::map<uint32_t, Expr> loops_;                    // loop variable → expression
  const Role* role_ = nullptr;
  std::set<std::string> variables_;
  bool init_pending_ = false,
       initialised_ = false;  // of the role: mbarrier_init was met; a barrier of the CTA followed
  OpId uncommitted_;          // of the role: a wgmma that no commit followed yet

  [[noreturn]] void refuse(const Op& op, const std::string& what) const {
    Diag d = unsupported(place(op), what);
    d.notes = origin_notes(op);
    throw Failure{d};
  }
  void not_judged(const Op& op, const std::string& obligation, const std::string& why) {
    for (const NotJudged& n : out_.not_judged)
      if (n.obligation == obligation && n.why == why) return;
    out_.not_judged.push_back({obligation, why, place(op)});
  }
  Origin origin(const Op& op) const { return {{place(op)}, {op.text_loc.valid() ? op.loc : SourceRange{}}}; }

  // ---------------------------------------------------------------- what stays concrete
  void keep(const MetaInt& v) {
    std::vector<std::string> names;
    meta_params(m_, v.expr, names);
    concrete_.insert(names.begin(), names.end());
  }
  void keep_constants(ValueId v) {
    if (auto c = constant_value(m_, v)) return keep(*c);
    OpId def = m_[v].def;
    if (!def.valid() || m_[def].kind == OpKind::load) return;
    for (ValueId o : m_[def].operands)
      if (m_[o].type.kind == TypeKind::scalar) keep_constants(o);
  }
  void note_concrete() {
    walk(m_, f_.body, [&](OpId id) {
      const Op& op = m_[id];
      if (op.kind == OpKind::alloc) {
        for (const MetaInt& e : m_[op.results[0]].type.shape)
          if (m_[op.results[0]].type.space != Space::fragment && m_[op.results[0]].type.space != Space::local) keep(e);
        const ir::AttrValue* counts = ir::find_attr(op.attrs, "counts");
        if (counts)
          for (const MetaInt& c : std::get<std::vector<MetaInt>>(*counts)) keep(c);
      }
      for (size_t i = 0; i < op.operands.size(); ++i) {
        char role = operand_role(op, i);
        if (i > 0 && operand_role(op, i - 1) == 'B') keep_constants(op.operands[i]);
        if (op.kind == OpKind::mbarrier_wait && i == 2) keep_constants(op.operands[i]);
        bool memory = role == 'r' || role == 'w' || role == 'u';
        ValueId buffer = buffer_of(m_, op.operands[i]);
        if (memory && m_[buffer].type.space == Space::shared && buffer != op.operands[i])
          keep_constants(m_[m_[op.operands[i]].def].operands[1]);
      }
    });
  }

  // ---------------------------------------------------------------- expressions
  // Trip counts and guards: linear over parameters; anything else over factory parameters is a parameter of its own.
  Expr meta(MetaId id) {
    const ir::MetaNode& n = m_[id];
    if (n.kind == MetaKind::literal) return number(n.value);
    if (n.kind == MetaKind::add || n.kind == MetaKind::sub)
      return binary(n.kind == MetaKind::add ? ExprOp::add : ExprOp::sub, meta(n.lhs), meta(n.rhs));
    std::vector<std::string> names;
    meta_params(m_, id, names);
    bool all_concrete = std::ranges::all_of(names, [&](const std::string& s) { return concrete_.contains(s); });
    int64_t value = known(id);
    if (all_concrete) return number(value);
    std::string text = meta_text(m_, {value, id});
    auto [it, fresh] = param_names_.emplace(text, "n" + std::to_string(param_names_.size()));
    if (fresh) {
      Param param{.name = it->second, .actual = value, .means = text, .generalises = {}};
      for (const std::string& s : names)
        if (!concrete_.contains(s)) param.generalises.push_back(s);
      p_.params.push_back(std::move(param));
    }
    return variable(it->second);
  }
  int64_t known(MetaId id) const {
    if (auto value = ir::meta_value(m_, f_, id)) return *value;
    throw Failure{input_error(f_.text_loc.valid() ? f_.text_loc : f_.loc,
                              "the factory parameters give no value for " + meta_text(m_, {0, id}))};
  }

  // A scalar of the kernel. `generalise`: constants with expressions may become parameters (trip counts, guards).
  Expr expr(ValueId v, const Op& user, bool generalise) {
    if (auto it = loops_.find(v.index); it != loops_.end()) return it->second;
    if (auto c = constant_value(m_, v)) return generalise && c->expr.valid() ? meta(c->expr) : number(c->value);
    OpId def = m_[v].def;
    if (!def.valid())
      refuse(user, "synchronisation that depends on " +
                       (m_[v].name.empty() ? std::string("a run-time value") : "'" + m_[v].name + "'"));
    const Op& op = m_[def];
    static constexpr std::pair<OpKind, ExprOp> kRows[] = {
        {OpKind::add, ExprOp::add},         {OpKind::sub, ExprOp::sub},
        {OpKind::mul, ExprOp::mul},         {OpKind::floordiv, ExprOp::div},
        {OpKind::floormod, ExprOp::mod},    {OpKind::bit_and, ExprOp::bit_and},
        {OpKind::bit_xor, ExprOp::bit_xor}, {OpKind::lt, ExprOp::lt},
        {OpKind::le, ExprOp::le},           {OpKind::gt, ExprOp::gt},
        {OpKind::ge, ExprOp::ge},           {OpKind::eq, ExprOp::eq},
        {OpKind::ne, ExprOp::ne},           {OpKind::logical_and, ExprOp::logical_and}};
    for (auto [kind, e] : kRows)
      if (kind == op.kind)
        return binary(e, expr(op.operands[0], user, generalise), expr(op.operands[1], user, generalise));
    if (op.kind == OpKind::cast) return expr(op.operands[0], user, generalise);
    if (op.kind == OpKind::select)
      refuse(user, "a conditional expression in a slot, parity, trip count or condition of the protocol");
    if (op.kind == OpKind::load)
      refuse(user, "data-dependent control (synchronisation that depends on a value in memory)");
    if (op.kind == OpKind::thread_index) refuse(user, "synchronisation that depends on the thread index");
    refuse(user,
           "'" + std::string(info(op.kind).name) + "' in a slot, parity, trip count or condition of the protocol");
  }

  // ---------------------------------------------------------------- rings and buffers
  void make_rings() {
    std::map<uint32_t, std::vector<ir::Range>> used;
    walk(m_, f_.body, [&](OpId id) {
      const Op& op = m_[id];
      for (size_t i = 0; i + 1 < op.operands.size(); ++i) {
        if (operand_role(op, i) != 'B' || op.kind == OpKind::mbarrier_init) continue;
        ir::Range r = ranges_.of(op.operands[i + 1]);
        int64_t size = m_[op.operands[i]].type.shape[0].value;
        used[op.operands[i].index].push_back({std::max<int64_t>(r.lo, 0), std::min(r.hi, size - 1)});
      }
    });
    walk(m_, f_.body, [&](OpId id) {
      const Op& op = m_[id];
      if (op.kind != OpKind::alloc || m_[op.results[0]].type.space != Space::barrier) return;
      make_rings_of(op, used[op.results[0].index]);
    });
  }
  // Uses that overlap belong to one ring; a slot that nobody uses belongs to none.
  void make_rings_of(const Op& alloc, std::vector<ir::Range> used) {
    std::ranges::sort(used, {}, &ir::Range::lo);
    std::vector<ir::Range> merged;
    for (const ir::Range& r : used) {
      if (r.hi < r.lo) continue;
      if (!merged.empty() && r.lo <= merged.back().hi) merged.back().hi = std::max(merged.back().hi, r.hi);
      else merged.push_back(r);
    }
    // Neighbouring single slots with the same use are still rings of their own; their names carry the first slot.
    const auto& counts = std::get<std::vector<MetaInt>>(*ir::find_attr(alloc.attrs, "counts"));
    std::string base = unique(m_[alloc.results[0]].name.empty() ? "bar" : m_[alloc.results[0]].name);
    bool whole = merged.size() == 1 && merged[0].lo == 0;
    for (const ir::Range& r : merged) {
      int64_t count = counts[static_cast<size_t>(r.lo)].value;
      for (int64_t i = r.lo; i <= r.hi; ++i)
        if (counts[static_cast<size_t>(i)].value != count)
          refuse(alloc, "slots of one ring of mbarriers with different arrival counts");
      std::string name = whole ? base : base + "_" + std::to_string(r.lo);
      slots_[alloc.results[0].index].push_back({r.lo, r.hi, static_cast<int>(p_.rings.size())});
      out_.ring_offsets.push_back(int_attr(alloc, "offset", 0) + 8 * r.lo);
      p_.rings.push_back({.name = name, .slots = r.hi - r.lo + 1, .count = count, .origin = origin(alloc)});
    }
  }
  std::string unique(std::string base) {
    std::string clean;
    for (char c : base) clean += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
    if (clean == "S" || clean == "cta" || clean == "tile" || clean == "bit") clean += "_";
    std::string name = clean;
    for (int n = 1; variables_.contains(name); ++n) name = clean + "_" + std::to_string(n);
    variables_.insert(name);
    return name;
  }

  // Buffers that asynchronous copies fill; their first dimension counts slots if every access takes one of it.
  void note_buffers() {
    walk(m_, f_.body, [&](OpId id) {
      const Op& op = m_[id];
      if (op.kind != OpKind::tma_load && op.kind != OpKind::bulk_load) return;
      ValueId b = buffer_of(m_, op.operands[0]);
      if (buffers_.contains(b.index)) return;
      buffers_[b.index] = static_cast<int>(p_.buffers.size());
      slotted_[b.index] = m_[b].type.rank() >= 2;
      p_.buffers.push_back(
          {.name = unique(m_[b].name.empty() ? "buf" : m_[b].name), .slots = 1, .origin = origin(m_[m_[b].def])});
    });
    walk(m_, f_.body, [&](OpId id) {
      const Op& op = m_[id];
      for (size_t i = 0; i < op.operands.size(); ++i) {
        char role = operand_role(op, i);
        ValueId b = buffer_of(m_, op.operands[i]);
        if ((role != 'r' && role != 'w' && role != 'u') || !buffers_.contains(b.index)) continue;
        if (op.kind == OpKind::load || op.kind == OpKind::store) continue;
        const Op& region = m_[m_[op.operands[i]].def];
        auto extent =
            region.kind == OpKind::region ? constant_value(m_, region.operands[1 + m_[b].type.rank()]) : std::nullopt;
        if (!extent || extent->value != 1) slotted_[b.index] = false;
      }
    });
    for (auto [b, index] : buffers_)
      if (slotted_[b]) p_.buffers[static_cast<size_t>(index)].slots = m_[ValueId{b}].type.shape[0].value;
  }

  std::pair<int, Expr> ring_slot(ValueId array, ValueId index, const Op& user) {
    ir::Range r = ranges_.of(index);
    for (const SlotRange& s : slots_[array.index])
      if (r.lo <= s.hi && s.lo <= r.hi) {
        Expr e = expr(index, user, false);
        if (s.lo == 0) return {s.ring, e};
        if (e.op == ExprOp::constant) return {s.ring, number(e.value - s.lo)};
        if (e.op == ExprOp::add && e.args[1].op == ExprOp::constant && e.args[1].value == s.lo)
          return {s.ring, e.args[0]};
        if (e.op == ExprOp::add && e.args[0].op == ExprOp::constant && e.args[0].value == s.lo)
          return {s.ring, e.args[1]};
        return {s.ring, binary(ExprOp::sub, e, constant(s.lo))};
      }
    refuse(user, "an mbarrier index outside of its array");
  }
  std::pair<int, Expr> buffer_slot(ValueId operand, const Op& user) {
    ValueId b = buffer_of(m_, operand);
    int index = buffers_.at(b.index);
    if (!slotted_[b.index]) return {index, constant(0)};
    bool region = b != operand;
    ValueId slot = region ? m_[m_[operand].def].operands[1] : user.operands[1];
    return {index, expr(slot, user, false)};
  }

  // ---------------------------------------------------------------- roles
  void make_roles() {
    int64_t threads = int_attr(m_[launch_], "threads", 0);
    std::set<int64_t> cuts{0, threads};
    sections(m_[launch_].blocks[0], cuts);
    std::vector<int64_t> bounds(cuts.begin(), cuts.end());
    int64_t idle = 0;
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      int64_t lo = bounds[i], n = bounds[i + 1] - lo;
      Role role{.name = unique("t" + std::to_string(lo)),
                .warps = n % 32 == 0 ? n / 32 : 1,
                .lanes = n % 32 == 0 ? 32 : n,
                .first_thread = lo,
                .body = {},
                .origin = origin(m_[launch_])};
      role_ = &role;
      initialised_ = init_pending_ = false;
      uncommitted_ = {};
      std::set<std::string> names = variables_;  // loop variables are names of their role
      role.body = block(m_[launch_].blocks[0], lo, lo + n, Who::all);
      variables_ = std::move(names);
      if (role.body.empty()) {
        idle += n;
        continue;
      }
      if (n % 32 && n > 32) refuse(m_[launch_], "a role of " + std::to_string(n) + " threads, no whole warps");
      p_.roles.push_back(std::move(role));
    }
    if (idle)
      for (const Role& r : p_.roles)
        for (const Event* e : events_in(r.body))
          if (e->kind == EventKind::sync_threads)
            throw Failure{unsupported(e->origin.where.range, "a barrier of the CTA that " + std::to_string(idle) +
                                                                 " of its threads never reach")};
  }
  bool contains(const Op& op, OpKind kind) const {
    bool found = false;
    for (BlockId b : op.blocks) walk(m_, b, [&](OpId id) { found = found || m_[id].kind == kind; });
    return found;
  }
  // Cuts of the outermost sections only: a section inside a role is a part of it.
  void sections(BlockId b, std::set<int64_t>& cuts) {
    for (OpId id : m_[b].ops) {
      const Op& op = m_[id];
      if (op.kind == OpKind::ws) {
        cuts.insert(int_attr(op, "lo", 0));
        cuts.insert(int_attr(op, "hi", 0));
        continue;
      }
      for (BlockId inner : op.blocks) sections(inner, cuts);
    }
  }

  std::vector<Stmt> block(BlockId b, int64_t lo, int64_t hi, Who who) {
    std::vector<Stmt> out;
    for (OpId id : m_[b].ops) op(id, lo, hi, who, out);
    return out;
  }

  void add(std::vector<Stmt>& out, Event e, const Op& op) {
    e.origin = origin(op);
    // One statement of the program that became several accesses of one slot is one event.
    for (auto it = out.rbegin(); it != out.rend(); ++it) {
      auto* last = std::get_if<Event>(&it->node);
      if (!last) break;
      if (last->kind != e.kind || last->who != e.who || last->buffer != e.buffer || !(last->at == e.at)) {
        if (last->kind == EventKind::mma && e.kind == EventKind::mma) continue;
        break;
      }
      if (e.kind == EventKind::copy && last->ring == e.ring && last->slot == e.slot && same_statement(*last, e)) {
        last->bytes += e.bytes;
        return;
      }
      bool access = e.kind == EventKind::read || e.kind == EventKind::write || e.kind == EventKind::mma;
      if (access && same_statement(*last, e)) return;
      break;
    }
    out.push_back({std::move(e)});
  }
  static bool same_statement(const Event& a, const Event& b) {
    const SourceRange& x = a.origin.loc.range.valid() ? a.origin.loc.range : a.origin.where.range;
    const SourceRange& y = b.origin.loc.range.valid() ? b.origin.loc.range : b.origin.where.range;
    return x == y;
  }

  void loop(const Op& op, int64_t lo, int64_t hi, Who who, std::vector<Stmt>& out) {
    ValueId k = m_[op.blocks[0]].args[0];
    if (int_attr(op, "statement", 0)) {  // the element loop of one statement: its accesses, once
      loops_[k.index] = constant(0);
      for (Stmt& s : block(op.blocks[0], lo, hi, who)) {
        auto* e = std::get_if<Event>(&s.node);
        if (!e) throw Failure{unsupported(place(op), "synchronisation inside of an element loop")};
        add(out, *e, op);
      }
      return;
    }
    std::string name = unique(m_[k].name.empty() ? "i" : m_[k].name);
    auto first = constant_value(m_, op.operands[0]);
    Expr from = first && first->value == 0 && !first->expr.valid() ? constant(0) : expr(op.operands[0], op, true);
    bool from_zero = from.op == ExprOp::constant && from.value == 0;
    loops_[k.index] = from_zero ? variable(name) : sum(variable(name), from);
    std::vector<Stmt> body = block(op.blocks[0], lo, hi, who);
    if (body.empty()) return;
    if (int_attr(op, "step", 1) != 1) refuse(op, "a loop with a step in the protocol");
    if (contains(op, OpKind::break_)) refuse(op, "a loop with synchronisation that can be left by break");
    Expr to = expr(op.operands[1], op, true);
    if (!from_zero) to = binary(ExprOp::sub, to, from);
    out.push_back({Loop{.var = name, .trip = std::move(to), .body = std::move(body), .origin = origin(op)}});
  }

  void branch(const Op& op, int64_t lo, int64_t hi, Who who, std::vector<Stmt>& out) {
    std::vector<Stmt> yes = block(op.blocks[0], lo, hi, who), no = block(op.blocks[1], lo, hi, who);
    if (yes.empty() && no.empty()) return;
    if (depends_on_thread(op.operands[0])) {
      // Element guards (edge tiles) only read or write: both sides count.
      for (auto* side : {&yes, &no})
        for (Stmt& s : *side) {
          auto* e = std::get_if<Event>(&s.node);
          if (!e || (e->kind != EventKind::read && e->kind != EventKind::write))
            refuse(op, "synchronisation under a condition on the thread");
          add(out, *e, op);
        }
      return;
    }
    Expr condition = expr(op.operands[0], op, true);
    if (!no.empty()) {
      if (!is_comparison(condition)) refuse(op, "an else branch of a compound condition in the protocol");
      Expr opposite = condition;
      static constexpr std::pair<ExprOp, ExprOp> kOpposite[] = {{ExprOp::lt, ExprOp::ge}, {ExprOp::ge, ExprOp::lt},
                                                                {ExprOp::gt, ExprOp::le}, {ExprOp::le, ExprOp::gt},
                                                                {ExprOp::eq, ExprOp::ne}, {ExprOp::ne, ExprOp::eq}};
      for (auto [a, b] : kOpposite)
        if (condition.op == a) opposite.op = b;
      out.push_back({Branch{.condition = opposite, .predicate = {}, .body = std::move(no), .origin = origin(op)}});
      if (yes.empty()) return;
      Stmt last = std::move(out.back());
      out.pop_back();
      out.push_back({Branch{.condition = condition, .predicate = {}, .body = std::move(yes), .origin = origin(op)}});
      out.push_back(std::move(last));
      return;
    }
    out.push_back(
        {Branch{.condition = std::move(condition), .predicate = {}, .body = std::move(yes), .origin = origin(op)}});
  }
  static bool is_comparison(const Expr& e) { return verify::is_comparison(e.op); }

  bool depends_on_thread(ValueId v) const {
    OpId def = m_[v].def;
    if (!def.valid() || m_[def].kind == OpKind::load) return false;
    if (m_[def].kind == OpKind::thread_index) return true;
    return std::ranges::any_of(m_[def].operands,
                               [&](ValueId o) { return m_[o].type.kind == TypeKind::scalar && depends_on_thread(o); });
  }

  void section(const Op& op, int64_t lo, int64_t hi, Who who, std::vector<Stmt>& out) {
    int64_t a = int_attr(op, "lo", 0), b = int_attr(op, "hi", 0);
    if (b <= lo || hi <= a) return;  // another role's
    Who inner = who;
    if (a <= lo && hi <= b) inner = who;  // all of this role
    else if (a == lo && b == lo + 1) inner = Who::one;
    else {
      std::vector<Stmt> ignored = block(op.blocks[0], lo, hi, who);
      if (!ignored.empty())
        refuse(op,
               "a section of a part of a role (threads " + std::to_string(a) + " to " + std::to_string(b - 1) + ")");
      return;
    }
    for (Stmt& s : block(op.blocks[0], lo, hi, inner)) out.push_back(std::move(s));
  }

  void op(OpId id, int64_t lo, int64_t hi, Who who, std::vector<Stmt>& out) {
    const Op& op = m_[id];
    auto event = [&](EventKind kind) {
      Event e;
      e.kind = kind;
      e.who = who;
      return e;
    };
    auto on_ring = [&](EventKind kind, size_t at) {
      if (!initialised_) refuse(op, "an mbarrier that is used before a barrier of the CTA follows its initialisation");
      Event e = event(kind);
      auto [ring, slot] = ring_slot(op.operands[at], op.operands[at + 1], op);
      e.ring = ring;
      e.slot = std::move(slot);
      return e;
    };
    switch (op.kind) {
      case OpKind::for_: return loop(op, lo, hi, who, out);
      case OpKind::if_: return branch(op, lo, hi, who, out);
      case OpKind::ws: return section(op, lo, hi, who, out);
      case OpKind::elected: {
        int64_t thread = int_attr(op, "thread", 0);
        bool init = false;
        walk(m_, op.blocks[0], [&](OpId o) { init = init || m_[o].kind == OpKind::mbarrier_init; });
        if (init) {
          init_pending_ = true;
          return;
        }
        if (thread < lo || thread >= hi) return;
        if (thread != lo) refuse(op, "an elected thread that is not the first of its role");
        for (Stmt& s : block(op.blocks[0], lo, hi, Who::one)) out.push_back(std::move(s));
        return;
      }
      case OpKind::mbarrier_arrive: return add(out, on_ring(EventKind::arrive, 0), op);
      case OpKind::mbarrier_arrive_expect_tx: {
        Event e = on_ring(EventKind::arrive, 0);
        e.tx = int_attr(op, "bytes", 0);
        return add(out, std::move(e), op);
      }
      case OpKind::mbarrier_expect_tx: {
        Event e = on_ring(EventKind::expect, 0);
        e.tx = int_attr(op, "bytes", 0);
        return add(out, std::move(e), op);
      }
      case OpKind::mbarrier_wait: {
        Event e = on_ring(EventKind::wait, 0);
        e.parity = expr(op.operands[2], op, false);
        return add(out, std::move(e), op);
      }
      case OpKind::tma_load:
      case OpKind::bulk_load: {
        Event e = on_ring(EventKind::copy, 1);
        auto [buffer, slot] = buffer_slot(op.operands[0], op);
        e.buffer = buffer;
        e.at = std::move(slot);
        e.bytes = int_attr(op, "bytes", 0);
        return add(out, std::move(e), op);
      }
      case OpKind::wgmma:
        if (who != Who::all) refuse(op, "a wgmma that not all threads of its role execute");
        uncommitted_ = id;
        return accesses(op, EventKind::mma, who, out);
      case OpKind::wgmma_commit: uncommitted_ = {}; return;
      case OpKind::wgmma_wait: {
        if (uncommitted_.valid()) refuse(m_[uncommitted_], "a wgmma that is waited for without a commit between");
        if (int_attr(op, "pending", 0) != 0) refuse(op, "wgmma groups that stay pending");
        Event e = event(EventKind::mma_wait);
        e.pending = 0;
        return add(out, std::move(e), op);
      }
      case OpKind::sync_threads: return barrier(op, lo, hi, who, out);
      case OpKind::cp_async:
      case OpKind::cp_async_commit:
      case OpKind::cp_async_wait: return not_judged(op, "4", "cp.async group accounting is not judged yet");
      case OpKind::load:
      case OpKind::store:
      case OpKind::store_pair:
      case OpKind::vector_copy: return accesses(op, EventKind::read, who, out);
      default: {
        std::vector<Stmt> inside;
        for (BlockId b : op.blocks)
          for (Stmt& s : block(b, lo, hi, who)) inside.push_back(std::move(s));
        if (op.kind == OpKind::while_ && !inside.empty())
          refuse(op, "data-dependent control (a while loop with synchronisation)");
        for (Stmt& s : inside) out.push_back(std::move(s));
      }
    }
  }

  // Reads and writes of ring buffers; plain shared memory is listed as not judged.
  void accesses(const Op& op, EventKind read, Who who, std::vector<Stmt>& out) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      char letter = operand_role(op, i);
      ValueId b = buffer_of(m_, op.operands[i]);
      if ((letter != 'r' && letter != 'w' && letter != 'u') || m_[b].type.kind != TypeKind::buffer ||
          m_[b].type.space != Space::shared)
        continue;
      if (!buffers_.contains(b.index)) {
        not_judged(op, "4", "races on shared memory that no bulk copy fills are not judged yet");
        continue;
      }
      if (letter != 'r')
        not_judged(op, "4",
                   "ordinary stores into shared memory that bulk copies fill: proxy fences are not judged yet");
      Event e;
      e.kind = letter == 'r' ? read : EventKind::write;
      e.who = who;
      auto [buffer, slot] = buffer_slot(op.operands[i], op);
      e.buffer = buffer;
      e.at = std::move(slot);
      add(out, std::move(e), op);
    }
  }

  void barrier(const Op& op, int64_t lo, int64_t hi, Who who, std::vector<Stmt>& out) {
    int64_t threads = int_attr(op, "threads", 0), all = int_attr(m_[launch_], "threads", 0);
    Event e;
    e.who = who;
    if (who != Who::all) refuse(op, "a barrier inside of code for one thread");
    if (threads == 0 || threads == all) {
      // The barrier that publishes the initialisation comes before every use of a barrier.
      if (init_pending_) {
        init_pending_ = false;
        initialised_ = true;
        return;
      }
      e.kind = EventKind::sync_threads;
    } else if (threads == hi - lo) {
      e.kind = EventKind::sync_role;
    } else {
      refuse(op, "a named barrier of " + std::to_string(threads) + " threads in a role of " + std::to_string(hi - lo));
    }
    add(out, std::move(e), op);
  }

  void note_precondition(const ir::Precondition& c) {
    for (Param& p : p_.params)
      for (const std::string& name : c.params)
        if (std::ranges::find(p.generalises, name) != p.generalises.end()) {
          p_.assumptions.push_back({.condition = binary(ExprOp::ge, variable(p.name), constant(0)),
                                    .text = c.text,
                                    .origin = {{c.loc}, {}}});
          return;
        }
  }
};

}  // namespace

Result<Extracted> protocol_from_ir(const ir::Module& m) {
  try {
    return Extractor(m).run();
  } catch (Failure& f) {
    return std::move(f.diag);
  }
}

}  // namespace tc::verify
