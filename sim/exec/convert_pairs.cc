// cvt of two values into one register: f16x2, bf16x2 and pairs of 8-, 6- and 4-bit floats and of scales, from two f32 or
// from each other, and cvt.pack of saturated integers. PTX ISA 9.7.9.21, 9.7.9.22. NaN is canonical; .satfinite gives the
// largest number instead of infinity. Two e2m1 take a byte, values of 6 bits a byte each.
//   ue8m0 is an exponent: 2^(e - 127), 255 is NaN; of |v|, down (.rz) or up (.rp): 3.0 is 128 or 129
#include "sim/exec/convert.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Type;

template <Format F, Rounding R, bool Satfinite>
uint32_t packed_one(float v, bool relu) {
  const float x = relu ? (v > 0 ? v : v == v ? 0.0f : v) : v;
  if constexpr (R == Rounding::rn && !Satfinite && F.mantissa_bits == 10) return half_bits(x);
  if constexpr (R == Rounding::rn && !Satfinite && F.mantissa_bits == 7) return bf16_bits(x);
  return pack<F, R, Satfinite>(x);
}
// cvt.f16x2.f32 d, a, b: a goes into the upper half.
template <Format F>
constexpr int kWidth = F.exponent_bits + F.mantissa_bits == 5 ? 8 : 1 + F.exponent_bits + F.mantissa_bits;
template <Format F, Rounding R, bool Satfinite>
Step pack_two(Warp& w, const Insn& i) {
  const auto *a = w.reg<float>(i.src[0]), *b = w.reg<float>(i.src[1]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    return packed_one<F, R, Satfinite>(a[l], relu) << kWidth<F> | packed_one<F, R, Satfinite>(b[l], relu);
  });
  return Step::next;
}
template <Format F>
Step small_of_halves(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const float low = half_value(a[l]), high = half_value(a[l] >> 16);
    return packed_one<F, Rounding::rn, true>(high, relu) << kWidth<F> | packed_one<F, Rounding::rn, true>(low, relu);
  });
  return Step::next;
}
template <Format F>
Step halves_of_small(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const float low = unpack<F>(a[l]), high = unpack<F>(a[l] >> kWidth<F>);
    return packed_one<kF16, Rounding::rn, false>(high, relu) << 16 | packed_one<kF16, Rounding::rn, false>(low, relu);
  });
  return Step::next;
}

// A value as a scale; its sign does not count.
template <bool Up>
uint32_t scale_bits(float v, bool satfinite) {
  constexpr uint32_t kInfinity = 0x7F80'0000, kLeast = 0x0040'0000;  // 2^-127
  const uint32_t magnitude = bits_of(v) & 0x7FFF'FFFF, past = satfinite ? 0xFE : 0xFF;
  const uint32_t exponent = magnitude >> 23;
  const uint32_t step = Up && (magnitude & 0x7F'FFFF) && magnitude > kLeast ? 1 : 0;
  if (magnitude > kInfinity) return 0xFF;
  return std::min(magnitude == kInfinity ? 0xFF : exponent + step, past);
}
template <bool Up>
Step scales_of_singles(Warp& w, const Insn& i) {
  const auto *a = w.reg<float>(i.src[0]), *b = w.reg<float>(i.src[1]);
  const bool satfinite = i.c & kSatfinite;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    return scale_bits<Up>(a[l], satfinite) << 8 | scale_bits<Up>(b[l], satfinite);
  });
  return Step::next;
}
template <bool Up>
Step scales_of_bf16(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  const bool satfinite = i.c & kSatfinite;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    return scale_bits<Up>(bf16_value(a[l] >> 16), satfinite) << 8 | scale_bits<Up>(bf16_value(a[l]), satfinite);
  });
  return Step::next;
}
Step bf16_of_scales(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  constexpr uint32_t kLeast = 0x0040;  // 2^-127
  auto one = [](uint32_t e) { return e == 0xFF ? kNan16 : e ? e << 7 : kLeast; };
  write_lanes(w.mask, w.reg<uint32_t>(i.dst),
              [=](uint32_t l) { return one(a[l] >> 8 & 0xFF) << 16 | one(a[l] & 0xFF); });
  return Step::next;
}

// cvt.pack.sat d, a, b [, c]: two saturated integers of i.b bits, the first above the second, c above both.
Step pack_integers(Warp& w, const Insn& i) {
  const auto *a = w.reg<int32_t>(i.src[0]), *b = w.reg<int32_t>(i.src[1]);
  const auto* c = i.src[2] == kNone ? nullptr : w.reg<uint32_t>(i.src[2]);
  const uint32_t bits = i.b, mask = (1u << bits) - 1;
  const int32_t low = i.a ? -(1 << (bits - 1)) : 0, high = i.a ? (1 << (bits - 1)) - 1 : static_cast<int32_t>(mask);
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const uint32_t x = static_cast<uint32_t>(std::clamp(a[l], low, high)) & mask,
                   y = static_cast<uint32_t>(std::clamp(b[l], low, high)) & mask;
    return x << bits | y | (c ? c[l] << (2 * bits) : 0);
  });
  return Step::next;
}

template <Format F>
ExecFn pair_for(Rounding r, bool satfinite) {
  if (r == Rounding::rz) return satfinite ? pack_two<F, Rounding::rz, true> : pack_two<F, Rounding::rz, false>;
  return satfinite ? pack_two<F, Rounding::rn, true> : pack_two<F, Rounding::rn, false>;
}
}  // namespace

bool build_pair(Builder& b, Type to, Type from, Rounding r, uint8_t flags) {
  const bool satfinite = flags & kSatfinite;
  ExecFn exec = nullptr;
  std::vector<Type> sources{from};
  if (from == Type::f32) {
    sources = {from, from};
    if (to == Type::f16x2) exec = pair_for<kF16>(r, satfinite);
    if (to == Type::bf16x2) exec = pair_for<kBf16>(r, satfinite);
    if (to == Type::e4m3x2) exec = pack_two<kE4m3, Rounding::rn, true>;
    if (to == Type::e5m2x2) exec = pack_two<kE5m2, Rounding::rn, true>;
    if (to == Type::e2m1x2) exec = pack_two<kE2m1, Rounding::rn, true>;
    if (to == Type::e2m3x2) exec = pack_two<kE2m3, Rounding::rn, true>;
    if (to == Type::e3m2x2) exec = pack_two<kE3m2, Rounding::rn, true>;
    if (to == Type::ue8m0x2) exec = r == Rounding::rp ? scales_of_singles<true> : scales_of_singles<false>;
  } else if (from == Type::f16x2) {
    if (to == Type::e4m3x2) exec = small_of_halves<kE4m3>;
    if (to == Type::e5m2x2) exec = small_of_halves<kE5m2>;
    if (to == Type::e2m1x2) exec = small_of_halves<kE2m1>;
  } else if (to == Type::f16x2) {
    if (from == Type::e4m3x2) exec = halves_of_small<kE4m3>;
    if (from == Type::e5m2x2) exec = halves_of_small<kE5m2>;
    if (from == Type::e2m1x2) exec = halves_of_small<kE2m1>;
    if (from == Type::e2m3x2) exec = halves_of_small<kE2m3>;
    if (from == Type::e3m2x2) exec = halves_of_small<kE3m2>;
  } else if (from == Type::bf16x2 && to == Type::ue8m0x2) {
    exec = r == Rounding::rp ? scales_of_bf16<true> : scales_of_bf16<false>;
  } else if (from == Type::ue8m0x2 && to == Type::bf16x2) {
    exec = bf16_of_scales;
  }
  if (!exec) return false;
  constexpr Type kBlackwell[] = {Type::e2m1x2, Type::e2m3x2, Type::e3m2x2, Type::ue8m0x2};
  for (Type t : kBlackwell)
    if (to == t || from == t) b.need_target({100, TargetFeature::specific}, "");
  b.emit_typed(exec, to, sources);
  if (!b.failed()) b.program().code.back().c = flags;
  return true;
}

void build_integer_pack(Builder& b) {
  b.mods().take("pack"), b.mods().take("sat");
  constexpr std::pair<std::string_view, uint8_t> kTargets[] = {{"u16", 16}, {"u8", 8}, {"u4", 4}, {"u2", 2},
                                                               {"s16", 16}, {"s8", 8}, {"s4", 4}, {"s2", 2}};
  for (size_t k = 0; k < std::size(kTargets); ++k) {
    if (!b.mods().take(kTargets[k].first)) continue;
    b.mods().take("s32");
    const bool third = b.mods().take("b32");
    b.emit_typed(pack_integers, Type::b32, std::vector<Type>(third ? 3 : 2, Type::b32));
    if (b.failed()) return;
    Insn& i = b.program().code.back();
    i.a = k >= 4, i.b = kTargets[k].second;
    return;
  }
  b.unsupported_form(b.insn().opcode);
}

}  // namespace tc::sim
