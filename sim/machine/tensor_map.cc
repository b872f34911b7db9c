#include "sim/machine/tensor_map.h"

namespace tc::sim {
namespace {

struct Limit {
  const char* rule;
  bool holds;
  std::string message;
};

Diag refusal(const runtime::Param& param, const Limit& l) {
  Diag d;
  d.kind = DiagKind::violation;
  d.rule = l.rule;
  d.message = "tensor map '" + param.name + "' would be refused: " + l.message;
  return d;
}

uint64_t nan_of(runtime::DType t) {
  switch (t) {
    case runtime::DType::f16: return 0x7FFF;
    case runtime::DType::bf16: return 0x7FFF;
    case runtime::DType::f32: return 0x7FFFFFFF;
    case runtime::DType::f64: return 0x7FFFFFFFFFFFFFFF;
    default: return 0;
  }
}

}  // namespace

Result<TensorMap> make_tensor_map(const runtime::Param& param, uint64_t tensor_address) {
  const auto& a = std::get<runtime::TensorMapArg>(param.value);
  TensorMap m;
  m.name = param.name;
  m.rank = static_cast<uint32_t>(a.dims.size());
  if (m.rank < 1 || m.rank > kTmaMaxRank) return refusal(param, {"TMA-20", false, "rank " + std::to_string(m.rank)});
  m.element_bytes = runtime::row(a.dtype).bytes;
  m.address = tensor_address + a.offset_bytes;
  m.swizzle = static_cast<SwizzleMode>(a.swizzle);
  m.nan_fill = a.oob == runtime::OobFill::nan;
  m.nan_bits = nan_of(a.dtype);
  const uint64_t inner = uint64_t{a.box[0]} * m.element_bytes, span = row(m.swizzle).span_bytes;
  const std::string bytes = std::to_string(inner) + " bytes";
  std::vector<Limit> limits = {
      {"TMA-21", m.address % kTmaGlobalAlign == 0, "the global address is not 16-byte aligned"},
      {"TMA-25", inner % kTmaInnerAlign == 0, "the inner box extent of " + bytes + " is no multiple of 16"},
      {"TMA-28", span == 0 || inner <= span, "the inner box extent of " + bytes + " exceeds the swizzle span"},
      {"TMA-30", !m.nan_fill || m.nan_bits != 0, "NaN fill needs a float type"},
  };
  for (uint32_t i = 0; i < m.rank; ++i) {
    const std::string dim = "dimension " + std::to_string(i);
    m.dims[i] = a.dims[i];
    m.box[i] = a.box[i];
    m.steps[i] = i == 0 ? 1 : a.element_strides[i];
    m.strides[i] = i == 0 ? m.element_bytes : a.strides_bytes[i - 1];
    limits.push_back(
        {"TMA-22", m.dims[i] >= 1 && m.dims[i] <= kTmaMaxDim, dim + " has extent " + std::to_string(m.dims[i])});
    limits.push_back({"TMA-24", m.box[i] >= 1 && m.box[i] <= kTmaMaxBox, dim + " has box " + std::to_string(m.box[i])});
    limits.push_back({"TMA-27", a.element_strides[i] >= 1 && a.element_strides[i] <= kTmaMaxElementStride,
                      dim + " has element stride " + std::to_string(a.element_strides[i])});
    limits.push_back({"TMA-23", i == 0 || (m.strides[i] % kTmaGlobalAlign == 0 && m.strides[i] < kTmaMaxStrideBytes),
                      dim + " has a stride of " + std::to_string(m.strides[i]) + " bytes, no multiple of 16"});
    if (m.steps[i]) m.counts[i] = (m.box[i] + m.steps[i] - 1) / m.steps[i];
  }
  limits.push_back(
      {"TMA-26", m.box_bytes() <= kTmaMaxBoxBytes, "the box has " + std::to_string(m.box_bytes()) + " bytes"});
  for (const Limit& l : limits)
    if (!l.holds) return refusal(param, l);
  return m;
}

}  // namespace tc::sim
