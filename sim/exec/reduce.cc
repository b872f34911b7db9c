#include "sim/exec/reduce.h"

#include <cmath>
#include <cstring>

#include "runtime/dtype.h"

namespace tc::sim {
namespace {

struct HalfBits {
  uint16_t v;
};
struct BfloatBits {
  uint16_t v;
};
float value(HalfBits h) { return runtime::half_to_float(h.v); }
float value(BfloatBits h) { return runtime::bf16_to_float(h.v); }
void assign(HalfBits& h, float f) { h.v = runtime::float_to_half(f); }
void assign(BfloatBits& h, float f) { h.v = runtime::float_to_bf16(f); }
template <class T>
concept Small = std::is_same_v<T, HalfBits> || std::is_same_v<T, BfloatBits>;

struct Add {
  template <class T>
  void operator()(T& m, T d) const {
    if constexpr (Small<T>) assign(m, value(m) + value(d));
    else if constexpr (std::is_integral_v<T>) m = static_cast<T>(static_cast<std::make_unsigned_t<T>>(m) + static_cast<std::make_unsigned_t<T>>(d));
    else m += d;
  }
};
// A NaN loses against a number.
template <bool Max>
struct Extreme {
  template <class T>
  void operator()(T& m, T d) const {
    if constexpr (Small<T>) {
      const float a = value(m), b = value(d);
      if (std::isnan(a) || (Max ? b > a || (b == a && std::signbit(a)) : b < a || (b == a && std::signbit(b)))) m = d;
    } else {
      if (Max ? d > m : d < m) m = d;
    }
  }
};
struct Increment {
  void operator()(uint32_t& m, uint32_t d) const { m = m >= d ? 0 : m + 1; }
};
struct Decrement {
  void operator()(uint32_t& m, uint32_t d) const { m = m == 0 || m > d ? d : m - 1; }
};
struct And {
  template <class T>
  void operator()(T& m, T d) const { m &= d; }
};
struct Or {
  template <class T>
  void operator()(T& m, T d) const { m |= d; }
};
struct Xor {
  template <class T>
  void operator()(T& m, T d) const { m ^= d; }
};

template <class T, class F>
void reduce(uint8_t* memory, const uint8_t* data, uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T m, d;
    std::memcpy(&m, memory + at, sizeof m);
    std::memcpy(&d, data + at, sizeof d);
    F{}(m, d);
    std::memcpy(memory + at, &m, sizeof m);
  }
}

template <class F>
ReduceFn ordered(std::string_view t) {
  if (t == "u32") return reduce<uint32_t, F>;
  if (t == "s32") return reduce<int32_t, F>;
  if (t == "u64") return reduce<uint64_t, F>;
  if (t == "s64") return reduce<int64_t, F>;
  if (t == "f16") return reduce<HalfBits, F>;
  if (t == "bf16") return reduce<BfloatBits, F>;
  return nullptr;
}
template <class F>
ReduceFn bits(std::string_view t) {
  return t.ends_with("64") ? reduce<uint64_t, F> : reduce<uint32_t, F>;
}

}  // namespace

ReduceFn find_reduce(ReduceOp op, std::string_view t) {
  switch (op) {
    case ReduceOp::add:
      if (t == "f32") return reduce<float, Add>;
      if (t == "f64") return reduce<double, Add>;
      return ordered<Add>(t);
    case ReduceOp::min: return ordered<Extreme<false>>(t);
    case ReduceOp::max: return ordered<Extreme<true>>(t);
    case ReduceOp::inc: return t == "u32" ? reduce<uint32_t, Increment> : nullptr;
    case ReduceOp::dec: return t == "u32" ? reduce<uint32_t, Decrement> : nullptr;
    case ReduceOp::bit_and: return bits<And>(t);
    case ReduceOp::bit_or: return bits<Or>(t);
    case ReduceOp::bit_xor: return bits<Xor>(t);
  }
  return nullptr;
}

}  // namespace tc::sim
