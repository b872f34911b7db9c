// Who may arrive at a barrier at which somebody waits for ever: the instructions of the kernel that arrive, with what
// they have done so far. For the report of a deadlock.
//   line 40: may complete full+8 (0x408): never executed
//   line 52: arrived at full+8 (0x408) 32 times by warp 0, 31 times by warp 1
// Instructions that have arrived at this barrier come first, then those that nobody has executed; those that have
// arrived elsewhere alone are named where there are no others. An instruction whose address is a constant is a
// candidate for that barrier only.
#pragma once
#include <vector>

#include "base/diag.h"

namespace tc::sim {

struct Path;
struct Warp;

std::vector<Note> candidates(const Warp& w, const Path& blocked);

}  // namespace tc::sim
