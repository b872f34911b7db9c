// What the two files of cvt share: convert.cc (one value a lane) and convert_pairs.cc (pairs of halves and of 8-bit
// floats).
#pragma once
#include "sim/exec/builder.h"
#include "sim/exec/real.h"

namespace tc::sim {

// Insn::a = source type, b = target type, c = flags, d = rounding.
enum ConvertFlag : uint8_t {
  kSat = 1,
  kFtz = 2,
  kWideSource = 4,
  kWideTarget = 8,
  kRelu = 16,
  kSatfinite = 32,
  kIntegral = 64
};

// Conversions of pairs; false where the types are no pair.
bool build_pair(Builder& b, ptx::Type to, ptx::Type from, Rounding r, uint8_t flags);
// cvt.pack.
void build_integer_pack(Builder& b);

}  // namespace tc::sim
