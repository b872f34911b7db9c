#include "sim/exec/access.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sim/machine/cluster.h"

namespace tc::sim {
namespace {

using ptx::Space;

constexpr uint64_t kMaxVectorBytes = 32;

std::string hex(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string where_in_global(const Cta& c, uint64_t address) {
  const Allocation* a = c.global.nearest(address);
  if (!a) return "outside every allocation";
  if (address - a->address < a->gone)
    return "in '" + a->name + "' (" + std::to_string(a->gone) + " bytes), which has been freed";
  if (address - a->address < a->bytes)
    return "over the end of '" + a->name + "' (" + std::to_string(a->bytes) + " bytes)";
  return std::to_string(address - a->address - a->bytes) + " bytes behind the end of '" + a->name + "' (" +
         std::to_string(a->bytes) + " bytes)";
}

void out_of_bounds(Warp& w, const Insn& i, uint32_t lane, Space space, uint64_t address, uint64_t bytes, bool writes) {
  Cta& c = *w.cta;
  std::string where;
  switch (space) {
    case Space::global: where = where_in_global(c, address); break;
    case Space::shared: where = "outside the CTA's shared memory, which ends at " + hex(c.program.shared_end); break;
    case Space::local: where = "outside the thread's local memory"; break;
    case Space::param: where = "outside the parameters"; break;
    case Space::constant: where = "outside constant memory"; break;
    case Space::generic: where = "in no memory"; break;
  }
  c.fault("BOUND-01", i.place,
          std::string(writes ? "write" : "read") + " of " + std::to_string(bytes) + " bytes at " +
              std::string(ptx::kSpaceNames[static_cast<size_t>(space)]) + " address " + hex(address) + ", " + where +
              " (thread " + std::to_string(32 * w.index + lane) + ")");
}

void misaligned(Warp& w, const Insn& i, uint32_t lane, Space space, uint64_t address, uint64_t bytes) {
  w.cta->fault("SMEM-12", i.place,
               "misaligned access of " + std::to_string(bytes) + " bytes at " +
                   std::string(ptx::kSpaceNames[static_cast<size_t>(space)]) + " address " + hex(address) +
                   " (thread " + std::to_string(32 * w.index + lane) + ")");
}

// The CTA whose shared memory holds [address, address + bytes) and where; null after a trap.
Cta* owner_of(Warp& w, const Insn& i, uint64_t address, uint64_t bytes, uint32_t& offset) {
  Cta& c = *w.cta;
  uint64_t rank = (address & kRankMask) >> kRankShift;
  if (rank == 0 && !(i.b & kClusterSpace)) rank = c.rank;  // an offset that the kernel made up
  offset = static_cast<uint32_t>(address & ~uint64_t{kRankMask});
  const bool inside = address >> 32 == 0 && offset >= kSharedStart && offset + bytes <= c.program.shared_end;
  if (rank >= c.cluster.ctas.size() || !inside)
    return out_of_bounds(w, i, lowest_lane(w.mask), Space::shared, address, bytes, true), nullptr;
  Cta* owner = c.cluster.ctas[rank].get();
  if (owner != &c && owner->left) {
    c.fault("CLUST-07", i.place, "the CTA of rank " + std::to_string(rank) + " has exited, its shared memory is gone");
    return nullptr;
  }
  return owner;
}

}  // namespace

Space resolve(uint64_t& address) {
  auto inside = [&](uint64_t window) { return address - window < kWindowBytes; };
  if (address >= kGlobalWindow) return Space::global;
  if (inside(kSharedWindow)) return address -= kSharedWindow, Space::shared;
  if (inside(kLocalWindow)) return address -= kLocalWindow, Space::local;
  if (inside(kParamWindow)) return address -= kParamWindow, Space::param;
  if (inside(kConstWindow)) return address -= kConstWindow, Space::constant;
  return Space::generic;
}

uint8_t* host_memory(Warp& w, const Insn& i, uint32_t lane, Space space, uint64_t address, uint64_t bytes,
                     bool writes) {
  Cta& c = *w.cta;
  uint8_t* p = nullptr;
  switch (space) {
    case Space::global: p = c.global.find(address, bytes); break;
    case Space::shared: {
      uint32_t offset = 0;
      Cta* owner = owner_of(w, i, address, bytes, offset);
      if (!owner) return nullptr;
      p = owner->shared.data() + offset;
      break;
    }
    case Space::local:
      if (address + bytes <= w.local_bytes) p = w.local.data() + size_t{lane} * w.local_bytes + address;
      break;
    case Space::param:
      if (!writes && address + bytes <= c.launch.params.size())
        p = const_cast<uint8_t*>(c.launch.params.data()) + address;
      break;
    case Space::constant:
      if (!writes && address + bytes <= c.program.const_bytes.size())
        p = const_cast<uint8_t*>(c.program.const_bytes.data()) + address;
      break;
    case Space::generic: break;
  }
  if (!p) return out_of_bounds(w, i, lane, space, address, bytes, writes), nullptr;
  // Vector accesses need their own size; a tensor map (128 bytes) checks its alignment itself.
  if (bytes <= kMaxVectorBytes && (bytes & (bytes - 1) ? false : address & (bytes - 1))) {
    misaligned(w, i, lane, space, address, bytes);
    return nullptr;
  }
  return p;
}

namespace {

// Are all addresses in [first, first + room], room >= 0, and multiples of `align`? Branch-free over the lanes: both
// a - first and room - (a - first) must be non-negative.
bool all_within(const LaneAddresses& a, uint64_t first, uint64_t room, uint64_t align) {
  uint64_t bad = 0;
  for (uint32_t l = 0; l < 32; ++l) {
    const uint64_t off = a.at[l] - first;
    bad |= ((off | (room - off)) >> 63) | (a.at[l] & (align - 1));
  }
  return bad == 0;
}

bool in_window(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

// Lanes one by one: several spaces or allocations, or an access that faults.
bool access_lanes(Warp& w, const Insn& i, uint32_t bytes, bool writes, WarpAccess& out) {
  out.mixed = true;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    Space space = static_cast<Space>(i.a);
    if (space == Space::generic) space = resolve(out.in.at[l]);
    const uint8_t* p = host_memory(w, i, l, space, out.in.at[l], bytes, writes);
    if (!p) return false;
    out.host[l] = reinterpret_cast<uintptr_t>(p);
    out.spaces[l] = space;
    if (space != Space::shared) continue;
    uint32_t offset = 0;
    out.owners[l] = owner_of(w, i, out.in.at[l], bytes, offset);
    out.in.at[l] = offset;
  }
  return true;
}

}  // namespace

bool access_memory(Warp& w, const Insn& i, uint32_t bytes, bool writes, WarpAccess& out) {
  Cta& c = *w.cta;
  addresses(w, i, out.in);
  auto& at = out.in.at;
  if (w.mask != ~0u) {  // lanes that do not take part look like the first that does
    const uint64_t first = at[lowest_lane(w.mask)];
    const uint32_t mask = w.mask;
    for (uint32_t l = 0; l < 32; ++l) at[l] = (mask >> l & 1) ? at[l] : first;
  }
  Space space = static_cast<Space>(i.a);
  uint64_t window = 0;
  if (space == Space::generic) {
    if (at[0] >= kGlobalWindow) space = Space::global;
    else if (in_window(at[0], kSharedWindow)) space = Space::shared, window = kSharedWindow;
    else return access_lanes(w, i, bytes, writes, out);
  }
  // The bytes that lanes may touch are [first, first + room + bytes); host = address + delta.
  uint64_t first = 0, room = 0;
  uintptr_t host = 0;
  switch (space) {
    case Space::global: {
      Allocation* a = c.global.allocation_at(at[0], i.place);
      if (!a || a->bytes < bytes) return access_lanes(w, i, bytes, writes, out);
      if (a->fill)
        for (uint32_t m = w.mask; m; m &= m - 1)
          if (const uint64_t x = at[lowest_lane(m)]; a->contains(x, bytes)) a->touch(x, bytes);
      first = a->address, room = a->bytes - bytes, host = reinterpret_cast<uintptr_t>(a->host);
      break;
    }
    case Space::shared: {
      // The common case: all lanes in the memory of the executing CTA, named with or without its rank.
      const bool bare = (at[0] & kRankMask) == 0;
      if ((bare && c.rank != 0 && (i.b & kClusterSpace)) || c.program.shared_end < kSharedStart + bytes)
        return access_lanes(w, i, bytes, writes, out);
      const uint64_t start = window + (bare ? 0 : uint64_t{c.rank} << kRankShift);
      first = start + kSharedStart, room = c.program.shared_end - kSharedStart - bytes;
      host = reinterpret_cast<uintptr_t>(c.shared.data()) + kSharedStart;
      window = start;
      break;
    }
    case Space::param:
      if (writes || c.launch.params.size() < bytes) return access_lanes(w, i, bytes, writes, out);
      room = c.launch.params.size() - bytes, host = reinterpret_cast<uintptr_t>(c.launch.params.data());
      break;
    case Space::constant:
      if (writes || c.program.const_bytes.size() < bytes) return access_lanes(w, i, bytes, writes, out);
      room = c.program.const_bytes.size() - bytes, host = reinterpret_cast<uintptr_t>(c.program.const_bytes.data());
      break;
    case Space::local:
      if (w.local_bytes < bytes) return access_lanes(w, i, bytes, writes, out);
      room = w.local_bytes - bytes, host = reinterpret_cast<uintptr_t>(w.local.data());
      break;
    case Space::generic: return access_lanes(w, i, bytes, writes, out);
  }
  if (!all_within(out.in, first, room, bytes)) return access_lanes(w, i, bytes, writes, out);
  const uintptr_t delta = host - first;
  if (space == Space::local) {
    for (uint32_t l = 0; l < 32; ++l) out.host[l] = at[l] + delta + size_t{l} * w.local_bytes;
  } else {
    for (uint32_t l = 0; l < 32; ++l) out.host[l] = at[l] + delta;
  }
  if (space == Space::shared) {
    for (uint32_t l = 0; l < 32; ++l) at[l] -= window;
    out.owner = &c;
  }
  out.space = space;
  return true;
}

bool shared_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, uint32_t& out) {
  Cta* owner = nullptr;
  if (!(value & kRankMask)) value |= uint64_t{w.cta->rank} << kRankShift;
  if (!cluster_address(w, i, value, bytes, align, owner, out)) return false;
  if (owner == w.cta) return true;
  w.cta->fault("MBAR-10", i.place,
               "address " + hex(value) + " belongs to the CTA of rank " + std::to_string(owner->rank) +
                   ", this needs one of the executing CTA");
  return false;
}

bool cluster_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, Cta*& owner,
                     uint32_t& out) {
  Cta& c = *w.cta;
  if (value >> 32) {
    if (resolve(value) != Space::shared) {
      c.fault("BOUND-01", i.place, "a shared address is expected");
      return false;
    }
  }
  owner = owner_of(w, i, value, bytes, out);
  if (!owner) return false;
  if (out % align == 0) return true;
  const char* rule = align == kTmaTensorSmemAlign ? "TMA-02"
                     : align == kMbarrierBytes    ? "MBAR-01"
                     : align == kTmaBulkSmemAlign ? "TMA-01"
                                                  : "SMEM-12";
  c.fault(rule, i.place, "shared address " + hex(value) + " is no multiple of " + std::to_string(align));
  return false;
}

namespace {

// Results of a load in these lanes: nothing was stored there, or an undefined value was.
void undefine_loaded(Warp& w, const Insn& i, uint32_t lanes, UndefinedCause::Kind kind, const LaneAddresses& at,
                     const UndefinedStores& stores) {
  if (lanes == 0) return;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const auto address = static_cast<uint32_t>(at.at[lowest_lane(lanes)]);
  const auto stored = stores.find(address);
  const UndefinedCause cause = stored == stores.end() ? UndefinedCause{kind, address, i.place} : stored->second;
  for (uint32_t k = 0; k < i.list_dst; ++k) undefine(w, list[k], lanes, cause);
}

// Lanes that touch a live mbarrier are reported, and left out. `by_lane`: a lane's registers hold what it accesses.
void note_shared(Warp& w, const Insn& i, const LaneAddresses& at, uint32_t lanes, uint32_t bytes, Access kind, Cta& c,
                 bool by_lane) {
  std::array<uint32_t, 32> shared;
  for (uint32_t l = 0; l < 32; ++l) shared[l] = c.flat(static_cast<uint32_t>(at.at[l]));
  if (c.mbarriers.size() > 1)
    for (uint32_t m = lanes; m; m &= m - 1) {
      const uint32_t l = lowest_lane(m);
      const auto offset = static_cast<uint32_t>(at.at[l]);
      for (uint32_t a = offset & ~7u; a < offset + bytes; a += 8)
        if (c.mbarrier_at(a)) {
          c.finding(
              c.violation("MBAR-04", i.place, "an ordinary access touches the live mbarrier at " + c.shared_text(a)));
          lanes &= ~(1u << l);
          break;
        }
    }
  if (&c != w.cta && lanes) w.cta->race->remote(w.agent, lanes, c.rank, i.place);
  if (lanes == 0) return;
  RaceChecker& race = *w.cta->race;
  using About = RaceChecker::About;
  const Scope scope = is_strong(kind) ? scope_of(i) : Scope::gpu;
  if (kind == Access::read && by_lane && w.cta->launch.checks.has(Check::uninit)) {
    // Vectors may hold padding that nobody uses.
    const bool scalar = i.list_count == 1;
    race.shared(w.agent, lanes, shared.data(), bytes, kind, i.place, scalar ? About::watched : About::nothing, scope);
    if (!scalar || race.has_undefined_writes())
      undefine_loaded(w, i, race.undefined(lanes, shared.data(), bytes), UndefinedCause::Kind::shared, at, c.undefined_stores);
    return;
  }
  const uint32_t undefined = is_write(kind) && by_lane ? undefined_values(w, i, lanes) : 0;
  for (uint32_t m = undefined; m; m &= m - 1)
    c.undefined_stores[static_cast<uint32_t>(at.at[lowest_lane(m)])] =
        w.undefined->cause(w.cta->program.lists[i.list + i.list_dst]);
  if (undefined) race.shared(w.agent, undefined, shared.data(), bytes, kind, i.place, About::undefined, scope);
  if (lanes & ~undefined) race.shared(w.agent, lanes & ~undefined, shared.data(), bytes, kind, i.place, About::nothing, scope);
}

// Loads of local memory that the thread has not written, and stores: a vector of which nothing is written is undefined;
// so is a scalar, of 1 or 2 bytes where the 8 around them are unwritten too (else it may be padding that is copied).
void note_local(Warp& w, const Insn& i, const LaneAddresses& at, uint32_t lanes, uint32_t bytes, Access kind) {
  if (w.local_written.size() == 0) return;
  constexpr uint64_t kAround = 8, kPadding = 2;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  uint32_t unwritten = 0;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint8_t* flags = w.local_written.data() + size_t{l} * w.local_bytes;
    if (is_write(kind)) {
      const uint32_t each = bytes / std::max(i.list_count, 1u);
      for (uint32_t k = 0; k < i.list_count; ++k) {
        const bool undefined = w.undefined && w.undefined->lanes(list[k]) >> l & 1;
        std::memset(flags + at.at[l] + k * each, undefined ? 0 : 1, each);
        if (undefined) w.undefined_stores[static_cast<uint32_t>(at.at[l]) + k * each] = w.undefined->cause(list[k]);
      }
      continue;
    }
    const bool narrow = bytes <= kPadding;
    const uint64_t first = narrow ? at.at[l] / kAround * kAround : at.at[l],
                   end = std::min<uint64_t>(narrow ? first + kAround : first + bytes, w.local_bytes);
    if (std::find(flags + first, flags + end, 1) == flags + end) unwritten |= 1u << l;
  }
  if (unwritten) undefine_loaded(w, i, unwritten, UndefinedCause::Kind::local, at, w.undefined_stores);
}

// Lanes of one space, shared memory of one CTA.
void note_lanes(Warp& w, const Insn& i, Space space, const LaneAddresses& at, uint32_t lanes, uint32_t bytes,
                Access kind, Cta& owner) {
  if (space == Space::local) return note_local(w, i, at, lanes, bytes, kind);
  if (space != Space::shared && space != Space::global) return;
  if (space == Space::global ? is_write(kind) : kind == Access::strong_write) {
    const uint32_t undefined = undefined_values(w, i, lanes);
    for (uint32_t k = i.list_dst; k < i.list_count && undefined; ++k)
      report_undefined(w, i, w.cta->program.lists[i.list + k], undefined, "a value that is stored");
  }
  RaceChecker& race = *w.cta->race;
  const bool strong = i.b & kStrong || is_strong(kind);
  const Access as = !strong ? kind : is_write(kind) ? Access::strong_write : Access::strong_read;
  const Scope scope = strong ? scope_of(i) : Scope::gpu;
  if (space == Space::global) race.global(w.agent, lanes, at.at.data(), bytes, as, i.place, scope);
  else note_shared(w, i, at, lanes, bytes, as, owner, true);
  if (!strong) return;
  const StrongOp op = kind == Access::read    ? StrongOp::load
                      : kind == Access::write ? StrongOp::store
                                              : StrongOp::update;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t address = space == Space::global ? at.at[l] : owner.flat(static_cast<uint32_t>(at.at[l]));
    race.strong(w.agent, l, space == Space::global, address, op, order_of(i), scope, i.place);
  }
}

}  // namespace

void note_access(Warp& w, const Insn& i, const WarpAccess& at, uint32_t bytes, Access kind) {
  note_access(w, i, at, w.mask, bytes, kind);
}

void note_access(Warp& w, const Insn& i, const WarpAccess& at, uint32_t lanes, uint32_t bytes, Access kind) {
  if (!at.mixed) return note_lanes(w, i, at.space, at.in, lanes, bytes, kind, at.owner ? *at.owner : *w.cta);
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    note_lanes(w, i, at.spaces[l], at.in, 1u << l, bytes, kind, at.spaces[l] == Space::shared ? *at.owners[l] : *w.cta);
  }
}

void note_own_shared(Warp& w, const Insn& i, const LaneAddresses& at, uint32_t lanes, uint32_t bytes, Access kind) {
  note_shared(w, i, at, lanes, bytes, kind, *w.cta, false);
}

uint32_t undefined_shared(Warp& w, const LaneAddresses& at, uint32_t lanes, uint32_t bytes) {
  const Cta& c = *w.cta;
  if (!c.launch.checks.has(Check::uninit)) return 0;
  std::array<uint32_t, 32> flat;
  for (uint32_t l = 0; l < 32; ++l) flat[l] = c.flat(static_cast<uint32_t>(at.at[l]));
  return c.race->undefined(lanes, flat.data(), bytes);
}

Space take_space(Builder& b, bool* cluster) {
  if (b.mods().take("shared::cluster")) {
    if (cluster) *cluster = true;
    return Space::shared;
  }
  if (b.mods().take("shared::cta")) return Space::shared;
  if (b.mods().take("param::entry") || b.mods().take("param::func")) return Space::param;
  for (size_t s = 1; s < ptx::kSpaceNames.size(); ++s)
    if (b.mods().take(ptx::kSpaceNames[s])) return static_cast<Space>(s);
  return Space::generic;
}

Scope take_scope(Builder& b) {
  Scope out = Scope::gpu;
  for (const auto& [word, scope] : {std::pair{"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu},
                                    {"gl", Scope::gpu}, {"sys", Scope::gpu}})
    if (b.mods().take(word)) out = scope;
  return out;
}

void set_address(Insn& i, const AddressOperand& a) {
  i.src[0] = a.base;
  i.imm = a.displacement;
  if (a.wide) i.b |= kWideBase;
}

}  // namespace tc::sim
