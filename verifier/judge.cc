#include "verifier/judge.h"

#include <algorithm>
#include <chrono>

#include "verifier/proof/certificate.h"
#include "verifier/protocol/split.h"
#include "verifier/rules/diagnosis.h"

namespace tc::verify {
namespace {
constexpr std::array<std::string_view, 5> kObligationNames = {"attribution", "counts", "parity", "progress", "data"};
constexpr size_t kLongestTrace = 4000;

// At the actual parameters where the protocol has them, else at small ones.
std::optional<Attack> attack_it(const Protocol& p, const Deadline& deadline) {
  Model m = build_model(p);
  auto late = [&] { return deadline.passed(); };
  std::vector<std::vector<int64_t>> first, second;
  if (auto actual = actual_parameters(m)) {
    first = second = {*actual};
  } else {
    first = trial_parameters(m, 2 * m.depth + 2);
    second = trial_parameters(m, m.depth + 1);
  }
  if (auto a = attack(m, {.params = first, .seeds = 24, .most = 2, .out_of_time = late})) return a;
  return attack(
      m, {.params = second, .seeds = 6, .most = 3, .out_of_time = late});  // 3: two threads that both do not lead
}

bool has_actual_values(const Protocol& p) { return actual_parameters(build_model(p)).has_value() && !p.params.empty(); }

class Judge {
 public:
  Judge(const Protocol& p, const JudgeOptions& options)
      : p_(p), options_(options), deadline_(options.timeout_seconds) {}

  Judgement go() {
    auto start = std::chrono::steady_clock::now();
    header();
    selection();
    decide();
    r().verdict = verdict_of(r());
    r().seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(out_);
  }

 private:
  KernelReport& r() { return out_.report; }
  void header() {
    r().name = p_.kernel;
    r().arch = p_.arch;
    if (!p_.roles.empty()) {
      const SourceRange& where = p_.roles[0].origin.where.range;
      r().file = source_file_name(where.file);
    }
    for (const Param& q : p_.params) {
      if (q.actual) r().args.emplace_back(q.name, *q.actual);
      for (const std::string& g : q.generalises.empty() ? std::vector<std::string>{q.name} : q.generalises)
        if (std::ranges::find(r().generalised, g) == r().generalised.end()) r().generalised.push_back(g);
    }
    if (!p_.params.empty()) r().assumptions.push_back({"every counter stays below 2^31", true});
    for (const Assumption& a : p_.assumptions) {
      std::string text = a.text.empty() ? print(a.condition) : a.text;
      r().assumptions.push_back({text, true});
      r().preconditions.push_back(text);
    }
  }
  // Which obligations apply to a protocol, and which of these are judged.
  void selection() {
    for (size_t i = 0; i < 5; ++i)
      if (options_.obligations[i]) r().judged.push_back(std::to_string(i));
    bool async = false;
    for (const Role& role : p_.roles)
      for (const Event* e : events_in(role.body))
        async |= e->kind == EventKind::copy || e->kind == EventKind::mma || e->kind == EventKind::aread;
    if (async && options_.obligations[5])
      r().not_judged.push_back({"5", "lifetime of asynchronous operations beyond their slots is not judged yet"});
    if (!async) r().not_applicable.push_back({"5", "no asynchronous operation"});
    for (const char* o : {"6", "7", "8"})
      r().not_applicable.push_back({o, std::string("a protocol carries no ") + (*o == '6'   ? "descriptors"
                                                                                : *o == '7' ? "addresses"
                                                                                            : "resources")});
  }
  bool selected(std::string_view obligation) const {
    return obligation == "V" ||
           (obligation.size() == 1 && options_.obligations[static_cast<size_t>(obligation[0] - '0')]);
  }

  Proof attempt(const Protocol& p) {
    return prove(p, deadline_, {.most_findings = 8, .keep_log = options_.keep_queries});
  }

  void decide() {
    out_.proof = attempt(p_);
    if (out_.proof.proved()) return proved(p_, Scope::all);
    if (out_.proof.vacuous()) return open(Verdict::vacuous);
    out_.attack = attack_it(p_, deadline_);
    if (out_.attack) return refuted();
    if (has_actual_values(p_)) {
      Protocol some = with_trips(p_), fixed = live_part(pinned(p_));
      Proof general = attempt(some);
      if (general.proved() && some != p_) {
        out_.proof = std::move(general);
        for (size_t i = p_.assumptions.size(); i < some.assumptions.size(); ++i)
          r().preconditions.push_back(some.assumptions[i].text);
        return proved(some, Scope::all);
      }
      Proof special = attempt(fixed);
      if (special.proved()) {
        out_.proof = std::move(special);
        return proved(fixed, Scope::specialisation);
      }
    }
    open(Verdict::unknown);
  }

  void proved(const Protocol& what, Scope scope) {
    r().scope = scope;
    if (options_.certificate) {
      Certificate c = make_certificate(what, out_.proof);
      if (std::optional<std::string> wrong = recheck(what, c)) {
        r().obligations.push_back(
            {.id = "V",
             .rule = "",
             .defect = "",
             .status = Verdict::unknown,
             .method = "certificate",
             .where = {},
             .message =
                 "the certificate does not hold when its numbers are substituted (a bug of the verifier): " + *wrong,
             .notes = {},
             .trace = {}});
        return;
      }
      out_.certificate_json = certificate_json(c);
      r().certificate = certificate_text(*out_.proof.model, out_.proof);
    }
    for (size_t i = 0; i < 5; ++i) {
      if (!options_.obligations[i]) continue;
      size_t n = std::ranges::count(out_.proof.questions, std::string_view(std::to_string(i)), &Question::obligation);
      std::string method =
          i == 3 ? "affine schedule, " + std::to_string(out_.proof.dependencies.size()) +
                       " dependencies by Farkas multipliers"
                 : std::to_string(n) + (i == 1 ? " counting queries" : " queries and happens-before paths");
      r().obligations.push_back({.id = std::to_string(i),
                                 .rule = "",
                                 .defect = "",
                                 .status = Verdict::proved,
                                 .method = method,
                                 .where = {},
                                 .message = std::string(kObligationNames[i]),
                                 .notes = {},
                                 .trace = {}});
    }
  }

  void put(const Diagnosis& d, Verdict status, std::string method) {
    if (!selected(d.obligation)) return;
    for (const ObligationReport& o : r().obligations)
      if (o.where == d.where && (o.rule == d.rule || o.message == d.message)) return;
    r().obligations.push_back({.id = d.obligation,
                               .rule = d.rule,
                               .defect = d.defect,
                               .status = status,
                               .method = std::move(method),
                               .where = d.where,
                               .message = d.message,
                               .notes = d.notes,
                               .trace = {}});
  }
  void refuted() {
    const Model& m = *out_.proof.model;
    std::string at;
    for (size_t i = 0; i < m.params.size(); ++i)
      if (m.params[i].taken_of < 0)
        at += (at.empty() ? "" : ", ") + m.params[i].name + " = " + std::to_string(out_.attack->inputs.params[i]);
    std::string how =
        "concrete run" + (at.empty() ? "" : " at " + at) + ", schedule " + std::to_string(out_.attack->result.seed);
    Diagnosis shown = symptom(m, *out_.attack);
    Diagnosis cause = options_.diagnose ? find_cause(p_, out_.proof, *out_.attack, deadline_) : shown;
    if (cause.where != shown.where || cause.rule != shown.rule)
      cause.notes.push_back({shown.where, how + ": " + shown.message});
    // Every failing run refutes, whichever obligation its cause is counted under.
    if (!selected(cause.obligation)) {
      if (!selected(shown.obligation)) return open(Verdict::unknown);
      cause = shown;
    }
    put(cause, Verdict::refuted, how);
    if (!r().obligations.empty()) r().obligations.back().trace = trace_of(m, *out_.attack);
    for (const Note& n : cause.also) {
      Diagnosis d = cause;
      d.where = n.where;
      d.message = n.message;
      d.notes.clear();
      put(d, Verdict::refuted, "the same defect, seen from here");
    }
    put(shown, Verdict::refuted, how);
    for (const Finding& f : out_.proof.findings)
      if (f.kind == FindingKind::open && f.where.valid())
        put(of_finding(m, f), Verdict::unknown, "open after the proof attempt");
  }
  void open(Verdict status) {
    for (const Finding& f : out_.proof.findings) {
      Verdict s = f.kind == FindingKind::vacuous ? Verdict::vacuous : Verdict::unknown;
      if (status == Verdict::vacuous && s != Verdict::vacuous) continue;
      put(of_finding(*out_.proof.model, f), s, "proof attempt");
    }
    if (!r().obligations.empty()) return;
    // What stayed open is not selected. The proof of one obligation leans on the others (attribution on counts, order
    // on attribution), so the selected ones are not proved either.
    r().obligations.push_back({.id = "V",
                               .rule = "",
                               .defect = "",
                               .status = Verdict::unknown,
                               .method = "proof attempt",
                               .where = {},
                               .message = "an obligation that is not selected stayed open, and the others rest on it",
                               .notes = {},
                               .trace = {}});
  }

  const Protocol& p_;
  const JudgeOptions& options_;
  Deadline deadline_;
  Judgement out_;
};
}  // namespace

Judgement judge(const Protocol& p, const JudgeOptions& options) {
  Protocol rings = split_rings(p);
  return Judge(rings, options).go();
}

std::vector<TraceStep> trace_of(const Model& m, const Attack& a) {
  std::vector<TraceStep> out;
  for (const LogStep& l : a.result.log) {
    if (out.size() == kLongestTrace) break;
    const ThreadRef& t = a.traces.threads[static_cast<size_t>(l.thread)];
    const Record& r = a.traces.records[static_cast<size_t>(l.thread)][static_cast<size_t>(l.record)];
    const Event& e = m[r.id].event;
    const Role& role = m.protocol.roles[static_cast<size_t>(t.role)];
    TraceStep s;
    s.role = role.name;
    s.warp = t.warp;
    s.lane = t.lane;
    s.last_warp = t.warp + t.warps_for - 1;
    s.last_lane = t.lane + t.threads_for / t.warps_for - 1;
    s.first_thread = role.first_thread;
    s.kind = name_of(e.kind);
    s.text = print(m.protocol, e);
    s.where = e.origin.where.range;
    if (e.ring >= 0) s.ring = m.protocol.rings[static_cast<size_t>(e.ring)].name;
    s.slot = e.ring >= 0 ? r.slot : -1;
    s.phase = l.phase;
    s.iteration = r.vec;
    s.completion = l.completion;
    out.push_back(std::move(s));
  }
  return out;
}

std::optional<std::array<bool, 9>> parse_obligations(std::string_view text) {
  std::array<bool, 9> out{};
  if (text.empty()) return std::nullopt;
  while (true) {
    size_t end = text.find(',');
    std::string_view part = text.substr(0, end);
    auto digit = [](char c) { return c >= '0' && c <= '8'; };
    bool one = part.size() == 1 && digit(part[0]);
    bool range = part.size() == 3 && digit(part[0]) && part[1] == '-' && digit(part[2]) && part[0] <= part[2];
    if (!one && !range) return std::nullopt;
    for (char c = part[0]; c <= part.back(); ++c) out[static_cast<size_t>(c - '0')] = true;
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tc::verify
