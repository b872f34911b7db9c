// Copies against what an H200 did with the same tensor, box and coordinates (driver 580): what lands where, what is
// left alone, how many bytes complete, what traps.
#include <algorithm>
#include <gtest/gtest.h>

#include <cstring>

#include "sim/exec/run_text_test.h"

namespace tc::sim {
namespace {

// The probe's tensor: 20 rows of 96 bytes, 512 apart; box 64 x 16; 2048 bytes of shared memory full of 0xEE before.
constexpr uint32_t kPitch = 512, kCols = 96, kRows = 20;
runtime::Tensor probe_tensor() {
  runtime::Tensor t{"src", runtime::DType::u8, {kRows * kPitch}, std::vector<uint8_t>(kRows * kPitch)};
  for (size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
  return t;
}

std::string load_kernel(int x, int y, int expect) {
  return ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n{\n.shared .align 1024 .b8 tile[2048]; "
         ".shared .align 8 .b64 bar;\n"
         ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
         "mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; mov.u32 %r1, tile; mov.u32 %r2, "
         "bar;\n"
         "mov.u32 %r3, 0;\nFILL: add.s32 %r4, %r1, %r3; st.shared.b32 [%r4], 0xEEEEEEEE; add.s32 %r3, %r3, 4; "
         "setp.lt.s32 %p1, %r3, 2048; @%p1 bra FILL;\n"
         "mbarrier.init.shared.b64 [%r2], 1; fence.proxy.async;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
         std::to_string(expect) +
         ";\n"
         "mov.b32 %r5, " +
         std::to_string(x) + "; mov.b32 %r6, " + std::to_string(y) +
         ";\n"
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r5, %r6}], "
         "[%r2];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
         "mov.u32 %r3, 0;\nOUT: add.s32 %r4, %r1, %r3; ld.shared.b32 %r7, [%r4]; cvt.u64.u32 %rd3, %r3; add.s64 %rd4, "
         "%rd2, %rd3; st.global.b32 [%rd4], %r7;\n"
         "add.s32 %r3, %r3, 4; setp.lt.s32 %p1, %r3, 2048; @%p1 bra OUT;\nret;\n}\n";
}
std::string load_manifest(int step, std::string_view swizzle = "none") {
  return "launch: kernel=k grid=1 block=1\ntensor: src u8 shape=10240\ntensor: out u8 shape=2048 role=out\narg: map "
         "tensormap u8 dims=96,20 strides=512 box=64,16 estrides=1," +
         std::to_string(step) + " swizzle=" + std::string(swizzle) + " of=src\narg: out buffer of=out\n";
}

struct LoadCase {
  int x, y, step, expect;
};

TEST(TensorLoad, LandsAsOnTheDevice) {
  const LoadCase cases[] = {{0, 0, 1, 1024},  {-16, -4, 1, 1024}, {0, -4, 1, 1024},  {-16, 0, 1, 1024},
                            {16, 3, 1, 1024}, {64, 10, 1, 1024},  {0, 100, 1, 1024}, {0, 0, 2, 512},
                            {0, 0, 3, 384},   {0, 5, 2, 512}};
  const runtime::Tensor src = probe_tensor();
  for (const LoadCase& c : cases) {
    const RunResult r = run_text(load_kernel(c.x, c.y, c.expect), load_manifest(c.step), {src});
    ASSERT_EQ(r.outcome, Outcome::clean) << c.x << "," << c.y << (r.findings.empty() ? "" : render(r.findings[0]));
    const int rows = (16 + c.step - 1) / c.step;
    int wrong = 0, untouched = 0;
    for (int i = 0; i < 2048; ++i) {
      const uint8_t got = r.outputs[0].bytes[static_cast<size_t>(i)];
      const int row = c.y + i / 64 * c.step, col = c.x + i % 64;
      const bool inside = row >= 0 && row < static_cast<int>(kRows) && col >= 0 && col < static_cast<int>(kCols);
      if (i >= rows * 64) untouched += got == 0xEE;
      else wrong += got != (inside ? src.bytes[static_cast<size_t>(row) * kPitch + static_cast<size_t>(col)] : 0);
    }
    EXPECT_EQ(wrong, 0) << c.x << "," << c.y;
    EXPECT_EQ(untouched, 2048 - rows * 64) << c.x << "," << c.y;
  }
}

TEST(TensorLoad, TooManyExpectedBytesHangAndBadCoordinatesTrap) {
  for (const LoadCase& c : {LoadCase{0, 0, 1, 2048}, LoadCase{0, 0, 2, 1024}}) {
    const RunResult r = run_text(load_kernel(c.x, c.y, c.expect), load_manifest(c.step));
    EXPECT_EQ(r.outcome, Outcome::hang);
    const std::string outstanding = std::to_string(c.expect / 2) + " transaction bytes outstanding";
    EXPECT_TRUE(std::any_of(r.findings[0].notes.begin(), r.findings[0].notes.end(), [&](const Note& n) {
      return n.message.find(outstanding) != n.message.npos;
    }));
    EXPECT_NE(r.findings[0].notes.back().message.find("brought bytes to bar (0xc00) 1 time by warp 0"), std::string::npos);
  }
  for (int x : {-8, 8, 1}) {
    const RunResult r = run_text(load_kernel(x, 0, 1024), load_manifest(1));
    ASSERT_EQ(r.outcome, Outcome::trap) << x;
    EXPECT_EQ(r.findings[0].rule, "TMA-04");
  }
}

TEST(TensorLoad, NanFillAndSwizzleOverTheEdge) {
  const std::string manifest =
      "launch: kernel=k grid=1 block=1\ntensor: src f16 shape=4,32 fill=ints\ntensor: out u8 shape=2048 role=out\n"
      "arg: map tensormap f16 dims=32,4 strides=64 box=32,8 swizzle=64B oob=nan of=src\narg: out buffer of=out\n";
  const RunResult r = run_text(load_kernel(16, 2, 512), manifest);
  ASSERT_EQ(r.outcome, Outcome::clean);
  for (uint32_t row = 0; row < 8; ++row)
    for (uint32_t col = 0; col < 32; ++col) {
      uint32_t at = row * 64 + col * 2;
      at ^= (at >> 3) & 0x30;
      uint16_t v;
      std::memcpy(&v, r.outputs[0].bytes.data() + at, 2);
      EXPECT_EQ((v & 0x7C00) == 0x7C00 && (v & 0x3FF), row >= 2 || col >= 16) << row << "," << col;
    }
}

// Stores: how many bytes of the tensor are written, none outside of it.
TEST(TensorStore, ClipsAsOnTheDevice) {
  struct Case {
    int x, y, written;  // -1: traps
    std::string_view rule;
  };
  const Case cases[] = {{0, 0, 1024, ""},       {32, 8, 768, ""},        {0, 10, 640, ""},
                        {64, 0, 512, ""},       {0, 100, 0, ""},         {0, -4, -1, "TMA-06"},
                        {-16, 0, -1, "TMA-06"}, {-16, -4, -1, "TMA-06"}, {8, 0, -1, "TMA-04"}};
  for (const Case& c : cases) {
    const std::string kernel =
        ".visible .entry k(.param .align 64 .b8 map[128])\n{\n.shared .align 1024 .b8 tile[1024];\n.reg .pred %p<3>; "
        ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r1, tile; mov.u32 %r3, 0;\n"
        "FILL: add.s32 %r4, %r1, %r3; st.shared.b32 [%r4], 0x01010101; add.s32 %r3, %r3, 4; setp.lt.s32 %p1, %r3, "
        "1024; @%p1 bra FILL;\n"
        "fence.proxy.async.shared::cta;\nmov.b32 %r5, " +
        std::to_string(c.x) + "; mov.b32 %r6, " + std::to_string(c.y) +
        ";\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r5, %r6}], "
        "[%r1];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";
    const RunResult r = run_text(kernel,
                                 "launch: kernel=k grid=1 block=1\ntensor: dst u8 shape=10240 role=out fill=zero\narg: "
                                 "map tensormap u8 dims=96,20 strides=512 box=64,16 of=dst\n");
    if (c.written < 0) {
      ASSERT_EQ(r.outcome, Outcome::trap);
      EXPECT_EQ(r.findings[0].rule, c.rule);
      continue;
    }
    ASSERT_EQ(r.outcome, Outcome::clean);
    int inside = 0, outside = 0;
    for (uint32_t i = 0; i < kRows * kPitch; ++i) (i % kPitch < kCols ? inside : outside) += r.outputs[0].bytes[i];
    EXPECT_EQ(inside, c.written) << c.x << "," << c.y;
    EXPECT_EQ(outside, 0);
  }
}

TEST(BulkCopy, SizesAndAlignmentAsOnTheDevice) {
  struct Case {
    int global, shared, size;
    Outcome outcome;
    std::string_view rule;
  };
  const Case cases[] = {{0, 0, 16, Outcome::clean, ""},       {0, 16, 32, Outcome::clean, ""},
                        {0, 0, 0, Outcome::clean, ""},        {0, 0, 8, Outcome::hang, "PROG-01"},
                        {0, 0, 24, Outcome::hang, "PROG-01"}, {8, 0, 16, Outcome::trap, "TMA-01"},
                        {0, 8, 16, Outcome::trap, "TMA-01"}};
  for (const Case& c : cases) {
    const std::string kernel =
        ".visible .entry k(.param .u64 in, .param .u32 size)\n{\n.shared .align 16 .b8 tile[64]; .shared .align 8 .b64 "
        "bar;\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [in]; ld.param.u32 %r3, [size]; mov.u32 %r1, tile; mov.u32 %r2, "
        "bar;\nmbarrier.init.shared.b64 [%r2], 1; fence.proxy.async;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], %r3;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+" +
        std::to_string(c.shared) + "], [%rd1+" + std::to_string(c.global) +
        "], %r3, [%r2];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\nret;\n}\n";
    const RunResult r = run_text(
        kernel, "launch: kernel=k grid=1 block=1\ntensor: in u8 shape=64\narg: in buffer of=in\narg: size u32 " +
                    std::to_string(c.size) + "\n");
    EXPECT_EQ(r.outcome, c.outcome) << c.global << " " << c.shared << " " << c.size;
    if (!c.rule.empty()) {
      EXPECT_EQ(r.findings[0].rule, c.rule);
    }
  }
}

// Dimensions 1 to 5: a box of two in each, at coordinate one.
TEST(TensorLoad, UpToFiveDimensions) {
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    std::string dims = "16", strides, box = "16", coords = "%r5";
    uint32_t rows = 1, elements = 16;
    for (uint32_t d = 1; d < rank; ++d) {
      strides += (d > 1 ? "," : "") + std::to_string(elements);
      dims += ",3", box += ",2", coords += ", %r6";
      rows *= 2, elements *= 3;
    }
    std::string kernel = load_kernel(0, 1, static_cast<int>(16 * rows));
    const std::string two = "cp.async.bulk.tensor.2d", coordinates = "{%r5, %r6}";
    kernel.replace(kernel.find(two), two.size(), "cp.async.bulk.tensor." + std::to_string(rank) + "d");
    kernel.replace(kernel.find(coordinates), coordinates.size(), "{" + coords + "}");
    runtime::Tensor src{"src", runtime::DType::u8, {elements}, std::vector<uint8_t>(elements)};
    for (uint32_t i = 0; i < elements; ++i) src.bytes[i] = static_cast<uint8_t>(i / 16);
    const RunResult r = run_text(kernel,
                                 "launch: kernel=k grid=1 block=1\ntensor: src u8 shape=" + std::to_string(elements) +
                                     "\ntensor: out u8 shape=2048 role=out\narg: map tensormap u8 dims=" + dims +
                                     (strides.empty() ? "" : " strides=" + strides) + " box=" + box +
                                     " of=src\narg: out buffer of=out\n",
                                 {src});
    ASSERT_EQ(r.outcome, Outcome::clean) << rank << (r.findings.empty() ? "" : render(r.findings[0]));
    for (uint32_t row = 0; row < rows; ++row) {
      uint32_t want = 0, scale = 1;
      for (uint32_t d = 1, k = row; d < rank; ++d, k /= 2, scale *= 3) want += (1 + k % 2) * scale;
      EXPECT_EQ(r.outputs[0].bytes[16 * row], want) << "rank " << rank << " row " << row;
    }
  }
}

// cp.async: sizes, zero fill, groups, arrival on an mbarrier; early, late and in between.
TEST(CpAsync, FillsGroupsAndArrives) {
  const std::string kernel =
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.shared .align 16 .b8 tile[64]; .shared .align 8 .b64 "
      "bar;\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, tile; mov.u32 %r2, "
      "bar;\nmbarrier.init.shared.b64 [%r2], 1;\n"
      "cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r1+8], [%rd1+8], 8, 2;\ncp.async.commit_group;\n"
      "cp.async.cg.shared.global [%r1+16], [%rd1+16], 16, 0;\ncp.async.commit_group;\n"
      "cp.async.wait_group 1;\nld.shared.b32 %r3, [%r1]; st.global.b32 [%rd2], %r3;\nld.shared.v2.b32 {%r3, %r4}, "
      "[%r1+8]; st.global.v2.b32 [%rd2+8], {%r3, %r4};\n"
      "cp.async.cg.shared.global [%r1+32], [%rd1+32], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n"
      "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
      "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r1+32]; st.global.v4.b32 [%rd2+32], {%r3, %r4, %r5, %r6};\n"
      "cp.async.wait_all;\nld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r1+16]; st.global.v4.b32 [%rd2+16], {%r3, %r4, "
      "%r5, %r6};\nret;\n}\n";
  runtime::Tensor in{"in", runtime::DType::u8, {64}, std::vector<uint8_t>(64)};
  for (uint8_t i = 0; i < 64; ++i) in.bytes[i] = static_cast<uint8_t>(i + 1);
  for (const Options& o :
       {Options{}, Options{.schedule = Schedule::random, .seed = 1},
        Options{.schedule = Schedule::adversarial, .seed = 0}, Options{.schedule = Schedule::adversarial, .seed = 1},
        Options{.schedule = Schedule::adversarial, .seed = 2}}) {
    const RunResult r = run_text(kernel,
                                 "launch: kernel=k grid=1 block=1\ntensor: in u8 shape=64\ntensor: out u8 shape=64 "
                                 "role=out fill=zero\narg: in buffer of=in\narg: out buffer of=out\n",
                                 {in}, o);
    ASSERT_EQ(r.outcome, Outcome::clean) << (r.findings.empty() ? "" : render(r.findings[0]));
    std::vector<uint8_t> want(64, 0);
    for (uint32_t i : {0u, 1u, 2u, 3u, 8u, 9u}) want[i] = static_cast<uint8_t>(i + 1);
    for (uint32_t i = 32; i < 48; ++i) want[i] = static_cast<uint8_t>(i + 1);
    EXPECT_EQ(r.outputs[0].bytes, want);
  }
}

}  // namespace
}  // namespace tc::sim
