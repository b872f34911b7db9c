#include "specs/rule.h"

#include <gtest/gtest.h>

#include <set>

namespace tc {
namespace {

TEST(RuleTable, FamiliesCarryTheClassOfTheCatalogue) {
  struct Row {
    std::string_view id, defect;
  };
  for (Row r : {Row{"MBAR-05", "barrier-arrive-count"},
                {"MBAR-06", "barrier-parity"},
                {"MBAR-03", "barrier-init"},
                {"TX-02", "barrier-expect-tx"},
                {"FENCE-01", "proxy-fence"},
                {"CPASYNC-04", "smem-race"},
                {"WGMMA-13", "wgmma-hazard"},
                {"BAR-03", "named-barrier"},
                {"ELECT-01", "divergent-collective"},
                {"SETREG-05", "reg-budget"},
                {"PROG-02", "deadlock"},
                {"RACE-01", "smem-race"}}) {
    ASSERT_NE(find_rule(r.id), nullptr) << r.id;
    EXPECT_EQ(find_rule(r.id)->defect, r.defect) << r.id;
  }
  EXPECT_EQ(find_rule("MBAR-99"), nullptr);
}

TEST(RuleTable, EveryRowHasASentenceAndASource) {
  std::set<std::string_view> texts;
  for (const Rule& r : all_rules()) {
    EXPECT_TRUE(is_defect_class(r.defect)) << r.id;
    EXPECT_FALSE(r.source.empty()) << r.id;
    EXPECT_GT(r.text.size(), 20u) << r.id;
    EXPECT_TRUE(texts.insert(r.text).second) << r.id << " repeats a sentence";
    EXPECT_LE(r.obligation.size(), 1u) << r.id;
  }
}

}  // namespace
}  // namespace tc
