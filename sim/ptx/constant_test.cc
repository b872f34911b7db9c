// Constant expressions against values worked out by hand from PTX ISA 4.5; what is no expression is refused, not read.
#include "sim/ptx/constant.h"

#include <gtest/gtest.h>

#include "base/source.h"

namespace tc::ptx {
namespace {

struct Read {
  Constant value;
  std::string error;
  size_t left = 0;  // tokens behind the expression
};
Read read(const std::string& text) {
  const FileId file = add_source_file("constant", text);
  auto tokens = lex(file, source_file_text(file));
  EXPECT_TRUE(tokens.ok()) << text;
  ConstantReader reader(tokens->tokens, 0);
  Read r;
  r.value = reader.read(Extent::whole), r.error = reader.error();
  r.left = tokens->tokens.size() - 1 - std::min(reader.at(), tokens->tokens.size() - 1);
  return r;
}

TEST(Constants, IntegersFollowC) {
  struct Row {
    std::string text;
    int64_t want;
    bool is_unsigned;
  };
  for (const Row& row : {Row{"7", 7, false},
                         {"0x1F", 31, false},
                         {"0b101", 5, false},
                         {"017", 15, false},
                         {"0", 0, false},
                         {"5U", 5, true},
                         {"0xFFFFFFFFFFFFFFFF", -1, true},
                         {"(3 + 4) << 2", 28, false},
                         {"3 + 4 << 2", 28, false},  // shifts bind weaker than +
                         {"2 + 3 * 4", 14, false},
                         {"7 %3", 1, false},
                         {"7 % 3", 1, false},
                         {"-7 / 2", -3, false},
                         {"-8 >> 1", -4, false},
                         {"~0", -1, false},
                         {"!5", 0, false},
                         {"- -5", 5, false},
                         {"1 < 2 && 3 >= 4 || 5 != 6", 1, false},
                         {"6 & 3 | 8 ^ 1", 11, false},
                         {"5 > 3 ? 10 : 20", 10, false},
                         {"0 ? 1 : 0 ? 2 : 3", 3, false},
                         {"(.u64) -1 > 0", 1, false},
                         {"(.s64) 5U", 5, false},
                         {"WARP_SZ / 2", 16, false}}) {
    const Read r = read(row.text);
    EXPECT_EQ(r.error, "") << row.text;
    EXPECT_EQ(static_cast<int64_t>(r.value.bits), row.want) << row.text;
    EXPECT_EQ(r.value.is_unsigned, row.is_unsigned) << row.text;
    EXPECT_FALSE(r.value.is_real) << row.text;
    EXPECT_EQ(r.left, 0u) << row.text;
  }
}

TEST(Constants, RealsAreBits) {
  struct Row {
    std::string text;
    Type type;
    uint64_t want;
  };
  for (const Row& row : {Row{"0f3F800000", Type::f32, 0x3F800000},
                         {"-0f3F800000", Type::f32, 0xBF800000},
                         {"0D3FF0000000000000", Type::f64, 0x3FF0000000000000},
                         {"1.5", Type::f64, 0x3FF8000000000000},
                         {"-2.5", Type::f64, 0xC004000000000000},
                         {"1.5e1", Type::f64, 0x402E000000000000},
                         {"1.0 + 0.5 * 2", Type::f64, 0x4000000000000000}}) {
    const Read r = read(row.text);
    EXPECT_EQ(r.error, "") << row.text;
    EXPECT_TRUE(r.value.is_real) << row.text;
    EXPECT_EQ(r.value.real_type, row.type) << row.text;
    EXPECT_EQ(r.value.bits, row.want) << row.text;
  }
}

TEST(Constants, MistakesAreNamed) {
  EXPECT_EQ(read("1 / 0").error, "division by zero in an expression");
  EXPECT_EQ(read("09").error, "malformed number");
  EXPECT_EQ(read("1.5 << 2").error, "reals have no operator <<");
  EXPECT_EQ(read("(.s32) 1").error, "a cast is (.s64) or (.u64)");
  EXPECT_EQ(read("(1").error, "expected ')'");
  EXPECT_EQ(read(std::string(5000, '(') + "1").error, "an expression is nested too deeply");
  EXPECT_EQ(read(std::string(5000, '-') + "1").error, "an expression is nested too deeply");
  EXPECT_EQ(static_cast<int64_t>(read("0x8000000000000000 / (.s64) -1").value.bits), 0);  // unsigned: by 2^64 - 1
}

}  // namespace
}  // namespace tc::ptx
