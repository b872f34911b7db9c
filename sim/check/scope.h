// Scopes of strong accesses and fences, PTX ISA 8.5: an edge of happens-before is passed only where the scopes of both
// sides include the other thread (8.8, morally strong). .sys counts as .gpu, the memory of one device.
//   CTA 0: fence.acq_rel.cta; atom.gpu   CTA 1: atom.gpu; fence.acq_rel.gpu   the fence of CTA 0 does not reach CTA 1
// What such an edge would have told is kept apart (Part::narrow), so that a race can say that a scope is too narrow.
// What an address publishes is one clock, where every scope is .gpu, and a list of the narrower ones.
#pragma once
#include <string_view>
#include <vector>

#include "sim/check/clock.h"

namespace tc::sim {

enum class Scope : uint8_t { gpu, cluster, cta };  // each includes the next
inline constexpr size_t kScopes = 3;
std::string_view name_of(Scope scope);

// Where a thread runs: its cluster, and its CTA within it.
struct Home {
  uint32_t cluster = 0, cta = 0;
  bool operator==(const Home&) const = default;
};
// The narrowest scope that has both.
Scope needed(Home a, Home b);

struct Publication {
  struct Narrow {
    Home from;
    Scope reach = Scope::cta;
    uint32_t place = 0;  // whose scope it is
    Clock clock;
  };
  Clock all;  // published at .gpu
  Home from;
  bool several = false;  // from more than one CTA
  std::vector<Narrow> narrow;

  bool empty() const { return all.empty() && narrow.empty(); }
  void add(Home by, Scope reach, uint32_t place, const Clock& clock);
  // A read-modify-write goes on with what earlier writes published.
  void add(const Publication& more);
};

// All that the clock knows, as what would be known were scopes not looked at.
Clock narrowed(const Clock& clock);
// What the clock knows of the own CTA (or cluster, by scope) alone. `warps`: of the cluster; `warps_per_cta`.
Clock restricted(const Clock& clock, Home own, Scope scope, uint32_t warps, uint32_t warps_per_cta);

}  // namespace tc::sim
