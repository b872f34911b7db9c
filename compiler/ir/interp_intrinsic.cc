// Intrinsics of the interpreter that are no functions of one thread's operands: exchanges inside a warp, random
// numbers, votes of a block, and those that order what the interpreter orders anyway (fences, commits, waits), which do
// nothing. Random numbers are cuRAND's Philox4x32-10 (Salmon et al., SC'11): of counter 0 and key 0 the first is
// 0x6627E8D5.
#include <algorithm>
#include <array>
#include <bit>

#include "compiler/ir/interp_machine.h"

namespace tc::ir::interp {
namespace {
constexpr int32_t kWarp = 32;

struct Call {
  Cta& cta;
  Group& g;
  const Op& op;
  const Mask* mask;
  bool active(size_t lane) const { return !mask || (*mask)[lane]; }
  Number at(size_t operand, size_t lane) const { return slot(cta.p, g, op.operands[operand]).at(lane); }
  DType type(size_t operand) const { return cta.p.m[op.operands[operand]].type.dtype; }
  int32_t thread(size_t lane) const { return g.threads[lane]; }
  // The active lane of the group that is thread `t`; nullopt: it does not execute this.
  std::optional<size_t> lane_of(int32_t t) const {
    auto it = std::lower_bound(g.threads.begin(), g.threads.end(), t);
    if (it == g.threads.end() || *it != t) return std::nullopt;
    size_t lane = static_cast<size_t>(it - g.threads.begin());
    return active(lane) ? std::optional(lane) : std::nullopt;
  }
  // f(lane) → the result of every active lane.
  template <class F>
  void result(F&& f) {
    std::vector<Number> out(g.lanes);
    for (size_t l = 0; l < g.lanes; ++l)
      if (active(l)) out[l] = f(l);
    if (mask) slot(cta.p, g, op.results[0]).lanes = std::move(out);
    else set_lanes(slot(cta.p, g, op.results[0]), std::move(out));
  }
  // f(lane) for the active lanes of the warp of `lane`.
  template <class F>
  void warp(size_t lane, F&& f) const {
    int32_t first = thread(lane) / kWarp * kWarp;
    for (int32_t t = first; t < first + kWarp; ++t)
      if (auto l = lane_of(t)) f(*l, t - first);
  }
};

// ---- exchanges
void shuffle(Call& c, std::string_view name) {
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
    c.warp(l, [&](size_t other, int32_t bit) {
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
    c.warp(l, [&](size_t other, int32_t bit) {
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
    c.warp(l, [&](size_t other, int32_t) { sum = sum ? f(c.type(0), *sum, c.at(0, other)) : c.at(0, other); });
    return *sum;
  });
}

// True in the first thread of every group of so many; 0: of the CTA.
void elect(Call& c) {
  int64_t threads = int_attr(c.op, "threads", 0);
  c.result([&](size_t l) { return of(int64_t{threads ? c.thread(l) % threads == 0 : c.thread(l) == 0}); });
}

// ---- random numbers
struct Philox {
  std::array<uint32_t, 4> counter{};
  std::array<uint32_t, 2> key{};
  uint32_t used = 0;

  std::array<uint32_t, 4> block() const {
    std::array<uint32_t, 4> x = counter;
    std::array<uint32_t, 2> k = key;
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k[0], static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ x[3] ^ k[1], static_cast<uint32_t>(a)};
      k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
    }
    return x;
  }
  void advance(uint64_t blocks) {
    uint64_t low = (uint64_t{counter[1]} << 32 | counter[0]) + blocks;
    counter[0] = static_cast<uint32_t>(low), counter[1] = static_cast<uint32_t>(low >> 32);
  }
  uint32_t next() {
    uint32_t v = block()[used];
    if (++used == 4) used = 0, advance(1);
    return v;
  }
};

// The state of a thread lies in a local array of its own, so that it follows the thread when groups split.
Philox& state(Call& c, size_t lane) {
  auto it = c.g.locals.find(c.cta.p.random_slot);
  if (it == c.g.locals.end()) stop(c.op, "T.rng_init has to come before random numbers");
  return *reinterpret_cast<Philox*>(it->second.of(c.g.iterations ? 0 : lane));
}

void rng_init(Call& c) {
  if (text_attr(c.op, "generator", "curandStatePhilox4_32_10_t") != "curandStatePhilox4_32_10_t")
    stop_unsupported(c.op, "a generator other than Philox4_32_10, in the tile interpreter");
  Local& local = c.g.locals[c.cta.p.random_slot];
  local.shape.bytes = sizeof(Philox);
  local.cells.resize(sizeof(Philox) * c.g.lanes);
  for (size_t l = 0; l < c.g.lanes; ++l) {
    if (!c.active(l)) continue;
    uint64_t seed = static_cast<uint64_t>(c.at(0, l).i), sequence = static_cast<uint64_t>(c.at(1, l).i),
             offset = static_cast<uint64_t>(c.at(2, l).i);
    Philox p;
    p.key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    p.counter[2] = static_cast<uint32_t>(sequence), p.counter[3] = static_cast<uint32_t>(sequence >> 32);
    p.advance(offset / 4);
    p.used = static_cast<uint32_t>(offset % 4);
    std::memcpy(local.of(l), &p, sizeof p);
  }
}

// ---- memory
void copy_elements(Call& c) {
  const Module& m = c.cta.p.m;
  for (size_t l = 0; l < c.g.lanes; ++l) {
    if (!c.active(l)) continue;
    bool reads = c.op.operands.size() < 3 || c.at(2, l).i != 0;
    Memory side[2];
    int64_t offset[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
      ValueId v = c.op.operands[static_cast<size_t>(k)], b = buffer_of(m, v);
      side[k] = memory_for(c.cta, c.g, b, l);
      for (size_t d = 0; b != v && d < side[k].shape.size(); ++d)
        offset[k] += lane_int(c.cta.p, c.g, m[m[v].def].operands[1 + d], l) * side[k].strides[d];
    }
    for (int64_t i = 0; i < int_attr(c.op, "elements", 1); ++i) {
      if (offset[0] + i >= side[0].elements() || (reads && offset[1] + i >= side[1].elements()))
        stop(c.op, "the copy leaves its buffer");
      Number v = reads ? load(side[1].dtype, side[1].data, offset[1] + i) : of(int64_t{0});
      store(side[0].dtype, side[0].data, offset[0] + i, v);
    }
  }
}

void any_or_all(Call& c, bool all) {
  const Module& m = c.cta.p.m;
  c.result([&](size_t l) {
    ValueId v = c.op.operands[0], b = buffer_of(m, v);
    Memory mem = memory_for(c.cta, c.g, b, l);
    int64_t first = 0, count = mem.elements();
    if (b != v) {
      const Op& region = m[m[v].def];
      size_t rank = mem.shape.size();
      count = 1;
      for (size_t d = 0; d < rank; ++d) {
        first += lane_int(c.cta.p, c.g, region.operands[1 + d], l) * mem.strides[d];
        count *= lane_int(c.cta.p, c.g, region.operands[1 + rank + d], l);
      }
    }
    bool found = all;
    for (int64_t i = first; i < first + count && i < mem.elements(); ++i) {
      Number x = load(mem.dtype, mem.data, i);
      bool holds = is_float(mem.dtype) ? x.f != 0 : x.i != 0;
      found = all ? found && holds : found || holds;
    }
    return of(int64_t{found});
  });
}

struct Row {
  std::string_view name;
  void (*exec)(Call&);
};
constexpr Row kRows[] = {
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
    {"rng_init", rng_init},
    {"rng_rand", [](Call& c) { c.result([&](size_t l) { return of(int64_t{state(c, l).next()}); }); }},
    {"ptx_cp_async", copy_elements},
    {"any_of", [](Call& c) { any_or_all(c, false); }},
    {"all_of", [](Call& c) { any_or_all(c, true); }},
    {"block_rank_in_cluster", [](Call& c) { c.result([&](size_t) { return of(c.cta.rank); }); }},
    {"device_assert",
     [](Call& c) {
       for (size_t l = 0; l < c.g.lanes; ++l)
         if (c.active(l) && c.at(0, l).i == 0)
           stop(c.op, "the assertion does not hold in thread " + std::to_string(c.thread(c.g.iterations ? 0 : l)) +
                          " of " + c.cta.name + ": " + std::string(text_attr(c.op, "message", "")));
     }},
};

// What only orders memory, or asks for registers: sequence is the interpreter's own.
bool does_nothing(const Op& op, const OpInfo& row) {
  if (!op.results.empty()) return false;
  static constexpr std::string_view kNames[] = {
      "set_max_nreg", "pdl_trigger", "pdl_sync", "print", "deallocate_tmem", "warpgroup_fence_operand", "sync_warp"};
  bool ordering = row.sync == Sync::fence || row.sync == Sync::commit || row.sync == Sync::wait_group;
  return ordering || std::find(std::begin(kNames), std::end(kNames), row.name) != std::end(kNames);
}
}  // namespace

bool is_exchange(const Op& op) {
  if (op.kind != OpKind::call) return false;
  std::string_view name = text_attr(op, "name", "");
  return name.starts_with("shfl_") || name.starts_with("match_") || name.starts_with("warp_reduce_") ||
         is_matrix_instruction(name) || name == "any_sync" || name == "all_sync" || name == "ballot_sync";
}

bool is_rendezvous(const Op& op) {
  if (op.kind != OpKind::call) return false;
  static constexpr std::string_view kNames[] = {"syncthreads_count", "syncthreads_and", "syncthreads_or",
                                                "thread_allreduce",  "cluster_sync",    "sync_grid"};
  return std::find(std::begin(kNames), std::end(kNames), text_attr(op, "name", "")) != std::end(kNames);
}

// All threads of a CTA are here: what each of them gets.
void finish_rendezvous(Cta& cta, const std::vector<Group*>& here, const Op& op) {
  std::string_view name = text_attr(op, "name", "");
  if (op.operands.empty()) return;
  DType type = cta.p.m[op.operands[0]].type.dtype;
  if (name == "thread_allreduce") {
    // Over all threads of the block; other choices of dimensions need their extents.
    std::string_view kind = text_attr(op, "op", "sum");
    OpKind fold = kind == "max" ? OpKind::max : kind == "min" ? OpKind::min : OpKind::add;
    std::optional<Number> sum;
    Binary f = binary_function(fold, type);
    for (Group* g : here)
      for (size_t l = 0; l < g->lanes; ++l)
        if (slot(cta.p, *g, op.operands[1]).at(l).i) {
          Number v = slot(cta.p, *g, op.operands[0]).at(l);
          sum = sum ? f(type, *sum, v) : v;
        }
    for (Group* g : here)
      for (size_t l = 0; l < g->lanes && sum; ++l) {
        Memory mem = memory_for(cta, *g, buffer_of(cta.p.m, op.operands[2]), l);
        store(mem.dtype, mem.data, 0, convert(type, mem.dtype, *sum));
      }
    return;
  }
  int64_t count = 0, total = 0;
  for (Group* g : here)
    for (size_t l = 0; l < g->lanes; ++l) ++total, count += slot(cta.p, *g, op.operands[0]).at(l).i != 0;
  int64_t out = name == "syncthreads_count" ? count : name == "syncthreads_and" ? count == total : count > 0;
  for (Group* g : here) slot(cta.p, *g, op.results[0]) = {of(out), {}};
}

bool exec_intrinsic(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  Call c{cta, g, op, mask};
  const OpInfo& row = row_of(op);
  if (does_nothing(op, row)) return true;
  if (g.iterations && row.name != "rng_rand" && row.name != "device_assert") return false;
  if (is_matrix_instruction(row.name)) return exec_matrix(cta, g, op, mask), true;
  for (const Row& r : kRows)
    if (r.name == row.name) return r.exec(c), true;
  if (row.name == "tcgen05_mma_arrive" || row.name == "cp_async_barrier_noinc") {
    for (size_t l = 0; l < g.lanes; ++l) {
      if (!c.active(l)) continue;
      Mbarrier& b = mbarrier_at(cta, op, op.operands[0], lane_int(cta.p, g, op.operands[1], l));
      --b.pending;
      settle(b);
      if (row.name == "tcgen05_mma_arrive") break;  // one elected thread
    }
    return true;
  }
  return false;
}

}  // namespace tc::ir::interp
