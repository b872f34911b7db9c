// Exchanges inside a warp: shuffles, votes, matches, reductions over the 32 lanes. PTX ISA (shfl.sync),
// (vote.sync), (match.sync). Fails: a lane that takes part in the exchange's mask but not in the exchange.
#include <algorithm>
#include <bit>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {
constexpr int32_t kWarp = 32;

// f(lane of the group, lane of the warp) for the active lanes of the warp of `lane`.
template <class F>
void warp(const Call& c, size_t lane, F&& f) {
  int32_t first = c.thread(lane) / kWarp * kWarp;
  for (int32_t t = first; t < first + kWarp; ++t)
    if (auto l = c.lane_of(t)) f(*l, t - first);
}

void shuffle(Call& c, std::string_view name) {
  if (c.cta.p.m[c.op.operands[0]].type.lanes > 1)
    stop_unsupported(c.op, "a shuffle of vectors, in the tile interpreter");
  c.result([&](size_t l) {
    int32_t lane = c.thread(l) % kWarp, base = c.thread(l) - lane;
    int32_t width = static_cast<int32_t>(c.at(2, l).i), by = static_cast<int32_t>(c.at(1, l).i);
    if (width < 1 || width > kWarp || !std::has_single_bit(static_cast<uint32_t>(width)))
      stop(c.op, "the width of a shuffle is a power of two up to 32, not " + std::to_string(width));
    int32_t segment = lane / width * width, from = lane;
    if (name == "shfl_sync") from = segment + (by & (width - 1));
    else if (name == "shfl_xor") from = (lane ^ by) < segment + width ? lane ^ by : lane;
    else if (name == "shfl_down") from = lane + by < segment + width ? lane + by : lane;
    else from = lane - by >= segment ? lane - by : lane;
    auto source = c.lane_of(base + from);
    if (!source) stop(c.op, "thread " + std::to_string(base + from) + " does not take part in the shuffle");
    return c.at(0, *source);
  });
}

void vote(Call& c, std::string_view name) {
  c.result([&](size_t l) {
    uint64_t set = 0, present = 0;
    warp(c, l, [&](size_t other, int32_t bit) {
      present |= uint64_t{1} << bit;
      if (name != "activemask" && c.at(0, other).i) set |= uint64_t{1} << bit;
    });
    bool masked = c.op.operands.size() == 2;
    uint64_t members = masked ? static_cast<uint64_t>(c.at(1, l).i) : present;
    if (masked && (members & ~present)) stop(c.op, "threads of the mask do not take part in the vote");
    if (name == "activemask") return of(static_cast<int64_t>(present));
    if (name == "any_sync") return of(int64_t{(set & members) != 0});
    if (name == "all_sync") return of(int64_t{(set & members) == members});
    return of(static_cast<int64_t>(set & members));
  });
}

void match(Call& c, bool all) {
  c.result([&](size_t l) {
    uint64_t equal = 0, members = static_cast<uint64_t>(c.at(1, l).i);
    warp(c, l, [&](size_t other, int32_t bit) {
      if (c.at(0, other) == c.at(0, l)) equal |= uint64_t{1} << bit;
    });
    equal &= members;
    return of(static_cast<int64_t>(all && equal != members ? 0 : equal));
  });
}

void warp_reduce(Call& c, OpKind kind) {
  Binary f = binary_function(kind, c.type(0));
  if (!f) stop_unsupported(c.op, "this reduction of this type");
  c.result([&](size_t l) {
    std::optional<Number> sum;
    warp(c, l, [&](size_t other, int32_t) { sum = sum ? f(c.type(0), *sum, c.at(0, other)) : c.at(0, other); });
    return *sum;
  });
}

// True in the first thread of every group of so many; 0: of the CTA.
void elect(Call& c) {
  int64_t threads = int_attr(c.op, "threads", 0);
  c.result([&](size_t l) { return of(int64_t{threads ? c.thread(l) % threads == 0 : c.thread(l) == 0}); });
}

constexpr CallRow kRows[] = {
    {"shfl_sync", [](Call& c) { shuffle(c, "shfl_sync"); }},
    {"shfl_xor", [](Call& c) { shuffle(c, "shfl_xor"); }},
    {"shfl_down", [](Call& c) { shuffle(c, "shfl_down"); }},
    {"shfl_up", [](Call& c) { shuffle(c, "shfl_up"); }},
    {"any_sync", [](Call& c) { vote(c, "any_sync"); }},
    {"all_sync", [](Call& c) { vote(c, "all_sync"); }},
    {"ballot_sync", [](Call& c) { vote(c, "ballot_sync"); }},
    {"ballot", [](Call& c) { vote(c, "ballot"); }},
    {"activemask", [](Call& c) { vote(c, "activemask"); }},
    {"match_any_sync", [](Call& c) { match(c, false); }},
    {"match_all_sync", [](Call& c) { match(c, true); }},
    {"warp_reduce_sum", [](Call& c) { warp_reduce(c, OpKind::add); }},
    {"warp_reduce_max", [](Call& c) { warp_reduce(c, OpKind::max); }},
    {"warp_reduce_min", [](Call& c) { warp_reduce(c, OpKind::min); }},
    {"warp_reduce_bitand", [](Call& c) { warp_reduce(c, OpKind::bit_and); }},
    {"warp_reduce_bitor", [](Call& c) { warp_reduce(c, OpKind::bit_or); }},
    {"shuffle_elect", elect},
};
}  // namespace

std::span<const CallRow> exchange_rows() { return kRows; }

// Also what one elected lane of a warp does for all: the lanes have to be together to elect one.
bool is_exchange(const Op& op) {
  if (op.kind != OpKind::call) return false;
  static constexpr std::string_view kNames[] = {"any_sync",           "all_sync",          "ballot_sync",
                                                "tcgen05_mma_arrive", "tcgen05_cp_warpx4", "tcgen05_sf_warp_transpose"};
  std::string_view name = text_attr(op, "name", "");
  return name.starts_with("shfl_") || name.starts_with("match_") || name.starts_with("warp_reduce_") ||
         is_matrix_instruction(name) || std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace tc::ir::interp
