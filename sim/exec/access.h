// Memory accesses of a warp: addresses, spaces, bounds and alignment checks, and what the race checker is told.
// A failed check traps with BOUND-01 and names the allocation. Source: PTX ISA 5.1, 9.7.9.
#pragma once
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"
#include "sim/ptx/types.h"

namespace tc::sim {

// Insn fields of every memory access: src[0] = base (or kNone), imm = displacement, and
enum AccessFlag : uint8_t { kWideBase = 1, kStrong = 2, kWideData = 4, kSignExtend = 8, kVolatile = 16 };
// Insn::a = ptx::Space, Insn::b = flags.

struct LaneAddresses {
  std::array<uint64_t, 32> at;
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

// The space of a generic address, and the address within it.
ptx::Space resolve(uint64_t& address);

// Host memory of [address, address + bytes) for a lane; null after a trap.
uint8_t* host_memory(Warp& w, const Insn& i, uint32_t lane, ptx::Space space, uint64_t address, uint64_t bytes,
                     bool writes);

// A shared address operand (mbarrier, copy destination): the value of lane `lane`, generic addresses made shared ones.
// False after a trap (outside shared memory, misaligned).
bool shared_address(Warp& w, const Insn& i, uint64_t value, uint32_t bytes, uint32_t align, uint32_t& out);

// Tells the race checker and the strong-access clocks; `addresses` are shared ones where space is shared.
void note_access(Warp& w, const Insn& i, ptx::Space space, const LaneAddresses& at, uint32_t lanes, uint32_t bytes,
                 Access kind);

// Takes `.shared`, `.shared::cta`, `.global` ... from the modifiers; generic where there is none.
ptx::Space take_space(Builder& b);
// Fills base, displacement and flags of a memory operand.
void set_address(Insn& i, const AddressOperand& a);

}  // namespace tc::sim
