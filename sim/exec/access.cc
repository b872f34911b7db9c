#include "sim/exec/access.h"

#include <cstdio>

namespace tc::sim {
namespace {

using ptx::Space;

std::string hex(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string where_in_global(const Cta& c, uint64_t address) {
  const Allocation* a = c.global.nearest(address);
  if (!a) return "outside every allocation";
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

void note_strong(Warp& w, Space space, const LaneAddresses& at, uint32_t lanes, Access kind) {
  Cta& c = *w.cta;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t key = at.at[l] + (space == Space::shared ? kSharedWindow : 0);
    auto it = c.strong.find(key);
    if (kind != Access::write && it != c.strong.end()) c.race->acquire(w.index, 1u << l, it->second);
    if (kind == Access::read) continue;
    c.race->snapshot_into(c.strong[key], w.index, 1u << l);
    c.race->released(w.index);
  }
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
    case Space::shared:
      if (address >= kSharedStart && address + bytes <= c.program.shared_end) p = c.shared.data() + address;
      break;
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
  // Vector accesses of up to 16 bytes need their own size; a tensor map (128 bytes) checks its alignment itself.
  if (bytes <= 16 && (bytes & (bytes - 1) ? false : address & (bytes - 1))) {
    c.fault("SMEM-12", i.place,
            "misaligned access of " + std::to_string(bytes) + " bytes at " +
                std::string(ptx::kSpaceNames[static_cast<size_t>(space)]) + " address " + hex(address) + " (thread " +
                std::to_string(32 * w.index + lane) + ")");
    return nullptr;
  }
  return p;
}

bool shared_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, uint32_t& out) {
  Cta& c = *w.cta;
  if (value >> 32) {
    if (resolve(value) != Space::shared) {
      c.fault("BOUND-01", i.place, "a shared address is expected");
      return false;
    }
  }
  if (value < kSharedStart || value + bytes > c.program.shared_end) {
    out_of_bounds(w, i, lowest_lane(w.mask), Space::shared, value, bytes, true);
    return false;
  }
  out = static_cast<uint32_t>(value);
  if (value % align) {
    const char* rule = align == kTmaTensorSmemAlign ? "TMA-02"
                       : align == kMbarrierBytes    ? "MBAR-01"
                       : align == kTmaBulkSmemAlign ? "TMA-01"
                                                    : "SMEM-12";
    c.fault(rule, i.place, "shared address " + hex(value) + " is no multiple of " + std::to_string(align));
    return false;
  }
  return true;
}

void note_access(Warp& w, const Insn& i, Space space, const LaneAddresses& at, uint32_t lanes, uint32_t bytes,
                 Access kind) {
  Cta& c = *w.cta;
  if (i.b & kStrong || kind == Access::atomic) note_strong(w, space, at, lanes, kind);
  if (space != Space::shared) return;
  std::array<uint32_t, 32> shared;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    shared[l] = static_cast<uint32_t>(at.at[l]);
    for (uint32_t a = shared[l] & ~7u; a < shared[l] + bytes; a += 8)
      if (c.mbarrier_at(a)) {
        c.finding(
            c.violation("MBAR-04", i.place, "an ordinary access touches the live mbarrier at " + c.shared_text(a)));
        lanes &= ~(1u << l);
        break;
      }
  }
  c.race->generic(w.index, lanes, shared.data(), bytes, i.b & (kStrong | kVolatile) ? Access::atomic : kind, i.place);
}

Space take_space(Builder& b) {
  if (b.mods().take("shared::cta") || b.mods().take("shared::cluster")) return Space::shared;
  if (b.mods().take("param::entry") || b.mods().take("param::func")) return Space::param;
  for (size_t s = 1; s < ptx::kSpaceNames.size(); ++s)
    if (b.mods().take(ptx::kSpaceNames[s])) return static_cast<Space>(s);
  return Space::generic;
}

void set_address(Insn& i, const AddressOperand& a) {
  i.src[0] = a.base;
  i.imm = a.displacement;
  if (a.wide) i.b |= kWideBase;
}

}  // namespace tc::sim
