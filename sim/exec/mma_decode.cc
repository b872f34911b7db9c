// Decodes mma.sync and mma.sp: the form is looked up among the rows of specs/mma.h; what no row allows is refused with
// the rule of the nearest one. Fails: input error with a rule (MMA-01 ... 18, 42, 50, 52).
#include "sim/exec/mma_form.h"

namespace tc::sim {

using ptx::Operand;
using ptx::Type;

bool take_mma_shape(Builder& b, ParsedMma& p) {
  for (const MmaShape& s : kMmaShapes)
    if (b.mods().take("m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k)))
      return p.m = s.m, p.n = s.n, p.k = s.k, true;
  return false;
}
std::string take_layout(Builder& b) {
  const auto word = b.mods().take_any();
  return word && (*word == "row" || *word == "col") ? std::string(*word) : "";
}

namespace {

bool parse_form(Builder& b, ParsedMma& p) {
  p.ordered = b.mnemonic() == "mma.sp::ordered_metadata";
  p.sparse = p.ordered || b.mnemonic() == "mma.sp";
  if (p.sparse) b.mods().take("sync");
  if (!b.mods().take("aligned")) return b.refuse("MMA-19", "mma needs .aligned"), false;
  if (!take_mma_shape(b, p)) return b.refuse("MMA-18", "mma has no such shape: " + b.insn().opcode), false;
  for (size_t x = 1; x < kMmaKindNames.size(); ++x)
    if (b.mods().take(kMmaKindNames[x])) p.kind = static_cast<MmaKind>(x);
  p.block_scale = b.mods().take("block_scale");
  for (uint8_t v : {1, 2, 4})
    if (b.mods().take("scale_vec::" + std::to_string(v) + "X")) p.scale_vec = v;
  if (b.mods().take("block16") || b.mods().take("block32"))
    return b.refuse("MMA-18", "mma.sync has no .block16 and .block32"), false;
  p.saturate = b.mods().take("satfinite");
  if (b.mods().take("popc"))
    p.op = b.mods().take("xor") ? BitOp::xor_popc : b.mods().take("and") ? BitOp::and_popc : BitOp::none;
  for (std::string_view t : {"ue8m0", "ue4m3"})
    if (b.mods().take(t)) p.scale_type = t;
  p.layout_a = take_layout(b), p.layout_b = take_layout(b);
  if (p.layout_a.empty() || p.layout_b.empty()) return b.refuse("MMA-18", "mma needs the layouts of A and B"), false;
  for (MmaType* t : {&p.d, &p.a, &p.b, &p.c}) {
    const auto word = b.mods().take_any();
    const auto type = word ? mma_type_named(*word) : std::nullopt;
    if (!type) return b.refuse("MMA-18", "mma names the types of D, A, B and C"), false;
    *t = *type;
  }
  return true;
}

uint8_t accumulator_bit(MmaKind kind, MmaType d, MmaType c) {
  if (d == MmaType::f32 && c == MmaType::f16) return kAccMixed;
  if (d == MmaType::f16 && c == MmaType::f32 && kind == MmaKind::wmma) return kAccMixed;
  if (d != c) return 0;
  switch (d) {
    case MmaType::f16: return kAccF16;
    case MmaType::f32: return kAccF32;
    case MmaType::s32: return kAccS32;
    case MmaType::f64: return kAccF64;
    case MmaType::bf16:
    case MmaType::tf32:
    case MmaType::s8:
    case MmaType::u8:
    case MmaType::s4:
    case MmaType::u4:
    case MmaType::b1:
    case MmaType::e4m3:
    case MmaType::e5m2:
    case MmaType::e3m2:
    case MmaType::e2m3:
    case MmaType::e2m1: return 0;
  }
  return 0;
}

bool same_types(const MmaShape& s, const ParsedMma& p) {
  return (s.group.types & bit(p.a)) && (s.group.types & bit(p.b)) && (s.group.mixed || p.a == p.b);
}
bool same_size(const MmaShape& s, const ParsedMma& p) { return s.m == p.m && s.n == p.n && s.k == p.k; }
bool same_scaling(const MmaShape& s, const ParsedMma& p) {
  if (s.scale_vec == 0) return !p.block_scale && !p.scale_vec && p.scale_type.empty();
  return p.block_scale && (p.scale_vec ? p.scale_vec == s.scale_vec : s.scale_default) &&
         p.scale_type == (s.ue4m3 ? "ue4m3" : "ue8m0");
}

bool append_registers(Builder& b, size_t at, uint32_t count, Type type, bool written, std::vector<uint32_t>& out) {
  const Operand& o = b.operand(at);
  const std::vector<Operand> parts = o.kind == Operand::Kind::vector ? o.parts : std::vector<Operand>{o};
  if (parts.size() != count) {
    b.fail("operand " + std::to_string(at) + " of " + b.insn().opcode + " has " + std::to_string(count) + " registers");
    return false;
  }
  for (const Operand& p : parts) out.push_back(written ? b.destination(p, type) : b.source(p, type));
  return true;
}

// Scale data, {byte id, thread id}.
void append_scale(Builder& b, size_t at, uint32_t bytes, uint32_t threads, std::vector<uint32_t>& out) {
  out.push_back(b.source(at, Type::b32));
  const Operand& o = b.operand(at + 1);
  if (o.parts.size() != 2) return b.fail("a scale is followed by {byte id, thread id}");
  const auto byte = b.literal(o.parts[0]), thread = b.literal(o.parts[1]);
  if ((byte && (*byte > 3 || *byte % bytes)) || (thread && *thread >= threads))
    return b.refuse("MMA-42", "byte id or thread id of a scale is out of range");
  for (const Operand& p : o.parts) out.push_back(b.source(p, Type::u16));
}

}  // namespace

// The row of this form; null after a refusal that names the nearest row's rule.
const MmaShape* find_mma_shape(Builder& b, const ParsedMma& p) {
  const MmaShape* nearest = nullptr;
  const MmaShape* old = nullptr;  // right but for the target
  for (const MmaShape& s : kMmaShapes) {
    if (s.sparse != p.sparse || s.kind != p.kind || !same_types(s, p)) continue;
    if (!nearest || same_size(s, p)) nearest = &s;
    if (!same_size(s, p) || s.op != p.op || !same_scaling(s, p) || (s.ordered_only && !p.ordered)) continue;
    if (!(s.accumulators & accumulator_bit(p.kind, p.d, p.c))) continue;
    if (satisfies(b.target(), s.need)) return &s;
    old = &s;
  }
  if (old) b.need_target(old->need, old->rule);
  else if (p.sparse) b.refuse("MMA-50", "mma.sp has no such shape and types: " + b.insn().opcode);
  else b.refuse(nearest ? nearest->rule : "MMA-18", "mma has no such shape and types: " + b.insn().opcode);
  return nullptr;
}

void emit_mma(Builder& b, const MmaShape& s, const ParsedMma& p) {
  MmaForm form;
  form.shape = static_cast<uint8_t>(&s - kMmaShapes.data());
  form.a = p.a, form.b = p.b, form.c = p.c, form.d = p.d;
  form.flags = static_cast<uint8_t>((p.saturate ? kSaturate : 0) | (p.ordered ? kOrdered : 0) |
                                    (p.layout_a == "row" ? kARowMajor : 0) | (p.layout_b == "row" ? kBRowMajor : 0));
  const MmaCounts n = mma_counts(s, form);
  const size_t scales = 4u + (s.sparse ? 2 : 0), count = scales + (s.scale_vec ? 4 : 0);
  b.expect_operands(count, count);
  const Type slot = p.d == MmaType::f64 ? Type::b64 : Type::b32;
  std::vector<uint32_t> registers;
  if (!append_registers(b, 0, n.d, slot, true, registers) || !append_registers(b, 1, n.a, slot, false, registers) ||
      !append_registers(b, 2, n.b, slot, false, registers) || !append_registers(b, 3, n.c, slot, false, registers))
    return;
  if (s.sparse) {
    registers.push_back(b.source(4, Type::b32));
    const auto selector = b.literal(b.operand(5));
    if (!selector || *selector >= s.selectors) return b.refuse("MMA-52", "the sparsity selector is out of range");
    form.selector = static_cast<uint8_t>(*selector);
  }
  if (s.scale_vec) {
    append_scale(b, scales, s.scale_vec, 2, registers);
    append_scale(b, scales + 2, s.scale_vec, 4, registers);
  }
  if (b.failed()) return;
  const uint32_t at = b.list(registers);
  Insn& i = b.emit(mma_body(s));
  i.list = at, i.list_count = static_cast<uint32_t>(registers.size()), i.list_dst = n.d;
  i.bytes = static_cast<uint16_t>(n.a), i.vector = static_cast<uint8_t>(n.b);
  i.d = s.kind == MmaKind::wmma || is_volta(s) ? 0 : static_cast<uint8_t>(s.m / 8);
  i.imm = std::bit_cast<uint64_t>(form);
}

void build_mma(Builder& b) {
  ParsedMma p;
  if (!parse_form(b, p)) return;
  const MmaShape* s = find_mma_shape(b, p);
  if (!s) return;
  if (p.saturate && p.d != MmaType::s32) return b.refuse("MMA-13", ".satfinite is for integers only");
  if (!is_volta(*s) && (p.layout_a != "row" || p.layout_b != "col"))
    return b.refuse(s->rule, "the layouts of this mma are .row.col");
  emit_mma(b, *s, p);
}

}  // namespace tc::sim
