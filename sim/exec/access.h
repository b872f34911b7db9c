// Memory accesses of a warp: addresses, spaces, bounds and alignment checks, and what the race checker is told.
// A failed check traps with BOUND-01 and names the allocation. Source: PTX ISA 5.1, 9.7.9.
#pragma once
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"
#include "sim/ptx/types.h"

namespace tc::sim {

// Insn fields of every memory access: src[0] = base (or kNone), imm = displacement, and
enum AccessFlag : uint8_t { kWideBase = 1, kStrong = 2, kWideData = 4, kSignExtend = 8, kVolatile = 16,
                            kClusterSpace = 32 };  // .shared::cluster: the rank bits count, even if they are 0
// Insn::a = ptx::Space, Insn::b = flags, Insn::d = order and scope of a strong access.
inline uint8_t order_and_scope(Order o, Scope s) {
  return static_cast<uint8_t>(static_cast<uint32_t>(o) | static_cast<uint32_t>(s) << 4);
}
inline Order order_of(const Insn& i) { return static_cast<Order>(i.d & 15); }
inline Scope scope_of(const Insn& i) { return static_cast<Scope>(i.d >> 4); }

struct LaneAddresses {
  alignas(64) std::array<uint64_t, 32> at;
};
inline void addresses(Warp& w, const Insn& i, LaneAddresses& out) {
  if (i.src[0] == kNone) {
    for (uint32_t l = 0; l < 32; ++l) out.at[l] = i.imm;
  } else if (i.b & kWideBase) {
    const auto* base = w.reg<uint64_t>(i.src[0]);
    for (uint32_t l = 0; l < 32; ++l) out.at[l] = base[l] + i.imm;
  } else {
    const auto* base = w.reg<uint32_t>(i.src[0]);
    for (uint32_t l = 0; l < 32; ++l) out.at[l] = static_cast<uint32_t>(base[l] + i.imm);
  }
}

// A memory access of the lanes of Warp::mask, checked: inside one allocation or space each, aligned to its size.
struct WarpAccess {
  LaneAddresses in;                            // within the space of the lane; shared ones without their rank
  alignas(64) std::array<uintptr_t, 32> host;  // of the active lanes
  bool mixed = false;                          // lanes of several spaces: `spaces` says which
  ptx::Space space = ptx::Space::generic;      // of all lanes unless `mixed`
  std::array<ptx::Space, 32> spaces;
  Cta* owner = nullptr;                        // of shared memory, likewise
  std::array<Cta*, 32> owners;
};
// False after a trap.
bool access_memory(Warp& w, const Insn& i, uint32_t bytes, bool writes, WarpAccess& out);

// The space of a generic address, and the address within it.
ptx::Space resolve(uint64_t& address);

// Host memory of [address, address + bytes) for a lane; null after a trap.
uint8_t* host_memory(Warp& w, const Insn& i, uint32_t lane, ptx::Space space, uint64_t address, uint64_t bytes,
                     bool writes);

// A shared address operand (mbarrier, copy destination) in the executing CTA, generic addresses made shared ones and
// the rank taken away. False after a trap (outside shared memory, of another CTA, misaligned).
bool shared_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, uint32_t& out);
// The same in whichever CTA of the cluster the address names. An address without a rank that is an offset into the
// executing CTA's own memory is rank 0's like any other.
bool cluster_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, Cta*& owner,
                     uint32_t& out);

// Tells the race checker of an access, and of what a strong one orders.
void note_access(Warp& w, const Insn& i, const WarpAccess& at, uint32_t bytes, Access kind);
void note_access(Warp& w, const Insn& i, const WarpAccess& at, uint32_t lanes, uint32_t bytes, Access kind);
// The same for lanes at addresses (without rank) of the executing CTA's shared memory.
void note_own_shared(Warp& w, const Insn& i, const LaneAddresses& at, uint32_t lanes, uint32_t bytes, Access kind);

// Lanes of `lanes` at whose addresses in the executing CTA's shared memory no byte has a value; none where nobody asks.
uint32_t undefined_shared(Warp& w, const LaneAddresses& at, uint32_t lanes, uint32_t bytes);

// Takes `.shared`, `.shared::cta`, `.global` ... from the modifiers; generic where there is none.
// `cluster` (if given) tells .shared::cluster from .shared and .shared::cta.
ptx::Space take_space(Builder& b, bool* cluster = nullptr);
// Takes `.cta`, `.cluster`, `.gpu`, `.sys` from the modifiers; .gpu where there is none.
Scope take_scope(Builder& b);
// Fills base, displacement and flags of a memory operand.
void set_address(Insn& i, const AddressOperand& a);

}  // namespace tc::sim
