// The sanitizers by name, as `--check` selects them: all, none, or names with commas between; a name after a minus is
// taken away.
//   parse_checks("race,uninit")   findings of RACE-01, RACE-02 and BOUND-02, no others
//   parse_checks("all,-lap")      all but MBAR-06
// A build with -Dchecks=false has none, so that tools/bench/sim can tell what they cost where they are off.
// What the machine does not survive (a fault, a deadlock, a launch that is refused) is reported in any case.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tc::sim {

#ifdef TC_NO_CHECKS
inline constexpr bool kChecksCompiled = false;
#else
inline constexpr bool kChecksCompiled = true;
#endif

enum class Check : uint8_t { race, proxy, barrier, divergence, bulk, wgmma, lifetime, registers, bounds, uninit, lap };

struct CheckRow {
  Check check;
  std::string_view name, what;
};
inline constexpr std::array kChecks = {
    CheckRow{Check::race, "race", "unordered accesses to shared and global memory"},
    CheckRow{Check::proxy, "proxy", "missing proxy fences"},
    CheckRow{Check::barrier, "barrier", "misuse of mbarriers and named barriers"},
    CheckRow{Check::divergence, "divergence", "collective instructions executed by a part of a warp or block"},
    CheckRow{Check::bulk, "bulk", "misuse of bulk groups and of copies"},
    CheckRow{Check::wgmma, "wgmma", "registers and shared memory of a wgmma in flight"},
    CheckRow{Check::lifetime, "lifetime", "CTAs of a cluster that have left"},
    CheckRow{Check::registers, "registers", "the register budget"},
    CheckRow{Check::bounds, "bounds", "accesses that the machine survives although they are out of bounds"},
    CheckRow{Check::uninit, "uninit", "reads of what nobody has written"},
    CheckRow{Check::lap, "lap", "waits that an mbarrier may run two phases ahead of"},
};

class Checks {
 public:
  constexpr Checks(bool all = false) : bits_(kChecksCompiled && all ? (1u << kChecks.size()) - 1 : 0) {}
  constexpr bool any() const { return kChecksCompiled && bits_ != 0; }
  constexpr bool has(Check c) const { return kChecksCompiled && (bits_ >> static_cast<uint32_t>(c) & 1); }
  constexpr void add(Check c) { bits_ |= 1u << static_cast<uint32_t>(c); }
  constexpr void take_away(Check c) { bits_ &= ~(1u << static_cast<uint32_t>(c)); }
  // Is a finding of this rule (specs/rule.def) asked for?
  bool wants(std::string_view rule) const;

 private:
  uint32_t bits_;
};

// Nothing for a name that is not in the table, nor for one that this build has not.
std::optional<Checks> parse_checks(std::string_view text);
// "all, none, race, proxy, ..."
std::string check_names();

}  // namespace tc::sim
