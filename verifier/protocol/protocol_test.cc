#include "verifier/protocol/protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/files.h"

namespace tc::verify {
namespace {

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> out;
  for (const auto& f : std::filesystem::directory_iterator(TC_TESTDATA "/protocol"))
    if (f.path().extension() == ".protocol") out.push_back(f.path());
  std::ranges::sort(out);
  return out;
}

TEST(ProtocolText, EveryCorpusFileRoundTrips) {
  size_t files = 0;
  for (const auto& path : corpus()) {
    auto text = read_file(path.string());
    ASSERT_TRUE(text.ok());
    auto p = parse_protocol(path.string(), *text);
    ASSERT_TRUE(p.ok()) << path << ": " << render(p.error());
    std::string printed = print(*p);
    auto again = parse_protocol("printed", printed);
    ASSERT_TRUE(again.ok()) << printed << render(again.error());
    EXPECT_TRUE(*p == *again) << path;
    EXPECT_EQ(print(*again), printed) << path;
    ++files;
  }
  EXPECT_GE(files, 68u);
}

TEST(ProtocolText, KeepsHeaderActualValuesAndPlaces) {
  const char* text =
      "kernel \"gemm[K=512]\" arch sm_90a\nS 3\nparam k_tiles=8 means \"T.ceildiv(K, 64)\" of \"K\"\nparam W\n"
      "assume k_tiles >= 1 because \"K >= 64\" loc gemm.py:5:3-5:9\n"
      "ring full 3 count 1 loc gemm.py:17:13-17:40\nrole producer 4x32 at 128 loc \"a b.py\":2:1-3:4\n"
      "  for k < k_tiles\n    one arrive full[k % 3] x 2 tx 4096 loc gemm.py:20:9-20:30\n";
  auto p = parse_protocol("t.protocol", text);
  ASSERT_TRUE(p.ok()) << render(p.error());
  EXPECT_EQ(p->kernel, "gemm[K=512]");
  EXPECT_EQ(p->params[0].actual, 8);
  EXPECT_EQ(p->params[0].generalises, std::vector<std::string>{"K"});
  EXPECT_FALSE(p->params[1].actual.has_value());
  EXPECT_EQ(p->roles[0].first_thread, 128);
  const Event& e = *events_in(p->roles[0].body)[0];
  EXPECT_EQ(e.origin.where.range.line, 9u);
  EXPECT_EQ(e.origin.where.range.column, 5u);
  EXPECT_EQ(e.origin.where.range.end_column, 39u) << "the range of the statement ends before its loc";
  EXPECT_EQ(e.origin.loc.range.line, 20u);
  EXPECT_EQ(source_file_name(e.origin.loc.range.file), "gemm.py");
  auto again = parse_protocol("u.protocol", print(*p));
  ASSERT_TRUE(again.ok()) << print(*p) << render(again.error());
  EXPECT_TRUE(*p == *again);
}

TEST(ProtocolText, MistakesAreNamedWithTheirPlace) {
  struct Row {
    const char *text, *place, *message;
  };
  const std::string head = "S 2\nring full S count 1\nbuf A S\nrole r 1x32\n";
  for (const Row& r : {Row{"  one wait fill[0] 0\n", "5:12", "no ring is called fill"},
                       {"  one wait full[j] 0\n", "5:3", "j is no parameter"},
                       {"  wait full[0] 0\n", "5:3", "who executes this"},
                       {"  one wait full[0 0\n", "5:19", "expected ']'"},
                       {"  one wait full[0] 0 extra\n", "5:22", "unexpected extra"},
                       {"  one copy A[0] tile 0 bytes 99999999999 on full[0]\n", "5:30", "too large"},
                       {"  one arrive full[0] x 0\n", "5:25", "the arrival count is 1 to 1048575"},
                       {"  for K < 3\n    one read A[0] tile 0\n", "5:3", "K is already a name"},
                       {"  if K + 1\n", "5:11", "expected a comparison"},
                       {"  one wait full[bit(m, 0)] 0\n", "5:3", "m is no mask"},
                       {"  one mma A[0] tile 0\n", "5:22", "all mma"},
                       {"ring x 99 count 1\n", "5:8", "the number of slots is 1 to 64"},
                       {"role r 1x32\n", "5:1", "two roles are called r"},
                       {"nonsense\n", "5:1", "found nonsense"}}) {
    auto p = parse_protocol("m.protocol", head + r.text);
    ASSERT_FALSE(p.ok()) << r.text;
    EXPECT_NE(p.error().message.find(r.message), std::string::npos) << p.error().message;
    EXPECT_EQ(place_text(p.error().where), std::string("m.protocol:") + r.place) << r.text;
  }
  EXPECT_FALSE(parse_protocol("e", "").ok());
  EXPECT_FALSE(parse_protocol("e", "role r 1x32\n  for i < " + std::string(5000, '(') + "\n").ok());
}

// Every text damaged at one byte either reads or is refused with a message; nothing crashes.
TEST(ProtocolText, DamagedTextsAreReadOrRefused) {
  std::mt19937 random(1);
  size_t refused = 0, read = 0;
  for (const auto& path : corpus()) {
    std::string text = *read_file(path.string());
    for (int n = 0; n < 20; ++n) {
      std::string damaged = text;
      damaged[random() % damaged.size()] = "[]()0x%#/ \n\"S-"[random() % 14];
      auto p = parse_protocol("damaged", damaged);
      EXPECT_TRUE(p.ok() || !p.error().message.empty());
      ++(p.ok() ? read : refused);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(read, 100u);
}

TEST(Expression, PrintsReadablyAndEvaluates) {
  auto p = parse_protocol("x", "role r 1x1\n  for i < ((2 + K) * 3 - (1 - 2)) // (4 % 3) & 7 ^ -1\n");
  ASSERT_TRUE(p.ok()) << render(p.error());
  const Expr& e = std::get<Loop>(p->roles[0].body[0].node).trip;
  EXPECT_EQ(print(e), "((((2 + K) * 3 - (1 - 2)) // (4 % 3)) & 7) ^ -1");
  ExprEnv env{[](const std::string&) { return int64_t{5}; }, [](const std::string&, int64_t) { return int64_t{0}; }};
  EXPECT_EQ(evaluate(e, env), (22 & 7) ^ -1);
  EXPECT_EQ(apply(ExprOp::div, -7, 3), -3);
  EXPECT_EQ(apply(ExprOp::mod, -7, 3), 2);
  EXPECT_EQ(apply(ExprOp::div, 1, 0), std::nullopt);
  EXPECT_EQ(apply(ExprOp::mul, INT64_MAX, 2), std::nullopt);
}

}  // namespace
}  // namespace tc::verify
