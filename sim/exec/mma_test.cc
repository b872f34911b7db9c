// mma.sync, mma.sp and wmma against a scalar reference: the fragment formulas of rules.md 7.2 to 7.4 (PTX ISA 9.7.14),
// written out again by lane, register and element. Values are small and exact, so every sum must be exact as well.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "runtime/inputs.h"
#include "sim/api.h"

namespace tc::sim {
namespace {

struct Format {
  const char* name;
  uint32_t bits;                // in the register
  std::vector<uint32_t> codes;  // of the values below
  std::vector<double> values;
};
const std::vector<double> kFloats = {-2, -1, 0, 1, 2};
const Format kFormats[] = {
    {"f16", 16, {0xC000, 0xBC00, 0, 0x3C00, 0x4000}, kFloats},
    {"bf16", 16, {0xC000, 0xBF80, 0, 0x3F80, 0x4000}, kFloats},
    {"tf32", 32, {0xC0000000, 0xBF800000, 0, 0x3F800000, 0x40000000}, kFloats},
    {"e4m3", 8, {0xC0, 0xB8, 0, 0x38, 0x40}, kFloats},
    {"e5m2", 8, {0xC0, 0xBC, 0, 0x3C, 0x40}, kFloats},
    {"e3m2", 8, {0x30, 0x2C, 0, 0x0C, 0x10}, kFloats},
    {"e2m3", 8, {0x30, 0x28, 0, 0x08, 0x10}, kFloats},
    {"e2m1", 8, {0xC << 2, 0xA << 2, 0, 2 << 2, 4 << 2}, kFloats},  // bits 5:2 of a byte
    {"e2m1 packed", 4, {0xC, 0xA, 0, 2, 4}, kFloats},
    {"s8", 8, {0x80, 0xFF, 0, 3, 0x7F}, {-128, -1, 0, 3, 127}},
    {"u8", 8, {0xFF, 1, 0, 200, 7}, {255, 1, 0, 200, 7}},
    {"s4", 4, {8, 0xF, 0, 7, 2}, {-8, -1, 0, 7, 2}},
    {"u4", 4, {15, 1, 0, 8, 3}, {15, 1, 0, 8, 3}},
    {"b1", 1, {0, 1}, {0, 1}},
};
const Format& format(const std::string& name) {
  for (const Format& f : kFormats)
    if (name == f.name) return f;
  ADD_FAILURE() << name;
  return kFormats[0];
}

using Registers = std::vector<std::array<uint32_t, 32>>;  // [register][lane]

void put_bits(Registers& regs, uint32_t reg, uint32_t lane, uint32_t element, uint32_t bits, uint32_t code) {
  regs[reg][lane] |= code << (element * bits);
}

// Runs one instruction in one warp. Its operands are named {D}, {A}, {B}, {C} and %x0, %x1 ... for single registers.
struct Operation {
  std::string text;
  Registers a, b, c, extra;
  size_t d_registers;
};
Registers run_warp(const Operation& op, const std::string& target) {
  std::string t =
      ".version 9.0\n.target " + target +
      "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %a<16>, %b<16>, "
      "%c<16>, %d<16>, %x<9>, %t; .reg .b64 %p, %q, %o;\nld.param.u64 %p, [in]; ld.param.u64 %q, [out]; "
      "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %p, %p, %o; add.s64 %q, %q, %o;\n";
  std::vector<uint32_t> input;
  auto load = [&](const char* name, const Registers& regs) {
    for (size_t r = 0; r < regs.size(); ++r) {
      t += "ld.global.b32 %" + std::string(name) + std::to_string(r) + ", [%p+" + std::to_string(4 * input.size()) +
           "];\n";
      input.insert(input.end(), regs[r].begin(), regs[r].end());
    }
  };
  load("a", op.a), load("b", op.b), load("c", op.c), load("x", op.extra);
  auto vector_of = [](const char* name, size_t n) {
    std::string v = "{";
    for (size_t r = 0; r < n; ++r) v += (r ? ", %" : "%") + std::string(name) + std::to_string(r);
    return v + "}";
  };
  std::string text = op.text;
  auto replace = [&](const std::string& what, const std::string& with) {
    for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  };
  replace("{D}", vector_of("d", op.d_registers)), replace("{A}", vector_of("a", op.a.size()));
  replace("{B}", vector_of("b", op.b.size())), replace("{C}", vector_of("c", op.c.size()));
  t += text + "\n";
  for (size_t r = 0; r < op.d_registers; ++r)
    t += "st.global.b32 [%q+" + std::to_string(128 * r) + "], %d" + std::to_string(r) + ";\n";
  t += "ret;\n}\n";
  auto module = ptx::parse(t, "mma.ptx");
  EXPECT_TRUE(module.ok()) << render(module.error()) << t;
  auto m =
      runtime::parse_manifest("launch: kernel=k grid=1 block=32\ntensor: in u32 shape=" + std::to_string(input.size()) +
                              "\ntensor: out u32 shape=" + std::to_string(32 * op.d_registers) +
                              " role=out\narg: in buffer of=in\narg: out buffer of=out\n");
  runtime::Tensor in{"in", runtime::DType::u32, {input.size()}, std::vector<uint8_t>(4 * input.size())};
  std::memcpy(in.bytes.data(), input.data(), in.bytes.size());
  auto r = run(*module, *m, {in}, {});
  Registers out(op.d_registers);
  if (!r.ok() || r->outcome != Outcome::clean) {
    ADD_FAILURE() << op.text << "\n" << (r.ok() ? render(r->findings[0]) : render(r.error()));
    return out;
  }
  std::memcpy(out.data(), r->outputs[0].bytes.data(), 128 * op.d_registers);
  return out;
}

struct Shape {
  uint32_t m, n, k;
  std::string a, b, d;
  bool sparse = false;
};
struct Place {
  uint32_t row, col;
};

// rules.md 7.2: register r, element j of A with e elements a register; b1 and 4-bit types likewise.
Place place_a(const Shape& s, uint32_t lane, uint32_t r, uint32_t j, uint32_t e, uint32_t registers) {
  const uint32_t g = lane >> 2, t = lane & 3;
  if (s.m == 8) return {g, e * t + j};                                         // MMA-32
  if (registers == 2) return {g + 8 * r, e * t + j};                           // MMA-31
  if (registers == 4) return {g + 8 * (r & 1), e * t + j + 4 * e * (r >> 1)};  // MMA-30
  return {g + 8 * (r & 1), e * t + j + 4 * e * (r >> 1)};
}
Place place_b(uint32_t lane, uint32_t r, uint32_t j, uint32_t e) {  // (k, n)
  return {e * (lane & 3) + j + 4 * e * r, lane >> 2};
}
Place place_c(uint32_t lane, uint32_t i) { return {(lane >> 2) + 8 * (i >> 1), 2 * (lane & 3) + (i & 1)}; }

// rules.md 7.4: which lane and nibble describe a chunk, by the same table read the other way round.
void each_nibble(uint32_t bits, uint32_t k, uint32_t selector,
                 const std::function<void(uint32_t lane, uint32_t nibble, uint32_t row, uint32_t chunk)>& visit) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 8; ++j) {
      const uint32_t g = lane >> 2, q = lane & 3, s = selector;
      const bool first = (bits == 16 && k == 16) || (bits == 32 && k == 8),
                 second = (bits == 16 && k == 32) || (bits == 32 && k == 16),
                 third = (bits == 8 && k == 32) || (bits == 4 && k == 64);
      if (first) {
        if (q == s) visit(lane, j, g + 8 * (j >> 2), j & 3);
      } else if (second) {
        if (q / 2 == s) visit(lane, j, g + 8 * (j >> 2), 4 * (q & 1) + (j & 3));
      } else if (third) {
        if (q / 2 == s) visit(lane, j, g + 8 * (q & 1), j);
      } else {
        visit(lane, j, g + 8 * (q & 1), 8 * (q >> 1) + j);
      }
    }
}

double exact(uint32_t word, const std::string& type) {
  return type == "f32" ? std::bit_cast<float>(word) : static_cast<double>(static_cast<int32_t>(word));
}

struct Extra {
  std::string before_types, after, suffix;  // ".satfinite", ".xor.popc"; further operands
  uint32_t selector = 0;
  Registers registers;
  std::function<double(uint32_t row, uint32_t col, uint32_t k)> scale;
  bool b1_xor = false;
};

void check(const Shape& s, const std::string& head, const std::string& target, const Extra& x = {}) {
  const std::string label = head + " m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k) +
                            " " + s.d + "." + s.a + "." + s.b + (s.sparse ? " sel " + std::to_string(x.selector) : "");
  const Format &fa = format(s.a), &fb = format(s.b);
  const uint32_t kept = s.sparse ? s.k / 2 : s.k, ea = 32 / fa.bits, eb = 32 / fb.bits;
  uint64_t seed = 1;
  auto next = [&](uint64_t n) { return runtime::splitmix64(seed++ * 977 + s.k) % n; };
  std::vector<double> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n), kept_a(s.m * kept);
  Operation op;
  op.a.resize(std::max(1u, s.m * kept * fa.bits / 1024)), op.b.resize(std::max(1u, s.k * s.n * fb.bits / 1024));
  for (uint32_t r = 0; r < op.a.size(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < ea; ++j) {
        const size_t pick = next(fa.codes.size());
        const Place p = place_a(s, lane, r, j, ea, static_cast<uint32_t>(op.a.size()));
        kept_a[p.row * kept + p.col] = fa.values[pick];
        put_bits(op.a, r, lane, j, fa.bits, fa.codes[pick]);
      }
  for (uint32_t r = 0; r < op.b.size(); ++r)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < eb; ++j) {
        const size_t pick = next(fb.codes.size());
        const Place p = place_b(lane, r, j, eb);
        b[p.row * s.n + p.col] = fb.values[pick];
        put_bits(op.b, r, lane, j, fb.bits, fb.codes[pick]);
      }
  const bool half = s.d == "f16";
  const uint32_t values = s.m * s.n / 32;
  op.c.resize(half ? values / 2 : values);
  op.d_registers = op.c.size();
  for (uint32_t i = 0; i < values; ++i)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const double v = static_cast<double>(next(9)) - 4;
      const Place p = place_c(lane, i);
      c[p.row * s.n + p.col] = v;
      if (half) put_bits(op.c, i / 2, lane, i & 1, 16, runtime::float_to_half(static_cast<float>(v)));
      else
        op.c[i][lane] = s.d == "f32" ? std::bit_cast<uint32_t>(static_cast<float>(v))
                                     : static_cast<uint32_t>(static_cast<int32_t>(v));
    }
  std::string operands = "{D}, {A}, {B}, {C}";
  if (s.sparse) {
    op.extra.resize(1);
    const uint32_t chunk = fa.bits == 32 ? 2 : fa.bits == 4 ? 8 : 4;
    each_nibble(fa.bits, s.k, x.selector, [&](uint32_t lane, uint32_t nibble, uint32_t row, uint32_t at) {
      const uint32_t legal[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};
      const uint32_t code = chunk == 2 ? (next(2) ? 0xE : 0x4) : legal[next(6)], i0 = code & 3, i1 = code >> 2;
      op.extra[0][lane] |= code << (4 * nibble);
      const double* from = &kept_a[row * kept + at * chunk / 2];
      double* to = &a[row * s.k + at * chunk];
      if (chunk == 2) to[code == 0xE] = from[0];
      else if (chunk == 4) to[i0] = from[0], to[i1] = from[1];
      else to[2 * i0] = from[0], to[2 * i0 + 1] = from[1], to[2 * i1] = from[2], to[2 * i1 + 1] = from[3];
    });
    operands += ", %x0, " + std::to_string(x.selector);
  } else {
    a = kept_a;
  }
  op.extra.insert(op.extra.end(), x.registers.begin(), x.registers.end());
  const std::string name_a = s.a.substr(0, s.a.find(' ')), name_b = s.b.substr(0, s.b.find(' '));
  op.text = head + ".m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k) + ".row.col" +
            x.before_types + "." + s.d + "." + name_a + "." + name_b + "." + s.d + x.suffix + " " + operands + x.after +
            ";";
  const Registers d = run_warp(op, target);
  int wrong = 0;
  for (uint32_t i = 0; i < values; ++i)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const Place p = place_c(lane, i);
      double want = c[p.row * s.n + p.col];
      for (uint32_t k = 0; k < s.k; ++k) {
        const double u = a[p.row * s.k + k], v = b[k * s.n + p.col];
        want += x.b1_xor ? static_cast<double>(u != v) : u * v * (x.scale ? x.scale(p.row, p.col, k) : 1);
      }
      const double got = half ? runtime::half_to_float(static_cast<uint16_t>(d[i / 2][lane] >> (16 * (i & 1))))
                              : exact(d[i][lane], s.d);
      wrong += got != want;
    }
  EXPECT_EQ(wrong, 0) << label;
}

TEST(MmaSync, DenseShapes) {
  const std::string mma = "mma.sync.aligned";
  for (const char* acc : {"f32", "f16"}) {
    check({16, 8, 8, "f16", "f16", acc}, mma, "sm_75");
    check({16, 8, 16, "f16", "f16", acc}, mma, "sm_80");
    for (const char* a : {"e4m3", "e5m2"})
      for (const char* b : {"e4m3", "e5m2"})
        for (uint32_t k : {16u, 32u}) check({16, 8, k, a, b, acc}, mma, "sm_89");
  }
  for (uint32_t k : {8u, 16u}) check({16, 8, k, "bf16", "bf16", "f32"}, mma, "sm_80");
  for (uint32_t k : {4u, 8u}) check({16, 8, k, "tf32", "tf32", "f32"}, mma, "sm_80");
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"}) {
      check({8, 8, 16, a, b, "s32"}, mma, "sm_75");
      for (uint32_t k : {16u, 32u}) check({16, 8, k, a, b, "s32"}, mma, "sm_80");
    }
  for (const char* a : {"s4", "u4"})
    for (const char* b : {"s4", "u4"}) {
      check({8, 8, 32, a, b, "s32"}, mma, "sm_75");
      for (uint32_t k : {32u, 64u}) check({16, 8, k, a, b, "s32"}, mma, "sm_80");
    }
  for (bool is_xor : {true, false}) {
    Extra x;
    x.suffix = is_xor ? ".xor.popc" : ".and.popc";
    x.b1_xor = is_xor;
    check({8, 8, 128, "b1", "b1", "s32"}, mma, "sm_80", x);
    for (uint32_t k : {128u, 256u}) check({16, 8, k, "b1", "b1", "s32"}, mma, "sm_80", x);
  }
}

TEST(MmaSync, SparseShapes) {
  for (const char* variant : {"mma.sp.sync.aligned", "mma.sp::ordered_metadata.sync.aligned"}) {
    auto each = [&](uint32_t k, const char* a, const char* b, const char* d, uint32_t selectors) {
      for (uint32_t s = 0; s < selectors; ++s) {
        Extra x;
        x.selector = s;
        check({16, 8, k, a, b, d, true}, variant, "sm_90a", x);
      }
    };
    for (const char* d : {"f32", "f16"}) each(16, "f16", "f16", d, 4), each(32, "f16", "f16", d, 2);
    each(16, "bf16", "bf16", "f32", 4), each(32, "bf16", "bf16", "f32", 2);
    each(8, "tf32", "tf32", "f32", 4), each(16, "tf32", "tf32", "f32", 2);
    for (const char* b : {"s8", "u8"}) each(32, "s8", b, "s32", 2), each(64, "u8", b, "s32", 1);
    each(64, "s4", "u4", "s32", 2), each(128, "u4", "s4", "s32", 1);
    each(64, "e4m3", "e5m2", "f32", 1), each(64, "e5m2", "e4m3", "f32", 1);
  }
}

TEST(MmaSync, KindsOfSm120) {
  const char* types[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  for (const char* a : types)
    for (const char* b : types)
      for (const char* d : {"f32", "f16"}) {
        Extra x;
        x.before_types = ".kind::f8f6f4";
        check({16, 8, 32, a, b, d}, "mma.sync.aligned", "sm_120a", x);
        check({16, 8, 64, a, b, d, true}, "mma.sp::ordered_metadata.sync.aligned", "sm_120a", x);
      }
}

// Scales are powers of two from 1/2 to 4, one a row (column) and block, at the lanes and bytes of rules.md 7.3.
TEST(MmaSync, BlockScaling) {
  struct Case {
    const char *kind, *type;
    uint32_t k, vec;
    bool ue4m3, sparse;
    uint32_t byte_a, thread_a, byte_b, thread_b;
  };
  const Case cases[] = {
      {"mxf8f6f4", "e4m3", 32, 1, false, false, 3, 1, 2, 3},
      {"mxf8f6f4", "e2m1", 32, 1, false, false, 0, 0, 0, 0},
      {"mxf4", "e2m1 packed", 64, 2, false, false, 2, 1, 0, 2},
      {"mxf4nvf4", "e2m1 packed", 64, 2, false, false, 0, 0, 2, 1},
      {"mxf4nvf4", "e2m1 packed", 64, 4, true, false, 0, 1, 0, 3},
      {"mxf8f6f4", "e5m2", 64, 1, false, true, 1, 0, 3, 1},
      {"mxf4", "e2m1 packed", 128, 2, false, true, 2, 0, 2, 0},
      {"mxf4nvf4", "e2m1 packed", 128, 4, true, true, 0, 1, 0, 1},
  };
  for (const Case& t : cases) {
    Extra x;
    const std::string base = t.sparse ? "%x1" : "%x0", second = t.sparse ? "%x2" : "%x1";
    x.before_types = std::string(".kind::") + t.kind + ".block_scale.scale_vec::" + std::to_string(t.vec) + "X";
    x.suffix = t.ue4m3 ? ".ue4m3" : ".ue8m0";
    x.after = ", " + base + ", {" + std::to_string(t.byte_a) + ", " + std::to_string(t.thread_a) + "}, " + second +
              ", {" + std::to_string(t.byte_b) + ", " + std::to_string(t.thread_b) + "}";
    x.registers.resize(2);
    auto exponent = [](uint32_t operand, uint32_t row, uint32_t block) {
      return static_cast<int>((7 * operand + 3 * row + 5 * block) % 4) - 1;
    };
    auto code = [&](int e) { return static_cast<uint32_t>(t.ue4m3 ? (7 + e) << 3 : 127 + e); };
    for (uint32_t block = 0; block < t.vec; ++block) {
      for (uint32_t row = 0; row < 16; ++row)
        x.registers[0][4 * (row % 8) + 2 * t.thread_a + row / 8] |= code(exponent(0, row, block))
                                                                    << (8 * (t.byte_a + block));
      for (uint32_t col = 0; col < 8; ++col)
        x.registers[1][4 * col + t.thread_b] |= code(exponent(1, col, block)) << (8 * (t.byte_b + block));
    }
    x.scale = [&](uint32_t row, uint32_t col, uint32_t k) {
      const uint32_t block = k / (t.k / t.vec);
      return std::ldexp(1.0, exponent(0, row, block) + exponent(1, col, block));
    };
    check({16, 8, t.k, t.type, t.type, "f32", t.sparse},
          t.sparse ? "mma.sp::ordered_metadata.sync.aligned" : "mma.sync.aligned", "sm_120a", x);
  }
}

// Saturation clamps at the limits, without it the sum wraps.
TEST(MmaSync, SaturatesAndWraps) {
  for (bool saturate : {false, true}) {
    Operation op;
    op.a.resize(4), op.b.resize(2), op.c.resize(4), op.d_registers = 4;
    for (auto* regs : {&op.a, &op.b})
      for (auto& r : *regs) r.fill(0x7F7F7F7F);  // 127 * 127 * 32
    for (auto& r : op.c) r.fill(0x7FFFFFF0);
    op.text = std::string("mma.sync.aligned.m16n8k32.row.col") + (saturate ? ".satfinite" : "") +
              ".s32.s8.s8.s32 {D}, {A}, {B}, {C};";
    const Registers d = run_warp(op, "sm_80");
    const uint32_t want = saturate ? 0x7FFFFFFF : 0x7FFFFFF0u + 127 * 127 * 32;
    for (const auto& r : d)
      for (uint32_t v : r) EXPECT_EQ(v, want);
  }
}

// Every code of the 8-bit formats, multiplied by one: A holds the codes, B the unit matrix.
TEST(MmaSync, EveryCodeOfTheSmallFormats) {
  struct Code {
    const char* type;
    uint32_t exponent_bits, mantissa_bits, bias, shift;
  };
  for (const Code& f : {Code{"e4m3", 4, 3, 7, 0}, Code{"e5m2", 5, 2, 15, 0}, Code{"e3m2", 3, 2, 3, 0},
                        Code{"e2m3", 2, 3, 1, 0}, Code{"e2m1", 2, 1, 1, 2}}) {
    const uint32_t count = 1u << (1 + f.exponent_bits + f.mantissa_bits);
    for (uint32_t first = 0; first < count; first += 128) {  // 16 rows of 8 codes, at k 0 ... 7
      Operation op;
      op.a.resize(4), op.b.resize(2), op.c.resize(4), op.d_registers = 4;
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t j = 0; j < 4; ++j) {
          for (uint32_t r = 0; r < 2; ++r)
            if (const uint32_t col = 4 * (lane & 3) + j; col < 8)
              put_bits(op.a, r, lane, j, 8, ((first + 8 * ((lane >> 2) + 8 * r) + col) % count) << f.shift);
          if (4 * (lane & 3) + j == lane >> 2) put_bits(op.b, 0, lane, j, 8, 0x38);  // 1.0 of e4m3
        }
      op.text =
          std::string("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.") + f.type + ".e4m3.f32 {D}, {A}, {B}, {C};";
      const Registers d = run_warp(op, "sm_120a");
      for (uint32_t i = 0; i < 4; ++i)
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const Place p = place_c(lane, i);
          auto value = [&](uint32_t code) {
            const uint32_t e = code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1),
                           m = code & ((1u << f.mantissa_bits) - 1);
            const double sign = code >> (f.exponent_bits + f.mantissa_bits) ? -1 : 1,
                         unit = std::ldexp(1.0, -static_cast<int>(f.mantissa_bits));
            if (f.exponent_bits == 5 && e == 31) return m ? NAN : sign * INFINITY;
            if (f.exponent_bits == 4 && e == 15 && m == 7) return static_cast<double>(NAN);
            return e ? sign * std::ldexp(1 + m * unit, static_cast<int>(e) - static_cast<int>(f.bias))
                     : sign * std::ldexp(m * unit, 1 - static_cast<int>(f.bias));
          };
          double want = 0;  // a row that holds NaN or infinity is NaN everywhere but there: infinity times zero
          for (uint32_t k = 0; k < 8; ++k) want += value((first + 8 * p.row + k) % count) * (k == p.col);
          const double got = exact(d[i][lane], "f32");
          EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
              << f.type << " " << first + 8 * p.row + p.col << " " << got << " " << want;
        }
    }
  }
}

}  // namespace
}  // namespace tc::sim
