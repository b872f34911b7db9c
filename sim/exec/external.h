// Functions that the CUDA runtime supplies: vprintf, __assertfail, malloc and free. A call of one is an instruction:
//   imm: the first of its slots (a arguments, then b results) in Program::slots
#pragma once
#include <string_view>

#include "sim/machine/cta.h"

namespace tc::sim {

struct ExternalFunction {
  std::string_view name;
  uint8_t arguments;
  ExecFn exec;
  bool orders_ctas;  // what it gives depends on the order of the CTAs, which then run on one thread
};
const ExternalFunction* external_function(std::string_view name);  // null: none of that name

// What a lane gave as an argument, and what it gets.
uint64_t argument(Warp& w, const Insn& i, uint32_t which, uint32_t lane);
void set_result(Warp& w, const Insn& i, uint32_t lane, uint64_t value);

// void* malloc(size), void free(pointer): sim/exec/heap.cc.
Step heap_allocate(Warp& w, const Insn& i);
Step heap_free(Warp& w, const Insn& i);

}  // namespace tc::sim
