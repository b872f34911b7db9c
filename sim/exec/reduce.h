// Element-wise reductions of bulk copies: memory = memory op data. PTX ISA 9.7.9.25.4.4; f16 and bf16 sums are rounded
// once, to nearest even; inc and dec wrap at the data's value as atom.inc and atom.dec do.
#pragma once
#include <cstdint>
#include <string_view>

#include "specs/tma.h"

namespace tc::sim {

using ReduceFn = void (*)(uint8_t* memory, const uint8_t* data, uint32_t bytes);
// Null where the operation has no such type ("u32", "f16", "b64" ...).
ReduceFn find_reduce(ReduceOp op, std::string_view type);

}  // namespace tc::sim
