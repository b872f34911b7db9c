// Fundamental types and state spaces of PTX, as rows. PTX ISA 5.2 (types), 5.1 (state spaces).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tc::ptx {

enum class TypeKind : uint8_t { pred, bits, unsigned_int, signed_int, real };
enum class Type : uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  tf32,
  u16x2,
  s16x2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
};

struct TypeRow {
  Type type;
  std::string_view name;
  uint8_t bits;
  TypeKind kind;
};
inline constexpr std::array kTypes = {
    TypeRow{Type::pred, "pred", 1, TypeKind::pred},          TypeRow{Type::b8, "b8", 8, TypeKind::bits},
    TypeRow{Type::b16, "b16", 16, TypeKind::bits},           TypeRow{Type::b32, "b32", 32, TypeKind::bits},
    TypeRow{Type::b64, "b64", 64, TypeKind::bits},           TypeRow{Type::b128, "b128", 128, TypeKind::bits},
    TypeRow{Type::u8, "u8", 8, TypeKind::unsigned_int},      TypeRow{Type::u16, "u16", 16, TypeKind::unsigned_int},
    TypeRow{Type::u32, "u32", 32, TypeKind::unsigned_int},   TypeRow{Type::u64, "u64", 64, TypeKind::unsigned_int},
    TypeRow{Type::s8, "s8", 8, TypeKind::signed_int},        TypeRow{Type::s16, "s16", 16, TypeKind::signed_int},
    TypeRow{Type::s32, "s32", 32, TypeKind::signed_int},     TypeRow{Type::s64, "s64", 64, TypeKind::signed_int},
    TypeRow{Type::f16, "f16", 16, TypeKind::real},           TypeRow{Type::f16x2, "f16x2", 32, TypeKind::real},
    TypeRow{Type::bf16, "bf16", 16, TypeKind::real},         TypeRow{Type::bf16x2, "bf16x2", 32, TypeKind::real},
    TypeRow{Type::f32, "f32", 32, TypeKind::real},           TypeRow{Type::f64, "f64", 64, TypeKind::real},
    TypeRow{Type::tf32, "tf32", 32, TypeKind::real},         TypeRow{Type::u16x2, "u16x2", 32, TypeKind::unsigned_int},
    TypeRow{Type::s16x2, "s16x2", 32, TypeKind::signed_int}, TypeRow{Type::e4m3x2, "e4m3x2", 16, TypeKind::real},
    TypeRow{Type::e5m2x2, "e5m2x2", 16, TypeKind::real},     TypeRow{Type::e2m1x2, "e2m1x2", 8, TypeKind::real},
    TypeRow{Type::e2m3x2, "e2m3x2", 16, TypeKind::real},     TypeRow{Type::e3m2x2, "e3m2x2", 16, TypeKind::real},
    TypeRow{Type::ue8m0x2, "ue8m0x2", 16, TypeKind::real},
};
constexpr const TypeRow& row(Type t) { return kTypes[static_cast<size_t>(t)]; }
constexpr bool is_signed(Type t) { return row(t).kind == TypeKind::signed_int; }
constexpr bool is_real(Type t) { return row(t).kind == TypeKind::real; }
constexpr uint32_t byte_size(Type t) { return (row(t).bits + 7u) / 8u; }

constexpr std::optional<Type> type_named(std::string_view name) {
  for (const TypeRow& r : kTypes)
    if (r.name == name) return r.type;
  return std::nullopt;
}

enum class Space : uint8_t { generic, global, shared, local, param, constant };
inline constexpr std::array<std::string_view, 6> kSpaceNames = {"generic", "global", "shared",
                                                                "local",   "param",  "const"};
constexpr std::optional<Space> space_named(std::string_view name) {
  for (size_t i = 1; i < kSpaceNames.size(); ++i)
    if (kSpaceNames[i] == name) return static_cast<Space>(i);
  return std::nullopt;
}

}  // namespace tc::ptx
