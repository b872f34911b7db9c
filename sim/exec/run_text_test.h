// For tests: runs the one kernel of a module whose text stands in the test, for sm_90a. What parses or starts not is a
// failure of the test, and gives an empty result.
//   run_text(".visible .entry k(...) {...}", "launch: kernel=k grid=1 block=32\n...", inputs)
#pragma once
#include <gtest/gtest.h>

#include "sim/api.h"

namespace tc::sim {

inline RunResult run_text(const std::string& body, const std::string& manifest,
                          const std::vector<runtime::Tensor>& inputs = {}, const Options& o = {}) {
  auto module = ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n" + body, "test.ptx");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : render(module.error()));
  auto m = runtime::parse_manifest(manifest);
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().message) << manifest;
  if (!module.ok() || !m.ok()) return {};
  auto r = run(*module, *m, inputs, o);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : render(r.error()));
  return r.ok() ? std::move(*r) : RunResult{};
}
inline std::string first_finding(const RunResult& r) { return r.findings.empty() ? "" : render(r.findings[0]); }

}  // namespace tc::sim
