// Runs a function: host tensors in, one CTA after the other on a few host threads, host tensors out.
#include "compiler/ir/interp.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "compiler/ir/interp_machine.h"

namespace tc::ir {
namespace {
using namespace tc::ir::interp;

void number_values(Program& p, const Func& f) {
  p.slot_of.assign(p.m.values.size(), 0);
  auto add = [&](ValueId v) { p.slot_of[v.index] = p.slots++; };
  for (ValueId v : f.params) add(v);
  auto blocks = [&](auto& self, BlockId b) -> void {
    for (ValueId v : p.m[b].args) add(v);
    for (OpId id : p.m[b].ops) {
      for (ValueId v : p.m[id].results) add(v);
      for (BlockId inner : p.m[id].blocks) self(self, inner);
    }
  };
  blocks(blocks, f.body);
}

// Tensor → numbers. A strided parameter lies in memory as its strides say; the host tensor is its row-major contents.
Status load_params(Program& p, const Func& f, std::span<runtime::Tensor> args, std::vector<Slot>& env) {
  if (args.size() != f.params.size())
    return input_error(f.loc, "'" + f.name + "' has " + std::to_string(f.params.size()) + " parameters, " +
                                  std::to_string(args.size()) + " tensors are given");
  for (size_t i = 0; i < args.size(); ++i) {
    const Type& type = p.m[f.params[i]].type;
    const std::string& name = p.m[f.params[i]].name;
    auto dtype = runtime_dtype(type.dtype);
    if (!dtype || *dtype != args[i].dtype)
      return input_error(f.loc, "tensor '" + name + "' has the wrong element type");
    uint64_t count = type.kind == TypeKind::scalar ? 1 : static_cast<uint64_t>(element_count(type));
    if (args[i].elements() != count)
      return input_error(f.loc, "tensor '" + name + "' has " + std::to_string(args[i].elements()) +
                                    " elements, the parameter " + std::to_string(count));
    if (type.kind == TypeKind::scalar) {
      env[p.slot_of[f.params[i].index]].uniform = args[i].at(0);
      continue;
    }
    Memory& mem = p.globals[f.params[i].index];
    mem.dtype = type.dtype;
    mem.strides.assign(type.rank(), 1);
    for (const MetaInt& e : type.shape) mem.shape.push_back(e.value);
    for (size_t d = type.rank(); d-- > 1;) mem.strides[d - 1] = mem.strides[d] * mem.shape[d];
    mem.own.resize(count);
    for (uint64_t k = 0; k < count; ++k) mem.own[k] = args[i].at(k);
    mem.data = mem.own.data();
  }
  return {};
}

void store_params(const Program& p, const Func& f, std::span<runtime::Tensor> args) {
  std::vector<bool> written(args.size(), false);
  walk(p.m, f.body, [&](OpId id) {
    const Op& op = p.m[id];
    for (size_t n = 0; n < op.operands.size(); ++n) {
      char role = operand_role(op, n);
      for (size_t i = 0; i < args.size(); ++i)
        if ((role == 'w' || role == 'u') && buffer_of(p.m, op.operands[n]) == f.params[i]) written[i] = true;
    }
  });
  for (size_t i = 0; i < args.size(); ++i)
    if (auto mem = p.globals.find(f.params[i].index); mem != p.globals.end() && written[i])
      for (uint64_t k = 0; k < mem->second.own.size(); ++k) args[i].set(k, mem->second.own[k]);
}

// All CTAs of one launch; the failure of the lowest CTA counts, whatever the threads do first.
void run_launch(const Program& p, const Op& launch, const std::vector<Slot>& env, unsigned threads) {
  std::vector<int64_t> grid;
  int64_t total = 1;
  for (ValueId v : launch.operands) total *= grid.emplace_back(static_cast<int64_t>(env[p.slot_of[v.index]].uniform));
  std::atomic<int64_t> next{0}, first_failure{INT64_MAX};
  std::mutex lock;
  std::optional<Diag> failure;
  auto work = [&] {
    for (int64_t n = next++; n < total && n < first_failure; n = next++) {
      Cta cta{.p = p,
              .thread_count = int_attr(launch, "threads", 128),
              .steps = 0,
              .memory = {},
              .barriers = {},
              .named = {},
              .groups = {}};
      std::vector<std::pair<ValueId, int64_t>> index;
      int64_t rest = n;
      for (size_t d = 0; d < grid.size(); ++d) {
        index.emplace_back(p.m[launch.blocks[0]].args[d], rest % grid[d]);
        rest /= grid[d];
      }
      try {
        run_cta(cta, launch.blocks[0], env, index);
      } catch (const Stop& s) {
        std::lock_guard guard(lock);
        if (n < first_failure) {
          first_failure = n;
          failure = s.diag;
        }
      }
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<int64_t>(threads, total); ++i) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
  if (failure) throw Stop{*failure};
}

}  // namespace

std::optional<runtime::DType> runtime_dtype(DType type) { return runtime::dtype_named(info(type).short_name); }

Status interpret(const Module& m, const Func& f, std::span<runtime::Tensor> args, const InterpOptions& options) {
  if (m.level != Level::tile) return input_error(f.loc, "the interpreter runs tile IR; this module is at device level");
  Program p{.m = m, .slot_of = {}, .slots = 0, .globals = {}, .max_steps = options.max_steps};
  number_values(p, f);
  std::vector<Slot> env(p.slots);
  if (Status s = load_params(p, f, args, env); !s) return s;
  try {
    // Before the launch there are only scalars: one thread computes them.
    Cta host{.p = p, .thread_count = 1, .steps = 0, .memory = {}, .barriers = {}, .named = {}, .groups = {}};
    Group& g = host.groups.emplace_back();
    g.threads = {0};
    g.env = env;
    for (OpId id : m[f.body].ops) {
      if (m[id].kind == OpKind::launch) run_launch(p, m[id], g.env, options.threads);
      else if (!exec_scalar(host, g, id))
        throw Stop{unsupported(place(m[id]), "'" + std::string(info(m[id].kind).name) + "' outside of a launch")};
    }
  } catch (const Stop& s) {
    return s.diag;
  }
  store_params(p, f, args);
  return {};
}

}  // namespace tc::ir
