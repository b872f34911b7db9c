#include "runtime/tensor.h"

#include <cmath>
#include <cstdio>

namespace tc::runtime {

std::string digest(const Tensor& tensor) {
  uint64_t h = 0xcbf29ce484222325;
  for (uint8_t b : tensor.bytes) h = (h ^ b) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

const Tensor* tensor_named(const std::vector<Tensor>& tensors, std::string_view name) {
  for (const Tensor& t : tensors)
    if (t.name == name) return &t;
  return nullptr;
}

Distance distance(const Tensor& got, const Tensor& want) {
  Distance d;
  d.comparable = got.elements() == want.elements();
  if (!d.comparable) return d;
  double error = 0, norm = 0;
  d.finite = true;
  for (uint64_t i = 0; i < got.elements(); ++i) {
    const double a = got.at(i), b = want.at(i), e = std::fabs(a - b);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      // Equal infinities and NaN against NaN are what was wanted; anything else is not comparable by a norm.
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      d.finite = false, d.largest_at = i, d.largest = INFINITY, d.relative = INFINITY;
      return d;
    }
    if (e > d.largest) d.largest = e, d.largest_at = i;
    error += e * e, norm += b * b;
  }
  d.relative = error == 0 ? 0 : norm == 0 ? INFINITY : std::sqrt(error / norm);
  return d;
}

}  // namespace tc::runtime
