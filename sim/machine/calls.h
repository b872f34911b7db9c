// Calls of functions by the lanes of a path: arguments and results are copied between the caller's and the function's
// variables, a frame remembers where to go on. PTX ISA 9.7.12.5, 7.1.
//   f (recursive, 16 bytes of local memory) called at depth 2 with local_base 4096: its variables lie at 4112 and up
#pragma once
#include "sim/machine/cluster.h"

namespace tc::sim {

inline constexpr uint32_t kMaxCallDepth = 4096;

// Where an argument or result of a lane lives; `base` is that of framed local memory on its side of the call.
uint8_t* slot_bytes(Warp& w, const Slot& s, uint32_t base, uint32_t lane);
// Something has been written there.
void slot_defined(Warp& w, const Slot& s, uint32_t base, uint32_t lane);

// The lanes of Warp::mask (all of path `p`) call the function that `i` names or, where target is kNone, whose address
// they have in src[0]; imm: first of its slots, a results, then b arguments. False after a trap: no such function, arguments that do not fit, a full stack.
bool enter_function(Warp& w, Path& p, const Insn& i);
// The lanes of Warp::mask (all of path `p`) return.
void leave_function(Warp& w, Path& p);

// Bytes of the lane's stack that alloca has taken (sim/exec/stack.cc).
uint64_t stack_taken(const Warp& w, uint32_t lane);
void set_stack_taken(Warp& w, uint32_t lane, uint64_t taken);

}  // namespace tc::sim
