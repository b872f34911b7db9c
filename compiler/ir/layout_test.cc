#include "compiler/ir/layout.h"

#include <gtest/gtest.h>

namespace tc::ir {
namespace {

// rules.md WGMMA-08, measured on an H200: warp w, lane l, reg i: row 16w + (l>>2) + 8*((i>>1)&1), col 8*(i>>2) +
// 2*(l&3) + (i&1).
TEST(Fragment, WgmmaAccumulatorIsTheDocumentedMap) {
  Fragment f = wgmma_accumulator(64, 128, 1, 1);
  ASSERT_EQ(f.registers, 64);
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 64; ++i) {
      int w = t / 32, l = t % 32;
      int row = 16 * w + (l >> 2) + 8 * ((i >> 1) & 1), col = 8 * (i >> 2) + 2 * (l & 3) + (i & 1);
      ASSERT_EQ(element_of(f, t, i), row * 128 + col) << t << " " << i;
    }
}

TEST(Fragment, AllAreBijective) {
  for (auto [m, n, gm, gn] : {std::tuple(64, 8, 1, 1), std::tuple(128, 128, 1, 1), std::tuple(128, 256, 2, 1),
                              std::tuple(128, 96, 1, 2), std::tuple(256, 64, 2, 2)})
    EXPECT_TRUE(is_bijective(wgmma_accumulator(m, n, gm, gn))) << m << "x" << n;
  EXPECT_TRUE(is_bijective(linear_fragment({64, 64}, 128, 8)));
  EXPECT_TRUE(is_bijective(linear_fragment({5, 8}, 128, 4)));
  Fragment broken = wgmma_accumulator(64, 64, 1, 1);
  broken.register_modes[1].step = {4, 0};
  EXPECT_FALSE(is_bijective(broken));
}

TEST(SharedShape, PanelsOfASwizzledTile) {
  Type t = Type::buffer(Space::shared, DType::f16, {MetaInt(3), MetaInt(64), MetaInt(128)});
  t.layout.span = 128;
  SharedShape s = shared_shape(t);
  EXPECT_EQ(s.panel_cols, 64);
  EXPECT_EQ(s.panel_bytes, 8192);
  EXPECT_EQ(s.tile_bytes, 16384);
  EXPECT_EQ(s.total_bytes, 3 * 16384);
  EXPECT_EQ(s.alignment, 1024);
}

}  // namespace
}  // namespace tc::ir
