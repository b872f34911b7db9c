// Tests as text files: a file says which stage to run on it and what must come out. In process, no shell.
//   # test: eval M=1000 arch=sm_90a      runs stage `eval` with options; the checks below belong to it
//   # CHECK-LABEL: func @matmul          blocks of checks: nothing before a label may match behind it
//   # CHECK: %[[A:[a-z]+]] = alloc {{.*}} shared f16[128, 64]     {{regex}}, [[NAME:regex]] captures, [[NAME]] is what
//   it caught # CHECK-NEXT: ...                    the very next line of the output # CHECK-NOT: cp_async no line
//   between the neighbours x = T.copi(a, b)   # error: no name 'copi'      a diagnostic on this line whose message
//   contains the text
// Comments start with # or //. A check matches anywhere in one line; runs of blanks are equal. Every diagnostic must be
// expected and every expectation met. A stage may also be spelled NAME=VALUE (pass=assign_smem); the value is an
// option. Stages are registered by name; a file without a `test:` line fails.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/diag.h"

namespace tc::filetest {

struct Input {
  std::string path;
  FileId file = 0;
  std::vector<std::pair<std::string, std::string>> options;  // in order
};
struct Output {
  std::string text;
  std::vector<Diag> diags;
};
using Stage = std::function<Output(const Input&)>;
using Stages = std::map<std::string, Stage>;

// What is wrong, one message each ("eval.py:7: no line matches …"); empty: the test passes.
std::vector<std::string> run_text(const Stages& stages, const std::string& path, const std::string& text);
std::vector<std::string> run_file(const Stages& stages, const std::string& path);
// All files below the given files and folders, sorted; prints failures and a count. 0 if all pass and there are some.
int run_all(const Stages& stages, const std::vector<std::string>& paths);

// eval, interp, roundtrip: the stages of the front end (filetest_front.cc).
void add_front_stages(Stages& stages);

}  // namespace tc::filetest
