// cvt to and from 4- and 6-bit floats and scales. The reference knows a format as the list of its values: what is nearest
// is searched for, ties go to the even pattern.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "sim/api.h"

namespace tc::sim {
namespace {

constexpr uint32_t kThreads = 256;

// out[t] = `body` of in[t]: %f1 (upper), %f0 (lower) or the bits %r0 and %r1 of them; result in %r9, %h9 or %b9.
std::vector<uint32_t> converted(const std::string& body, const std::vector<std::array<float, 2>>& in,
                                const std::string& target = "sm_120a") {
  const std::string text =
      ".version 8.6\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b8 %b<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 8;\n"
      "add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2; ld.global.v2.f32 {%f0, %f1}, [%rd0];\n"
      "mov.b32 %r0, %f0; cvt.u16.u32 %h0, %r0; cvt.u8.u32 %b0, %r0;\n" + body +
      "\nst.global.b32 [%rd1], %r9;\nret;\n}\n";
  auto module = ptx::parse(text, "small.ptx");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : render(module.error()));
  auto m = runtime::parse_manifest("launch: kernel=k grid=1 block=256\ntensor: in f32 shape=256,2\n"
                                   "tensor: out u32 shape=256,2 role=out\narg: in buffer of=in\narg: out buffer of=out\n");
  EXPECT_TRUE(m.ok());
  runtime::Tensor t{"in", runtime::DType::f32, {kThreads, 2}, std::vector<uint8_t>(8 * kThreads)};
  std::memcpy(t.bytes.data(), in.data(), std::min<size_t>(in.size(), kThreads) * 8);
  auto r = run(*module, *m, {t}, {});
  if (!r.ok()) return {};
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < kThreads; ++k) {
    uint32_t v;
    std::memcpy(&v, &r->outputs[0].bytes[8 * k], 4);
    out.push_back(v);
  }
  return out;
}

struct Small {
  std::string name;
  int exponent_bits, mantissa_bits, bias, stride;  // stride: bits between the two values
  std::string narrow, widen;                       // a register of the pair as a word, a word as the pair
  std::vector<double> magnitudes() const {
    std::vector<double> out;
    for (int e = 0; e < 1 << exponent_bits; ++e)
      for (int m = 0; m < 1 << mantissa_bits; ++m)
        out.push_back(std::ldexp((e ? 1 << mantissa_bits : 0) + m, (e ? e : 1) - bias - mantissa_bits));
    return out;
  }
  uint32_t nearest(float v) const {
    const std::vector<double> all = magnitudes();
    if (v != v) return static_cast<uint32_t>(all.size() - 1);
    size_t best = 0;
    for (size_t k = 1; k < all.size(); ++k) {
      const double now = std::fabs(std::fabs(double{v}) - all[k]), before = std::fabs(std::fabs(double{v}) - all[best]);
      if (now < before || (now == before && k % 2 == 0)) best = k;
    }
    if (std::fabs(v) >= all.back()) best = all.size() - 1;
    return static_cast<uint32_t>(best | (std::signbit(v) ? all.size() : 0));
  }
};
const Small kFormats[] = {{"e2m1x2", 2, 1, 1, 4, "cvt.u32.u8 %r9, %b9;", "%b0"},
                          {"e2m3x2", 2, 3, 1, 8, "cvt.u32.u16 %r9, %h9;", "%h0"},
                          {"e3m2x2", 3, 2, 3, 8, "cvt.u32.u16 %r9, %h9;", "%h0"}};

std::vector<std::array<float, 2>> operands() {
  std::vector<std::array<float, 2>> out = {{NAN, INFINITY}, {-INFINITY, -0.0f}, {0x1p-149f, -1e30f}, {448, 28}, {-7.5f, 6.5f}};
  for (int k = 0; out.size() < kThreads; ++k) out.push_back({static_cast<float>(k - 128) / 32, static_cast<float>(k) / 64});
  return out;
}

TEST(SmallFloats, AreRoundedToTheNearestValue) {
  const auto in = operands();
  for (const Small& s : kFormats) {
    const std::string result = s.stride == 4 ? "%b9" : "%h9";
    const auto got = converted("cvt.rn.satfinite." + s.name + ".f32 " + result + ", %f1, %f0;" + s.narrow, in);
    ASSERT_EQ(got.size(), kThreads) << s.name;
    for (uint32_t t = 0; t < kThreads; ++t)
      EXPECT_EQ(got[t], s.nearest(in[t][1]) << s.stride | s.nearest(in[t][0])) << s.name << " " << in[t][0] << " " << in[t][1];
  }
}

TEST(SmallFloats, BecomeHalvesExactly) {
  for (const Small& s : kFormats) {
    const std::vector<double> all = s.magnitudes();
    std::vector<std::array<float, 2>> in;
    for (uint32_t p = 0; p < 2 * all.size(); ++p)
      in.push_back({std::bit_cast<float>(p << s.stride | (p ^ 1)), 0.0f});
    in.resize(kThreads);
    for (const uint32_t upper : {0u, 16u}) {
      const auto got = converted("cvt.rn.f16x2." + s.name + " %r1, " + s.widen + ";\nshr.u32 %r1, %r1, " + std::to_string(upper) +
                                     ";\ncvt.u16.u32 %h1, %r1;\ncvt.f32.f16 %f2, %h1;\nmov.b32 %r9, %f2;", in);
      ASSERT_EQ(got.size(), kThreads) << s.name;
      for (uint32_t p = 0; p < 2 * all.size(); ++p) {
        const uint32_t pattern = upper ? p : p ^ 1;
        const double want = pattern < all.size() ? all[pattern] : -all[pattern - all.size()];
        EXPECT_EQ(std::bit_cast<float>(got[p]), static_cast<float>(want)) << s.name << " " << pattern;
      }
    }
  }
}

TEST(SmallFloats, ScalesArePowersOfTwo) {
  std::vector<std::array<float, 2>> in = {{3, -4}, {0, 0x1p-127f}, {0x1.8p-127f, 0x1p-128f}, {0x1.8p127f, INFINITY}, {NAN, 1}};
  in.resize(kThreads);
  // 2^(e - 127): 3 lies between 128 and 129.
  const std::vector<uint32_t> down = {0x8180, 0x0000, 0x0000, 0xFFFE, 0x7FFF}, up = {0x8181, 0x0000, 0x0001, 0xFFFF, 0x7FFF},
                              finite = {0x8181, 0x0000, 0x0001, 0xFEFE, 0x7FFF};
  const std::string tail = ".f32 %h9, %f1, %f0; cvt.u32.u16 %r9, %h9;";
  const auto rz = converted("cvt.rz.ue8m0x2" + tail, in), rp = converted("cvt.rp.ue8m0x2" + tail, in),
             sat = converted("cvt.rp.satfinite.ue8m0x2" + tail, in);
  ASSERT_EQ(rz.size() + rp.size() + sat.size(), 3 * kThreads);
  for (size_t k = 0; k < down.size(); ++k) {
    EXPECT_EQ(rz[k], down[k]) << k;
    EXPECT_EQ(rp[k], up[k]) << k;
    EXPECT_EQ(sat[k], finite[k]) << k;
  }
}

TEST(SmallFloats, NeedTheirTarget) {
  EXPECT_TRUE(converted("cvt.rz.ue8m0x2.f32 %h9, %f1, %f0; mov.u32 %r9, 0;", operands(), "sm_90a").empty());
  EXPECT_TRUE(converted("cvt.rz.ue8m0x2.f32 %h9, %f1, %f0; mov.u32 %r9, 0;", operands(), "sm_120").empty());
}

}  // namespace
}  // namespace tc::sim
