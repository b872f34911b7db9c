// Tensor maps in memory: reading one, tensormap.replace, tensormap.cp_fenceproxy, fence.proxy.tensormap,
// prefetch.tensormap. PTX ISA 9.7.9.28, 9.7.13.4; rules TMA-12, TMA-35, FENCE-07.
// The tensor unit keeps a map of global memory from its first use; a map that was edited afterwards and not acquired is
// used as it was, and found.
#include <cstring>

#include "sim/exec/collective.h"
#include "sim/exec/tensor_form.h"

namespace tc::sim {
namespace {

using ptx::Space;
using ptx::Type;

// The 128 bytes at a generic address; null after a trap.
uint8_t* map_bytes(Warp& w, const Insn& i, uint32_t lane, uint64_t address, bool writes) {
  if (address % kTensorMapAlign)
    return w.cta->fault("TMA-12", i.place, "the tensor map is not 64-byte aligned"), nullptr;
  const Space space = resolve(address);
  if (space != Space::shared) return host_memory(w, i, lane, space, address, kTensorMapBytes, writes);
  uint32_t shared = 0;
  if (!shared_address(w, i, address, kTensorMapBytes, 1, shared)) return nullptr;
  return w.cta->shared.data() + shared;
}

void note_global_write(Warp& w, const Insn& i, uint32_t lane, uint64_t address) {
  std::array<uint64_t, 32> at{};
  at[lane] = address;
  w.cta->race->global(w.agent, 1u << lane, at.data(), 16, Access::write, i.place);
}

// Insn: lists[imm] address; src[1] value; a = MapField, c = ordinal, d: 64-bit value; bytes = space.
Step replace(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint64_t address = stored_address(w, c.program.lists.data() + i.imm, l);
    if (static_cast<Space>(i.bytes) == Space::shared && address < kWindowBytes) address += kSharedWindow;
    uint8_t* p = map_bytes(w, i, l, address, true);
    if (!p) return Step::trap;
    auto map = decode_for_replacement(p);
    if (!map) return c.fault("TMA-12", i.place, "there is neither a tensor map nor 128 zeros at this address");
    replace_field(*map, static_cast<MapField>(i.a), i.c,
                  i.d ? w.reg<uint64_t>(i.src[1])[l] : w.reg<uint32_t>(i.src[1])[l]);
    const TensorMapBytes bytes = encode_tensor_map(*map);
    std::memcpy(p, bytes.data(), bytes.size());
    if (c.race) {
      const Space space = resolve(address);
      if (space == Space::global) {
        for (uint32_t at = 0; at < kTensorMapBytes; at += 16) note_global_write(w, i, l, address + at);
      } else {
        LaneAddresses lanes{};
        for (uint32_t at = 0; at < kTensorMapBytes; at += 16)
          lanes.at[l] = address + at, note_own_shared(w, i, lanes, 1u << l, 16, Access::write);
      }
    }
  }
  ++c.progress;
  return Step::next;
}

// Copies 128 bytes from shared to global memory, by the warp, and releases them.
Step copy_and_release(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  Step s = Step::next;
  if (!require_converged(w, i, "WARP-01", s)) return s;
  const uint32_t l = lowest_lane(w.mask);
  const uint32_t* list = c.program.lists.data() + i.imm;
  const uint64_t to = stored_address(w, list, l);
  uint64_t from = stored_address(w, list + kAddressWords, l);
  if (from < kWindowBytes) from += kSharedWindow;
  const uint8_t* source = map_bytes(w, i, l, from, false);
  uint8_t* target = source ? map_bytes(w, i, l, to, true) : nullptr;
  if (!target) return Step::trap;
  std::memcpy(target, source, kTensorMapBytes);
  if (c.race) {
    LaneAddresses lanes{};
    resolve(from);
    for (uint32_t at = 0; at < kTensorMapBytes; at += 16) {
      note_global_write(w, i, l, to + at);
      lanes.at[l] = from + at;
      note_own_shared(w, i, lanes, 1u << l, 16, Access::read);
    }
    c.race->fence(w.agent, w.mask);
  }
  ++c.progress;
  return Step::next;
}

// What the tensor unit kept of the map is dropped; its next use reads memory.
Step acquire_map(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    c.tensor_maps.erase(stored_address(w, c.program.lists.data() + i.imm, l));
  }
  if (c.race) c.race->fence(w.agent, w.mask), c.race->proxy_fence(w.agent, w.mask);
  return Step::next;
}
Step release_maps(Warp& w, const Insn&) {
  if (w.cta->race) w.cta->race->fence(w.agent, w.mask), w.cta->race->proxy_fence(w.agent, w.mask);
  return Step::next;
}

// A hint: a map that is never used may be anything (CUTLASS prefetches that of an operand which is not there).
Step prefetch_map(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint64_t address = stored_address(w, w.cta->program.lists.data() + i.imm, l);
    const ptx::Space space = resolve(address);
    if (!host_memory(w, i, l, space, address, kTensorMapBytes, false)) return Step::trap;
  }
  return Step::next;
}

Insn& emit_with(Builder& b, ExecFn exec, std::initializer_list<size_t> addresses) {
  std::vector<uint32_t> list;
  for (size_t at : addresses) append_address(list, b.address(b.operand(at)));
  const uint32_t at = b.list(list);
  Insn& i = b.emit(exec);
  i.imm = at;
  return i;
}

void build_replace(Builder& b) {
  b.need_target({90, TargetFeature::specific}, "TMA-35");
  b.mods().take("tile");
  const Space space = take_space(b);
  b.mods().take("b1024");
  for (const MapFieldRow& f : kMapFields) {
    if (!b.mods().take(f.name)) continue;
    if (!b.mods().take(f.bits == 64 ? "b64" : "b32"))
      return b.refuse("TMA-35", "wrong type of a field: " + b.insn().opcode);
    const size_t count = f.ordinal ? 3 : 2;
    b.expect_operands(count, count);
    if (b.failed()) return;
    const auto ordinal = f.ordinal ? b.literal(b.operand(1)) : std::optional<uint64_t>(0);
    const auto value = b.literal(b.operand(count - 1));
    if (!ordinal || *ordinal >= kTmaMaxRank) return b.refuse("TMA-35", "the dimension is a constant from 0 to 4");
    if (f.immediate && (!value || *value > f.most)) return b.refuse("TMA-35", "the new value is out of range");
    if (f.field == MapField::elemtype && *value >= static_cast<uint64_t>(TmaType::u4_8b)) {
      b.need_target({100, TargetFeature::specific}, "TMA-35");
      return b.unsupported_form("elements narrower than a byte in a tensor map");
    }
    if (f.field == MapField::swizzle_mode && *value >= kSwizzles.size())
      return b.refuse("TMA-34", "96-byte swizzles exist on sm_103a");
    if (f.field == MapField::swizzle_atomicity) b.need_target({100, TargetFeature::specific}, "TMA-33");
    const uint32_t source = b.source(count - 1, f.bits == 64 ? Type::b64 : Type::b32);
    if (b.failed()) return;
    Insn& i = emit_with(b, replace, {0});
    i.src[1] = source;
    i.a = static_cast<uint8_t>(f.field), i.c = static_cast<uint8_t>(*ordinal), i.d = f.bits == 64;
    i.bytes = static_cast<uint16_t>(space);
    return;
  }
  b.refuse("TMA-35", "a tensor map has no such field: " + b.insn().opcode);
}

bool size_is_map(Builder& b, size_t at) {
  const auto size = b.literal(b.operand(at));
  if (size && *size == kTensorMapBytes) return true;
  b.refuse("FENCE-07", "the size must be 128");
  return false;
}

}  // namespace

std::string map_name(const Cta& c, const TensorMap& m) {
  return m.name < c.launch.map_names.size() ? c.launch.map_names[m.name] : "made on the device";
}

const TensorMap* map_at(Warp& w, const Insn& i, uint32_t lane, uint64_t address) {
  Cta& c = *w.cta;
  const uint8_t* p = map_bytes(w, i, lane, address, false);
  if (!p) return nullptr;
  uint64_t inner = address;
  if (resolve(inner) == Space::shared)
    return c.fault("TMA-12", i.place, "a tensor map in shared memory cannot be used"), nullptr;
  CachedMap& kept = c.tensor_maps[address];
  if (kept.valid && std::memcmp(kept.bytes.data(), p, kTensorMapBytes) == 0) return &kept.map;
  if (kept.valid) {
    if (c.race)
      c.finding(c.violation(
          "FENCE-07", i.place,
          "tensor map '" + map_name(c, kept.map) + "' has been changed since its first use and not been acquired"));
    return &kept.map;
  }
  const auto map = decode_tensor_map(p);
  if (!map) return c.fault("TMA-12", i.place, "there is no tensor map at this address"), nullptr;
  if (const auto fault = check_tensor_map(*map)) {
    if (fault->rule)
      return c.fault(fault->rule, i.place, "tensor map '" + map_name(c, *map) + "': " + fault->message), nullptr;
    if (!c.trap) c.trap = unsupported(c.program.places[i.place].where.front(), fault->message + " of tensor maps");
    return nullptr;
  }
  kept.map = *map;
  std::memcpy(kept.bytes.data(), p, kTensorMapBytes);
  kept.valid = true;
  return &kept.map;
}

void build_tensor_map(Builder& b) {
  const std::string& op = b.mnemonic();
  if (op == "tensormap.replace") return build_replace(b);
  if (op.starts_with("prefetch")) {
    b.need_target({90, TargetFeature::any}, "TMA-12");
    b.expect_operands(1, 1);
    emit_with(b, prefetch_map, {0});
    return;
  }
  const bool copies = op == "tensormap.cp_fenceproxy", acquires = op.ends_with("acquire");
  b.need_target({90, TargetFeature::any}, "FENCE-07");
  for (std::string_view m :
       {"global", "shared::cta", "tensormap::generic", "release", "cta", "cluster", "gpu", "sys", "sync", "aligned"})
    b.mods().take(m);
  if (copies) {
    b.expect_operands(3, 3);
    if (!b.failed() && size_is_map(b, 2)) emit_with(b, copy_and_release, {0, 1});
  } else if (acquires) {
    b.expect_operands(2, 2);
    if (!b.failed() && size_is_map(b, 1)) emit_with(b, acquire_map, {0});
  } else {
    b.expect_operands(0, 0);
    b.emit(release_maps);
  }
}

}  // namespace tc::sim
