#include "sim/check/race.h"

#include <gtest/gtest.h>

namespace tc::sim {
namespace {

constexpr uint32_t kAll = ~0u;

struct Shared : RaceChecker {
  Shared() : RaceChecker(4, 4096) {}
  void touch(uint32_t warp, uint32_t lanes, uint32_t address, Access kind, uint32_t place = 1, uint32_t step = 0,
             uint32_t bytes = 4) {
    std::array<uint32_t, 32> at;
    for (uint32_t l = 0; l < 32; ++l) at[l] = address + step * l;
    generic(warp, lanes, at.data(), bytes, kind, place);
  }
  // Lanes of one warp release to lanes of another, as an mbarrier does.
  void hand_over(uint32_t from, uint32_t from_lanes, uint32_t to, uint32_t to_lanes) {
    Clock c = snapshot(from, from_lanes);
    released(from);
    acquire(to, to_lanes, c);
  }
};

TEST(Race, UnorderedWriteAndReadOfOneByte) {
  Shared s;
  s.touch(0, 1, 64, Access::write, 1);
  s.touch(1, 1, 64, Access::read, 2);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].rule, "RACE-01");
  EXPECT_EQ(s.reports()[0].address, 64u);
  EXPECT_EQ(s.reports()[0].place_now, 2u);
  EXPECT_EQ(s.reports()[0].place_before, 1u);
}

TEST(Race, NeighbouringBytesDoNotConflict) {
  Shared s;
  s.touch(0, 1, 64, Access::write, 1, 0, 2);
  s.touch(1, 1, 66, Access::write, 2, 0, 2);
  s.touch(2, 1, 65, Access::read, 3, 0, 1);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].place_before, 1u);
}

TEST(Race, ReadsAndAtomicsAmongThemselvesAreFine) {
  Shared s;
  s.touch(0, kAll, 0, Access::read, 1);
  s.touch(1, kAll, 0, Access::read, 2);
  s.touch(0, kAll, 8, Access::atomic, 3);
  s.touch(1, kAll, 8, Access::atomic, 4);
  EXPECT_TRUE(s.reports().empty());
  s.touch(2, 1, 8, Access::read, 5);  // an ordinary read conflicts with both
  EXPECT_EQ(s.reports().size(), 2u);
}

TEST(Race, LanesOfAWarpNeedASyncToo) {
  Shared s;
  s.touch(0, kAll, 0, Access::write, 1, 4);
  s.touch(0, 1, 4, Access::read, 2);
  ASSERT_EQ(s.reports().size(), 1u);
  Shared t;
  t.touch(0, kAll, 0, Access::write, 1, 4);
  t.touch(0, 2, 4, Access::read, 2);  // its own
  t.sync_lanes(0, kAll);
  t.touch(0, 1, 4, Access::read, 3);
  EXPECT_TRUE(t.reports().empty());
}

TEST(Race, ReleaseAndAcquireOrderOnlyWhatTheReleasingLaneKnew) {
  Shared s;
  s.touch(0, kAll, 0, Access::write, 1, 4);  // lane l writes word l
  s.hand_over(0, 1, 1, kAll);                // lane 0 alone arrives
  s.touch(1, 1, 0, Access::read, 2);
  EXPECT_TRUE(s.reports().empty());
  s.touch(1, 1, 4, Access::read, 3);  // what lane 1 wrote
  EXPECT_EQ(s.reports().size(), 1u);
}

TEST(Race, WhoWaitsAloneKnowsAlone) {
  Shared s;
  s.touch(0, kAll, 0, Access::write, 1, 4);
  s.hand_over(0, kAll, 1, 1);  // lane 0 of warp 1 waited
  s.touch(1, 1, 4, Access::read, 2);
  EXPECT_TRUE(s.reports().empty());
  s.touch(1, 2, 4, Access::read, 3);  // lane 1 did not
  ASSERT_EQ(s.reports().size(), 1u);
  Shared t;
  t.touch(0, kAll, 0, Access::write, 1, 4);
  t.hand_over(0, kAll, 1, 1);
  t.sync_lanes(1, kAll);
  t.touch(1, 2, 4, Access::read, 3);
  EXPECT_TRUE(t.reports().empty());
}

TEST(Race, EveryReaderMustBeCollectedBeforeTheSlotIsOverwritten) {
  Shared s;
  const uint32_t slot = s.new_slot();
  s.touch(0, kAll, 0, Access::read, 1, 4);
  s.touch(1, kAll, 0, Access::read, 2, 4);
  s.hand_over(0, kAll, 2, 1);
  s.async(2, 0, slot, 1, 0, 128, Access::write, 3);  // warp 1 has not arrived
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].place_before, 2u);
  EXPECT_TRUE(s.reports()[0].now_async);
  Shared t;
  const uint32_t ok = t.new_slot();
  t.touch(0, kAll, 0, Access::read, 1, 4);
  t.touch(1, kAll, 0, Access::read, 2, 4);
  t.hand_over(0, kAll, 2, 1);
  t.hand_over(1, kAll, 2, 1);
  t.async(2, 0, ok, 1, 0, 128, Access::write, 3);  // no proxy fence is needed after reads
  EXPECT_TRUE(t.reports().empty());
}

TEST(Race, AsyncReadsOfGenericWritesNeedAProxyFence) {
  for (int fence : {0, 1, 2}) {  // none, by the writer, by the issuer
    Shared s;
    const uint32_t slot = s.new_slot();
    s.touch(0, kAll, 0, Access::write, 1, 4);
    if (fence == 1) s.proxy_fence(0, kAll);
    s.hand_over(0, kAll, 1, 1);
    if (fence == 2) s.proxy_fence(1, 1);
    s.async(1, 0, slot, 1, 0, 128, Access::read, 2);
    ASSERT_EQ(s.reports().size(), fence == 0 ? 1u : 0u) << fence;
    if (fence == 0) {
      EXPECT_EQ(s.reports()[0].rule, "FENCE-01");
    }
  }
  Shared late;  // a fence before the write does not count
  late.proxy_fence(0, kAll);
  late.touch(0, kAll, 0, Access::write, 1, 4);
  late.hand_over(0, kAll, 1, 1);
  late.async(1, 0, late.new_slot(), 1, 0, 128, Access::read, 2);
  EXPECT_EQ(late.reports().size(), 1u);
}

TEST(Race, CopiesAreCompleteForWhoLearnsIt) {
  Shared s;
  const uint32_t slot = s.new_slot();
  s.async(0, 0, slot, 1, 0, 64, Access::write, 1);
  s.learn(1, kAll, slot, 1);
  s.touch(1, kAll, 0, Access::read, 2);
  EXPECT_TRUE(s.reports().empty());
  // The next copy, issued by who knows neither that the first is complete nor that warp 1 has read.
  s.async(0, 0, slot, 2, 0, 64, Access::write, 3);
  EXPECT_EQ(s.reports().size(), 2u);
  EXPECT_TRUE(s.knows(1, 5, slot, 1));
  EXPECT_FALSE(s.knows(1, 5, slot, 2));
}

TEST(Race, CpAsyncGroupsOfEachLane) {
  Shared s;
  s.cp_async(0, 3, 16, 16, 1, 1);
  s.cp_async(0, 3, 32, 16, 2, 2);
  s.cp_async_complete(0, 3, 1);
  s.touch(0, 1u << 3, 16, Access::read, 3);
  EXPECT_TRUE(s.reports().empty());
  s.touch(0, 1u << 3, 32, Access::read, 4);  // group 2 is not waited for
  EXPECT_EQ(s.reports().size(), 1u);
  s.hand_over(0, kAll, 1, kAll);
  s.touch(1, 1, 16, Access::read, 5);  // others know it through the hand-over
  EXPECT_EQ(s.reports().size(), 1u);
}

TEST(Race, ForgottenWordsStartAfresh) {
  Shared s;
  s.touch(0, 1, 64, Access::write, 1);
  s.forget(64, 8);
  s.touch(1, 1, 64, Access::write, 2);
  EXPECT_TRUE(s.reports().empty());
}

}  // namespace
}  // namespace tc::sim
