// The numbers that the tile interpreter computes with. Everything the interpreter knows about them is here, so that the
// type can be exchanged (exact fields instead of floats).
// Now: a double carries every element type. f16, bf16 and f32 values are exact in it; results are rounded to their type
// after each operation (f16 and bf16 by way of f32). Integers are exact up to 2^53; a 64-bit integer beyond that is a
// Diag of the interpreter, not a wrong number.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

#include "compiler/ir/ir.h"
#include "runtime/dtype.h"

namespace tc::ir::interp {

using Number = double;

inline constexpr double kExactInteger = 9007199254740992.0;  // 2^53

// The value as the type can hold it: rounded, wrapped, or 0/1.
inline Number round_to(DType type, Number v) {
  const DTypeInfo& row = info(type);
  if (type == DType::f32) return static_cast<float>(v);
  if (type == DType::f16) return runtime::half_to_float(runtime::float_to_half(static_cast<float>(v)));
  if (type == DType::bf16) return runtime::bf16_to_float(runtime::float_to_bf16(static_cast<float>(v)));
  if (type == DType::f64) return v;
  if (type == DType::b1) return v != 0;
  if (row.bits == 64) return v;
  int64_t span = int64_t{1} << row.bits;
  int64_t i = static_cast<int64_t>(v) & (span - 1);
  return static_cast<Number>(row.kind == NumberKind::sint && i >= span / 2 ? i - span : i);
}

// What memory holds that nobody has written.
inline Number unwritten(DType type) { return is_float(type) ? std::nan("") : round_to(type, 0x5A5A5A5A); }

// a op b in `type` (the operands' type); nullopt where it has no value: division by zero, a shift out of range, an
// integer that is not exact.
std::optional<Number> apply_binary(OpKind kind, DType type, Number a, Number b);
std::optional<Number> apply_unary(OpKind kind, DType type, Number a);
Number apply_cast(DType from, DType to, Number a);

}  // namespace tc::ir::interp
