// Diagnostics of a trace: each with the calls of functions and macros that led there, said once, at most `errors` of
// a kernel; what only follows from an error that was reported is left out.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
constexpr size_t kMaxFrames = 8;  // of calls that a diagnostic names
}  // namespace

SourceRange place_in_program(const Session& s, const SourceRange& where) {
  if (!of_library(s, where.file)) return where;
  auto frame = std::find_if(s.calls.rbegin(), s.calls.rend(),
                            [&](const Session::Frame& f) { return f.where.valid() && !of_library(s, f.where.file); });
  return frame == s.calls.rend() ? where : frame->where;
}

void report(Session& s, const Failure& failure) {
  if (s.trace && s.trace->eager && s.trace->eager->probing) return;
  if (s.trace) ++s.trace->errors;
  if (failure.follows || (s.trace && static_cast<int64_t>(s.trace->errors) > s.options->bounds.errors)) return;
  Diag d = failure.diag;
  if (!d.where.valid() && !s.calls.empty()) d.where = s.calls.back().where;
  d.where = place_in_program(s, d.where);
  if (s.trace && s.trace->instance && s.trace->instance->error.empty()) s.trace->instance->error = d.message;
  for (const Diag& known : s.diags)
    if (known.where == d.where && known.message == d.message) return;
  size_t shown = 0;
  for (auto frame = s.calls.rbegin(); frame != s.calls.rend() && shown < kMaxFrames; ++frame) {
    bool of_instance = s.trace && s.trace->instance && frame->where == s.trace->instance->where;
    if (!frame->where.valid() || of_instance || of_library(s, frame->where.file)) continue;
    d.notes.push_back({frame->where, "in the call of '" + frame->function + "' here"});
    ++shown;
  }
  if (const Instance* i = s.trace ? s.trace->instance : nullptr; i && i->factory && i->where.valid()) {
    d.notes.push_back({i->where, "for this instance: " + instance_text(s, i->factory->name, *i)});
    for (const auto& [name, value] : i->args)
      if (const auto* o = value.as<const OpaqueObject*>())
        d.notes.push_back({(*o)->where, "'" + name + "' is not known without running the file: it comes from " +
                                            (*o)->what + "; --arg " + name + "=VALUE or a manifest gives it"});
  }
  s.diags.push_back(std::move(d));
}

void warn(Session& s, const SourceRange& where, std::string message) {
  for (const Diag& known : s.warnings)
    if (known.where == where && known.message == message) return;
  s.warnings.push_back({.severity = Severity::warning, .where = where, .message = std::move(message)});
}

}  // namespace tc::eval
