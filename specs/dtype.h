// Element types: enum and facts from the rows of dtype.def.
// Example: DType::f16 is spelled "float16" in the language and "f16" in IR, has 16 bits, 5 exponent and 10 mantissa
// bits. Witness: specs/dtype_test.cc compares widths with the host's own types and round-trips every name.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tc {

enum class DType : uint8_t {
#define DTYPE(name, spelled, bits, kind, exp, mantissa, bias, form, ctype) name,
#include "specs/dtype.def"
#undef DTYPE
};

enum class NumberKind : uint8_t { boolean, sint, uint, binary };
enum class FloatForm : uint8_t { none, ieee, fn, fnuz, finite, e8m0 };

struct DTypeInfo {
  DType type;
  std::string_view short_name;  // f16: in IR, protocol, manifest
  std::string_view name;        // float16: in the language
  uint32_t bits;                // storage bits
  NumberKind kind;
  uint32_t exponent_bits, mantissa_bits, bias;
  FloatForm form;
  std::string_view cuda;  // spelling in generated CUDA; empty: none
};

inline constexpr std::array kDTypes = {
#define DTYPE(name, spelled, bits, kind, exp, mantissa, bias, form, ctype) \
  DTypeInfo{DType::name, #name, spelled, bits, NumberKind::kind, exp, mantissa, bias, FloatForm::form, ctype},
#include "specs/dtype.def"
#undef DTYPE
};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<size_t>(t)]; }
constexpr bool is_packed(DType t) { return info(t).bits < 8; }           // several elements share a byte
constexpr uint32_t bytes_of(DType t) { return (info(t).bits + 7) / 8; }  // of one element that stands alone
constexpr bool is_float(DType t) { return info(t).kind == NumberKind::binary; }
constexpr bool is_integer(DType t) { return info(t).kind == NumberKind::sint || info(t).kind == NumberKind::uint; }

// Is the integer a value of the integer type? uint8 holds 0 to 255.
constexpr bool holds(DType t, int64_t value) {
  const DTypeInfo& i = info(t);
  if (i.kind == NumberKind::boolean) return value == 0 || value == 1;
  if (i.bits == 64) return i.kind == NumberKind::sint || value >= 0;
  if (i.kind == NumberKind::uint) return value >= 0 && value >> i.bits == 0;
  return value >= -(int64_t{1} << (i.bits - 1)) && value < int64_t{1} << (i.bits - 1);
}

// The integer modulo 2^bits, as the type's machine instructions leave it: 300 is 44 of uint8.
constexpr int64_t wrapped(DType t, int64_t value) {
  const DTypeInfo& i = info(t);
  if (i.bits == 64 || holds(t, value)) return value;
  int64_t low = value & ((int64_t{1} << i.bits) - 1);
  return i.kind == NumberKind::sint && low >> (i.bits - 1) ? low - (int64_t{1} << i.bits) : low;
}

constexpr std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (const DTypeInfo& i : kDTypes)
    if (i.short_name == name) return i.type;
  return std::nullopt;
}
constexpr std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& i : kDTypes)
    if (i.name == name) return i.type;
  return std::nullopt;
}

static_assert(info(DType::f16).exponent_bits + info(DType::f16).mantissa_bits + 1 == 16);
static_assert(info(DType::bf16).exponent_bits + info(DType::bf16).mantissa_bits + 1 == 16);
static_assert(info(DType::f32).exponent_bits + info(DType::f32).mantissa_bits + 1 == 32);

}  // namespace tc
