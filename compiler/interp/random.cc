// Random numbers: cuRAND's Philox4x32-10 (Salmon et al., SC'11), its uniform and its normal numbers (Box-Muller), as
// curand_kernel.h, curand_uniform.h and curand_normal.h of CUDA 13 define them.
//   counter 0, key 0: the first number is 0x6627E8D5, as float 0.39904642
// normal: sqrt(-2 ln u) sin(2 pi v), then the same with cos, of two numbers u and v; the second is kept for the next
// call.
#include <array>
#include <cmath>
#include <numbers>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

struct Philox {
  std::array<uint32_t, 4> counter{};
  std::array<uint32_t, 2> key{};
  uint32_t used = 0;
  bool has_normal = false, has_double = false;
  double normal = 0, normal_double = 0;  // kept for the next call

  std::array<uint32_t, 4> block() const {
    std::array<uint32_t, 4> x = counter;
    std::array<uint32_t, 2> k = key;
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k[0], static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ x[3] ^ k[1], static_cast<uint32_t>(a)};
      k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
    }
    return x;
  }
  void advance(uint64_t blocks) {
    uint64_t low = (uint64_t{counter[1]} << 32 | counter[0]) + blocks;
    counter[0] = static_cast<uint32_t>(low), counter[1] = static_cast<uint32_t>(low >> 32);
  }
  uint32_t next() {
    uint32_t v = block()[used];
    if (++used == 4) used = 0, advance(1);
    return v;
  }
};

// The state of a thread lies in a local array of its own, so that it follows the thread when groups split.
Philox& state(Call& c, size_t lane) {
  auto it = c.g.locals.find(c.cta.p.random_slot);
  if (it == c.g.locals.end()) stop(c.op, "T.rng_init has to come before random numbers");
  return *reinterpret_cast<Philox*>(it->second.of(c.g.iterations ? 0 : lane));
}

void rng_init(Call& c) {
  if (text_attr(c.op, "generator", "curandStatePhilox4_32_10_t") != "curandStatePhilox4_32_10_t")
    stop_unsupported(c.op, "a generator other than Philox4_32_10, in the tile interpreter");
  Local& local = c.g.locals[c.cta.p.random_slot];
  local.shape.bytes = sizeof(Philox);
  local.cells.resize(sizeof(Philox) * c.g.lanes);
  c.each([&](size_t l) {
    uint64_t seed = static_cast<uint64_t>(c.at(0, l).i), sequence = static_cast<uint64_t>(c.at(1, l).i),
             offset = static_cast<uint64_t>(c.at(2, l).i);
    Philox p;
    p.key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    p.counter[2] = static_cast<uint32_t>(sequence), p.counter[3] = static_cast<uint32_t>(sequence >> 32);
    p.advance(offset / 4);
    p.used = static_cast<uint32_t>(offset % 4);
    std::memcpy(local.of(l), &p, sizeof p);
  });
}

double uniform(Philox& p) { return static_cast<float>(static_cast<float>(p.next()) * 0x1p-32f + 0x1p-33f); }
double uniform_double(Philox& p) { return p.next() * 0x1p-32 + 0x1p-32; }

double normal(Philox& p) {
  if (p.has_normal) return p.has_normal = false, p.normal;
  const float two_pi = 2 * std::numbers::pi_v<float> * 0x1p-32f;
  uint32_t x = p.next(), y = p.next();
  float u = static_cast<float>(x) * 0x1p-32f + 0x1p-33f, v = static_cast<float>(y) * two_pi + two_pi / 2;
  float s = std::sqrt(-2.0f * std::log(u));
  p.normal = std::cos(v) * s;
  p.has_normal = true;
  return std::sin(v) * s;
}

// Of four numbers: those of curand4, which goes on in the middle of a block.
double normal_double(Philox& p) {
  if (p.has_double) return p.has_double = false, p.normal_double;
  std::array<uint64_t, 4> x{};
  for (uint64_t& n : x) n = p.next();
  double u = static_cast<double>(x[0] ^ x[1] << 21) * 0x1p-53 + 0x1p-54;
  double v = static_cast<double>(x[2] ^ x[3] << 21) * 0x1p-52 + 0x1p-53;
  double s = std::sqrt(-2.0 * std::log(u)), angle = v * std::numbers::pi;
  p.normal_double = std::cos(angle) * s;
  p.has_double = true;
  return std::sin(angle) * s;
}

void rand_float(Call& c) {
  bool is_double = c.cta.p.m[c.op.results[0]].type.dtype == DType::f64;
  bool is_normal = text_attr(c.op, "dist", "uniform") == "normal";
  auto draw = is_normal ? (is_double ? normal_double : normal) : is_double ? uniform_double : uniform;
  c.result([&](size_t l) { return of(draw(state(c, l))); });
}

constexpr CallRow kRows[] = {
    {"rng_init", rng_init},
    {"rng_rand", [](Call& c) { c.result([&](size_t l) { return of(int64_t{state(c, l).next()}); }); }, true},
    {"rng_rand_float", rand_float, true},
};
}  // namespace

std::span<const CallRow> random_rows() { return kRows; }

}  // namespace tc::ir::interp
