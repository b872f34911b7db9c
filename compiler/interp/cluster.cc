// Calls about other CTAs and tensor memory: ranks, remote arrivals, cluster launch control, copies of scales.
//  * Cluster launch control hands out the next clusters that were not started (PTX ISA): the 16 bytes of a
//    result are opaque to a program; here they are the first CTA's x, y, z and 1, or four zeros where none is left.
//    They complete 16 bytes on the mbarrier.
//  * tcgen05.cp .32x128b.warpx4 (PTX ISA): 32 rows of four words go to lanes 0 … 31, columns c … c + 3, and
//    again to the lanes of the other three warps. The words before it are packed by tcgen05_sf_warp_transpose: word
//    32 i + j of every 128 becomes word 4 j + i (TileLang, tcgen_05.h).
#include <array>
#include <set>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

// The CTAs of a tcgen05 pair, or this one.
std::vector<Cta*> pair_of(Call& c, const char* attribute) {
  if (!int_attr(c.op, attribute, 0)) return {&c.cta};
  size_t even = static_cast<size_t>(c.cta.rank / 2 * 2);
  if (c.cta.cluster.size() < even + 2) stop(c.op, "an operation of two CTAs outside of a cluster");
  return {c.cta.cluster[even], c.cta.cluster[even + 1]};
}

Cta& peer(Call& c, int64_t rank) {
  if (rank < 0 || rank >= static_cast<int64_t>(c.cta.cluster.size()))
    stop(c.op, "CTA " + std::to_string(rank) + " of a cluster of " + std::to_string(c.cta.cluster.size()));
  return *c.cta.cluster[static_cast<size_t>(rank)];
}

void arrive_at(Cta& cta, Call& c, size_t lane) {
  Mbarrier& b = mbarrier_at(cta, c.op, c.op.operands[0], c.at(1, lane).i);
  if (b.pending == 0) stop(c.op, "an arrival beyond the count of " + std::to_string(b.count));
  --b.pending;
  settle(b);
}

void arrive_remote(Call& c) {
  c.each([&](size_t l) { arrive_at(peer(c, c.at(2, l).i), c, l); });
}

// One elected thread of every warp arrives.
void mma_arrive(Call& c) {
  std::set<int32_t> warps;
  c.each([&](size_t l) {
    if (!warps.insert(c.thread(l) / 32).second) return;
    for (Cta* cta : pair_of(c, "arrive_2cta")) arrive_at(*cta, c, l);
  });
}

void arrive_of_copies(Call& c) {
  c.each([&](size_t l) { arrive_at(c.cta, c, l); });
}

// ---- cluster launch control
void try_cancel(Call& c, bool everywhere) {
  Program& p = c.cta.p;
  c.each([&](size_t l) {
    int64_t first = p.next_cta.fetch_add(p.cluster_count);
    std::array<int64_t, 4> words{};
    if (first < p.cta_count) {
      int64_t rest = first;
      for (size_t d = 0; d < p.grid.size() && d < 3; ++d) words[d] = rest % p.grid[d], rest /= p.grid[d];
      words[3] = 1;
    }
    Elements to = elements_of(c.cta, c.g, c.op, c.op.operands[0], l);
    int64_t bytes = int64_t{info(to.mem.dtype).bits} * to.count / 8;
    if (bytes < 16) stop(c.op, "the result of a request has 16 bytes, not " + std::to_string(bytes));
    for (Cta* cta : everywhere ? c.cta.cluster : std::vector<Cta*>{&c.cta}) {
      Memory mem = cta == &c.cta ? to.mem : memory_of_peer(c.cta, *cta, c.op, to.mem);
      uint8_t* data = mem.data + to.first * info(mem.dtype).bits / 8;
      for (int64_t k = 0; k < 4; ++k) store(DType::u32, data, k, of(words[static_cast<size_t>(k)]));
      Mbarrier& b = mbarrier_at(*cta, c.op, c.op.operands[1], c.at(2, l).i);
      b.tx -= 16;
      settle(b);
    }
  });
}

void decode_result(Call& c, int64_t word) {
  c.result([&](size_t l) {
    Elements from = elements_of(c.cta, c.g, c.op, c.op.operands[0], l);
    return load(DType::u32, from.mem.data + from.first * info(from.mem.dtype).bits / 8, word);
  });
}

// ---- scales on their way to tensor memory
void copy_scales(Call& c) {
  std::vector<Cta*> ctas = pair_of(c, "use_2cta");
  bool done = false;  // one elected thread issues
  c.each([&](size_t l) {
    if (std::exchange(done, true)) return;
    Elements from = elements_of(c.cta, c.g, c.op, c.op.operands[0], l),
             to = elements_of(c.cta, c.g, c.op, c.op.operands[1], l);
    int64_t column = to.first + c.at(2, l).i, columns = to.mem.strides.empty() ? 0 : to.mem.strides[0];
    bool words = info(from.mem.dtype).bits == 32 && info(to.mem.dtype).bits == 32;
    if (!words || to.mem.shape.size() != 2 || from.count % 128 != 0)
      stop(c.op, "scales are chunks of 128 words of 32 bits, and go to tensor memory of such words");
    for (Cta* cta : ctas) {
      Memory source = cta == &c.cta ? from.mem : memory_of_peer(c.cta, *cta, c.op, from.mem),
             target = cta == &c.cta ? to.mem : memory_of_peer(c.cta, *cta, c.op, to.mem);
      for (int64_t n = 0; n < from.count; ++n) {
        int64_t row = n % 128 / 4, at = column + n / 128 * 4 + n % 4;
        if (at >= columns) stop(c.op, "column " + std::to_string(at) + " of " + std::to_string(columns));
        Number word = load(source.dtype, source.data, from.first + n);
        for (int64_t lane = row; lane < target.shape[0]; lane += 32)
          store(target.dtype, target.data, lane * columns + at, word);
      }
    }
  });
}

// A warp transposes every chunk of 4 x 32 words; it does so once, whatever threads are listed.
void transpose_scales(Call& c) {
  bool done = false;
  c.each([&](size_t l) {
    if (std::exchange(done, true)) return;
    Elements e = elements_of(c.cta, c.g, c.op, c.op.operands[0], l);
    if (info(e.mem.dtype).bits != 32 || e.count % 128 != 0) stop(c.op, "scales are chunks of 128 words of 32 bits");
    for (int64_t chunk = 0; chunk < e.count; chunk += 128) {
      std::array<Number, 128> words;
      for (int64_t n = 0; n < 128; ++n)
        words[static_cast<size_t>(n)] = load(e.mem.dtype, e.mem.data, e.first + chunk + n);
      for (int64_t n = 0; n < 128; ++n)
        store(e.mem.dtype, e.mem.data, e.first + chunk + n % 32 * 4 + n / 32, words[static_cast<size_t>(n)]);
    }
  });
}

constexpr CallRow kRows[] = {
    {"block_rank_in_cluster", [](Call& c) { c.result([&](size_t) { return of(c.cta.rank); }); }, true},
    {"mbarrier_arrive_remote", arrive_remote},
    {"tcgen05_mma_arrive", mma_arrive},
    {"cp_async_barrier_noinc", arrive_of_copies},
    {"clc_try_cancel", [](Call& c) { try_cancel(c, false); }},
    {"clc_try_cancel_multicast", [](Call& c) { try_cancel(c, true); }},
    {"clc_is_canceled", [](Call& c) { decode_result(c, 3); }},
    {"clc_get_first_ctaid_x", [](Call& c) { decode_result(c, 0); }},
    {"clc_get_first_ctaid_y", [](Call& c) { decode_result(c, 1); }},
    {"clc_get_first_ctaid_z", [](Call& c) { decode_result(c, 2); }},
    {"tcgen05_cp_warpx4", copy_scales},
    {"tcgen05_sf_warp_transpose", transpose_scales},
};
}  // namespace

std::span<const CallRow> cluster_rows() { return kRows; }

}  // namespace tc::ir::interp
