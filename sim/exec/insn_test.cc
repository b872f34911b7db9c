// Instructions one at a time: registers in, registers out, against values worked out by hand from the ISA's text.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "sim/api.h"

namespace tc::sim {
namespace {

// Inputs go to %rd0-2 (b64), %r0-2 (b32), %h0-2 (b16) and %p0-2 (bit 0); the result is taken from %rd9, %r9, %h9 or
// %p9, whichever the text names.
std::string kernel_of(const std::string& body, const std::string& name = "k") {
  const bool wide = body.find("%rd9") != body.npos, half = body.find("%h9") != body.npos,
             pred = body.find("%p9") != body.npos;
  std::string out = ".visible .entry " + name +
                    "(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<20>; .reg "
                    ".b64 %rd<20>;\n"
                    "ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [out];\n";
  for (int k = 0; k < 3; ++k) {
    const std::string n = std::to_string(k);
    out += "ld.global.b64 %rd" + n + ", [%rd10+" + std::to_string(8 * k) + "]; cvt.u32.u64 %r" + n + ", %rd" + n +
           "; cvt.u16.u64 %h" + n + ", %rd" + n +
           ";\n"
           "and.b32 %r10, %r" +
           n + ", 1; setp.ne.u32 %p" + n + ", %r10, 0;\n";
  }
  out += body + "\n";
  if (half) out += "cvt.u32.u16 %r9, %h9;\n";
  if (pred) out += "selp.b32 %r9, 1, 0, %p9;\n";
  if (!wide) out += "cvt.u64.u32 %rd9, %r9;\n";
  return out + "st.global.b64 [%rd11], %rd9;\nret;\n}\n";
}
constexpr std::string_view kHead = ".version 8.6\n.target sm_90a\n.address_size 64\n";

uint64_t evaluate(const std::string& body, std::array<uint64_t, 3> in) {
  auto module = ptx::parse(std::string(kHead) + kernel_of(body), "insn.ptx");
  EXPECT_TRUE(module.ok()) << body << (module.ok() ? "" : render(module.error()));
  auto m = runtime::parse_manifest(
      "launch: kernel=k grid=1 block=1\ntensor: in u64 shape=3\ntensor: out u64 shape=1 role=out\narg: in buffer "
      "of=in\narg: out buffer of=out\n");
  runtime::Tensor t{"in", runtime::DType::u64, {3}, std::vector<uint8_t>(24)};
  std::memcpy(t.bytes.data(), in.data(), 24);
  auto r = run(*module, *m, {t}, {});
  EXPECT_TRUE(r.ok()) << body << (r.ok() ? "" : render(r.error()));
  uint64_t v = 0;
  if (r.ok()) std::memcpy(&v, r->outputs[0].bytes.data(), 8);
  return v;
}

uint64_t f(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t d(double v) { return std::bit_cast<uint64_t>(v); }
constexpr uint64_t u32(int64_t v) { return static_cast<uint32_t>(v); }

struct Row {
  std::string body;
  std::array<uint64_t, 3> in;
  uint64_t want;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      // integers
      {"add.s32 %r9, %r0, %r1;", {0xFFFFFFFF, 2}, 1},
      {"add.u64 %rd9, %rd0, -1;", {5}, 4},
      {"add.s16 %h9, %h0, %h1;", {0xFFFF, 3}, 2},
      {"sub.u32 %r9, %r0, %r1;", {1, 2}, 0xFFFFFFFF},
      {"add.cc.u32 %r9, %r0, %r1; addc.u32 %r9, %r2, 0;", {0xFFFFFFFF, 1, 7}, 8},
      {"sub.cc.u32 %r9, %r0, %r1; subc.u32 %r9, %r2, 0;", {0, 1, 7}, 6},
      {"mul.lo.s32 %r9, %r0, %r1;", {0x10000, 0x10001}, 0x10000},
      {"mul.hi.u32 %r9, %r0, %r1;", {0xFFFFFFFF, 0xFFFFFFFF}, 0xFFFFFFFE},
      {"mul.hi.s32 %r9, %r0, %r1;", {u32(-2), 3}, 0xFFFFFFFF},
      {"mul.hi.u64 %rd9, %rd0, %rd1;", {UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1},
      {"mul.wide.s32 %rd9, %r0, %r1;", {u32(-3), 5}, static_cast<uint64_t>(-15)},
      {"mul.wide.u32 %rd9, %r0, %r1;", {0xFFFFFFFF, 2}, 0x1FFFFFFFE},
      {"mul.wide.u16 %r9, %h0, %h1;", {0xFFFF, 0xFFFF}, 0xFFFE0001},
      {"mad.lo.s32 %r9, %r0, %r1, %r2;", {3, 4, 5}, 17},
      {"mad.wide.u32 %rd9, %r0, %r1, %rd2;", {0xFFFFFFFF, 2, 1}, 0x1FFFFFFFF},
      {"mad.hi.s32 %r9, %r0, %r1, %r2;", {u32(-2), 3, 10}, 9},
      {"div.s32 %r9, %r0, %r1;", {u32(-7), 2}, u32(-3)},
      {"div.u32 %r9, %r0, %r1;", {7, 0}, 0xFFFFFFFF},
      {"div.s32 %r9, %r0, %r1;", {0x80000000, u32(-1)}, 0x80000000},
      {"rem.s32 %r9, %r0, %r1;", {u32(-7), 2}, u32(-1)},
      {"rem.u64 %rd9, %rd0, %rd1;", {1000000007, 10}, 7},
      {"abs.s32 %r9, %r0;", {u32(-5)}, 5},
      {"neg.s64 %rd9, %rd0;", {5}, static_cast<uint64_t>(-5)},
      {"min.s32 %r9, %r0, %r1;", {u32(-1), 1}, 0xFFFFFFFF},
      {"min.u32 %r9, %r0, %r1;", {u32(-1), 1}, 1},
      {"max.s64 %rd9, %rd0, %rd1;", {UINT64_MAX, 1}, 1},
      {"sad.s32 %r9, %r0, %r1, %r2;", {u32(-3), 4, 10}, 17},
      {"popc.b64 %r9, %rd0;", {0xF0F0000000000001}, 9},
      {"clz.b32 %r9, %r0;", {0x00010000}, 15},
      {"clz.b32 %r9, %r0;", {0}, 32},
      {"bfind.u32 %r9, %r0;", {0x00010000}, 16},
      {"bfind.s32 %r9, %r0;", {0xFFFFFFFE}, 0},
      {"bfind.shiftamt.u32 %r9, %r0;", {0x00010000}, 15},
      {"bfind.u32 %r9, %r0;", {0}, 0xFFFFFFFF},
      {"brev.b32 %r9, %r0;", {1}, 0x80000000},
      {"bfe.u32 %r9, %r0, 8, 8;", {0x12345678}, 0x56},
      {"bfe.s32 %r9, %r0, 4, 4;", {0x000000F0}, 0xFFFFFFFF},
      {"bfe.s32 %r9, %r0, 28, 8;", {0x80000000}, 0xFFFFFFF8},
      {"bfe.u32 %r9, %r0, 0, 0;", {0x12345678}, 0},
      {"bfi.b32 %r9, %r0, %r1, 8, 8;", {0xAB, 0x12345678}, 0x1234AB78},
      {"bfi.b64 %rd9, %rd0, %rd1, 32, 16;", {0xBEEF, 1}, 0x0000BEEF00000001},
      {"dp4a.s32.s32 %r9, %r0, %r1, %r2;", {0xFF010203, 0x01010101, 10}, 15},
      {"dp4a.u32.u32 %r9, %r0, %r1, %r2;", {0xFF010203, 0x01010101, 10}, 271},
      // logic
      {"and.b32 %r9, %r0, %r1;", {0xF0F0, 0xFF00}, 0xF000},
      {"or.b64 %rd9, %rd0, %rd1;", {1ull << 40, 2}, (1ull << 40) | 2},
      {"xor.b16 %h9, %h0, %h1;", {0xFFFF, 0x0F0F}, 0xF0F0},
      {"not.b32 %r9, %r0;", {0}, 0xFFFFFFFF},
      {"cnot.b32 %r9, %r0;", {0}, 1},
      {"lop3.b32 %r9, %r0, %r1, %r2, 0xE8;", {0xF0, 0xCC, 0xAA}, 0xE8},  // majority
      {"shl.b32 %r9, %r0, 33;", {1}, 0},
      {"shl.b64 %rd9, %rd0, 33;", {1}, 1ull << 33},
      {"shr.s32 %r9, %r0, 40;", {0x80000000}, 0xFFFFFFFF},
      {"shr.u32 %r9, %r0, 4;", {0x80000000}, 0x08000000},
      {"shr.s16 %h9, %h0, 4;", {0x8000}, 0xF800},
      {"shf.l.wrap.b32 %r9, %r0, %r1, 40;", {0x80000000, 1}, 0x00000180},
      {"shf.r.clamp.b32 %r9, %r0, %r1, 40;", {0x80000000, 5}, 5},
      {"and.pred %p9, %p0, !%p1;", {1, 0}, 1},
      {"xor.pred %p9, %p0, %p1;", {1, 1}, 0},
      {"not.pred %p9, %p0;", {1}, 0},
      // moves
      {"mov.b64 %rd9, {%r0, %r1};", {1, 2}, 0x200000001},
      {"mov.b64 {_, %r9}, %rd0;", {0x0000000700000005}, 7},
      {"mov.b32 %r9, {%h0, %h1};", {0x1111, 0x2222}, 0x22221111},
      {"mov.b32 {%h9, %h8}, %r0;", {0x22221111}, 0x1111},
      {"prmt.b32 %r9, %r0, %r1, 0x5410;", {0x11112222, 0x33334444}, 0x44442222},
      {"prmt.b32 %r9, %r0, %r1, 0x0C18;", {0x000080FF, 0}, 0xFF0080FF},
      {"mov.f32 %r9, 1.5;", {}, f(1.5f)},
      {"mov.f64 %rd9, 0d3FF8000000000000;", {}, d(1.5)},
      // compare and select
      {"setp.lt.s32 %p9, %r0, %r1;", {u32(-1), 0}, 1},
      {"setp.lt.u32 %p9, %r0, %r1;", {u32(-1), 0}, 0},
      {"setp.hi.u64 %p9, %rd0, %rd1;", {UINT64_MAX, 0}, 1},
      {"setp.eq.f32 %p9, %r0, %r0;", {f(NAN)}, 0},
      {"setp.ne.f32 %p9, %r0, %r0;", {f(NAN)}, 0},
      {"setp.neu.f32 %p9, %r0, %r0;", {f(NAN)}, 1},
      {"setp.ltu.f32 %p9, %r0, %r1;", {f(NAN), f(1)}, 1},
      {"setp.num.f64 %p9, %rd0, %rd1;", {d(1), d(NAN)}, 0},
      {"setp.nan.f32 %p9, %r0, %r1;", {f(1), f(NAN)}, 1},
      {"setp.gt.and.s32 %p9, %r0, %r1, !%p2;", {2, 1, 0}, 1},
      {"setp.gt.or.s32 %p9|%p8, %r0, %r1, %p2;", {0, 1, 1}, 1},
      {"setp.ge.s32 %p8|%p9, %r0, %r1;", {0, 1}, 1},
      {"setp.lt.f16 %p9, %h0, %h1;", {0xBC00, 0x3C00}, 1},
      {"set.lt.u32.s32 %r9, %r0, %r1;", {u32(-1), 0}, 0xFFFFFFFF},
      {"set.lt.f32.s32 %r9, %r0, %r1;", {u32(-1), 0}, f(1)},
      {"selp.b64 %rd9, %rd0, %rd1, %p2;", {7, 8, 1}, 7},
      {"slct.u32.s32 %r9, %r0, %r1, %r2;", {7, 8, u32(-1)}, 8},
      // floats
      {"add.f32 %r9, %r0, %r1;", {f(1), f(0x1p-24f)}, f(1)},
      {"add.rp.f32 %r9, %r0, %r1;", {f(1), f(0x1p-24f)}, f(1 + 0x1p-23f)},
      {"add.rz.f32 %r9, %r0, %r1;", {f(1), f(-0x1p-30f)}, f(1 - 0x1p-24f)},
      {"mul.ftz.f32 %r9, %r0, %r1;", {f(0x1p-100f), f(0x1p-40f)}, f(0)},
      {"mul.f32 %r9, %r0, %r1;", {f(0x1p-100f), f(0x1p-40f)}, f(0x1p-140f)},
      {"add.sat.f32 %r9, %r0, %r1;", {f(2), f(3)}, f(1)},
      {"fma.rn.f32 %r9, %r0, %r1, %r2;", {f(1 + 0x1p-12f), f(1 + 0x1p-12f), f(-1)}, f(0x1p-11f + 0x1p-24f)},
      {"fma.rn.f64 %rd9, %rd0, %rd1, %rd2;", {d(3), d(4), d(5)}, d(17)},
      {"sub.f64 %rd9, %rd0, %rd1;", {d(1), d(0.5)}, d(0.5)},
      {"div.rn.f32 %r9, %r0, %r1;", {f(1), f(3)}, f(1.0f / 3.0f)},
      {"neg.f32 %r9, %r0;", {f(0)}, 0x80000000},
      {"abs.f32 %r9, %r0;", {f(-2)}, f(2)},
      {"min.f32 %r9, %r0, %r1;", {f(NAN), f(1)}, f(1)},
      {"max.f32 %r9, %r0, %r1;", {0x80000000, 0}, 0},
      {"min.f32 %r9, %r0, %r1;", {0, 0x80000000}, 0x80000000},
      {"copysign.f32 %r9, %r0, %r1;", {f(-1), f(3)}, f(-3)},
      {"rcp.approx.ftz.f32 %r9, %r0;", {f(4)}, f(0.25f)},
      {"sqrt.rn.f32 %r9, %r0;", {f(9)}, f(3)},
      {"rsqrt.approx.f32 %r9, %r0;", {f(4)}, f(0.5f)},
      {"ex2.approx.ftz.f32 %r9, %r0;", {f(3)}, f(8)},
      {"lg2.approx.f32 %r9, %r0;", {f(8)}, f(3)},
      {"testp.notanumber.f32 %p9, %r0;", {f(NAN)}, 1},
      // halves: 0x3C00 = 1, 0x4000 = 2, 0x4200 = 3, 0xC000 = -2
      {"add.f16 %h9, %h0, %h1;", {0x3C00, 0x4000}, 0x4200},
      {"fma.rn.f16x2 %r9, %r0, %r1, %r2;", {0x40003C00, 0x3C004000, 0x3C003C00}, 0x42004200},
      {"mul.bf16x2 %r9, %r0, %r1;", {0x40003F80, 0x40404000}, 0x40C04000},
      {"max.f16x2 %r9, %r0, %r1;", {0x3C00C000, 0xC0003C00}, 0x3C003C00},
      {"neg.f16x2 %r9, %r0;", {0x3C00C000}, 0xBC004000},
      // conversions
      {"cvt.u32.u16 %r9, %h0;", {0xFFFF}, 0xFFFF},
      {"cvt.s32.s16 %r9, %h0;", {0xFFFF}, 0xFFFFFFFF},
      {"cvt.s64.s32 %rd9, %r0;", {0xFFFFFFFF}, UINT64_MAX},
      {"cvt.u64.u32 %rd9, %r0;", {0xFFFFFFFF}, 0xFFFFFFFF},
      {"cvt.s32.s8 %r9, %r0;", {0x1FF}, 0xFFFFFFFF},
      {"cvt.u8.u32 %r9, %r0;", {0x1FF}, 0xFF},
      {"cvt.sat.u8.s32 %r9, %r0;", {u32(-5)}, 0},
      {"cvt.sat.s8.s32 %r9, %r0;", {300}, 127},
      {"cvt.rn.f32.s32 %r9, %r0;", {u32(-3)}, f(-3)},
      {"cvt.rn.f32.u32 %r9, %r0;", {0xFFFFFFFF}, f(4294967296.0f)},
      {"cvt.rz.f32.u32 %r9, %r0;", {0xFFFFFFFF}, f(4294967040.0f)},
      {"cvt.rn.f64.u64 %rd9, %rd0;", {1ull << 60}, d(0x1p60)},
      {"cvt.rzi.s32.f32 %r9, %r0;", {f(-1.7f)}, u32(-1)},
      {"cvt.rni.s32.f32 %r9, %r0;", {f(2.5f)}, 2},
      {"cvt.rmi.s32.f32 %r9, %r0;", {f(-1.2f)}, u32(-2)},
      {"cvt.rpi.s32.f32 %r9, %r0;", {f(1.2f)}, 2},
      {"cvt.rzi.u32.f32 %r9, %r0;", {f(-1)}, 0},
      {"cvt.rzi.s32.f32 %r9, %r0;", {f(3e9f)}, 0x7FFFFFFF},
      {"cvt.rzi.s32.f32 %r9, %r0;", {f(NAN)}, 0},
      {"cvt.rmi.f32.f32 %r9, %r0;", {f(-1.2f)}, f(-2)},
      {"cvt.rn.f32.f64 %r9, %rd0;", {d(1 + 0x1p-24)}, f(1)},
      {"cvt.f64.f32 %rd9, %r0;", {f(1.5f)}, d(1.5)},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(1 + 0x1p-11f)}, 0x3C00},
      {"cvt.rn.f16.f32 %h9, %r0;", {f(1 + 0x1p-10f)}, 0x3C01},
      {"cvt.f32.f16 %r9, %h0;", {0x0001}, f(0x1p-24f)},
      {"cvt.rn.f16x2.f32 %r9, %r0, %r1;", {f(2), f(1)}, 0x40003C00},
      {"cvt.rn.bf16x2.f32 %r9, %r0, %r1;", {f(2), f(1)}, 0x40003F80},
      {"cvt.rn.relu.f16x2.f32 %r9, %r0, %r1;", {f(-2), f(1)}, 0x00003C00},
      {"cvt.f32.bf16 %r9, %h0;", {0x3F80}, f(1)},
      {"cvt.rna.tf32.f32 %r9, %r0;", {0x3F801000}, 0x3F802000},
      {"cvt.rz.f16.f32 %h9, %r0;", {f(1 + 0x1.8p-11f)}, 0x3C00},
      {"cvt.rp.f16.f32 %h9, %r0;", {f(0x1p-40f)}, 0x0001},
      {"cvt.rm.f16.f64 %h9, %rd0;", {d(-1e9)}, 0xFC00},
      {"cvt.rz.f16.f64 %h9, %rd0;", {d(-1e9)}, 0xFBFF},
      {"cvt.rn.satfinite.e4m3x2.f32 %h9, %r0, %r1;", {f(1000), f(-0.5f)}, 0x7EB0},  // 448 = 0x7E, -0.5 = 0xB0
      {"cvt.rn.satfinite.e5m2x2.f32 %h9, %r0, %r1;", {f(1), f(3)}, 0x3C42},
      {"cvt.rn.f16x2.e4m3x2 %r9, %h0;", {0x3801}, 0x3C001800},  // 1.0 and 2^-9
      {"cvt.pack.sat.u8.s32.b32 %r9, %r0, %r1, %r2;", {u32(-3), 300, 0xABCD}, 0xABCD00FF},
      {"cvt.rm.f32.s32 %r9, %r0;", {0x7FFFFFFF}, f(2147483520.0f)},
      {"cvt.rp.f32.u64 %r9, %rd0;", {(1ull << 60) + 1}, f(0x1.000002p60f)},
      // bits, fields, short products
      {"szext.wrap.s32 %r9, %r0, 8;", {0x1FF}, 0xFFFFFFFF},
      {"szext.clamp.u32 %r9, %r0, 40;", {0x1FF}, 0x1FF},
      {"bmsk.clamp.b32 %r9, 4, 8;", {}, 0xFF0},
      {"fns.b32 %r9, %r0, 0, 2;", {0b10110}, 2},
      {"fns.b32 %r9, %r0, 31, -1;", {0b10110}, 4},
      {"mul24.hi.u32 %r9, %r0, %r1;", {0xFFFFFF, 0xFFFFFF}, 0xFFFFFE00},
      {"mad24.lo.s32 %r9, %r0, %r1, %r2;", {0xFFFFFF, 3, 10}, 7},
      {"dp2a.hi.s32.u32 %r9, %r0, %r1, %r2;", {0x0002FFFF, 0x03040000, 1}, 1 - 4 + 6},
      {"mad.lo.cc.u32 %r9, %r0, %r1, %r2; madc.hi.u32 %r9, %r0, %r1, 0;", {0x80000000, 2, 1}, 1},
      {"add.sat.s32 %r9, %r0, 1;", {0x7FFFFFFF}, 0x7FFFFFFF},
      {"add.u16x2 %r9, %r0, %r1;", {0xFFFF0001, 0x00010002}, 0x00000003},
      {"max.relu.s16x2 %r9, %r0, %r1;", {0x8000FFFF, 0x8001FFFE}, 0},
      {"prmt.b32.f4e %r9, %r0, %r1, 2;", {0x33221100, 0x77665544}, 0x55443322},
      {"lop3.or.b32 %r9|%p8, %r0, %r1, %r2, 0x80, %p0; selp.b32 %r9, 1, %r9, %p8;", {1, 1, 1}, 1},
      // video
      {"vadd.s32.u32.s32 %r9, %r0.b1, %r1.h1;", {0x0000FF00, 0xFFFF0000}, 254},
      {"vabsdiff4.u32.u32.u32.add %r9, %r0, %r1, %r2;", {0x01020304, 0x04030201, 100}, 100 + 3 + 1 + 1 + 3},
      {"vset2.u32.u32.lt %r9, %r0, %r1, %r2;", {0x00010005, 0x00020004, 0}, 0x00010000},
      {"vmad.s32.s32.s32.shr7 %r9, %r0.h0, %r1.h0, %r2;", {100, 0xFFFF, 0x1000}, (0x1000 - 100) >> 7},
      {"vavrg2.s32.s32.s32 %r9, %r0, %r1, %r2;", {0x00020001, 0x00030002, 0}, 0x00030002},
      // floats at their edges: NaN is canonical, what is tiny after rounding is flushed
      {"mul.f32 %r9, %r0, %r1;", {f(INFINITY), f(0)}, 0x7FFFFFFF},
      {"fma.rm.f32 %r9, %r0, %r1, %r2;", {f(1), f(1), f(-1)}, 0x80000000},
      {"mul.rn.ftz.f32 %r9, %r0, %r1;", {0x3F7FFFFF, 0x00800000}, 0},
      {"max.NaN.xorsign.abs.f32 %r9, %r0, %r1;", {f(-3), f(2)}, f(-3)},
      {"fma.rn.relu.bf16 %h9, %h0, %h1, %h2;", {0xBF80, 0x3F80, 0}, 0},
      {"add.rn.bf16x2 %r9, %r0, %r1;", {0x3F803F80, 0x3F804000}, 0x40004040},
      {"setp.lt.f16x2 %p8|%p9, %r0, %r1;", {0x3C004000, 0x40003C00}, 1},
      {"set.lt.f16.f32 %h9, %r0, %r1;", {f(1), f(2)}, 0x3C00},
      {".reg .v2 .b32 v; mov.b64 {v.x, v.y}, %rd0; add.u32 %r9, v.x, v.y;", {0x300000004}, 7},
      {".reg .b128 q; mov.b128 q, {%rd0, %rd1}; mov.b128 {%rd2, %rd9}, q;", {5, 6}, 6},
  };
  return all;
}

TEST(Instructions, ComputeWhatTheIsaSays) {
  for (const Row& r : rows()) {
    const uint64_t got = evaluate(r.body, r.in);
    EXPECT_EQ(got, r.want) << r.body << std::hex << " got 0x" << got << ", want 0x" << r.want;
  }
}

// The assembler's word on every form of the table, in one module.
TEST(Instructions, PtxasAcceptsTheTable) {
  if (std::system("ptxas --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas";
  std::string text(kHead);
  for (size_t i = 0; i < rows().size(); ++i) text += kernel_of(rows()[i].body, "k" + std::to_string(i));
  const std::string path = testing::TempDir() + "/tilecheck_insn_test.ptx";
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fwrite(text.data(), 1, text.size(), file);
  fclose(file);
  EXPECT_EQ(std::system(("ptxas -O0 -arch=sm_90a -o /dev/null " + path).c_str()), 0);
  remove(path.c_str());
}

TEST(Instructions, WhatIsNotSupportedIsNamed) {
  struct Case {
    std::string_view body, message;
    DiagKind kind;
  };
  constexpr Case kCases[] = {
      {"tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r1, %r2}];", "unsupported: instruction tex.2d.v4.f32.f32",
       DiagKind::unsupported},
      {"add.bogus.s32 %r1, %r2, %r3;", "unsupported: modifier .bogus in add.bogus.s32", DiagKind::unsupported},
      {"add.s32 %r1, %r2, %nope;", "unknown name '%nope'", DiagKind::input},
      {"add.s32 %r1, %r2, %rd1;", "register %rd1 of type .b64 in add.s32", DiagKind::input},
      {"add.s32 %r1, %r2;", "wrong number of operands of add.s32", DiagKind::input},
      {"mul.s32 %r1, %r2, %r3;", "there is no form mul.s32", DiagKind::input},
      {"atom.global.add.noftz.v8.f32 %r1, [%rd1], %r2;", "there is no form atom.global.add.noftz.v8.f32",
       DiagKind::input},
      {"bar.sync 16;", "barriers have numbers from 0 to 15", DiagKind::input},
      {"bar.sync 1, 40;", "the threads of a barrier are a multiple of 32, of an arrival not 0", DiagKind::input},
      {"bra $nowhere;", "unknown label '$nowhere'", DiagKind::input},
      {"cp.async.cg.shared.global [%r1], [%rd1], 8;", "cp-size must be 4, 8 or 16 (16 for .cg)", DiagKind::input},
      {"setmaxnreg.inc.sync.aligned.u32 100;", "setmaxnreg needs a multiple of 8 from 24 to 256 [SETREG-01]",
       DiagKind::input},
  };
  for (const Case& c : kCases) {
    auto module = ptx::parse(std::string(kHead) + ".visible .entry k()\n{\n.reg .b32 %r<10>; .reg .b64 %rd<10>;\n" +
                                 std::string(c.body) + "\nret;\n}\n",
                             "bad.ptx");
    ASSERT_TRUE(module.ok()) << c.body;
    auto r = run(*module, *runtime::parse_manifest("launch: kernel=k grid=1 block=32\n"), {}, {});
    ASSERT_FALSE(r.ok()) << c.body;
    EXPECT_EQ(r.error().message, c.message);
    EXPECT_EQ(r.error().kind, c.kind) << c.body;
    EXPECT_EQ(r.error().where.line, 7u);
  }
}

}  // namespace
}  // namespace tc::sim
