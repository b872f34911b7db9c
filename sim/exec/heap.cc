// malloc and free in a kernel: blocks of the device's heap (kDeviceHeapBytes of them alive at a time), each an allocation
// with the name of the line that made it. An access behind its end or after free is BOUND-01 and names it; so is a free of
// what malloc did not return. What is never freed is not reported: another kernel may do it.
//   malloc(64) at a.cu:12, then a store at byte 64: "over the end of 'malloc at a.cu:12' (64 bytes)"
// Blocks are zero, those of a device are not. Source: CUDA C++ programming guide, dynamic global memory allocation.
#include "sim/exec/external.h"
#include "sim/exec/lanes.h"

namespace tc::sim {

Step heap_allocate(Warp& w, const Insn& i) {
  const SourceRange& at = w.cta->program.places[i.place].where.front();
  const std::string name = "malloc at " + place_text(at);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const Allocation* a = w.cta->global.allocate_from_heap(name, argument(w, i, 0, l));
    set_result(w, i, l, a ? a->address : 0);
  }
  return Step::next;
}

Step heap_free(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    const uint64_t address = argument(w, i, 0, l);
    if (address == 0 || w.cta->global.free_to_heap(address)) continue;
    const Allocation* a = w.cta->global.nearest(address);
    const bool again = a && a->gone && a->address == address;
    return w.cta->fault("BOUND-01", i.place,
                        again ? "free of '" + a->name + "', which has been freed"
                              : "free of an address that malloc did not return (thread " +
                                    std::to_string(32 * w.index + l) + ")");
  }
  return Step::next;
}

}  // namespace tc::sim
