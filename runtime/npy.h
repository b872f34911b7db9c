// NumPy .npy files, version 1.0 and 2.0, C order, little endian.
//   f2 f4 f8 i1 u1 i2 u2 i4 u4 i8 u8  <->  f16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64
// NumPy has no bf16, e4m3, e5m2: they are written as u2, u1, u1, and a reader that knows better says so with `as`.
// Fails: no such file, another format, Fortran order, big endian, a size that does not match the shape.
#pragma once
#include <optional>
#include <string>

#include "runtime/expected.h"
#include "runtime/tensor.h"

namespace tc::runtime {

Expected<Tensor> read_npy(const std::string& path, std::optional<DType> as = std::nullopt);
Done write_npy(const std::string& path, const Tensor& tensor);

}  // namespace tc::runtime
