// The runner itself: what it must accept, and above all what it must not.
#include "tools/filetest.h"

#include <gtest/gtest.h>

namespace tc::filetest {
namespace {

// A stage that prints what `out` holds and reports what `fault` says on line 1.
std::vector<std::string> run(const std::string& script, const std::string& output, std::vector<Diag> diags = {}) {
  Stages stages;
  stages["fixed"] = [&](const Input& input) {
    Output out{output, diags};
    for (Diag& d : out.diags) d.where.file = input.file;
    return out;
  };
  return run_text(stages, "t.txt", script);
}
constexpr const char* kOutput = "func @a\n  %x = alloc : f16\n  copy %x, %y\nfunc @b\n  gemm %z\n";

struct Case {
  const char* script;
  bool passes;
};
TEST(Filetest, Checks) {
  for (const Case& c : {
           Case{"// test: fixed\n// CHECK: alloc\n// CHECK-NEXT: copy\n", true},
           Case{"# test: fixed\n# CHECK: alloc\n# CHECK-NEXT: gemm\n", false},
           Case{"# test: fixed\n# CHECK: copy\n# CHECK: alloc\n", false},
           Case{"# test: fixed\n# CHECK: %[[V:[a-z]]] = alloc\n# CHECK: copy %[[V]], %y\n", true},
           Case{"# test: fixed\n# CHECK: %[[V:[a-z]+]] = alloc\n# CHECK: gemm %[[V]]\n", false},
           Case{"# test: fixed\n# CHECK: copy {{%[xy]}}, {{.*}}\n", true},
           Case{"# test: fixed\n# CHECK: copy {{%[ab]}}\n", false},
           Case{"# test: fixed\n# CHECK: alloc\n# CHECK-NOT: copy\n# CHECK: gemm\n", false},
           Case{"# test: fixed\n# CHECK: copy\n# CHECK-NOT: copy\n# CHECK: gemm\n", true},
           Case{"# test: fixed\n# CHECK: alloc\n# CHECK-NOT: gemm\n", false},
           Case{"# test: fixed\n# CHECK-NOT: wgmma\n", true},
           Case{"# test: fixed\n# CHECK-LABEL: func @a\n# CHECK: gemm\n# CHECK-LABEL: func @b\n", false},
           Case{"# test: fixed\n# CHECK-LABEL: func @a\n# CHECK: copy\n# CHECK-LABEL: func @b\n# CHECK: gemm\n", true},
           Case{"# test: fixed\n# CHECK-LABEL: func @c\n", false},
           Case{"# test: fixed\n# CHECK: alloc   :     f16\n", true},
           Case{"# test: fixed\n# CHECK: copy {{[}}\n", false},
           Case{"# test: other\n", false},
           Case{"# CHECK: alloc\n", false},
           Case{"nothing\n", false},
       })
    EXPECT_EQ(run(c.script, kOutput).empty(), c.passes) << c.script;
}

TEST(Filetest, ErrorsBelongToTheirLine) {
  Diag on_two = input_error({0, 2, 1, 2, 3}, "unknown name 'x'");
  on_two.rule = "MBAR-01";
  EXPECT_TRUE(run("# test: fixed\nx  # error: unknown name\n", "", {on_two}).empty());
  EXPECT_TRUE(run("# test: fixed\nx  # error: 'x' [MBAR-01]\n", "", {on_two}).empty());
  EXPECT_FALSE(run("# test: fixed\n\nx  # error: unknown name\n", "", {on_two}).empty());
  EXPECT_FALSE(run("# test: fixed\nx  # error: another\n", "", {on_two}).empty());
  EXPECT_FALSE(run("# test: fixed\nx\n", "", {on_two}).empty()) << "an unexpected error";
  EXPECT_FALSE(run("# test: fixed\nx  # error: unknown name\n", "").empty()) << "an error that did not come";
}

TEST(Filetest, OptionsReachTheStage) {
  Stages stages;
  std::vector<std::pair<std::string, std::string>> seen;
  stages["pass"] = [&](const Input& input) {
    seen = input.options;
    return Output{};
  };
  EXPECT_TRUE(run_text(stages, "t.txt", "// test: pass=sync target=sm_90\n").empty());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], (std::pair<std::string, std::string>{"pass", "sync"}));
  EXPECT_EQ(seen[1], (std::pair<std::string, std::string>{"target", "sm_90"}));
}

}  // namespace
}  // namespace tc::filetest
