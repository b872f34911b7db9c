// A tensor map as the machine uses it, made from the manifest; what cuTensorMapEncodeTiled would refuse is refused
// here, with the same limits (TMA-20 ... TMA-31).
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/manifest.h"
#include "specs/swizzle.h"
#include "specs/tma.h"

namespace tc::sim {

struct TensorMap {
  uint32_t rank = 0;
  uint32_t element_bytes = 0;
  uint64_t address = 0;
  std::array<uint64_t, kTmaMaxRank> dims{}, strides{};         // strides[0] = element size
  std::array<uint32_t, kTmaMaxRank> box{}, steps{}, counts{};  // counts = ceil(box / step); steps[0] counts as 1
  SwizzleMode swizzle = SwizzleMode::none;
  bool nan_fill = false;
  uint64_t nan_bits = 0;
  std::string name;

  uint64_t row_bytes() const { return uint64_t{counts[0]} * element_bytes; }
  uint64_t rows() const {
    uint64_t n = 1;
    for (uint32_t i = 1; i < rank; ++i) n *= counts[i];
    return n;
  }
  uint64_t box_bytes() const { return row_bytes() * rows(); }  // what completes on the mbarrier (TX-04)
};

// The rule id of the Diag names the limit that is broken; its kind is violation.
Result<TensorMap> make_tensor_map(const runtime::Param& param, uint64_t tensor_address);

}  // namespace tc::sim
