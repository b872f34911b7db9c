// Decodes cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor. PTX ISA 9.7.9.27. What only
// sm_100 and later have (cta_group, gather4, scatter4, im2col::w) is named as unsupported on those targets and refused
// on others. Fails: input error with a rule (TMA-03, 07, 08, 16).
#include "sim/exec/tensor_form.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

enum class Direction : uint8_t { load, store, prefetch };
struct Form {
  Direction direction = Direction::load;
  uint8_t rank = 0;
  std::string to, from;
  TensorMode mode = TensorMode::tile;
  bool no_offsets = false, multicast = false, hint = false, reduces = false;
  uint8_t op = 0;
};

// False after a refusal.
bool take_newer(Builder& b) {
  for (std::string_view word :
       {"cta_group::1", "cta_group::2", "tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128"})
    if (b.mods().take(word)) {
      b.need_target({100, TargetFeature::specific}, "TMA-09");
      b.unsupported_form("." + std::string(word) + " of tensor copies");
      return false;
    }
  return true;
}

bool take_mode(Builder& b, Form& f) {
  const bool im2col = b.mods().take("im2col"), no_offsets = b.mods().take("im2col_no_offs");
  b.mods().take("tile");
  if (im2col || no_offsets) f.mode = TensorMode::im2col;
  f.no_offsets = no_offsets;
  if (f.mode == TensorMode::im2col && (f.rank < kIm2colMinRank || (f.direction == Direction::store) != no_offsets))
    return b.refuse("TMA-03", "im2col has 3 to 5 dimensions, stores use .im2col_no_offs: " + b.insn().opcode), false;
  return true;
}

bool parse_form(Builder& b, Form& f) {
  f.reduces = b.mnemonic() == "cp.reduce.async.bulk.tensor";
  if (b.mnemonic() == "cp.async.bulk.prefetch.tensor") f.direction = Direction::prefetch;
  for (uint8_t rank = 1; rank <= kTmaMaxRank; ++rank)
    if (b.mods().take(std::to_string(rank) + "d")) f.rank = rank;
  if (f.rank == 0) return b.refuse("TMA-03", "a tensor copy has 1 to 5 dimensions: " + b.insn().opcode), false;
  const bool load = b.mods().take("mbarrier::complete_tx::bytes"), store = b.mods().take("bulk_group");
  if (f.direction == Direction::prefetch ? load || store : load == store)
    return b.refuse("TMA-07", "loads complete on an mbarrier, stores in a bulk group: " + b.insn().opcode), false;
  if (store) f.direction = Direction::store;
  f.hint = b.mods().take("L2::cache_hint"), f.multicast = b.mods().take("multicast::cluster");
  if (f.reduces)
    for (const ReduceRow& r : kReduces)
      if (b.mods().take(r.name)) f.op = static_cast<uint8_t>(&r - kReduces.data());
  if (!take_newer(b) || !take_mode(b, f)) return false;
  const auto to = b.mods().take_any(), from = b.mods().take_any();
  f.to = to.value_or(""), f.from = from.value_or("");
  const bool right = f.direction == Direction::load    ? f.to.starts_with("shared::c") && f.from == "global"
                     : f.direction == Direction::store ? f.to == "global" && f.from == "shared::cta"
                                                       : f.to == "L2" && f.from == "global";
  if (!right || (f.reduces && f.direction != Direction::store))
    return b.refuse("TMA-07", "there is no such tensor copy: " + b.insn().opcode), false;
  if (f.multicast && f.to != "shared::cluster")
    return b.refuse("TMA-08", ".multicast::cluster needs .shared::cluster"), false;
  return true;
}

// {x, y, ...} of 16-bit registers or literals.
bool append_vector(Builder& b, const Operand& o, size_t count, Type type, const char* rule,
                   std::vector<uint32_t>& list) {
  const std::vector<Operand> parts = o.kind == Operand::Kind::vector ? o.parts : std::vector<Operand>{o};
  if (parts.size() != count)
    return b.refuse(rule, "expected " + std::to_string(count) + " entries in " + b.insn().opcode), false;
  for (const Operand& p : parts) list.push_back(b.source(p, type));
  return true;
}

}  // namespace

void build_tensor_copy(Builder& b) {
  Form f;
  b.need_target({90, TargetFeature::any}, "TMA-03");
  if (!parse_form(b, f)) return;
  const bool load = f.direction == Direction::load;
  const bool offsets = f.mode == TensorMode::im2col && !f.no_offsets;
  const size_t ends = load ? 3 : f.direction == Direction::store ? 2 : 1, count = ends + offsets + f.multicast;
  b.expect_operands(count + f.hint, count + f.hint);
  if (b.failed()) return;
  const Operand& map = b.operand(load ? 1 : 0);
  if (map.parts.size() != 1) return b.refuse("TMA-03", "the coordinates are missing");
  std::vector<uint32_t> list;
  append_address(list, b.address(map));
  append_address(list, f.direction == Direction::prefetch ? AddressOperand{} : b.address(b.operand(load ? 0 : 1)));
  append_address(list, load ? b.address(b.operand(2)) : AddressOperand{});
  if (!append_vector(b, map.parts[0], f.rank, Type::s32, "TMA-03", list)) return;
  if (offsets && !append_vector(b, b.operand(ends), f.rank - 2u, Type::b16, "TMA-43", list)) return;
  const uint32_t mask = f.multicast ? b.source(ends + offsets, Type::b16) : kNone;
  if (f.hint) b.source(count, Type::b64);
  if (b.failed()) return;
  if (f.reduces) b.program().orders_ctas = true;
  const uint32_t at = b.list(list);
  Insn& i = b.emit(load ? tensor_load : f.direction == Direction::store ? tensor_store : tensor_prefetch);
  i.imm = at, i.src[2] = mask;
  i.a = f.rank,
  i.b = static_cast<uint8_t>(static_cast<uint8_t>(f.mode) | (f.to == "shared::cluster" ? kClusterSpace : 0)),
  i.d = f.op;
  i.c = static_cast<uint8_t>((f.to == "shared::cta" ? kOwnCta : 0) | (f.multicast ? kMulticast : 0) |
                             (f.reduces ? kTensorReduces : 0));
}

}  // namespace tc::sim
