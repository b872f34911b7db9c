// Verdicts on tile programs and device modules: the kernel is lowered, its protocol extracted and judged, and what the
// protocol does not carry (descriptors, bounds, budgets) is said to be not judged. Used by tilecheck and tilec --prove.
#pragma once
#include <optional>

#include "tools/pipeline.h"
#include "verifier/judge.h"

namespace tc::tools {

struct KernelVerdict {
  KernelReport report;
  std::string certificate_json;                // proved
  std::optional<verify::Judgement> judgement;  // absent where there was no protocol to judge
};
// Of a kernel that was lowered to `device`, or of one whose lowering failed.
KernelVerdict judge_device(const Kernel& kernel, const ir::Module& device, const verify::JudgeOptions& options);
KernelVerdict failed_lowering(const Kernel& kernel, const Diag& diag, const verify::JudgeOptions& options);
// A file or kernel that could not be read: a report with one unsupported or refuted entry, so that JSON has it too.
KernelReport failed_input(const std::string& file, const Diag& diag);

// "NAME=VALUE" of repeated options; prints a usage error and returns false.
bool split_settings(const std::string& tool, const std::string& option, const std::vector<std::string>& from,
                    std::vector<std::pair<std::string, std::string>>& to);

}  // namespace tc::tools
