// Extraction from device IR, on testdata/mutants/ring_device.ir (a warp-specialised GEMM with a ring of three stages) and
// on edits of it that the model does not hold: each is refused by name, at its line.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "verifier/protocol/from_ir.h"

namespace tc::verify {
namespace {

std::string ring_text() { return *read_file(TC_TESTDATA "/mutants/ring_device.ir"); }
Result<Extracted> extract(const std::string& text) {
  auto m = ir::parse("ring.ir", text);
  if (!m.ok()) return m.error();
  return protocol_from_ir(*m);
}
// Lines that contain `part`, `which` of them (from 0) replaced by `by` (which may be several lines or nothing).
std::string edited(const std::string& text, const std::string& part, int which, const std::string& by) {
  std::string out;
  size_t at = 0;
  for (int n = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    bool hit = line.find(part) != std::string::npos && n++ == which;
    out += hit ? by : line + "\n";
    at = end + 1;
  }
  EXPECT_NE(out, text) << part;
  return out;
}

TEST(FromIr, RingGemmIsTwoRolesOnTwoRings) {
  auto e = extract(ring_text());
  ASSERT_TRUE(e.ok()) << render(e.error());
  const Protocol& p = e->protocol;
  EXPECT_TRUE(e->has_rings);
  EXPECT_TRUE(e->not_judged.empty());
  ASSERT_EQ(p.rings.size(), 2u);
  EXPECT_EQ(p.rings[0].slots, 3);
  EXPECT_EQ(p.rings[0].count, 128);
  ASSERT_EQ(p.buffers.size(), 2u);
  EXPECT_EQ(p.buffers[0].slots, 3);
  ASSERT_EQ(p.roles.size(), 2u);
  for (const Role& r : p.roles) EXPECT_EQ(r.threads(), 128);
  ASSERT_EQ(p.params.size(), 1u);
  EXPECT_EQ(p.params[0].actual, 8);  // K / BK = 512 / 64
  EXPECT_EQ(p.params[0].means, "ceildiv(K, BK)");
  EXPECT_EQ(p.params[0].generalises, std::vector<std::string>{"K"});
  // Every byte of both operands, in the copies as in the expected bytes.
  int64_t expected = 0, copied = 0;
  for (const Role& r : p.roles)
    for (const Event* x : events_in(r.body)) {
      expected += x->tx;
      copied += x->bytes;
      EXPECT_TRUE(x->origin.where.range.valid()) << print(p, *x);
    }
  EXPECT_EQ(expected, 2 * (128 * 64 + 64 * 128));
  EXPECT_EQ(copied, expected);
}

TEST(FromIr, ExtractedProtocolsRoundTripAsText) {
  auto e = extract(ring_text());
  ASSERT_TRUE(e.ok());
  std::string text = print(e->protocol);
  auto again = parse_protocol("printed.protocol", text);
  ASSERT_TRUE(again.ok()) << text << render(again.error());
  EXPECT_TRUE(*again == e->protocol) << text;
  EXPECT_EQ(print(*again), text);
}

TEST(FromIr, WhatTheModelDoesNotHoldIsRefusedByName) {
  struct Row {
    const char *part, *by, *message;
    int which = 0;
  };
  for (const Row& r : {Row{"wgmma_commit", "", "without a commit"},
                       {"wgmma_wait", "        wgmma_wait {pending=1} loc(#0 30:21-30:74)\n", "stay pending"},
                       {"mbarrier_wait %full", "        sync_threads {id=1, threads=64} loc(#0 29:21-29:80)\n",
                        "a named barrier of 64 threads in a role of 128"},
                       {"elected {thread=128}", "        elected {thread=130} loc(#0 25:21-25:129) {\n",
                        "not the first of its role"},
                       {"mbarrier_expect_tx", "          sync_threads loc(#0 25:21-25:129)\n", "code for one thread"}}) {
    std::string text = edited(ring_text(), r.part, r.which, r.by);
    auto e = extract(text);
    ASSERT_FALSE(e.ok()) << r.message;
    EXPECT_EQ(e.error().kind, DiagKind::unsupported) << render(e.error());
    EXPECT_NE(e.error().message.find(r.message), std::string::npos) << render(e.error());
    EXPECT_EQ(source_file_name(e.error().where.file), "ring.ir") << r.message;
  }
}

TEST(FromIr, AReleaseInOneThreadIsAnEventOfOne) {
  std::string text = ring_text();
  size_t at = text.rfind("        mbarrier_arrive %empty");
  ASSERT_NE(at, std::string::npos);
  size_t end = text.find('\n', at);
  std::string line = text.substr(at, end - at + 1);
  text.replace(at, line.size(), "        elected {thread=0} loc(#0 31:21-31:56) {\n  " + line + "        }\n");
  auto e = extract(text);
  ASSERT_TRUE(e.ok()) << render(e.error());
  int found = 0;
  for (const Role& r : e->protocol.roles)
    for (const Event* x : events_in(r.body))
      if (x->kind == EventKind::arrive && e->protocol.rings[static_cast<size_t>(x->ring)].name == "empty") {
        EXPECT_EQ(x->who, Who::one);
        ++found;
      }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace tc::verify
