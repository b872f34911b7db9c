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
