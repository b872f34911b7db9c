// The table of forms: combinations that ptxas 13.0 was seen to accept or refuse, by hand; tools/ptx_forms.py asks it
// about all.
#include "specs/ptx_form.h"

#include <gtest/gtest.h>

namespace tc {
namespace {

struct Row {
  std::string_view mnemonic, modifiers;
  bool fits;
  uint32_t version, sm;
};
constexpr Row kRows[] = {
    {"add", ".s32", true, 10, 10},
    {"add", ".sat.s32", true, 10, 10},
    {"add", ".sat.u32", false, 0, 0},
    {"add", ".rn.ftz.sat.f32", true, 10, 10},
    {"add", ".ftz.rn.f32", true, 10, 10},  // any order
    {"add", ".rn.rz.f32", false, 0, 0},    // one of a group
    {"add", ".rn.bf16", true, 78, 90},
    {"add", ".f16x2", true, 42, 53},
    {"mul", ".s32", false, 0, 0},  // .lo, .hi or .wide
    {"mul", ".wide.u64", false, 0, 0},
    {"cvt", ".rn.f32.s32", true, 10, 10},
    {"cvt", ".s32.rn.f32", false, 0, 0},  // types keep their order
    {"cvt", ".rn.satfinite.e4m3x2.f32", true, 81, 89},
    {"cvt", ".rn.e4m3x2.f32", false, 0, 0},
    {"ld", ".acquire.gpu.global.v2.b32", true, 60, 70},
    {"ld", ".acquire.global.b32", false, 0, 0},           // without a scope
    {"ld", ".acquire.cluster.global.b32", true, 78, 90},  // a word that asks for more
    {"ld", ".global.v4.f64", true, 88, 100},
    {"st", ".const.b32", false, 0, 0},
    {"atom", ".global.add.s64", false, 0, 0},
    {"red", ".global.add.noftz.v8.bf16", true, 81, 90},
    {"setp", ".lo.s32", false, 0, 0},
    {"setp", ".ltu.and.f32", true, 10, 10},
};

TEST(PtxForms, RowsSayWhatFits) {
  for (const Row& r : kRows) {
    const FormVerdict v = judge_form(r.mnemonic, r.modifiers);
    EXPECT_TRUE(v.has_rows) << r.mnemonic;
    EXPECT_EQ(v.fits, r.fits) << r.mnemonic << r.modifiers;
    EXPECT_EQ(v.version, r.version) << r.mnemonic << r.modifiers;
    EXPECT_EQ(v.sm, r.sm) << r.mnemonic << r.modifiers;
  }
}

TEST(PtxForms, UnknownWordsAreNamed) {
  EXPECT_EQ(judge_form("add", ".bogus.s32").unknown, "bogus");
  EXPECT_EQ(judge_form("add", ".rn.rz.f32").unknown, "");
  EXPECT_FALSE(judge_form("wgmma.fence", ".sync.aligned").has_rows);
}

}  // namespace
}  // namespace tc
