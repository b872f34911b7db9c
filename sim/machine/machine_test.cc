// The machine's parts against what an H200 did (driver 580, probe of 2026): sequences on an mbarrier, what
// cuTensorMapEncodeTiled accepts, where the chunks of a swizzled box go.
#include <gtest/gtest.h>

#include "sim/machine/mbarrier.h"
#include "sim/machine/memory.h"
#include "sim/machine/tensor_map.h"

namespace tc::sim {
namespace {

enum class Do { init, arrive, expect, complete, drop };
struct Move {
  Do what;
  int64_t n;
  int parity_passes;  // the parity for which a wait returns true afterwards
};

MbarrierEvent act(Mbarrier& b, const Move& m) {
  switch (m.what) {
    case Do::init: return init(b, m.n);
    case Do::arrive: return arrive(b, m.n);
    case Do::expect: return expect_tx(b, m.n);
    case Do::complete: return complete_tx(b, m.n);
    case Do::drop: return arrive_drop(b, m.n);
  }
  return {};
}

TEST(Mbarrier, FollowsTheDevice) {
  constexpr int64_t kMost = 1048575;
  const Move moves[] = {
      {Do::init, 3, 1},      {Do::arrive, 1, 1},    {Do::expect, 64, 1},      {Do::arrive, 2, 1},
      {Do::complete, 32, 1}, {Do::complete, 32, 0}, {Do::complete, 16, 0},    {Do::arrive, 3, 0},
      {Do::expect, 16, 1},   {Do::arrive, 3, 0},    {Do::init, 2, 1},         {Do::drop, 1, 1},
      {Do::arrive, 1, 0},    {Do::arrive, 1, 1},    {Do::init, 1, 1},         {Do::arrive, 1, 0},
      {Do::arrive, 1, 1},    {Do::init, 1, 1},      {Do::complete, kMost, 1}, {Do::expect, kMost, 1},
      {Do::arrive, 1, 0},    {Do::init, kMost, 1},
  };
  Mbarrier b;
  for (size_t i = 0; i < std::size(moves); ++i) {
    EXPECT_EQ(act(b, moves[i]).broken, nullptr) << i;
    EXPECT_EQ(b.passes_parity(static_cast<uint32_t>(moves[i].parity_passes)), true) << i;
    EXPECT_EQ(b.passes_parity(static_cast<uint32_t>(1 - moves[i].parity_passes)), false) << i;
  }
}

TEST(Mbarrier, WhatAbortsTheDeviceIsABrokenRule) {
  struct Case {
    std::vector<Move> moves;
    std::string_view rule;
  };
  const Case cases[] = {
      {{{Do::init, 1, 0}, {Do::arrive, 2, 0}}, "MBAR-05"},
      {{{Do::init, 0, 0}}, "MBAR-02"},
      {{{Do::init, 1048576, 0}}, "MBAR-02"},
      {{{Do::init, 1, 0}, {Do::expect, 1048575, 0}, {Do::expect, 1, 0}}, "TX-01"},
      {{{Do::init, 1, 0}, {Do::complete, 1048575, 0}, {Do::complete, 1, 0}}, "TX-01"},
      {{{Do::init, 2, 0}, {Do::drop, 3, 0}}, "MBAR-05"},
  };
  for (const Case& c : cases) {
    Mbarrier b;
    RuleId last = nullptr;
    for (const Move& m : c.moves) {
      EXPECT_EQ(last, nullptr);
      last = act(b, m).broken;
    }
    ASSERT_NE(last, nullptr) << c.rule;
    EXPECT_EQ(last, c.rule);
  }
}

runtime::Param map_param(std::string_view type, std::vector<uint64_t> dims, std::vector<uint64_t> strides,
                         std::vector<uint32_t> box) {
  runtime::TensorMapArg m;
  m.dtype = *runtime::dtype_named(type);
  m.dims = std::move(dims), m.strides_bytes = std::move(strides), m.box = std::move(box);
  m.element_strides.assign(m.dims.size(), 1);
  return {"m", m};
}
runtime::TensorMapArg& arg(runtime::Param& p) { return std::get<runtime::TensorMapArg>(p.value); }
// "" where accepted, else the rule.
std::string refusal(const runtime::Param& p, uint64_t address = 0) {
  auto m = make_tensor_map(p, address);
  return m.ok() ? "" : m.error().rule;
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
  auto base = [] { return map_param("f16", {64, 64}, {128}, {64, 64}); };
  EXPECT_EQ(refusal(base()), "");
  for (uint64_t align : {1, 2, 8}) EXPECT_EQ(refusal(base(), align), "TMA-21");
  for (uint64_t align : {16, 32}) EXPECT_EQ(refusal(base(), align), "");
  for (uint64_t stride : {0ull, 16ull, 64ull, 112ull, 128ull, 1099511627760ull}) {
    auto p = base();
    arg(p).strides_bytes[0] = stride;
    EXPECT_EQ(refusal(p), "") << stride;
  }
  for (uint64_t stride : {8ull, 24ull, 1099511627776ull}) {
    auto p = base();
    arg(p).strides_bytes[0] = stride;
    EXPECT_EQ(refusal(p), "TMA-23") << stride;
  }
  for (uint64_t dim : {1ull, 4294967295ull, 4294967296ull})
    EXPECT_EQ(refusal(map_param("f16", {64, dim}, {128}, {64, 1})), "");
  for (uint64_t dim : {0ull, 4294967297ull}) EXPECT_EQ(refusal(map_param("f16", {64, dim}, {128}, {64, 1})), "TMA-22");
  for (uint32_t box : {1u, 255u, 256u}) EXPECT_EQ(refusal(map_param("f16", {64, 8}, {128}, {64, box})), "");
  for (uint32_t box : {0u, 257u}) EXPECT_EQ(refusal(map_param("f16", {64, 8}, {128}, {64, box})), "TMA-24");
  for (uint32_t inner : {1u, 4u, 7u, 12u}) EXPECT_EQ(refusal(map_param("f16", {64, 8}, {128}, {inner, 1})), "TMA-25");
  for (uint32_t inner : {8u, 16u, 256u}) EXPECT_EQ(refusal(map_param("f16", {64, 8}, {128}, {inner, 1})), "");
  for (uint32_t step : {1u, 2u, 7u, 8u, 9u, 0u}) {
    auto p = base();
    arg(p).element_strides[1] = step;
    EXPECT_EQ(refusal(p), step >= 1 && step <= 8 ? "" : "TMA-27") << step;
    p = base();
    arg(p).element_strides[0] = step;
    EXPECT_EQ(refusal(p), step >= 1 && step <= 8 ? "" : "TMA-27") << step;
  }
  EXPECT_EQ(refusal(map_param("f32", {256, 256}, {1024}, {256, 228})), "");  // 233472 bytes
  EXPECT_EQ(refusal(map_param("f32", {256, 256}, {1024}, {256, 229})), "TMA-26");
  auto strided = map_param("f32", {256, 256}, {1024}, {256, 256});
  EXPECT_EQ(refusal(strided), "TMA-26");
  arg(strided).element_strides[1] = 2;
  EXPECT_EQ(refusal(strided), "");
  EXPECT_EQ(refusal(map_param("u8", {16, 2, 2, 2, 2, 2}, {16, 32, 64, 128, 256}, {16, 1, 1, 1, 1, 1})), "TMA-20");
}

TEST(TensorMap, SwizzleBoundsTheInnerExtent) {
  struct Case {
    runtime::Swizzle mode;
    uint32_t span;
  };
  for (const Case& c :
       {Case{runtime::Swizzle::b32, 32}, Case{runtime::Swizzle::b64, 64}, Case{runtime::Swizzle::b128, 128}})
    for (uint32_t inner : {16u, 32u, 48u, 64u, 96u, 128u, 144u, 256u}) {
      auto p = map_param("u8", {256, 8}, {256}, {inner, 1});
      arg(p).swizzle = c.mode;
      EXPECT_EQ(refusal(p), inner <= c.span ? "" : "TMA-28") << inner << " in " << c.span;
    }
}

TEST(TensorMap, NanFillIsForFloats) {
  for (const runtime::DTypeRow& r : runtime::kDTypes) {
    if (r.dtype == runtime::DType::e4m3 || r.dtype == runtime::DType::e5m2) continue;  // maps of u8
    auto p = map_param(r.name, {16, 8}, {128}, {16, 1});
    arg(p).oob = runtime::OobFill::nan;
    EXPECT_EQ(refusal(p), r.is_float ? "" : "TMA-30") << r.name;
  }
}

// Rows 0, 1, 2 of a box with inner extent `inner`: slot (in 16 bytes) of each chunk, as measured.
TEST(Swizzle, ChunksGoWhereTheDevicePutsThem) {
  struct Case {
    SwizzleMode mode;
    uint32_t inner;
    std::vector<uint32_t> slots;
  };
  const Case cases[] = {
      {SwizzleMode::b32, 16, {0, 2, 4}},
      {SwizzleMode::b32, 32, {0, 1, 2, 3, 4, 5}},
      {SwizzleMode::b64, 48, {0, 1, 2, 4, 5, 6, 9, 8, 11}},
      {SwizzleMode::b64, 64, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10}},
      {SwizzleMode::b128, 48, {0, 1, 2, 9, 8, 11, 18, 19, 16}},
      {SwizzleMode::b128, 80, {0, 1, 2, 3, 4, 9, 8, 11, 10, 13, 18, 19, 16, 17, 22}},
      {SwizzleMode::b128, 128, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14, 18, 19, 16, 17, 22, 23, 20, 21}},
  };
  for (const Case& c : cases) {
    std::vector<uint32_t> got;
    for (uint32_t r = 0; r < 3; ++r)
      for (uint32_t at = 0; at < c.inner; at += 16)
        got.push_back(swizzled(c.mode, r * row(c.mode).span_bytes + at) / 16);
    EXPECT_EQ(got, c.slots) << row(c.mode).name << " " << c.inner;
  }
}

TEST(Swizzle, IsItsOwnInverseAndStaysInItsLine) {
  for (const SwizzleRow& r : kSwizzles)
    for (uint32_t a = 0; a < 8192; ++a) {
      EXPECT_EQ(swizzled(r.mode, swizzled(r.mode, a)), a);
      EXPECT_EQ(swizzled(r.mode, a) / 128, a / 128);
      if (r.repeat_bytes) {
        EXPECT_EQ(swizzled(r.mode, a + r.repeat_bytes), swizzled(r.mode, a) + r.repeat_bytes);
      }
    }
}

TEST(GlobalMemory, EveryAllocationHasItsBounds) {
  GlobalMemory m;
  const uint64_t a = m.allocate("a", 100).address, b = m.allocate("b", 0).address, c = m.allocate("c", 8).address;
  EXPECT_EQ(a % kGlobalAlign, 0u);
  EXPECT_NE(m.find(a, 100), nullptr);
  EXPECT_EQ(m.find(a, 101), nullptr);
  EXPECT_EQ(m.find(a + 96, 8), nullptr);
  EXPECT_EQ(m.find(b, 1), nullptr);
  EXPECT_NE(m.find(c + 4, 4), nullptr);
  EXPECT_EQ(m.find(c + 4, UINT64_MAX - 2), nullptr);
  EXPECT_EQ(m.find(UINT64_MAX - 3, 8), nullptr);
  EXPECT_EQ(m.nearest(a + 300)->name, "a");
}

}  // namespace
}  // namespace tc::sim
