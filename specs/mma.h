// Warp-level matrix multiply: element types, legal shapes, fragment maps. D[m,n] = A[m,k] B[k,n] + C.
// Sources: PTX ISA 9.7.14.3, 9.7.14.5; rules MMA-01 ... 55. Witness: ptxas 13.0 accepts exactly these rows
// (testdata/ptx/probe/mma*.tsv); fragments and metadata ran on an H200 with 0 mismatches (rules.md 7.2, 7.4).
//
// Fragments. A register of all 32 lanes is one panel of eight rows: lane 4g + t holds row g, so that the 128 bytes of a
// 32-bit register are a row-major matrix of 8 rows of 16 bytes (f64: 8 rows of 4 doubles).
//   A, register r: panel (row block r % (m/8), column block r / (m/8)) of A     m16n8k16 f16: r = 1 is rows 8-15, k 0-7
//   B, register r: rows are n, columns are k: panel (n block r % (n/8), k block r / (n/8)) of B transposed
//   C and D: registers 2b, 2b+1 are the even and odd columns of the 8x8 block b, block (b % (m/8), b / (m/8));
//   of f16 accumulators register b holds both
// Only the m8n8k4 f16 shape of sm_70 differs.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "specs/ptx_target.h"

namespace tc {

enum class MmaType : uint8_t { f16, bf16, tf32, f64, f32, s32, s8, u8, s4, u4, b1, e4m3, e5m2, e3m2, e2m3, e2m1 };
struct MmaTypeRow {
  MmaType type;
  std::string_view name;
  uint8_t bits;  // in a register; a 4 or 6-bit float has a byte of its own unless the kind packs it (MMA-20)
};
inline constexpr std::array kMmaTypes = {
    MmaTypeRow{MmaType::f16, "f16", 16},  MmaTypeRow{MmaType::bf16, "bf16", 16}, MmaTypeRow{MmaType::tf32, "tf32", 32},
    MmaTypeRow{MmaType::f64, "f64", 64},  MmaTypeRow{MmaType::f32, "f32", 32},   MmaTypeRow{MmaType::s32, "s32", 32},
    MmaTypeRow{MmaType::s8, "s8", 8},     MmaTypeRow{MmaType::u8, "u8", 8},      MmaTypeRow{MmaType::s4, "s4", 4},
    MmaTypeRow{MmaType::u4, "u4", 4},     MmaTypeRow{MmaType::b1, "b1", 1},      MmaTypeRow{MmaType::e4m3, "e4m3", 8},
    MmaTypeRow{MmaType::e5m2, "e5m2", 8}, MmaTypeRow{MmaType::e3m2, "e3m2", 8},  MmaTypeRow{MmaType::e2m3, "e2m3", 8},
    MmaTypeRow{MmaType::e2m1, "e2m1", 8},
};
constexpr const MmaTypeRow& row(MmaType t) { return kMmaTypes[static_cast<size_t>(t)]; }
constexpr std::optional<MmaType> mma_type_named(std::string_view name) {
  for (const MmaTypeRow& r : kMmaTypes)
    if (r.name == name) return r.type;
  return std::nullopt;
}

// Sets of element types; A and B may be any two of one set where `mixed`.
struct MmaGroup {
  uint32_t types;  // bit set of MmaType
  bool mixed;
};
constexpr uint32_t bit(MmaType t) { return 1u << static_cast<uint32_t>(t); }
inline constexpr MmaGroup kF16Group{bit(MmaType::f16), false}, kBf16Group{bit(MmaType::bf16), false},
    kTf32Group{bit(MmaType::tf32), false}, kF64Group{bit(MmaType::f64), false},
    kInt8Group{bit(MmaType::s8) | bit(MmaType::u8), true}, kInt4Group{bit(MmaType::s4) | bit(MmaType::u4), true},
    kB1Group{bit(MmaType::b1), false}, kFp8Group{bit(MmaType::e4m3) | bit(MmaType::e5m2), true},
    kFp864Group{bit(MmaType::e4m3) | bit(MmaType::e5m2) | bit(MmaType::e3m2) | bit(MmaType::e2m3) | bit(MmaType::e2m1),
                true},
    kFp4Group{bit(MmaType::e2m1), false}, kInt8Unmixed{bit(MmaType::s8) | bit(MmaType::u8), false},
    kInt4Unmixed{bit(MmaType::s4) | bit(MmaType::u4), false};

// wmma: the shapes of wmma.mma, an instruction of its own.
enum class MmaKind : uint8_t { plain, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4, wmma };
inline constexpr std::array<std::string_view, 6> kMmaKindNames = {"",           "kind::f8f6f4",   "kind::mxf8f6f4",
                                                                  "kind::mxf4", "kind::mxf4nvf4", ""};
enum class BitOp : uint8_t { none, xor_popc, and_popc };

// Accumulator types: D and C alike, or (m8n8k4) D f32 and C f16.
inline constexpr uint8_t kAccF16 = 1, kAccF32 = 2, kAccS32 = 4, kAccF64 = 8, kAccMixed = 16;

struct MmaShape {
  uint8_t m, n;
  uint16_t k;  // logical, also of sparse shapes
  MmaGroup group;
  uint8_t accumulators;
  TargetNeed need;
  std::string_view rule;
  MmaKind kind = MmaKind::plain;
  BitOp op = BitOp::none;
  bool sparse = false, ordered_only = false;
  uint8_t selectors = 0;       // sparse: 0 ... selectors-1
  uint8_t scale_vec = 0;       // scales a row: 1, 2, 4; 0: no scaling
  bool scale_default = false;  // .scale_vec may be left out
  bool ue4m3 = false;          // type of the scales, else ue8m0
};

constexpr TargetNeed from(uint32_t sm) { return {sm, TargetFeature::any}; }
inline constexpr TargetNeed kNeed120{120, TargetFeature::consumer}, kNeed100{100, TargetFeature::specific};

// clang-format off
inline constexpr std::array kMmaShapes = {
    MmaShape{8, 8, 4, kF16Group, kAccF16 | kAccF32 | kAccMixed, from(75), "MMA-01"},
    MmaShape{16, 8, 8, kF16Group, kAccF16 | kAccF32, from(75), "MMA-02"},
    MmaShape{16, 8, 16, kF16Group, kAccF16 | kAccF32, from(80), "MMA-03"},
    MmaShape{16, 8, 8, kBf16Group, kAccF32, from(80), "MMA-04"},
    MmaShape{16, 8, 16, kBf16Group, kAccF32, from(80), "MMA-04"},
    MmaShape{16, 8, 4, kTf32Group, kAccF32, from(80), "MMA-05"},
    MmaShape{16, 8, 8, kTf32Group, kAccF32, from(80), "MMA-05"},
    MmaShape{8, 8, 16, kInt8Group, kAccS32, from(75), "MMA-06"},
    MmaShape{16, 8, 16, kInt8Group, kAccS32, from(80), "MMA-07"},
    MmaShape{16, 8, 32, kInt8Group, kAccS32, from(80), "MMA-07"},
    MmaShape{8, 8, 32, kInt4Group, kAccS32, from(75), "MMA-08"},
    MmaShape{16, 8, 32, kInt4Group, kAccS32, from(80), "MMA-09"},
    MmaShape{16, 8, 64, kInt4Group, kAccS32, from(80), "MMA-09"},
    MmaShape{8, 8, 128, kB1Group, kAccS32, from(75), "MMA-10", MmaKind::plain, BitOp::xor_popc},
    MmaShape{8, 8, 128, kB1Group, kAccS32, from(80), "MMA-10", MmaKind::plain, BitOp::and_popc},
    MmaShape{16, 8, 128, kB1Group, kAccS32, from(80), "MMA-10", MmaKind::plain, BitOp::xor_popc},
    MmaShape{16, 8, 128, kB1Group, kAccS32, from(80), "MMA-10", MmaKind::plain, BitOp::and_popc},
    MmaShape{16, 8, 256, kB1Group, kAccS32, from(80), "MMA-10", MmaKind::plain, BitOp::xor_popc},
    MmaShape{16, 8, 256, kB1Group, kAccS32, from(80), "MMA-10", MmaKind::plain, BitOp::and_popc},
    MmaShape{16, 8, 16, kFp8Group, kAccF16 | kAccF32, from(89), "MMA-11"},
    MmaShape{16, 8, 32, kFp8Group, kAccF16 | kAccF32, from(89), "MMA-11"},
    MmaShape{8, 8, 4, kF64Group, kAccF64, from(80), "MMA-12"},
    MmaShape{16, 8, 4, kF64Group, kAccF64, from(90), "MMA-12"},
    MmaShape{16, 8, 8, kF64Group, kAccF64, from(90), "MMA-12"},
    MmaShape{16, 8, 16, kF64Group, kAccF64, from(90), "MMA-12"},
    // kinds of sm_100 and sm_120
    MmaShape{16, 8, 16, kFp8Group, kAccF16 | kAccF32, kNeed100, "MMA-14", MmaKind::f8f6f4},
    MmaShape{16, 8, 32, kFp8Group, kAccF16 | kAccF32, kNeed100, "MMA-14", MmaKind::f8f6f4},
    MmaShape{16, 8, 32, kFp864Group, kAccF16 | kAccF32, kNeed120, "MMA-14", MmaKind::f8f6f4},
    MmaShape{16, 8, 32, kFp864Group, kAccF32, kNeed120, "MMA-15", MmaKind::mxf8f6f4, BitOp::none, false, false, 0, 1, true},
    MmaShape{16, 8, 64, kFp4Group, kAccF32, kNeed120, "MMA-16", MmaKind::mxf4, BitOp::none, false, false, 0, 2, true},
    MmaShape{16, 8, 64, kFp4Group, kAccF32, kNeed120, "MMA-17", MmaKind::mxf4nvf4, BitOp::none, false, false, 0, 2, false},
    MmaShape{16, 8, 64, kFp4Group, kAccF32, kNeed120, "MMA-17", MmaKind::mxf4nvf4, BitOp::none, false, false, 0, 4, false, true},
    // wmma.mma (PTX ISA 9.7.14.4); f16 takes any mix of f16 and f32 accumulators
    MmaShape{16, 16, 16, kF16Group, kAccF16 | kAccF32 | kAccMixed, from(70), "MMA-18", MmaKind::wmma},
    MmaShape{32, 8, 16, kF16Group, kAccF16 | kAccF32 | kAccMixed, from(70), "MMA-18", MmaKind::wmma},
    MmaShape{8, 32, 16, kF16Group, kAccF16 | kAccF32 | kAccMixed, from(70), "MMA-18", MmaKind::wmma},
    MmaShape{16, 16, 16, kBf16Group, kAccF32, from(80), "MMA-18", MmaKind::wmma},
    MmaShape{32, 8, 16, kBf16Group, kAccF32, from(80), "MMA-18", MmaKind::wmma},
    MmaShape{8, 32, 16, kBf16Group, kAccF32, from(80), "MMA-18", MmaKind::wmma},
    MmaShape{16, 16, 16, kInt8Unmixed, kAccS32, from(72), "MMA-18", MmaKind::wmma},
    MmaShape{32, 8, 16, kInt8Unmixed, kAccS32, from(72), "MMA-18", MmaKind::wmma},
    MmaShape{8, 32, 16, kInt8Unmixed, kAccS32, from(72), "MMA-18", MmaKind::wmma},
    MmaShape{16, 16, 8, kTf32Group, kAccF32, from(80), "MMA-18", MmaKind::wmma},
    MmaShape{8, 8, 4, kF64Group, kAccF64, from(80), "MMA-18", MmaKind::wmma},
    MmaShape{8, 8, 32, kInt4Unmixed, kAccS32, from(75), "MMA-18", MmaKind::wmma},
    MmaShape{8, 8, 128, kB1Group, kAccS32, from(75), "MMA-18", MmaKind::wmma, BitOp::xor_popc},
    MmaShape{8, 8, 128, kB1Group, kAccS32, from(80), "MMA-18", MmaKind::wmma, BitOp::and_popc},
    // sparse A
    MmaShape{16, 8, 16, kF16Group, kAccF16 | kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 4},
    MmaShape{16, 8, 32, kF16Group, kAccF16 | kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 2},
    MmaShape{16, 8, 16, kBf16Group, kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 4},
    MmaShape{16, 8, 32, kBf16Group, kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 2},
    MmaShape{16, 8, 8, kTf32Group, kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 4},
    MmaShape{16, 8, 16, kTf32Group, kAccF32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 2},
    MmaShape{16, 8, 32, kInt8Group, kAccS32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 2},
    MmaShape{16, 8, 64, kInt8Group, kAccS32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 1},
    MmaShape{16, 8, 64, kInt4Group, kAccS32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 2},
    MmaShape{16, 8, 128, kInt4Group, kAccS32, from(80), "MMA-50", MmaKind::plain, BitOp::none, true, false, 1},
    MmaShape{16, 8, 64, kFp8Group, kAccF32, from(89), "MMA-50", MmaKind::plain, BitOp::none, true, false, 1},
    MmaShape{16, 8, 64, kFp8Group, kAccF16, kNeed120, "MMA-50", MmaKind::plain, BitOp::none, true, true, 1},
    MmaShape{16, 8, 64, kFp864Group, kAccF16 | kAccF32, kNeed120, "MMA-50", MmaKind::f8f6f4, BitOp::none, true, true, 1},
    MmaShape{16, 8, 64, kFp864Group, kAccF32, kNeed120, "MMA-50", MmaKind::mxf8f6f4, BitOp::none, true, true, 1, 1, true},
    MmaShape{16, 8, 128, kFp4Group, kAccF32, kNeed120, "MMA-50", MmaKind::mxf4, BitOp::none, true, true, 1, 2, true},
    MmaShape{16, 8, 128, kFp4Group, kAccF32, kNeed120, "MMA-50", MmaKind::mxf4nvf4, BitOp::none, true, true, 1, 2, false},
    MmaShape{16, 8, 128, kFp4Group, kAccF32, kNeed120, "MMA-50", MmaKind::mxf4nvf4, BitOp::none, true, true, 1, 4, false, true},
};
// clang-format on

// Largest tiles of a row: A 16 x 128 (sparse mxf4), B 128 x 8 or 16 x 32, D 32 x 8 and 16 x 16.
inline constexpr uint32_t kMmaMaxA = 16 * 128, kMmaMaxB = 128 * 8, kMmaMaxD = 256;
static_assert(std::ranges::all_of(kMmaShapes, [](const MmaShape& s) {
  return s.op != BitOp::none || (s.m * s.k <= kMmaMaxA && s.k * s.n <= kMmaMaxB && s.m * s.n <= kMmaMaxD);
}));
// A and B of wmma f16 have eight registers whatever the shape; those beyond the elements repeat the first ones.
inline constexpr uint32_t kWmmaHalfRegisters = 8;

// Bits of an element in the registers of this shape: mxf4 and mxf4nvf4 pack two e2m1 into a byte (MMA-20).
constexpr uint32_t register_bits(const MmaShape& s, MmaType t) {
  return s.kind == MmaKind::mxf4 || s.kind == MmaKind::mxf4nvf4 ? 4 : row(t).bits;
}
// Registers of A (kept elements alone), B, and of an accumulator.
constexpr uint32_t fragment_registers(uint32_t elements, uint32_t bits) {
  const uint32_t n = elements * bits / (32 * (bits == 64 ? 64 : 32));
  return n ? n : 1;
}
static_assert(fragment_registers(16 * 16, 16) == 4 && fragment_registers(16 * 8, 64) == 4 &&
              fragment_registers(8 * 8, 16) == 1);

// ---- sparse metadata (MMA-52 ... 54)
// A chunk of logical elements in a row and the two of its four positions that are kept; a position is one element, of
// 4-bit types two, of tf32 half of one (so that one of two is kept).
constexpr uint32_t sparse_chunk(uint32_t bits) { return bits == 32 ? 2 : bits == 4 ? 8 : 4; }
struct MetadataPlace {
  uint32_t lane, nibble;
};
// Where the nibble of (row, chunk) lies in the metadata registers. m = 16 rows, `chunks` a row: 4, 8 or 16.
constexpr MetadataPlace sparse_metadata(uint32_t chunks, bool narrow, uint32_t selector, uint32_t row, uint32_t chunk) {
  const uint32_t g = row % 8, h = row / 8;
  if (chunks == 4) return {4 * g + selector, 4 * h + chunk};
  if (chunks == 8 && !narrow) return {4 * g + 2 * selector + chunk / 4, 4 * h + chunk % 4};
  if (chunks == 8) return {4 * g + 2 * selector + h, chunk};  // 8 and 4-bit elements
  return {4 * g + h + 2 * (chunk / 8), chunk % 8};
}
static_assert(sparse_metadata(8, false, 1, 9, 5).lane == 4 * 1 + 3 && sparse_metadata(8, false, 1, 9, 5).nibble == 5);

// ---- block scaling (MMA-40 ... 43): which lane holds the scales of a row of A, a column of B
constexpr uint32_t scale_a_lane(uint32_t row, uint32_t thread_id) { return 4 * (row % 8) + 2 * thread_id + row / 8; }
constexpr uint32_t scale_b_lane(uint32_t column, uint32_t thread_id) { return 4 * column + thread_id; }

// ---- m8n8k4 of f16 (MMA-36): four products of 8x8x4, one a group of lanes {4q ... 4q+3, 16+4q ... 16+4q+3}
struct MatrixPlace {
  uint32_t row, col;
};
constexpr MatrixPlace volta_a(uint32_t lane, uint32_t i, bool row_major) {
  const uint32_t h = lane / 16;
  return row_major ? MatrixPlace{lane % 4 + 4 * h, i} : MatrixPlace{i + 4 * h, lane % 4};
}
constexpr MatrixPlace volta_b(uint32_t lane, uint32_t i, bool row_major) {
  const uint32_t h = lane / 16;
  return row_major ? MatrixPlace{lane % 4, i + 4 * h} : MatrixPlace{i, lane % 4 + 4 * h};
}
constexpr MatrixPlace volta_c_f16(uint32_t lane, uint32_t i) { return {lane % 4 + 4 * (lane / 16), i}; }
constexpr MatrixPlace volta_c_f32(uint32_t lane, uint32_t i) {
  return {(lane & 1) + (i & 2) + 4 * (lane / 16), (i & 4) + (lane & 2) + (i & 1)};
}

}  // namespace tc
