// atom and red on shared and global memory. PTX ISA 9.7.13.5, 9.7.13.6. Lanes act one after another in lane order;
// kernels with global atomics have their CTAs run one after another, so results do not depend on the number of threads.
#include <cstring>

#include "sim/exec/access.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

enum class Op : uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch, cas };
constexpr std::string_view kOps[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};

// Sums of floats: in global memory f32 flushes subnormals and f64 passes NaN on unquieted, in shared memory they are
// those of add.f32 and add.f64 (H200; the compiler makes a loop of compare-and-swap there).
float sum(float a, float b, bool global) {
  if (!global) return canonical(a + b);
  return canonical(flush(flush(a) + flush(b)));
}
double sum(double a, double b, bool global) {
  if (global && (a != a || b != b)) return b != b ? b : a;
  return with_nan(a + b, b, a);
}
float half_extreme(float a, float b, bool max) {
  const bool first = a == b ? std::signbit(a) != max : (a < b) != max;
  return a != a ? b : b != b ? a : first ? a : b;
}
float half_result(Op op, float a, float b) { return op == Op::add ? a + b : half_extreme(a, b, op == Op::max); }
template <class T>
T combine(Op op, T old, T b, T c, bool global) {
  if constexpr (std::is_floating_point_v<T>) return op == Op::exch ? b : sum(old, b, global);
  else if constexpr (std::is_same_v<T, Half2> || std::is_same_v<T, Bfloat2>)
    return T{half_result(op, old.lo, b.lo), half_result(op, old.hi, b.hi)};
  else if constexpr (!std::is_integral_v<T>) return T{half_result(op, old.v, b.v)};
  else {
    switch (op) {
      case Op::add: return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(b));
      case Op::min: return std::min(old, b);
      case Op::max: return std::max(old, b);
      case Op::inc: return old >= b ? 0 : static_cast<T>(old + 1);
      case Op::dec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
      case Op::and_: return static_cast<T>(old & b);
      case Op::or_: return static_cast<T>(old | b);
      case Op::xor_: return static_cast<T>(old ^ b);
      case Op::exch: return b;
      case Op::cas: return old == b ? c : old;
    }
  }
  return old;
}
// An update that changes nothing, a lock that is tried in vain, is a look.
void note_progress(Warp& w, bool changed, const WarpAccess& at) {
  if (changed) ++w.cta->progress;
  else if (w.mask) w.polls.look(at.host[lowest_lane(w.mask)]);
}
bool in_global(const WarpAccess& at, uint32_t lane) { return (at.mixed ? at.spaces[lane] : at.space) == Space::global; }

// Insn::list: the registers for what was there (none for red), then those of the operands, Insn::list_dst elements
// each. A vector is atomic element by element.
template <class T>
Step atomic(Warp& w, const Insn& i) {
  using Slot = typename Lane<T>::Slot;
  const Op op = static_cast<Op>(i.c);
  const uint32_t count = i.vector, bytes = i.bytes;
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  const uint32_t *dst = list, *values = list + i.list_dst, *others = values + (i.list_count - i.list_dst - count);
  WarpAccess at;
  if (!access_memory(w, i, bytes * count, true, at)) return Step::trap;
  bool changed = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    for (uint32_t k = 0; k < count; ++k) {
      const auto host = at.host[l] + k * bytes;
      Slot raw = 0;
      std::memcpy(&raw, reinterpret_cast<const void*>(host), bytes);
      const T b = Lane<T>::get(w.reg<Slot>(values[k])[l]), c = Lane<T>::get(w.reg<Slot>(others[k])[l]);
      const Slot now = Lane<T>::put(combine(op, Lane<T>::get(raw), b, c, in_global(at, l)));
      changed |= now != raw;
      std::memcpy(reinterpret_cast<void*>(host), &now, bytes);
      if (k < i.list_dst && dst[k] != kNone) w.reg<Slot>(dst[k])[l] = raw;
    }
  }
  note_progress(w, changed, at);
  if (w.cta->race) note_access(w, i, at, bytes * count, Access::strong_write);
  return Step::next;
}

// exch and cas of 128 bits: a register is its low 64-bit lanes and, kHighLanes bytes behind, its high ones.
Step atomic_128(Warp& w, const Insn& i) {
  struct Value {
    uint64_t low, high;
    bool operator==(const Value&) const = default;
  };
  const uint32_t* list = w.cta->program.lists.data() + i.list;
  auto get = [&](uint32_t at, uint32_t l) {
    return Value{w.reg<uint64_t>(at)[l], w.reg<uint64_t>(at + kHighLanes)[l]};
  };
  WarpAccess at;
  if (!access_memory(w, i, sizeof(Value), true, at)) return Step::trap;
  bool changed = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    Value old;
    std::memcpy(&old, reinterpret_cast<const void*>(at.host[l]), sizeof old);
    const Value b = get(list[1], l);
    const bool cas = static_cast<Op>(i.c) == Op::cas;
    const Value now = !cas ? b : old == b ? get(list[2], l) : old;
    changed |= !(now == old);
    std::memcpy(reinterpret_cast<void*>(at.host[l]), &now, sizeof now);
    w.reg<uint64_t>(list[0])[l] = old.low, w.reg<uint64_t>(list[0] + kHighLanes)[l] = old.high;
  }
  note_progress(w, changed, at);
  if (w.cta->race) note_access(w, i, at, sizeof(Value), Access::strong_write);
  return Step::next;
}

ExecFn atomic_for(Type t) {
  switch (t) {
    case Type::u32:
    case Type::b32: return atomic<uint32_t>;
    case Type::s32: return atomic<int32_t>;
    case Type::u64:
    case Type::b64: return atomic<uint64_t>;
    case Type::s64: return atomic<int64_t>;
    case Type::b16: return atomic<uint16_t>;
    case Type::f32: return atomic<float>;
    case Type::f64: return atomic<double>;
    case Type::f16: return atomic<Half>;
    case Type::bf16: return atomic<Bfloat>;
    case Type::f16x2: return atomic<Half2>;
    case Type::bf16x2: return atomic<Bfloat2>;
    case Type::b128: return atomic_128;
    default: return nullptr;
  }
}

bool applies(Op op, Type t) {
  const bool halves = t == Type::f16 || t == Type::bf16 || t == Type::f16x2 || t == Type::bf16x2;
  if (t == Type::b128) return op == Op::exch || op == Op::cas;
  if (halves) return op == Op::add || op == Op::min || op == Op::max;
  return !is_real(t) || op == Op::add || op == Op::exch;
}

// The registers of a scalar or vector operand, behind each other in `out`.
void take_registers(Builder& b, const Operand& o, Type t, uint32_t count, bool writes, std::vector<uint32_t>& out) {
  const std::vector<Operand> parts = o.kind == Operand::Kind::vector ? o.parts : std::vector<Operand>{o};
  if (parts.size() != count) return b.fail("the vector has " + std::to_string(parts.size()) + " members");
  for (const Operand& p : parts) {
    if (writes && p.kind == Operand::Kind::sink) out.push_back(b.scratch(row(t).bits));
    else out.push_back(writes ? b.destination(p, t) : b.source(p, t));
  }
}

}  // namespace

void build_atomic(Builder& b) {
  const bool returns = b.mnemonic() == "atom";
  constexpr std::string_view kOrders[] = {"relaxed", "acquire", "release", "acq_rel"};
  uint8_t order = 0;
  for (uint8_t k = 0; k < std::size(kOrders); ++k)
    if (b.mods().take(kOrders[k])) order = k;
  const Scope scope = take_scope(b);
  b.mods().take("noftz");
  const bool hinted = b.mods().take("L2::cache_hint");
  bool cluster = false;
  const Space space = take_space(b, &cluster);
  Op op = Op::add;
  bool found = false;
  for (size_t k = 0; k < std::size(kOps) && !found; ++k)
    if (b.mods().take(kOps[k])) op = static_cast<Op>(k), found = true;
  const uint32_t count = b.mods().take("v2") ? 2 : b.mods().take("v4") ? 4 : b.mods().take("v8") ? 8 : 1;
  const auto type = b.mods().take_type();
  const ExecFn exec = type ? atomic_for(*type) : nullptr;
  if (!found || !exec || !applies(op, *type)) return b.unsupported_form(b.insn().opcode);
  const size_t first = returns ? 1 : 0, values = op == Op::cas ? 2 : 1;
  b.expect_operands(first + 1 + values, first + 1 + values + hinted);
  std::vector<uint32_t> registers;
  if (returns) take_registers(b, b.operand(0), *type, count, true, registers);
  const AddressOperand address = b.address(b.operand(first));
  for (size_t k = 0; k < values; ++k) take_registers(b, b.operand(first + 1 + k), *type, count, false, registers);
  if (b.failed()) return;
  if (space != Space::shared) b.program().orders_ctas = true;
  Insn& i = b.emit(exec);
  i.a = static_cast<uint8_t>(space), i.c = static_cast<uint8_t>(op), i.d = order_and_scope(static_cast<Order>(order), scope);
  i.bytes = static_cast<uint16_t>(byte_size(*type)), i.vector = static_cast<uint8_t>(count);
  if (cluster) i.b |= kClusterSpace;
  set_address(i, address);
  i.list = b.list(registers), i.list_count = static_cast<uint32_t>(registers.size());
  i.list_dst = returns ? count : 0;
}

}  // namespace tc::sim
