#include <gtest/gtest.h>

#include "compiler/rewrite/clone.h"
#include "compiler/rewrite/range.h"

namespace tc::ir {
namespace {

constexpr std::string_view kText = R"IR(module level=tile arch="sm_90a"

func @main (%A: global f16[1000, 520]) {instance="", specialisation="literal"} args [] outputs [0] attrs {}
  {
  %0 = constant {value=8} : i32
  %1 = constant {value=0} : i32
  %2 = constant {value=9} : i32
  %3 = constant {value=3} : i32
  %4 = constant {value=2} : i32
  launch %0 {threads=128} |%bx: i32| {
    %5 = constant {value=128} : i32
    %row = mul %bx, %5 : i32
    for %1, %2 {kind="serial"} |%k: i32| {
      %slot = floormod %k, %3 : i32
      %6 = add %k, %4 : i32
      %ahead = floormod %6, %3 : i32
      %t = thread_index : i32
      %low = bit_and %t, %3 : i32
      %last = add %row, %t : i32
    }
  }
}
)IR";

ValueId named(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.values.size(); ++i)
    if (m.values[i].name == name) return {i};
  return {};
}

TEST(Ranges, FollowLaunchLoopsAndThreads) {
  auto m = parse("r.ir", kText);
  ASSERT_TRUE(m.ok()) << render(m.error());
  Ranges r(*m);
  EXPECT_EQ(r.of(named(*m, "row")), (Range{0, 896}));
  EXPECT_EQ(r.of(named(*m, "k")), (Range{0, 8}));
  EXPECT_EQ(r.of(named(*m, "slot")), (Range{0, 2}));
  EXPECT_EQ(r.of(named(*m, "low")), (Range{0, 3}));
  EXPECT_EQ(r.of(named(*m, "last")), (Range{0, 1023}));
}

TEST(Affine, RingSlotsDiffer) {
  auto m = parse("r.ir", kText);
  ASSERT_TRUE(m.ok());
  ValueId slot = named(*m, "slot"), ahead = named(*m, "ahead"), k = named(*m, "k");
  EXPECT_TRUE(never_equal(*m, slot, ahead, {}, 0));  // k and k+2 mod 3
  EXPECT_FALSE(never_equal(*m, slot, ahead, k, 1));  // k and k+3 mod 3: the same slot
  EXPECT_FALSE(never_equal(*m, slot, slot, {}, 0));
  EXPECT_TRUE(never_equal(*m, slot, slot, k, 1));
}

TEST(Cloner, CopiesEverything) {
  auto m = parse("r.ir", kText);
  ASSERT_TRUE(m.ok());
  Module to = empty_like(*m);
  Cloner(*m, to, nullptr).clone_functions();
  EXPECT_EQ(print(to), print(*m));
}

}  // namespace
}  // namespace tc::ir
