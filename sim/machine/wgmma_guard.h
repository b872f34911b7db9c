// Guards the registers of pending wgmma (see wgmma_state.h).
#pragma once
#include "sim/machine/cta.h"
#include "sim/machine/wgmma_state.h"

namespace tc::sim {

// Called before an instruction while registers of the warp are pending. True: the instruction has been dealt with and
// `step` says how (a move was put off, or the path must block until the registers are safe).
bool guard_pending(Warp& w, const Insn& i, Step& step);
// All operations of groups up to `number` that the warp has issued have been executed.
bool wgmma_done(const Cta& c, const Warp& w, uint64_t number);
// Recomputes the pending registers of a warp after it has waited.
void mark_pending(Warp& w);
// What the instruction has written counts as computed since the last wgmma.fence; a move passes on what its source is.
void note_computed(Warp& w, const Insn& i);
void apply_moves(Warp& w, const std::vector<DeferredMove>& moves);

}  // namespace tc::sim
