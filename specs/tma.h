// Limits of TMA on sm_90, tiled mode. Source: cuda.h 13.0 comments and PTX ISA 5.5; witness: the boundary values were
// accepted and their neighbours refused by the driver of an H200 (encode), or trapped there (instructions).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

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

// ---- im2col (PTX ISA 5.5.4; cuda.h of cuTensorMapEncodeIm2col)
inline constexpr uint32_t kIm2colMinRank = 3;                              // TMA-40
inline constexpr std::array<int32_t, 3> kIm2colCorner = {32768, 128, 16};  // TMA-41, by rank from 3: [-x, x)
inline constexpr uint32_t kIm2colMaxPixels = 1024;                         // TMA-42

// The fill of OOB_FILL_NAN is 0x7FF7 in every 16 bits of f16, bf16, f32 and f64 (H200,
// testdata/gpu/matrix/tma_nan.txt); of tf32 it was not measured. Element types, numbered as tensormap.replace.elemtype does (TMA-35; the driver's enum has another
// order).
enum class TmaType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz,
  u4_8b,
  u4_16b,
  u6_16b
};
struct TmaTypeRow {
  TmaType type;
  std::string_view name;  // as ReduceType names it
  uint8_t bytes;          // 0: narrower than a byte, sm_100a
  uint64_t nan;           // the fill of OOB_FILL_NAN, 0: none (TMA-30)
};
inline constexpr std::array kTmaTypes = {
    TmaTypeRow{TmaType::u8, "u8", 1, 0},
    TmaTypeRow{TmaType::u16, "u16", 2, 0},
    TmaTypeRow{TmaType::u32, "u32", 4, 0},
    TmaTypeRow{TmaType::s32, "s32", 4, 0},
    TmaTypeRow{TmaType::u64, "u64", 8, 0},
    TmaTypeRow{TmaType::s64, "s64", 8, 0},
    TmaTypeRow{TmaType::f16, "f16", 2, 0x7FF7},
    TmaTypeRow{TmaType::f32, "f32", 4, 0x7FF77FF7},
    TmaTypeRow{TmaType::f32_ftz, "f32", 4, 0x7FF77FF7},
    TmaTypeRow{TmaType::f64, "f64", 8, 0x7FF77FF77FF77FF7},
    TmaTypeRow{TmaType::bf16, "bf16", 2, 0x7FF7},
    TmaTypeRow{TmaType::tf32, "tf32", 4, 0x7FF77FF7},
    TmaTypeRow{TmaType::tf32_ftz, "tf32", 4, 0x7FF77FF7},
    TmaTypeRow{TmaType::u4_8b, "u4", 0, 0},
    TmaTypeRow{TmaType::u4_16b, "u4", 0, 0},
    TmaTypeRow{TmaType::u6_16b, "u6", 0, 0},
};
constexpr const TmaTypeRow& row(TmaType t) { return kTmaTypes[static_cast<size_t>(t)]; }

// ---- reductions of bulk copies (TMA-16, TMA-17): which types an operation has
enum class ReduceOp : uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
struct ReduceRow {
  ReduceOp op;
  std::string_view name;
  std::string_view
      to_global;  // types of cp.reduce.async.bulk to global memory, space-separated; f16 and bf16 add: .noftz
  std::string_view to_shared;  // to the shared memory of the cluster
  std::string_view tensor;     // types of a tensor map
};
inline constexpr std::array kReduces = {
    ReduceRow{ReduceOp::add, "add", "u32 s32 u64 f32 f64 f16 bf16", "u32 s32 u64", "u32 s32 u64 f32 f16 bf16"},
    ReduceRow{ReduceOp::min, "min", "u32 s32 u64 s64 f16 bf16", "u32 s32", "u32 s32 u64 s64 f16 bf16"},
    ReduceRow{ReduceOp::max, "max", "u32 s32 u64 s64 f16 bf16", "u32 s32", "u32 s32 u64 s64 f16 bf16"},
    ReduceRow{ReduceOp::inc, "inc", "u32", "u32", "u32"},
    ReduceRow{ReduceOp::dec, "dec", "u32", "u32", "u32"},
    ReduceRow{ReduceOp::bit_and, "and", "b32 b64", "b32", "u32 s32 u64 s64"},
    ReduceRow{ReduceOp::bit_or, "or", "b32 b64", "b32", "u32 s32 u64 s64"},
    ReduceRow{ReduceOp::bit_xor, "xor", "b32 b64", "b32", "u32 s32 u64 s64"},
};
constexpr bool names_type(std::string_view list, std::string_view type) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = list.find(' ', at) == std::string_view::npos ? list.size() : list.find(' ', at);
    if (list.substr(at, end - at) == type) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace tc
