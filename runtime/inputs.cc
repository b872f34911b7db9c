#include "runtime/inputs.h"

#include <cmath>
#include <cstring>

namespace tc::runtime {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

uint64_t stream_key(const TensorSpec& spec) {
  uint64_t h = 0xcbf29ce484222325;
  for (char c : spec.name) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return splitmix64(h + spec.seed);
}

double normal(uint64_t bits) {
  constexpr double kScale = 0x1p-32, kTwoPi = 6.283185307179586;
  const double u = (static_cast<double>(bits >> 32) + 0.5) * kScale,
               v = static_cast<double>(bits & 0xFFFFFFFF) * kScale;
  return std::sqrt(-2 * std::log(u)) * std::cos(kTwoPi * v);
}

double small_int(uint64_t bits, DType type) {
  if (type == DType::u8) return static_cast<double>(bits & 255);
  const double v = static_cast<double>((bits >> 32) % 9);
  return row(type).is_signed ? v - 4 : v;
}

}  // namespace

uint64_t splitmix64(uint64_t state) {
  uint64_t z = state + kGolden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

void fill_elements(const TensorSpec& spec, uint64_t first, uint64_t n, uint8_t* to) {
  const uint64_t key = stream_key(spec);
  const size_t bytes = row(spec.dtype).bytes;
  auto bits = [&](uint64_t i) { return splitmix64(key + i * kGolden); };
  auto each = [&](auto value) {
    for (uint64_t i = 0; i < n; ++i) store_element(spec.dtype, to + i * bytes, value(first + i));
  };
  switch (spec.fill) {
    case Fill::normal: return each([&](uint64_t i) { return normal(bits(i)); });
    case Fill::ints: return each([&](uint64_t i) { return small_int(bits(i), spec.dtype); });
    case Fill::mod3: return each([](uint64_t i) { return static_cast<double>(i % 3); });
    case Fill::zero: return void(std::memset(to, 0, n * bytes));
    case Fill::nan: return void(std::memset(to, 0xFF, n * bytes));
  }
}

Tensor make_tensor(const TensorSpec& spec) {
  Tensor t{spec.name, spec.dtype, spec.shape, std::vector<uint8_t>(spec.bytes())};
  fill_elements(spec, 0, spec.elements(), t.bytes.data());
  return t;
}

Expected<std::vector<Tensor>> make_inputs(const Manifest& manifest, const std::vector<Tensor>& given) {
  for (const Tensor& g : given)
    if (!manifest.tensor_named(g.name)) return Error{"no tensor is named '" + g.name + "'"};
  std::vector<Tensor> out;
  for (const TensorSpec& spec : manifest.tensors) {
    const Tensor* g = tensor_named(given, spec.name);
    if (g && (g->dtype != spec.dtype || g->elements() != spec.elements()))
      return Error{"'" + spec.name + "' needs " + std::to_string(spec.elements()) + " elements of " +
                   std::string(row(spec.dtype).name) + ", given are " + std::to_string(g->elements()) + " of " +
                   std::string(row(g->dtype).name)};
    if (g) {
      out.push_back(*g);
      out.back().shape = spec.shape;
    } else {
      out.push_back(make_tensor(spec));
    }
  }
  return out;
}

}  // namespace tc::runtime
