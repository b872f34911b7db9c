// Limits of the mbarrier object. Source: PTX ISA 9.7.13.15.1; witness: runs on an H200 (over-arrival and a transaction
// count beyond the limit abort the kernel).
#pragma once
#include <cstdint>

namespace tc {

inline constexpr uint32_t kMbarrierBytes = 8;                  // MBAR-01
inline constexpr int64_t kMbarrierMaxCount = (1 << 20) - 1;    // MBAR-02
inline constexpr int64_t kMbarrierMaxTxBytes = (1 << 20) - 1;  // TX-01, both signs
inline constexpr uint32_t kNamedBarriers = 16;                 // BAR-01
static_assert(kMbarrierMaxCount == 1048575);

}  // namespace tc
