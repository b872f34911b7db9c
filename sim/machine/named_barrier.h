// Named barriers (bar.sync and its relatives, PTX ISA 9.7.13.1): arrivals are counted by warp, 32 threads each,
// whatever part of the warp arrives (BAR-05), and again where a warp arrives again. Without a count all warps that have not left take part.
#pragma once
#include "sim/machine/cta.h"

namespace tc::sim {

// The lanes of Warp::mask arrive; true when that ended the generation. `threads` 0: all.
bool arrive_named(Warp& w, uint32_t id, uint32_t threads, bool waits, uint32_t place);
// After warps have left: ends generations that wait for nobody else.
void recheck_named(Cta& cta);

}  // namespace tc::sim
