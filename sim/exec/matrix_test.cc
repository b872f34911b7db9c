// Tensor-core instructions: wgmma in every operand layout, shape and accumulator type; ldmatrix, stmatrix, mma.sync.
// Operand images are laid out here by the formulas of the ISA's text, written out again; results are exact on small
// integers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/inputs.h"
#include "sim/api.h"
#include "sim/exec/tile_math.h"

namespace tc::sim {
namespace {

struct Layout {
  const char* name;
  bool mn_major;
  uint32_t span;  // bytes of the swizzle, 0: none
  uint32_t lbo, sbo;
};
// LBO and SBO as in the device probe, which had 64 rows.
const Layout kLayouts[] = {
    {"K none", false, 0, 1024, 128},  {"K 32B", false, 32, 16, 256},      {"K 64B", false, 64, 16, 512},
    {"K 128B", false, 128, 16, 1024}, {"MN none", true, 0, 4096, 128},    {"MN 32B", true, 32, 512, 8192},
    {"MN 64B", true, 64, 1024, 8192}, {"MN 128B", true, 128, 2048, 8192},
};

uint32_t byte_of(const Layout& l, uint32_t mn, uint32_t k) {
  const uint32_t w = l.span / 16;
  uint32_t a;
  if (!l.mn_major && l.span == 0) a = (mn % 8) * 16 + (mn / 8) * l.sbo + (k % 8) * 2 + (k / 8) * l.lbo;
  else if (!l.mn_major) a = (mn % 8) * 16 * w + (mn / 8) * l.sbo + (k % 8) * 2 + (k / 8) * 16;
  else if (l.span == 0) a = (mn % 8) * 2 + (mn / 8) * l.sbo + (k % 8) * 16 + (k / 8) * l.lbo;
  else a = (mn % 8) * 2 + (mn / 8 % w) * 16 + (mn / (8 * w)) * l.lbo + (k % 8) * 16 * w + (k / 8) * l.sbo;
  const uint32_t mask = l.span == 128 ? 0x70 : l.span == 64 ? 0x30 : l.span == 32 ? 0x10 : 0;
  return a ^ ((a >> 3) & mask);
}
uint64_t descriptor(const Layout& l, uint32_t start) {
  const uint64_t mode = l.span == 128 ? 1 : l.span == 64 ? 2 : l.span == 32 ? 3 : 0;
  auto enc = [](uint64_t x) { return (x & 0x3FFFF) >> 4; };
  return enc(start) | enc(l.lbo) << 16 | enc(l.sbo) << 32 | mode << 62;
}

struct Shape {
  uint32_t n;
  std::string d, ab;
  bool registers = false;  // A in registers
  int scale_a = 1, scale_b = 1;
  bool accumulate = true;  // two operations, the second adds
};

constexpr uint32_t kImage = 32768;  // bytes of an operand image

// Both images go to shared memory, one or two wgmma run, every thread writes its accumulators.
std::string wgmma_kernel(const Layout& a, const Layout& b, const Shape& s) {
  const uint32_t regs = s.d == "f16" ? s.n / 4 : s.n / 2;
  std::string list, init;
  for (uint32_t i = 0; i < regs; ++i) list += (i ? ", %d" : "%d") + std::to_string(i);
  std::string t =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 da, .param .u64 db)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b32 %d<128>; .reg .b64 %rd<20>;\n"
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out]; ld.param.u64 %rd4, [da]; ld.param.u64 "
      "%rd5, [db];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, smem; shl.b32 %r3, %r1, 4;\n"
      "L: cvt.u64.u32 %rd6, %r3; add.s64 %rd7, %rd1, %rd6; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd7]; add.s32 %r8, "
      "%r2, %r3; st.shared.v4.b32 [%r8], {%r4, %r5, %r6, %r7};\n"
      "add.s64 %rd7, %rd2, %rd6; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd7]; st.shared.v4.b32 [%r8+32768], {%r4, "
      "%r5, %r6, %r7};\n"
      "add.s32 %r3, %r3, 2048; setp.lt.u32 %p1, %r3, 32768; @%p1 bra L;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n";
  std::string operand_a = "%rd4", extra = std::string(", ") + (a.mn_major ? "1" : "0");
  if (s.registers) {  // A[row][k] row-major in the first image
    t += "and.b32 %r9, %r1, 31; shr.u32 %r10, %r9, 2; and.b32 %r11, %r9, 3; shr.u32 %r12, %r1, 5; mad.lo.u32 %r10, "
         "%r12, 16, %r10; shl.b32 %r10, %r10, 5; mad.lo.u32 %r10, %r11, 4, %r10; add.u32 %r10, %r10, %r2;\n"
         "ld.shared.b32 %r14, [%r10]; ld.shared.b32 %r15, [%r10+256]; ld.shared.b32 %r16, [%r10+16]; ld.shared.b32 "
         "%r17, [%r10+272];\n";
    operand_a = "{%r14, %r15, %r16, %r17}", extra.clear();
  }
  extra += b.mn_major ? ", 1" : ", 0";
  const std::string insn = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(s.n) + "k16." + s.d + "." + s.ab + "." +
                           s.ab + " {" + list + "}, " + operand_a + ", %rd5, ";
  const std::string scales = ", " + std::to_string(s.scale_a) + ", " + std::to_string(s.scale_b) + extra + ";\n";
  t += "setp.eq.u32 %p2, %r1, 9999; setp.ne.u32 %p3, %r1, 9999;\nwgmma.fence.sync.aligned;\n" + insn + "%p2" + scales;
  if (s.accumulate) t += insn + "%p3" + scales;
  t += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
       "mul.wide.u32 %rd6, %r1, " +
       std::to_string(4 * regs) + "; add.s64 %rd3, %rd3, %rd6;\n";
  for (uint32_t i = 0; i < regs; ++i)
    t += "st.global.b32 [%rd3+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return t + "ret;\n}\n";
}

void check_wgmma(const Layout& a, const Layout& b, const Shape& s, const Options& o = {}) {
  const std::string label = std::string(a.name) + " x " + b.name + " n" + std::to_string(s.n) + " " + s.d + "." + s.ab +
                            (s.registers ? " registers" : "");
  const uint32_t regs = s.d == "f16" ? s.n / 4 : s.n / 2;
  const bool bf = s.ab == "bf16";
  double x[64][16], y[256][16];
  runtime::Tensor ta{"a", runtime::DType::u8, {kImage}, std::vector<uint8_t>(kImage)}, tb = ta;
  tb.name = "b";
  auto put = [&](runtime::Tensor& t, uint32_t at, double v) {
    runtime::store_element(bf ? runtime::DType::bf16 : runtime::DType::f16, t.bytes.data() + at, v);
  };
  auto number = [](uint64_t i) { return static_cast<double>(runtime::splitmix64(i) % 9) - 4; };
  for (uint32_t k = 0; k < 16; ++k) {
    for (uint32_t m = 0; m < 64; ++m)
      put(ta, s.registers ? m * 32 + 2 * k : byte_of(a, m, k), x[m][k] = number(100 * m + k));
    for (uint32_t n = 0; n < s.n; ++n) put(tb, byte_of(b, n, k), y[n][k] = number(50000 + 100 * n + k));
  }
  auto module = ptx::parse(wgmma_kernel(a, b, s), "wgmma.ptx");
  ASSERT_TRUE(module.ok()) << label << render(module.error());
  auto m = runtime::parse_manifest(
      "launch: kernel=k grid=1 block=128 smem=65536\ntensor: a u8 shape=32768\ntensor: b u8 shape=32768\ntensor: out "
      "u32 shape=" +
      std::to_string(128 * regs) +
      " role=out\narg: a buffer of=a\narg: b buffer of=b\narg: out buffer of=out\narg: da u64 " +
      std::to_string(descriptor(a, 1024)) + "\narg: db u64 " + std::to_string(descriptor(b, 1024 + kImage)) + "\n");
  auto r = run(*module, *m, {ta, tb}, o);
  ASSERT_TRUE(r.ok()) << label << render(r.error());
  ASSERT_EQ(r->outcome, Outcome::clean) << label << render(r->findings[0]);
  const double factor = s.scale_a * s.scale_b * (s.accumulate ? 2 : 1);
  int wrong = 0;
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < s.n / 2; ++i) {
      const uint32_t w = thread / 32, l = thread % 32, row = 16 * w + (l >> 2) + 8 * ((i >> 1) & 1),
                     col = 8 * (i >> 2) + 2 * (l & 3) + (i & 1);
      double want = 0;
      for (uint32_t k = 0; k < 16; ++k) want += x[row][k] * y[col][k];
      const uint8_t* p = r->outputs[0].bytes.data() + 4 * regs * thread + (s.d == "f16" ? 2 : 4) * i;
      wrong += runtime::load_element(s.d == "f16" ? runtime::DType::f16 : runtime::DType::f32, p) != factor * want;
    }
  EXPECT_EQ(wrong, 0) << label;
}

TEST(Wgmma, EveryLayoutOfBothOperands) {
  for (const Layout& a : kLayouts)
    for (const Layout& b : kLayouts) check_wgmma(a, b, {64, "f32", "f16"});
}

TEST(Wgmma, EveryWidth) {
  for (uint32_t n = 8; n <= 256; n += 8) {
    check_wgmma(kLayouts[3], kLayouts[3], {n, "f32", "f16"});
    check_wgmma(kLayouts[3], kLayouts[3], {n, "f16", "f16"});
  }
}

TEST(Wgmma, TypesRegistersAndScales) {
  for (const char* ab : {"f16", "bf16"})
    for (bool registers : {false, true})
      for (int scale : {1, -1}) {
        check_wgmma(kLayouts[3], kLayouts[7], {96, "f32", ab, registers, scale, 1, true});
        check_wgmma(kLayouts[3], kLayouts[3], {32, "f32", ab, registers, 1, scale, false});
      }
  check_wgmma(kLayouts[3], kLayouts[3], {128, "f16", "f16", true});
}

TEST(Wgmma, EarlyAndLateExecutionGiveTheSame) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    check_wgmma(kLayouts[3], kLayouts[7], {64, "f32", "f16"}, {.schedule = Schedule::adversarial, .seed = seed});
}

TEST(TileMath, ProductAgreesWithPlainLoops) {
  for (uint32_t n : {8u, 16u, 24u, 40u, 256u})
    for (uint32_t k : {4u, 16u, 64u}) {
      std::vector<float> a(16 * k), b(k * n), d(16 * n);
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(runtime::splitmix64(i) % 1000) / 997;
      for (size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<float>(runtime::splitmix64(i + 7777) % 1000) / 991 - 0.5f;
      for (size_t i = 0; i < d.size(); ++i) d[i] = static_cast<float>(i % 13);
      std::vector<float> want = d;
      for (uint32_t r = 0; r < 16; ++r)
        for (uint32_t x = 0; x < k; ++x)
          for (uint32_t c = 0; c < n; ++c) want[r * n + c] = std::fma(a[r * k + x], b[x * n + c], want[r * n + c]);
      multiply(d.data(), n, a.data(), k, b.data(), n, {16, n, k});
      EXPECT_EQ(d, want) << n << " " << k;
    }
}

TEST(TileMath, BlocksAndRowsAreInverse) {
  float even[32], odd[32], rows[64];
  for (uint32_t l = 0; l < 32; ++l) {  // WGMMA-08: row l / 4, columns 2 (l % 4) and the next
    even[l] = static_cast<float>(100 * (l >> 2) + 2 * (l & 3));
    odd[l] = even[l] + 1;
  }
  block_to_rows(even, odd, rows, 8);
  for (uint32_t r = 0; r < 8; ++r)
    for (uint32_t c = 0; c < 8; ++c) EXPECT_EQ(rows[8 * r + c], static_cast<float>(100 * r + c));
  float even_again[32], odd_again[32];
  rows_to_block(rows, 8, even_again, odd_again);
  for (uint32_t l = 0; l < 32; ++l) EXPECT_TRUE(even_again[l] == even[l] && odd_again[l] == odd[l]) << l;
}

// ldmatrix of four matrices, mma.sync, stmatrix: one warp, D[16,8] = A[16,16] B[8,16]^T.
TEST(Mma, LoadsMultipliesAndStores) {
  for (bool trans : {false, true}) {
    // With .trans B is stored as [16][8] and read by ldmatrix.trans.
    const std::string kernel =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 "
        "out)\n{\n"
        ".shared .align 16 .b8 sa[512]; .shared .align 16 .b8 sb[256]; .shared .align 16 .b8 sc[256];\n.reg .b32 "
        "%r<30>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
        "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd4, %r1, 16; add.s64 %rd5, %rd1, %rd4; ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd5]; shl.b32 "
        "%r6, %r1, 4; mov.u32 %r7, sa; add.u32 %r7, %r7, %r6; st.shared.v4.b32 [%r7], {%r2, %r3, %r4, %r5};\n"
        "mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd2, %rd4; ld.global.v2.b32 {%r2, %r3}, [%rd5]; shl.b32 %r6, %r1, "
        "3; mov.u32 %r7, sb; add.u32 %r7, %r7, %r6; st.shared.v2.b32 [%r7], {%r2, %r3};\nbar.warp.sync -1;\n"
        // matrix m of A: rows 8 (m & 1), columns 8 (m >> 1); lane 8m + i names row i
        "shr.u32 %r8, %r1, 3; and.b32 %r9, %r1, 7; and.b32 %r10, %r8, 1; shr.u32 %r11, %r8, 1; mad.lo.u32 %r12, %r10, "
        "8, %r9; shl.b32 %r12, %r12, 5; mad.lo.u32 %r12, %r11, 16, %r12; mov.u32 %r13, sa; add.u32 %r12, %r12, %r13;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r12];\n"
        "mov.u32 %r13, sb;\n" +
        std::string(trans ? "mad.lo.u32 %r12, %r10, 8, %r9; shl.b32 %r12, %r12, 4;\n"
                          : "shl.b32 %r12, %r9, 5; mad.lo.u32 %r12, %r10, 16, %r12;\n") +
        "add.u32 %r12, %r12, %r13;\nldmatrix.sync.aligned.m8n8.x2" + (trans ? ".trans" : "") +
        ".shared.b16 {%r24, %r25}, [%r12];\n"
        "mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r20, %r21, %r22, %r23}, {%r24, "
        "%r25}, {%f1, %f2, %f3, %f4};\n"
        "cvt.rn.f16x2.f32 %r14, %f2, %f1; cvt.rn.f16x2.f32 %r15, %f4, %f3;\n"
        "mad.lo.u32 %r12, %r10, 8, %r9; shl.b32 %r12, %r12, 4; mov.u32 %r13, sc; add.u32 %r12, %r12, "
        "%r13;\nstmatrix.sync.aligned.m8n8.x2.shared.b16 [%r12], {%r14, %r15};\nbar.warp.sync -1;\n"
        "shl.b32 %r6, %r1, 3; mov.u32 %r7, sc; add.u32 %r7, %r7, %r6; ld.shared.v2.b32 {%r2, %r3}, [%r7]; mul.wide.u32 "
        "%rd4, %r1, 8; add.s64 %rd5, %rd3, %rd4; st.global.v2.b32 [%rd5], {%r2, %r3};\nret;\n}\n";
    auto module = ptx::parse(kernel, "mma.ptx");
    ASSERT_TRUE(module.ok()) << render(module.error());
    auto m = runtime::parse_manifest(
        "launch: kernel=k grid=1 block=32\ntensor: a f16 shape=16,16 fill=ints\ntensor: b f16 shape=8,16 "
        "fill=ints\ntensor: out f16 shape=16,8 role=out\narg: a buffer of=a\narg: b buffer of=b\narg: out buffer "
        "of=out\n");
    auto inputs = runtime::make_inputs(*m);
    auto r = run(*module, *m, {}, {});
    ASSERT_TRUE(r.ok()) << render(r.error());
    ASSERT_EQ(r->outcome, Outcome::clean) << render(r->findings[0]);
    const runtime::Tensor &a = (*inputs)[0], &b = (*inputs)[1];
    for (uint32_t i = 0; i < 16; ++i)
      for (uint32_t j = 0; j < 8; ++j) {
        double want = 1;
        for (uint32_t k = 0; k < 16; ++k) want += a.at(16 * i + k) * b.at(trans ? 8 * k + j : 16 * j + k);
        EXPECT_EQ(r->outputs[0].at(8 * i + j), want) << i << "," << j << (trans ? " trans" : "");
      }
  }
}

// 8-bit forms of sm_100a, by CuTe's layouts SM100_U8x8_LDSM_T, SM100_SU4_DU8x16_x1_LDSM_N and SM100_U8x4_STSM_T written
// out: thread, value -> bit of the matrix. Shared memory is 32 rows of 16 bytes with byte 16 r + c = 16 r + c.
TEST(Matrix, ByteForms) {
  struct Form {
    const char *insn, *registers;
    uint32_t count;
    // Expected byte j of register r of a lane.
    uint32_t (*byte)(uint32_t lane, uint32_t r, uint32_t j);
  };
  const Form forms[] = {
      // Source rows: thread i0 + 2 i1 + 4 i2 names logical row i0 + 8 i1 + 2 i2; value j of register r of thread (t, g)
      // is
      // logical row 2 t + (j & 1) + 8 r, byte g + 8 (j >> 1).
      {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "{%r10, %r11}", 2,
       [](uint32_t lane, uint32_t r, uint32_t j) {
         const uint32_t t = lane % 4, g = lane / 4, logical = 2 * t + (j & 1) + 8 * r;
         const uint32_t thread = (logical & 1) + 2 * (logical >> 3) + 4 * (logical >> 1 & 3);
         return 16 * thread + g + 8 * (j >> 1);
       }},
      // A row of 16 4-bit elements in 8 bytes; lane l has 32 bits at 32 l of the bytes they become, in bits 5:2.
      {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", "{%r10}", 1,
       [](uint32_t lane, uint32_t, uint32_t j) {
         const uint32_t row = lane / 4, element = 4 * (lane % 4) + j, byte = 16 * row + element / 2;
         return (byte >> (4 * (element & 1)) & 0xF) << 2;
       }},
      // 6-bit elements, 12 bytes a row, in bits 5:0.
      {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32", "{%r10}", 1,
       [](uint32_t lane, uint32_t, uint32_t j) {
         const uint32_t row = lane / 4, element = 4 * (lane % 4) + j;
         uint32_t out = 0;
         for (uint32_t bit = 0; bit < 6; ++bit) {
           const uint32_t at = 6 * element + bit;
           out |= ((16 * row + at / 8) >> (at % 8) & 1) << bit;
         }
         return out;
       }},
  };
  for (const Form& f : forms) {
    const std::string kernel =
        std::string(
            ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.shared "
            ".align 16 .b8 s[512];\n.reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p;\nld.param.u64 %rd1, [out]; "
            "mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r3, %r1;\nL: add.u32 %r4, %r2, %r3; st.shared.b8 [%r4], "
            "%r3; add.u32 %r3, %r3, 32; setp.lt.u32 %p, %r3, 512; @%p bra L;\nbar.warp.sync -1; shl.b32 %r5, %r1, 4; "
            "add.u32 %r5, %r5, %r2;\n") +
        f.insn + " " + f.registers +
        ", [%r5];\nmul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], " + "%r10;\n" +
        (f.count == 2 ? "st.global.b32 [%rd3+4], %r11;\n" : "") + "ret;\n}\n";
    auto module = ptx::parse(kernel, "ldmatrix.ptx");
    ASSERT_TRUE(module.ok()) << render(module.error());
    auto m = runtime::parse_manifest(
        "launch: kernel=k grid=1 block=32\ntensor: out u8 shape=256 role=out\narg: out buffer of=out\n");
    auto r = run(*module, *m, {}, {});
    ASSERT_TRUE(r.ok()) << render(r.error());
    ASSERT_EQ(r->outcome, Outcome::clean) << render(r->findings[0]);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t reg = 0; reg < f.count; ++reg)
        for (uint32_t j = 0; j < 4; ++j)
          EXPECT_EQ(r->outputs[0].bytes[8 * lane + 4 * reg + j], f.byte(lane, reg, j) & 0xFF)
              << f.insn << lane << reg << j;
  }
}

// stmatrix.m16n8.b8.trans by SM100_U8x4_STSM_T: thread 4 g + t, byte j goes to row 2 t + (j & 1), byte g + 8 (j >> 1).
TEST(Matrix, ByteStores) {
  const std::string kernel =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 "
      "s[256];\n.reg .b32 %r<20>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; "
      "mad.lo.u32 %r10, %r1, 0x04040404, 0x03020100; xor.b32 %r11, %r10, -1; and.b32 %r3, %r1, 15; shl.b32 %r3, %r3, "
      "4; "
      "add.u32 %r5, %r3, %r2;\nstmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r5], {%r10, %r11};\nbar.warp.sync -1; "
      "shl.b32 %r4, %r1, 2; add.u32 %r6, %r4, %r2; ld.shared.b32 %r7, [%r6]; ld.shared.b32 %r8, [%r6+128]; "
      "mul.wide.u32 "
      "%rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r7; st.global.b32 [%rd3+128], %r8;\nret;\n}\n";
  auto module = ptx::parse(kernel, "stmatrix.ptx");
  ASSERT_TRUE(module.ok()) << render(module.error());
  auto m = runtime::parse_manifest(
      "launch: kernel=k grid=1 block=32\ntensor: out u8 shape=256 role=out\narg: out buffer of=out\n");
  auto r = run(*module, *m, {}, {});
  ASSERT_TRUE(r.ok()) << render(r.error());
  ASSERT_EQ(r->outcome, Outcome::clean) << render(r->findings[0]);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t at = 16 * (2 * (lane % 4) + (j & 1)) + lane / 4 + 8 * (j >> 1), v = (4 * lane + j) & 0xFF;
      EXPECT_EQ(r->outputs[0].bytes[at], v) << lane << " " << j;
      EXPECT_EQ(r->outputs[0].bytes[128 + at], v ^ 0xFF) << lane << " " << j;
    }
}

}  // namespace
}  // namespace tc::sim
