// Clusters: barrier.cluster, mapa, getctarank. PTX ISA 9.7.13.3, 9.7.9.22, 9.7.9.23.
// An address of the shared window of a cluster names its CTA in bits 24 ... 31 (sim/machine/cluster.h):
//   mapa of 0x01000400 (CTA 1) to rank 3 is 0x03000400
#include "sim/machine/cluster.h"

#include "sim/exec/builder.h"
#include "sim/exec/collective.h"

namespace tc::sim {
namespace {

using ptx::Type;

// Insn: a: arrive.relaxed, b: .aligned
Step cluster_arrive(Warp& w, const Insn& i) {
  if (i.b) check_converged(w, i, "CLUST-05");
  w.cta->note_event(EventKind::cluster_barrier, w, i.place);
  arrive_cluster(w, !i.a, i.place);
  return Step::next;
}

// Lanes may have arrived for different generations only by misuse; the path waits for the newest of them.
Step cluster_wait(Warp& w, const Insn& i) {
  Cluster& c = w.cta->cluster;
  if (i.b) check_converged(w, i, "CLUST-05");
  uint64_t newest = 0;
  for_lanes(w.mask, [&](uint32_t l) { newest = std::max(newest, w.cluster_generation[l]); });
  if (c.barrier.generation <= newest) {
    w.path->wait = Wait{};
    w.path->wait.kind = Wait::Kind::cluster;
    w.path->wait.again = true;
    w.path->wait.number = newest;
    return Step::blocked;
  }
  if (c.race) c.race->acquire(w.agent, w.mask, c.barrier.previous);
  w.cta->note_event(EventKind::cluster_barrier, w, i.place);
  return Step::next;
}

// The rank bits of a shared address of either width; generic addresses keep their window.
template <class T>
Step map_address(Warp& w, const Insn& i) {
  const auto *a = w.reg<T>(i.src[0]);
  const auto* rank = w.reg<uint32_t>(i.src[1]);
  T* d = w.reg<T>(i.dst);
  const auto count = static_cast<uint32_t>(w.cta->launch.cluster.count());
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    if (rank[l] >= count)
      return w.cta->fault("CLUST-08", i.place,
                          "mapa to rank " + std::to_string(rank[l]) + " in a cluster of " + std::to_string(count));
    d[l] = (a[l] & ~static_cast<T>(kRankMask)) | static_cast<T>(rank[l]) << kRankShift;
  }
  return Step::next;
}
template <class T>
Step rank_of(Warp& w, const Insn& i) {
  const auto* a = w.reg<T>(i.src[0]);
  auto* d = w.reg<uint32_t>(i.dst);
  for_lanes(w.mask, [&](uint32_t l) { d[l] = static_cast<uint32_t>(a[l] & kRankMask) >> kRankShift; });
  return Step::next;
}

}  // namespace

void build_cluster_barrier(Builder& b) {
  const bool relaxed = b.mods().take("relaxed");
  for (std::string_view m : {"release", "acquire"}) b.mods().take(m);
  const bool aligned = b.mods().take("aligned");
  b.expect_operands(0, 0);
  Insn& i = b.emit(b.mnemonic() == "barrier.cluster.arrive" ? cluster_arrive : cluster_wait);
  i.a = relaxed, i.b = aligned;
}

void build_cluster_address(Builder& b) {
  b.mods().take("shared::cluster");
  const auto type = b.mods().take_type();
  if (!type || (*type != Type::u32 && *type != Type::u64)) return b.unsupported_form(b.insn().opcode);
  const bool wide = row(*type).bits == 64, map = b.mnemonic() == "mapa";
  b.expect_operands(map ? 3 : 2, map ? 3 : 2);
  const uint32_t dst = b.destination(0, map ? *type : Type::u32), a = b.source(1, *type),
                 rank = map ? b.source(2, Type::u32) : kNone;
  Insn& i = b.emit(map ? (wide ? map_address<uint64_t> : map_address<uint32_t>)
                       : (wide ? rank_of<uint64_t> : rank_of<uint32_t>));
  i.dst = dst, i.src = {a, rank, kNone, kNone};
}

}  // namespace tc::sim
