// Which instructions compute registers that a wgmma uses, for the check of WGMMA-10. Decided once a program: the
// operands of all wgmma and, going back through plain moves, what they were copied from. Such an instruction is executed
// through a body that notes it; all others cost nothing.
//   cvt %r7   mov %r8, %r7   wgmma {%r8 ...}     the cvt is noted, and the mov, which passes on what %r7 is
#include "sim/exec/builder.h"
#include "sim/machine/wgmma_guard.h"

namespace tc::sim {
namespace {

Step noted(Warp& w, const Insn& i) {
  const Program& p = w.cta->program;
  const Step s = p.noted_bodies[static_cast<size_t>(&i - p.code.data())](w, i);
  note_computed(w, i);
  return s;
}

// By offset / 64.
std::vector<bool> registers_of_wgmma(const Program& p) {
  std::vector<bool> used(p.register_bytes / 64 + 1, false);
  for (const Insn& i : p.code)
    for (uint32_t k = 0; k < i.list_count && i.kind == InsnKind::wgmma; ++k) used[p.lists[i.list + k] / 64] = true;
  for (bool more = true; more;) {
    more = false;
    for (const Insn& i : p.code)
      if (i.kind == InsnKind::move && used[i.dst / 64] && !used[i.src[0] / 64]) used[i.src[0] / 64] = more = true;
  }
  return used;
}

}  // namespace

void note_wgmma_operands(Program& p) {
  if (!p.uses_wgmma) return;
  const std::vector<bool> used = registers_of_wgmma(p);
  auto writes = [&](const Insn& i) {
    if (i.dst != kNone && used[i.dst / 64]) return true;
    for (uint32_t k = 0; k < i.list_dst; ++k)
      if (const uint32_t at = p.lists[i.list + k]; at != kNone && used[at / 64]) return true;
    return false;
  };
  p.noted_bodies.assign(p.code.size(), nullptr);
  for (size_t k = 0; k < p.code.size(); ++k) {
    Insn& i = p.code[k];
    if ((i.kind != InsnKind::plain && i.kind != InsnKind::move) || !i.exec || !writes(i)) continue;
    p.noted_bodies[k] = std::exchange(i.exec, noted);
  }
}

}  // namespace tc::sim
