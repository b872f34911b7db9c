#include "sim/check/bulk_use.h"

#include <bit>

#include "sim/machine/cluster.h"

namespace tc::sim {
namespace {

struct IdleUse {
  const BulkUse* use;
  uint32_t thread;
};

bool has_issued(const Cta& c, uint32_t thread) {
  const auto at = c.bulk_groups.find(thread);
  return at != c.bulk_groups.end() && at->second.last != 0;
}

// The first commit (or wait) that `issuer` does not execute, executed by threads none of which has issued a store.
std::optional<IdleUse> idle_use(const Cta& c, uint32_t issuer, bool commits) {
  for (const BulkUse& u : c.bulk_uses) {
    if (u.commits != commits || u.has(issuer)) continue;
    std::optional<uint32_t> first;
    bool issued = false;
    for (uint32_t w = 0; w < u.lanes.size(); ++w)
      for (uint32_t m = u.lanes[w]; m; m &= m - 1) {
        const uint32_t thread = 32 * w + static_cast<uint32_t>(std::countr_zero(m));
        if (!first) first = thread;
        issued |= has_issued(c, thread);
      }
    if (first && !issued) return IdleUse{&u, *first};
  }
  return std::nullopt;
}

std::string name_of(uint32_t thread) { return "thread " + std::to_string(thread); }
SourceRange line_of(const Cta& c, uint32_t place) { return c.program.places[place].where.front(); }

Diag at_other_thread(const Cta& c, const IdleUse& idle, uint32_t issuer, const BulkGroups& g) {
  const std::string what = idle.use->commits ? " commits a group without stores here" : " waits for nothing here";
  Diag d = c.violation("TMA-14", idle.use->place,
                       name_of(idle.thread) + what + ": it has issued no bulk store; the one that nobody " +
                           (idle.use->commits ? "commits" : "waits for") + " was issued by " + name_of(issuer));
  d.notes.push_back({line_of(c, g.place), "the store of " + name_of(issuer)});
  return d;
}

}  // namespace

Diag unread_store(const Cta& c, uint32_t thread) {
  const BulkGroups& g = c.bulk_groups.at(thread);
  const bool committed = g.last != g.open;
  if (!committed || !g.waited)
    if (const auto idle = idle_use(c, thread, !committed)) return at_other_thread(c, *idle, thread, g);
  return c.violation("TMA-15", g.place,
                     name_of(thread) + " exits without waiting until this store has read shared memory" +
                         (committed ? "" : ": its group is never committed"));
}

std::optional<Note> wait_for_nothing(const Cta& c, uint32_t row) {
  for (const auto& [thread, g] : c.bulk_groups) {
    if (g.slot != row && g.writes != row) continue;
    const auto idle = idle_use(c, thread, false);
    if (!idle) return std::nullopt;
    return Note{line_of(c, idle->use->place), "the store was issued by " + name_of(thread) + ": " +
                                                  name_of(idle->thread) +
                                                  ", which waits here, has issued none and waits for nothing [TMA-14]"};
  }
  return std::nullopt;
}

}  // namespace tc::sim
