// cvt among integers and floats of 8 to 64 bits, and tf32; pairs are in convert_pairs.cc. PTX ISA 9.7.9.21. A conversion is
// a pass that loads the source exactly (integers as 64 bits, floats as double), passes for the modifiers, and one that
// rounds into the target; the most frequent ones have bodies of their own.
// Float to integer saturates. NaN becomes 0, or 0x80...0 in 64-bit targets and from f64; narrowing integers wraps unless
// .sat. NaN results are canonical, but f64 keeps sign and upper payload. Destination registers may be wider than the
// type: integers are sign- or zero-extended. (All as an H200 does it.)
#include "sim/exec/convert.h"

#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;
__extension__ typedef __int128 Int128;

template <class T>
struct Lanes32 {
  alignas(64) std::array<T, 32> at;
};

// ---------------------------------------------------------------- integers

template <class T>
void load_as(Warp& w, const Insn& i, Lanes32<int64_t>& out) {
  if (i.c & kWideSource) {
    const auto* a = w.reg<uint64_t>(i.src[0]);
    for (uint32_t l = 0; l < 32; ++l) out.at[l] = static_cast<int64_t>(static_cast<T>(a[l]));
  } else {
    const auto* a = w.reg<uint32_t>(i.src[0]);
    for (uint32_t l = 0; l < 32; ++l) out.at[l] = static_cast<int64_t>(static_cast<T>(a[l]));
  }
}
void load_integers(Warp& w, const Insn& i, Lanes32<int64_t>& out) {
  switch (static_cast<Type>(i.a)) {
    case Type::u8: return load_as<uint8_t>(w, i, out);
    case Type::s8: return load_as<int8_t>(w, i, out);
    case Type::u16: return load_as<uint16_t>(w, i, out);
    case Type::s16: return load_as<int16_t>(w, i, out);
    case Type::u32: return load_as<uint32_t>(w, i, out);
    case Type::s32: return load_as<int32_t>(w, i, out);
    default: return load_as<uint64_t>(w, i, out);
  }
}
template <class T>
void store_as(Warp& w, const Insn& i, const Lanes32<int64_t>& v) {
  if (i.c & kWideTarget)
    write_lanes(w.mask, w.reg<uint64_t>(i.dst),
                [&](uint32_t l) { return static_cast<uint64_t>(static_cast<int64_t>(static_cast<T>(v.at[l]))); });
  else
    write_lanes(w.mask, w.reg<uint32_t>(i.dst),
                [&](uint32_t l) { return static_cast<uint32_t>(static_cast<int32_t>(static_cast<T>(v.at[l]))); });
}
void store_integers(Warp& w, const Insn& i, const Lanes32<int64_t>& v) {
  switch (static_cast<Type>(i.b)) {
    case Type::u8: return store_as<uint8_t>(w, i, v);
    case Type::s8: return store_as<int8_t>(w, i, v);
    case Type::u16: return store_as<uint16_t>(w, i, v);
    case Type::s16: return store_as<int16_t>(w, i, v);
    case Type::u32: return store_as<uint32_t>(w, i, v);
    case Type::s32: return store_as<int32_t>(w, i, v);
    default: return store_as<uint64_t>(w, i, v);
  }
}
int64_t lowest(Type t) { return is_signed(t) ? -(int64_t{1} << (row(t).bits - 1)) : 0; }
uint64_t highest(Type t) {
  const uint32_t bits = row(t).bits - (is_signed(t) ? 1 : 0);
  return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

Step integer_to_integer(Warp& w, const Insn& i) {
  Lanes32<int64_t> v;
  load_integers(w, i, v);
  if (i.c & kSat) {
    const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
    const int64_t low = lowest(to);
    const uint64_t high = highest(to);
    const bool sign = is_signed(from);
    for (int64_t& x : v.at) {
      if (sign && x < 0) x = std::max(x, low);
      else if (static_cast<uint64_t>(x) > high) x = static_cast<int64_t>(high);
    }
  }
  store_integers(w, i, v);
  return Step::next;
}
// The frequent ones: T is the narrower of the two types.
template <class T, class From, class To>
Step extend_or_cut(Warp& w, const Insn& i) {
  const auto* a = w.reg<From>(i.src[0]);
  write_lanes(w.mask, w.reg<To>(i.dst),
              [=](uint32_t l) { return static_cast<To>(static_cast<int64_t>(static_cast<T>(a[l]))); });
  return Step::next;
}

// ---------------------------------------------------------------- floats

void load_reals(Warp& w, const Insn& i, Lanes32<double>& out) {
  const bool flushes = i.c & kFtz && static_cast<Type>(i.b) != Type::f16;  // as measured: .ftz does nothing to f16.f32
  const auto* narrow_source = w.reg<uint32_t>(i.src[0]);
  switch (static_cast<Type>(i.a)) {
    case Type::f16:
      for (uint32_t l = 0; l < 32; ++l) out.at[l] = half_value(narrow_source[l]);
      break;
    case Type::bf16:
      for (uint32_t l = 0; l < 32; ++l) out.at[l] = bf16_value(narrow_source[l]);
      break;
    case Type::f64:
      for (uint32_t l = 0; l < 32; ++l) out.at[l] = w.reg<double>(i.src[0])[l];
      break;
    default:
      for (uint32_t l = 0; l < 32; ++l) {
        const float v = as_float(narrow_source[l]);
        out.at[l] = flushes ? flush(v) : v;
      }
  }
}

double to_integral(double v, Rounding r) {
  switch (r) {
    case Rounding::rna:
    case Rounding::rn: return std::nearbyint(v);
    case Rounding::rz: return std::trunc(v);
    case Rounding::rm: return std::floor(v);
    case Rounding::rp: return std::ceil(v);
  }
  return v;
}
void adjust(const Insn& i, Lanes32<double>& v) {
  const auto r = static_cast<Rounding>(i.d);
  if (i.c & kIntegral)
    for (double& x : v.at) x = to_integral(x, r);
  if (i.c & kSat)
    for (double& x : v.at) x = saturate(x);
  if (i.c & kRelu)
    for (double& x : v.at) x = x > 0 ? x : x == x ? 0.0 : x;
}

// A NaN of f64 in a narrower type: sign, quiet bit and as much of the payload as there is room for.
uint32_t narrowed_nan(double v, Format f, uint32_t all_ones) {
  const uint64_t b = bits_of(v) | kQuiet64;
  return (b >> 63 ? f.sign() : 0) | all_ones |
         (static_cast<uint32_t>(b >> (52 - f.mantissa_bits)) & ((1u << f.mantissa_bits) - 1));
}

template <Format F, Rounding R, bool Satfinite>
void store_small(Warp& w, const Insn& i, const Lanes32<double>& v) {
  const bool keep = static_cast<Type>(i.a) == Type::f64;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) {
    const double x = v.at[l];
    const uint32_t packed = pack<F, R, Satfinite>(x);
    return keep && x != x ? narrowed_nan(x, F, F.infinity()) : packed;
  });
}
template <Format F>
void store_format(Warp& w, const Insn& i, const Lanes32<double>& v) {
  if (i.c & kSatfinite) {
    if (static_cast<Rounding>(i.d) == Rounding::rz) return store_small<F, Rounding::rz, true>(w, i, v);
    return store_small<F, Rounding::rn, true>(w, i, v);
  }
  switch (i.c & kIntegral ? Rounding::rn : static_cast<Rounding>(i.d)) {
    case Rounding::rna:
    case Rounding::rn: return store_small<F, Rounding::rn, false>(w, i, v);
    case Rounding::rz: return store_small<F, Rounding::rz, false>(w, i, v);
    case Rounding::rm: return store_small<F, Rounding::rm, false>(w, i, v);
    case Rounding::rp: return store_small<F, Rounding::rp, false>(w, i, v);
  }
}
template <Rounding R>
void store_single(Warp& w, const Insn& i, const Lanes32<double>& v) {
  const bool keep = static_cast<Type>(i.a) == Type::f64, ftz = i.c & kFtz;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) {
    const double x = v.at[l];
    const float r = ftz ? flush(narrow<R>(x)) : narrow<R>(x);
    const uint32_t nan = keep ? narrowed_nan(x, Format{8, 23, true}, 0x7F800000) : kNan32;
    return x == x ? bits_of(r) : nan;
  });
}
void store_singles(Warp& w, const Insn& i, const Lanes32<double>& v) {
  switch (i.c & kIntegral ? Rounding::rn : static_cast<Rounding>(i.d)) {
    case Rounding::rna:
    case Rounding::rn: return store_single<Rounding::rn>(w, i, v);
    case Rounding::rz: return store_single<Rounding::rz>(w, i, v);
    case Rounding::rm: return store_single<Rounding::rm>(w, i, v);
    case Rounding::rp: return store_single<Rounding::rp>(w, i, v);
  }
}
void store_doubles(Warp& w, const Insn& i, const Lanes32<double>& v) {
  const Type from = static_cast<Type>(i.a);
  const bool canonical_f32 = from == Type::f32 && i.c & kFtz, copies = from == Type::f64 && !(i.c & kIntegral);
  write_lanes(w.mask, w.reg<uint64_t>(i.dst), [&](uint32_t l) {
    const double x = v.at[l];
    const uint64_t nan = canonical_f32 ? bits_of(double{as_float(kNan32)}) : bits_of(quieted(x));
    return x == x || copies ? bits_of(x) : nan;
  });
}
void store_tf32(Warp& w, const Insn& i, const Lanes32<double>& v) {
  const bool satfinite = i.c & kSatfinite, relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [&](uint32_t l) {
    const double x = v.at[l];
    switch (static_cast<Rounding>(i.d)) {
      case Rounding::rz: return pack<kTf32, Rounding::rz>(x) << 13;
      case Rounding::rna: {
        const uint32_t b = w.reg<uint32_t>(i.src[0])[l], magnitude = b & 0x7FFFFFFF;
        const uint32_t r = (magnitude >= 0x7F800000 ? b : b + 0x1000) & 0xFFFFE000;
        return satfinite && (r & 0x7FFFFFFF) >= 0x7F800000 ? r - 0x2000 : r;
      }
      case Rounding::rn:
      case Rounding::rm:
      case Rounding::rp: return relu && x != x ? kNan32 & 0xFFFFE000 : pack<kTf32, Rounding::rn>(x) << 13;
    }
    return 0u;
  });
}
void store_reals(Warp& w, const Insn& i, const Lanes32<double>& v) {
  switch (static_cast<Type>(i.b)) {
    case Type::f16: return store_format<kF16>(w, i, v);
    case Type::bf16: return store_format<kBf16>(w, i, v);
    case Type::f64: return store_doubles(w, i, v);
    case Type::tf32: return store_tf32(w, i, v);
    default: return store_singles(w, i, v);
  }
}

Step real_to_real(Warp& w, const Insn& i) {
  Lanes32<double> v;
  load_reals(w, i, v);
  adjust(i, v);
  store_reals(w, i, v);
  return Step::next;
}

Step real_to_integer(Warp& w, const Insn& i) {
  const Type from = static_cast<Type>(i.a), to = static_cast<Type>(i.b);
  Lanes32<double> v;
  Lanes32<int64_t> out;
  load_reals(w, i, v);
  const bool marks = from == Type::f64 || row(to).bits == 64;
  const uint64_t nan = marks ? uint64_t{1} << (row(to).bits - 1) : 0;
  const auto low = static_cast<double>(lowest(to)), high = static_cast<double>(highest(to));
  for (uint32_t l = 0; l < 32; ++l) {
    const double x = to_integral(v.at[l], static_cast<Rounding>(i.d));
    uint64_t r = nan;
    if (x <= low) r = static_cast<uint64_t>(lowest(to));
    else if (x >= high) r = highest(to);
    else if (x == x) r = is_signed(to) ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
    out.at[l] = static_cast<int64_t>(r);
  }
  store_integers(w, i, out);
  return Step::next;
}
// f32 to 32 bits, the frequent one.
template <class T, Rounding R>
Step single_to_integer(Warp& w, const Insn& i) {
  const auto* a = w.reg<float>(i.src[0]);
  const bool ftz = i.c & kFtz;
  constexpr float kLow = std::is_signed_v<T> ? -0x1p31f : 0, kPast = std::is_signed_v<T> ? 0x1p31f : 0x1p32f;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const float v = ftz ? flush(a[l]) : a[l];
    const float r = R == Rounding::rn   ? std::nearbyint(v)
                    : R == Rounding::rz ? std::trunc(v)
                    : R == Rounding::rm ? std::floor(v)
                                        : std::ceil(v);
    const bool inside = r >= kLow && r < kPast;
    const auto whole = static_cast<uint32_t>(static_cast<T>(inside ? r : 0.0f));
    const uint32_t past = static_cast<uint32_t>(std::numeric_limits<T>::max()),
                   below = static_cast<uint32_t>(std::numeric_limits<T>::min());
    return r >= kPast ? past : r < kLow ? below : whole;
  });
  return Step::next;
}

// An integer in double, rounded to odd: beyond 53 bits the lower ones are kept as one sticky bit.
double odd_double(int64_t v, bool is_signed_value) {
  const bool negative = is_signed_value && v < 0;
  uint64_t magnitude = negative ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  double scale = 1;
  if (magnitude >> 53) magnitude = magnitude >> 11 | ((magnitude & 0x7FF) != 0), scale = 0x1p11;
  const double r = static_cast<double>(magnitude) * scale;
  return negative ? -r : r;
}
double directed_double(int64_t v, bool is_signed_value, Rounding r) {
  const Int128 exact = is_signed_value ? Int128{v} : Int128{static_cast<uint64_t>(v)};
  const double d = static_cast<double>(exact);
  const Int128 back = static_cast<Int128>(d);
  const uint64_t b = bits_of(d);
  const bool negative = exact<0, larger = back> exact, smaller = back < exact;
  switch (r) {
    case Rounding::rna:
    case Rounding::rn: return d;
    case Rounding::rz: return as_double((negative ? smaller : larger) ? b - 1 : b);
    case Rounding::rm: return as_double(larger ? (negative ? b + 1 : b - 1) : b);
    case Rounding::rp: return as_double(smaller ? (negative ? b - 1 : b + 1) : b);
  }
  return d;
}
Step integer_to_real(Warp& w, const Insn& i) {
  Lanes32<int64_t> v;
  Lanes32<double> out;
  load_integers(w, i, v);
  const bool sign = is_signed(static_cast<Type>(i.a)), to_double = static_cast<Type>(i.b) == Type::f64;
  for (uint32_t l = 0; l < 32; ++l)
    out.at[l] = to_double ? directed_double(v.at[l], sign, static_cast<Rounding>(i.d)) : odd_double(v.at[l], sign);
  adjust(i, out);
  store_reals(w, i, out);
  return Step::next;
}
struct Nearest {
  template <class T>
  float operator()(T a) const {
    return static_cast<float>(a);
  }
};

// ---------------------------------------------------------------- decoding

struct RoundingRow {
  std::string_view name;
  bool integral;
  Rounding mode;
};
constexpr RoundingRow kRoundings[] = {
    {"rni", true, Rounding::rn}, {"rzi", true, Rounding::rz},   {"rmi", true, Rounding::rm},
    {"rpi", true, Rounding::rp}, {"rna", false, Rounding::rna}, {"rn", false, Rounding::rn},
    {"rz", false, Rounding::rz}, {"rm", false, Rounding::rm},   {"rp", false, Rounding::rp}};

template <class T>
ExecFn single_to(Rounding r) {
  switch (r) {
    case Rounding::rna:
    case Rounding::rn: return single_to_integer<T, Rounding::rn>;
    case Rounding::rz: return single_to_integer<T, Rounding::rz>;
    case Rounding::rm: return single_to_integer<T, Rounding::rm>;
    case Rounding::rp: return single_to_integer<T, Rounding::rp>;
  }
  return nullptr;
}
// The bodies of frequent conversions between registers of the types' own size.
ExecFn frequent(Type to, Type from, Rounding r, uint8_t flags) {
  const uint8_t plain = flags & ~(kWideSource | kWideTarget);
  if (from == Type::f32 && (flags & ~(kFtz | kIntegral)) == 0) {
    if (to == Type::s32) return single_to<int32_t>(r);
    if (to == Type::u32) return single_to<uint32_t>(r);
  }
  if (plain != 0) return nullptr;
  if (to == Type::f32 && r == Rounding::rn) {
    if (from == Type::s32 && !(flags & kWideSource)) return unary<int32_t, Nearest, float>;
    if (from == Type::u32 && !(flags & kWideSource)) return unary<uint32_t, Nearest, float>;
  }
  if (to == Type::u64 && from == Type::u32 && flags == kWideTarget) return extend_or_cut<uint32_t, uint32_t, uint64_t>;
  if (to == Type::s64 && from == Type::s32 && flags == kWideTarget) return extend_or_cut<int32_t, uint32_t, uint64_t>;
  if (row(to).bits == 32 && row(from).bits == 64 && !is_real(to) && !is_real(from) && flags == kWideSource)
    return extend_or_cut<uint32_t, uint64_t, uint32_t>;
  if (to == Type::u32 && from == Type::u16 && flags == 0) return extend_or_cut<uint16_t, uint32_t, uint32_t>;
  if (to == Type::s32 && from == Type::s16 && flags == 0) return extend_or_cut<int16_t, uint32_t, uint32_t>;
  return nullptr;
}
struct HalfToSingle {
  float operator()(Half h) const { return canonical(h.v); }
};
struct SingleToHalf {
  Half operator()(float v) const { return {v}; }
};
struct SingleToBf16 {
  Bfloat operator()(float v) const { return {v}; }
};
// A plain copy of the bits: cvt.f32.f32 and cvt.f32.bf16 without modifiers keep NaN as it is.
struct Copy {
  uint32_t operator()(uint32_t v) const { return v; }
};
struct Widen {
  uint32_t operator()(uint32_t v) const { return v << 16; }
};
ExecFn frequent_real(Type to, Type from, Rounding r, uint8_t flags) {
  if (flags != 0 || r != Rounding::rn) return nullptr;
  if (to == Type::f32 && from == Type::f16) return unary<Half, HalfToSingle, float>;
  if (to == Type::f32 && from == Type::bf16) return unary<uint32_t, Widen>;
  if (to == Type::f32 && from == Type::f32) return unary<uint32_t, Copy>;
  if (to == Type::f16 && from == Type::f32) return unary<float, SingleToHalf, Half>;
  if (to == Type::bf16 && from == Type::f32) return unary<float, SingleToBf16, Bfloat>;
  return nullptr;
}

}  // namespace

void build_convert(Builder& b) {
  if (b.insn().opcode.starts_with("cvt.pack.")) return build_integer_pack(b);
  const RoundingRow* rounding = &kRoundings[5];
  for (const RoundingRow& r : kRoundings)
    if (b.mods().take(r.name)) {
      rounding = &r;
      break;
    }
  uint8_t flags = rounding->integral ? kIntegral : 0;
  if (b.mods().take("sat")) flags |= kSat;
  if (b.mods().take("ftz")) flags |= kFtz;
  if (b.mods().take("relu")) flags |= kRelu;
  if (b.mods().take("satfinite")) flags |= kSatfinite;
  const auto to = b.mods().take_type(), from = b.mods().take_type();
  if (!to || !from || *to == Type::pred) return b.unsupported_form(b.insn().opcode);
  if (build_pair(b, *to, *from, rounding->mode, flags)) return;
  if (row(*to).bits > 64 || row(*from).bits > 64) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(2, 2);
  bool wide_target = false, wide_source = row(*from).bits == 64;
  const uint32_t dst = b.data_register(b.operand(0), wide_target);
  const uint32_t a = b.register_type(b.operand(1)) ? b.data_register(b.operand(1), wide_source) : b.source(1, *from);
  if (wide_target) flags |= kWideTarget;
  if (wide_source) flags |= kWideSource;
  const bool real_to = is_real(*to), real_from = is_real(*from);
  const uint8_t inherent = (row(*to).bits == 64 ? kWideTarget : 0) | (row(*from).bits == 64 ? kWideSource : 0);
  ExecFn exec = real_from && real_to ? frequent_real(*to, *from, rounding->mode, flags & ~inherent)
                                     : frequent(*to, *from, rounding->mode, flags);
  if (!exec)
    exec = real_from ? (real_to ? real_to_real : real_to_integer) : (real_to ? integer_to_real : integer_to_integer);
  if (real_to && wide_target != (row(*to).bits == 64))
    return b.unsupported_form("a wider register for " + b.insn().opcode);
  if (real_from && wide_source != (row(*from).bits == 64))
    return b.unsupported_form("a wider register for " + b.insn().opcode);
  Insn& i = b.emit(exec);
  i.dst = dst, i.src[0] = a;
  i.a = static_cast<uint8_t>(*from), i.b = static_cast<uint8_t>(*to), i.c = flags,
  i.d = static_cast<uint8_t>(rounding->mode);
}

}  // namespace tc::sim
