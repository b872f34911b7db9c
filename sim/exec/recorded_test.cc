// The matrix and copy instructions against what an H200 gave (testdata/gpu/matrix): each kernel runs many forms one after
// the other; integers and small exact values bit for bit, sums of normal values within the tolerance of the recording.
// NAME_normal.txt is a recording of the kernel NAME_ints.ptx on normal inputs (tools/gpu/probe_matrix.py).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/bundle.h"
#include "runtime/expected.h"
#include "sim/api.h"

namespace tc::sim {
namespace {

const std::string kFolder = std::string(TESTDATA) + "/gpu/matrix/";

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// The kernel's text with the inputs of the recording.
std::string kernel_of(std::string name) {
  const bool normal = name.ends_with("_normal");
  if (normal) name.replace(name.size() - 7, 7, "_ints");
  std::istringstream lines(read(kFolder + name + ".ptx"));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool floats = line.starts_with("// tensor: h ") || line.starts_with("// tensor: b ") ||
                        line.starts_with("// tensor: f ") || line.starts_with("// tensor: e");
    if (const size_t at = line.find("fill=ints"); normal && floats && at != std::string::npos)
      line.replace(at, 9, "fill=normal");
    out += line + "\n";
  }
  return out;
}

TEST(Recorded, TheSimulatorGivesWhatTheDeviceGave) {
  int kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".txt") continue;
    const std::string name = entry.path().stem(), text = kernel_of(name);
    ++kernels;
    auto module = ptx::parse(text, name + ".ptx");
    auto manifest = runtime::parse_manifest_header(text);
    auto expected = runtime::parse_expected(read(entry.path()));
    ASSERT_TRUE(module.ok() && manifest.ok() && expected.ok()) << name;
    for (const Schedule s : {Schedule::rr, Schedule::adversarial}) {
      auto r = run(*module, *manifest, {}, {.schedule = s, .seed = 11});
      ASSERT_TRUE(r.ok()) << render(r.error());
      EXPECT_EQ(r->outcome, Outcome::clean) << name << (r->findings.empty() ? "" : render(r->findings[0]));
      for (const runtime::ExpectedOutput& e : *expected) {
        const runtime::Tensor* t = runtime::tensor_named(r->outputs, e.tensor);
        ASSERT_NE(t, nullptr) << name;
        const runtime::Comparison c = runtime::compare(*t, e);
        EXPECT_TRUE(c.equal) << name << " " << e.tensor << ": " << c.detail;
      }
    }
  }
  EXPECT_GE(kernels, 20);
}

}  // namespace
}  // namespace tc::sim
