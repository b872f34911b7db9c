// Bodies of the wgmma instructions (sim/exec/wgmma.cc).
#pragma once
#include "sim/machine/insn.h"

namespace tc::sim {

Step issue_wgmma(Warp& w, const Insn& i);
Step fence_wgmma(Warp& w, const Insn& i);
Step commit_wgmma(Warp& w, const Insn& i);
Step wait_wgmma(Warp& w, const Insn& i);

}  // namespace tc::sim
