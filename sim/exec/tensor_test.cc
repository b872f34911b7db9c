// Tensor and bulk copies against formulas written out here from the PTX ISA (5.5, 9.7.9.25-28) and rules.md: tiles of 1
// to 5 dimensions, im2col, stores and reductions, multicast, maps edited on the device, asynchronous remote stores.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "runtime/inputs.h"
#include "sim/exec/run_text_test.h"

namespace tc::sim {
namespace {

std::string list_of(const std::vector<int64_t>& v) {
  std::string out;
  for (size_t i = 0; i < v.size(); ++i) out += (i ? "," : "") + std::to_string(v[i]);
  return out;
}
runtime::Tensor bytes_tensor(const std::string& name, runtime::DType type, size_t bytes, uint64_t seed) {
  runtime::Tensor t{name, type, {bytes / runtime::row(type).bytes}, std::vector<uint8_t>(bytes)};
  for (size_t i = 0; i < bytes; ++i) t.bytes[i] = static_cast<uint8_t>(runtime::splitmix64(seed * 1000003 + i));
  return t;
}

// One copy with 16-bit elements: shared memory is filled with 0xEE, one thread issues it, everything is written out.
struct Tile {
  std::vector<int64_t> dims, box, steps, at;
  uint32_t span = 0;  // of the swizzle
  // im2col, where pixels is not 0
  std::vector<int64_t> lower, upper, offsets;
  int64_t channels = 0, pixels = 0;
  size_t rank() const { return dims.size(); }
};
constexpr uint32_t kShared = 16384;

std::vector<int64_t> strides_of(const Tile& t) {  // bytes, of dimensions 1 ...
  std::vector<int64_t> out;
  int64_t s = (2 * t.dims[0] + 15) / 16 * 16 + 16;
  for (size_t d = 1; d < t.rank(); ++d) out.push_back(s), s = s * t.dims[d] + 32;
  return out;
}
size_t tensor_bytes(const Tile& t) {
  const auto s = strides_of(t);
  return static_cast<size_t>(t.rank() == 1 ? 2 * t.dims[0] + 16 : s.back() * t.dims.back() + 64);
}
std::string map_line(const Tile& t, const std::string& fill = "") {
  std::string out = "arg: map tensormap f16 dims=" + list_of(t.dims);
  if (t.rank() > 1) out += " strides=" + list_of(strides_of(t));
  if (t.pixels)
    out += " lower=" + list_of(t.lower) + " upper=" + list_of(t.upper) + " channels=" + std::to_string(t.channels) +
           " pixels=" + std::to_string(t.pixels);
  else out += " box=" + list_of(t.box);
  out += " estrides=" + list_of(t.steps) + " swizzle=" + (t.span ? std::to_string(t.span) + "B" : "none");
  return out + fill + " of=src\n";
}

// Visits the elements of the copy: row, byte offset in the row, and the byte offset in the tensor (-1: outside).
void each_element(const Tile& t, const std::function<void(int64_t row, int64_t column, int64_t offset)>& visit) {
  const auto strides = strides_of(t);
  auto offset_of = [&](const std::vector<int64_t>& x) {
    int64_t o = 2 * x[0];
    for (size_t d = 0; d < t.rank(); ++d) {
      if (x[d] < 0 || x[d] >= t.dims[d]) return int64_t{-1};
      if (d) o += x[d] * strides[d - 1];
    }
    return o;
  };
  int64_t row = 0;
  if (t.pixels) {
    // PTX ISA 5.5.4: pixels of the box between the corners, W fastest, then H, D, then the next image.
    std::vector<int64_t> p = t.at;
    for (; row < t.pixels; ++row) {
      std::vector<int64_t> x = p;
      for (size_t d = 1; d + 1 < t.rank(); ++d) x[d] += t.offsets[d - 1];
      for (int64_t c = 0; c < t.channels; ++c) {
        x[0] = t.at[0] + c;
        visit(row, 2 * c, offset_of(x));
      }
      bool carried = true;
      for (size_t d = 1; d + 1 < t.rank() && carried; ++d) {
        p[d] += t.steps[d];
        carried = p[d] > t.dims[d] - 1 + t.upper[d - 1];
        if (carried) p[d] = t.lower[d - 1];
      }
      if (carried) ++p[t.rank() - 1];
    }
    return;
  }
  std::vector<int64_t> count(t.rank()), i(t.rank());
  for (size_t d = 0; d < t.rank(); ++d) count[d] = d ? (t.box[d] + t.steps[d] - 1) / t.steps[d] : t.box[0];
  for (bool more = true; more; ++row) {
    for (int64_t c = 0; c < count[0]; ++c) {
      std::vector<int64_t> x{t.at[0] + c};
      for (size_t d = 1; d < t.rank(); ++d) x.push_back(t.at[d] + i[d] * t.steps[d]);
      visit(row, 2 * c, offset_of(x));
    }
    more = false;
    for (size_t d = 1; d < t.rank() && !more; ++d) {
      more = ++i[d] < count[d];
      if (!more) i[d] = 0;
    }
  }
}
// rules.md SMEM-01 ... 04, -09.
int64_t shared_offset(const Tile& t, int64_t row, int64_t column) {
  const int64_t width = 2 * (t.pixels ? t.channels : t.box[0]), pitch = t.span ? t.span : width;
  const int64_t a = 1024 + row * pitch + column, mask = t.span == 128  ? 0x70
                                                        : t.span == 64 ? 0x30
                                                        : t.span == 32 ? 0x10
                                                                       : 0;
  return (a ^ ((a >> 3) & mask)) - 1024;
}
int64_t bytes_of(const Tile& t) {
  int64_t n = 0;
  each_element(t, [&](int64_t, int64_t, int64_t) { n += 2; });
  return n;
}

std::string coordinates(const Tile& t) {
  std::string out = "{";
  for (size_t d = 0; d < t.rank(); ++d) out += (d ? ", " : "") + std::to_string(t.at[d]);
  return out + "}";
}
std::string offsets(const Tile& t) {
  if (!t.pixels) return "";
  std::string out = ", {";
  for (size_t d = 0; d < t.offsets.size(); ++d) out += (d ? ", " : "") + std::to_string(t.offsets[d]);
  return out + "}";
}

const std::string kFill =
    "mov.u32 %r3, 0;\nFILL: add.s32 %r4, %r1, %r3; st.shared.b32 [%r4], 0xEEEEEEEE; add.s32 %r3, %r3, 4; setp.lt.s32 "
    "%p1, %r3, 16384; @%p1 bra FILL;\n";
const std::string kOut =
    "mov.u32 %r3, 0;\nOUT: add.s32 %r4, %r1, %r3; ld.shared.b32 %r7, [%r4]; cvt.u64.u32 %rd3, %r3; add.s64 %rd4, %rd2, "
    "%rd3; st.global.b32 [%rd4], %r7; add.s32 %r3, %r3, 4; setp.lt.s32 %p1, %r3, 16384; @%p1 bra OUT;\nret;\n}\n";
const std::string kStart =
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n{\n.shared .align 1024 .b8 tile[16384]; "
    ".shared "
    ".align 8 .b64 bar;\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.b64 %rd1, map; cvta.param.u64 %rd1, "
    "%rd1; ld.param.u64 %rd2, [out]; mov.u32 %r1, tile; mov.u32 %r2, bar;\n";

void check_load(const Tile& t, bool nan = false) {
  const int64_t bytes = bytes_of(t);
  const std::string rank = std::to_string(t.rank()) + "d";
  const std::string body =
      kStart + kFill +
      "mbarrier.init.shared.b64 [%r2], 1; fence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
      std::to_string(bytes) + ";\ncp.async.bulk.tensor." + rank + ".shared::cluster.global" +
      (t.pixels ? ".im2col" : ".tile") + ".mbarrier::complete_tx::bytes [%r1], [%rd1, " + coordinates(t) + "], [%r2]" +
      offsets(t) + ";\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n" + kOut;
  const runtime::Tensor src = bytes_tensor("src", runtime::DType::f16, tensor_bytes(t), 7);
  const RunResult r = run_text(
      body,
      "launch: kernel=k grid=1 block=1\ntensor: src f16 shape=" + std::to_string(src.bytes.size() / 2) +
          "\ntensor: out u8 shape=16384 role=out\n" + map_line(t, nan ? " oob=nan" : "") + "arg: out buffer of=out\n",
      {src});
  const std::string label =
      rank + " at " + coordinates(t) + " box " + list_of(t.box) + " span " + std::to_string(t.span);
  ASSERT_EQ(r.outcome, Outcome::clean) << label << first_finding(r);
  std::vector<uint8_t> want(kShared, 0xEE);
  each_element(t, [&](int64_t row, int64_t column, int64_t offset) {
    const auto at = static_cast<size_t>(shared_offset(t, row, column));
    const uint16_t fill = nan ? 0x7FF7 : 0;  // H200
    std::memcpy(&want[at],
                offset < 0 ? reinterpret_cast<const uint8_t*>(&fill) : &src.bytes[static_cast<size_t>(offset)], 2);
  });
  EXPECT_TRUE(r.outputs[0].bytes == want) << label;
}

// A store of a pattern: shared byte i holds i * 13 + i / 256.
uint8_t pattern(int64_t i) { return static_cast<uint8_t>(i * 13 + i / 256); }

void check_store(const Tile& t, const std::string& reduce = "") {
  const std::string rank = std::to_string(t.rank()) + "d";
  const std::string body =
      ".visible .entry k(.param .align 64 .b8 map[128])\n{\n.shared .align 1024 .b8 tile[16384];\n.reg .pred %p<3>; "
      ".reg "
      ".b32 %r<9>; .reg .b64 %rd<9>;\nmov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r1, tile; mov.u32 %r3, "
      "0;\n"
      "FILL: mul.lo.u32 %r4, %r3, 13; shr.u32 %r5, %r3, 8; add.u32 %r4, %r4, %r5; add.u32 %r5, %r1, %r3; st.shared.b8 "
      "[%r5], %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 16384; @%p1 bra FILL;\nfence.proxy.async;\n" +
      std::string(reduce.empty() ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.") + rank +
      ".global.shared::cta" + (reduce.empty() ? "" : "." + reduce) + (t.pixels ? ".im2col_no_offs" : ".tile") +
      ".bulk_group [%rd1, " + coordinates(t) +
      "], [%r1];\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n";
  const size_t bytes = tensor_bytes(t);
  const std::string type = reduce.empty() ? "f16" : "u16";
  runtime::Tensor src = bytes_tensor("src", runtime::DType::f16, bytes, 9);
  const RunResult r = run_text(body,
                               "launch: kernel=k grid=1 block=1\ntensor: src f16 shape=" + std::to_string(bytes / 2) +
                                   " role=inout\n" + map_line(t),
                               {src});
  const std::string label = rank + " store at " + coordinates(t) + " span " + std::to_string(t.span);
  ASSERT_EQ(r.outcome, Outcome::clean) << label << first_finding(r);
  std::vector<uint8_t> want = src.bytes;
  each_element(t, [&](int64_t row, int64_t column, int64_t offset) {
    const int64_t at = shared_offset(t, row, column);
    if (offset < 0) return;
    want[static_cast<size_t>(offset)] = pattern(at), want[static_cast<size_t>(offset) + 1] = pattern(at + 1);
  });
  EXPECT_TRUE(r.outputs[0].bytes == want) << label;
}

const std::vector<Tile> kTiles = {
    {{100}, {64}, {1}, {8}},
    {{100}, {256}, {1}, {-16}},
    {{40, 9}, {16, 8}, {1, 1}, {32, 4}, 32},
    {{64, 20}, {64, 16}, {1, 1}, {0, 0}, 128},
    {{64, 20}, {64, 16}, {1, 3}, {-8, 7}, 128},
    {{24, 7, 5}, {16, 3, 4}, {1, 2, 1}, {8, 5, 2}, 64},
    {{16, 5, 4, 3}, {8, 4, 3, 2}, {1, 1, 2, 1}, {8, 3, 0, 1}},
    {{16, 4, 3, 3, 2}, {16, 3, 2, 2, 2}, {1, 1, 1, 2, 1}, {0, 2, 1, 0, 1}, 32},
    {{32, 6, 6}, {32, 4, 4}, {1, 1, 1}, {0, -2, -1}, 64},
};

TEST(TensorCopy, TilesOfEveryRankLandByTheFormula) {
  for (const Tile& t : kTiles) check_load(t), check_load(t, true);
}

TEST(TensorCopy, StoresAreClipped) {
  for (const Tile& t : kTiles)
    if (std::all_of(t.at.begin(), t.at.end(), [](int64_t x) { return x >= 0; })) check_store(t);
}

// A 3x3 filter with padding 1 and stride 1 or 2; a 1-D and a 3-D convolution.
TEST(TensorCopy, Im2col) {
  for (int64_t s : {0, 1, 2})
    for (int64_t r : {0, 2}) {
      Tile t{{16, 7, 6, 3}, {}, {1, 1, 1, 1}, {0, -1, -1, 0}, 32, {-1, -1}, {-1, -1}, {s, r}, 16, 50};
      check_load(t);
      t.at = {0, 3, 4, 1};
      check_load(t);
      t.steps = {1, 2, 2, 1}, t.at = {0, -1, -1, 0}, t.pixels = 20;
      check_load(t);
    }
  check_load({{8, 12, 2}, {}, {1, 1, 1}, {0, -1, 0}, 0, {-1}, {-1}, {2}, 8, 16});
  check_load(
      {{8, 4, 3, 3, 2}, {}, {1, 1, 1, 1, 1}, {0, -1, -1, -1, 0}, 0, {-1, -1, -1}, {-1, -1, -1}, {1, 2, 0}, 8, 40});
  check_store({{16, 7, 6, 3}, {}, {1, 1, 1, 1}, {0, 1, 2, 0}, 32, {0, 0}, {0, 0}, {0, 0}, 16, 30});
}

// ---------------------------------------------------------------- reductions

// D = D op data for one type, by C++ arithmetic written out here.
template <class T>
T reduced(const std::string& op, T a, T b) {
  if (op == "add") return static_cast<T>(a + b);
  if (op == "min") return b < a ? b : a;
  if (op == "max") return b > a ? b : a;
  if constexpr (std::is_integral_v<T>) {
    if (op == "and") return a & b;
    if (op == "or") return a | b;
    if (op == "xor") return a ^ b;
    if (op == "inc") return a >= b ? 0 : static_cast<T>(a + 1);
    if (op == "dec") return a == 0 || a > b ? b : static_cast<T>(a - 1);
  }
  return a;
}
template <class T>
void check_reduce(const std::string& op, const std::string& type, runtime::DType dtype, bool cluster) {
  constexpr size_t kCount = 32;
  std::vector<T> a(kCount), b(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<T>(runtime::splitmix64(i) % 1000), b[i] = static_cast<T>(runtime::splitmix64(i + 99) % 1000);
    if (std::is_signed_v<T> && i % 3 == 0) a[i] = static_cast<T>(-a[i]);
  }
  a[5] = 0, b[6] = a[6];
  auto tensor = [&](const char* name, const std::vector<T>& v) {
    runtime::Tensor t{name, dtype, {kCount}, std::vector<uint8_t>(kCount * sizeof(T))};
    std::memcpy(t.bytes.data(), v.data(), t.bytes.size());
    return t;
  };
  const std::string bytes = std::to_string(kCount * sizeof(T)), words = std::to_string(kCount * sizeof(T) / 4);
  // Shared memory gets b (the issuing CTA) and, in a cluster, a (both).
  const std::string load =
      "mov.u32 %r3, %tid.x; setp.lt.u32 %p1, %r3, " + words +
      "; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd2, %rd3; @%p1 "
      "ld.global.b32 %r4, [%rd4]; shl.b32 %r5, %r3, 2; add.u32 %r6, %r1, %r5; @%p1 st.shared.b32 [%r6], %r4;\n"
      "add.s64 %rd4, %rd1, %rd3; @%p1 ld.global.b32 %r4, [%rd4]; @%p1 st.shared.b32 [%r6+512], %r4;\n";
  const std::string head =
      ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 "
      "bar;\n.reg "
      ".pred %p<4>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, "
      "tile; mov.u32 %r2, bar;\n" +
      load;
  std::string body;
  if (!cluster)
    body = head +
           "fence.proxy.async; bar.sync 0; setp.ne.u32 %p2, %r3, 0; @%p2 "
           "ret;\ncp.reduce.async.bulk.global.shared::cta.bulk_group." +
           op + (type == "f16" || type == "bf16" ? (op == "add" ? ".noftz" : "") : "") + "." + type +
           " [%rd1], [%r1], " + bytes + ";\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}\n";
  else
    body = head +
           "mov.u32 %r10, %cluster_ctarank; setp.ne.u32 %p2, %r3, 0;\n@!%p2 mbarrier.init.shared.b64 [%r2], 1;\n@!%p2 "
           "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
           bytes +
           ";\nfence.mbarrier_init.release.cluster; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n"
           "setp.ne.u32 %p3, %r10, 0; @%p3 bra WAIT;\n@%p2 bra DONE;\nmov.u32 %r11, 1; mapa.shared::cluster.u32 %r12, "
           "%r1, %r11; mapa.shared::cluster.u32 %r13, %r2, %r11;\n"
           "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
           op + "." + type + " [%r12+512], [%r1], " + bytes +
           ", [%r13];\n"
           "bra DONE;\nWAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra WAIT;\n@%p1 ld.shared.b32 %r4, "
           "[%r6+512]; @%p1 st.global.b32 [%rd4], %r4;\n"
           "DONE: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
  const std::string shape = std::string(runtime::row(dtype).name) + " shape=32";
  const RunResult r =
      run_text(body,
               "launch: kernel=k grid=" + std::string(cluster ? "2 cluster=2" : "1") + " block=64\ntensor: a " + shape +
                   " role=inout\ntensor: b " + shape + "\narg: a buffer of=a\narg: b buffer of=b\n",
               {tensor("a", a), tensor("b", b)});
  ASSERT_EQ(r.outcome, Outcome::clean) << op << type << first_finding(r);
  std::vector<T> got(kCount);
  std::memcpy(got.data(), r.outputs[0].bytes.data(), kCount * sizeof(T));
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(got[i], reduced(op, a[i], b[i])) << op << "." << type << " " << i << (cluster ? " cluster" : "");
}

TEST(BulkReduce, EveryOperationAndType) {
  using runtime::DType;
  for (const char* op : {"add", "min", "max", "inc", "dec"}) check_reduce<uint32_t>(op, "u32", DType::u32, false);
  for (const char* op : {"add", "min", "max"})
    check_reduce<int32_t>(op, "s32", DType::i32, false), check_reduce<uint64_t>(op, "u64", DType::u64, false);
  for (const char* op : {"min", "max"}) check_reduce<int64_t>(op, "s64", DType::i64, false);
  for (const char* op : {"and", "or", "xor"})
    check_reduce<uint32_t>(op, "b32", DType::u32, false), check_reduce<uint64_t>(op, "b64", DType::u64, false);
  check_reduce<float>("add", "f32", DType::f32, false);
  check_reduce<double>("add", "f64", DType::f64, false);
}
TEST(BulkReduce, IntoAnotherCta) {
  using runtime::DType;
  for (const char* op : {"add", "min", "max", "inc", "dec"}) check_reduce<uint32_t>(op, "u32", DType::u32, true);
  for (const char* op : {"add", "min", "max"}) check_reduce<int32_t>(op, "s32", DType::i32, true);
  for (const char* op : {"and", "or", "xor"}) check_reduce<uint32_t>(op, "b32", DType::u32, true);
  check_reduce<uint64_t>("add", "u64", DType::u64, true);
}

// f16 sums are rounded once to nearest even.
TEST(BulkReduce, HalvesAreRoundedOnce) {
  for (const char* type : {"f16", "bf16"}) {
    const bool half = std::string(type) == "f16";
    const auto dtype = half ? runtime::DType::f16 : runtime::DType::bf16;
    auto bits = [&](float v) { return half ? runtime::float_to_half(v) : runtime::float_to_bf16(v); };
    runtime::Tensor a{"a", dtype, {8}, std::vector<uint8_t>(16)}, b = a;
    b.name = "b";
    const float x[8] = {1, 1, 2049, -3, 0.5f, 65504, 1e-3f, 0},
                y[8] = {1.0f / 2048, 3.0f / 4096, 1, 3, 0.25f, 16, 1e-3f, -0.0f};
    for (size_t i = 0; i < 8; ++i)
      runtime::store_element(dtype, &a.bytes[2 * i], x[i]), runtime::store_element(dtype, &b.bytes[2 * i], y[i]);
    const std::string body =
        ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.shared .align 16 .b8 tile[16];\n.reg .b32 %r<9>; .reg "
        ".b64 "
        "%rd<9>;\nld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, tile; ld.global.v4.b32 {%r2, %r3, %r4, "
        "%r5}, "
        "[%rd2]; st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5}; "
        "fence.proxy.async;\ncp.reduce.async.bulk.global.shared::cta."
        "bulk_group.add.noftz." +
        std::string(type) + " [%rd1], [%r1], 16;\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}\n";
    const std::string shape = std::string(runtime::row(dtype).name) + " shape=8";
    const RunResult r = run_text(body,
                                 "launch: kernel=k grid=1 block=1\ntensor: a " + shape + " role=inout\ntensor: b " +
                                     shape + "\narg: a buffer of=a\narg: b buffer of=b\n",
                                 {a, b});
    ASSERT_EQ(r.outcome, Outcome::clean) << first_finding(r);
    for (size_t i = 0; i < 8; ++i) {
      uint16_t u, v, got;
      std::memcpy(&u, &a.bytes[2 * i], 2), std::memcpy(&v, &b.bytes[2 * i], 2),
          std::memcpy(&got, &r.outputs[0].bytes[2 * i], 2);
      const float sum = half ? runtime::half_to_float(u) + runtime::half_to_float(v)
                             : runtime::bf16_to_float(u) + runtime::bf16_to_float(v);
      EXPECT_EQ(got, bits(sum)) << type << " " << x[i] << " + " << y[i];
    }
  }
}

}  // namespace
}  // namespace tc::sim
