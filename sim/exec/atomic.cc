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

template <class T>
T combine(Op op, T old, T b, T c) {
  if constexpr (!std::is_integral_v<T>) {
    if constexpr (std::is_same_v<T, Half2> || std::is_same_v<T, Bfloat2>) return T{old.lo + b.lo, old.hi + b.hi};
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) return T{old.v + b.v};
    else return op == Op::exch ? b : old + b;
  } else {
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

template <class T>
Step atomic(Warp& w, const Insn& i) {
  using Slot = typename Lane<T>::Slot;
  const Op op = static_cast<Op>(i.c);
  const uint32_t bytes = i.bytes;
  WarpAccess at;
  if (!access_memory(w, i, bytes, true, at)) return Step::trap;
  bool changed = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    Slot raw = 0;
    std::memcpy(&raw, reinterpret_cast<const void*>(at.host[l]), bytes);
    const T b = Lane<T>::get(w.reg<Slot>(i.src[1])[l]);
    const T c = i.src[2] == kNone ? b : Lane<T>::get(w.reg<Slot>(i.src[2])[l]);
    const Slot now = Lane<T>::put(combine(op, Lane<T>::get(raw), b, c));
    changed |= now != raw;
    std::memcpy(reinterpret_cast<void*>(at.host[l]), &now, bytes);
    if (i.dst != kNone) w.reg<Slot>(i.dst)[l] = raw;
  }
  w.cta->progress += changed;  // a lock that is tried in vain is a spin
  if (w.cta->race) note_access(w, i, at, bytes, Access::strong_write);
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
    default: return nullptr;
  }
}

}  // namespace

void build_atomic(Builder& b) {
  const bool returns = b.mnemonic() == "atom";
  constexpr std::string_view kOrders[] = {"relaxed", "acquire", "release", "acq_rel"};
  uint8_t order = 0;
  for (uint8_t k = 0; k < std::size(kOrders); ++k)
    if (b.mods().take(kOrders[k])) order = k;
  for (std::string_view s : {"cta", "cluster", "gpu", "sys", "noftz"}) b.mods().take(s);
  bool cluster = false;
  const Space space = take_space(b, &cluster);
  Op op = Op::add;
  bool found = false;
  for (size_t k = 0; k < std::size(kOps) && !found; ++k)
    if (b.mods().take(kOps[k])) op = static_cast<Op>(k), found = true;
  const auto type = b.mods().take_type();
  const ExecFn exec = type ? atomic_for(*type) : nullptr;
  if (!found || !exec || (is_real(*type) && op != Op::add && op != Op::exch))
    return b.unsupported_form(b.insn().opcode);
  const size_t first = returns ? 1 : 0, values = op == Op::cas ? 2 : 1;
  b.expect_operands(first + 1 + values, first + 1 + values);
  const uint32_t dst = returns ? b.destination(0, *type) : kNone;
  const AddressOperand address = b.address(b.operand(first));
  const uint32_t x = b.source(first + 1, *type), y = values == 2 ? b.source(first + 2, *type) : kNone;
  if (space != Space::shared) b.program().orders_ctas = true;
  Insn& i = b.emit(exec);
  i.a = static_cast<uint8_t>(space), i.c = static_cast<uint8_t>(op), i.d = order;
  i.bytes = static_cast<uint16_t>(byte_size(*type));
  if (cluster) i.b |= kClusterSpace;
  set_address(i, address);
  i.dst = dst, i.src[1] = x, i.src[2] = y;
}

}  // namespace tc::sim
