// alloca, stacksave, stackrestore: PTX ISA 9.7.17. A thread's stack is a block of its local memory; how much of it is taken
// stands in the eight bytes before it, so lanes may take different amounts, and what a function took is free when it
// returns (sim/machine/calls.cc). A full stack is BOUND-01.
//   16 bytes taken, alloca.u64 p, 20, 16: p = start + 16, then 36 are taken; stacksave gives start + 36
#include <cstring>

#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"
#include "sim/machine/calls.h"

namespace tc::sim {
namespace {

using ptx::Type;

Step full(Warp& w, const Insn& i) {
  return w.cta->fault("BOUND-01", i.place, "the stack of " + std::to_string(kStackBytes) + " bytes a thread is full");
}

// imm: the alignment.
template <class T>
Step allocate(Warp& w, const Insn& i) {
  const uint64_t start = w.cta->program.stack_at + kStackHeader;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    uint64_t taken = stack_taken(w, l);
    const uint64_t size = w.reg<T>(i.src[0])[l], at = (start + taken + i.imm - 1) / i.imm * i.imm;
    taken = at - start;
    if (taken > kStackBytes || size > kStackBytes - taken) return full(w, i);
    set_stack_taken(w, l, taken + size);
    if (w.local_written.size()) std::memset(w.local_written.data() + size_t{l} * w.local_bytes + at, 0, size);
    w.reg<T>(i.dst)[l] = static_cast<T>(at);
  }
  return Step::next;
}
template <class T>
Step save(Warp& w, const Insn& i) {
  const uint64_t start = w.cta->program.stack_at + kStackHeader;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    w.reg<T>(i.dst)[l] = static_cast<T>(start + stack_taken(w, l));
  }
  return Step::next;
}
template <class T>
Step restore(Warp& w, const Insn& i) {
  const uint64_t start = w.cta->program.stack_at + kStackHeader;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t taken = w.reg<T>(i.src[0])[l] - start;
    if (taken > stack_taken(w, l)) return w.cta->fault("BOUND-01", i.place, "stackrestore of what no stacksave gave");
    set_stack_taken(w, l, taken);
  }
  return Step::next;
}

}  // namespace

void build_stack(Builder& b) {
  constexpr uint64_t kDefaultAlign = 8, kMostAlign = 1 << 23;  // 9.7.17.3
  const auto type = b.mods().take_type();
  if (type != Type::u32 && type != Type::u64) return b.unsupported_form(b.insn().opcode);
  const bool wide = type == Type::u64;
  b.reserve_stack();
  if (b.mnemonic() == "stacksave") return b.emit_typed(wide ? save<uint64_t> : save<uint32_t>, *type, {});
  if (b.mnemonic() == "stackrestore") {
    b.expect_operands(1, 1);
    const uint32_t from = b.source(0, *type);
    b.emit(wide ? restore<uint64_t> : restore<uint32_t>).src[0] = from;
    return;
  }
  b.expect_operands(2, 3);
  const uint32_t to = b.destination(0, *type), size = b.source(1, *type);
  uint64_t align = kDefaultAlign;
  if (b.insn().operands.size() == 3) {
    const auto given = b.literal(b.operand(2));
    if (!given || *given == 0 || (*given & (*given - 1)) || *given > kMostAlign)
      return b.fail("the alignment of alloca is a power of two up to 2^23");
    align = *given;
  }
  Insn& i = b.emit(wide ? allocate<uint64_t> : allocate<uint32_t>);
  i.dst = to, i.src[0] = size, i.imm = align;
}

}  // namespace tc::sim
