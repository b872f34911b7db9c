// cp.async.bulk and cp.reduce.async.bulk, one-dimensional, and their prefetch. PTX ISA 9.7.9.25.4.
//   global to shared memory of one CTA or several, shared to shared memory of another CTA: complete on an mbarrier
//   shared to global memory: bulk groups
// A size that is no multiple of 16 copies and signals the multiple below it (TX-10, H200); size 0 does nothing.
#include <cstring>

#include "sim/exec/bulk.h"
#include "sim/exec/reduce.h"

namespace tc::sim {
namespace {

using ptx::Space;
using ptx::Type;

constexpr uint32_t kPieces = 2;

void put(uint8_t* to, const uint8_t* from, uint32_t bytes, ReduceFn reduce) {
  if (reduce) reduce(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

// Into shared memory; the source is global, or shared memory of the issuing CTA.
struct BulkLoad : LoadOp {
  uint32_t bytes = 0, done = 0;
  uint64_t from = 0;
  bool from_shared = false;
  ReduceFn reduce = nullptr;
  bool step(Cta& c) override {
    const uint32_t half = (bytes / kPieces + 15) / 16 * 16, n = std::min(half ? half : 16, bytes - done);
    const uint8_t* p = from_shared ? c.shared.data() + from + done : c.global.find(from + done, n);
    for (const CopyTarget& t : targets)
      if (p) put(t.cta->shared.data() + t.to + done, p, n, reduce);
    done += n;
    return !landed(c, n) || done == bytes;
  }
  std::string describe(const Cta&) const override {
    return "bulk copy of " + std::to_string(bytes) + " bytes to " + where();
  }
};

struct BulkStore : StoreOp {
  uint32_t from = 0, bytes = 0;
  uint64_t to = 0;
  ReduceFn reduce = nullptr;
  bool step(Cta& c) override {
    if (!reads_done) {
      data.assign(c.shared.begin() + from, c.shared.begin() + from + bytes);
      reads_done = true;
      return false;
    }
    if (uint8_t* p = c.global.find(to, bytes)) put(p, data.data(), bytes, reduce);
    return true;
  }
  std::string describe(const Cta& c) const override {
    return "bulk copy of " + std::to_string(bytes) + " bytes from " + c.shared_text(from);
  }
};

// Insn: lists[imm ...] = first operand, second operand, mbarrier; src[1] size, src[2] multicast mask or kNone;
// a = Flag; c = ReduceOp and d = index into kReduceTypes where kReduces is set.
enum Flag : uint8_t { kOwn = 1, kFromShared = 2, kReducing = 4 };
constexpr std::array<std::string_view, 10> kReduceTypes = {"u32",  "s32", "u64", "s64", "f16",
                                                           "bf16", "f32", "f64", "b32", "b64"};

uint64_t list_address(Warp& w, const Insn& i, uint32_t which, uint32_t lane) {
  return stored_address(w, w.cta->program.lists.data() + i.imm + kAddressWords * which, lane);
}
ReduceFn reduce_of(const Insn& i) {
  return i.a & kReducing ? find_reduce(static_cast<ReduceOp>(i.c), kReduceTypes[i.d]) : nullptr;
}

// The size of a lane's copy, made a multiple of 16.
uint32_t size_of(Warp& w, const Insn& i, uint32_t lane) {
  Cta& c = *w.cta;
  const uint32_t bytes = w.reg<uint32_t>(i.src[1])[lane];
  if (bytes % 16 && c.race)
    c.finding(c.violation("TX-10", i.place, "the size of " + std::to_string(bytes) + " bytes is no multiple of 16"));
  return bytes - bytes % 16;
}

// The global end of a copy; false after a trap.
bool check_global(Warp& w, const Insn& i, uint32_t lane, uint64_t address, uint32_t bytes, bool writes) {
  Cta& c = *w.cta;
  if (address % kTmaGlobalAlign) return c.fault("TMA-01", i.place, "the global address is no multiple of 16"), false;
  if (bytes == 0) return true;
  if (resolve(address) != Space::global) return c.fault("TMA-01", i.place, "a global address is expected"), false;
  return c.global.find(address, bytes) || host_memory(w, i, lane, Space::global, address, bytes, writes);
}

Step bulk_load(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<BulkLoad>();
    op->bytes = size_of(w, i, l);
    op->from = list_address(w, i, 1, l);
    op->from_shared = i.a & kFromShared;
    op->reduce = reduce_of(i);
    LoadEnds ends{list_address(w, i, 0, l), list_address(w, i, 2, l), std::max(op->bytes, 1u),
                  kTmaBulkSmemAlign,        (i.a & kOwn) != 0,        {}};
    if (i.src[2] != kNone) ends.multicast_mask = static_cast<uint16_t>(w.reg<uint32_t>(i.src[2])[l]);
    if (op->from_shared) {
      uint32_t from = 0;
      if (!shared_address(w, i, op->from, std::max(op->bytes, 1u), kTmaBulkSmemAlign, from)) return Step::trap;
      op->from = from;
    } else if (!check_global(w, i, l, op->from, op->bytes, false)) {
      return Step::trap;
    }
    if (!find_targets(w, i, ends, *op)) return Step::trap;
    if (op->from_shared && op->targets.front().cta == &c && c.race)
      c.finding(c.violation("TMA-11", i.place, "the destination of this copy is in the executing CTA"));
    if (op->bytes == 0 || op->targets.empty()) continue;
    note_phases(w, *op);
    note_load_write(w, l, *op, 0, op->bytes);
    if (!op->from_shared) note_load_read(w, l, *op, op->from, op->bytes);
    else if (c.race) {
      const CopyTarget& t = op->targets.front();
      c.race->async(w.agent, l, t.cta->mbarrier_at(t.barrier)->slot, static_cast<uint32_t>(t.phase + 1),
                    c.flat(static_cast<uint32_t>(op->from)), op->bytes, Access::read, i.place);
      if (!has_value(w, static_cast<uint32_t>(op->from), op->bytes))
        report_no_value(w, static_cast<uint32_t>(op->from), i.place);
    }
    c.issue(std::move(op), kLoadLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

Step bulk_store(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<BulkStore>();
    op->bytes = size_of(w, i, l);
    op->to = list_address(w, i, 0, l);
    op->reduce = reduce_of(i);
    if (!shared_address(w, i, list_address(w, i, 1, l), std::max(op->bytes, 1u), kTmaBulkSmemAlign, op->from) ||
        !check_global(w, i, l, op->to, op->bytes, true))
      return Step::trap;
    enter_group(w, l, i, *op);
    if (op->bytes == 0) continue;
    note_store_read(w, l, *op, op->from, op->bytes);
    if (!has_value(w, op->from, op->bytes)) report_no_value(w, op->from, i.place);
    note_store_write(w, l, *op, op->to, op->bytes, op->reduce ? Access::strong_write : Access::write);
    c.issue(std::move(op), kStoreLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

// A prefetch has no effect; its operands are checked.
Step bulk_prefetch(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    if (!check_global(w, i, l, list_address(w, i, 0, l), size_of(w, i, l), false)) return Step::trap;
  }
  return Step::next;
}

// .add.noftz.f16 and the like. False after a refusal.
bool take_reduction(Builder& b, bool to_global, uint8_t& op, uint8_t& type) {
  const bool noftz = b.mods().take("noftz");
  const auto word = b.mods().take_any(), named = b.mods().take_any();
  for (const ReduceRow& r : kReduces) {
    if (!word || !named || r.name != *word) continue;
    const bool half = *named == "f16" || *named == "bf16";
    if (!names_type(to_global ? r.to_global : r.to_shared, *named) || noftz != (half && r.op == ReduceOp::add)) break;
    op = static_cast<uint8_t>(r.op);
    type = static_cast<uint8_t>(std::find(kReduceTypes.begin(), kReduceTypes.end(), *named) - kReduceTypes.begin());
    return true;
  }
  b.refuse("TMA-17", "there is no such bulk reduction: " + b.insn().opcode);
  return false;
}

void build_prefetch(Builder& b) {
  const bool hint = b.mods().take("L2::cache_hint");
  if (!b.mods().take("L2") || !b.mods().take("global")) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(hint ? 3 : 2, hint ? 3 : 2);
  std::vector<uint32_t> list;
  append_address(list, b.address(b.operand(0)));
  const uint32_t size = b.source(1, Type::u32), at = b.list(list);
  Insn& i = b.emit(bulk_prefetch);
  i.src[1] = size, i.imm = at;
}

}  // namespace

void build_bulk_copy(Builder& b) {
  b.need_target({90, TargetFeature::any}, "TMA-01");
  if (b.mnemonic() == "cp.async.bulk.prefetch") return build_prefetch(b);
  const bool reducing = b.mnemonic() == "cp.reduce.async.bulk";
  const bool load = b.mods().take("mbarrier::complete_tx::bytes"), store = b.mods().take("bulk_group");
  const bool hint = b.mods().take("L2::cache_hint"), multicast = b.mods().take("multicast::cluster");
  if (b.mods().take("cp_mask")) {
    b.need_target({100, TargetFeature::any}, "TMA-17");
    return b.unsupported_form(".cp_mask of a bulk copy");
  }
  const std::string to = b.mods().left().starts_with(".global") ? (b.mods().take("global"), "global") : take_end(b);
  const std::string from = take_end(b);
  const bool to_shared = to == "shared::cluster" || to == "shared::cta", from_shared = from == "shared::cta";
  if (load == store || (load ? !to_shared : to != "global") || !(from_shared || (load && from == "global")))
    return b.refuse("TMA-07", "loads complete on an mbarrier, stores in a bulk group: " + b.insn().opcode);
  if (from_shared && load && to != "shared::cluster") return b.refuse("TMA-11", "the destination is .shared::cluster");
  if (reducing && load && !from_shared) return b.refuse("TMA-17", "a reduction reads shared memory");
  if (multicast && (to != "shared::cluster" || from_shared))
    return b.refuse("TMA-08", ".multicast::cluster needs .shared::cluster.global");
  uint8_t op = 0, type = 0;
  if (reducing && !take_reduction(b, store, op, type)) return;
  const size_t count = (load ? 4u : 3u) + multicast;
  b.expect_operands(count + hint, count + hint);
  if (b.failed()) return;
  if (const auto size = b.literal(b.operand(2)); size && *size % 16)
    return b.refuse("TX-10", "the size must be a multiple of 16");
  std::vector<uint32_t> list;
  append_address(list, b.address(b.operand(0)));
  append_address(list, b.address(b.operand(1)));
  if (load) append_address(list, b.address(b.operand(3)));
  const uint32_t mask = multicast ? b.source(4, Type::b16) : kNone;
  if (hint) b.source(count, Type::b64);
  if (reducing && store) b.program().orders_ctas = true;
  const uint32_t size = b.source(2, Type::u32), at = b.list(list);
  Insn& i = b.emit(load ? bulk_load : bulk_store);
  i.src[1] = size, i.src[2] = mask, i.imm = at;
  i.a = static_cast<uint8_t>((to == "shared::cta" ? kOwn : 0) | (load && from_shared ? kFromShared : 0) |
                             (reducing ? kReducing : 0));
  i.b = to == "shared::cluster" ? kClusterSpace : 0;
  i.c = op, i.d = type;
}

}  // namespace tc::sim
