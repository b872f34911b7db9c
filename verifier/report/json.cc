// The report as JSON, version 1 (docs/tools.md).
#include <nlohmann/json.hpp>

#include "verifier/report/report.h"

namespace tc {
namespace {
using Json = nlohmann::ordered_json;

std::string file_of(const SourceRange& r) { return std::string(source_file_name(r.file)); }

Json trace_json(const TraceStep& s) {
  Json j{{"role", s.role},
         {"warp", s.warp},
         {"lane", s.lane},
         {"last_warp", s.last_warp},
         {"last_lane", s.last_lane},
         {"first_thread", s.first_thread},
         {"kind", s.kind},
         {"text", s.text},
         {"file", file_of(s.where)},
         {"line", s.where.line},
         {"column", s.where.column},
         {"iteration", s.iteration},
         {"completion", s.completion}};
  if (!s.ring.empty()) {
    j["ring"] = s.ring;
    j["slot"] = s.slot;
    j["phase"] = s.phase;
  }
  return j;
}
Json obligation_json(const ObligationReport& o) {
  Json notes = Json::array(), trace = Json::array();
  for (const Note& n : o.notes)
    notes.push_back({{"file", file_of(n.where)}, {"line", n.where.line}, {"message", n.message}});
  for (const TraceStep& s : o.trace) trace.push_back(trace_json(s));
  return {{"id", o.id},           {"rule", o.rule},           {"class", o.defect},    {"status", name_of(o.status)},
          {"method", o.method},   {"file", file_of(o.where)}, {"line", o.where.line}, {"column", o.where.column},
          {"message", o.message}, {"notes", notes},           {"trace", trace},       {"replayed", o.replayed}};
}
Json reasons_json(const std::vector<Reason>& reasons) {
  Json out = Json::array();
  for (const Reason& r : reasons) out.push_back({{"obligation", r.obligation}, {"why", r.why}});
  return out;
}
Json kernel_json(const KernelReport& k) {
  Json args = Json::object(), assumptions = Json::array(), obligations = Json::array();
  for (const auto& [name, value] : k.args) args[name] = value;
  for (const ReportAssumption& a : k.assumptions) assumptions.push_back({{"text", a.text}, {"used", a.used}});
  for (const ObligationReport& o : k.obligations) obligations.push_back(obligation_json(o));
  return {{"name", k.name},
          {"file", k.file},
          {"line", k.line},
          {"arch", k.arch},
          {"args", args},
          {"specialisation_from", k.specialisation_from},
          {"level", k.level},
          {"generalised", k.generalised},
          {"judged", k.judged},
          {"not_applicable", reasons_json(k.not_applicable)},
          {"not_judged", reasons_json(k.not_judged)},
          {"assumptions", assumptions},
          {"verdict", name_of(k.verdict)},
          {"scope", name_of(k.scope)},
          {"bound", k.bound ? Json(*k.bound) : Json(nullptr)},
          {"preconditions", k.preconditions},
          {"seconds", k.seconds},
          {"obligations", obligations}};
}
}  // namespace

std::string json_report(std::string_view tool, std::span<const KernelReport> kernels) {
  Json out{{"version", 1}, {"tool", tool}, {"kernels", Json::array()}};
  for (const KernelReport& k : kernels) out["kernels"].push_back(kernel_json(k));
  // Bytes of a source that are no UTF-8 are replaced, never an exception.
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tc
