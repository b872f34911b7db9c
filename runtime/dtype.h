// Element types of tensors and scalars that cross a launch, and their conversion to and from double.
//   f16 0x3C00 = 1.0, bf16 0x3F80 = 1.0, e4m3 0x38 = 1.0, e5m2 0x3C = 1.0
// Conversions round to nearest even; overflow gives infinity (e4m3: NaN, it has no infinity); integers truncate
// toward zero and wrap. Sources: IEEE 754 binary16/32, the OCP 8-bit floating point formats.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tc::runtime {

enum class DType : uint8_t { f16, bf16, f32, f64, e4m3, e5m2, i8, u8, i16, u16, i32, u32, i64, u64 };

struct DTypeRow {
  DType dtype;
  std::string_view name;
  uint8_t bytes;
  bool is_float;
  bool is_signed;
};
inline constexpr std::array kDTypes = {
    DTypeRow{DType::f16, "f16", 2, true, true},   DTypeRow{DType::bf16, "bf16", 2, true, true},
    DTypeRow{DType::f32, "f32", 4, true, true},   DTypeRow{DType::f64, "f64", 8, true, true},
    DTypeRow{DType::e4m3, "e4m3", 1, true, true}, DTypeRow{DType::e5m2, "e5m2", 1, true, true},
    DTypeRow{DType::i8, "i8", 1, false, true},    DTypeRow{DType::u8, "u8", 1, false, false},
    DTypeRow{DType::i16, "i16", 2, false, true},  DTypeRow{DType::u16, "u16", 2, false, false},
    DTypeRow{DType::i32, "i32", 4, false, true},  DTypeRow{DType::u32, "u32", 4, false, false},
    DTypeRow{DType::i64, "i64", 8, false, true},  DTypeRow{DType::u64, "u64", 8, false, false},
};
inline const DTypeRow& row(DType t) { return kDTypes[static_cast<size_t>(t)]; }
std::optional<DType> dtype_named(std::string_view name);

float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bf16_to_float(uint16_t bits);
uint16_t float_to_bf16(float value);

// A binary float of few bits: sign, exponent, mantissa. `form` is how it uses its codes: ieee, infinities and NaNs in
// the top exponent; fn, no infinity, NaN is all ones; fnuz, neither, no -0 and NaN in its place; finite, none of these.
enum class SmallForm : uint8_t { ieee, fn, fnuz, finite };
struct SmallFloat {
  int exp_bits, man_bits, bias;
  SmallForm form;
};
// To nearest even; what is too large becomes infinite, NaN, or the largest number, whichever the form has first.
uint32_t encode_small(SmallFloat format, double value);
double decode_small(SmallFloat format, uint32_t code);

// The element at `bytes` as a double, and back. u64/i64 beyond 2^53 lose low bits.
double load_element(DType type, const void* bytes);
void store_element(DType type, void* bytes, double value);

}  // namespace tc::runtime
