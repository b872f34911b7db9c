#include "runtime/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "runtime/inputs.h"
#include "runtime/npy.h"

namespace tc::runtime {
namespace {

TEST(DType, HalfAgreesWithTheCompilerOnEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float v = half_to_float(static_cast<uint16_t>(code));
    const uint16_t h = static_cast<uint16_t>(code);
    _Float16 reference;
    std::memcpy(&reference, &h, 2);
    if (std::isnan(v)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(reference)));
      continue;
    }
    EXPECT_EQ(v, static_cast<float>(reference)) << code;
    EXPECT_EQ(float_to_half(v), code);
    uint16_t stored = 0;
    store_element(DType::f16, &stored, v);
    EXPECT_EQ(stored, code);
  }
}

TEST(DType, HalfRoundsToNearestEven) {
  for (uint64_t i = 0; i < 200000; ++i) {  // every magnitude around the range of f16
    const float v = std::bit_cast<float>(0x30000000u + static_cast<uint32_t>(splitmix64(i) % 0x18000000));
    const _Float16 want = static_cast<_Float16>(v);
    uint16_t bits;
    std::memcpy(&bits, &want, 2);
    ASSERT_EQ(float_to_half(v), bits) << v;
    uint16_t stored = 0;
    store_element(DType::f16, &stored, v);
    ASSERT_EQ(stored, bits) << v;
  }
  EXPECT_EQ(float_to_bf16(1.00390625f), 0x3F80);  // tie, to even
  EXPECT_EQ(float_to_bf16(1.01171875f), 0x3F82);
}

TEST(DType, SmallFloatsFollowTheOcpTable) {
  struct Case {
    DType type;
    uint8_t code;
    double value;
  };
  // Values from "OCP 8-bit Floating Point Specification", table of special and extreme values.
  constexpr Case kCases[] = {{DType::e4m3, 0x7E, 448},     {DType::e4m3, 0x08, 0x1p-6}, {DType::e4m3, 0x01, 0x1p-9},
                             {DType::e4m3, 0x38, 1},       {DType::e5m2, 0x7B, 57344},  {DType::e5m2, 0x04, 0x1p-14},
                             {DType::e5m2, 0x01, 0x1p-16}, {DType::e5m2, 0xBC, -1},     {DType::e5m2, 0x7C, INFINITY}};
  for (const Case& c : kCases) {
    EXPECT_EQ(load_element(c.type, &c.code), c.value);
    uint8_t back = 0;
    store_element(c.type, &back, c.value);
    EXPECT_EQ(back, c.code);
  }
  for (int code = 0; code < 256; ++code)
    for (DType t : {DType::e4m3, DType::e5m2}) {
      uint8_t in = static_cast<uint8_t>(code), out = 0;
      const double v = load_element(t, &in);
      store_element(t, &out, v);
      if (!std::isnan(v)) {
        EXPECT_EQ(in, out);
      }
    }
}

TEST(Inputs, AreReproducibleAndDistributed) {
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFu);  // first output for state 0, published test value
  TensorSpec spec{"A", DType::f32, {100, 1000}, Role::in, Fill::normal, 3};
  Tensor a = make_tensor(spec);
  EXPECT_EQ(a, make_tensor(spec));
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < a.elements(); ++i) sum += a.at(i), squares += a.at(i) * a.at(i);
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  spec.seed = 4;
  EXPECT_NE(a.bytes, make_tensor(spec).bytes);
  spec = {"B", DType::f16, {900}, Role::in, Fill::ints, 0};
  Tensor b = make_tensor(spec);
  std::array<int, 9> seen{};
  for (uint64_t i = 0; i < 900; ++i) ++seen.at(static_cast<size_t>(b.at(i) + 4));
  for (int n : seen) EXPECT_GT(n, 60);
  Tensor poison = make_tensor({"C", DType::f32, {4}, Role::out, Fill::nan, 0});
  EXPECT_TRUE(std::isnan(poison.at(3)));
}

TEST(Inputs, GivenTensorsAreChecked) {
  auto m = parse_manifest("launch: kernel=k grid=1 block=32\ntensor: A f16 shape=4\narg: A buffer of=A\n");
  ASSERT_TRUE(m.ok());
  Tensor t{"A", DType::f32, {4}, std::vector<uint8_t>(16)};
  EXPECT_NE(make_inputs(*m, {t}).error().message.find("needs 4 elements of f16"), std::string::npos);
  t.name = "B";
  EXPECT_EQ(make_inputs(*m, {t}).error().message, "no tensor is named 'B'");
}

TEST(Npy, RoundTripAndRefusals) {
  const std::string path = std::filesystem::temp_directory_path() / "tilecheck_npy_test.npy";
  for (const DTypeRow& r : kDTypes) {
    Tensor t = make_tensor({"x", r.dtype, {3, 5}, Role::in, Fill::ints, 1});
    ASSERT_TRUE(write_npy(path, t).ok());
    auto back = read_npy(path, r.dtype);
    ASSERT_TRUE(back.ok()) << back.error().message;
    back->name = "x";
    EXPECT_EQ(*back, t);
  }
  std::filesystem::resize_file(path, 100);
  EXPECT_FALSE(read_npy(path).ok());
  std::filesystem::remove(path);
  EXPECT_FALSE(read_npy(path).ok());
}

TEST(Distance, CountsOnlyWhatDiffers) {
  Tensor a = make_tensor({"x", DType::f32, {4}, Role::in, Fill::mod3, 0}), b = a;
  EXPECT_EQ(distance(a, b).relative, 0);
  b.set(1, 1.5);
  EXPECT_NEAR(distance(b, a).relative, 0.5 / std::sqrt(5), 1e-12);
  b.set(2, NAN);
  EXPECT_FALSE(distance(b, a).finite);
  EXPECT_EQ(digest(Tensor{}), "cbf29ce484222325");
  EXPECT_EQ(digest(Tensor{"", DType::u8, {1}, {'a'}}), "af63dc4c8601ec8c");  // published FNV-1a vector
}

struct SmallCase {
  const char* name;
  SmallFloat format;
  double largest, smallest;  // as the formats' documents give them: OCP 8-bit and MX formats, LLVM's APFloat
};
const SmallCase kSmallFloats[] = {
    {"e4m3fn", {4, 3, 7, SmallForm::fn}, 448, 0x1p-9},
    {"e5m2", {5, 2, 15, SmallForm::ieee}, 57344, 0x1p-16},
    {"e4m3", {4, 3, 7, SmallForm::ieee}, 240, 0x1p-9},
    {"e3m4", {3, 4, 3, SmallForm::ieee}, 15.5, 0x1p-6},
    {"e4m3fnuz", {4, 3, 8, SmallForm::fnuz}, 240, 0x1p-10},
    {"e5m2fnuz", {5, 2, 16, SmallForm::fnuz}, 57344, 0x1p-17},
    {"e4m3b11fnuz", {4, 3, 11, SmallForm::fnuz}, 30, 0x1p-13},
    {"e2m3", {2, 3, 1, SmallForm::finite}, 7.5, 0.125},
    {"e3m2", {3, 2, 3, SmallForm::finite}, 28, 0.0625},
    {"e2m1", {2, 1, 1, SmallForm::finite}, 6, 0.5},
};

TEST(SmallFloat, EveryCodeComesBackAndBetweenTwoTheNearerIsTaken) {
  for (const SmallCase& c : kSmallFloats) {
    const uint32_t count = 1u << (c.format.exp_bits + c.format.man_bits);
    double before = 0, largest = 0, smallest = 1e9;
    for (uint32_t code = 0; code < 2 * count; ++code) {
      const double v = decode_small(c.format, code);
      if (std::isnan(v)) continue;
      EXPECT_EQ(encode_small(c.format, v), code) << c.name;
      if (code >= count || std::isinf(v)) continue;
      largest = std::max(largest, v);
      if (v > 0) smallest = std::min(smallest, v);
      if (code > 0) {
        const double middle = (before + v) / 2;
        EXPECT_GT(v, before) << c.name;
        EXPECT_EQ(encode_small(c.format, middle), code % 2 ? code - 1 : code) << c.name << " to even";
        EXPECT_EQ(encode_small(c.format, middle + (v - before) / 8), code) << c.name;
        EXPECT_EQ(encode_small(c.format, middle - (v - before) / 8), code - 1) << c.name;
      }
      before = v;
    }
    EXPECT_EQ(largest, c.largest) << c.name;
    EXPECT_EQ(smallest, c.smallest) << c.name;
    const double beyond = decode_small(c.format, encode_small(c.format, 4 * largest));
    if (c.format.form == SmallForm::ieee) EXPECT_TRUE(std::isinf(beyond)) << c.name;
    else if (c.format.form == SmallForm::finite) EXPECT_EQ(beyond, largest) << c.name;
    else EXPECT_TRUE(std::isnan(beyond)) << c.name;
  }
}

}  // namespace
}  // namespace tc::runtime
