// filetest FILE-or-FOLDER...: runs every test file; exit 0 if all pass. Stages are added here.
#include <cstdio>

#include "tools/filetest.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: filetest FILE-or-FOLDER...\n");
    return 2;
  }
  tc::filetest::Stages stages;
  tc::filetest::add_front_stages(stages);
  return tc::filetest::run_all(stages, {argv + 1, argv + argc});
}
