// cvt between integers and floats, and two floats packed into a register of halves. PTX ISA 9.7.9.21.
// Float to integer saturates and turns NaN into 0; narrowing integers wraps unless .sat. Destination registers may be
// wider than the type: the result is sign- or zero-extended.
#include <cfenv>
#include <cmath>

#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

// Facts of one conversion in Insn: a = source type, b = destination type, c = flags.
enum Flag : uint8_t { kSat = 1, kFtz = 2, kWideSource = 4, kWideTarget = 8, kRelu = 16, kTf32 = 32 };

uint64_t load(Warp& w, const Insn& i, uint32_t lane) {
  return i.c & kWideSource ? w.reg<uint64_t>(i.src[0])[lane] : w.reg<uint32_t>(i.src[0])[lane];
}
void store(Warp& w, const Insn& i, uint32_t lane, uint64_t v) {
  if (i.c & kWideTarget) w.reg<uint64_t>(i.dst)[lane] = v;
  else w.reg<uint32_t>(i.dst)[lane] = static_cast<uint32_t>(v);
}

// The low bits of v as an integer of the type, extended to 64 bits.
uint64_t extend(Type t, uint64_t v) {
  const uint32_t bits = row(t).bits;
  if (bits == 64) return v;
  v <<= 64 - bits;
  return is_signed(t) ? static_cast<uint64_t>(static_cast<int64_t>(v) >> (64 - bits)) : v >> (64 - bits);
}
int64_t lowest(Type t) { return is_signed(t) ? -(int64_t{1} << (row(t).bits - 1)) : 0; }
uint64_t highest(Type t) {
  const uint32_t bits = row(t).bits - (is_signed(t) ? 1 : 0);
  return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

Step integer_to_integer(Warp& w, const Insn& i) {
  const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
  const bool sat = i.c & kSat;
  for_lanes(w.mask, [&](uint32_t l) {
    uint64_t v = extend(from, load(w, i, l));
    if (sat) {
      const bool negative = is_signed(from) && static_cast<int64_t>(v) < 0;
      if (negative) v = static_cast<int64_t>(v) < lowest(to) ? static_cast<uint64_t>(lowest(to)) : v;
      else if (v > highest(to)) v = highest(to);
    }
    store(w, i, l, extend(to, v));
  });
  return Step::next;
}

double as_real(Type t, uint64_t bits) {
  switch (t) {
    case Type::f16: return runtime::half_to_float(static_cast<uint16_t>(bits));
    case Type::bf16: return runtime::bf16_to_float(static_cast<uint16_t>(bits));
    case Type::f64: return std::bit_cast<double>(bits);
    default: return std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
}
// Rounds once, in the current mode of the host for f32.
uint64_t real_bits(Type t, double v) {
  switch (t) {
    case Type::f16: {
      uint16_t h = 0;
      runtime::store_element(runtime::DType::f16, &h, v);
      return h;
    }
    case Type::bf16: return runtime::float_to_bf16(static_cast<float>(v));
    case Type::f64: return std::bit_cast<uint64_t>(v);
    default: {
      volatile double source = v;
      return std::bit_cast<uint32_t>(static_cast<float>(source));
    }
  }
}
double adjust(const Insn& i, double v) {
  if (i.c & kSat) v = v > 0 ? (v < 1 ? v : 1) : 0;
  if (i.c & kRelu) v = v > 0 ? v : std::isnan(v) ? v : 0;
  return v;
}
double flush(double v) { return std::fabs(v) < 0x1p-126 ? std::copysign(0.0, v) : v; }

struct HostRounding {
  explicit HostRounding(int mode) : changed(mode != FE_TONEAREST) {
    if (changed) std::fesetround(mode);
  }
  ~HostRounding() {
    if (changed) std::fesetround(FE_TONEAREST);
  }
  bool changed;
};

Step integer_to_real(Warp& w, const Insn& i) {
  const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
  const HostRounding mode(static_cast<int>(i.imm));
  for_lanes(w.mask, [&](uint32_t l) {
    const uint64_t v = extend(from, load(w, i, l));
    if (to == Type::f32) {  // straight from the integer: one rounding
      volatile int64_t s = static_cast<int64_t>(v);
      volatile uint64_t u = v;
      store(w, i, l, std::bit_cast<uint32_t>(is_signed(from) ? static_cast<float>(s) : static_cast<float>(u)));
    } else {
      const double d = is_signed(from) ? static_cast<double>(static_cast<int64_t>(v)) : static_cast<double>(v);
      store(w, i, l, real_bits(to, adjust(i, d)));
    }
  });
  return Step::next;
}

Step real_to_integer(Warp& w, const Insn& i) {
  const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
  const HostRounding mode(static_cast<int>(i.imm));
  for_lanes(w.mask, [&](uint32_t l) {
    double v = as_real(from, load(w, i, l));
    if (i.c & kFtz) v = flush(v);
    v = std::nearbyint(v);
    uint64_t r = 0;
    if (std::isnan(v)) r = 0;
    else if (v <= static_cast<double>(lowest(to))) r = static_cast<uint64_t>(lowest(to));
    else if (v >= static_cast<double>(highest(to))) r = highest(to);
    else r = is_signed(to) ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v);
    store(w, i, l, extend(to, r));
  });
  return Step::next;
}

template <bool Integral>
Step real_to_real(Warp& w, const Insn& i) {
  const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
  const HostRounding mode(static_cast<int>(i.imm));
  for_lanes(w.mask, [&](uint32_t l) {
    double v = as_real(from, load(w, i, l));
    if (i.c & kFtz) v = flush(v);
    if (Integral) v = std::nearbyint(v);
    uint64_t bits = real_bits(to, adjust(i, v));
    if (i.c & kTf32) bits = (bits + 0x1000) & 0xFFFFE000;  // to nearest, ties away
    store(w, i, l, bits);
  });
  return Step::next;
}
// The plain f32 to f16 and back, by far the most frequent.
Step f32_to_f16(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) { w.reg<uint32_t>(i.dst)[l] = runtime::float_to_half(w.reg<float>(i.src[0])[l]); });
  return Step::next;
}
Step f16_to_f32(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) {
    w.reg<float>(i.dst)[l] = runtime::half_to_float(static_cast<uint16_t>(w.reg<uint32_t>(i.src[0])[l]));
  });
  return Step::next;
}
// cvt.f16x2.f32 d, a, b: a goes into the upper half.
template <bool Bf>
Step pack_halves(Warp& w, const Insn& i) {
  const auto *a = w.reg<float>(i.src[0]), *b = w.reg<float>(i.src[1]);
  auto* d = w.reg<uint32_t>(i.dst);
  auto one = [&](float v) {
    if (i.c & kRelu) v = v > 0 ? v : std::isnan(v) ? v : 0;
    return uint32_t{Bf ? runtime::float_to_bf16(v) : runtime::float_to_half(v)};
  };
  for_lanes(w.mask, [&](uint32_t l) { d[l] = one(a[l]) << 16 | one(b[l]); });
  return Step::next;
}

struct RoundingRow {
  std::string_view name;
  bool integral;
  int mode;
};
constexpr RoundingRow kRoundings[] = {
    {"rni", true, FE_TONEAREST}, {"rzi", true, FE_TOWARDZERO}, {"rmi", true, FE_DOWNWARD},
    {"rpi", true, FE_UPWARD},    {"rn", false, FE_TONEAREST},  {"rz", false, FE_TOWARDZERO},
    {"rm", false, FE_DOWNWARD},  {"rp", false, FE_UPWARD},     {"rna", false, FE_TONEAREST}};

}  // namespace

void build_convert(Builder& b) {
  const RoundingRow* rounding = &kRoundings[4];
  for (const RoundingRow& r : kRoundings)
    if (b.mods().take(r.name)) {
      rounding = &r;
      break;
    }
  uint8_t flags = 0;
  if (b.mods().take("sat")) flags |= kSat;
  if (b.mods().take("ftz")) flags |= kFtz;
  if (b.mods().take("relu")) flags |= kRelu;
  const auto to = b.mods().take_type(), from = b.mods().take_type();
  if (!to || !from || *to == Type::pred) return b.unsupported_form(b.insn().opcode);
  if (*to == Type::f16x2 || *to == Type::bf16x2) {
    if (*from != Type::f32 || rounding->mode != FE_TONEAREST) return b.unsupported_form(b.insn().opcode);
    b.expect_operands(3, 3);
    const uint32_t dst = b.destination(0, *to), x = b.source(1, Type::f32), y = b.source(2, Type::f32);
    Insn& i = b.emit(*to == Type::bf16x2 ? pack_halves<true> : pack_halves<false>);
    i.dst = dst, i.src = {x, y, kNone, kNone}, i.c = flags;
    return;
  }
  b.expect_operands(2, 2);
  bool wide_target = false, wide_source = row(*from).bits == 64;
  const uint32_t dst = b.data_register(b.operand(0), wide_target);
  const uint32_t a = b.register_type(b.operand(1)) ? b.data_register(b.operand(1), wide_source) : b.source(1, *from);
  if (wide_target) flags |= kWideTarget;
  if (wide_source) flags |= kWideSource;
  if (*to == Type::tf32) flags |= kTf32;
  const bool real_to = is_real(*to), real_from = is_real(*from);
  const bool narrow = (*to == Type::f16 || *to == Type::bf16) && rounding->mode != FE_TONEAREST;
  if (narrow && real_from) return b.unsupported_form(b.insn().opcode);
  ExecFn exec = real_from
                    ? (real_to ? (rounding->integral ? real_to_real<true> : real_to_real<false>) : real_to_integer)
                    : (real_to ? integer_to_real : integer_to_integer);
  if (flags == 0 && !rounding->integral && *to == Type::f16 && *from == Type::f32) exec = f32_to_f16;
  if (flags == 0 && !rounding->integral && *to == Type::f32 && *from == Type::f16) exec = f16_to_f32;
  Insn& i = b.emit(exec);
  i.dst = dst, i.src[0] = a;
  i.a = static_cast<uint8_t>(*from), i.b = static_cast<uint8_t>(*to), i.c = flags;
  i.imm = static_cast<uint64_t>(rounding->mode);
}

}  // namespace tc::sim
