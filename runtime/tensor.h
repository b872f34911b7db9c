// A host tensor: bytes, element type, row-major shape (last dimension contiguous). What inputs, outputs and .npy files
// are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/dtype.h"

namespace tc::runtime {

struct Tensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;

  uint64_t elements() const { return bytes.size() / row(dtype).bytes; }
  double at(uint64_t i) const { return load_element(dtype, bytes.data() + i * row(dtype).bytes); }
  void set(uint64_t i, double v) { store_element(dtype, bytes.data() + i * row(dtype).bytes, v); }
  bool operator==(const Tensor&) const = default;
};

// FNV-1a, 64 bits, over the bytes of the elements, as 16 hex digits. Of no bytes: cbf29ce484222325.
std::string digest(const Tensor& tensor);
const Tensor* tensor_named(const std::vector<Tensor>& tensors, std::string_view name);

// How far two tensors of equal shape are apart: the norm of the difference over the norm of `want` (L2), and the
// largest single difference with its index. NaN anywhere gives `finite` = false.
struct Distance {
  bool comparable = false;  // same element count
  bool finite = false;
  double relative = 0, largest = 0;
  uint64_t largest_at = 0;
};
Distance distance(const Tensor& got, const Tensor& want);

}  // namespace tc::runtime
