#include "sim/check/scope.h"

namespace tc::sim {

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::gpu: return ".gpu";
    case Scope::cluster: return ".cluster";
    case Scope::cta: return ".cta";
  }
  return {};
}

Scope needed(Home a, Home b) {
  if (a.cluster != b.cluster) return Scope::gpu;
  return a.cta == b.cta ? Scope::cta : Scope::cluster;
}

void Publication::add(Home by, Scope reach, uint32_t place, const Clock& clock) {
  if (clock.empty()) return;
  if (reach == Scope::gpu) {
    several |= !all.empty() && (several || from != by);
    from = by;
    return join(all, clock);
  }
  for (Narrow& n : narrow)
    if (n.from == by && n.reach == reach && n.place == place) return join(n.clock, clock);
  narrow.push_back({by, reach, place, clock});
}

void Publication::add(const Publication& more) {
  if (!more.all.empty()) {
    several |= more.several || (!all.empty() && from != more.from);
    from = more.from;
    join(all, more.all);
  }
  for (const Narrow& n : more.narrow) add(n.from, n.reach, n.place, n.clock);
}

namespace {

Shared<Part> narrowed(const Part& p) {
  Part out;
  out.narrow = p.known;
  out.narrow.join(p.narrow);
  return Shared<Part>::make(std::move(out));
}

}  // namespace

Clock narrowed(const Clock& clock) {
  Clock out;
  out.cluster = clock.cluster;
  if (clock.part) out.part = narrowed(*clock.part);
  if (!clock.foreign) return out;
  for (const auto& [cluster, part] : clock.foreign->parts)
    out.foreign.own().parts.emplace_back(cluster, narrowed(*part));
  return out;
}

Clock restricted(const Clock& clock, Home own, Scope scope, uint32_t warps, uint32_t warps_per_cta) {
  Clock out;
  const Part* about = clock.about(own.cluster);
  if (!about) return out;
  Part p = *about;
  if (scope == Scope::cta)
    for (Knowledge Part::*k : {&Part::known, &Part::visible, &Part::passed, &Part::executed, &Part::fenced})
      for (uint32_t w = 0; w < warps; ++w)
        if (w / warps_per_cta != own.cta) (p.*k).forget(w), (p.*k).forget(warps + w);
  out.cluster = own.cluster;
  out.part = Shared<Part>::make(std::move(p));
  return out;
}

}  // namespace tc::sim
