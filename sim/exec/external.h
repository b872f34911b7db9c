// Functions that the CUDA runtime supplies: vprintf and __assertfail. A call of one is an instruction:
//   imm: the first of its slots (a arguments, then b results) in Program::slots
#pragma once
#include <string_view>

#include "sim/machine/insn.h"

namespace tc::sim {

struct ExternalFunction {
  std::string_view name;
  uint8_t arguments;
  ExecFn exec;
};
const ExternalFunction* external_function(std::string_view name);  // null: none of that name

}  // namespace tc::sim
