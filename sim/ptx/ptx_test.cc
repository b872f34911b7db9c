#include "sim/ptx/module.h"

#include <gtest/gtest.h>

namespace tc::ptx {
namespace {
TEST(Ptx, Placeholder) { EXPECT_TRUE(type_named("f32").has_value()); }
}  // namespace
}  // namespace tc::ptx
