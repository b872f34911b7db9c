#include "verifier/report/report.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace tc {
namespace {

KernelReport kernel(Verdict status) {
  KernelReport k;
  k.name = "gemm";
  k.file = "gemm.py";
  k.judged = {"0", "1"};
  FileId f = add_source_file("gemm.py", "x = 1\nwait(b, 1)\n");
  k.obligations.push_back({.id = "2",
                           .rule = "MBAR-06",
                           .defect = "barrier-parity",
                           .status = status,
                           .method = "run",
                           .where = {f, 2, 1, 2, 11},
                           .message = "asks for parity 1",
                           .notes = {{{f, 1, 1, 1, 2}, "set here"}},
                           .trace = {}});
  k.obligations.back().trace.push_back({.role = "consumer",
                                        .warp = 1,
                                        .lane = 2,
                                        .kind = "wait",
                                        .text = "all wait full[k % 3] 1",
                                        .where = {f, 2, 1, 2, 11},
                                        .ring = "full",
                                        .slot = 0,
                                        .phase = 3,
                                        .iteration = {7}});
  k.verdict = verdict_of(k);
  return k;
}

TEST(Report, ExitCodesTakeTheMostSevere) {
  KernelReport proved = kernel(Verdict::proved), refuted = kernel(Verdict::refuted), unknown = kernel(Verdict::unknown),
               unsupported = kernel(Verdict::unsupported), bounded = kernel(Verdict::bounded),
               vacuous = kernel(Verdict::vacuous);
  EXPECT_EQ(exit_code(std::array{proved}, false), 0);
  EXPECT_EQ(exit_code(std::array{proved, unknown}, false), 3);
  EXPECT_EQ(exit_code(std::array{unknown, unsupported}, false), 2);
  EXPECT_EQ(exit_code(std::array{unsupported, unknown, refuted, proved}, false), 1);
  EXPECT_EQ(exit_code(std::array{bounded}, false), 3);
  EXPECT_EQ(exit_code(std::array{bounded}, true), 0);
  EXPECT_EQ(vacuous.verdict, Verdict::unknown);
  KernelReport partly = kernel(Verdict::proved);
  partly.not_judged.push_back({"5", "not yet"});
  EXPECT_EQ(verdict_of(partly), Verdict::unsupported);
}

TEST(Report, TextHasPlaceCaretNotesAndTrace) {
  std::string text = text_report(std::array{kernel(Verdict::refuted)}, false);
  EXPECT_NE(text.find("gemm.py:2:1: error: asks for parity 1 [MBAR-06]\n    2 | wait(b, 1)\n      | ^^^^^^^^^^\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("gemm.py:1:1: note: set here"), std::string::npos);
  EXPECT_NE(text.find("    consumer.1.2 'all wait full[k % 3] 1' (7)   [full[0] phase 3]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("gemm.py: gemm: refuted, obligations 0 1"), std::string::npos) << text;
}

TEST(Report, JsonFollowsTheSchema) {
  auto j = nlohmann::json::parse(json_report("tilecheck", std::array{kernel(Verdict::refuted)}));
  EXPECT_EQ(j["version"], 1);
  EXPECT_EQ(j["tool"], "tilecheck");
  const auto& k = j["kernels"][0];
  for (const char* key : {"name", "file", "line", "arch", "args", "specialisation_from", "level", "generalised",
                          "judged", "not_applicable", "not_judged", "assumptions", "verdict", "scope", "bound",
                          "preconditions", "seconds", "obligations"})
    EXPECT_TRUE(k.contains(key)) << key;
  EXPECT_EQ(k["verdict"], "refuted");
  EXPECT_TRUE(k["bound"].is_null());
  const auto& o = k["obligations"][0];
  for (const char* key :
       {"id", "rule", "class", "status", "method", "file", "line", "column", "message", "notes", "trace", "replayed"})
    EXPECT_TRUE(o.contains(key)) << key;
  EXPECT_EQ(o["class"], "barrier-parity");
  EXPECT_EQ(o["line"], 2);
  EXPECT_EQ(o["notes"][0]["message"], "set here");
  EXPECT_EQ(o["trace"][0]["phase"], 3);
  KernelReport odd = kernel(Verdict::refuted);
  odd.obligations[0].message = "\xff";
  EXPECT_FALSE(json_report("t", std::array{odd}).empty()) << "bytes that are no UTF-8 are no crash";
}

}  // namespace
}  // namespace tc
