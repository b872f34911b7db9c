#include "sim/check/register_request.h"

#include "sim/machine/cluster.h"
#include "specs/wgmma.h"

namespace tc::sim {
namespace {

SourceRange line_of(const Cta& c, uint32_t place) { return c.program.places[place].where.front(); }

std::string text_of(const RegisterRequest& r) {
  return (r.increase ? "setmaxnreg.inc " : "setmaxnreg.dec ") + std::to_string(r.registers);
}

void compare(Warp& w, const Warp& other, const RegisterRequest& mine, size_t number) {
  Cta& c = *w.cta;
  const auto& theirs = other.register_requests;
  const std::string who = "warp " + std::to_string(other.index) + " of the warpgroup";
  if (number < theirs.size() &&
      (theirs[number].registers != mine.registers || theirs[number].increase != mine.increase)) {
    Diag d = c.violation(
        "SETREG-04", mine.place,
        "warp " + std::to_string(w.index) + " executes " + text_of(mine) + ", " + who + " " + text_of(theirs[number]));
    d.notes.push_back({line_of(c, theirs[number].place), "the other one"});
    c.finding(std::move(d));
  }
  if (number == 0) return;
  const bool ordered =
      number <= theirs.size() && c.race->some_know_event(w.agent, w.mask, other.agent, theirs[number - 1].event);
  if (ordered) return;
  Diag d = c.violation("SETREG-04", mine.place,
                       "nothing orders this " + text_of(mine) + " after the one before it in " + who);
  d.notes.push_back({line_of(c, w.register_requests[number - 1].place), "the one before it"});
  c.finding(std::move(d));
}

}  // namespace

void note_register_request(Warp& w, RegisterRequest request) {
  Cta& c = *w.cta;
  if (!c.race) return;
  const size_t number = w.register_requests.size(), first = w.index / kWarpgroupWarps * kWarpgroupWarps;
  for (size_t k = first; k < std::min(first + kWarpgroupWarps, c.warps.size()); ++k)
    if (k != w.index) compare(w, c.warps[k], request, number);
  request.event = c.race->number_event(w.agent);
  w.register_requests.push_back(request);
}

void check_register_requests(Cta& c) {
  for (const Warp& w : c.warps) {
    const size_t first = w.index / kWarpgroupWarps * kWarpgroupWarps, mine = w.register_requests.size();
    for (size_t k = first; k < std::min(first + kWarpgroupWarps, c.warps.size()); ++k)
      if (c.warps[k].register_requests.size() < mine)
        c.finding(c.violation("SETREG-04", w.register_requests[c.warps[k].register_requests.size()].place,
                              "warp " + std::to_string(w.index) + " executes this, warp " + std::to_string(k) +
                                  " of its warpgroup does not"));
  }
}

}  // namespace tc::sim
