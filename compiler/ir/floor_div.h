// Division and remainder of 64-bit integers as Python and the language have them: toward minus infinity.
//   floor_div(-7, 2) = -4, floor_mod(-7, 2) = 1
// The caller excludes b == 0, and a == INT64_MIN with b == -1.
#pragma once
#include <cstdint>

namespace tc::ir {

constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
constexpr int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
static_assert(floor_div(-7, 2) == -4 && floor_mod(-7, 2) == 1 && floor_div(7, -2) == -4);

}  // namespace tc::ir
