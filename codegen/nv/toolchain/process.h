// Runs a child process: output captured, killed after a time limit.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace tc::toolchain {

struct Finished {
  int status = 0;  // exit code, or 128 + signal
  bool timed_out = false;
  std::string output;  // stdout and stderr together
};
// argv[0] is the program's path. Fails where it cannot be started.
Result<Finished> run_process(const std::vector<std::string>& argv, int seconds);

// A folder of its own under the system's temporary folder, removed at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  // "" if it could not be made

 private:
  std::string path_;
};

}  // namespace tc::toolchain
