// A tensor map as the machine uses it, and its 128 bytes in memory. The bytes are an encoding of our own (NVIDIA's is
// not documented); they hold everything, so a kernel may copy a map, edit it with tensormap.replace and use the copy.
//   0  "tcmap1"        8  global address (8)     16 dims (5 x 8; up to 2^32)     56 strides of dimensions 1-4 (4 x 8)
//   88 box (5 x 2)     98 element strides (5)    103 rank       104 element type (numbers of
//   tensormap.replace.elemtype) 105 interleave     106 swizzle    107 swizzle atomicity    108 fill: 1 NaN     109
//   im2col 110 lower corner (3 x 2)   116 upper corner (3 x 2)   122 channels (2)   124 pixels (2)   126 number of its
//   name (2)
// What cuTensorMapEncodeTiled and ...Im2col would refuse is refused here, with the same limits (TMA-20 ... TMA-43).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/manifest.h"
#include "specs/swizzle.h"
#include "specs/tma.h"

namespace tc::sim {

using TensorMapBytes = std::array<uint8_t, kTensorMapBytes>;

struct TensorMap {
  uint64_t address = 0;
  std::array<uint64_t, kTmaMaxRank> dims{}, strides{};  // strides in bytes; strides[0] is not used
  std::array<uint32_t, kTmaMaxRank> box{}, steps{};     // steps[0] counts as 1
  uint32_t rank = 0;
  TmaType type = TmaType::u8;
  uint32_t interleave = 0, atomicity = 0;
  SwizzleMode swizzle = SwizzleMode::none;
  bool nan_fill = false;
  bool im2col = false;
  std::array<int32_t, 3> lower{}, upper{};  // corners of the box of base pixels: W, H, D
  uint32_t channels = 0, pixels = 0;
  uint32_t name = 0;  // index into Launch::map_names; kUnnamed: made on the device
  static constexpr uint32_t kUnnamed = UINT16_MAX;

  uint32_t element_bytes() const { return row(type).bytes; }
  // Elements of dimension d that a box takes.
  uint32_t count(uint32_t d) const { return d == 0 || steps[d] == 0 ? box[d] : (box[d] + steps[d] - 1) / steps[d]; }
  uint64_t row_bytes() const { return uint64_t{im2col ? channels : count(0)} * element_bytes(); }
  uint64_t rows() const {
    uint64_t n = im2col ? pixels : 1;
    for (uint32_t d = 1; d < rank && !im2col; ++d) n *= count(d);
    return n;
  }
  uint64_t box_bytes() const { return row_bytes() * rows(); }  // what completes on the mbarrier (TX-04, TX-05)
};

// The limit that a map breaks.
struct TensorMapFault {
  const char* rule;  // nullptr: not a broken rule but a map that is not supported
  std::string message;
};
std::optional<TensorMapFault> check_tensor_map(const TensorMap& m);

TensorMapBytes encode_tensor_map(const TensorMap& m);
// Nothing where the bytes are no map.
std::optional<TensorMap> decode_tensor_map(const uint8_t* bytes);
// The same for tensormap.replace, which may start from zeros: kernels that make their maps (Triton's) clear 128 bytes of
// shared memory and replace every field.
std::optional<TensorMap> decode_for_replacement(const uint8_t* bytes);

// The map of a launch parameter. The rule id of the Diag names the limit that is broken; its kind is violation.
Result<TensorMap> make_tensor_map(const runtime::Param& param, uint64_t tensor_address);

// tensormap.replace: what may be replaced, and the size of the new value.
enum class MapField : uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode
};
struct MapFieldRow {
  MapField field;
  std::string_view name;
  uint8_t bits;
  bool ordinal;    // names a dimension
  bool immediate;  // the value must be one
  uint8_t most;    // of an immediate
};
inline constexpr std::array kMapFields = {
    MapFieldRow{MapField::global_address, "global_address", 64, false, false, 0},
    MapFieldRow{MapField::rank, "rank", 32, false, false, 0},
    MapFieldRow{MapField::box_dim, "box_dim", 32, true, false, 0},
    MapFieldRow{MapField::global_dim, "global_dim", 32, true, false, 0},
    MapFieldRow{MapField::global_stride, "global_stride", 64, true, false, 0},
    MapFieldRow{MapField::element_stride, "element_stride", 32, true, false, 0},
    MapFieldRow{MapField::elemtype, "elemtype", 32, false, true, 15},
    MapFieldRow{MapField::interleave_layout, "interleave_layout", 32, false, true, 2},
    MapFieldRow{MapField::swizzle_mode, "swizzle_mode", 32, false, true, 4},
    MapFieldRow{MapField::swizzle_atomicity, "swizzle_atomicity", 32, false, true, 3},
    MapFieldRow{MapField::fill_mode, "fill_mode", 32, false, true, 1},
};
void replace_field(TensorMap& m, MapField field, uint32_t ordinal, uint64_t value);

}  // namespace tc::sim
