// cvt of two values into one register: f16x2, bf16x2, e4m3x2 and e5m2x2 from two f32 or from each other, and cvt.pack
// of saturated integers. PTX ISA 9.7.9.21, 9.7.9.22. NaN is canonical; .satfinite gives the largest number instead of
// infinity.
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
template <Format F, Rounding R, bool Satfinite>
Step pack_two(Warp& w, const Insn& i) {
  constexpr int kWidth = 1 + F.exponent_bits + F.mantissa_bits;
  const auto *a = w.reg<float>(i.src[0]), *b = w.reg<float>(i.src[1]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    return packed_one<F, R, Satfinite>(a[l], relu) << kWidth | packed_one<F, R, Satfinite>(b[l], relu);
  });
  return Step::next;
}
template <Format F>
Step bytes_of_halves(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const float low = half_value(a[l]), high = half_value(a[l] >> 16);
    return packed_one<F, Rounding::rn, true>(high, relu) << 8 | packed_one<F, Rounding::rn, true>(low, relu);
  });
  return Step::next;
}
template <Format F>
Step halves_of_bytes(Warp& w, const Insn& i) {
  const auto* a = w.reg<uint32_t>(i.src[0]);
  const bool relu = i.c & kRelu;
  write_lanes(w.mask, w.reg<uint32_t>(i.dst), [=](uint32_t l) {
    const float low = unpack<F>(a[l] & 0xFF), high = unpack<F>(a[l] >> 8 & 0xFF);
    return packed_one<kF16, Rounding::rn, false>(high, relu) << 16 | packed_one<kF16, Rounding::rn, false>(low, relu);
  });
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
  } else if (from == Type::f16x2) {
    if (to == Type::e4m3x2) exec = bytes_of_halves<kE4m3>;
    if (to == Type::e5m2x2) exec = bytes_of_halves<kE5m2>;
  } else if (to == Type::f16x2) {
    if (from == Type::e4m3x2) exec = halves_of_bytes<kE4m3>;
    if (from == Type::e5m2x2) exec = halves_of_bytes<kE5m2>;
  }
  if (!exec) return false;
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
