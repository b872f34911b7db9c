// Questions about element types. Source: tilelang/language/dtypes.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
DType type_arg(Session& s, const Args& a) { return to_dtype(s, a.need("value"), a.where); }

Value is_float4(Session& s, Scope&, Args& a) {
  DType t = type_arg(s, a);
  return boolean(t == DType::e2m1 || t == DType::e2m1_unpacked);
}
Value is_float4_e2m1fn(Session& s, Scope&, Args& a) { return boolean(type_arg(s, a) == DType::e2m1); }
Value is_float4_unpacked(Session& s, Scope&, Args& a) { return boolean(type_arg(s, a) == DType::e2m1_unpacked); }

// What the mixed matrix instructions take: 8-, 6- and 4-bit floats without the scale type.
bool in_family(DType t) {
  static constexpr DType kFamily[] = {DType::e4m3, DType::e5m2, DType::e2m3,
                                      DType::e3m2, DType::e2m1, DType::e2m1_unpacked};
  return std::find(std::begin(kFamily), std::end(kFamily), t) != std::end(kFamily);
}
Value is_f8f6f4_family(Session& s, Scope&, Args& a) { return boolean(in_family(type_arg(s, a))); }

// How many elements of A one element of the metadata describes: 4 bits for every group of 4 (two of which are stored),
// of tfloat32 and float32 of 2.
Value get_e_factor(Session& s, Scope&, Args& a) {
  DType x = to_dtype(s, a.need("a_dtype"), a.where), e = to_dtype(s, a.need("meta_dtype"), a.where);
  int64_t group = info(x).bits == 32 ? 2 : 4;
  return integer(static_cast<int64_t>(info(e).bits) / 4 * group);
}

Value get_tvm_dtype(Session& s, Scope&, Args& a) { return Value{type_arg(s, a)}; }

Value validate_gemm_ab_dtypes(Session& s, Scope&, Args& a) {
  DType x = to_dtype(s, a.need("a_dtype"), a.where), y = to_dtype(s, a.need("b_dtype"), a.where);
  bool mixed = flag(s, a, "allow_f8f6f4_mixed") && in_family(x) && in_family(y);
  if (x != y && !mixed)
    fail(a.where, "A has elements of " + std::string(info(x).name) + ", B of " + std::string(info(y).name));
  return none();
}

constexpr Builtin kRows[] = {
    {"T", "is_float4", "value", is_float4},
    {"T", "is_float4_e2m1fn", "value", is_float4_e2m1fn},
    {"T", "is_float4_e2m1_unpacked", "value", is_float4_unpacked},
    {"T", "is_f8f6f4_family", "value", is_f8f6f4_family},
    {"T", "get_tvm_dtype", "value", get_tvm_dtype},
    {"intrinsics", "get_e_factor", "a_dtype, meta_dtype", get_e_factor},
    {"T", "validate_gemm_ab_dtypes", "a_dtype, b_dtype, *, a_in_tmem=, allow_f8f6f4_mixed=", validate_gemm_ab_dtypes},
};
}  // namespace

std::span<const Builtin> dtype_builtins() { return kRows; }

}  // namespace tc::eval
