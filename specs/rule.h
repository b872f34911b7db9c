// The table of rules (specs/rule.def): id → class of defect, obligation, source, one sentence.
// Shared by verifier, simulator and compiler, so that one id means one thing everywhere.
//   find_rule("MBAR-05")->defect == "barrier-arrive-count"
// Unknown ids give nullptr. Class names are those of kDefectClasses.
#pragma once
#include <array>
#include <span>
#include <string_view>

namespace tc {

struct Rule {
  std::string_view id, defect, obligation, source, text;
};

// Every class that a finding may carry, in the order of the documentation.
inline constexpr std::array<std::string_view, 21> kDefectClasses = {
    "deadlock",     "barrier-parity", "barrier-arrive-count", "barrier-expect-tx",
    "barrier-init", "named-barrier",  "divergent-collective", "tma-alignment",
    "tma-stride",   "tma-swizzle",    "proxy-fence",          "bulk-group",
    "wgmma-hazard", "tmem-lifetime",  "tcgen05-order",        "cluster",
    "smem-race",    "global-race",    "insn-select",          "reg-budget",
    "out-of-bounds"};

std::span<const Rule> all_rules();
const Rule* find_rule(std::string_view id);
// Is it one of kDefectClasses?
bool is_defect_class(std::string_view name);

}  // namespace tc
