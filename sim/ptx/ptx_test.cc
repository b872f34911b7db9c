#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/module.h"

namespace tc::ptx {
namespace {

constexpr std::string_view kHead = ".version 8.8\n.target sm_90a\n.address_size 64\n";

Module parse_ok(std::string_view text) {
  auto m = parse(text, "t.ptx");
  EXPECT_TRUE(m.ok()) << render(m.error());
  return m.ok() ? std::move(*m) : Module{};
}

TEST(Ptx, EveryFileOfTestdataGoesRound) {
  size_t files = 0;
  for (std::string_view folder : {"/sim", "/ptx"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(TESTDATA) + std::string(folder))) {
      if (entry.path().extension() != ".ptx") continue;
      auto text = read_file(entry.path());
      ASSERT_TRUE(text.ok());
      const Module m = parse_ok(*text);
      const std::string printed = print(m);
      const Module again = parse_ok(printed);
      EXPECT_EQ(again, m) << entry.path();
      EXPECT_EQ(print(again), printed) << entry.path();
      ++files;
    }
  EXPECT_GE(files, 40u);
}

TEST(Ptx, OperandsOfEveryKind) {
  const Module m = parse_ok(
      std::string(kHead) +
      ".extern .shared .align 1024 .b8 smem[];\n.const .align 4 .f32 table[3] = {0f3F800000, 2.5, -1};\n"
      ".visible .entry k(.param .u64 .ptr .global .align 8 a, .param .align 64 .b8 m[128])\n.maxntid 128, 1, 1\n{\n"
      ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
      "@!%p1 bra $L_1;\nsetp.lt.and.s32 %p1|%p2, %r1, -7, !%p0;\nmov.b64 {%r1, _}, %rd1;\n"
      "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [smem+16];\nst.shared.u32 [%r1+-4], 0x10;\nmov.f32 %r5, 0fBF800000;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];\n"
      "$L_1: ret;\n}\n");
  const Function* k = m.function_named("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->directives[0].values, (std::vector<uint64_t>{128, 1, 1}));
  EXPECT_EQ(k->params[1].bytes(), 128u);
  EXPECT_EQ(m.variable_named("table")->values[0].bits, 0x3F800000u);
  std::vector<const Instruction*> insns;
  for (const Statement& s : k->body.body)
    if (auto* i = std::get_if<Instruction>(&s.value)) insns.push_back(i);
  ASSERT_EQ(insns.size(), 8u);
  EXPECT_EQ(insns[0]->guard, "%p1");
  EXPECT_TRUE(insns[0]->guard_negated);
  EXPECT_EQ(insns[1]->operands[0].kind, Operand::Kind::pair);
  EXPECT_EQ(static_cast<int64_t>(insns[1]->operands[2].bits), -7);
  EXPECT_TRUE(insns[1]->operands[3].negated);
  EXPECT_EQ(insns[2]->operands[0].parts[1].kind, Operand::Kind::sink);
  EXPECT_EQ(insns[3]->operands[1].offset, 16);
  EXPECT_EQ(insns[4]->operands[0].offset, -4);
  EXPECT_EQ(insns[5]->operands[1].bits, 0xBF800000u);
  EXPECT_EQ(insns[6]->operands[1].parts[0].parts.size(), 2u);
  EXPECT_EQ(insns[7]->where.range.line, 17u);
}

TEST(Ptx, BlocksKeepTheirNamesApart) {
  const Module m =
      parse_ok(std::string(kHead) +
               ".visible .entry k()\n{\n{ .reg .pred p; W: @!p bra W; }\n{ .reg .pred p; W: @!p bra W; }\nret;\n}\n");
  EXPECT_EQ(m.function_named("k")->body.body.size(), 3u);
}

TEST(Ptx, MistakesAreErrorsAtTheirPlace) {
  struct Case {
    std::string_view body, message;
    uint32_t line, column;
  };
  constexpr Case kCases[] = {
      {"add.s32 %r1, %r2", "expected ';', found '}'", 7, 1},
      {"add.s32 %r1, ;", "expected an operand, found ';'", 6, 14},
      {"ld.global.u32 %r1, [%rd1;", "expected ']', found ';'", 6, 25},
      {".reg .b33 %r;", "expected a type, found '.b33'", 6, 6},
      {"mov.u32 %r1, 12x;", "malformed number, found '12x'", 6, 14},
      {".bogus 3;", "expected a state space, found '.bogus'", 6, 1},
      {"mov.u32 %r1, `;", "unexpected character '`'", 6, 14},
  };
  for (const Case& c : kCases) {
    auto m = parse(std::string(kHead) + ".entry k()\n{\n" + std::string(c.body) + "\n}\n", "bad.ptx");
    ASSERT_FALSE(m.ok()) << c.body;
    EXPECT_EQ(m.error().message, c.message);
    EXPECT_EQ(m.error().where.line, c.line) << c.body;
    EXPECT_EQ(m.error().where.column, c.column) << c.body;
  }
  EXPECT_EQ(parse("", "e.ptx").error().message, "no .version directive");
  EXPECT_FALSE(parse(std::string(kHead) + ".entry k() {", "e.ptx").ok());
  EXPECT_FALSE(parse("/* open", "e.ptx").ok());
}

TEST(Ptx, DeclarationsOfEveryKindPrintAndParseBack) {
  const std::string text =
      std::string(kHead) +
      ".global .attribute(.managed) .align 8 .u64 table[2] = {generic(data)+4, data};\n"
      ".global .b8 bytes[3] = {0xFF(data), 0xFF00(data), 7};\n"
      ".global .align 4 .b32 data[2 * 4] = {1 + 2, -(3), 0x10};\n"
      ".pragma \"a\", \"b\";\n"
      ".visible .func (.param .b32 r) f(.param .b32 x)\n.noreturn\n{\nret;\n}\n"
      ".alias g, f;\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 32, 2, 1\n.minnctapersm 1\n{\n"
      ".reg .v4 .b32 v<2>;\nld.global.v4.b32 v0, [table+2*8];\nvadd.s32.s32.s32 v0.x, -v0.y.h1, v0.z.b3;\n}\n";
  const Module m = parse_ok(text);
  const Variable* table = m.variable_named("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->attributes, (std::vector<std::string>{"attribute(.managed)"}));
  EXPECT_TRUE(table->values[0].generic);
  EXPECT_EQ(table->values[0].offset, 4);
  EXPECT_FALSE(table->values[1].generic);
  EXPECT_EQ(m.variable_named("bytes")->values[1].mask, 0xFF00u);
  EXPECT_EQ(m.variable_named("data")->dims, (std::vector<uint64_t>{8}));
  EXPECT_EQ(m.variable_named("data")->values[0].bits, 3u);
  EXPECT_EQ(static_cast<int64_t>(m.variable_named("data")->values[1].bits), -3);
  EXPECT_EQ(parse_ok(print(m)), m);
  EXPECT_EQ(print(parse_ok(print(m))), print(m));
}

TEST(Ptx, SizesAndVersionsAreBounded) {
  auto message = [](const std::string& text) {
    auto m = parse(text, "sizes.ptx");
    return m.ok() ? std::string("fine") : m.error().message;
  };
  const std::string head(kHead);
  EXPECT_EQ(message(head + ".global .b8 a[1 << 41];"), "a variable is too large");
  EXPECT_EQ(message(head + ".global .b8 a[1 << 30][1 << 30][1 << 30];"), "a variable is too large");
  EXPECT_EQ(message(head + ".global .b8 a[-1];"), "a size is expected");
  EXPECT_EQ(message(head + ".global .align 3 .b8 a[4];"), ".align is no power of two up to 2^20");
  EXPECT_EQ(message(head + ".entry k()\n{\n.reg .b32 %r<999999999>;\n}\n"), "unreasonable register count");
  EXPECT_EQ(message(head + ".global .b32 a[] = " + std::string(1000, '{')), "initialisers are nested too deeply");
  EXPECT_EQ(message(".version 9.9\n.target sm_90\n"), "unsupported: PTX version 9.9");
  EXPECT_EQ(message(".target sm_90\n"), "expected .version, found '.target'");
}

// Damaged text is refused or read, never more.
TEST(Ptx, DamagedTextDoesNoHarm) {
  auto text = read_file(std::string(TESTDATA) + "/sim/tma_ring.nvcc.ptx");
  ASSERT_TRUE(text.ok());
  for (size_t i = 0; i < text->size(); i += 37) {
    std::string bad = *text;
    bad[i] = "{}[;,.%@"[i % 8];
    auto m = parse(bad, "damaged.ptx");
    if (!m.ok()) {
      EXPECT_FALSE(m.error().message.empty());
    }
    (void)parse(std::string_view(*text).substr(0, i), "cut.ptx");
  }
  std::string deep(std::string(kHead) + ".entry k()\n");
  deep.append(5000, '{');
  EXPECT_FALSE(parse(deep, "deep.ptx").ok());
}

TEST(Ptx, PlacesFollowInlining) {
  const std::string body =
      ".entry k()\n{\n.loc 1 40 3\n.loc 1 12 9, function_name $L_f, inlined_at 1 40 3\n"
      ".loc 2 5 1, function_name $L_g, inlined_at 1 12 9\nbar.sync 0;\n.loc 1 0 1\nret;\n"
      ".loc 2 7 2 // h.h:7:2 @[ k.cu:12:9 @[ k.cu:41:5 ] ]\nbar.sync 1;\n}\n"
      ".file 1 \"/d/k.cu\"\n.file 2 \"h.h\"\n";
  const Module m = parse_ok(std::string(kHead) + body);
  const Function* k = m.function_named("k");
  std::vector<std::vector<std::string>> got;
  for (const Statement& s : k->body.body)
    if (auto* i = std::get_if<Instruction>(&s.value)) {
      got.emplace_back();
      for (const SourceRange& r : places(m, *k, *i)) got.back().push_back(place_text(r));
    }
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0], (std::vector<std::string>{"/d/k.cu:40:3", "/d/k.cu:12:9", "h.h:5:1"}));
  EXPECT_EQ(got[1], got[0]);  // line 0: belongs to what came before
  EXPECT_EQ(got[2], (std::vector<std::string>{"/d/k.cu:41:5", "/d/k.cu:12:9", "h.h:7:2"}));
  EXPECT_EQ(parse_ok(print(m)), m);
}

}  // namespace
}  // namespace tc::ptx
