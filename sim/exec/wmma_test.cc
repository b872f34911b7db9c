// Kernels of <mma.h> as nvcc 13.0 compiles them (testdata/ptx/wmma/kernels.ptx, from kernels.cu beside it), against
// plain loops over the matrices in memory: every shape and type, row-major and column-major operands. The kernels
// double what they accumulated element by element and store it column-major.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "runtime/inputs.h"
#include "sim/api.h"

namespace tc::sim {
namespace {

using runtime::DType;

struct Case {
  const char* name;
  uint32_t m, n, k;
  const char *ab, *c;  // element types in memory
  char layout_a, layout_b;
  uint32_t bits;  // of an element of A and B
};
const Case kCases[] = {
    {"f16_16_rr", 16, 16, 16, "f16", "f32", 'r', 'r', 16},  {"f16_16_cc", 16, 16, 16, "f16", "f32", 'c', 'c', 16},
    {"f16_32_rc", 32, 8, 16, "f16", "f32", 'r', 'c', 16},   {"f16_8_cr", 8, 32, 16, "f16", "f32", 'c', 'r', 16},
    {"h16_16_rc", 16, 16, 16, "f16", "f16", 'r', 'c', 16},  {"bf16_16_rc", 16, 16, 16, "bf16", "f32", 'r', 'c', 16},
    {"bf16_32_cr", 32, 8, 16, "bf16", "f32", 'c', 'r', 16}, {"s8_16_rr", 16, 16, 16, "i8", "i32", 'r', 'r', 8},
    {"u8_8_cc", 8, 32, 16, "u8", "i32", 'c', 'c', 8},       {"s8_32_rc", 32, 8, 16, "i8", "i32", 'r', 'c', 8},
    {"tf32_16_rc", 16, 16, 8, "f32", "f32", 'r', 'c', 32},  {"tf32_16_cr", 16, 16, 8, "f32", "f32", 'c', 'r', 32},
    {"f64_8_rr", 8, 8, 4, "f64", "f64", 'r', 'r', 64},      {"f64_8_cc", 8, 8, 4, "f64", "f64", 'c', 'c', 64},
    {"s4_8", 8, 8, 32, "u8", "i32", 'r', 'c', 4},           {"b1_8", 8, 8, 128, "u8", "i32", 'r', 'c', 1},
};

double element(const runtime::Tensor& t, const Case& c, size_t i) {
  if (c.bits >= 8) return t.at(i);
  const uint32_t raw = t.bytes[i * c.bits / 8] >> (i * c.bits % 8) & ((1u << c.bits) - 1);
  return c.bits == 4 ? static_cast<int>(raw ^ 8) - 8 : static_cast<int>(raw);
}

TEST(Wmma, KernelsOfNvccAgreeWithPlainLoops) {
  std::ifstream in(std::string(TESTDATA) + "/ptx/wmma/kernels.ptx");
  std::stringstream text;
  text << in.rdbuf();
  auto module = ptx::parse(text.str(), "wmma.ptx");
  ASSERT_TRUE(module.ok()) << render(module.error());
  for (const Case& c : kCases) {
    const size_t a_size = c.m * c.k, b_size = c.k * c.n, per_byte = c.bits < 8 ? 8 / c.bits : 1;
    std::string params;
    for (const char* p : {"a", "b", "c", "d"}) params += std::string("arg: ") + p + " buffer of=" + p + "\n";
    auto m =
        runtime::parse_manifest(std::string("launch: kernel=") + c.name + " grid=1 block=32\ntensor: a " + c.ab +
                                " shape=" + std::to_string(a_size / per_byte) + " fill=ints seed=1\ntensor: b " + c.ab +
                                " shape=" + std::to_string(b_size / per_byte) + " fill=ints seed=2\ntensor: c " + c.c +
                                " shape=" + std::to_string(c.m * c.n) + " fill=ints seed=3\ntensor: d " + c.c +
                                " shape=" + std::to_string(c.m * c.n) + " role=out\n" + params);
    ASSERT_TRUE(m.ok()) << m.error().message;
    auto inputs = runtime::make_inputs(*m);
    auto r = run(*module, *m, {}, {});
    ASSERT_TRUE(r.ok()) << c.name << render(r.error());
    ASSERT_EQ(r->outcome, Outcome::clean) << c.name << render(r->findings[0]);
    const runtime::Tensor &a = (*inputs)[0], &b = (*inputs)[1], &acc = (*inputs)[2];
    int wrong = 0;
    for (uint32_t i = 0; i < c.m; ++i)
      for (uint32_t j = 0; j < c.n; ++j) {
        double want = acc.at(i * c.n + j);
        for (uint32_t x = 0; x < c.k; ++x) {
          const double u = element(a, c, c.layout_a == 'r' ? i * c.k + x : x * c.m + i),
                       v = element(b, c, c.layout_b == 'r' ? x * c.n + j : j * c.k + x);
          want += c.bits == 1 ? static_cast<double>(u != v) : u * v;
        }
        wrong += r->outputs[0].at(j * c.m + i) != 2 * want;
      }
    EXPECT_EQ(wrong, 0) << c.name;
  }
}

}  // namespace
}  // namespace tc::sim
