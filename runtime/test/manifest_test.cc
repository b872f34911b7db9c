#include "runtime/manifest.h"

#include <gtest/gtest.h>

namespace tc::runtime {
namespace {

const std::string kFull =
    "arch: sm_90a\n"
    "launch: kernel=gemm grid=8,8 block=384 cluster=2,1,1 smem=131072\n"
    "tensor: A f16 shape=1000,520 role=in fill=normal seed=7\n"
    "tensor: C f32 shape=1000,1016 role=out fill=nan\n"
    "tensor: n u32 shape=1 role=inout fill=zero\n"
    "arg: mA tensormap f16 dims=520,1000 strides=1040 box=64,128 swizzle=128B oob=nan l2=128B of=A\n"
    "arg: mP tensormap_ptr f16 dims=520,1000 strides=1040 box=32,128 estrides=1,2 swizzle=64B of=A offset=64\n"
    "arg: C buffer of=C offset=16\n"
    "arg: K i32 -5\n"
    "arg: u u32 4000000000\n"
    "arg: alpha f32 0.10000000149011612\n"
    "arg: odd f32 0x7fc00001\n"
    "arg: big i64 -9000000000\n"
    "arg: params struct 200 data=" + std::string(400, '7') + "\n"
    "part: params 8 buffer of=A offset=32\n"
    "part: params 64 tensormap f16 dims=520,1000 strides=1040 box=64,128 swizzle=128B of=A\n"
    "part: params 192 i32 -3\n"
    "check: gemm M=1000 N=1016 K=520\n";

TEST(Manifest, PrintAndParseAreInverse) {
  auto m = parse_manifest(kFull);
  ASSERT_TRUE(m.ok()) << m.error().line << ": " << m.error().message;
  std::string text = print_manifest(*m);
  auto again = parse_manifest(text);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *m);
  EXPECT_EQ(print_manifest(*again), text);
  auto header = parse_manifest_header(print_manifest_header(*m) + "\n__global__ void gemm();\n// arg: x i32 1\n");
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(*header, *m);
}

TEST(Manifest, HeaderEndsAtTheFirstLineOfCode) {
  const std::string_view launch = "// launch: kernel=k grid=1 block=32 smem=0\n";
  const std::string after_include = "#include <cuda_fp16.h>\n\n" + std::string(launch) + "#define N 8\n// arg: n i32 8\n";
  EXPECT_TRUE(has_manifest_header(after_include));
  auto m = parse_manifest_header(after_include);
  ASSERT_TRUE(m.ok()) << m.error().message;
  EXPECT_EQ(m->params.size(), 1u);
  EXPECT_FALSE(has_manifest_header("int x;\n" + std::string(launch)));
  EXPECT_FALSE(parse_manifest_header("int x;\n" + std::string(launch)).ok());
}

TEST(Manifest, ReadsEveryField) {
  auto m = parse_manifest(kFull);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->arch, "sm_90a");
  EXPECT_EQ(m->grid, (Dim3{8, 8, 1}));
  EXPECT_EQ(m->cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(m->tensors[0].bytes(), 1000u * 520 * 2);
  const auto& map = std::get<TensorMapArg>(m->params[1].value);
  EXPECT_TRUE(map.by_pointer);
  EXPECT_EQ(map.element_strides, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(map.swizzle, Swizzle::b64);
  EXPECT_EQ(map.offset_bytes, 64u);
  EXPECT_EQ(std::get<ScalarArg>(m->params[3].value).bits, 0xFFFFFFFBu);
  EXPECT_EQ(std::get<ScalarArg>(m->params[5].value).bits, 0x3DCCCCCDu);
}

TEST(Manifest, ShortFormsDeclareTensors) {
  auto m = parse_manifest_header(
      "// case: c01\n// expect: clean\n// launch: kernel=k grid=2,2 block=384 cluster=1 smem=0\n"
      "// arg: ma tensormap f16 dims=768,256 strides=1536 box=64,128 swizzle=128B\n"
      "// arg: order buffer i32 16 values=mod3\n// arg: next buffer i32 1 values=zero\n// arg: dst buffer f32 8\n"
      "// arg: kt i32 12\n// check: copy\n\n#include <cuda.h>\n");
  ASSERT_TRUE(m.ok()) << m.error().message;
  ASSERT_EQ(m->tensors.size(), 4u);
  EXPECT_EQ(m->tensors[0].shape, (std::vector<uint64_t>{256, 768}));
  EXPECT_EQ(m->tensors[0].role, Role::in);
  EXPECT_EQ(m->tensors[1].fill, Fill::mod3);
  EXPECT_EQ(m->tensors[2].role, Role::inout);
  EXPECT_EQ(m->tensors[3].role, Role::out);
  EXPECT_EQ(m->tensors[3].fill, Fill::zero);
  EXPECT_EQ(m->params.size(), 5u);
  EXPECT_EQ(*parse_manifest(print_manifest(*m)), *m);
}

TEST(Manifest, EveryMistakeIsNamedWithItsLine) {
  struct Case {
    std::string_view line, message;
  };
  constexpr Case kCases[] = {
      {"launch: kernel=k grid=0 block=32", "cannot read grid=0"},
      {"launch: kernel=k block=32", "missing grid="},
      {"tensor: A f17 shape=4", "unknown dtype 'f17'"},
      {"tensor: A f16 shape=4 shap=5", "unknown field 'shap'"},
      {"tensor: A f16 shape=4 role=outer", "cannot read role=outer"},
      {"tensor: A f16 shape=4000000000,4000000000", "tensor 'A' is too large"},
      {"arg: A buffer of=B", "cannot read of=B"},
      {"arg: n i8 200", "cannot read the value of 'n'"},
      {"arg: n i32 4x", "cannot read the value of 'n'"},
      {"arg: m tensormap f16 dims=8,8 strides=16,16 box=8,8",
       "dims, box and estrides need one entry a dimension, strides one fewer"},
      {"arg: m tensormap f16 dims=8,8 strides=16 box=8,8 interleave=16B", "cannot read interleave=16B"},
      {"nonsense", "expected 'key: ...'"},
      {"argh: n i32 4", "unknown key 'argh'"},
      {"arg: s struct 0", "expected the size of the structure"},
      {"arg: s struct 4 data=0102", "cannot read data=0102"},
      {"part: s 0 i32 1", "no structure 's'"},
  };
  for (const Case& c : kCases) {
    auto m = parse_manifest("\n" + std::string(c.line) + "\n");
    ASSERT_FALSE(m.ok()) << c.line;
    EXPECT_EQ(m.error().message, c.message);
    EXPECT_EQ(m.error().line, 2);
  }
  EXPECT_EQ(parse_manifest("").error().message, "no launch: line");
}

}  // namespace
}  // namespace tc::runtime
