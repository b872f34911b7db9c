#include "sim/check/race.h"

#include <gtest/gtest.h>

#include "sim/check/grid.h"

namespace tc::sim {
namespace {

constexpr uint32_t kAll = ~0u;

struct Cluster : RaceChecker {
  explicit Cluster(GridRaces* grid = nullptr, uint32_t number = 0) : RaceChecker(4, 4, kAll, grid, number) {}
  void touch(uint32_t warp, uint32_t lanes, uint32_t address, Access kind, uint32_t place = 1, uint32_t step = 0,
             uint32_t bytes = 4) {
    std::array<uint32_t, 32> at;
    for (uint32_t l = 0; l < 32; ++l) at[l] = address + step * l;
    shared(warp, lanes, at.data(), bytes, kind, place);
  }
  void touch_global(uint32_t warp, uint32_t lanes, uint64_t address, Access kind, uint32_t place, uint32_t step = 4) {
    std::array<uint64_t, 32> at;
    for (uint32_t l = 0; l < 32; ++l) at[l] = address + step * l;
    global(warp, lanes, at.data(), 4, kind, place);
  }
  void flag(uint32_t warp, StrongOp op, Order order, uint64_t address = 0x1000) {
    std::array<uint64_t, 32> at;
    at.fill(address);
    global(warp, 1, at.data(), 4, op == StrongOp::load ? Access::strong_read : Access::strong_write, 99);
    strong(warp, 0, true, address, op, order);
  }
  // Lanes of one warp release to lanes of another, as an mbarrier does.
  void hand_over(uint32_t from, uint32_t from_lanes, uint32_t to, uint32_t to_lanes) {
    Clock c = snapshot(from, from_lanes);
    released(from);
    acquire(to, to_lanes, c);
  }
};

TEST(Race, UnorderedWriteAndReadOfOneByte) {
  Cluster s;
  s.touch(0, 1, 64, Access::write, 1);
  s.touch(1, 1, 64, Access::read, 2);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].rule, "RACE-01");
  EXPECT_EQ(s.reports()[0].word, 16u);
  EXPECT_EQ(s.reports()[0].now.place, 2u);
  EXPECT_EQ(s.reports()[0].before.place, 1u);
}

TEST(Race, NeighbouringBytesDoNotConflict) {
  Cluster s;
  s.touch(0, 1, 64, Access::write, 1, 0, 2);
  s.touch(1, 1, 66, Access::write, 2, 0, 2);
  s.touch(2, 1, 65, Access::read, 3, 0, 1);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].before.place, 1u);
}

// Lane 0 of warp 1 ends a barrier that its warp has waited on, and others before it (cuda::pipeline's end).
TEST(Race, LanesThatMetMayEndABarrier) {
  const auto end = [](bool met, Access kind, Access before = Access::strong_write) {
    Cluster s;
    s.touch(0, kAll, 64, before, 1);
    if (met) s.meet(0, kAll);
    s.hand_over(0, 1, 1, kAll);  // lane 0 alone counts for its warp
    s.touch(1, kAll, 64, before, 2);
    if (met) s.meet(1, 0xFFFF), s.meet(1, 0xFFFF0001);
    s.touch(1, 1, 64, kind, 3);
    return s.reports().size();
  };
  EXPECT_EQ(end(true, Access::retire), 0u);
  EXPECT_EQ(end(false, Access::retire), 2u);
  EXPECT_EQ(end(true, Access::write), 2u);                 // it says nothing about data
  EXPECT_EQ(end(true, Access::retire, Access::read), 2u);  // nor of reads
}

TEST(Race, ReadsAndAtomicsAmongThemselvesAreFine) {
  Cluster s;
  s.touch(0, kAll, 0, Access::read, 1);
  s.touch(1, kAll, 0, Access::read, 2);
  s.touch(0, kAll, 8, Access::strong_write, 3);
  s.touch(1, kAll, 8, Access::strong_write, 4);
  EXPECT_TRUE(s.reports().empty());
  s.touch(2, 1, 8, Access::read, 5);  // an ordinary read conflicts with both
  EXPECT_EQ(s.reports().size(), 2u);
}

TEST(Race, LanesOfAWarpNeedASyncToo) {
  Cluster s;
  s.touch(0, kAll, 0, Access::write, 1, 4);
  s.touch(0, 1, 4, Access::read, 2);
  ASSERT_EQ(s.reports().size(), 1u);
  Cluster t;
  t.touch(0, kAll, 0, Access::write, 1, 4);
  t.touch(0, 2, 4, Access::read, 2);  // its own
  t.sync_lanes(0, kAll);
  t.touch(0, 1, 4, Access::read, 3);
  EXPECT_TRUE(t.reports().empty());
}

TEST(Race, ReleaseAndAcquireOrderOnlyWhatTheReleasingLaneKnew) {
  Cluster s;
  s.touch(0, kAll, 0, Access::write, 1, 4);  // lane l writes word l
  s.hand_over(0, 1, 1, kAll);                // lane 0 alone arrives
  s.touch(1, 1, 0, Access::read, 2);
  EXPECT_TRUE(s.reports().empty());
  s.touch(1, 1, 4, Access::read, 3);  // what lane 1 wrote
  EXPECT_EQ(s.reports().size(), 1u);
}

TEST(Race, WhoWaitsAloneKnowsAlone) {
  Cluster s;
  s.touch(0, kAll, 0, Access::write, 1, 4);
  s.hand_over(0, kAll, 1, 1);  // lane 0 of warp 1 waited
  s.touch(1, 1, 4, Access::read, 2);
  EXPECT_TRUE(s.reports().empty());
  s.touch(1, 2, 4, Access::read, 3);  // lane 1 did not
  ASSERT_EQ(s.reports().size(), 1u);
  Cluster t;
  t.touch(0, kAll, 0, Access::write, 1, 4);
  t.hand_over(0, kAll, 1, 1);
  t.sync_lanes(1, kAll);
  t.touch(1, 2, 4, Access::read, 3);
  EXPECT_TRUE(t.reports().empty());
}

TEST(Race, EveryReaderMustBeCollectedBeforeTheSlotIsOverwritten) {
  Cluster s;
  const uint32_t slot = s.new_slot();
  s.touch(0, kAll, 0, Access::read, 1, 4);
  s.touch(1, kAll, 0, Access::read, 2, 4);
  s.hand_over(0, kAll, 2, 1);
  s.async(2, 0, slot, 1, 0, 128, Access::write, 3);  // warp 1 has not arrived
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].before.place, 2u);
  EXPECT_TRUE(s.reports()[0].now.async);
  Cluster t;
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
    Cluster s;
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
  Cluster late;  // a fence before the write does not count
  late.proxy_fence(0, kAll);
  late.touch(0, kAll, 0, Access::write, 1, 4);
  late.hand_over(0, kAll, 1, 1);
  late.async(1, 0, late.new_slot(), 1, 0, 128, Access::read, 2);
  EXPECT_EQ(late.reports().size(), 1u);
}

TEST(Race, CopiesAreCompleteForWhoLearnsIt) {
  Cluster s;
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
  Cluster s;
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
  Cluster s;
  s.touch(0, 1, 64, Access::write, 1);
  s.forget(64, 8);
  s.touch(1, 1, 64, Access::write, 2);
  EXPECT_TRUE(s.reports().empty());
}

// Every pair of patterns of 4, 8 and 16 bytes a lane: the lanes that touch a byte are those of the formula.
TEST(Race, StripedAccessesAreJudgedLaneByLane) {
  for (uint32_t first : {1u, 2u, 4u, 8u, 16u})
    for (uint32_t second : {1u, 2u, 4u, 8u, 16u}) {
      Cluster s;
      s.touch(0, kAll, 256, Access::write, 1, first, first);
      s.touch(0, kAll, 256, Access::read, 2, second, second);
      // Lane l reads what another lane wrote unless both divide the bytes alike.
      EXPECT_EQ(s.reports().empty(), first == second) << first << " " << second;
    }
}

TEST(Race, LanesThatStoreOneWordInOneInstructionDoNotRace) {
  Cluster s;
  s.touch(0, kAll, 64, Access::write, 1);
  EXPECT_TRUE(s.reports().empty());
  s.touch(0, kAll, 64, Access::write, 1);  // the next execution does: lane 0 overwrites what lane 31 may have stored
  EXPECT_EQ(s.reports().size(), 1u);
}

// All readers count, whatever their number and pattern.
TEST(Race, ManyReadersAndOneWriter) {
  for (uint32_t missing = 0; missing < 4; ++missing)
    for (uint32_t step : {0u, 4u, 8u}) {
      Cluster s;
      for (uint32_t w = 0; w < 4; ++w) s.touch(w, kAll, 512, Access::read, 10 + w, w % 2 ? step : 4);
      for (uint32_t w = 0; w < 4; ++w)
        if (w != missing) s.hand_over(w, kAll, 0, kAll);
      s.sync_lanes(0, kAll);
      s.touch(0, 1, 512, Access::write, 20);
      ASSERT_EQ(s.reports().size(), missing == 0 ? 0u : 1u) << missing << " " << step;
      if (missing) {
        EXPECT_EQ(s.reports()[0].before.place, 10 + missing);
      }
    }
}

TEST(Race, AsyncWritesOverGenericWritesNeedAProxyFence) {
  for (bool fence : {false, true}) {
    Cluster s;
    s.touch(0, kAll, 0, Access::write, 1, 4);
    if (fence) s.proxy_fence(0, kAll);
    s.hand_over(0, kAll, 1, 1);
    s.async(1, 0, s.new_slot(), 1, 0, 128, Access::write, 2);
    ASSERT_EQ(s.reports().size(), fence ? 0u : 1u);
    if (!fence) {
      EXPECT_EQ(s.reports()[0].rule, "FENCE-04");
    }
  }
}

TEST(Race, WhatAWgmmaReadsIsGivenAwayByARelease) {
  Cluster s;
  const uint32_t slot = s.new_slot(0), copies = s.new_slot();
  const Clock start = s.snapshot(0, kAll);
  s.released(0);
  s.async(start, slot, 1, std::array{0u, 64u}, 64, Access::read, 1);
  const Clock c = s.snapshot(0, 1);
  s.released(0, 77);
  s.acquire(1, kAll, c);
  s.async(1, 0, copies, 1, 0, 128, Access::write, 2);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].released_place, 77u);
}

TEST(Race, SomeLanesHaveLeft) {
  Cluster s;
  s.left(0, 0xFFFF0000);
  s.touch(1, kAll, 0, Access::write, 1, 4);
  s.hand_over(1, kAll, 0, 0xFFFF);
  s.sync_lanes(0, 0xFFFF);
  s.touch(0, 0xFFFF, 0, Access::read, 2, 4);
  EXPECT_TRUE(s.reports().empty());
}

// ---------------------------------------------------------------- global memory

TEST(Race, MessageThroughAGlobalFlag) {
  struct Row {
    Order store, load;
    bool fence_before, fence_after;
    size_t races;
  };
  for (const Row& r :
       {Row{Order::release, Order::acquire, false, false, 0}, Row{Order::relaxed, Order::acquire, true, false, 0},
        Row{Order::release, Order::relaxed, false, true, 0}, Row{Order::relaxed, Order::relaxed, true, true, 0},
        Row{Order::relaxed, Order::acquire, false, false, 1}, Row{Order::release, Order::relaxed, false, false, 1},
        Row{Order::relaxed, Order::relaxed, true, false, 1}, Row{Order::relaxed, Order::relaxed, false, true, 1}}) {
    Cluster s;
    s.touch_global(0, 1, 0x4000, Access::write, 1);
    if (r.fence_before) s.fence(0, 1);
    s.flag(0, StrongOp::store, r.store);
    s.flag(1, StrongOp::load, r.load);
    if (r.fence_after) s.fence(1, 1);
    s.touch_global(1, 1, 0x4000, Access::read, 2);
    EXPECT_EQ(s.reports().size(), r.races);
    if (r.races && !s.reports().empty()) {
      EXPECT_EQ(s.reports()[0].rule, "RACE-02");
    }
  }
}

// Three warps count up; the last one sees what all wrote: updates go on with what earlier writes released.
TEST(Race, UpdatesPassOnWhatEarlierOnesReleased) {
  for (bool fenced : {false, true}) {
    Cluster s;
    for (uint32_t w = 0; w < 3; ++w) {
      s.touch_global(w, 1, 0x4000 + 64 * w, Access::write, 1 + w);
      if (fenced || w != 1) s.fence(w, 1);
      s.flag(w, StrongOp::update, Order::relaxed);
    }
    s.fence(2, 1);
    for (uint32_t w = 0; w < 3; ++w) s.touch_global(2, 1, 0x4000 + 64 * w, Access::read, 10 + w);
    ASSERT_EQ(s.reports().size(), fenced ? 0u : 1u);
    if (!fenced) {
      EXPECT_EQ(s.reports()[0].before.place, 2u);
    }
  }
}

// A message from warp 0 to a warp of the same CTA, of the other one, of another cluster: by release and acquire, or by
// relaxed accesses between fences, every scope of each. It arrives where all scopes are as wide as the distance.
TEST(Race, ScopesReachAsFarAsTheySay) {
  constexpr Scope kAllScopes[] = {Scope::gpu, Scope::cluster, Scope::cta};
  struct TwoCtas : RaceChecker {
    TwoCtas(GridRaces* grid, uint32_t number) : RaceChecker(4, 2, kAll, grid, number) {}
    void data(uint32_t warp, Access kind) {
      std::array<uint64_t, 32> at;
      at.fill(0x4000);
      global(warp, 1, at.data(), 4, kind, 1);
    }
  };
  for (const uint32_t distance : {0u, 1u, 2u})  // the same CTA, the same cluster, neither
    for (const bool fences : {false, true})
      for (const Scope write : kAllScopes)
        for (const Scope read : kAllScopes)
          for (const Scope before : kAllScopes)
            for (const Scope after : kAllScopes) {
              if (!fences && (before != Scope::gpu || after != Scope::gpu)) continue;
              GridRaces grid(true);
              TwoCtas a(&grid, 0), b(&grid, 1);
              TwoCtas& to = distance == 2 ? b : a;
              const uint32_t warp = distance == 0 ? 1 : 2;
              a.data(0, Access::write);
              if (fences) a.fence(0, 1, before, 10);
              a.strong(0, 0, true, 0x1000, StrongOp::store, fences ? Order::relaxed : Order::release, write, 11);
              to.strong(warp, 0, true, 0x1000, StrongOp::load, fences ? Order::relaxed : Order::acquire, read, 12);
              if (fences) to.fence(warp, 1, after, 13);
              to.data(warp, Access::read);
              auto reach = [](Scope s) { return 2 - static_cast<uint32_t>(s); };
              const bool all = reach(write) >= distance && reach(read) >= distance &&
                               (!fences || (reach(before) >= distance && reach(after) >= distance));
              ASSERT_EQ(to.reports().size(), all ? 0u : 1u)
                  << distance << fences << reach(write) << reach(read) << reach(before) << reach(after);
              if (all) continue;
              EXPECT_TRUE(to.reports()[0].narrow);
              const uint32_t place = to.reports()[0].scope_place;
              const Scope by[] = {before, write, read, after};
              ASSERT_TRUE(place >= 10 && place <= 13);
              EXPECT_LT(reach(by[place - 10]), distance);
            }
}

TEST(Race, StrongAccessesOfNarrowScopesRace) {
  for (const Scope scope : {Scope::gpu, Scope::cluster, Scope::cta})
    for (const uint32_t warp : {1u, 2u}) {
      RaceChecker s(4, 2);
      std::array<uint64_t, 32> at;
      at.fill(0x1000);
      s.global(0, 1, at.data(), 4, Access::strong_write, 1);
      s.global(warp, 1, at.data(), 4, Access::strong_write, 2, scope);
      EXPECT_EQ(s.reports().size(), scope == Scope::cta && warp == 2 ? 1u : 0u);
    }
}

// A counter that both CTAs count up: a fence of the own CTA's scope acquires what the own CTA published alone.
TEST(Race, AFenceOfNarrowScopeAcquiresFromTheOwnCta) {
  RaceChecker s(4, 2);
  auto touch = [&](uint32_t warp, uint64_t address, Access kind, uint32_t place) {
    std::array<uint64_t, 32> at;
    at.fill(address);
    s.global(warp, 1, at.data(), 4, kind, place);
  };
  for (const uint32_t warp : {0u, 2u}) {
    touch(warp, 0x4000 + 64 * warp, Access::write, warp);
    s.fence(warp, 1);
    s.strong(warp, 0, true, 0x1000, StrongOp::update, Order::relaxed);
  }
  s.strong(1, 0, true, 0x1000, StrongOp::update, Order::relaxed);
  s.fence(1, 1, Scope::cta, 7);
  touch(1, 0x4000, Access::read, 10);
  EXPECT_TRUE(s.reports().empty());
  touch(1, 0x4000 + 128, Access::read, 11);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].before.place, 2u);
  EXPECT_EQ(s.reports()[0].scope_place, 7u);
  s.fence(1, 1, Scope::cluster);
  touch(1, 0x4000 + 128, Access::write, 12);
  EXPECT_EQ(s.reports().size(), 1u);
}

TEST(Race, IndependentClustersAreComparedInTheirOrder) {
  for (const std::vector<uint32_t>& ends : {std::vector<uint32_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    GridRaces grid(false);
    for (uint32_t n : ends) {
      Cluster s(&grid, n);
      s.touch_global(0, kAll, 0x8000 + 128 * n, Access::write, 1);
      s.touch_global(0, kAll, 0x20000, Access::read, 2);
      if (n == 2) s.touch_global(1, 1, 0x8000 + 128, Access::read, 3);  // the first word of cluster 1
      EXPECT_TRUE(s.reports().empty());
      grid.finished(n, s);
    }
    ASSERT_EQ(grid.reports().size(), 1u);
    const RaceReport& r = grid.reports()[0];
    EXPECT_EQ(r.rule, "RACE-02");
    EXPECT_EQ(r.now.cluster, 2u);
    EXPECT_EQ(r.now.place, 3u);
    EXPECT_EQ(r.before.cluster, 1u);
    EXPECT_EQ(r.word, (0x8000u + 128) / 4);
  }
}

TEST(Race, ClustersThatRunTogetherOrderEachOther) {
  for (bool fenced : {false, true}) {
    GridRaces grid(true);
    Cluster a(&grid, 0), b(&grid, 1), c(&grid, 2);
    a.touch_global(0, 1, 0x4000, Access::write, 1);
    if (fenced) a.fence(0, 1);
    a.flag(0, StrongOp::update, Order::relaxed);
    b.flag(1, StrongOp::update, Order::acq_rel);
    c.flag(2, StrongOp::load, Order::acquire);
    c.touch_global(2, 1, 0x4000, Access::read, 2);
    EXPECT_EQ(c.reports().size(), fenced ? 0u : 1u);
    // What one warp of a cluster knows of another cluster its barrier passes on.
    c.hand_over(2, kAll, 3, kAll);
    c.touch_global(3, 1, 0x4000, Access::write, 3);
    EXPECT_EQ(c.reports().size(), fenced ? 0u : 2u);
  }
}

// Long loops do not pile up histories, and forget nothing.
TEST(Race, HistoriesAreCompacted) {
  Cluster s;
  s.touch(1, kAll, 2048, Access::write, 7, 4);
  for (uint32_t k = 0; k < 300000; ++k) {
    s.touch(0, kAll, 128 * (k % 8), Access::write, 1, 4);
    s.sync_lanes(0, kAll);
  }
  s.touch(0, 1, 2048, Access::read, 8);
  ASSERT_EQ(s.reports().size(), 1u);
  EXPECT_EQ(s.reports()[0].before.place, 7u);
}

}  // namespace
}  // namespace tc::sim
