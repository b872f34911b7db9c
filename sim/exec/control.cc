// bra, brx.idx, ret, exit, trap, call, and the instructions that do nothing here. PTX ISA 9.7.12, 9.7.19. Branches, calls
// and leaving are carried out by the path loop (sim/machine/paths.cc).
#include "sim/exec/builder.h"
#include "sim/exec/lanes.h"

namespace tc::sim {
namespace {

Step trap(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  return c.fault("PROG-02", i.place,
                 "the kernel executes trap (thread " + std::to_string(32 * w.index + lowest_lane(w.mask)) + ")");
}
Step yield(Warp&, const Insn&) { return Step::yield; }
Step zero(Warp& w, const Insn& i) {
  for_lanes(w.mask, [&](uint32_t l) { w.reg<uint64_t>(i.dst)[l] = 0; });
  return Step::next;
}

}  // namespace

void build_control(Builder& b) {
  const std::string& op = b.mnemonic();
  b.mods().take("uni");
  if (op == "bra") return b.expect_operands(1, 1), b.branch(b.operand(0));
  if (op == "ret") return b.leave_function();
  if (op == "exit") b.emit(nullptr).kind = InsnKind::leave;
  if (op == "trap") b.emit(trap);
  if (op == "call") b.call(b.insn());
  if (op == "brx.idx") {
    b.expect_operands(2, 2);
    b.branch_table(b.operand(0), b.operand(1));
  }
}

// Prefetches and hints have no effect on values; nanosleep lets others run.
void build_nothing(Builder& b) {
  while (b.mods().take_any()) {
  }
  if (b.mnemonic() == "nanosleep") b.emit(yield);
}

// A cache policy is an opaque 64-bit value that only hints use.
void build_cache_policy(Builder& b) {
  while (b.mods().take_any()) {
  }
  const uint32_t dst = b.destination(0, ptx::Type::b64);
  b.emit(zero).dst = dst;
}

}  // namespace tc::sim
