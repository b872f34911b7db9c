#include "runtime/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tc::runtime {
namespace {

constexpr SmallFloat kHalf{5, 10, 15, SmallForm::ieee}, kE4m3{4, 3, 7, SmallForm::fn}, kE5m2{5, 2, 15, SmallForm::ieee};

uint32_t magnitude_mask(SmallFloat f) { return (1u << (f.exp_bits + f.man_bits)) - 1; }
uint32_t top_exponent(SmallFloat f) { return (1u << f.exp_bits) - 1; }

// The code of NaN without its sign; of a format without one: the largest number.
uint32_t nan_code(SmallFloat f) {
  if (f.form == SmallForm::ieee) return top_exponent(f) << f.man_bits | 1u << (f.man_bits - 1);
  return f.form == SmallForm::fnuz ? 0 : magnitude_mask(f);
}

template <class T>
double load_as(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<double>(v);
}
template <class T>
void store_as(void* p, T v) {
  std::memcpy(p, &v, sizeof v);
}
// Truncates and wraps; NaN becomes 0, out of 64 bits saturates first (no undefined conversion).
uint64_t wrap(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775808.0) return v >= 18446744073709551616.0 ? UINT64_MAX : static_cast<uint64_t>(v);
  if (v < -9223372036854775808.0) return static_cast<uint64_t>(INT64_MIN);
  return static_cast<uint64_t>(static_cast<int64_t>(v));
}

}  // namespace

uint32_t encode_small(SmallFloat f, double v) {
  const uint32_t sign_bit = magnitude_mask(f) + 1, sign = std::signbit(v) ? sign_bit : 0;
  if (std::isnan(v)) return f.form == SmallForm::fnuz ? sign_bit : sign | nan_code(f);
  const uint32_t largest = f.form == SmallForm::ieee ? (top_exponent(f) << f.man_bits) - 1
                           : f.form == SmallForm::fn ? magnitude_mask(f) - 1
                                                     : magnitude_mask(f);
  const uint32_t overflow = f.form == SmallForm::ieee   ? sign | top_exponent(f) << f.man_bits
                            : f.form == SmallForm::fn   ? sign | nan_code(f)
                            : f.form == SmallForm::fnuz ? sign_bit
                                                        : sign | largest;
  const double a = std::fabs(v);
  if (std::isinf(a)) return overflow;
  if (a == 0) return f.form == SmallForm::fnuz ? 0 : sign;
  const int e = std::max(std::ilogb(a), 1 - f.bias);                   // subnormals share the lowest exponent
  const double units = std::nearbyint(std::ldexp(a, f.man_bits - e));  // the default rounding is to nearest even
  const uint32_t code = static_cast<uint32_t>(units) + (static_cast<uint32_t>(e + f.bias - 1) << f.man_bits);
  if (code > largest) return overflow;
  return code == 0 && f.form == SmallForm::fnuz ? 0 : sign | code;
}

double decode_small(SmallFloat f, uint32_t code) {
  const uint32_t magnitude = code & magnitude_mask(f), man = code & ((1u << f.man_bits) - 1),
                 exp = magnitude >> f.man_bits;
  const double sign = code & (magnitude_mask(f) + 1) ? -1.0 : 1.0;
  const bool top = exp == top_exponent(f);
  const bool nan = f.form == SmallForm::ieee   ? top && man != 0
                   : f.form == SmallForm::fn   ? magnitude == nan_code(f)
                   : f.form == SmallForm::fnuz ? magnitude == 0 && sign < 0
                                               : false;
  if (nan) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (f.form == SmallForm::ieee && top) return sign * std::numeric_limits<double>::infinity();
  if (exp == 0) return sign * std::ldexp(man, 1 - f.bias - f.man_bits);
  return sign * std::ldexp((1u << f.man_bits) + man, static_cast<int>(exp) - f.bias - f.man_bits);
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeRow& r : kDTypes)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, exp = (h >> 10) & 31, man = h & 0x3FF;
  if (exp == 31) return std::bit_cast<float>(sign | 0x7F800000 | man << 13);
  if (exp == 0) {
    const float magnitude = static_cast<float>(man) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exp + 112) << 23 | man << 13);
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000;
  uint32_t mag = bits & 0x7FFFFFFF;
  if (mag > 0x7F800000) return static_cast<uint16_t>(sign | 0x7FFF);
  if (mag >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520 and above round to infinity
  if (mag < 0x38800000) {  // below 2^-14: units of 2^-24; adding 0.5 lets the FPU round to nearest even
    const float rounded = std::bit_cast<float>(mag) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3F000000));
  }
  mag += 0xFFF + ((mag >> 13) & 1);
  return static_cast<uint16_t>(sign | ((mag - 0x38000000) >> 13));
}

float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

double load_element(DType type, const void* p) {
  switch (type) {
    case DType::f16: {
      uint16_t h;
      std::memcpy(&h, p, 2);
      return half_to_float(h);
    }
    case DType::bf16: {
      uint16_t h;
      std::memcpy(&h, p, 2);
      return bf16_to_float(h);
    }
    case DType::f32: return load_as<float>(p);
    case DType::f64: return load_as<double>(p);
    case DType::e4m3: return decode_small(kE4m3, *static_cast<const uint8_t*>(p));
    case DType::e5m2: return decode_small(kE5m2, *static_cast<const uint8_t*>(p));
    case DType::i8: return load_as<int8_t>(p);
    case DType::u8: return load_as<uint8_t>(p);
    case DType::i16: return load_as<int16_t>(p);
    case DType::u16: return load_as<uint16_t>(p);
    case DType::i32: return load_as<int32_t>(p);
    case DType::u32: return load_as<uint32_t>(p);
    case DType::i64: return load_as<int64_t>(p);
    case DType::u64: return load_as<uint64_t>(p);
  }
  return 0;
}

void store_element(DType type, void* p, double v) {
  switch (type) {
    case DType::f16: return store_as(p, static_cast<uint16_t>(encode_small(kHalf, v)));
    case DType::bf16: return store_as(p, float_to_bf16(static_cast<float>(v)));
    case DType::f32: return store_as(p, static_cast<float>(v));
    case DType::f64: return store_as(p, v);
    case DType::e4m3: return store_as(p, static_cast<uint8_t>(encode_small(kE4m3, v)));
    case DType::e5m2: return store_as(p, static_cast<uint8_t>(encode_small(kE5m2, v)));
    case DType::i8:
    case DType::u8: return store_as(p, static_cast<uint8_t>(wrap(v)));
    case DType::i16:
    case DType::u16: return store_as(p, static_cast<uint16_t>(wrap(v)));
    case DType::i32:
    case DType::u32: return store_as(p, static_cast<uint32_t>(wrap(v)));
    case DType::i64:
    case DType::u64: return store_as(p, wrap(v));
  }
}

}  // namespace tc::runtime
