// Decodes wgmma: forms are looked up in kWgmmaKinds (specs/wgmma.h). Fails: input error with a rule (WGMMA-01 ... 06,
// 12, 15).
#include "sim/exec/wgmma_form.h"
#include "sim/exec/wgmma_issue.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

struct Shape {
  uint32_t m = 0, n = 0, k = 0;
};
// "m64n128k16"; false where the word is no shape.
bool parse_shape(std::string_view word, Shape& s) {
  uint32_t* values[] = {&s.m, &s.n, &s.k};
  const char* letters = "mnk";
  for (int part = 0; part < 3; ++part) {
    if (word.empty() || word.front() != letters[part]) return false;
    word.remove_prefix(1);
    size_t digits = 0;
    for (; digits < word.size() && digits < 4 && word[digits] >= '0' && word[digits] <= '9'; ++digits)
      *values[part] = 10 * *values[part] + static_cast<uint32_t>(word[digits] - '0');
    if (digits == 0) return false;
    word.remove_prefix(digits);
  }
  return word.empty();
}

std::optional<MmaType> take_mma_type(Builder& b) {
  const auto word = b.mods().take_any();
  return word ? mma_type_named(*word) : std::nullopt;
}

uint8_t accumulator_of(MmaType d) {
  return d == MmaType::f16 ? kAccF16 : d == MmaType::f32 ? kAccF32 : d == MmaType::s32 ? kAccS32 : 0;
}

const WgmmaKind* find_kind(Builder& b, const WgmmaForm& f) {
  for (const WgmmaKind& k : kWgmmaKinds)
    if ((k.group.types & bit(f.a)) && (k.group.types & bit(f.b)) && (k.group.mixed || f.a == f.b) &&
        (k.accumulators & accumulator_of(f.d)))
      return &k;
  b.refuse("WGMMA-03", "wgmma has no such types: " + b.insn().opcode);
  return nullptr;
}

bool check_shape(Builder& b, const WgmmaKind& kind, const Shape& s, bool sparse) {
  const std::string opcode = b.insn().opcode;
  if (sparse && kind.selectors == 0) return b.refuse("WGMMA-01", "b1 has no sparse form: " + opcode), false;
  if (s.m != kWgmmaM || s.k != kind.k * (sparse ? 2u : 1u))
    return b.refuse("WGMMA-01",
                    "M is 64 and K of this type " + std::to_string(kind.k * (sparse ? 2u : 1u)) + ": " + opcode),
           false;
  if (!wgmma_has_n(kind, s.n))
    return b.refuse("WGMMA-02", "N = " + std::to_string(s.n) + " does not exist: " + opcode), false;
  return true;
}

bool immediate(Builder& b, size_t at, std::initializer_list<int64_t> allowed, const char* rule, int64_t& out) {
  const auto v = b.literal(b.operand(at));
  for (int64_t a : allowed)
    if (v && static_cast<int64_t>(*v) == a) return out = a, true;
  b.refuse(rule, "operand " + std::to_string(at) + " of wgmma is out of range");
  return false;
}

// What follows scale-d: scale-a, scale-b of floats; transposition of A (by descriptor) and B of 16-bit types.
bool take_immediates(Builder& b, const WgmmaKind& kind, size_t at, WgmmaForm& f) {
  const size_t left = b.operand_count() - at;
  if (kind.integer) return left == 0 || (b.refuse("WGMMA-06", "integer wgmma has no scales"), false);
  const size_t transposes = kind.transposable ? (f.flags & kARegisters ? 1 : 2) : 0;
  if (left != 2 && left != 2 + transposes)
    return b.refuse(left < 2 ? "WGMMA-06" : "WGMMA-05", "wrong number of immediates of " + b.insn().opcode), false;
  int64_t scale_a = 1, scale_b = 1, a = 0, bb = 0;
  if (!immediate(b, at, {1, -1}, "WGMMA-06", scale_a) || !immediate(b, at + 1, {1, -1}, "WGMMA-06", scale_b))
    return false;
  if (left > 2 && !immediate(b, b.operand_count() - 1, {0, 1}, "WGMMA-05", bb)) return false;
  if (left == 4 && !immediate(b, at + 2, {0, 1}, "WGMMA-05", a)) return false;
  f.flags |=
      static_cast<uint8_t>((a ? kTransposeA : 0) | (bb ? kTransposeB : 0) | (scale_a != scale_b ? kNegateProduct : 0));
  return true;
}

}  // namespace

void build_wgmma(Builder& b) {
  b.mods().take("sync");
  if (!b.mods().take("aligned")) return b.refuse("WGMMA-07", "wgmma needs .sync.aligned");
  b.need_target({90, TargetFeature::only_90a}, "WGMMA-01");
  if (b.mnemonic() == "wgmma.fence") return void(b.emit(fence_wgmma));
  if (b.mnemonic() == "wgmma.commit_group") return void(b.emit(commit_wgmma));
  const auto n = b.literal(b.operand(0));
  if (!n) return b.refuse("WGMMA-12", "wait_group needs a constant");
  b.emit(wait_wgmma).imm = *n;
}

void build_wgmma_mma(Builder& b) {
  b.mods().take("sync");
  if (!b.mods().take("aligned")) return b.refuse("WGMMA-07", "wgmma needs .sync.aligned");
  b.need_target({90, TargetFeature::only_90a}, "WGMMA-01");
  const bool sparse = b.mnemonic() == "wgmma.mma_async.sp", saturate = b.mods().take("satfinite");
  const bool counts = b.mods().take("popc") && b.mods().take("and");
  const auto word = b.mods().take_any();
  Shape s;
  if (!word || !parse_shape(*word, s)) return b.refuse("WGMMA-01", "wgmma has no such shape: " + b.insn().opcode);
  const auto d = take_mma_type(b), ta = take_mma_type(b), tb = take_mma_type(b);
  WgmmaForm f;
  if (!d || !ta || !tb) return b.refuse("WGMMA-03", "wgmma names the types of D, A and B: " + b.insn().opcode);
  f.d = *d, f.a = *ta, f.b = *tb;
  const WgmmaKind* kind = find_kind(b, f);
  if (!kind || !check_shape(b, *kind, s, sparse)) return;
  if (counts != (f.a == MmaType::b1)) return b.refuse("WGMMA-03", "b1 and .and.popc go together");
  if (saturate && (!kind->integer || f.a == MmaType::b1))
    return b.refuse("WGMMA-06", ".satfinite is for 8-bit integers");
  f.kind = static_cast<uint8_t>(kind - kWgmmaKinds.data());
  f.flags = static_cast<uint8_t>((sparse ? kSparse : 0) | (saturate ? kSaturated : 0));
  b.expect_operands(sparse ? 6 : 4, sparse ? 10 : 8);
  if (b.failed()) return;
  const uint32_t accumulators = s.n / (f.d == MmaType::f16 ? 4 : 2);
  if (b.operand(0).parts.size() != accumulators)
    return b.fail("wgmma n" + std::to_string(s.n) + " has " + std::to_string(accumulators) + " accumulator registers");
  std::vector<uint32_t> registers;
  for (const Operand& o : b.operand(0).parts) registers.push_back(b.destination(o, Type::b32));
  if (b.operand(1).kind == Operand::Kind::vector) {
    f.flags |= kARegisters;
    if (b.operand(1).parts.size() != 4) return b.refuse("WGMMA-04", "A has four registers");
    for (const Operand& o : b.operand(1).parts) registers.push_back(b.source(o, Type::b32));
  }
  const uint32_t desc_a = f.flags & kARegisters ? kNone : b.source(1, Type::b64), desc_b = b.source(2, Type::b64);
  if (sparse) {
    registers.push_back(b.source(3, Type::b32));
    const auto selector = b.literal(b.operand(4));
    if (!selector || *selector >= kind->selectors) return b.refuse("WGMMA-15", "the sparsity selector is out of range");
    f.selector = static_cast<uint8_t>(*selector);
  }
  const size_t scale_at = sparse ? 5 : 3;
  bool negated = false;
  const uint32_t scale = b.predicate(b.operand(scale_at), negated);
  if (negated) f.flags |= kScaleNegated;
  if (!take_immediates(b, *kind, scale_at + 1, f) || b.failed()) return;
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(issue_wgmma);
  i.kind = InsnKind::wgmma;
  i.list = at, i.list_count = static_cast<uint32_t>(registers.size()), i.list_dst = accumulators;
  i.src = {desc_a, desc_b, scale, kNone};
  i.a = static_cast<uint8_t>(s.n / 8), i.b = negated, i.c = f.d == MmaType::f16;
  i.imm = std::bit_cast<uint64_t>(f);
}

}  // namespace tc::sim
