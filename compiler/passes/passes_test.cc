// Lowering of small programs, read as text: what each pass owes the next, and what the whole pipeline owes the program.
#include "compiler/passes/passes.h"

#include <gtest/gtest.h>

namespace tc::ir {
namespace {

Module parsed(std::string_view text) {
  auto m = parse("test.ir", text);
  EXPECT_TRUE(m.ok()) << render(m.error());
  return m.ok() ? *m : Module{};
}
PassContext context() { return {.arch = *find_arch("sm_90a")}; }
int count(const Module& m, OpKind kind) {
  int n = 0;
  walk(m, m.funcs[0].body, [&](OpId id) { n += m[id].kind == kind; });
  return n;
}
std::string head(std::string_view body) {
  return "module level=tile arch=\"sm_90a\"\nfunc @k (%A: global f16[128, 64], %C: global f32[128, 64]) "
         "{instance=\"k\", "
         "specialisation=\"literal\"} args [] outputs [1] attrs {}\n{\n%c0 = constant {value=0} : i32\n%c1 = constant "
         "{value=1} : i32\n"
         "%c64 = constant {value=64} : i32\n%c128 = constant {value=128} : i32\nlaunch %c1 {threads=256} |%bx: i32| "
         "{\n" +
         std::string(body) + "}\n}\n";
}

TEST(Passes, StatementsInSequenceGetABarrierSectionsGetNone) {
  // Write, then a read by other threads: one barrier. The same split over two sections: the program's own business.
  Module in_sequence =
      parsed(head("%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f16[128, 64]\ncopy %A, %s\ncopy %s, %f\n"));
  Status s = lower_to_device(in_sequence, context());
  ASSERT_TRUE(s.ok()) << render(s.error());
  EXPECT_EQ(count(in_sequence, OpKind::sync_threads), 1);
  Module sections = parsed(head(
      "%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f16[128, 64]\nws {lo=128, hi=256} {\ncopy %A, %s\n}\n"
      "ws {lo=0, hi=128} {\ncopy %s, %f\n}\n"));
  ASSERT_TRUE(lower_to_device(sections, context()).ok());
  EXPECT_EQ(count(sections, OpKind::sync_threads), 0);
}

TEST(Passes, InsideASectionTheBarrierIsNamedAndOfItsSize) {
  Module m =
      parsed(head("%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f16[128, 64]\nws {lo=128, hi=256} {\ncopy "
                  "%A, %s\ncopy %s, %f\n}\n"));
  ASSERT_TRUE(lower_to_device(m, context()).ok());
  ASSERT_EQ(count(m, OpKind::sync_threads), 1);
  walk(m, m.funcs[0].body, [&](OpId id) {
    if (m[id].kind != OpKind::sync_threads) return;
    EXPECT_EQ(int_attr(m[id], "threads", 0), 128);
    EXPECT_GE(int_attr(m[id], "id", 0), 1);
  });
}

TEST(Passes, TwoWritesOfOneBufferAreOrderedToo) {
  Module m =
      parsed(head("%s = alloc : shared f16[128, 64]\ncopy %A, %s\n%z = constant {value=0.0} : f16\nfill %s, %z\n"));
  ASSERT_TRUE(lower_to_device(m, context()).ok());
  EXPECT_EQ(count(m, OpKind::sync_threads), 1);
}

TEST(Passes, SectionsCarryTheirBarrierAcrossIterations) {
  // In every iteration the section writes what it read in the one before: a barrier before the write and one before the
  // read.
  Module m =
      parsed(head("%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f16[128, 64]\nfor %c0, %c64 "
                  "{kind=\"serial\"} |%k: i32| {\n"
                  "ws {lo=0, hi=128} {\ncopy %A, %s\ncopy %s, %f\n}\n}\n"));
  ASSERT_TRUE(lower_to_device(m, context()).ok());
  EXPECT_EQ(count(m, OpKind::sync_threads), 2);
}

TEST(Passes, PipelinedLoopBecomesARing) {
  Module m =
      parsed(head("%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f16[128, 64]\n"
                  "for %c0, %c64 {kind=\"pipelined\", num_stages=3} |%k: i32| {\ncopy %A, %s\ncopy %s, %f\n}\n"));
  std::vector<std::string> explain;
  PassContext cx = context();
  cx.explain = &explain;
  bool ring = false;
  Status s = lower_to_device(m, cx, [&](const PassInfo& pass, const Module& now) {
    if (pass.name != "software_pipeline") return;
    for (const Value& v : now.values)
      ring = ring || (v.name == "s" && v.type.rank() == 3 && v.type.shape[0].value == 3);
  });
  ASSERT_TRUE(s.ok()) << render(s.error());
  EXPECT_TRUE(ring);
  EXPECT_EQ(count(m, OpKind::cp_async_commit), 2);  // prologue and body
  EXPECT_EQ(count(m, OpKind::sync_threads), 1);     // one barrier a step orders fill and refill
  EXPECT_NE(explain[0].find("3 stages of cp.async"), std::string::npos) << explain[0];
}

TEST(Passes, GuardsAreWrittenOnlyWhereTheyCanFail) {
  auto guards = [](const char* offset) {
    Module m = parsed(head("%o = constant {value=" + std::string(offset) +
                           "} : i32\n%f = alloc : fragment f32[64, 64]\n"
                           "%r = region %C, %o, %c0, %c64, %c64 : tile f32[64, 64]\ncopy %f, %r\n"));
    Status s = lower_to_device(m, context());
    EXPECT_TRUE(s.ok()) << render(s.error());
    return count(m, OpKind::if_);
  };
  EXPECT_EQ(guards("64"), 0);
  EXPECT_EQ(guards("96"), 1);
}

TEST(Passes, RefusalsNameTheConstruct) {
  struct Case {
    std::string_view body, message;
  };
  for (const Case& c :
       {Case{"%b = alloc {counts=[0]} : barrier u64[1]\n", "counts 1 to 1048575 arrivals"},
        Case{"for %c0, %c64 {kind=\"serial\"} |%k: i32| {\n%b = alloc {counts=[1]} : barrier u64[1]\n}\n",
             "alloc_barrier inside a loop"},
        Case{"%s = alloc : shared f16[128, 64]\n%f = alloc : fragment f32[128, 64]\n%g = alloc : fragment f16[128, "
             "64]\ngemm %s, %s, %f\n",
             "shapes disagree"},
        Case{"%s = alloc : shared f32[1024, 64]\n", "bytes of shared memory"}}) {
    Module m = parsed(head(c.body));
    Status s = lower_to_device(m, context());
    ASSERT_FALSE(s.ok()) << c.body;
    EXPECT_NE(s.error().message.find(c.message), std::string::npos) << s.error().message;
    EXPECT_TRUE(s.error().where.valid());
  }
}

TEST(Passes, HintsAreWarnedAboutAndDemandsRefused) {
  std::vector<Diag> warnings;
  PassContext cx = context();
  cx.warnings = &warnings;
  Module m = parsed(head("%s = alloc : shared f16[128, 64]\nlayout %s {kind=\"swizzled_layout\"} {\n}\ncopy %A, %s {coalesced_width=4}\n"));
  m.funcs[0].attrs = {{"tl.enable_fast_math", MetaInt(1)}, {"tl.disable_warp_specialized", MetaInt(1)}};
  ASSERT_TRUE(lower_to_device(m, cx).ok());
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_NE(warnings[1].message.find("tl.enable_fast_math"), std::string::npos);
  Module demand = parsed(head("%s = alloc : shared f16[128, 64]\ncopy %A, %s {prefer=\"tma\"}\n"));
  Status s = lower_to_device(demand, cx);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("prefer_instruction=\"tma\""), std::string::npos) << s.error().message;
}

TEST(Passes, ConditionsOnTheThreadBecomeSections) {
  Module m =
      parsed(head("%t = thread_index : i32\n%p = eq %t, %c128 : b1\nif %p {\nsync_threads {id=1, threads=1}\n} else "
                  "{\n%q = lt %t, %c64 : b1\n"
                  "if %q {\nsync_threads {id=2, threads=64}\n} else {\n}\n}\n"));
  Status s = lower_to_device(m, context(), [&](const PassInfo& pass, const Module& now) {
    if (pass.name != "thread_sections") return;
    std::vector<std::pair<int64_t, int64_t>> seen;
    walk(now, now.funcs[0].body, [&](OpId id) {
      if (now[id].kind == OpKind::ws) seen.emplace_back(int_attr(now[id], "lo", 0), int_attr(now[id], "hi", 0));
    });
    EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{{128, 129}, {0, 64}}));
  });
  EXPECT_TRUE(s.ok()) << render(s.error());
}

}  // namespace
}  // namespace tc::ir
