// The one input generator: fills a tensor as its manifest line says. Counter-based, so element i depends on
// (name, seed, i) alone and any part can be made anywhere in any order.
//   key(name, seed) = splitmix64(fnv1a(name) + seed),   bits(i) = splitmix64(key + i * 0x9E3779B97F4A7C15)
//   normal: u = (high 32 bits + 0.5) / 2^32, v = low 32 bits / 2^32, sqrt(-2 ln u) * cos(2 pi v), rounded to the dtype
//   ints:   high 32 bits mod 9, minus 4 (unsigned types: without the minus; u8: low byte)
// splitmix64 is the finaliser of Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014):
// splitmix64(0) = 0xE220A8397B1DCDAF.
#pragma once
#include <vector>

#include "runtime/manifest.h"
#include "runtime/tensor.h"

namespace tc::runtime {

uint64_t splitmix64(uint64_t state);
Tensor make_tensor(const TensorSpec& spec);
// Elements [first, first + n) of that tensor alone; `to` has room for them.
void fill_elements(const TensorSpec& spec, uint64_t first, uint64_t n, uint8_t* to);
// One tensor for each of the manifest, in its order; `given` replaces those of the same name.
// Fails: a given tensor of another dtype or element count, or of no tensor's name.
Expected<std::vector<Tensor>> make_inputs(const Manifest& manifest, const std::vector<Tensor>& given = {});

}  // namespace tc::runtime
