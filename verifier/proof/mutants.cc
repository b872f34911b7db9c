#include "verifier/proof/mutants.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "verifier/proof/exact.h"

namespace tc::verify {
namespace {
struct Line {
  std::string text;
  size_t indent = 0;
  std::vector<std::string> words;
  bool opens() const { return words[0] == "for" || words[0] == "if" || words[0] == "ifdata"; }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  std::istringstream in{std::string(text)};
  for (std::string s; std::getline(in, s);) {
    s = s.substr(0, s.find('#'));
    while (!s.empty() && s.back() == ' ') s.pop_back();
    if (s.empty()) continue;
    Line l{.text = s, .indent = s.find_first_not_of(' '), .words = {}};
    std::istringstream words(s);
    for (std::string w; words >> w;) l.words.push_back(w);
    out.push_back(std::move(l));
  }
  return out;
}
std::string replaced(std::string s, std::string_view from, std::string_view to) {
  if (size_t at = s.find(from); at != std::string::npos) s.replace(at, from.size(), to);
  return s;
}

class Mutator {
 public:
  explicit Mutator(std::string_view text) : lines_(lines_of(text)) {}
  std::vector<Mutant> all() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const Line& l = lines_[i];
      if (l.words[0] == "ring") ring(i);
      if (l.words[0] == "for") put("trip", i, {l.text + " - 1"}), put("trip", i, {l.text + " + 1"});
      if (l.words[0] == "if" && l.has(">=")) put("guard", i, {l.text + " + 1"}), put("guard", i, {l.text + " - 1"});
      if (l.indent && !l.opens()) order(i);
      who(i);
      numbers(i);
    }
    return std::move(out_);
  }

 private:
  void emit(std::string what, const std::vector<std::string>& lines) {
    std::string text, original;
    for (const std::string& s : lines) text += s + "\n";
    for (const Line& l : lines_) original += l.text + "\n";
    if (text != original && seen_.insert(text).second) out_.push_back({std::move(what), std::move(text)});
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Line& l : lines_) out.push_back(l.text);
    return out;
  }
  void put(std::string what, size_t i, const std::vector<std::string>& instead) {
    std::vector<std::string> t = texts();
    t.erase(t.begin() + static_cast<std::ptrdiff_t>(i));
    t.insert(t.begin() + static_cast<std::ptrdiff_t>(i), instead.begin(), instead.end());
    emit(std::move(what), t);
  }
  void ring(size_t i) {
    const Line& l = lines_[i];
    const std::string count = l.words.back();
    for (int d : {-1, 1})
      if (count.find_first_not_of("0123456789") == std::string::npos)
        put("count", i, {replaced(l.text, "count " + count, "count " + std::to_string(std::stoi(count) + d))});
    put("one more slot", i, {replaced(l.text, " " + l.words[2] + " ", " " + l.words[2] + "+1 ")});
  }
  // Dropped, doubled, swapped with the next, an arrival moved to the front.
  void order(size_t i) {
    const Line& l = lines_[i];
    bool next = i + 1 < lines_.size() && lines_[i + 1].indent == l.indent;
    if (l.indent <= lines_[i - 1].indent || next) put("drop", i, {});
    put("twice", i, {l.text, l.text});
    if (next && !lines_[i + 1].opens()) {
      std::vector<std::string> t = texts();
      std::swap(t[i], t[i + 1]);
      emit("swap", t);
    }
    for (size_t j = i + 2; j < lines_.size(); ++j) {
      if (lines_[j].indent != l.indent || lines_[j].opens() || lines_[j].words[0] == "role") break;
      if (!lines_[j].has(" arrive ")) continue;
      std::vector<std::string> t = texts();
      std::rotate(t.begin() + static_cast<std::ptrdiff_t>(i), t.begin() + static_cast<std::ptrdiff_t>(j),
                  t.begin() + static_cast<std::ptrdiff_t>(j) + 1);
      emit("early", t);
      break;
    }
  }
  void who(size_t i) {
    const Line& l = lines_[i];
    struct Row {
      std::string_view from, to;
    };
    for (Row r : {Row{"all", "one"}, {"one", "all"}, {"warp", "all"}, {"warp", "one"}})
      if (l.words[0] == r.from)
        put("who", i, {std::string(l.indent, ' ') + std::string(r.to) + l.text.substr(l.indent + r.from.size())});
  }
  void numbers(size_t i) {
    const Line& l = lines_[i];
    for (size_t open = l.text.find('['); open != std::string::npos; open = l.text.find('[', open + 1)) {
      size_t close = l.text.find(" % S]", open);
      if (close == std::string::npos || l.text.find(']', open) < close) continue;
      std::string inside = l.text.substr(open + 1, close - open - 1), head = l.text.substr(0, open),
                  tail = l.text.substr(close + 5);
      put("slot", i, {head + "[(" + inside + " + 1) % S]" + tail});
      put("slot", i, {head + "[" + inside + " % (S + 1)]" + tail});
    }
    if (l.has(" wait ")) {
      put("parity", i, {l.has(" meant ") ? replaced(l.text, " meant ", " ^ 1 meant ") : l.text + " ^ 1"});
      put("phase", i, {replaced(l.text, "// S)", "// (S + 1))")});
    }
    if (l.has(" tx ") || l.has(" bytes ") || l.has(" expect "))
      put("bytes", i, {l.has(" 2") ? replaced(l.text, " 2", " 3") : replaced(l.text, " 6", " 5")});
    if (l.words.size() > 1 && l.words[1] == "mmawait")
      put("mmawait", i, {l.text.substr(0, l.text.size() - 1) + std::to_string(l.text.back() - '0' + 1)});
    if (l.has(" tile ")) put("tile", i, {l.has("bytes") ? replaced(l.text, " bytes", " + 1 bytes") : l.text + " + 1"});
  }

  std::vector<Line> lines_;
  std::set<std::string> seen_;
  std::vector<Mutant> out_;
};

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

// Every mark of every event is in the phase of its ticket.
std::optional<std::string> misplaced(const Model& m, const Traces& t, const RunResult& r, const Point& params) {
  Point p = params;
  for (size_t i = 0; i < t.threads.size(); ++i)
    for (size_t j = 0; j < t.records[i].size(); ++j) {
      const Record& x = t.records[i][j];
      if (m[x.id].event.ring < 0) continue;
      set_iteration(m, x, p);
      int64_t phase = floor_div(m[x.id].ticket->at(p), m.slots[static_cast<size_t>(m[x.id].event.ring)]);
      for (size_t mark = 0; mark < 4; ++mark) {
        const PhaseRange& seen = r.where[i][j][mark];
        int64_t want = phase + (mark == static_cast<size_t>(Mark::wait) ? 1 : 0);
        if (seen.seen() && (seen.low != want || seen.high != want))
          return "'" + m.event_text(x.id) + "' in phase " + std::to_string(seen.high) + " instead of " +
                 std::to_string(want);
      }
    }
  return std::nullopt;
}
}  // namespace

std::vector<Mutant> mutants_of(std::string_view text) { return Mutator(text).all(); }

std::optional<std::string> contradiction(const Proof& proof, uint64_t seeds) {
  const Model& m = *proof.model;
  int64_t threads = 0;
  for (const Role& r : m.protocol.roles) threads += r.threads();
  for (const std::vector<int64_t>& params : trial_parameters(m, 2 * m.depth + 3))
    for (uint64_t draw = 0; draw < (m.predicates.empty() ? 1 : 3); ++draw) {
      Inputs in = make_inputs(m, params, 11 + draw, false);
      std::optional<Traces> t = expand(m, in, threads < 12 ? 3 : 2, 100000);
      if (!t) return "the runs are too long";
      Point p = parameter_point(m, in);
      std::string at;
      for (int64_t v : in.params) at += " " + std::to_string(v);
      for (uint64_t seed = 0; seed <= seeds; ++seed) {  // the last one on counters
        RunResult r = run(m, *t, seed, seed == seeds ? Reading::ticket : Reading::parity, p);
        if (r.failure)
          return "parameters" + at + ", seed " + std::to_string(seed) + ": " + std::string(name_of(r.failure->kind)) +
                 ": " + r.failure->message;
        if (auto wrong = misplaced(m, *t, r, p))
          return "parameters" + at + ", seed " + std::to_string(seed) + ": " + *wrong;
      }
    }
  return std::nullopt;
}

}  // namespace tc::verify
