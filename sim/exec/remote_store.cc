// st.async and red.async: stores and reductions into the shared memory of a CTA of the cluster that complete on an
// mbarrier there. PTX ISA 9.7.9.12, 9.7.13.7; TX-09: the bytes are those of the operand. Each lane's is an operation of
// its own; the lanes of a warp are carried out together.
#include <cstring>

#include "sim/exec/bulk.h"
#include "sim/exec/reduce.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint64_t kLatency = 100;  // under rr, in warp instructions
constexpr uint32_t kMaxBytes = 32;  // v4.b64

struct RemoteStore : LoadOp {  // one target a lane
  uint32_t bytes = 0;
  ReduceFn reduce = nullptr;
  std::vector<std::array<uint8_t, kMaxBytes>> data;
  bool step(Cta& c) override {
    for (size_t n = 0; n < targets.size(); ++n) {
      uint8_t* to = targets[n].cta->shared.data() + targets[n].to;
      if (reduce) reduce(to, data[n].data(), bytes);
      else std::memcpy(to, data[n].data(), bytes);
    }
    return landed(c, bytes), true;
  }
  std::string describe(const Cta&) const override {
    return "asynchronous store of " + std::to_string(bytes) + " bytes to " + where();
  }
};

// Insn: lists[imm ...] = destination, mbarrier (kAddressWords each), value registers; a = values, b = bytes of one with kClusterSpace,
// c = 1 + ReduceOp or 0, d = index into kTypes.
constexpr std::array<std::string_view, 8> kTypes = {"b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"};

Step remote_store(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  const uint32_t* list = c.program.lists.data() + i.imm;
  const uint32_t* values = list + 2 * kAddressWords;
  auto op = std::make_unique<RemoteStore>();
  const uint32_t one = i.b & ~kClusterSpace;
  op->bytes = i.a * one;
  if (i.c) op->reduce = find_reduce(static_cast<ReduceOp>(i.c - 1), kTypes[i.d]);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const size_t before = op->targets.size();
    if (!find_targets(w, i, {stored_address(w, list, l), stored_address(w, list + kAddressWords, l), op->bytes, op->bytes, false, {}}, *op))
      return Step::trap;
    auto& bytes = op->data.emplace_back();
    for (uint32_t v = 0; v < i.a; ++v)
      std::memcpy(bytes.data() + v * one, one == 8 ? static_cast<void*>(w.reg<uint64_t>(values[v]) + l) : w.reg<uint32_t>(values[v]) + l, one);
    const CopyTarget& t = op->targets[before];
    if (c.race) {
      const uint32_t slot = t.cta->mbarrier_at(t.barrier)->slot, epoch = static_cast<uint32_t>(t.phase + 1);
      if (t.cta != &c) c.race->remote_async(w.agent, l, t.cta->rank, slot, epoch, i.place);
      c.race->async(w.agent, l, slot, epoch, t.cta->flat(t.to), op->bytes,
                    op->reduce ? Access::strong_write : Access::write, i.place);
    }
  }
  note_phases(w, *op);
  c.issue(std::move(op), kLatency);
  return Step::next;
}

}  // namespace

void build_remote_store(Builder& b) {
  const bool reduces = b.mnemonic() == "red.async";
  b.need_target({90, TargetFeature::any}, "TX-09");
  for (std::string_view m : {"weak", "relaxed", "cluster"}) b.mods().take(m);
  if (b.mods().left().find(".global") != std::string::npos || b.mods().left().find(".release") != std::string::npos)
    return b.unsupported_form(b.insn().opcode);
  b.mods().take("shared::cluster");
  if (!b.mods().take("mbarrier::complete_tx::bytes")) return b.refuse("TX-09", b.mnemonic() + " completes on an mbarrier");
  const uint8_t count = b.mods().take("v2") ? 2 : b.mods().take("v4") ? 4 : 1;
  uint8_t op = 0;
  for (const ReduceRow& r : kReduces)
    if (reduces && b.mods().take(r.name)) op = static_cast<uint8_t>(1 + (&r - kReduces.data()));
  const auto word = b.mods().take_any();
  const auto type = word ? std::find(kTypes.begin(), kTypes.end(), *word) : kTypes.end();
  if (type == kTypes.end() || (reduces && (op == 0 || !names_type(kReduces[op - 1].to_shared, *type))))
    return b.refuse("TX-09", "there is no such form: " + b.insn().opcode);
  const uint8_t bytes = type->ends_with("64") ? 8 : 4;
  b.expect_operands(3, 3);
  if (b.failed()) return;
  if (reduces && count > 1) return b.refuse("TX-09", "there is no such form: " + b.insn().opcode);
  const Operand& value = b.operand(1);
  const std::vector<Operand> parts = value.kind == Operand::Kind::vector ? value.parts : std::vector<Operand>{value};
  if (parts.size() != count) return b.fail("expected " + std::to_string(count) + " values");
  std::vector<uint32_t> list;
  append_address(list, b.address(b.operand(0)));
  append_address(list, b.address(b.operand(2)));
  for (const Operand& p : parts) list.push_back(b.source(p, bytes == 8 ? Type::b64 : Type::b32));
  const uint32_t at = b.list(list);
  Insn& i = b.emit(remote_store);
  i.imm = at, i.a = count, i.b = bytes | kClusterSpace, i.c = op, i.d = static_cast<uint8_t>(type - kTypes.begin());
}

}  // namespace tc::sim
