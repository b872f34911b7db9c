// Names of sanitizers, and the rules that they stand for.
#include "sim/check/checks.h"

#include <gtest/gtest.h>

namespace tc::sim {
namespace {

TEST(Checks, NamesSelectRules) {
  struct Row {
    const char* text;
    std::string_view rule;
    bool wanted;
  };
  for (const Row& r : {Row{"all", "RACE-01", true}, Row{"all", "MBAR-06", true}, Row{"none", "RACE-01", false},
                       Row{"barrier", "MBAR-07", true}, Row{"barrier", "MBAR-06", false}, Row{"lap", "MBAR-06", true},
                       Row{"lap", "MBAR-07", false}, Row{"all,-lap", "MBAR-06", false}, Row{"all,-lap", "MBAR-07", true},
                       Row{"all,-lap,-bulk", "TMA-14", false}, Row{"race,uninit", "BOUND-02", true},
                       Row{"all,-uninit", "BOUND-02", false}, Row{"race,-race", "RACE-02", false}}) {
    const auto checks = parse_checks(r.text);
    ASSERT_TRUE(checks) << r.text;
    EXPECT_EQ(checks->wants(r.rule), r.wanted) << r.text << " " << r.rule;
  }
}

TEST(Checks, OtherNamesAreRefused) {
  for (const char* text : {"", "races", "-all", "race,", "race,,uninit", "--lap", "all,none"})
    EXPECT_FALSE(parse_checks(text)) << text;
  EXPECT_FALSE(parse_checks("race,-race")->any());
}

}  // namespace
}  // namespace tc::sim
