// Calls that are no functions of one thread's operands: the rows of the families (exchanges, random numbers, clusters,
// accesses), what only orders memory and does nothing here, assertions, and votes and sums of a whole CTA.
#include <algorithm>
#include <array>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {

std::optional<size_t> Call::lane_of(int32_t t) const {
  auto it = std::lower_bound(g.threads.begin(), g.threads.end(), t);
  if (it == g.threads.end() || *it != t) return std::nullopt;
  size_t lane = static_cast<size_t>(it - g.threads.begin());
  return active(lane) ? std::optional(lane) : std::nullopt;
}

namespace {
void device_assert(Call& c) {
  c.each([&](size_t l) {
    if (c.at(0, l).i == 0)
      stop(c.op, "the assertion does not hold in thread " + std::to_string(c.thread(l)) + " of " + c.cta.name + ": " +
                     std::string(text_attr(c.op, "message", "")));
  });
}
constexpr CallRow kOwnRows[] = {{"device_assert", device_assert, true}};

// What only orders memory, or asks for registers: sequence is the interpreter's own.
bool does_nothing(const Op& op, const OpInfo& row) {
  if (!op.results.empty()) return false;
  static constexpr std::string_view kNames[] = {
      "set_max_nreg", "pdl_trigger", "pdl_sync", "print", "deallocate_tmem", "warpgroup_fence_operand", "sync_warp"};
  bool ordering = row.sync == Sync::fence || row.sync == Sync::commit || row.sync == Sync::wait_group;
  return ordering || std::find(std::begin(kNames), std::end(kNames), row.name) != std::end(kNames);
}

// A sum over the threads that share their other indices: in a block of 8 x 4, dims=[1] leaves 8 sums of 4.
// tvm.tir: tvm_thread_allreduce; every thread of such a group gets the result.
void all_reduce(Cta& cta, const std::vector<Group*>& here, const Op& op) {
  DType type = cta.p.m[op.operands[0]].type.dtype;
  std::string_view kind = text_attr(op, "op", "sum");
  OpKind fold = kind == "max" ? OpKind::max : kind == "min" ? OpKind::min : kind == "prod" ? OpKind::mul : OpKind::add;
  Binary f = binary_function(fold, type);
  std::vector<int64_t> dims;
  if (const AttrValue* a = find_attr(op.attrs, "dims"))
    for (const MetaInt& d : std::get<std::vector<MetaInt>>(*a)) dims.push_back(d.value);
  auto group_of = [&](int32_t thread) {
    std::array<int64_t, 3> at{};
    int64_t rest = thread;
    for (size_t d = 0; d < 3; ++d) {
      at[d] = std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end() ? rest % cta.block[d] : -1;
      rest /= cta.block[d];
    }
    return at;
  };
  std::map<std::array<int64_t, 3>, Number> sums;
  for (Group* g : here)
    for (size_t l = 0; l < g->lanes; ++l) {
      if (!slot(cta.p, *g, op.operands[1]).at(l).i) continue;
      Number v = slot(cta.p, *g, op.operands[0]).at(l);
      auto [it, fresh] = sums.try_emplace(group_of(g->threads[l]), v);
      if (!fresh) it->second = f(type, it->second, v);
    }
  for (Group* g : here)
    for (size_t l = 0; l < g->lanes; ++l) {
      auto sum = sums.find(group_of(g->threads[l]));
      if (sum == sums.end()) continue;
      Elements to = elements_of(cta, *g, op, op.operands[2], l);
      store(to.mem.dtype, to.mem.data, to.first, convert(type, to.mem.dtype, sum->second));
    }
}
}  // namespace

bool is_rendezvous(const Op& op) {
  if (op.kind != OpKind::call) return false;
  static constexpr std::string_view kNames[] = {"syncthreads_count", "syncthreads_and", "syncthreads_or",
                                                "thread_allreduce", "sync_grid"};
  return std::find(std::begin(kNames), std::end(kNames), text_attr(op, "name", "")) != std::end(kNames);
}

// All threads are here: what each of them gets.
void finish_rendezvous(Cta& cta, const std::vector<Group*>& here, const Op& op) {
  std::string_view name = text_attr(op, "name", "");
  if (name == "thread_allreduce") return all_reduce(cta, here, op);
  if (op.results.empty()) return;
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
  if (is_matrix_instruction(row.name) && !g.iterations) return exec_matrix(cta, g, op, mask), true;
  for (std::span<const CallRow> rows : {exchange_rows(), random_rows(), cluster_rows(), access_rows(), rounding_rows(),
                                        std::span<const CallRow>(kOwnRows)})
    for (const CallRow& r : rows)
      if (r.name == row.name && (r.in_loops || !g.iterations)) return r.exec(c), true;
  return false;
}

}  // namespace tc::ir::interp
