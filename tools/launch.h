// How a .cu or .ptx file is launched: its header lines (runtime/manifest.h), or options in their place.
//   --grid 4,4 --block 256 --smem 49152 --param "A buffer f16 65536" --param "n i32 128"
// An option replaces what the header says; --param lines replace all `arg:` lines. A cluster is that of the kernel or 1.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/manifest.h"

namespace tc::tools {

struct LaunchOptions {
  std::string grid, block, cluster;  // "x[,y[,z]]"
  std::string smem;                  // bytes
  std::string kernel;                // the entry
  std::vector<std::string> params;   // what follows `arg:`, in the order of the parameters
  bool given() const { return !grid.empty() || !block.empty() || !params.empty(); }
};

// `text` is the source, `entries` the kernels of its PTX. Fails (Diag at the line of the header, or of the command line):
// a malformed line, no launch at all, several kernels and none chosen.
Result<runtime::Manifest> launch_of(const std::string& file, const std::string& text, const LaunchOptions& options,
                                    const std::vector<std::string>& entries);

}  // namespace tc::tools
