// What the names and operands of an instruction stand for: registers of the warp's file, literals and special registers
// among them, addresses of variables. PTX ISA 5, 6, 10.
//   %r3, the fourth 32-bit register declared   384, its byte in the register file of the warp
//   1.5 as a source of type .f32               a register of its own that holds 0x3FC00000 in every lane
#include <bit>

#include "runtime/dtype.h"
#include "sim/exec/builder.h"

namespace tc::sim {
namespace {

constexpr uint64_t kGridWorkspaceBytes = 64;

using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct SpecialRow {
  std::string_view name;
  Special special;
};
constexpr SpecialRow kSpecials[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%cluster_ctarank", Special::cluster_ctarank},
    {"%cluster_nctarank", Special::cluster_nctarank},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z},
    {"%clusterid.x", Special::clusterid_x},
    {"%clusterid.y", Special::clusterid_y},
    {"%clusterid.z", Special::clusterid_z},
    {"%nclusterid.x", Special::nclusterid_x},
    {"%nclusterid.y", Special::nclusterid_y},
    {"%nclusterid.z", Special::nclusterid_z},
    {"%is_explicit_cluster", Special::is_explicit_cluster},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
};

uint32_t slot_bits(Type t) { return t == Type::pred ? 1 : row(t).bits <= 32 ? 32 : row(t).bits; }

}  // namespace

uint64_t literal_bits(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::integer) {
    if (type == Type::f32 || type == Type::f64) {
      const double v = static_cast<double>(static_cast<int64_t>(o.bits));
      return type == Type::f64 ? std::bit_cast<uint64_t>(v) : std::bit_cast<uint32_t>(static_cast<float>(v));
    }
    return row(type).bits >= 64 ? o.bits : o.bits & ((uint64_t{1} << row(type).bits) - 1);
  }
  const bool single = o.type == Type::f32;
  if (!is_real(type)) return o.bits;  // untyped: the bits as they are
  const double v = single ? std::bit_cast<float>(static_cast<uint32_t>(o.bits)) : std::bit_cast<double>(o.bits);
  switch (type) {
    case Type::f64: return std::bit_cast<uint64_t>(v);
    case Type::f16: return runtime::float_to_half(static_cast<float>(v));
    case Type::bf16: return runtime::float_to_bf16(static_cast<float>(v));
    default: return std::bit_cast<uint32_t>(static_cast<float>(v));
  }
}

const Builder::Name* Builder::find(const std::string& name) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto it = scopes_[i].find(name); it != scopes_[i].end()) return &it->second;
  return nullptr;
}

uint32_t Builder::allocate(Type type) {
  if (type == Type::pred) {  // sixteen predicates share 64 bytes
    if (predicate_bytes_left_ == 0)
      predicate_next_ = program_.register_bytes, program_.register_bytes += 64, predicate_bytes_left_ = 64;
    predicate_bytes_left_ -= 4;
    predicate_next_ += 4;
    if (current()) current()->registers.push_back({predicate_next_ - 4, 1});
    return predicate_next_ - 4;
  }
  const uint32_t at = program_.register_bytes;
  program_.register_bytes += 32 * slot_bits(type) / 8;
  if (current()) current()->registers.push_back({at, slot_bits(type)});
  return at;
}

uint32_t Builder::scratch(uint32_t bits) {
  return allocate(bits == 1 ? Type::pred : bits == 64 ? Type::b64 : Type::b32);
}

uint32_t Builder::constant(uint32_t bits, uint64_t value) {
  auto [it, fresh] = constants_.try_emplace({bits, value}, 0);
  if (fresh) {
    it->second = scratch(bits);
    program_.constants.push_back({it->second, bits, value});
  }
  return it->second;
}

uint32_t Builder::shared_constant(uint32_t bits, uint64_t address) {
  auto [it, fresh] = shared_constants_.try_emplace({bits, address}, 0);
  if (fresh) {
    it->second = scratch(bits);
    program_.constants.push_back({it->second, bits, address, true});
  }
  return it->second;
}

uint32_t Builder::special(const std::string& name, Type type, bool& known) {
  known = false;
  const bool wide = row(type).bits == 64;
  for (const SpecialRow& s : kSpecials) {
    if (s.name != name) continue;
    known = true;
    auto [it, fresh] = specials_.try_emplace(name + (wide ? "/64" : ""), 0);
    if (fresh) {
      it->second = scratch(wide ? 64 : 32);
      program_.specials.push_back({it->second, s.special, wide});
    }
    return it->second;
  }
  return kNone;
}

// Special registers that are the same in every thread: no profiler counts, no graph runs. Of the environment what a
// cooperative launch sets up: %envreg1 and %envreg2 are the upper and lower half of the address of a zeroed workspace,
// where the barrier of the grid counts (cooperative_groups/details/driver_abi.h). The system's part of shared memory is
// what lies below the first allocation.
std::optional<uint64_t> Builder::fixed_special(std::string_view name) {
  if (name == "%envreg1" || name == "%envreg2") {
    if (!workspace_) workspace_ = global_.allocate("workspace of the grid", kGridWorkspaceBytes).address;
    return name == "%envreg1" ? workspace_ >> 32 : workspace_ & UINT32_MAX;
  }
  if (name.starts_with("%envreg") || name.starts_with("%pm") || name == "%current_graph_exec") return 0;
  if (name == "%reserved_smem_offset_begin" || name == "%reserved_smem_offset_0" || name == "%reserved_smem_offset_1") return 0;
  if (name == "%reserved_smem_offset_end" || name == "%reserved_smem_offset_cap") return kSharedStart;
  if (name == "%aggr_smem_size") return program_.shared_end;
  return std::nullopt;
}

const Operand& Builder::operand(size_t i) {
  static const Operand none;
  if (i < insn_->operands.size()) return insn_->operands[i];
  fail("too few operands of " + insn_->opcode);
  return none;
}

void Builder::expect_operands(size_t least, size_t most) {
  if (operand_count() < least || operand_count() > most) fail("wrong number of operands of " + insn_->opcode);
}

void Builder::emit_typed(ExecFn exec, Type result, const std::vector<Type>& sources) {
  expect_operands(sources.size() + 1, sources.size() + 1);
  if (!exec) return unsupported_form(insn_->opcode);
  std::array<uint32_t, 4> src{kNone, kNone, kNone, kNone};
  assert(sources.size() <= src.size() && "an instruction of this kind has up to four sources");
  const uint32_t dst = destination(0, result);
  for (size_t k = 0; k < sources.size(); ++k) src[k] = source(k + 1, sources[k]);
  Insn& i = emit(exec);
  i.dst = dst, i.src = src;
}

std::optional<uint64_t> Builder::literal(const Operand& o) const {
  if (o.kind == Operand::Kind::integer) return o.bits;
  return std::nullopt;
}
std::optional<Type> Builder::register_type(const Operand& o) const {
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (n && n->kind == Name::Kind::reg) return n->type;
  return std::nullopt;
}
std::optional<Space> Builder::symbol_space(const Operand& o) const {
  const Name* n = find(o.name);
  if (n && n->kind == Name::Kind::symbol) return n->space;
  return std::nullopt;
}

uint32_t Builder::source(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real)
    return constant(slot_bits(type) == 64 ? 64 : 32, literal_bits(o, type));
  if (o.kind != Operand::Kind::name) return fail("a register or a literal is expected in " + insn_->opcode), 0;
  const Name* n = find(o.name);
  if (!n) {
    for (const auto& item : module_.items)
      if (auto* f = std::get_if<ptx::Function>(&item); f && f->is_entry && f->name == o.name)
        return unsupported_form("the address of the kernel " + o.name + " (launches from a kernel)"), 0;
    bool known = false;
    const uint32_t at = special(o.name, type, known);
    if (known) return at;
    if (const auto fixed = fixed_special(o.name)) return constant(slot_bits(type) == 64 ? 64 : 32, *fixed);
    if (o.name == "WARP_SZ") return constant(slot_bits(type), 32);
    return fail("unknown name '" + o.name + "'"), 0;
  }
  if (n->kind == Name::Kind::function) {
    wanted_.push_back(static_cast<uint32_t>(n->address));
    return constant(slot_bits(type), kFunctionWindow + kFunctionStride * n->address);
  }
  if (n->kind == Name::Kind::symbol) {
    const uint64_t at = n->address + static_cast<uint64_t>(o.offset);
    if (n->framed) return frame_address(at);
    const uint32_t bits = slot_bits(type) == 64 ? 64 : 32;
    return n->space == Space::shared ? shared_constant(bits, at) : constant(bits, at);
  }
  if (n->kind != Name::Kind::reg) return fail("'" + o.name + "' is no value"), 0;
  if (slot_bits(n->type) != slot_bits(type))
    return fail("register " + o.name + " of type ." + std::string(row(n->type).name) + " in " + insn_->opcode), 0;
  return n->at;
}

uint32_t Builder::destination(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::sink) return allocate(type);
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (!n || n->kind != Name::Kind::reg) return fail("a register is expected as the destination of " + insn_->opcode), 0;
  return source(o, type);
}

uint32_t Builder::data_register(const Operand& o, bool& wide) {
  if (o.kind == Operand::Kind::sink) return wide = false, allocate(Type::b32);
  const auto type = register_type(o);
  if (!type) return fail("a register is expected in " + insn_->opcode), 0;
  if (*type == Type::pred || row(*type).bits > 64)
    return fail("register " + o.name + " cannot be used in " + insn_->opcode), 0;
  wide = slot_bits(*type) == 64;
  return find(o.name)->at;
}

uint32_t Builder::predicate(const Operand& o, bool& negated) {
  negated = o.negated;
  if (o.kind == Operand::Kind::sink) return allocate(Type::pred);
  if (o.kind == Operand::Kind::integer) return constant(1, o.bits != 0);
  const Name* n = o.kind == Operand::Kind::name ? find(o.name) : nullptr;
  if (!n || n->kind != Name::Kind::reg || n->type != Type::pred)
    return fail("a predicate is expected in " + insn_->opcode), 0;
  return n->at;
}

AddressOperand Builder::address(const Operand& o) {
  AddressOperand a;
  if (o.kind != Operand::Kind::address) return fail("an address is expected in " + insn_->opcode), a;
  a.displacement = static_cast<uint64_t>(o.offset);
  if (o.name.empty()) return a.displacement += o.bits, a;
  const Name* n = find(o.name);
  if (!n) return fail("unknown name '" + o.name + "'"), a;
  if (n->kind == Name::Kind::symbol && n->space == Space::shared) return a.base = shared_constant(32, n->address), a;
  if (n->kind == Name::Kind::symbol && n->framed) return a.base = frame_address(n->address), a.wide = true, a;
  if (n->kind == Name::Kind::symbol) return a.displacement += n->address, a;
  if (n->kind != Name::Kind::reg || n->type == Type::pred) return fail("'" + o.name + "' is no address"), a;
  a.base = n->at;
  a.wide = slot_bits(n->type) == 64;
  return a;
}

uint32_t Builder::list(const std::vector<uint32_t>& registers) {
  const auto at = static_cast<uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), registers.begin(), registers.end());
  return at;
}

}  // namespace tc::sim
