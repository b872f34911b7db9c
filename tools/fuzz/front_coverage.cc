// The front end under libFuzzer: inputs that reach new code are kept and mutated further. Half of the mutations are
// those of texts (lines, tokens, names of the language), half libFuzzer's own. Built with clang and -Dfuzz=true;
// tools/fuzz/run does that and counts the CPU time.
#include <algorithm>
#include <cstring>

#include "tools/fuzz/front_input.h"
#include "tools/fuzz/mutate.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= tc::tools::kMostBytes) tc::tools::try_input(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (seed % 2) return LLVMFuzzerMutate(data, size, most);
  tc::tools::Random random{seed};
  std::string text = tc::tools::mutated(std::string(reinterpret_cast<char*>(data), size), random, seed % 16 == 0,
                                        tc::tools::kWords, most);
  const size_t n = std::min(text.size(), most);
  std::memcpy(data, text.data(), n);
  return n;
}
