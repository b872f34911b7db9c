#include "verifier/report/report.h"

#include <algorithm>
#include <cstdio>

namespace tc {
namespace {
std::string seconds_text(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", s);
  return text;
}
std::string joined(const std::vector<std::string>& parts, std::string_view with) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : std::string(with)) + p;
  return out;
}
Severity severity_of(Verdict s) {
  switch (s) {
    case Verdict::refuted:
    case Verdict::unsupported:
    case Verdict::vacuous: return Severity::error;
    case Verdict::unknown:
    case Verdict::bounded: return Severity::warning;
    case Verdict::proved: return Severity::note;
  }
  return Severity::note;
}
std::string diagnostic(const ObligationReport& o) {
  Diag d{.severity = severity_of(o.status),
         .kind = DiagKind::violation,
         .rule = o.rule,
         .where = o.where,
         .message = o.message,
         .notes = o.notes,
         .trace = {}};
  if (o.status == Verdict::unknown) d.message = "not proved: " + d.message;
  for (const TraceStep& s : o.trace) d.trace.push_back(text_of(s));
  return render(d);
}
std::string summary(const KernelReport& k) {
  std::string out = k.file + ": " + (k.name.empty() ? "" : k.name + ": ") + std::string(name_of(k.verdict));
  if (k.verdict == Verdict::proved) {
    std::string of = k.generalised.empty() ? "" : ": every " + joined(k.generalised, ", ");
    out += " (scope " + std::string(name_of(k.scope)) + (k.scope == Scope::all ? of : "") + ")";
  }
  if (k.bound) out += " (bound " + std::to_string(*k.bound) + ")";
  out += ", obligations " + (k.judged.empty() ? "none" : joined(k.judged, " ")) + ", " + seconds_text(k.seconds) + "\n";
  for (const std::string& p : k.preconditions) out += "  where " + p + "\n";
  for (const Reason& r : k.not_applicable) out += "  not applicable: obligation " + r.obligation + ": " + r.why + "\n";
  for (const Reason& r : k.not_judged) out += "  not judged: obligation " + r.obligation + ": " + r.why + "\n";
  return out;
}
}  // namespace

std::string text_of(const TraceStep& s) {
  std::string who = s.role + "." + std::to_string(s.warp) + "." + std::to_string(s.lane);
  std::string out = s.completion ? "complete " + who : who;
  out += " '" + s.text + "'";
  if (!s.iteration.empty()) {
    out += " (";
    for (size_t i = 0; i < s.iteration.size(); ++i) out += (i ? ", " : "") + std::to_string(s.iteration[i]);
    out += ")";
  }
  if (!s.ring.empty())
    out += "   [" + s.ring + "[" + std::to_string(s.slot) + "] phase " + std::to_string(s.phase) + "]";
  return out;
}

std::string_view name_of(Verdict s) {
  switch (s) {
    case Verdict::proved: return "proved";
    case Verdict::bounded: return "bounded";
    case Verdict::refuted: return "refuted";
    case Verdict::unknown: return "unknown";
    case Verdict::unsupported: return "unsupported";
    case Verdict::vacuous: return "vacuous";
  }
  return "";
}
std::string_view name_of(Scope s) { return s == Scope::all ? "all" : "specialisation"; }

Verdict verdict_of(const KernelReport& k) {
  auto any = [&](Verdict s) {
    return std::ranges::any_of(k.obligations, [&](const ObligationReport& o) { return o.status == s; });
  };
  if (any(Verdict::refuted)) return Verdict::refuted;
  if (any(Verdict::unsupported) || !k.not_judged.empty()) return Verdict::unsupported;
  if (any(Verdict::vacuous) || any(Verdict::unknown)) return Verdict::unknown;
  if (any(Verdict::bounded)) return Verdict::bounded;
  return Verdict::proved;
}

int exit_code(std::span<const KernelReport> kernels, bool allow_bounded) {
  auto code = [&](Verdict s) {
    switch (s) {
      case Verdict::refuted: return 1;
      case Verdict::unsupported: return 2;
      case Verdict::vacuous:
      case Verdict::unknown: return 3;
      case Verdict::bounded: return allow_bounded ? 0 : 3;
      case Verdict::proved: return 0;
    }
    return 2;
  };
  int out = 0;
  for (const KernelReport& k : kernels) {
    int c = code(k.verdict);
    if (c && (out == 0 || c < out)) out = c;
  }
  return out;
}

std::string text_report(std::span<const KernelReport> kernels, bool details) {
  std::string out;
  for (const KernelReport& k : kernels) {
    for (const ObligationReport& o : k.obligations)
      if (o.status != Verdict::proved) out += diagnostic(o);
    out += summary(k);
    if (details)
      for (const std::string& line : k.certificate) out += "  " + line + "\n";
  }
  return out;
}

}  // namespace tc
