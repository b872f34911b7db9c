// A refutation on the generated code: the kernel is compiled, and the simulator is steered along the trace (which warp
// makes its next step, which copy completes when). Reproduced means that the run hangs, traps, or that a sanitizer
// speaks.
//   trace step "t128 warp 0: all arrive full[1]" → warps 4…7 each run up to and with their next arrival
// Steps that the machine does not show (reads, lanes of a warp that move together) are passed over; where the steered
// run stays clean, 20 adversarial seeds follow. Fails (not-run): no compiler plug-in, or a kernel that the simulator
// does not run.
#pragma once
#include <string>

#include "tools/verdict.h"
#include "verifier/protocol/from_ir.h"

namespace tc::tools {

struct Replay {
  std::string replayed = "not-run";  // yes | no | not-run
  std::string how;                   // "steered along 41 of 96 steps: hang", or why it was not run
};
Replay replay_trace(const ir::Module& device, const std::vector<TraceStep>& trace);

}  // namespace tc::tools
