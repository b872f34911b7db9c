// Every kernel of testdata goes round: parse(print(x)) == x and print(parse(text)) == text for tile IR, device IR,
// protocol and PTX; and lowering keeps the meaning up to the pipelined tile program (interpreter before and after).
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/interp/interp.h"
#include "runtime/inputs.h"
#include "sim/ptx/module.h"
#include "tools/oracle.h"
#include "tools/pipeline.h"
#include "verifier/protocol/from_ir.h"

namespace tc::tools {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const char* folder : {"kernels", "mutants", "cases"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(TC_TESTDATA) + "/" + folder))
      if (file_kind(entry.path()) == FileKind::python || file_kind(entry.path()) == FileKind::ir)
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void round_trip(const ir::Module& m, const std::string& what) {
  std::string text = ir::print(m);
  auto again = ir::parse("again.ir", text);
  ASSERT_TRUE(again.ok()) << what << ": " << render(again.error());
  EXPECT_TRUE(ir::equal(m, *again)) << what;
  EXPECT_EQ(ir::print(*again), text) << what;
}

TEST(Corpus, IrAndProtocolGoRound) {
  int kernels = 0, protocols = 0;
  for (const std::string& file : corpus()) {
    Program p = load_program(file, {});
    for (const Kernel& k : p.kernels) {
      ++kernels;
      round_trip(k.module, file);
      auto device = to_device(k);
      if (!device.ok()) continue;
      round_trip(*device, file + " (device)");
      auto e = verify::protocol_from_ir(*device);
      if (!e.ok()) continue;
      ++protocols;
      std::string text = verify::print(e->protocol);
      auto again = verify::parse_protocol("again.protocol", text);
      ASSERT_TRUE(again.ok()) << file << ": " << render(again.error()) << text;
      EXPECT_TRUE(*again == e->protocol) << file;
      EXPECT_EQ(verify::print(*again), text) << file;
    }
  }
  EXPECT_GE(kernels, 35);
  EXPECT_GE(protocols, 30);
}

TEST(Corpus, PtxGoesRound) {
  if (!toolchain::has_clang()) GTEST_SKIP() << "no clang plug-in";
  int modules = 0;
  for (const std::string& file : corpus()) {
    Program p = load_program(file, {});
    for (const Kernel& k : p.kernels) {
      auto l = lower(k);
      if (!l.ok()) continue;
      for (toolchain::Compiler c : {toolchain::Compiler::clang, toolchain::Compiler::nvcc}) {
        bool nvcc = c == toolchain::Compiler::nvcc;
        if (nvcc && (!toolchain::find_tool("nvcc") || file.find("/kernels/") == std::string::npos)) continue;
        auto ptx = toolchain::compile_to_ptx(c, "k.cu", l->cuda, l->device.arch);
        ASSERT_TRUE(ptx.ok()) << file << ptx.error().message;
        auto m = ptx::parse(*ptx, "k.ptx");
        ASSERT_TRUE(m.ok()) << file << ": " << render(m.error());
        std::string text = ptx::print(*m);
        auto again = ptx::parse(text, "again.ptx");
        ASSERT_TRUE(again.ok()) << file << ": " << render(again.error());
        EXPECT_TRUE(*again == *m) << file;
        EXPECT_EQ(ptx::print(*again), text) << file;
        ++modules;
      }
    }
  }
  EXPECT_GE(modules, 30);
}

TEST(Corpus, PipeliningKeepsTheMeaning) {
  for (const char* k : {"16", "32", "40", "96", "200"}) {
    Program p = load_program(std::string(TC_TESTDATA) + "/kernels/gemm_relu_pipelined.py",
                             {.args = {{"M", "72"}, {"N", "136"}, {"K", k}}});
    ASSERT_EQ(p.kernels.size(), 1u);
    auto manifest = lower(p.kernels[0]);
    ASSERT_TRUE(manifest.ok());
    auto inputs = runtime::make_inputs(manifest->manifest);
    ASSERT_TRUE(inputs.ok());
    auto before = run_oracle(p.kernels[0], *inputs);
    Kernel piped;
    ASSERT_TRUE(to_device(p.kernels[0], nullptr, [&](const ir::PassInfo& pass, const ir::Module& m) {
                  if (pass.name == "software_pipeline") piped.module = m;
                }).ok());
    auto after = run_oracle(piped, *inputs);
    ASSERT_TRUE(before.ok());
    ASSERT_TRUE(after.ok()) << render(after.error());
    for (const runtime::Tensor& t : *before)
      EXPECT_EQ(runtime::digest(t), runtime::digest(*runtime::tensor_named(*after, t.name)))
          << "K = " << k << " " << t.name;
  }
}

}  // namespace
}  // namespace tc::tools
