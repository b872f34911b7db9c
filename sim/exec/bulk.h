// What bulk copies and tensor copies share: where a load lands and the mbarriers it completes on, the bulk group a
// store belongs to.
#pragma once
#include "sim/exec/access.h"

namespace tc::sim {

inline constexpr uint64_t kLoadLatency = 300, kStoreLatency = 200;  // under rr, in warp instructions

// One CTA that a copy writes to, and the mbarrier there.
struct CopyTarget {
  Cta* cta = nullptr;
  uint32_t to = 0, barrier = 0;
  uint64_t phase = 0;  // the barrier's phase when the copy was issued
};
// A copy that completes on an mbarrier of each target, piece by piece (TX-03).
struct LoadOp : AsyncOp {
  std::vector<CopyTarget> targets;
  Clock tickets;  // phases of barriers that its issuer knew to have ended
  // Accounts for a piece that has landed everywhere. False after a trap.
  bool landed(Cta& issuer, uint32_t bytes);
  std::string where() const { return targets.front().cta->shared_text(targets.front().to); }
};
// A copy that belongs to a bulk group: reads its source into `data`, later writes.
struct StoreOp : AsyncOp {
  std::vector<uint8_t> data;
};

// The operands of a load that say where it lands.
struct LoadEnds {
  uint64_t to = 0, barrier = 0;  // shared addresses
  uint32_t bytes = 0, align = 0;
  bool own = false;                        // .shared::cta: of the executing CTA
  std::optional<uint16_t> multicast_mask;  // by rank
};
// Checks them and fills the targets. False after a trap.
bool find_targets(Warp& w, const Insn& i, const LoadEnds& ends, LoadOp& op);
// Enters a store into the open bulk group of the issuing thread.
void enter_group(Warp& w, uint32_t lane, const Insn& i, StoreOp& op);

// What the checkers are told, at issue: a copy belongs to a phase of each of its barriers; a load writes its targets
// (offset from the start of each) and reads global memory; a store reads shared memory and writes global memory.
void note_phases(Warp& w, const LoadOp& op);
void note_load_write(Warp& w, uint32_t lane, const LoadOp& op, uint32_t offset, uint32_t bytes);
void note_load_read(Warp& w, uint32_t lane, const LoadOp& op, uint64_t address, uint64_t bytes);
void note_store_read(Warp& w, uint32_t lane, const StoreOp& op, uint32_t address, uint32_t bytes);
// Has any of these bytes of the executing CTA's shared memory a value? Yes where nobody asks.
bool has_value(const Warp& w, uint32_t address, uint32_t bytes);
// The finding of a copy that reads only bytes without one (BOUND-02).
void report_no_value(Warp& w, uint32_t address, uint32_t place);
void note_store_write(Warp& w, uint32_t lane, const StoreOp& op, uint64_t address, uint64_t bytes, Access kind);

// Addresses of instructions with more than one: kAddressWords list entries each.
inline constexpr uint32_t kAddressWords = 4;
void append_address(std::vector<uint32_t>& list, const AddressOperand& a);
uint64_t stored_address(Warp& w, const uint32_t* entry, uint32_t lane);

// Takes the words of a copy's destination: "shared::cluster", "shared::cta" or "global"; empty where there is none.
std::string take_end(Builder& b);

}  // namespace tc::sim
