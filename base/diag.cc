#include "base/diag.h"

#include <algorithm>

namespace tc {
namespace {
std::string_view severity_name(Severity s) {
  switch (s) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "";
}

// The source line and a caret under the range, or nothing where the text is not at hand.
std::string excerpt(const SourceRange& where) {
  std::string_view line = source_line(where.file, where.line);
  if (!where.valid() || line.empty()) return {};
  std::string number = std::to_string(where.line);
  std::string margin(number.size() < 5 ? 5 - number.size() : 0, ' ');
  size_t start = std::min<size_t>(where.column ? where.column - 1 : 0, line.size());
  size_t end = where.end_line == where.line ? where.end_column - 1 : line.size();
  end = std::max(std::min(end, line.size()), start + 1);
  std::string caret;
  for (size_t i = 0; i < start; ++i) caret += line[i] == '\t' ? '\t' : ' ';
  caret += std::string(end - start, '^');
  return margin + number + " | " + std::string(line) + "\n" + std::string(margin.size() + number.size(), ' ') + " | " +
         caret + "\n";
}

std::string headline(const SourceRange& where, Severity severity, std::string_view message, std::string_view rule) {
  std::string out = where.file ? place_text(where) + ": " : std::string();
  out += std::string(severity_name(severity)) + ": " + std::string(message);
  if (!rule.empty()) out += " [" + std::string(rule) + "]";
  return out + "\n" + excerpt(where);
}
}  // namespace

Diag input_error(SourceRange where, std::string message) {
  return Diag{
      .kind = DiagKind::input, .rule = {}, .where = where, .message = std::move(message), .notes = {}, .trace = {}};
}

Diag unsupported(SourceRange where, std::string message) {
  return Diag{.kind = DiagKind::unsupported,
              .rule = {},
              .where = where,
              .message = "unsupported: " + std::move(message),
              .notes = {},
              .trace = {}};
}

std::string render(const Diag& diag) {
  std::string out = headline(diag.where, diag.severity, diag.message, diag.rule);
  for (const Note& n : diag.notes) out += headline(n.where, Severity::note, n.message, {});
  if (!diag.trace.empty()) {
    out += "  trace:\n";
    for (const std::string& step : diag.trace) out += "    " + step + "\n";
  }
  return out;
}

}  // namespace tc
