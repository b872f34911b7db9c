#include "sim/machine/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tc::sim {
namespace {

constexpr std::string_view kMagic = "tcmap1";
enum Offset : size_t {
  kAddress = 8,
  kDims = 16,
  kStrides = 56,
  kBox = 88,
  kSteps = 98,
  kRank = 103,
  kType = 104,
  kInterleave = 105,
  kSwizzle = 106,
  kAtomicity = 107,
  kFill = 108,
  kMode = 109,
  kLower = 110,
  kUpper = 116,
  kChannels = 122,
  kPixels = 124,
  kName = 126
};

// Reads or writes an integer of `Wire` at a place of the bytes.
template <class Wire, class Value>
void put(TensorMapBytes& out, size_t at, Value value) {
  const auto wire = static_cast<Wire>(value);
  std::memcpy(out.data() + at, &wire, sizeof wire);
}
template <class Wire>
Wire get(const uint8_t* bytes, size_t at) {
  Wire wire;
  std::memcpy(&wire, bytes + at, sizeof wire);
  return wire;
}

TmaType type_of(runtime::DType t) {
  switch (t) {
    case runtime::DType::u8:
    case runtime::DType::e4m3:
    case runtime::DType::e5m2:
    case runtime::DType::i8: return TmaType::u8;
    case runtime::DType::u16:
    case runtime::DType::i16: return TmaType::u16;
    case runtime::DType::u32: return TmaType::u32;
    case runtime::DType::i32: return TmaType::s32;
    case runtime::DType::u64: return TmaType::u64;
    case runtime::DType::i64: return TmaType::s64;
    case runtime::DType::f16: return TmaType::f16;
    case runtime::DType::bf16: return TmaType::bf16;
    case runtime::DType::f32: return TmaType::f32;
    case runtime::DType::f64: return TmaType::f64;
  }
  return TmaType::u8;
}

std::string dimension(uint32_t d, const char* what, uint64_t value) {
  return "dimension " + std::to_string(d) + " has " + what + " " + std::to_string(value);
}

using Fault = std::optional<TensorMapFault>;

Fault check_dimension(const TensorMap& m, uint32_t d) {
  if (m.dims[d] < 1 || m.dims[d] > kTmaMaxDim) return {{"TMA-22", dimension(d, "extent", m.dims[d])}};
  if (m.steps[d] < 1 || m.steps[d] > kTmaMaxElementStride)
    return {{"TMA-27", dimension(d, "element stride", m.steps[d])}};
  if (d && (m.strides[d] % kTmaGlobalAlign || m.strides[d] >= kTmaMaxStrideBytes))
    return {{"TMA-23", dimension(d, "a stride of", m.strides[d]) + " bytes, no multiple of 16"}};
  if (!m.im2col && (m.box[d] < 1 || m.box[d] > kTmaMaxBox)) return {{"TMA-24", dimension(d, "box", m.box[d])}};
  return {};
}

Fault check_im2col(const TensorMap& m) {
  if (m.rank < kIm2colMinRank) return {{"TMA-40", "im2col with rank " + std::to_string(m.rank)}};
  const int32_t limit = kIm2colCorner[m.rank - kIm2colMinRank];
  for (uint32_t d = 0; d + 2 < m.rank; ++d) {
    const bool inside = m.lower[d] >= -limit && m.lower[d] < limit && m.upper[d] >= -limit && m.upper[d] < limit;
    if (!inside || m.lower[d] >= static_cast<int64_t>(m.dims[d + 1]) + m.upper[d])
      return {{"TMA-41", "the corners " + std::to_string(m.lower[d]) + " and " + std::to_string(m.upper[d]) +
                             " of dimension " + std::to_string(d + 1)}};
  }
  if (m.channels > kTmaMaxBox || m.pixels < 1 || m.pixels > kIm2colMaxPixels)
    return {{"TMA-42", std::to_string(m.channels) + " channels of " + std::to_string(m.pixels) + " pixels"}};
  return {};
}

}  // namespace

std::optional<TensorMapFault> check_tensor_map(const TensorMap& m) {
  if (m.rank < 1 || m.rank > kTmaMaxRank) return {{"TMA-20", "rank " + std::to_string(m.rank)}};
  if (row(m.type).bytes == 0) return {{nullptr, "elements narrower than a byte"}};
  if (m.interleave) return {{nullptr, "interleaved layouts"}};
  if (m.atomicity) return {{nullptr, "swizzles with atoms of 32 or 64 bytes"}};
  if (m.address % kTmaGlobalAlign) return {{"TMA-21", "the global address is not 16-byte aligned"}};
  for (uint32_t d = 0; d < m.rank; ++d)
    if (Fault f = check_dimension(m, d)) return f;
  if (m.im2col)
    if (Fault f = check_im2col(m)) return f;
  const uint64_t inner = uint64_t{m.im2col ? m.channels : m.box[0]} * m.element_bytes();
  const uint64_t span = row(m.swizzle).span_bytes;
  const std::string bytes = "the inner box extent of " + std::to_string(inner) + " bytes";
  if (inner == 0 || inner % kTmaInnerAlign) return {{m.im2col ? "TMA-42" : "TMA-25", bytes + " is no multiple of 16"}};
  if (span && inner > span) return {{m.im2col ? "TMA-42" : "TMA-28", bytes + " exceeds the swizzle span"}};
  if (m.nan_fill && !row(m.type).nan) return {{"TMA-30", "NaN fill needs a float type"}};
  if (m.box_bytes() > kTmaMaxBoxBytes) return {{"TMA-26", "the box has " + std::to_string(m.box_bytes()) + " bytes"}};
  return {};
}

TensorMapBytes encode_tensor_map(const TensorMap& m) {
  TensorMapBytes out{};
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  put<uint64_t>(out, kAddress, m.address);
  for (uint32_t d = 0; d < kTmaMaxRank; ++d) {
    put<uint64_t>(out, kDims + 8 * d, m.dims[d]);
    if (d) put<uint64_t>(out, kStrides + 8 * (d - 1), m.strides[d]);
    put<uint16_t>(out, kBox + 2 * d, std::min<uint32_t>(m.box[d], UINT16_MAX));
    put<uint8_t>(out, kSteps + d, std::min<uint32_t>(m.steps[d], UINT8_MAX));
  }
  put<uint8_t>(out, kRank, m.rank);
  put<uint8_t>(out, kType, m.type);
  put<uint8_t>(out, kInterleave, m.interleave);
  put<uint8_t>(out, kSwizzle, m.swizzle);
  put<uint8_t>(out, kAtomicity, m.atomicity);
  put<uint8_t>(out, kFill, m.nan_fill);
  put<uint8_t>(out, kMode, m.im2col);
  for (uint32_t d = 0; d < 3; ++d)
    put<int16_t>(out, kLower + 2 * d, m.lower[d]), put<int16_t>(out, kUpper + 2 * d, m.upper[d]);
  put<uint16_t>(out, kChannels, m.channels);
  put<uint16_t>(out, kPixels, m.pixels);
  put<uint16_t>(out, kName, m.name);
  return out;
}

std::optional<TensorMap> decode_tensor_map(const uint8_t* bytes) {
  if (std::memcmp(bytes, kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  TensorMap m;
  m.address = get<uint64_t>(bytes, kAddress);
  for (uint32_t d = 0; d < kTmaMaxRank; ++d) {
    m.dims[d] = get<uint64_t>(bytes, kDims + 8 * d);
    if (d) m.strides[d] = get<uint64_t>(bytes, kStrides + 8 * (d - 1));
    m.box[d] = get<uint16_t>(bytes, kBox + 2 * d);
    m.steps[d] = get<uint8_t>(bytes, kSteps + d);
  }
  m.rank = bytes[kRank];
  if (bytes[kType] >= kTmaTypes.size() || bytes[kSwizzle] >= kSwizzles.size()) return std::nullopt;
  m.type = static_cast<TmaType>(bytes[kType]);
  m.interleave = bytes[kInterleave];
  m.swizzle = static_cast<SwizzleMode>(bytes[kSwizzle]);
  m.atomicity = bytes[kAtomicity];
  m.nan_fill = bytes[kFill], m.im2col = bytes[kMode];
  for (uint32_t d = 0; d < 3; ++d)
    m.lower[d] = get<int16_t>(bytes, kLower + 2 * d), m.upper[d] = get<int16_t>(bytes, kUpper + 2 * d);
  m.channels = get<uint16_t>(bytes, kChannels), m.pixels = get<uint16_t>(bytes, kPixels);
  m.name = get<uint16_t>(bytes, kName);
  return m;
}

std::optional<TensorMap> decode_for_replacement(const uint8_t* bytes) {
  if (std::any_of(bytes, bytes + kTensorMapBytes, [](uint8_t b) { return b != 0; })) return decode_tensor_map(bytes);
  TensorMap blank;
  blank.name = TensorMap::kUnnamed;
  return blank;
}

Result<TensorMap> make_tensor_map(const runtime::Param& param, uint64_t tensor_address) {
  const auto& a = std::get<runtime::TensorMapArg>(param.value);
  TensorMap m;
  m.rank = static_cast<uint32_t>(a.dims.size());
  m.type = type_of(a.dtype);
  m.address = tensor_address + a.offset_bytes;
  m.swizzle = static_cast<SwizzleMode>(a.swizzle);
  m.nan_fill = a.oob == runtime::OobFill::nan;
  m.im2col = a.pixels != 0;
  m.channels = a.channels, m.pixels = a.pixels;
  for (uint32_t d = 0; d < m.rank && d < kTmaMaxRank; ++d) {
    m.dims[d] = a.dims[d];
    m.steps[d] = a.element_strides[d];
    if (!m.im2col) m.box[d] = a.box[d];
    if (d) m.strides[d] = a.strides_bytes[d - 1];
  }
  for (uint32_t d = 0; d < 3 && d < a.lower.size() && d < a.upper.size(); ++d)
    m.lower[d] = a.lower[d], m.upper[d] = a.upper[d];
  const auto fault = check_tensor_map(m);
  if (!fault) return m;
  Diag d;
  d.kind = fault->rule ? DiagKind::violation : DiagKind::unsupported;
  if (fault->rule) d.rule = fault->rule;
  d.message = "tensor map '" + param.name + "' would be refused: " + fault->message;
  return d;
}

void replace_field(TensorMap& m, MapField field, uint32_t ordinal, uint64_t value) {
  const auto small = static_cast<uint32_t>(value);
  const uint32_t d = std::min(ordinal, kTmaMaxRank - 1);
  switch (field) {
    case MapField::global_address: m.address = value; break;
    case MapField::rank: m.rank = small + 1; break;
    case MapField::box_dim: m.box[d] = small; break;
    case MapField::global_dim: m.dims[d] = small; break;
    case MapField::global_stride: m.strides[std::min(d + 1, kTmaMaxRank - 1)] = value; break;
    case MapField::element_stride: m.steps[d] = small; break;
    case MapField::elemtype: m.type = static_cast<TmaType>(small); break;
    case MapField::interleave_layout: m.interleave = small; break;
    case MapField::swizzle_mode: m.swizzle = static_cast<SwizzleMode>(small); break;
    case MapField::swizzle_atomicity: m.atomicity = small; break;
    case MapField::fill_mode: m.nan_fill = small; break;
  }
}

}  // namespace tc::sim
