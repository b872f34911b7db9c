#include "compiler/ir/ir.h"

#include <gtest/gtest.h>

namespace tc::ir {
namespace {

constexpr std::string_view kRing = R"IR(module level=tile arch="sm_90a"
file #0 "gemm.py"

func @main (%A: global f16[1000:"M", 520:"K"], %n: i32) {instance="main[K=520]", specialisation="literal"} args [K=520] outputs [0] attrs {tl.disable_warp_specialized=1} loc(#0 12:5-30:9)
  pre "K >= 64" [K] loc(#0 4:3-4:9)
  {
  %0 = constant {value=9:"ceildiv(K, 64)"} : i32 loc(#0 15:3-15:9)
  %1 = constant {value=0} : i32
  %x = constant {value=-1.5} : f32
  launch %0 {threads=256} loc(#0 15:3-15:9) |%bx: i32| {
    %full = alloc {counts=[128, 128]} : barrier u64[2]
    %a = alloc : shared f16[2:"STAGES", 64, 64] span 128
    for %1, %0 {kind="serial"} |%k: i32| {
      ws {lo=128, hi=256} {
        %2 = constant {value=2:"(((STAGES + 1) % 3) // 1) - -1"} : i32
        %s = floormod %k, %2 : i32
        mbarrier_wait %full, %s, %1
        sync_threads
        %3 = region %a, %s, %1, %1, %2, %0, %0 : tile f16[2, 9, 9]
        tma_copy %A, %3, %full, %s
      }
      %4 = ge %bx, %1 : b1
      if %4 {
        break
      } else {
      }
    }
  }
}
)IR";

TEST(Ir, PrintOfParseIsTheText) {
  auto m = parse("a.ir", kRing);
  ASSERT_TRUE(m.ok()) << render(m.error());
  EXPECT_EQ(print(*m), kRing);
  Status s = validate(*m);
  EXPECT_TRUE(s.ok()) << render(s.error());
}

TEST(Ir, TextsKeepTheirBackslashes) {
  std::string text(kRing);
  text.replace(text.find("\"literal\""), 9, R"("a \\n \"b\" \n \\")");
  auto m = parse("a.ir", text);
  ASSERT_TRUE(m.ok()) << render(m.error());
  EXPECT_EQ(m->funcs[0].specialisation, "a \\n \"b\" \n \\");
  EXPECT_EQ(print(*m), text);
}

TEST(Ir, OpsKnowTheirLineInTheTextAndTheirSource) {
  auto m = parse("a.ir", kRing);
  ASSERT_TRUE(m.ok());
  const Op& launch = (*m)[(*m)[m->funcs[0].body].ops[3]];
  EXPECT_EQ(place_text(place(launch)), "a.ir:10:3");
  ASSERT_EQ(origin_notes(launch).size(), 1u);
  EXPECT_EQ(place_text(origin_notes(launch)[0].where), "gemm.py:15:3");
}

TEST(Ir, ErrorsAreLocated) {
  struct Case {
    std::string_view from, to, message;
  };
  for (const Case& c :
       {Case{"floormod", "floormood", "unknown operation 'floormood'"},
        Case{"%k, %2 : i32", "%kk, %2 : i32", "undefined value %kk"},
        Case{"level=tile", "level=tall", "level is tile or device"}, Case{"ceildiv(K", "ceildev(K", "unknown function"},
        Case{"%s = floormod", "%a = floormod", "defined twice"}}) {
    std::string text(kRing);
    text.replace(text.find(c.from), c.from.size(), c.to);
    auto m = parse("b.ir", text);
    ASSERT_FALSE(m.ok()) << c.to;
    EXPECT_NE(m.error().message.find(c.message), std::string::npos) << m.error().message;
    EXPECT_TRUE(m.error().where.valid());
  }
  for (size_t n = 0; n + 2 < kRing.size(); n += 7) {
    auto m = parse("cut.ir", kRing.substr(0, n));
    if (!m.ok()) EXPECT_TRUE(m.error().where.valid()) << n;
    else EXPECT_TRUE(m->funcs.empty()) << n;
  }
}

TEST(Ir, ValidationRefusesALoadOfNothing) {
  std::string text(kRing);
  std::string_view from = "mbarrier_wait %full, %s, %1";
  text.replace(text.find(from), from.size(), "%90 = load : f32");
  auto m = parse("c.ir", text);
  ASSERT_TRUE(m.ok()) << render(m.error());
  Status s = validate(*m);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("takes operands 'rv*', has none"), std::string::npos) << s.error().message;
}

TEST(Ir, ValidationNamesTheOperand) {
  std::string text(kRing);
  auto replace = [&](std::string_view from, std::string_view to) { text.replace(text.find(from), from.size(), to); };
  replace("mbarrier_wait %full, %s, %1", "mbarrier_wait %a, %s, %1");
  auto m = parse("c.ir", text);
  ASSERT_TRUE(m.ok());
  Status s = validate(*m);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("operand 0 has to be an array of mbarriers"), std::string::npos)
      << s.error().message;
}

TEST(Ir, LevelsAreTablesOfLegalOps) {
  EXPECT_TRUE(is_legal(OpKind::copy, Level::tile));
  EXPECT_FALSE(is_legal(OpKind::copy, Level::device));
  EXPECT_FALSE(is_legal(OpKind::wgmma, Level::tile));
  EXPECT_TRUE(is_legal(OpKind::add, Level::device));
}

TEST(Ir, RolesFollowRepeatsAndAlternatives) {
  const OpInfo& copy = info(OpKind::tma_copy);
  EXPECT_EQ(operand_role(copy, 1, 2), 'w');
  EXPECT_EQ(operand_role(copy, 2, 4), 'B');
  EXPECT_EQ(operand_role(copy, 0, 3), 0);
  const OpInfo& store = info(OpKind::store);
  EXPECT_EQ(operand_role(store, 0, 4), 'w');
  EXPECT_EQ(operand_role(store, 3, 4), 'v');
  const OpInfo& load = info(OpKind::tma_load);
  EXPECT_EQ(operand_role(load, 3, 6), 'm');
  EXPECT_EQ(operand_role(load, 5, 6), 'v');
}

TEST(Builder, FoldsConstantsAndKeepsTheirExpressions) {
  Module m;
  Builder b(m, m.new_block());
  ValueId k = b.constant(meta_param(m, "K", 520));
  ValueId n = b.binary(OpKind::floordiv, b.binary(OpKind::add, k, b.constant(MetaInt(63))), b.constant(MetaInt(64)));
  auto v = constant_value(m, n);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->value, 9);
  EXPECT_EQ(meta_text(m, *v), "(K + 63) // 64");
  EXPECT_EQ(b.binary(OpKind::add, k, b.constant(MetaInt(0))), k);
  // What has no value stays an operation.
  ValueId large = b.constant(MetaInt(INT64_MAX), DType::i64);
  EXPECT_FALSE(constant_value(m, b.binary(OpKind::mul, large, large)));
  EXPECT_FALSE(constant_value(m, b.binary(OpKind::floordiv, k, b.constant(MetaInt(0)))));
}

}  // namespace
}  // namespace tc::ir
