// Video instructions. PTX ISA 9.7.18. Scalar ones (vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vmad, vset) take a
// byte, a half or all of each operand; the result is saturated, then combined with c by a second operation or merged
// into a part of it. SIMD ones (vadd2 ... vset4) do the same on two halves or four bytes of registers, chosen from both
// operands.
//   vadd.s32.u32.s32.sat d.h1, a.b0, b.h1, c      d = c with its upper half replaced by sat16(u8(a) + s16(b >> 16))
//   vadd4.u32.u32.u32.add d.b10, a.b3210, b.b7654, c      d = c + (a0 + b0) + (a1 + b1)
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;
__extension__ typedef __int128 Int128;

enum class Op : uint8_t { add, sub, absdiff, min, max, avrg, shl, shr, mad, eq, ne, lt, le, gt, ge };
struct OpRow {
  std::string_view name;
  Op op;
};
constexpr OpRow kOps[] = {{"vabsdiff", Op::absdiff}, {"vadd", Op::add}, {"vavrg", Op::avrg},
                          {"vmad", Op::mad},         {"vmax", Op::max}, {"vmin", Op::min},
                          {"vshl", Op::shl},         {"vshr", Op::shr}, {"vsub", Op::sub}};
constexpr OpRow kRelations[] = {{"eq", Op::eq}, {"ne", Op::ne}, {"lt", Op::lt},
                                {"le", Op::le}, {"gt", Op::gt}, {"ge", Op::ge}};

// Insn: a = Op, b = flags, c = Second, d = parts of a SIMD register (2, 4) or the shift of vmad; imm = Selection.
enum Flag : uint8_t {
  kSignedD = 1,
  kSignedA = 2,
  kSignedB = 4,
  kSat = 8,
  kWrap = 16,
  kPlusOne = 32,
  kNegateProduct = 64,
  kNegateC = 128
};
enum class Second : uint8_t { none, add, min, max };

// Where operands and result lie. Scalar: bit position and width; SIMD: a nibble a part, 0 to 3 (0 to 7) in {b, a}.
struct Selection {
  uint8_t a_at = 0, a_bits = 32, b_at = 0, b_bits = 32, d_at = 0, d_bits = 32;
  std::array<uint8_t, 2> unused{};  // as large as Insn::imm
};
struct Parts {
  uint16_t a = 0, b = 0;
  uint8_t mask = 0;
  std::array<uint8_t, 3> unused{};
};

int64_t extract(uint64_t v, uint32_t at, uint32_t bits, bool is_signed_value) {
  const uint64_t field = v >> at << (64 - bits);
  return is_signed_value ? static_cast<int64_t>(field) >> (64 - bits) : static_cast<int64_t>(field >> (64 - bits));
}
int64_t saturated(int64_t v, uint32_t bits, bool is_signed_value) {
  const int64_t high = is_signed_value ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  const int64_t low = is_signed_value ? -(int64_t{1} << (bits - 1)) : 0;
  return std::clamp(v, low, high);
}
int64_t operate(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::absdiff: return a > b ? a - b : b - a;
    case Op::min: return std::min(a, b);
    case Op::max: return std::max(a, b);
    case Op::avrg: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Op::shl: return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
    case Op::shr: return a >> b;
    case Op::mad: return a * b;
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::gt: return a > b;
    case Op::ge: return a >= b;
  }
  return 0;
}
uint32_t combined(Second second, uint32_t v, uint32_t c, bool is_signed_value) {
  const auto sv = static_cast<int32_t>(v), sc = static_cast<int32_t>(c);
  switch (second) {
    case Second::none: return v;
    case Second::add: return v + c;
    case Second::min: return is_signed_value ? static_cast<uint32_t>(std::min(sv, sc)) : std::min(v, c);
    case Second::max: return is_signed_value ? static_cast<uint32_t>(std::max(sv, sc)) : std::max(v, c);
  }
  return v;
}

// .sat of the scalar instructions, which ptxas makes from several (H200): what does not fit 32 unsigned bits wraps
// unless it was shifted, and shifts to the left keep 34 bits. (.sat into a part of d is as the ISA says; there
// ptxas 13.0 takes negative values for large ones, and gives 0 in .h1.)
int64_t clamped(Op op, int64_t r, uint32_t bits, bool is_signed_value) {
  if (op == Op::shl)
    return saturated(static_cast<int64_t>(static_cast<uint64_t>(r) << 30) >> 30, bits, is_signed_value);
  if (!is_signed_value && bits == 32) return r < 0 ? 0 : r;
  return saturated(r, bits, is_signed_value);
}

struct Sources {
  const uint32_t *a, *b, *c;
  Sources(Warp& w, const Insn& i)
      : a(w.reg<uint32_t>(i.src[0])),
        b(w.reg<uint32_t>(i.src[1])),
        c(i.src[2] == kNone ? nullptr : w.reg<uint32_t>(i.src[2])) {}
};

Step scalar(Warp& w, const Insn& i) {
  const Sources s(w, i);
  const auto at = std::bit_cast<Selection>(i.imm);
  const Op op = static_cast<Op>(i.a);
  const bool shifts = op == Op::shl || op == Op::shr, sign = i.b & kSignedD;
  for_lanes(w.mask, [&](uint32_t l) {
    const int64_t a = extract(s.a[l], at.a_at, at.a_bits, i.b & kSignedA);
    int64_t b = extract(s.b[l], at.b_at, at.b_bits, i.b & kSignedB);
    if (shifts) b = i.b & kWrap ? b & 31 : std::min<int64_t>(b, 32);
    int64_t r = operate(op, a, b);
    if (i.b & kSat) r = clamped(op, r, at.d_bits, sign);
    const uint32_t c = s.c ? s.c[l] : 0, field = at.d_bits == 32 ? ~0u : ((1u << at.d_bits) - 1) << at.d_at;
    const uint32_t v = static_cast<uint32_t>(r);
    w.reg<uint32_t>(i.dst)[l] =
        at.d_bits < 32 ? (c & ~field) | (v << at.d_at & field) : combined(static_cast<Second>(i.c), v, c, sign);
  });
  return Step::next;
}

// vmad: (a * b + c) >> d in full precision, c with its sign (H200: in unsigned forms as well); a negated product or c
// is a complement and one.
Step multiply_add(Warp& w, const Insn& i) {
  const Sources s(w, i);
  const auto at = std::bit_cast<Selection>(i.imm);
  const bool sign = i.b & (kSignedA | kSignedB | kNegateProduct | kNegateC);
  for_lanes(w.mask, [&](uint32_t l) {
    const bool any = i.b & (kSignedA | kSignedB);  // of 32-bit operands: both are taken as signed then (H200)
    const int64_t a = extract(s.a[l], at.a_at, at.a_bits, at.a_bits == 32 ? any : i.b & kSignedA);
    const int64_t b = extract(s.b[l], at.b_at, at.b_bits, at.b_bits == 32 ? any : i.b & kSignedB);
    Int128 product = Int128{a} * b;
    uint32_t c = s.c[l];
    Int128 one = 0;
    if (i.b & kPlusOne) one = 1;
    else if (i.b & kNegateProduct) product = ~product, one = 1;
    else if (i.b & kNegateC) c = ~c, one = 1;
    const Int128 sum = product + static_cast<int32_t>(c) + one;
    auto r = static_cast<int64_t>(sum >> i.d);
    if (i.b & kSat) r = !sign && r < 0 ? (i.d ? -1 : 0) : saturated(r, 32, sign);
    w.reg<uint32_t>(i.dst)[l] = static_cast<uint32_t>(r);
  });
  return Step::next;
}

Step simd(Warp& w, const Insn& i) {
  const Sources s(w, i);
  const auto parts = std::bit_cast<Parts>(i.imm);
  const uint32_t bits = 32 / i.d;
  const uint32_t field = (1u << bits) - 1;
  for_lanes(w.mask, [&](uint32_t l) {
    const uint64_t both = uint64_t{s.b[l]} << 32 | s.a[l];
    uint32_t merged = s.c ? s.c[l] : 0, sum = merged;
    for (uint32_t k = 0; k < i.d; ++k) {
      if (!(parts.mask >> k & 1)) continue;
      const int64_t a = extract(both, (parts.a >> (4 * k) & 7) * bits, bits, i.b & kSignedA);
      const int64_t b = extract(both, (parts.b >> (4 * k) & 7) * bits, bits, i.b & kSignedB);
      int64_t r = operate(static_cast<Op>(i.a), a, b);
      if (i.b & kSat) r = saturated(r, bits, i.b & kSignedD);
      sum += static_cast<uint32_t>(r);
      merged = (merged & ~(field << (k * bits))) | (static_cast<uint32_t>(r) & field) << (k * bits);
    }
    w.reg<uint32_t>(i.dst)[l] = static_cast<Second>(i.c) == Second::add ? sum : merged;
  });
  return Step::next;
}

// ---------------------------------------------------------------- decoding

// %r1.b2 is the register and the selector "b2"; "" where there is none.
std::string split_selector(Operand& o) {
  const size_t dot = o.name.rfind('.');
  if (o.kind != Operand::Kind::name || dot == o.name.npos) return {};
  std::string selector = o.name.substr(dot + 1);
  o.name.resize(dot);
  return selector;
}

bool scalar_part(std::string_view s, uint8_t& at, uint8_t& bits) {
  if (s.empty()) return true;
  const char digit = s.size() == 2 ? s[1] : '9';
  if (s[0] == 'b' && digit >= '0' && digit <= '3') return at = static_cast<uint8_t>(8 * (digit - '0')), bits = 8, true;
  if (s[0] == 'h' && digit >= '0' && digit <= '1')
    return at = static_cast<uint8_t>(16 * (digit - '0')), bits = 16, true;
  return false;
}
// "h32", "b7610": a digit a part, the highest first.
bool simd_parts(std::string_view s, uint32_t count, uint16_t& parts) {
  if (s.empty()) return true;
  if (s.size() != count + 1 || s[0] != (count == 2 ? 'h' : 'b')) return false;
  parts = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const auto digit = static_cast<uint32_t>(s[count - k] - '0');
    if (digit >= 2 * count) return false;
    parts = static_cast<uint16_t>(parts | digit << (4 * k));
  }
  return true;
}
// "h1", "b310": the parts of the result that are written, the highest first.
bool simd_mask(std::string_view s, uint32_t count, uint8_t& mask) {
  if (s.empty()) return true;
  if (s.size() < 2 || s[0] != (count == 2 ? 'h' : 'b')) return false;
  mask = 0;
  for (size_t k = s.size(); k-- > 1;) {
    const auto digit = static_cast<uint32_t>(s[k] - '0');
    if (digit >= count || mask >> digit) return false;
    mask = static_cast<uint8_t>(mask | 1u << digit);
  }
  return true;
}

struct Form {
  Op op = Op::add;
  uint32_t parts = 0;  // of a SIMD form, 0: scalar
  uint8_t flags = 0;
  Second second = Second::none;
  uint8_t shift = 0;
};

bool take_form(Builder& b, Form& f) {
  std::string_view name = b.mnemonic();
  if (name.ends_with('2') || name.ends_with('4'))
    f.parts = static_cast<uint32_t>(name.back() - '0'), name.remove_suffix(1);
  bool found = false;
  const bool sets = name == "vset";
  if (sets) {
    for (const OpRow& r : kRelations)
      if (b.mods().take(r.name)) f.op = r.op, found = true;
  } else {
    for (const OpRow& r : kOps)
      if (r.name == name) f.op = r.op, found = true;
  }
  if (!found) return false;
  std::optional<Type> types[3];
  for (size_t k = sets ? 1 : 0; k < 3; ++k) {
    types[k] = b.mods().take_type();
    if (!types[k] || row(*types[k]).bits != 32) return false;
  }
  if (is_signed(*types[sets ? 1 : 0])) f.flags |= kSignedD;
  if (is_signed(*types[1])) f.flags |= kSignedA;
  if (is_signed(*types[2])) f.flags |= kSignedB;
  if (b.mods().take("sat")) f.flags |= kSat;
  if (b.mods().take("wrap")) f.flags |= kWrap;
  else b.mods().take("clamp");
  if (b.mods().take("po")) f.flags |= kPlusOne;
  f.shift = b.mods().take("shr7") ? 7 : b.mods().take("shr15") ? 15 : 0;
  if (b.mods().take("add")) f.second = Second::add;
  else if (b.mods().take("min")) f.second = Second::min;
  else if (b.mods().take("max")) f.second = Second::max;
  return true;
}

}  // namespace

void build_video(Builder& b) {
  Form f;
  if (!take_form(b, f)) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(3, 4);
  Operand d = b.operand(0), x = b.operand(1), y = b.operand(2);
  const std::string ds = split_selector(d), xs = split_selector(x), ys = split_selector(y);
  const bool third = b.operand_count() == 4;
  const bool needs_third = f.second != Second::none || f.op == Op::mad || f.parts || !ds.empty();
  if (needs_third && !third) return b.fail("wrong number of operands of " + b.insn().opcode);
  if (f.op == Op::mad && x.minus != y.minus) f.flags |= kNegateProduct;
  if (f.op == Op::mad && third && b.operand(3).minus) f.flags |= kNegateC;
  Selection at;
  Parts parts;
  parts.a = f.parts == 2 ? 0x0010 : 0x3210, parts.b = f.parts == 2 ? 0x0032 : 0x7654;
  parts.mask = static_cast<uint8_t>((1u << f.parts) - 1);
  const bool good = f.parts ? simd_parts(xs, f.parts, parts.a) && simd_parts(ys, f.parts, parts.b) &&
                                  simd_mask(ds, f.parts, parts.mask)
                            : scalar_part(xs, at.a_at, at.a_bits) && scalar_part(ys, at.b_at, at.b_bits) &&
                                  scalar_part(ds, at.d_at, at.d_bits);
  if (!good) return b.fail("wrong selector of an operand of " + b.insn().opcode);
  const uint32_t dst = b.destination(d, Type::b32), sx = b.source(x, Type::b32), sy = b.source(y, Type::b32);
  const uint32_t sz = third ? b.source(3, Type::b32) : kNone;
  Insn& i = b.emit(f.parts ? simd : f.op == Op::mad ? multiply_add : scalar);
  i.dst = dst, i.src = {sx, sy, sz, kNone};
  i.a = static_cast<uint8_t>(f.op), i.b = f.flags, i.c = static_cast<uint8_t>(f.second);
  i.d = f.parts ? static_cast<uint8_t>(f.parts) : f.shift;
  i.imm = f.parts ? std::bit_cast<uint64_t>(parts) : std::bit_cast<uint64_t>(at);
}

}  // namespace tc::sim
