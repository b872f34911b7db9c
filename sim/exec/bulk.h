// What bulk copies and tensor copies share: the mbarrier a load completes on, the bulk group a store belongs to.
#pragma once
#include "sim/exec/access.h"

namespace tc::sim {

inline constexpr uint64_t kLoadLatency = 300, kStoreLatency = 200;  // under rr, in warp instructions

// A copy that completes on an mbarrier, piece by piece (TX-03).
struct LoadOp : AsyncOp {
  uint64_t phase = 0;  // the barrier's phase when it was issued
  Clock tickets;       // phases of barriers that its issuer knew to have ended
  // Accounts for a piece that has landed. False after a trap.
  bool landed(Cta& c, uint32_t bytes);
};
// A copy that belongs to a bulk group: reads its source into `data`, later writes.
struct StoreOp : AsyncOp {
  std::vector<uint8_t> data;
};

// The mbarrier operand of a load. False after a trap.
bool load_barrier(Warp& w, const Insn& i, uint64_t address, LoadOp& op);
// Enters a store into the open bulk group of the issuing thread.
void enter_group(Warp& w, uint32_t lane, const Insn& i, StoreOp& op);
// Records the async read of [address, address + bytes) by a store.
void note_store_read(Warp& w, uint32_t lane, const StoreOp& op, uint32_t address, uint32_t bytes);
// Records the async write of a load.
void note_load_write(Warp& w, uint32_t lane, const LoadOp& op, uint32_t address, uint32_t bytes);
// The same of the global memory that a load reads and a store writes (Access::strong_write for a reduction).
void note_load_read(Warp& w, uint32_t lane, const LoadOp& op, uint64_t address, uint64_t bytes);
void note_store_write(Warp& w, uint32_t lane, const StoreOp& op, uint64_t address, uint64_t bytes, Access kind);

// Addresses of instructions with more than one: three list entries each (base, 1 if it has 64 bits, displacement).
void append_address(std::vector<uint32_t>& list, const AddressOperand& a);
uint64_t stored_address(Warp& w, const uint32_t* entry, uint32_t lane);

}  // namespace tc::sim
