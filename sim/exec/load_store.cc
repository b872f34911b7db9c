// ld, ldu, st in all spaces, scalar and vector, with cache and eviction hints (which change nothing here). PTX
// ISA 9.7.9.8, 9.7.9.11. Loads extend to the width of their registers; accesses are checked lane by lane. Relaxed,
// acquire, release and volatile accesses are strong: they do not race with each other, and they order.
#include <cstring>
#include <type_traits>

#include "sim/exec/access.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// What a register receives of a loaded element: extended as its type says.
template <class M, class S>
S widened(M v) {
  if constexpr (std::is_signed_v<M>) return static_cast<S>(static_cast<std::make_signed_t<S>>(v));
  else return static_cast<S>(v);
}
template <class M>
M loaded(uintptr_t host) {
  M v;
  std::memcpy(&v, reinterpret_cast<const void*>(host), sizeof v);
  return v;
}

// M: the element in memory; S: the slot of the register.
template <class M, class S>
Step load(Warp& w, const Insn& i) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(M)) * i.list_count;
  WarpAccess at;
  if (!access_memory(w, i, bytes, false, at)) return Step::trap;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for (uint32_t k = 0; k < i.list_count; ++k) {
    if (list[k] == kNone) continue;
    S* d = w.reg<S>(list[k]);
    if (w.mask == ~0u) {
      for (uint32_t l = 0; l < 32; ++l) d[l] = widened<M, S>(loaded<M>(at.host[l] + k * sizeof(M)));
    } else {
      for (uint32_t m = w.mask; m; m &= m - 1) {
        const uint32_t l = lowest_lane(m);
        d[l] = widened<M, S>(loaded<M>(at.host[l] + k * sizeof(M)));
      }
    }
  }
  if (i.b & (kStrong | kVolatile)) w.polls.look(at.host[lowest_lane(w.mask)]);
  if (w.cta->race) note_access(w, i, at, bytes, Access::read);
  return Step::next;
}

// A kernel parameter at a fixed place: the same value for every lane.
template <class M, class S>
Step load_param(Warp& w, const Insn& i) {
  const std::vector<uint8_t>& params = w.cta->launch.params;
  if (i.imm + sizeof(M) * i.list_count > params.size() || i.imm % (sizeof(M) * i.list_count)) return load<M, S>(w, i);
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  for (uint32_t k = 0; k < i.list_count; ++k) {
    if (list[k] == kNone) continue;
    const S v = widened<M, S>(loaded<M>(reinterpret_cast<uintptr_t>(params.data() + i.imm + k * sizeof(M))));
    write_lanes(w.mask, w.reg<S>(list[k]), [=](uint32_t) { return v; });
  }
  return Step::next;
}

// Lane by lane: where lanes store to one place the last one wins, all its elements together. The lanes that changed
// what was there, where that is asked for.
template <class M, class S, bool Watch>
uint32_t store_lanes(Warp& w, const Insn& i, const WarpAccess& at) {
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  uint32_t changed = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    bool differs = false;
    for (uint32_t k = 0; k < i.list_count; ++k) {
      const M v = static_cast<M>(w.reg<S>(list[k])[l]);
      if constexpr (Watch) differs |= loaded<M>(at.host[l] + k * sizeof(M)) != v;
      std::memcpy(reinterpret_cast<void*>(at.host[l] + k * sizeof(M)), &v, sizeof v);
    }
    changed |= static_cast<uint32_t>(differs) << l;
  }
  const uint32_t first = lowest_lane(w.mask);
  w.cta->progress += (at.mixed ? at.spaces[first] : at.space) != ptx::Space::local;  // what a lane keeps wakes nobody
  return changed;
}

template <class M, class S>
Step store(Warp& w, const Insn& i) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(M)) * i.list_count;
  WarpAccess at;
  if (!access_memory(w, i, bytes, true, at)) return Step::trap;
  if (!w.cta->race) return store_lanes<M, S, false>(w, i, at), Step::next;
  const uint32_t changed = store_lanes<M, S, true>(w, i, at);
  if (changed) note_access(w, i, at, changed, bytes, Access::write);
  if (const uint32_t same = w.mask & ~changed) note_access(w, i, at, same, bytes, Access::rewrite);
  return Step::next;
}

template <class M>
ExecFn load_as(bool wide, bool param) {
  if (param) return wide ? load_param<M, uint64_t> : load_param<M, uint32_t>;
  return wide ? load<M, uint64_t> : load<M, uint32_t>;
}
// `param`: at a fixed place among the kernel's parameters.
ExecFn load_for(Type t, bool wide, bool param) {
  switch (row(t).bits) {
    case 8: return is_signed(t) ? load_as<int8_t>(wide, param) : load_as<uint8_t>(wide, param);
    case 16: return is_signed(t) ? load_as<int16_t>(wide, param) : load_as<uint16_t>(wide, param);
    case 32: return is_signed(t) ? load_as<int32_t>(wide, param) : load_as<uint32_t>(wide, param);
    case 64: return wide ? (param ? load_param<uint64_t, uint64_t> : load<uint64_t, uint64_t>) : nullptr;
    default: return nullptr;
  }
}
template <class M>
ExecFn store_as(bool wide) {
  return wide ? store<M, uint64_t> : store<M, uint32_t>;
}
ExecFn store_for(Type t, bool wide) {
  switch (row(t).bits) {
    case 8: return store_as<uint8_t>(wide);
    case 16: return store_as<uint16_t>(wide);
    case 32: return store_as<uint32_t>(wide);
    case 64: return wide ? store<uint64_t, uint64_t> : nullptr;
    default: return nullptr;
  }
}

// Hints without an effect on values.
constexpr std::string_view kHints[] = {"ca",
                                       "cg",
                                       "cs",
                                       "lu",
                                       "cv",
                                       "wb",
                                       "wt",
                                       "nc",
                                       "uni",
                                       "L1::evict_normal",
                                       "L1::evict_unchanged",
                                       "L1::evict_first",
                                       "L1::evict_last",
                                       "L1::no_allocate",
                                       "L2::evict_normal",
                                       "L2::evict_first",
                                       "L2::evict_last",
                                       "L2::cache_hint",
                                       "L2::64B",
                                       "L2::128B",
                                       "L2::256B",
                                       "unified"};
constexpr std::string_view kStrongWords[] = {"relaxed", "acquire", "release", "mmio"};

}  // namespace

void build_load_store(Builder& b) {
  const bool is_store = b.mnemonic() == "st";
  if (b.mods().take("async") || b.mods().take("bulk")) return b.unsupported_form(b.insn().opcode);
  uint8_t flags = 0;
  Order order = Order::relaxed;
  for (std::string_view s : kStrongWords)
    if (b.mods().take(s))
      flags |= kStrong, order = s == "acquire" ? Order::acquire : s == "release" ? Order::release : order;
  if (b.mods().take("volatile")) flags |= kStrong | kVolatile;
  b.mods().take("weak");
  const Scope scope = take_scope(b);
  const bool hinted = b.insn().opcode.find(".L2::cache_hint") != std::string::npos;
  for (std::string_view s : kHints) b.mods().take(s);
  bool cluster = false;
  Space space = take_space(b, &cluster);
  if (cluster) flags |= kClusterSpace;
  size_t vector = b.mods().take("v2") ? 2 : b.mods().take("v4") ? 4 : b.mods().take("v8") ? 8 : 1;
  auto type = b.mods().take_type();
  if (!type || row(*type).bits > 128) return b.unsupported_form(b.insn().opcode);
  b.expect_operands(2, hinted ? 3 : 2);
  const Operand& data = b.operand(is_store ? 1 : 0);
  const Operand& where = b.operand(is_store ? 0 : 1);
  std::vector<Operand> parts = data.kind == Operand::Kind::vector ? data.parts : std::vector<Operand>{data};
  if (parts.size() != vector) return b.fail("the vector has " + std::to_string(parts.size()) + " members");
  std::vector<uint32_t> registers;
  bool wide = row(*type).bits == 64;
  for (const Operand& o : parts) {
    const bool sink = o.kind == Operand::Kind::sink;
    if (*type == Type::b128) {  // two words of 64 bits
      const uint32_t at = is_store ? b.source(o, *type) : b.destination(o, *type);
      registers.insert(registers.end(), {at, at + kHighLanes});
    } else if (sink) registers.push_back(kNone);
    else if (b.register_type(o)) registers.push_back(b.data_register(o, wide));
    else if (is_store) registers.push_back(b.source(o, *type));
    else return b.fail("a register is expected in " + b.insn().opcode);
  }
  if (*type == Type::b128) type = Type::b64, vector *= 2, wide = true;
  if (space == Space::param) {  // of a called function: bound to the caller's local memory
    if (auto s = b.symbol_space(where)) space = *s;
  }
  const AddressOperand address = b.address(where);
  const ExecFn exec = is_store ? store_for(*type, wide) : load_for(*type, wide, space == Space::param && address.base == kNone);
  if (!exec) return b.fail("a 64-bit register is expected in " + b.insn().opcode);
  if (flags & kStrong && space != Space::shared) b.program().orders_ctas = true;
  Insn& i = b.emit(exec);
  i.a = static_cast<uint8_t>(space), i.b = flags, i.d = order_and_scope(order, scope);
  i.bytes = static_cast<uint16_t>(byte_size(*type));
  set_address(i, address);
  i.list = b.list(registers), i.list_count = static_cast<uint32_t>(vector), i.list_dst = is_store ? 0 : i.list_count;
}

}  // namespace tc::sim
