// Limits of TMA on sm_90, tiled mode. Source: cuda.h 13.0 comments and PTX ISA 5.5; witness: the boundary values were
// accepted and their neighbours refused by the driver of an H200 (encode), or trapped there (instructions).
#pragma once
#include <cstdint>

namespace tc {

inline constexpr uint32_t kTmaMaxRank = 5;                              // TMA-20
inline constexpr uint64_t kTmaGlobalAlign = 16;                         // TMA-01, TMA-21, TMA-23
inline constexpr uint64_t kTmaMaxDim = uint64_t{1} << 32;               // TMA-22
inline constexpr uint64_t kTmaMaxStrideBytes = uint64_t{1} << 40;       // TMA-23, exclusive
inline constexpr uint32_t kTmaMaxBox = 256;                             // TMA-24
inline constexpr uint32_t kTmaInnerAlign = 16;                          // TMA-25, TMA-04 (coordinate bytes)
inline constexpr uint64_t kTmaMaxBoxBytes = 233472;                     // TMA-26
inline constexpr uint32_t kTmaMaxElementStride = 8;                     // TMA-27
inline constexpr uint32_t kTmaTensorSmemAlign = 128;                    // TMA-02
inline constexpr uint32_t kTmaBulkSmemAlign = 16;                       // TMA-01
inline constexpr uint32_t kTensorMapBytes = 128, kTensorMapAlign = 64;  // TMA-12
// cp.async.bulk.commit_group etc. have no limit; cp.async copies 4, 8 or 16 bytes (CPASYNC-01).
inline constexpr uint32_t kCpAsyncMaxBytes = 16;

}  // namespace tc
