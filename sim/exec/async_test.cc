// Copies and mbarriers between CTAs, tensor maps edited on the device, forms of cp.async and mbarrier that kernels use
// in the large. Expected values are computed here.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/inputs.h"
#include "sim/exec/run_text_test.h"

namespace tc::sim {
namespace {

std::string rule_of(const RunResult& r) { return r.findings.empty() ? "" : r.findings[0].rule; }
uint32_t word(const RunResult& r, size_t i) {
  uint32_t v;
  std::memcpy(&v, &r.outputs[0].bytes[4 * i], 4);
  return v;
}
const Schedule kSchedules[] = {Schedule::rr, Schedule::random, Schedule::adversarial};

const std::string kCluster =
    "mov.u32 %r3, %tid.x; mov.u32 %r4, %cluster_ctarank; setp.ne.u32 %p1, %r3, 0; mov.u32 %r1, tile; mov.u32 %r2, "
    "bar;\n";
const std::string kRegs =
    ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 "
    "%r<29>; "
    ".reg .b64 %rd<19>;\n";
const std::string kInitAndSync =
    "fence.mbarrier_init.release.cluster; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n";

// Four CTAs; the one of rank 1 sends rows to the CTAs of the mask, each of which waits on its own barrier.
TEST(Multicast, EveryNamedCtaGetsTheWholeBoxAndItsBytes) {
  for (const bool tensor : {true, false})
    for (const uint32_t mask : {0xFu, 0x5u, 0x2u})
      for (const Schedule s : kSchedules) {
        const std::string copy = tensor ? "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                                          "bytes.multicast::cluster [%r1], [%rd1, {%r5, %r6}], [%r2], %h1;\n"
                                        : "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast:"
                                          ":cluster [%r1], [%rd3], 1024, [%r2], %h1;\n";
        const std::string body =
            ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 src, .param .u64 out)\n{\n" + kRegs +
            "mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [src];\n" +
            kCluster + "mov.u32 %r7, " + std::to_string(mask) +
            "; shr.u32 %r8, %r7, %r4; and.b32 %r8, %r8, 1; setp.eq.u32 %p2, %r8, 0;\n"
            "@!%p1 mbarrier.init.shared.b64 [%r2], 1; @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;\n" +
            kInitAndSync + "setp.ne.u32 %p3, %r4, 1; or.pred %p3, %p3, %p1; @%p3 bra WAIT;\nmov.b16 %h1, " +
            std::to_string(mask) + "; mov.b32 %r5, 0; mov.b32 %r6, 0;\n" + copy +
            "WAIT: @%p2 bra DONE;\nL: mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0; @!%p4 bra L;\n"
            "DONE: mad.lo.u32 %r9, %r4, 64, %r3; mul.wide.u32 %rd4, %r9, 16; add.s64 %rd5, %rd2, %rd4; shl.b32 %r10, "
            "%r3, 4; add.u32 %r10, %r10, %r1;\n"
            "@%p2 bra END; ld.shared.v4.b32 {%r11, %r12, %r13, %r14}, [%r10]; st.global.v4.b32 [%rd5], {%r11, %r12, "
            "%r13, %r14};\n"
            "END: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
        runtime::Tensor src{"src", runtime::DType::f16, {512}, std::vector<uint8_t>(1024)};
        for (size_t i = 0; i < 1024; ++i) src.bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
        const RunResult r = run_text(body,
                                     "launch: kernel=k grid=4 cluster=4 block=64\ntensor: src f16 shape=512\ntensor: "
                                     "out u8 shape=4096 role=out\n"
                                     "arg: map tensormap f16 dims=64,8 strides=128 box=64,8 swizzle=none of=src\narg: "
                                     "src buffer of=src\narg: out buffer of=out\n",
                                     {src}, {.schedule = s, .seed = 3});
        ASSERT_EQ(r.outcome, Outcome::clean) << first_finding(r);
        for (uint32_t cta = 0; cta < 4; ++cta)
          EXPECT_TRUE(!(mask >> cta & 1) || std::memcmp(&r.outputs[0].bytes[1024 * cta], src.bytes.data(), 1024) == 0)
              << mask << " " << cta;
      }
}

TEST(Multicast, AMaskBeyondTheClusterIsFound) {
  const std::string body =
      ".visible .entry k(.param .u64 src)\n{\n" + kRegs + "ld.param.u64 %rd3, [src];\n" + kCluster +
      "@!%p1 mbarrier.init.shared.b64 [%r2], 1; @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;\n" +
      kInitAndSync +
      "mov.b16 %h1, 4; @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], [%rd3], 16, [%r2], %h1;\n"
      "barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
  const RunResult r =
      run_text(body, "launch: kernel=k grid=2 cluster=2 block=32\ntensor: src u8 shape=16\narg: src buffer of=src\n");
  EXPECT_EQ(r.outcome, Outcome::trap);
  EXPECT_EQ(rule_of(r), "TMA-08");
}

// CTA 0 stores to CTA 1, 32 lanes, several widths; CTA 1 waits for the bytes.
TEST(RemoteStore, StoresAndReducesInAnotherCta) {
  struct Case {
    std::string insn;
    uint32_t bytes;
  };
  const Case cases[] = {
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r12], %r3, [%r13];", 4},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r12], {%r3, %r3, %r3, %r3}, [%r13];", 16},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r12], {%rd9, %rd9}, [%r13];", 16},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r12], %r3, [%r13];", 4},
  };
  for (const Case& t : cases)
    for (const Schedule s : kSchedules) {
      const std::string body =
          ".visible .entry k(.param .u64 out)\n{\n" + kRegs + "ld.param.u64 %rd2, [out];\n" + kCluster +
          "cvt.u64.u32 %rd9, %r3; shl.b32 %r5, %r3, 4; add.u32 %r6, %r1, %r5; mov.u32 %r7, 0; st.shared.v4.b32 [%r6], "
          "{%r7, %r7, %r7, %r7};\n"
          "@!%p1 mbarrier.init.shared.b64 [%r2], 1; @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
          std::to_string(32 * t.bytes) + ";\n" + kInitAndSync +
          "setp.eq.u32 %p2, %r4, 1; @%p2 bra WAIT;\nmov.u32 %r11, 1; mapa.shared::cluster.u32 %r12, %r6, %r11; "
          "mapa.shared::cluster.u32 %r13, %r2, %r11;\n" +
          t.insn +
          "\nbra DONE;\nWAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r2], 0; @!%p4 bra "
          "WAIT;\nld.shared.b32 %r8, [%r6]; mul.wide.u32 %rd4, %r3, 4; add.s64 "
          "%rd5, %rd2, %rd4; st.global.b32 [%rd5], %r8;\nDONE: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
      const RunResult r = run_text(
          body,
          "launch: kernel=k grid=2 cluster=2 block=32\ntensor: out u32 shape=32 role=out\narg: out buffer of=out\n", {},
          {.schedule = s, .seed = 5});
      ASSERT_EQ(r.outcome, Outcome::clean) << t.insn << first_finding(r);
      for (size_t i = 0; i < 32; ++i) EXPECT_EQ(word(r, i), i) << t.insn;
    }
}

// Every thread of CTA 1 arrives on CTA 0's barrier in one of these ways; CTA 0 waits, and counts the phases it saw.
TEST(RemoteMbarrier, ArrivalsOfEveryForm) {
  const std::pair<std::string, int> forms[] = {
      {"mbarrier.arrive.shared::cluster.b64 _, [%r13];", 32},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13], 2;", 64},
      {"mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r13];", 32},
      {"mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r13];", 32},
      {"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r13], 8; "
       "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r13], 8;",
       32},
      {"mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r13], 4; "
       "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r13], 4; mbarrier.arrive.shared::cluster.b64 _, "
       "[%r13];",
       32},
  };
  for (const auto& [insn, count] : forms) {
    const std::string body =
        ".visible .entry k(.param .u64 out)\n{\n" + kRegs + "ld.param.u64 %rd2, [out];\n" + kCluster +
        "@!%p1 mbarrier.init.shared.b64 [%r2], " + std::to_string(count) + ";\n" + kInitAndSync +
        "setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT;\nmov.u32 %r11, 0; mapa.shared::cluster.u32 %r13, %r2, %r11;\n" + insn +
        "\nbra DONE;\nWAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r2], 0; @!%p4 bra "
        "WAIT;\n@!%p1 st.global.b32 [%rd2], 77;\nDONE: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    const RunResult r = run_text(
        body, "launch: kernel=k grid=2 cluster=2 block=32\ntensor: out u32 shape=1 role=out\narg: out buffer of=out\n");
    ASSERT_EQ(r.outcome, Outcome::clean) << insn << first_finding(r);
    EXPECT_EQ(word(r, 0), 77u) << insn;
  }
}

// States, pending counts, arrive without completion, generic addresses, spellings of PTX 7.0 (no .shared::cta).
TEST(Mbarrier, StatesAndSpellings) {
  const std::string body =
      ".visible .entry k(.param .u64 out)\n{\n" + kRegs +
      "ld.param.u64 %rd2, [out]; mov.u32 %r2, bar; cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd1, %rd1;\n"
      "mbarrier.init.b64 [%rd1], 3;\nmbarrier.arrive.b64 %rd5, [%rd1]; mbarrier.pending_count.b64 %r5, %rd5; "
      "st.global.b32 [%rd2], %r5;\n"
      "mbarrier.arrive.noComplete.shared.b64 %rd6, [%r2], 1; mbarrier.pending_count.b64 %r5, %rd6; st.global.b32 "
      "[%rd2+4], %r5;\n"
      "mbarrier.test_wait.shared.b64 %p1, [%r2], %rd5; selp.b32 %r6, 1, 0, %p1; st.global.b32 [%rd2+8], %r6;\n"
      "mbarrier.arrive.shared::cta.b64 %rd7, [%r2]; mbarrier.test_wait.b64 %p1, [%rd1], %rd5; selp.b32 %r6, 1, 0, %p1; "
      "st.global.b32 [%rd2+12], %r6;\n"
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; selp.b32 %r6, 1, 0, %p1; st.global.b32 [%rd2+16], %r6;\n"
      "mbarrier.arrive_drop.shared.b64 %rd8, [%r2]; mbarrier.arrive.shared.b64 _, [%r2], 2; "
      "mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p1, [%r2], 1, 1000; selp.b32 %r6, 1, 0, %p1; st.global.b32 "
      "[%rd2+20], %r6;\n"
      "mbarrier.arrive.b64 %rd8, [%rd1]; mbarrier.pending_count.b64 %r5, %rd8; st.global.b32 [%rd2+24], "
      "%r5;\nmbarrier.inval.shared.b64 [%r2]; ret;\n}\n";
  const RunResult r =
      run_text(body, "launch: kernel=k grid=1 block=1\ntensor: out u32 shape=7 role=out\narg: out buffer of=out\n");
  ASSERT_EQ(r.outcome, Outcome::clean) << first_finding(r);
  const uint32_t want[] = {3, 2, 0, 1, 1, 1, 2};
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(word(r, i), want[i]) << i;
}

// ---------------------------------------------------------------- tensor maps edited on the device

// A map is copied to shared memory, changed field by field, copied back to global memory and used.
std::string edit_kernel(bool acquire) {
  return ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 ws, .param .u64 other, .param .u64 out)\n{\n" +
         kRegs +
         ".shared .align 128 .b8 smap[128];\nmov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [ws]; "
         "ld.param.u64 %rd3, [other]; ld.param.u64 %rd4, [out];\n" +
         kCluster +
         "mov.u32 %r5, smap; shl.b32 %r6, %r3, 2; add.u32 %r6, %r6, %r5; mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, "
         "%rd1, %rd5; ld.b32 %r7, [%rd6]; st.shared.b32 [%r6], %r7; bar.warp.sync -1;\n"
         // a first copy through the map as it is, so that it has been used
         "@!%p1 mbarrier.init.shared.b64 [%r2], 1;\nadd.s64 %rd7, %rd2, %rd5; st.global.b32 [%rd7], %r7; bar.warp.sync "
         "-1; fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [%rd2], "
         "128;\nfence.proxy.async; bar.warp.sync -1;\n"
         "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512; mov.u32 %r8, 0;\n@!%p1 "
         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r8, %r8}], "
         "[%r2];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0; @!%p4 bra W;\n"
         "cvt.u64.u32 %rd8, %r5; @%p1 bra EDITED;\n"
         "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd8], "
         "%rd3;\ntensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd8], 1;\n"
         "mov.u32 %r9, 24; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd8], 0, %r9;\nmov.u32 %r9, 5; "
         "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd8], 1, %r9;\n"
         "mov.u64 %rd9, 64; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd8], 0, %rd9;\nmov.u32 %r9, "
         "16; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd8], 0, %r9;\n"
         "mov.u32 %r9, 8; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd8], 1, "
         "%r9;\ntensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd8], 1, 2;\n"
         "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd8], "
         "0;\ntensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%rd8], 1;\n"
         "EDITED: bar.warp.sync "
         "-1;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r5], "
         "128;\n" +
         std::string(acquire ? "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n" : "") +
         "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;\nmov.u32 %r8, 8; mov.u32 %r9, 1;\n@!%p1 "
         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+1024], [%rd2, {%r8, %r9}], "
         "[%r2];\n"
         "V: mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 1; @!%p4 bra V;\nadd.u32 %r10, %r1, 1024; shl.b32 %r6, "
         "%r3, 2; add.u32 %r10, %r10, %r6; ld.shared.b32 %r7, [%r10]; add.s64 %rd6, %rd4, %rd5; st.global.b32 [%rd6], "
         "%r7; ret;\n}\n";
}
const std::string kEditManifest =
    "launch: kernel=k grid=1 block=32\ntensor: src f16 shape=32,16\ntensor: ws u32 shape=128 role=inout\ntensor: other "
    "f16 shape=5,32\ntensor: out u16 shape=64 role=out\n"
    "arg: map tensormap f16 dims=16,32 strides=32 box=16,16 swizzle=32B of=src\narg: ws buffer of=ws\narg: other "
    "buffer of=other\narg: out buffer of=out\n";

TEST(TensorMap, EditedOnTheDevice) {
  runtime::Tensor other{"other", runtime::DType::f16, {5, 32}, std::vector<uint8_t>(320)};
  for (size_t i = 0; i < 320; ++i) other.bytes[i] = static_cast<uint8_t>(3 * i + 1);
  const RunResult r = run_text(edit_kernel(true), kEditManifest, {other});
  ASSERT_EQ(r.outcome, Outcome::clean) << first_finding(r);
  const runtime::Tensor& out = r.outputs.back();
  for (size_t row = 0; row < 4; ++row)  // rows 1, 3, 5, 7 of 5; columns 8 ... 23
    for (size_t c = 0; c < 16; ++c) {
      uint16_t want = 0x7FF7, got;
      if (1 + 2 * row < 5) std::memcpy(&want, &other.bytes[64 * (1 + 2 * row) + 2 * (8 + c)], 2);
      std::memcpy(&got, &out.bytes[2 * (16 * row + c)], 2);
      EXPECT_EQ(got, want) << row << " " << c;
    }
}

// As kernels do that get no map from the host: zeros, and every field replaced. `before`: the words of those zeros.
std::string making_kernel(uint32_t before) {
  const std::string replace = "tensormap.replace.tile.", into = ".shared::cta.b1024.b32 [%rd8], ";
  return ".visible .entry k(.param .u64 src, .param .u64 ws, .param .u64 out)\n{\n" + kRegs +
         ".shared .align 128 .b8 smap[128];\nld.param.u64 %rd3, [src]; ld.param.u64 %rd2, [ws]; ld.param.u64 %rd4, "
         "[out];\n" +
         kCluster +
         "mov.u32 %r5, smap; cvt.u64.u32 %rd8, %r5; shl.b32 %r6, %r3, 2; add.u32 %r7, %r6, %r5; st.shared.b32 [%r7], " +
         std::to_string(before) + ";\n@!%p1 mbarrier.init.shared.b64 [%r2], 1; bar.warp.sync -1; @%p1 bra MADE;\n" +
         replace + "global_address.shared::cta.b1024.b64 [%rd8], %rd3;\n" + replace + "rank" + into + "1;\n" + replace +
         "box_dim" + into + "0, 16;\n" + replace + "box_dim" + into + "1, 4;\n" + replace + "global_dim" + into +
         "0, 16;\n" + replace + "global_dim" + into + "1, 32;\n" + replace +
         "global_stride.shared::cta.b1024.b64 [%rd8], 0, 32;\n" + replace + "element_stride" + into + "0, 1;\n" +
         replace + "element_stride" + into + "1, 1;\n" + replace + "elemtype" + into + "6;\n" + replace +
         "interleave_layout" + into + "0;\n" + replace + "swizzle_mode" + into + "0;\n" + replace + "fill_mode" + into +
         "0;\nMADE: bar.warp.sync "
         "-1;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
         "[%rd2], [%r5], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\nfence.proxy.async; "
         "bar.warp.sync -1;\n"
         "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128; mov.u32 %r8, 0; mov.u32 %r9, 30;\n@!%p1 "
         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r8, %r9}], "
         "[%r2];\n"
         "V: mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0; @!%p4 bra V;\nadd.u32 %r10, %r1, %r6; ld.shared.b32 "
         "%r7, [%r10]; "
         "cvt.u64.u32 %rd5, %r6; add.s64 %rd6, %rd4, %rd5; st.global.b32 [%rd6], %r7; ret;\n}\n";
}

TEST(TensorMap, MadeOnTheDeviceFromZeros) {
  const std::string manifest =
      "launch: kernel=k grid=1 block=32\ntensor: src u16 shape=32,16\ntensor: ws u32 shape=32 role=inout\ntensor: out "
      "u16 "
      "shape=64 role=out\narg: src buffer of=src\narg: ws buffer of=ws\narg: out buffer of=out\n";
  runtime::Tensor src{"src", runtime::DType::u16, {32, 16}, std::vector<uint8_t>(1024)};
  for (size_t i = 0; i < 1024; ++i) src.bytes[i] = static_cast<uint8_t>(7 * i + 3);
  const RunResult r = run_text(making_kernel(0), manifest, {src});
  ASSERT_EQ(r.outcome, Outcome::clean) << first_finding(r);
  for (size_t i = 0; i < 128; ++i)  // rows 30 and 31, then two behind the end
    EXPECT_EQ(r.outputs.back().bytes[i], i < 64 ? src.bytes[30 * 32 + i] : 0) << i;
  EXPECT_EQ(rule_of(run_text(making_kernel(1), manifest, {src})), "TMA-12");
}

TEST(TensorMap, AnEditThatIsNotAcquiredIsFound) {
#ifdef TC_NO_CHECKS
  GTEST_SKIP() << "a simulator without checks finds nothing";
#endif
  // The map as it was has a box of 512 bytes: the second copy completes more than was expected, too.
  const RunResult r = run_text(edit_kernel(false), kEditManifest);
  ASSERT_NE(r.outcome, Outcome::clean);
  bool found = false;
  for (const Diag& d : r.findings) found |= d.rule == "FENCE-07";
  EXPECT_TRUE(found) << first_finding(r);
}

// What a copy through a map must not do, by rule.
TEST(TensorMap, BrokenRulesAreNamed) {
  struct Case {
    const char *rule, *statements;
  };
  const std::string use =
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r8, %r8}], "
      "[%r2];\n";
  const std::string replaced = "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n" + use;
  const Case cases[] = {
      {"TMA-12", "add.s64 %rd2, %rd2, 32;\n"},
      {"TMA-24", "mov.u32 %r9, 0; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 1, %r9;\n"},
      {"TMA-25", "mov.u32 %r9, 3; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, %r9;\n"},
      {"TMA-28", "mov.u32 %r9, 32; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, %r9;\n"},
      {"TMA-23", "mov.u64 %rd9, 40; tensormap.replace.tile.global_stride.global.b1024.b64 [%rd2], 0, %rd9;\n"},
      {"TMA-21", "add.s64 %rd9, %rd3, 8; tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd9;\n"},
      {"TMA-27", "tensormap.replace.tile.element_stride.global.b1024.b32 [%rd2], 1, 9;\n"},
      {"TMA-30",
       "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd2], 1; tensormap.replace.tile.fill_mode.global.b1024.b32 "
       "[%rd2], 1;\n"},
      {"TMA-03", "tensormap.replace.tile.rank.global.b1024.b32 [%rd2], 0;\n"},
      {"TMA-04", "mov.u32 %r8, 4;\n"},
      {"TMA-02", "add.u32 %r1, %r1, 64;\n"},
      {"TMA-16", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile.bulk_group [%rd2, {%r8, %r8}], [%r1];\n"},
  };
  for (const Case& t : cases) {
    const std::string body =
        ".visible .entry k(.param .u64 map, .param .u64 other)\n{\n" + kRegs +
        "ld.param.u64 %rd2, [map]; ld.param.u64 %rd3, [other];\n" + kCluster +
        "mov.u32 %r8, 0; mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;\n" +
        t.statements + replaced + "ret;\n}\n";
    const RunResult r =
        run_text(body,
                 "launch: kernel=k grid=1 block=1\ntensor: src f16 shape=32,16\ntensor: other f16 shape=5,32\narg: map "
                 "tensormap_ptr f16 dims=16,32 strides=32 box=16,16 swizzle=32B of=src\narg: other buffer of=other\n");
    EXPECT_EQ(r.outcome, Outcome::trap) << t.rule;
    bool found = false;
    for (const Diag& d : r.findings) found |= d.rule == t.rule;
    EXPECT_TRUE(found) << t.rule << " " << first_finding(r);
  }
}

// ---------------------------------------------------------------- cp.async

// Sizes, src-size, ignored sources, policies; what is not copied is zero.
TEST(CpAsync, PartsAreZeroFilled) {
  struct Case {
    std::string insn;
    uint32_t bytes, copied;
  };
  const Case cases[] = {
      {"cp.async.ca.shared.global [%r6], [%rd5], 4;", 4, 4},
      {"cp.async.ca.shared.global [%r6], [%rd5], 8;", 8, 8},
      {"cp.async.cg.shared.global.L2::128B [%r6], [%rd5], 16;", 16, 16},
      {"cp.async.ca.shared::cta.global [%r6], [%rd5], 16, 5;", 16, 5},
      {"cp.async.cg.shared.global [%r6], [%rd5], 16, %r20;", 16, 12},
      {"cp.async.cg.shared.global [%r6], [%rd5], 16, 0;", 16, 0},
      {"cp.async.cg.shared.global [%r6], [%rd5], 16, %p5;", 16, 0},
      {"cp.async.cg.shared.global [%r6], [%rd5], 16, %p6;", 16, 16},
      {"createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0; cp.async.cg.shared.global.L2::cache_hint [%r6], [%rd5], "
       "16, %rd9;",
       16, 16},
      {"createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0; cp.async.ca.shared.global.L2::cache_hint.L2::256B [%r6], "
       "[%rd5], 8, %r21, %rd9;",
       8, 3},
  };
  for (const Case& t : cases) {
    const std::string body =
        ".visible .entry k(.param .u64 src, .param .u64 out)\n{\n" + kRegs +
        "ld.param.u64 %rd1, [src]; ld.param.u64 %rd2, [out];\n" + kCluster +
        "mov.u32 %r20, 12; mov.u32 %r21, 3; setp.eq.u32 %p5, %r20, 12; setp.ne.u32 %p6, %r20, 12;\nshl.b32 %r5, %r3, "
        "4; add.u32 %r6, %r1, %r5; mul.wide.u32 %rd4, %r3, 16; add.s64 %rd5, %rd1, %rd4;\n" +
        t.insn +
        "\ncp.async.commit_group; cp.async.wait_group 0;\nld.shared.v4.b32 {%r8, %r9, %r10, %r11}, [%r6]; add.s64 "
        "%rd6, %rd2, %rd4; st.global.v4.b32 [%rd6], {%r8, %r9, %r10, %r11}; ret;\n}\n";
    runtime::Tensor src{"src", runtime::DType::u8, {512}, std::vector<uint8_t>(512)};
    for (size_t i = 0; i < 512; ++i) src.bytes[i] = static_cast<uint8_t>(i * 5 + 1);
    const RunResult r = run_text(body,
                                 "launch: kernel=k grid=1 block=32\ntensor: src u8 shape=512\ntensor: out u8 shape=512 "
                                 "role=out\narg: src buffer of=src\narg: out buffer of=out\n",
                                 {src}, {.checks = false});
    ASSERT_EQ(r.outcome, Outcome::clean) << t.insn << first_finding(r);
    int wrong = 0;
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t b = 0; b < t.bytes; ++b)
        wrong += r.outputs[0].bytes[16 * lane + b] != (b < t.copied ? src.bytes[16 * lane + b] : 0);
    EXPECT_EQ(wrong, 0) << t.insn;
  }
}

}  // namespace
}  // namespace tc::sim
