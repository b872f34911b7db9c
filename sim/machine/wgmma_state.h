// wgmma in flight. A matrix operation belongs to a warpgroup: it can start when all four warps have issued it, it runs
// after the earlier ones, and until a warp has waited for its group the registers it reads and writes are off limits
// for that warp (WGMMA-11). Compilers copy accumulators with plain moves that vanish in register allocation; such a
// move of a pending register is put off until the operation has run, and the copy is pending too.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/check/clock.h"
#include "sim/machine/insn.h"

namespace tc::sim {

// result: written by a pending operation; copy: a copy of one; operand: read by one; late: will hold an ordinary value
// once a put-off move has been carried out.
enum class RegisterState : uint8_t { free, result, copy, operand, late };

struct DeferredMove {
  uint32_t to, from;  // from == kNone: `value`
  uint32_t lanes;
  uint32_t bytes;  // 4 or 8 of a lane
  std::array<uint64_t, 32> value{};
};

struct WgmmaRecord {
  uint64_t number = 0;                    // 1, 2, ... in the warpgroup
  std::array<const Insn*, 4> insn{};      // of each warp, null: not issued
  std::array<uint64_t, 4> group{};        // commit group in each warp
  std::array<uint64_t, 2> descriptors{};  // A (unless in registers) and B
  bool scale_d = false;
  bool executed = false;
  uint32_t issued = 0, waited = 0;  // bit sets of warps
  std::array<std::vector<DeferredMove>, 4> moves;
  struct Mark {
    uint32_t at;
    RegisterState state;
  };
  std::array<std::vector<Mark>, 4> marks;  // registers that its put-off moves write
  Clock start;
};

struct WgmmaGroupState {
  std::deque<WgmmaRecord> records;  // not yet waited for by all warps, oldest first
  uint64_t issued_total = 0;
  std::array<uint64_t, 4> issued{}, committed{}, waited{};
  std::array<std::vector<uint8_t>, 4> registers;  // RegisterState by offset / 64; empty: nothing pending
  // WGMMA-10, of each warp: it has executed wgmma.fence since it last waited, and ever; registers that something other
  // than a move has written since the last fence, by offset / 64.
  std::array<bool, 4> fenced{}, ever_fenced{};
  std::array<std::vector<bool>, 4> computed;
  uint32_t slot = 0;
};

}  // namespace tc::sim
