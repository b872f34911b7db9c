#include "sim/check/checks.h"

#include <algorithm>

#include "specs/rule.h"

namespace tc::sim {
namespace {

// Which sanitizer finds the defects of a class.
struct ClassRow {
  std::string_view defect;
  Check check;
};
constexpr std::array kByClass = {
    ClassRow{"deadlock", Check::barrier},
    ClassRow{"barrier-parity", Check::barrier},
    ClassRow{"barrier-arrive-count", Check::barrier},
    ClassRow{"barrier-expect-tx", Check::barrier},
    ClassRow{"barrier-init", Check::barrier},
    ClassRow{"named-barrier", Check::barrier},
    ClassRow{"divergent-collective", Check::divergence},
    ClassRow{"tma-alignment", Check::bulk},
    ClassRow{"tma-stride", Check::bulk},
    ClassRow{"tma-swizzle", Check::bulk},
    ClassRow{"proxy-fence", Check::proxy},
    ClassRow{"bulk-group", Check::bulk},
    ClassRow{"wgmma-hazard", Check::wgmma},
    ClassRow{"tmem-lifetime", Check::lifetime},
    ClassRow{"tcgen05-order", Check::race},
    ClassRow{"cluster", Check::lifetime},
    ClassRow{"smem-race", Check::race},
    ClassRow{"global-race", Check::race},
    ClassRow{"insn-select", Check::bounds},
    ClassRow{"reg-budget", Check::registers},
    ClassRow{"out-of-bounds", Check::bounds},
};
static_assert(kByClass.size() == kDefectClasses.size());
static_assert(std::ranges::equal(kByClass, kDefectClasses, {}, &ClassRow::defect));

// Rules that have a sanitizer of their own.
struct RuleRow {
  std::string_view rule;
  Check check;
};
constexpr std::array kByRule = {RuleRow{"BOUND-02", Check::uninit}, RuleRow{"MBAR-06", Check::lap}};

}  // namespace

bool Checks::wants(std::string_view rule) const {
  if (const auto* own = std::ranges::find(kByRule, rule, &RuleRow::rule); own != kByRule.end()) return has(own->check);
  const Rule* r = find_rule(rule);
  if (!r) return any();
  const auto* row = std::ranges::find(kByClass, r->defect, &ClassRow::defect);
  return row != kByClass.end() && has(row->check);
}

std::optional<Checks> parse_checks(std::string_view text) {
  if (text == "none") return Checks(false);
  if (!kChecksCompiled) return std::nullopt;
  Checks out(false);
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    const bool minus = name.starts_with('-');
    name.remove_prefix(minus);
    const auto* row = std::ranges::find(kChecks, name, &CheckRow::name);
    if (name == "all" && !minus) out = Checks(true);
    else if (row == kChecks.end()) return std::nullopt;
    else if (minus) out.take_away(row->check);
    else out.add(row->check);
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

std::string check_names() {
  if (!kChecksCompiled) return "none (this build has no sanitizers)";
  std::string out = "all, none";
  for (const CheckRow& row : kChecks) out += ", " + std::string(row.name);
  return out;
}

}  // namespace tc::sim
