#include "tools/verdict.h"

#include <cstdio>

#include "specs/rule.h"
#include "verifier/protocol/from_ir.h"

namespace tc::tools {
namespace {

KernelReport header(const Kernel& kernel) {
  const ir::Func& f = kernel.func();
  const SourceRange& at = f.text_loc.valid() ? f.text_loc : f.loc;
  KernelReport r;
  r.name = f.instance.empty() ? f.name : f.instance;
  r.file = source_file_name(at.file);
  r.line = at.line;
  r.arch = kernel.module.arch;
  r.args.assign(f.args.begin(), f.args.end());
  r.specialisation_from = f.specialisation;
  r.level = "ir";
  return r;
}

ObligationReport entry(const Diag& d) {
  ObligationReport o{.id = "-",
                     .rule = d.rule,
                     .status = d.kind == DiagKind::violation ? Verdict::refuted : Verdict::unsupported,
                     .method = "lowering"};
  if (const Rule* rule = find_rule(d.rule)) {
    o.id = rule->obligation;
    o.defect = rule->defect;
  }
  o.where = d.where;
  o.message = d.message;
  o.notes = d.notes;
  return o;
}

bool has_op(const ir::Module& m, ir::OpKind kind) {
  bool found = false;
  walk(m, m.funcs[0].body, [&](ir::OpId id) { found = found || m[id].kind == kind; });
  return found;
}

// A finding on the line of an .ir text gets a note at the source statement behind that line.
void add_origins(KernelReport& r, const ir::Module& m) {
  for (ObligationReport& o : r.obligations)
    for (const ir::Op& op : m.ops) {
      if (!op.text_loc.valid() || !op.loc.valid() || op.text_loc.file != o.where.file ||
          op.text_loc.line != o.where.line)
        continue;
      o.notes.insert(o.notes.begin(), {op.loc, "from this statement"});
      break;
    }
}

// Obligations that a protocol does not carry: said to apply and not to be judged, where they do.
void beyond_the_protocol(KernelReport& r, const ir::Module& m, const verify::JudgeOptions& o) {
  std::erase_if(r.not_applicable, [](const Reason& n) { return n.obligation >= "6" && n.obligation <= "8"; });
  auto add = [&](size_t obligation, bool applies, const char* why, const char* not_here) {
    if (!applies) r.not_applicable.push_back({std::to_string(obligation), not_here});
    else if (o.obligations[obligation]) r.not_judged.push_back({std::to_string(obligation), why});
  };
  add(6, has_op(m, ir::OpKind::tensor_map), "descriptors are checked for the shapes at hand only, not for all shapes",
      "no tensor map");
  add(7, true, "bounds of every access are not judged yet", "");
  add(8, true, "register and launch budgets are not judged yet", "");
}

}  // namespace

KernelVerdict judge_device(const Kernel& kernel, const ir::Module& device, const verify::JudgeOptions& options) {
  KernelVerdict v;
  KernelReport head = header(kernel);
  auto extracted = verify::protocol_from_ir(device);
  if (!extracted.ok()) {
    v.report = head;
    v.report.obligations.push_back(entry(extracted.error()));
    v.report.verdict = Verdict::unsupported;
    return v;
  }
  if (extracted->has_rings) {
    v.judgement = verify::judge(extracted->protocol, options);
    v.report = v.judgement->report;
    v.certificate_json = v.judgement->certificate_json;
    v.report.args = head.args;
  } else {
    v.report = head;
    for (const char* o : {"0", "1", "2", "3"}) v.report.not_applicable.push_back({o, "no mbarrier"});
    if (extracted->not_judged.empty())
      v.report.not_applicable.push_back({"4", "no shared memory that is filled asynchronously"});
    v.report.not_applicable.push_back({"5", "no mbarrier pipeline"});
  }
  add_origins(v.report, device);
  v.report.name = head.name;
  v.report.file = head.file;
  v.report.line = head.line;
  v.report.arch = head.arch;
  v.report.specialisation_from = head.specialisation_from;
  v.report.level = "ir";
  for (const verify::NotJudged& n : extracted->not_judged)
    if (options.obligations[static_cast<size_t>(n.obligation[0] - '0')])
      v.report.not_judged.push_back({n.obligation, n.why + " (" + place_text(n.where) + ")"});
  beyond_the_protocol(v.report, device, options);
  v.report.verdict = verdict_of(v.report);
  return v;
}

KernelVerdict failed_lowering(const Kernel& kernel, const Diag& diag, const verify::JudgeOptions&) {
  KernelVerdict v;
  v.report = header(kernel);
  v.report.obligations.push_back(entry(diag));
  v.report.verdict = verdict_of(v.report);
  return v;
}

KernelReport failed_input(const std::string& file, const Diag& diag) {
  KernelReport r;
  r.file = file;
  r.line = diag.where.line;
  r.level = "ir";
  r.obligations.push_back(entry(diag));
  r.verdict = verdict_of(r);
  return r;
}

bool split_settings(const std::string& tool, const std::string& option, const std::vector<std::string>& from,
                    std::vector<std::pair<std::string, std::string>>& to) {
  for (const std::string& s : from) {
    size_t eq = s.find('=');
    if (eq == 0 || eq == std::string::npos) {
      std::fprintf(stderr, "%s: error: %s takes NAME=VALUE, not '%s'\n", tool.c_str(), option.c_str(), s.c_str());
      return false;
    }
    to.emplace_back(s.substr(0, eq), s.substr(eq + 1));
  }
  return true;
}

}  // namespace tc::tools
