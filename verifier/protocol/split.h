// One array of mbarriers often holds several rings: `bars[k % 3]` for full and `bars[k % 3 + 3]` for empty. A ring
// whose events keep to disjoint ranges of slots is taken apart, each part with its own slot numbers:
//   ring bars 6 count 128   →   ring bars_0 3 count 128 · ring bars_3 3 count 128 with slots k % 3
// Ranges are those of the slot expressions (constants, `x % n`, sums of these); an expression without a range keeps the
// ring whole. The same for buffers.
#pragma once
#include "verifier/protocol/protocol.h"

namespace tc::verify {

Protocol split_rings(const Protocol& p);
// The smallest and largest value of an expression whose / and % have operands >= 0; no value: not known.
std::optional<std::pair<int64_t, int64_t>> range_of(const Expr& e, int64_t stages);

}  // namespace tc::verify
