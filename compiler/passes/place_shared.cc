// Pass place_shared, device → device. Every shared buffer and mbarrier array gets a byte offset from a base that the
// kernel aligns to 1024 (LAUNCH-09: the slack is paid for here); the launch gets the total as {smem}.
//   full[3], empty[3]: 0 and 24; a f16[3,64,64] span 128: 1024, 24576 bytes; total 25600 + 1008 slack.
// Gives: offset % alignment == 0, no two overlap, total <= the limit of the target (LAUNCH-01).
#include "compiler/ir/layout.h"
#include "compiler/passes/passes.h"
#include "specs/mbarrier.h"

namespace tc::ir {
namespace {
constexpr int64_t kBaseAlign = 1024, kBaseSlack = 1024 - 16;  // dynamic shared memory is 16-byte aligned by contract

int64_t align_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }
}  // namespace

Status place_shared(Module& m, const PassContext& cx) {
  for (const Func& f : m.funcs)
    for (OpId launch : std::vector<OpId>(m[f.body].ops)) {
      if (m[launch].kind != OpKind::launch) continue;
      std::vector<OpId> barriers, buffers;
      walk(m, m[launch].blocks[0], [&](OpId id) {
        if (m[id].kind != OpKind::alloc) return;
        Space space = m[m[id].results[0]].type.space;
        if (space == Space::barrier) barriers.push_back(id);
        if (space == Space::shared) buffers.push_back(id);
      });
      int64_t at = 0;
      for (OpId id : barriers) {
        set_attr(m[id].attrs, "offset", MetaInt(at));
        at += kMbarrierBytes * m[m[id].results[0]].type.shape[0].value;
      }
      for (OpId id : buffers) {
        SharedShape shape = shared_shape(m[m[id].results[0]].type);
        assert(shape.alignment <= kBaseAlign && "the base is aligned for every layout");
        at = align_up(at, shape.alignment);
        set_attr(m[id].attrs, "offset", MetaInt(at));
        at += shape.total_bytes;
      }
      int64_t total = at == 0 ? 0 : align_up(at, 16) + kBaseSlack;
      if (total > static_cast<int64_t>(cx.arch.max_smem_bytes)) {
        Diag d = input_error(place(m[launch]), "the kernel needs " + std::to_string(total) +
                                                   " bytes of shared memory, " + std::string(cx.arch.name) + " has " +
                                                   std::to_string(cx.arch.max_smem_bytes));
        d.rule = "LAUNCH-01";
        return d;
      }
      set_attr(m[launch].attrs, "smem", MetaInt(total));
    }
  return {};
}

}  // namespace tc::ir
