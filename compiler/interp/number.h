// The numbers that the tile interpreter computes with, and how each element type rounds and stores them.
// A number is an integer (sign- or zero-extended to 64 bits; bool: 0 or 1) or a double, as its type says; every element
// type is exact in it. Results are rounded to their type after each operation: f32 once from double (exact for + - * /
// and sqrt), f16 and bf16 by way of f32. Conversions to floats of at most 8 bits saturate, as CUDA's do (satfinite).
//   round(e4m3, 1000) = 448, round(e2m1, 2.5) = 2 (to even), round(i8, 200) = -56
// Memory holds elements as the machine does, 4-bit types two a byte, so buffers can be looked at as another type.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "compiler/ir/ir.h"

namespace tc::ir::interp {

union Number {
  double f;
  int64_t i = 0;
  bool operator==(const Number& o) const { return i == o.i; }
};
inline Number of(int64_t i) {
  Number n;
  n.i = i;
  return n;
}
inline Number of(double f) {
  Number n;
  n.f = f;
  return n;
}
inline double as_double(DType type, Number n) {
  return is_float(type)       ? n.f
         : type == DType::u64 ? static_cast<double>(static_cast<uint64_t>(n.i))
                              : static_cast<double>(n.i);
}

// The largest finite number of a float type.
double largest_of(DType type);
// What the type can hold of the value: rounded, saturated or wrapped.
double round_to(DType type, double v);
int64_t wrap_to(DType type, int64_t v);
Number round_to(DType type, Number n);  // of a number of the same class
Number convert(DType from, DType to, Number n);
Number reinterpret(DType from, DType to, Number n);

// Elements in memory; `index` counts elements. Accesses are relaxed atomics where the element is at least a byte.
Number load(DType type, const uint8_t* base, int64_t index);
void store(DType type, uint8_t* base, int64_t index, Number n);
// `count` elements from `first` on, `stride` apart, as doubles.
void load_doubles(DType type, const uint8_t* base, int64_t first, int64_t stride, int64_t count, double* out);
inline int64_t bytes_for(DType type, int64_t elements) { return (elements * info(type).bits + 7) / 8; }
// What memory holds that nobody has written: NaN, or 0x5A in every byte.
void fill_unwritten(DType type, uint8_t* base, int64_t bytes);

using Binary = Number (*)(DType, Number, Number);
using Unary = Number (*)(DType, Number);
// The function of an operation on operands of `type`; null: there is none. Division by zero gives 0 (integers).
Binary binary_function(OpKind kind, DType type);
Unary unary_function(OpKind kind, DType type);
// Rows of intrinsic.def that are functions of their operands.
struct Pure {
  std::string_view name;
  Number (*one)(DType, Number);
  Number (*two)(DType, Number, Number);
  Number (*three)(DType, Number, Number, Number);
};
const Pure* pure_intrinsic(std::string_view name);

}  // namespace tc::ir::interp
