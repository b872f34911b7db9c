// The runner: directives of a file, matching, comparison of diagnostics. See filetest.h for the language.
#include "tools/filetest.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/files.h"

namespace tc::filetest {
namespace {

enum class CheckKind { plain, next, not_, label };
struct Check {
  CheckKind kind;
  std::string pattern;
  int line;
};
struct Expectation {
  std::string text;
  uint32_t line;
  bool met = false;
};
struct Test {
  std::string stage;
  Input input;
  std::vector<Check> checks;
  int line;
};
struct Script {
  std::vector<Test> tests;
  std::vector<Expectation> errors;
};

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string squeeze(const std::string& s) {
  std::string out;
  for (char c : s) {
    bool blank = c == ' ' || c == '\t';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// The text behind `key` in a comment of the line, if there.
bool directive(const std::string& line, const std::string& key, std::string& rest) {
  for (const char* comment : {"# ", "// "}) {
    size_t at = line.find(comment + key);
    if (at == std::string::npos) continue;
    rest = squeeze(line.substr(at + std::string(comment).size() + key.size()));
    return true;
  }
  return false;
}

Test parse_test(const std::string& rest, int line) {
  Test test{.stage = {}, .input = {}, .checks = {}, .line = line};
  std::istringstream words(rest);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (test.stage.empty()) test.stage = key;
    if (equals != std::string::npos) test.input.options.emplace_back(key, value);
  }
  return test;
}

constexpr std::pair<const char*, CheckKind> kCheckKeys[] = {{"CHECK:", CheckKind::plain},
                                                            {"CHECK-NEXT:", CheckKind::next},
                                                            {"CHECK-NOT:", CheckKind::not_},
                                                            {"CHECK-LABEL:", CheckKind::label}};

Script parse_script(const std::string& text, std::vector<std::string>& failures, const std::string& path) {
  Script script;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    std::string rest;
    if (directive(line, "test:", rest)) script.tests.push_back(parse_test(rest, number));
    if (directive(line, "error:", rest)) script.errors.push_back({rest, static_cast<uint32_t>(number)});
    for (auto [key, kind] : kCheckKeys) {
      if (!directive(line, key, rest)) continue;
      if (script.tests.empty())
        failures.push_back(path + ":" + std::to_string(number) + ": a check before the first test: line");
      else script.tests.back().checks.push_back({kind, rest, number});
    }
  }
  return script;
}

// ---- patterns
using Captures = std::map<std::string, std::string>;

std::string escaped(const std::string& literal) {
  std::string out;
  for (char c : literal) {
    if (std::string_view("\\^$.|?*+()[]{}/").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

struct Pattern {
  std::regex regex;
  std::vector<std::string> names;  // of the groups, "" for groups inside user regexes
};

int count_groups(const std::string& regex) {
  int n = 0;
  for (size_t i = 0; i < regex.size(); ++i) {
    if (regex[i] == '\\') ++i;
    else if (regex[i] == '(' && (i + 1 == regex.size() || regex[i + 1] != '?')) ++n;
  }
  return n;
}

// {{regex}}, [[NAME:regex]] and [[NAME]] become parts of one regular expression.
Pattern compile(const std::string& text, const Captures& captures) {
  std::string out;
  Pattern pattern;
  for (size_t at = 0; at < text.size();) {
    size_t regex = text.find("{{", at), capture = text.find("[[", at), open = std::min(regex, capture);
    out += escaped(text.substr(at, open - at));
    if (open == std::string::npos) break;
    size_t close = text.find(open == regex ? "}}" : "]]", open);
    if (close == std::string::npos) throw std::regex_error(std::regex_constants::error_brack);
    if (open == capture && close + 2 < text.size() && text[close + 2] == ']')
      ++close;  // [[N:[a-z]]] ends in the class's ]
    std::string inner = text.substr(open + 2, close - open - 2);
    at = close + 2;
    if (open == regex) {
      out += "(?:" + inner + ")";
      pattern.names.insert(pattern.names.end(), static_cast<size_t>(count_groups(inner)), "");
      continue;
    }
    size_t colon = inner.find(':');
    if (colon == std::string::npos) {
      auto known = captures.find(inner);
      out += escaped(known == captures.end() ? "[[" + inner + "]]" : known->second);
      continue;
    }
    out += "(" + inner.substr(colon + 1) + ")";
    pattern.names.push_back(inner.substr(0, colon));
    pattern.names.insert(pattern.names.end(), static_cast<size_t>(count_groups(inner.substr(colon + 1))), "");
  }
  pattern.regex = std::regex(out);
  return pattern;
}

bool matches(const std::string& line, const std::string& pattern_text, Captures& captures) {
  Pattern pattern = compile(pattern_text, captures);
  std::smatch match;
  if (!std::regex_search(line, match, pattern.regex)) return false;
  for (size_t i = 0; i < pattern.names.size(); ++i)
    if (!pattern.names[i].empty()) captures[pattern.names[i]] = match[i + 1].str();
  return true;
}

struct Matcher {
  const std::string& path;
  std::vector<std::string> lines;
  std::vector<std::string>& failures;
  Captures captures;
  size_t next = 0;   // the first line that may match
  size_t limit = 0;  // the line of the next label
  std::vector<const Check*> forbidden;

  void fail(const Check& c, const std::string& what) {
    std::string seen =
        next < lines.size() ? "\n    the output goes on with: " + lines[next] : "\n    the output has ended";
    failures.push_back(path + ":" + std::to_string(c.line) + ": " + what + " '" + c.pattern + "'" + seen);
  }
  void check_forbidden(size_t from, size_t to) {
    for (const Check* c : forbidden)
      for (size_t i = from; i < to; ++i) {
        Captures scratch = captures;
        if (matches(lines[i], c->pattern, scratch)) {
          failures.push_back(path + ":" + std::to_string(c->line) + ": a line matches '" + c->pattern +
                             "': " + lines[i]);
          break;
        }
      }
    forbidden.clear();
  }
  // False: the rest of the block makes no sense any more.
  bool apply(const Check& c) {
    if (c.kind == CheckKind::not_) {
      forbidden.push_back(&c);
      return true;
    }
    size_t last = c.kind == CheckKind::next ? std::min(next + 1, limit) : limit;
    for (size_t i = next; i < last; ++i) {
      Captures attempt = captures;
      if (!matches(lines[i], c.pattern, attempt)) continue;
      check_forbidden(next, i);
      captures = attempt;
      next = i + 1;
      return true;
    }
    fail(c, c.kind == CheckKind::next ? "the next line does not match" : "no line matches");
    return false;
  }
  size_t find_label(const Check& c, size_t from) {
    for (size_t i = from; i < lines.size(); ++i) {
      Captures scratch;
      if (matches(lines[i], c.pattern, scratch)) return i;
    }
    return lines.size();
  }
  void run(const std::vector<Check>& checks) {
    bool good = true;
    limit = lines.size();
    for (size_t n = 0; n < checks.size(); ++n) {
      bool starts = n == 0 || checks[n].kind == CheckKind::label;
      if (starts) {  // a block reaches to the next label
        check_forbidden(next, limit);
        good = true;
        if (checks[n].kind == CheckKind::label) {
          size_t at = find_label(checks[n], std::min(next, lines.size()));
          if (at == lines.size()) return fail(checks[n], "no line matches the label");
          next = at;
        }
        auto label = std::find_if(checks.begin() + static_cast<ptrdiff_t>(n) + 1, checks.end(),
                                  [](const Check& c) { return c.kind == CheckKind::label; });
        limit = label == checks.end() ? lines.size()
                                      : find_label(*label, next + (checks[n].kind == CheckKind::label ? 1 : 0));
      }
      if (good) good = apply(checks[n]);
      if (!good && limit < lines.size()) next = limit;
    }
    check_forbidden(next, limit);
  }
};

void compare_diags(const std::string& path, FileId file, const Output& output, std::vector<Expectation>& expected,
                   std::vector<std::string>& failures) {
  for (const Diag& d : output.diags) {
    bool found = false;
    for (Expectation& e : expected) {
      bool here = (d.where.file == file && d.where.line == e.line) ||
                  (!d.where.valid() && d.message.find(e.text) != std::string::npos);
      std::string whole = squeeze(d.message + (d.rule.empty() ? "" : " [" + d.rule + "]"));
      if (!here || whole.find(e.text) == std::string::npos) continue;
      e.met = found = true;
    }
    if (!found) failures.push_back(path + ": unexpected: " + render(d));
  }
}

}  // namespace

std::vector<std::string> run_text(const Stages& stages, const std::string& path, const std::string& text) {
  std::vector<std::string> failures;
  Script script = parse_script(text, failures, path);
  if (script.tests.empty()) failures.push_back(path + ": no test: line");
  FileId file = add_source_file(path, text);
  for (Test& test : script.tests) {
    auto stage = stages.find(test.stage);
    if (stage == stages.end()) {
      failures.push_back(path + ":" + std::to_string(test.line) + ": there is no stage '" + test.stage + "'");
      continue;
    }
    test.input.path = path;
    test.input.file = file;
    Output output = stage->second(test.input);
    compare_diags(path, file, output, script.errors, failures);
    Matcher matcher{path, split_lines(output.text), failures, {}, 0, 0, {}};
    for (std::string& line : matcher.lines) line = squeeze(line);
    try {
      matcher.run(test.checks);
    } catch (const std::regex_error& e) {
      failures.push_back(path + ": a malformed pattern: " + e.what());
    }
  }
  for (const Expectation& e : script.errors)
    if (!e.met) failures.push_back(path + ":" + std::to_string(e.line) + ": expected an error here: " + e.text);
  return failures;
}

std::vector<std::string> run_file(const Stages& stages, const std::string& path) {
  auto text = read_file(path);
  return text ? run_text(stages, path, *text) : std::vector<std::string>{path + ": " + text.error().message};
}

int run_all(const Stages& stages, const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with(".") &&
          entry.path().extension() != ".toml")
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  int failed = 0;
  for (const std::string& file : files) {
    std::vector<std::string> failures = run_file(stages, file);
    for (const std::string& f : failures) std::printf("%s\n", f.c_str());
    failed += !failures.empty();
  }
  std::printf("%zu files, %d failed\n", files.size(), failed);
  return failed > 0 || files.empty() ? 1 : 0;
}

}  // namespace tc::filetest
