#include "sim/check/candidates.h"

#include <algorithm>
#include <optional>

#include "sim/machine/cluster.h"

namespace tc::sim {
namespace {

constexpr size_t kMostPlaces = 3, kMostWarps = 4;

// What an instruction does to a barrier, by its opcode.
enum class Role : uint8_t { none, arrival, bytes, named };
struct RoleRow {
  std::string_view starts, has;
  Role role;
};
constexpr std::array kRoles = {
    RoleRow{"mbarrier.arrive", "", Role::arrival},
    RoleRow{"cp.async.mbarrier.arrive", "", Role::arrival},
    RoleRow{"mbarrier.complete_tx", "", Role::bytes},
    RoleRow{"cp.async.bulk", "mbarrier::complete_tx", Role::bytes},
    RoleRow{"cp.reduce.async.bulk", "mbarrier::complete_tx", Role::bytes},
    RoleRow{"st.async", "", Role::bytes},
    RoleRow{"red.async", "", Role::bytes},
    RoleRow{"bar.sync", "", Role::named},
    RoleRow{"bar.arrive", "", Role::named},
    RoleRow{"bar.red", "", Role::named},
    RoleRow{"barrier.sync", "", Role::named},
    RoleRow{"barrier.arrive", "", Role::named},
    RoleRow{"barrier.red", "", Role::named},
};

Role role_of(const Program& p, const Insn& i) {
  std::string_view text = p.places[i.place].text;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  for (const RoleRow& r : kRoles)
    if (text.starts_with(r.starts) && text.find(r.has) != text.npos) return r.role;
  return Role::none;
}

// The value of a register that holds a constant.
std::optional<uint64_t> constant(const Program& p, uint32_t at) {
  const auto k = std::ranges::find(p.constants, at, &Program::Constant::at);
  return k != p.constants.end() ? std::optional(k->value) : std::nullopt;
}

// The barrier that the instruction names, where that is a constant: an address, or an id.
std::optional<uint64_t> static_barrier(const Program& p, const Insn& i, Role role) {
  if (role == Role::named) return constant(p, i.src[0]);
  if (role != Role::arrival) return std::nullopt;
  if (i.src[0] == kNone) return i.imm;
  const auto base = constant(p, i.src[0]);
  return base ? std::optional(*base + i.imm) : std::nullopt;
}

SourceRange line_of(const Program& p, uint32_t place) { return p.places[place].where.front(); }

std::string times(const Cluster& c, const std::vector<BarrierUse>& uses, uint32_t place) {
  std::string out;
  size_t warps = 0;
  for (const BarrierUse& u : uses) {
    if (u.place != place || ++warps > kMostWarps) continue;
    const Warp& w = *c.warps[u.agent];
    out += (warps > 1 ? ", " : " ") + std::to_string(u.count) + (u.count == 1 ? " time by " : " times by ") +
           (c.ctas.size() > 1 ? "CTA " + std::to_string(w.cta->rank) + " " : "") + "warp " + std::to_string(w.index);
  }
  return out + (warps > kMostWarps ? " and others" : "");
}

bool has(const std::vector<BarrierUse>& uses, uint32_t place) {
  return std::ranges::find(uses, place, &BarrierUse::place) != uses.end();
}

// The barrier at which `place` has arrived first, as text; empty: none.
std::string elsewhere(const Cluster& c, Role role, uint32_t place) {
  for (const auto& cta : c.ctas) {
    for (size_t k = 0; role != Role::named && k < cta->mbarrier_index.size(); ++k) {
      const uint32_t index = cta->mbarrier_index[k];
      if (index == 0 || !has(cta->mbarriers[index].log.uses, place)) continue;
      return cta->shared_text(static_cast<uint32_t>(8 * k)) + times(c, cta->mbarriers[index].log.uses, place);
    }
    for (size_t id = 0; role == Role::named && id < cta->named.size(); ++id)
      if (has(cta->named[id].uses, place))
        return "barrier " + std::to_string(id) + times(c, cta->named[id].uses, place);
  }
  return {};
}

struct Target {
  std::string name;
  uint64_t number;  // address or id
  const std::vector<BarrierUse>& uses;
};

std::vector<Note> of_role(const Cluster& c, const Target& t, Role role) {
  const Program& p = c.program;
  std::vector<Note> here, never, other;
  for (const Insn& i : p.code) {
    if (role_of(p, i) != role) continue;
    const auto fixed = static_barrier(p, i, role);
    if (fixed && *fixed != t.number) continue;
    if (has(t.uses, i.place)) {
      const std::string what = role == Role::bytes ? "brought bytes to " : "arrived at ";
      here.push_back({line_of(p, i.place), what + t.name + times(c, t.uses, i.place)});
      continue;
    }
    const std::string where = elsewhere(c, role, i.place);
    if (where.empty()) never.push_back({line_of(p, i.place), "may complete " + t.name + ": never executed"});
    else other.push_back({line_of(p, i.place), "did not arrive at " + t.name + " but at " + where});
  }
  std::vector<Note> out(here.begin(), here.begin() + static_cast<ptrdiff_t>(std::min(here.size(), kMostPlaces)));
  out.insert(out.end(), never.begin(), never.begin() + static_cast<ptrdiff_t>(std::min(never.size(), kMostPlaces)));
  if (out.empty())
    out.assign(other.begin(), other.begin() + static_cast<ptrdiff_t>(std::min(other.size(), kMostPlaces)));
  if (out.empty()) out.push_back({p.places.front().where.front(), "nothing in this kernel arrives at " + t.name});
  return out;
}

}  // namespace

std::vector<Note> candidates(const Warp& w, const Path& blocked) {
  const Cta& c = *w.cta;
  const Wait& t = blocked.wait;
  if (t.kind == Wait::Kind::named_barrier)
    return of_role(c.cluster, {"barrier " + std::to_string(t.id), t.id, c.named[t.id].uses}, Role::named);
  if (t.kind != Wait::Kind::mbarrier) return {};
  const Mbarrier& b = c.mbarriers[c.mbarrier_index[t.address / 8]];
  const Target target{c.shared_text(t.address), t.address, b.log.uses};
  std::vector<Note> out;
  if (b.pending != 0) out = of_role(c.cluster, target, Role::arrival);
  if (b.tx != 0)
    for (Note& n : of_role(c.cluster, target, Role::bytes)) out.push_back(std::move(n));
  return out;
}

}  // namespace tc::sim
