// Targets of PTX modules (.target sm_90a) and what an instruction form may need of one.
//   sm_90  plain: everything up to 90        sm_90a: what only that chip has, too        sm_100f: of its family
// Source: PTX ISA 5.1 and 11.1.2; rules.md chapter 1. Witness: ptxas 13.0 (testdata/ptx/probe: a column a target).
#pragma once
#include <cstdint>
#include <string_view>

namespace tc {

struct PtxTarget {
  uint32_t sm = 0;    // 90; 0: unknown, everything is allowed
  char suffix = ' ';  // ' ', 'a' or 'f'
};
constexpr PtxTarget parse_ptx_target(std::string_view name) {
  PtxTarget t;
  if (!name.starts_with("sm_")) return t;
  for (char c : name.substr(3)) {
    if (c >= '0' && c <= '9') t.sm = 10 * t.sm + static_cast<uint32_t>(c - '0');
    else t.suffix = c;
  }
  return t;
}

enum class TargetFeature : uint8_t {
  any,          // the number alone decides
  only_90a,     // wgmma
  specific,     // an a or f target: setmaxnreg, tensormap.replace
  data_center,  // an a or f target of 100 ... 119: cta_group, scatter4
  consumer,     // an a or f target of 120 ...: block scaling of mma.sync
};
struct TargetNeed {
  uint32_t sm = 0;  // at least
  TargetFeature feature = TargetFeature::any;
};
constexpr bool satisfies(PtxTarget t, TargetNeed n) {
  if (t.sm == 0) return true;
  const bool specific = t.suffix == 'a' || t.suffix == 'f';
  if (t.sm < n.sm) return false;
  switch (n.feature) {
    case TargetFeature::any: return true;
    case TargetFeature::only_90a: return t.sm == 90 && t.suffix == 'a';
    case TargetFeature::specific: return specific;
    case TargetFeature::data_center: return specific && t.sm >= 100 && t.sm < 120;
    case TargetFeature::consumer: return specific && t.sm >= 120;
  }
  return false;
}
static_assert(satisfies(parse_ptx_target("sm_120a"), {120, TargetFeature::consumer}));
static_assert(!satisfies(parse_ptx_target("sm_90"), {90, TargetFeature::only_90a}));

}  // namespace tc
