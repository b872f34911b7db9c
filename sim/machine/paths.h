// Execution of one path of a warp: dispatch, divergence and reconvergence, waits.
#pragma once
#include "sim/machine/cluster.h"

namespace tc::sim {

enum class SliceEnd : uint8_t { budget, yielded, blocked, gone, trap };

// Can the path go on? Polls its wait.
bool ready(Warp& w, const Path& p);
// Runs path `index` for at most `budget` instructions. `gone`: the paths of the warp changed, look again.
SliceEnd run_slice(Warp& w, size_t index, uint64_t budget);
// Lets lanes that wait at a join go on without the missing ones; true where there were any.
bool break_joins(Warp& w);

// Operations that a wait of this kind needs, oldest first (cp.async, bulk groups, wgmma); null when none is left.
AsyncOp* needed_by(const Warp& w, const Path& p);

}  // namespace tc::sim
