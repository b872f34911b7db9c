#include "codegen/nv/toolchain/toolchain.h"

#include <gtest/gtest.h>

#include "codegen/nv/toolchain/process.h"

namespace tc::toolchain {
namespace {

constexpr char kKernel[] = R"(#include "tl/tl.h"
extern "C" __global__ void __launch_bounds__(128, 1) k(float* a) {
#line 77 "user.py"
  a[tl::thread_index()] = tl::exp2(a[tl::thread_index()]);
})";

TEST(Toolchain, ClangNeedsNoToolkitAndKeepsSourceLines) {
  if (!has_clang()) GTEST_SKIP() << "no clang plug-in";
  auto ptx = compile_to_ptx(Compiler::clang, "k.cu", kKernel, "sm_90a");
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
  EXPECT_NE(ptx->find(".visible .entry k("), std::string::npos);
  EXPECT_NE(ptx->find("ex2.approx.f32"), std::string::npos);
  EXPECT_NE(ptx->find("user.py"), std::string::npos);
  EXPECT_NE(ptx->find(".version 9.0"), std::string::npos);
}

TEST(Toolchain, ErrorsAreReportedAndLeaveThePluginUsable) {
  if (!has_clang()) GTEST_SKIP() << "no clang plug-in";
  auto bad = compile_to_ptx(Compiler::clang, "bad.cu", "extern \"C\" int x = nonsense;", "sm_90a");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("nonsense"), std::string::npos);
  // exp() has no lowering without libdevice: a fatal error of the backend, which must not end the process.
  auto fatal = compile_to_ptx(
      Compiler::clang, "f.cu",
      "#include \"tl/tl.h\"\nextern \"C\" __global__ void k(float* a) { *a = __builtin_expf(*a); }", "sm_90a");
  EXPECT_FALSE(fatal.ok());
  EXPECT_TRUE(compile_to_ptx(Compiler::clang, "k.cu", kKernel, "sm_90a").ok());
}

TEST(Toolchain, PtxasAcceptsWhatBothCompilersMake) {
  if (!find_tool("ptxas") || !find_tool("nvcc")) GTEST_SKIP() << "no CUDA toolkit";
  for (Compiler c : {Compiler::clang, Compiler::nvcc}) {
    if (c == Compiler::clang && !has_clang()) continue;
    auto ptx = compile_to_ptx(c, "k.cu", kKernel, "sm_90a");
    ASSERT_TRUE(ptx.ok()) << ptx.error().message;
    auto cubin = assemble(*ptx, "sm_90a");
    ASSERT_TRUE(cubin.ok()) << cubin.error().message;
    EXPECT_EQ(cubin->substr(0, 4),
              "\x7f"
              "ELF");
  }
  EXPECT_FALSE(assemble("nonsense", "sm_90a").ok());
}

TEST(Process, TimesOutAndReportsTheStatus) {
  auto slow = run_process({"/bin/sleep", "20"}, 1);
  ASSERT_TRUE(slow.ok());
  EXPECT_TRUE(slow->timed_out);
  auto failed = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 10);
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->status, 3);
  EXPECT_EQ(failed->output, "out\nerr\n");
  EXPECT_FALSE(run_process({"/no/such/program"}, 1).ok());
}

}  // namespace
}  // namespace tc::toolchain
