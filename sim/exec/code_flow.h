// The basic blocks of a program and the edges between them, function by function (a call is one step of its caller).
//   0: @p bra 3   1: a   2: bra 4   3: b   4: ret     blocks {0}, {1, 2}, {3}, {4}; 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> exit
#pragma once
#include "sim/machine/program.h"

namespace tc::sim {

struct CodeFlow {
  std::vector<uint32_t> first;                        // first instruction of each block
  std::vector<uint32_t> block_of;                     // by instruction
  std::vector<std::vector<uint32_t>> next, previous;  // the last block is the exit
};
CodeFlow flow_of(const Program& p);

}  // namespace tc::sim
