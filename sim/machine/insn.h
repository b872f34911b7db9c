// A decoded instruction. Operands are byte offsets into the register file of a warp; immediates and special registers
// live there too, so that every operand is fetched in one way.
//   register file of a warp: predicates 4 bytes (one bit a lane), up to 32 bits 128 bytes (32 lanes), 64 bits 256 bytes
// A body (`exec`) states meaning only: it is called with the lanes that take part in Warp::mask (never empty) and says
// how the path goes on.
#pragma once
#include <array>
#include <cstdint>

#include "sim/machine/passing.h"

namespace tc::sim {

struct Warp;
struct Insn;

enum class Step : uint8_t {
  next,     // go on with the next instruction
  yield,    // the same, but let others run first
  blocked,  // Path::wait says for what; when it holds the instruction is executed again, or passed over
  leave,    // these lanes are gone
  trap,     // Cta::trap is set
};
using ExecFn = Step (*)(Warp&, const Insn&);

// move: a plain copy of registers, which wgmma may put off; wgmma: its accumulators have rules of their own.
// branch_table: target chosen by an index; call, ret: of functions (sim/machine/calls.h).
enum class InsnKind : uint8_t { plain, branch, leave, move, wgmma, branch_table, call, ret };
// What an instruction does in the protocol of a kernel; steered replay stops after one such event.
enum class EventKind : uint8_t { none, arrive, expect_tx, wait, bulk_issue, wgmma_issue, wgmma_wait, named_barrier, cluster_barrier };

inline constexpr uint32_t kNone = UINT32_MAX;
// A 128-bit register is 32 low halves and, this many bytes behind, 32 high ones.
inline constexpr uint32_t kHighLanes = 256;

struct Insn {
  ExecFn exec = nullptr;
  uint32_t dst = kNone;
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  uint32_t guard = kNone;
  bool guard_negated = false;
  InsnKind kind = InsnKind::plain;
  Passing passing = Passing::any;
  uint8_t result = UINT8_MAX;                       // a source that is written
  uint32_t target = kNone;                          // of a branch
  uint32_t join = kNone;                            // of a branch: where diverged lanes meet again; kNone: at the end
  uint32_t list = 0, list_count = 0, list_dst = 0;  // operands in Program::lists; the first list_dst are written
  uint64_t imm = 0;
  // Family-specific small facts.
  uint16_t bytes = 0;   // of one memory element
  uint8_t vector = 1;   // elements of an atomic vector
  uint8_t a = 0, b = 0, c = 0, d = 0;
  uint32_t place = 0;  // index into Program::places
};

}  // namespace tc::sim
