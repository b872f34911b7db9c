// Pass init_barriers, device → device. After the last allocation of mbarriers in the launch:
//   elected {thread=0} { mbarrier_init full, 0 {count=1}; …; fence_mbarrier_init }   sync_threads
// so every barrier is initialised once and all of the CTA is ordered after it (MBAR-03, FENCE-05).
#include "compiler/passes/passes.h"
#include "specs/mbarrier.h"

namespace tc::ir {
namespace {

Status init_launch(Module& m, OpId launch) {
  BlockId body = m[launch].blocks[0];
  std::vector<OpId> before, allocs;
  size_t last = 0;
  for (size_t i = 0; i < m[body].ops.size(); ++i) {
    OpId id = m[body].ops[i];
    if (m[id].kind != OpKind::alloc || m[m[id].results[0]].type.space != Space::barrier) continue;
    allocs.push_back(id);
    last = i + 1;
  }
  if (allocs.empty()) return {};
  std::vector<OpId> rest(m[body].ops.begin() + static_cast<std::ptrdiff_t>(last), m[body].ops.end());
  m[body].ops.resize(last);
  Builder b(m, body);
  b.loc = m[allocs[0]].loc;
  OpId one = b.nest(OpKind::elected, {}, {});
  set_attr(m[one].attrs, "thread", MetaInt(0));
  Builder inner(m, m[one].blocks[0]);
  for (OpId id : allocs) {
    inner.loc = m[id].loc;
    const AttrValue* a = find_attr(m[id].attrs, "counts");
    const auto* counts = a ? std::get_if<std::vector<MetaInt>>(a) : nullptr;
    if (!counts) return unsupported(place(m[id]), "an mbarrier without constant arrival counts");
    std::vector<MetaInt> list = *counts;
    ValueId barrier = m[id].results[0];
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].value < 1 || list[i].value > kMbarrierMaxCount) {
        Diag d =
            input_error(place(m[id]), "an mbarrier counts 1 to 1048575 arrivals, not " + std::to_string(list[i].value));
        d.kind = DiagKind::violation;
        d.rule = "MBAR-02";
        return d;
      }
      OpId init = inner.op(OpKind::mbarrier_init, {barrier, inner.constant(MetaInt(static_cast<int64_t>(i)))});
      set_attr(m[init].attrs, "count", list[i]);
      m[init].text_loc = m[id].text_loc;
    }
  }
  inner.op(OpKind::fence_mbarrier_init, {});
  b.op(OpKind::sync_threads, {});
  m[body].ops.insert(m[body].ops.end(), rest.begin(), rest.end());
  return {};
}

}  // namespace

Status init_barriers(Module& m, const PassContext&) {
  for (const Func& f : m.funcs)
    for (OpId id : std::vector<OpId>(m[f.body].ops))
      if (m[id].kind == OpKind::launch)
        if (Status s = init_launch(m, id); !s) return s;
  return {};
}

}  // namespace tc::ir
