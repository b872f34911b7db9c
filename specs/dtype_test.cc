// Witnesses of the element types that do not read the table: the host's own types, and the formats of IEEE 754 and
// bfloat16.
#include "specs/dtype.h"

#include <gtest/gtest.h>

#include <limits>

namespace tc {
namespace {

template <class T>
void matches(DType t) {
  EXPECT_EQ(bytes_of(t), sizeof(T)) << info(t).name;
  EXPECT_EQ(is_float(t), std::is_floating_point_v<T>) << info(t).name;
  EXPECT_EQ(info(t).mantissa_bits, static_cast<uint32_t>(std::numeric_limits<T>::digits - std::is_floating_point_v<T>))
      << info(t).name;
}

TEST(DType, RowsAgreeWithTheHost) {
  matches<int8_t>(DType::i8);
  matches<int16_t>(DType::i16);
  matches<int32_t>(DType::i32);
  matches<int64_t>(DType::i64);
  matches<uint8_t>(DType::u8);
  matches<uint16_t>(DType::u16);
  matches<uint32_t>(DType::u32);
  matches<uint64_t>(DType::u64);
  matches<float>(DType::f32);
  matches<double>(DType::f64);
}

TEST(DType, SixteenBitFloatsAsTheirStandardsSay) {
  // binary16: largest finite 65504 = (2 - 2^-10) * 2^15; bfloat16: 2^127 * (2 - 2^-7).
  EXPECT_EQ((1u << (info(DType::f16).exponent_bits - 1)) - 1, 15u);
  EXPECT_EQ(info(DType::f16).mantissa_bits, 10u);
  EXPECT_EQ((1u << (info(DType::bf16).exponent_bits - 1)) - 1, 127u);
  EXPECT_EQ(info(DType::bf16).mantissa_bits, 7u);
}

TEST(DType, NamesGoRound) {
  for (const DTypeInfo& i : kDTypes) {
    EXPECT_EQ(dtype_from_name(i.name), i.type);
    EXPECT_EQ(dtype_from_short_name(i.short_name), i.type);
  }
  EXPECT_FALSE(dtype_from_name("float17"));
}

}  // namespace
}  // namespace tc
