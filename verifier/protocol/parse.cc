// Text → Protocol: one statement a line, bodies by indentation. Names are resolved afterwards, in resolve().
#include <algorithm>
#include <set>

#include "verifier/protocol/lexer.h"
#include "verifier/protocol/protocol.h"

namespace tc::verify {
namespace {
constexpr int64_t kMostSlots = 64, kMostThreads = 1024, kMostArrivals = 1048575;  // MBAR-02, LAUNCH-03

struct OpenBody {
  uint32_t indent;
  std::vector<Stmt>* body;
};

class ProtocolReader {
 public:
  explicit ProtocolReader(FileId file) : file_(file) {
    p_.params.push_back({.name = "K", .actual = {}, .means = {}, .generalises = {}});
  }

  std::optional<Diag> read(std::string_view text) {
    uint32_t number = 0;
    while (!text.empty()) {
      size_t end = text.find('\n');
      LineReader line(file_, ++number, text.substr(0, end));
      if (!line.empty()) statement(line);
      if (line.error()) return line.error();
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    if (p_.roles.empty()) return input_error({file_, 0, 0, 0, 0}, "a protocol has at least one role");
    return std::nullopt;
  }
  Protocol take() { return std::move(p_); }

 private:
  Origin origin(LineReader& line) {
    Origin o;
    if (std::optional<SourceRange> loc = line.location()) o.loc.range = *loc;
    if (!line.at_end()) line.fail("unexpected " + line.peek().text);
    o.where.range = line.whole();
    return o;
  }

  void statement(LineReader& line) {
    while (!open_.empty() && open_.back().indent >= line.indent()) open_.pop_back();
    if (!open_.empty()) return body_statement(line);
    if (line.indent() > 0 && !p_.roles.empty()) return line.fail("this line belongs to no role");
    if (line.accept("kernel")) return kernel(line);
    if (line.accept("S")) return stages(line);
    if (line.accept("param")) return params(line);
    if (line.accept("assume")) return assume(line);
    if (line.accept("ring")) return ring(line);
    if (line.accept("buf")) return buffer(line);
    if (line.accept("role")) return role(line);
    line.fail("expected kernel, S, param, assume, ring, buf or role, found " + line.peek().text);
  }

  void kernel(LineReader& line) {
    if (line.peek().kind == TokenKind::text) p_.kernel = line.quoted("a kernel name");
    else p_.kernel = line.word("a kernel name");
    if (line.accept("arch")) p_.arch = line.word("an architecture");
    origin(line);
  }
  void stages(LineReader& line) {
    p_.stages = line.number("a number of stages");
    if (p_.stages < 1 || p_.stages > kMostSlots)
      line.fail("the number of stages is 1 to " + std::to_string(kMostSlots));
    origin(line);
  }
  void params(LineReader& line) {
    if (!params_given_) p_.params.clear();
    params_given_ = true;
    while (!line.at_end() && !line.error()) {
      Param q{.name = line.word("a parameter"), .actual = {}, .means = {}, .generalises = {}};
      if (line.accept("=")) q.actual = line.number("a value");
      if (line.accept("means")) q.means = line.quoted("a source expression");
      if (line.accept("of")) do
          q.generalises.push_back(line.quoted("a parameter of the source"));
        while (line.accept(","));
      p_.params.push_back(std::move(q));
    }
  }
  void assume(LineReader& line) {
    Assumption a{.condition = line.condition(), .text = {}, .origin = {}};
    if (line.accept("because")) a.text = line.quoted("a text");
    a.origin = origin(line);
    p_.assumptions.push_back(std::move(a));
  }
  // A number that may be written over S: "S", "S+1".
  int64_t size(LineReader& line, std::string_view what, int64_t most) {
    SourceRange where = line.here();
    Expr e = line.expression();
    if (line.error()) return 1;
    for (const std::string& n : names_in(e))
      line.fail_at(where, std::string(what) + " is a number or a formula over S, not over " + n);
    auto value = evaluate(
        e, {[&](const std::string&) { return p_.stages; }, [](const std::string&, int64_t) { return int64_t{0}; }});
    if (!value || *value < 1 || *value > most)
      line.fail_at(where, std::string(what) + " is 1 to " + std::to_string(most));
    return value.value_or(1);
  }
  void ring(LineReader& line) {
    Ring r{.name = line.word("a name"), .slots = 1, .count = 1, .origin = {}};
    r.slots = size(line, "the number of slots", kMostSlots);
    line.expect("count");
    r.count = size(line, "the arrival count", kMostArrivals);
    r.origin = origin(line);
    p_.rings.push_back(std::move(r));
  }
  void buffer(LineReader& line) {
    Buffer b{.name = line.word("a name"), .slots = 1, .origin = {}};
    b.slots = size(line, "the number of slots", kMostSlots);
    b.origin = origin(line);
    p_.buffers.push_back(std::move(b));
  }
  void role(LineReader& line) {
    Role r{.name = line.word("a name"), .warps = 1, .lanes = 32, .first_thread = -1, .body = {}, .origin = {}};
    uint32_t indent = line.indent();
    r.warps = line.number("a number of warps");
    std::string shape = line.word("WARPSxLANES");  // "4x32" reads as the number 4 and the word x32
    if (!line.error() && (shape.size() < 2 || shape.size() > 5 || shape[0] != 'x' ||
                          !std::all_of(shape.begin() + 1, shape.end(),
                                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)); })))
      line.fail("expected WARPSxLANES");
    if (!line.error()) r.lanes = std::stoll(shape.substr(1));
    if (r.warps < 1 || r.lanes < 1 || r.lanes > 32 || r.threads() > kMostThreads)
      line.fail("a role has 1 to 32 lanes a warp and at most " + std::to_string(kMostThreads) + " threads");
    if (line.accept("at")) r.first_thread = line.number("the first thread");
    r.origin = origin(line);
    p_.roles.push_back(std::move(r));
    open_ = {{indent, &p_.roles.back().body}};
  }

  void body_statement(LineReader& line) {
    std::vector<Stmt>* body = open_.back().body;
    uint32_t indent = line.indent();
    if (line.accept("for")) {
      Loop l{.var = line.word("a loop variable"), .trip = {}, .body = {}, .origin = {}};
      line.expect("<");
      l.trip = line.expression();
      l.origin = origin(line);
      body->push_back({std::move(l)});
      open_.push_back({indent, &std::get<Loop>(body->back().node).body});
    } else if (line.is("if") || line.is("ifdata")) {
      Branch b;
      if (line.accept("ifdata")) {
        b.predicate = line.word("a predicate");
      } else {
        line.accept("if");
        b.condition = line.condition();
      }
      b.origin = origin(line);
      body->push_back({std::move(b)});
      open_.push_back({indent, &std::get<Branch>(body->back().node).body});
    } else {
      body->push_back({event(line)});
    }
  }

  int lookup(LineReader& line, const auto& table, std::string_view what) {
    SourceRange where = line.here();
    std::string name = line.word(what);
    for (size_t i = 0; i < table.size(); ++i)
      if (table[i].name == name) return static_cast<int>(i);
    line.fail_at(where, "no " + std::string(what) + " is called " + name);
    return 0;
  }
  Expr bracket(LineReader& line) {
    line.expect("[");
    Expr e = line.expression();
    line.expect("]");
    return e;
  }
  void on_ring(LineReader& line, Event& e) {
    e.ring = lookup(line, p_.rings, "ring");
    e.slot = bracket(line);
  }
  void on_buffer(LineReader& line, Event& e) {
    e.buffer = lookup(line, p_.buffers, "buffer");
    e.at = bracket(line);
    if (line.accept("tile")) e.tile = line.expression();
  }

  Event event(LineReader& line) {
    Event e;
    bool has_who = line.is("one") || line.is("warp") || line.is("all");
    if (line.accept("one")) e.who = Who::one;
    else if (line.accept("warp")) e.who = Who::warp;
    else line.accept("all");
    if (!has_who && (line.is("wait") || line.is("arrive") || line.is("expect") || line.is("copy") || line.is("read") ||
                     line.is("write") || line.is("mma") || line.is("aread") || line.is("mmawait")))
      line.fail("who executes this: one, warp or all?");
    if (has_who &&
        (line.is("inc") || line.is("flip") || line.is("syncwarp") || line.is("syncrole") || line.is("syncthreads")))
      line.fail(line.peek().text + " is executed by every thread and takes no 'one', 'warp' or 'all'");
    if (line.accept("wait")) wait(line, e);
    else if (line.accept("arrive")) arrive(line, e);
    else if (line.accept("expect")) expect(line, e);
    else if (line.accept("copy")) copy(line, e);
    else if (line.accept("read")) access(line, e, EventKind::read);
    else if (line.accept("write")) access(line, e, EventKind::write);
    else if (line.accept("mma")) mma(line, e);
    else if (line.accept("aread")) access(line, e, EventKind::aread);
    else if (line.accept("mmawait")) {
      e.kind = EventKind::mma_wait;
      e.pending = line.number("a number of operations");
    } else if (line.accept("syncwarp")) e.kind = EventKind::sync_warp;
    else if (line.accept("syncrole")) e.kind = EventKind::sync_role;
    else if (line.accept("syncthreads")) e.kind = EventKind::sync_threads;
    else if (line.accept("inc")) {
      e.kind = EventKind::increment;
      e.variable = line.word("a counter");
    } else if (line.accept("flip")) {
      e.kind = EventKind::flip;
      e.variable = line.word("a mask");
      e.slot = bracket(line);
    } else line.fail("expected an event, found " + line.peek().text);
    e.origin = origin(line);
    return e;
  }
  void wait(LineReader& line, Event& e) {
    e.kind = EventKind::wait;
    on_ring(line, e);
    e.parity = line.expression();
    if (line.accept("meant")) e.meant = line.expression();
  }
  void arrive(LineReader& line, Event& e) {
    e.kind = EventKind::arrive;
    on_ring(line, e);
    if (line.accept("x")) e.count = line.number("an arrival count");
    if (line.accept("tx")) e.tx = line.number("a number of bytes");
    if (e.count < 1 || e.count > kMostArrivals) line.fail("the arrival count is 1 to " + std::to_string(kMostArrivals));
  }
  void expect(LineReader& line, Event& e) {
    e.kind = EventKind::expect;
    on_ring(line, e);
    e.tx = line.number("a number of bytes");
  }
  void copy(LineReader& line, Event& e) {
    e.kind = EventKind::copy;
    on_buffer(line, e);
    line.expect("bytes");
    e.bytes = line.number("a number of bytes");
    line.expect("on");
    on_ring(line, e);
  }
  void access(LineReader& line, Event& e, EventKind kind) {
    e.kind = kind;
    on_buffer(line, e);
  }
  void mma(LineReader& line, Event& e) {
    access(line, e, EventKind::mma);
    if (e.who != Who::all) line.fail("an mma is one operation of its whole role: all mma");
  }

  FileId file_;
  Protocol p_;
  bool params_given_ = false;
  std::vector<OpenBody> open_;
};

// Every name of an expression is a parameter, an enclosing loop's variable or a counter; every bit() a mask.
class Resolver {
 public:
  explicit Resolver(const Protocol& p) : p_(p) {
    for (const Role& r : p.roles)
      for (const Event* e : events_in(r.body)) {
        if (e->kind == EventKind::increment) counters_.insert(e->variable);
        if (e->kind == EventKind::flip) masks_.insert(e->variable);
      }
    if (std::ranges::any_of(p.roles, [](const Role& r) {
          return std::ranges::any_of(events_in(r.body),
                                     [](const Event* e) { return e->kind == EventKind::sync_threads; });
        }))
      counters_.insert("cta");
    for (const Param& q : p.params) params_.insert(q.name);
  }
  std::optional<Diag> check() {
    distinct(p_.params, "parameter");
    distinct(p_.rings, "ring");
    distinct(p_.buffers, "buffer");
    distinct(p_.roles, "role");
    for (const std::string& c : counters_)
      if (params_.contains(c) || masks_.contains(c)) fail({}, c + " is a counter and something else");
    if (counters_.contains("cta"))
      for (const Ring& r : p_.rings)
        if (r.name == "cta") fail(r.origin.where.range, "with syncthreads the ring name cta is taken");
    for (const Assumption& a : p_.assumptions) names(a.condition, {}, a.origin.where.range, params_);
    for (const Role& r : p_.roles) body(r.body, {});
    return std::move(error_);
  }

 private:
  void fail(SourceRange where, std::string message) {
    if (!error_) error_ = input_error(where, std::move(message));
  }
  static SourceRange place_of(const Param&) { return {}; }
  static SourceRange place_of(const auto& row) { return row.origin.where.range; }
  void distinct(const auto& rows, std::string_view what) {
    std::set<std::string> seen;
    for (const auto& r : rows)
      if (!seen.insert(r.name).second) fail(place_of(r), "two " + std::string(what) + "s are called " + r.name);
  }
  void names(const Expr& e, const std::set<std::string>& loops, SourceRange where,
             const std::set<std::string>& others) {
    if (e.op == ExprOp::name && e.name != "S" && !loops.contains(e.name) && !others.contains(e.name))
      fail(where, e.name + " is no parameter, loop variable or counter here");
    if (e.op == ExprOp::bit && !masks_.contains(e.name)) fail(where, e.name + " is no mask: nothing flips it");
    for (const Expr& a : e.args) names(a, loops, where, others);
  }
  void body(const std::vector<Stmt>& stmts, const std::set<std::string>& loops) {
    std::set<std::string> others = params_;
    others.insert(counters_.begin(), counters_.end());
    for (const Stmt& s : stmts) {
      if (const auto* e = std::get_if<Event>(&s.node)) {
        SourceRange where = e->origin.where.range;
        for (const Expr* x : {&e->slot, &e->at}) names(*x, loops, where, others);
        for (const std::optional<Expr>* x : {&e->parity, &e->meant, &e->tile})
          if (*x) names(**x, loops, where, others);
      } else if (const auto* l = std::get_if<Loop>(&s.node)) {
        SourceRange where = l->origin.where.range;
        names(l->trip, loops, where, others);
        if (loops.contains(l->var) || others.contains(l->var)) fail(where, l->var + " is already a name here");
        std::set<std::string> inner = loops;
        inner.insert(l->var);
        body(l->body, inner);
      } else {
        const auto& b = std::get<Branch>(s.node);
        if (b.predicate.empty()) names(b.condition, loops, b.origin.where.range, others);
        if (!b.predicate.empty() && loops.empty())
          fail(b.origin.where.range, "ifdata stands in a loop: its predicate is one of the iteration");
        body(b.body, loops);
      }
    }
  }
  const Protocol& p_;
  std::set<std::string> params_, counters_, masks_;
  std::optional<Diag> error_;
};
}  // namespace

Result<Protocol> parse_protocol(std::string_view file_name, std::string_view text) {
  ProtocolReader reader(add_source_file(file_name, text));
  if (std::optional<Diag> error = reader.read(text)) return *error;
  Protocol p = reader.take();
  if (std::optional<Diag> error = Resolver(p).check()) return *error;
  return p;
}

}  // namespace tc::verify
