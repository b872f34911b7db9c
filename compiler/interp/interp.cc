// Runs a function: host tensors in, one CTA after the other on a few host threads, host tensors out.
#include "compiler/interp/interp.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "compiler/interp/machine.h"

namespace tc::ir {
namespace {
using namespace tc::ir::interp;

void number_values(Program& p, const Func& f) {
  p.slot_of.assign(p.m.values.size(), 0);
  auto add = [&](ValueId v) { p.slot_of[v.index] = p.slots++; };
  for (ValueId v : f.params) add(v);
  for (ValueId v : f.symbols) add(v);
  auto blocks = [&](auto& self, BlockId b) -> void {
    for (ValueId v : p.m[b].args) add(v);
    for (OpId id : p.m[b].ops) {
      for (ValueId v : p.m[id].results) add(v);
      for (BlockId inner : p.m[id].blocks) self(self, inner);
    }
  };
  blocks(blocks, f.body);
  p.random_slot = p.slots++;
}

// The op behind casts.
const Op* behind_casts(const Module& m, ValueId v) {
  while (m[v].def.valid() && m[m[v].def].kind == OpKind::cast) v = m[m[v].def].operands[0];
  return m[v].def.valid() ? &m[m[v].def] : nullptr;
}

// Iterations of a parallel loop that update one element, as a reducer's do, count one after the other:
//   store %r, %i, (add (load %r, %i), %x)
void find_update(const Module& m, const Op& store, Decoded& d) {
  const Op* combined = behind_casts(m, store.operands.back());
  static constexpr OpKind kKinds[] = {OpKind::add,    OpKind::mul,     OpKind::max,    OpKind::min,
                                      OpKind::bit_or, OpKind::bit_and, OpKind::bit_xor};
  if (!combined || std::find(std::begin(kKinds), std::end(kKinds), combined->kind) == std::end(kKinds)) return;
  for (size_t side = 0; side < 2; ++side) {
    const Op* old = behind_casts(m, combined->operands[side]);
    if (!old || old->kind != OpKind::load || old->operands.size() + 1 != store.operands.size()) continue;
    if (!std::equal(old->operands.begin(), old->operands.end(), store.operands.begin())) continue;
    d.update = m[combined->results[0]].def;
    d.added = 1 - side;
    return;
  }
}

// What is looked up of every op once, and in which blocks threads may have to wait for each other.
void decode(Program& p, const Func& f) {
  const Module& m = p.m;
  p.decoded.resize(m.ops.size());
  p.blocking.assign(m.blocks.size(), false);
  p.escapes.assign(m.blocks.size(), false);
  auto blocks = [&](auto& self, BlockId b) -> void {
    for (OpId id : m[b].ops) {
      const Op& op = m[id];
      Decoded& d = p.decoded[id.index];
      if (!op.operands.empty() && m[op.operands[0]].type.kind == TypeKind::scalar)
        d.operand = m[op.operands[0]].type.dtype;
      if (!op.results.empty()) d.result = m[op.results[0]].type.dtype;
      d.vectors = has_vectors(m, op);
      if (op.operands.size() == 2) d.two = binary_function(op.kind, d.operand);
      if (op.operands.size() == 1) d.one = unary_function(op.kind, d.operand);
      if (op.kind == OpKind::store) find_update(m, op, d);
      if (op.kind == OpKind::call) d.pure = pure_intrinsic(text_attr(op, "name", ""));
      bool waits = op.kind == OpKind::ws || op.kind == OpKind::mbarrier_wait || op.kind == OpKind::sync_threads ||
                   op.kind == OpKind::thread_return || is_rendezvous(op) || is_at_barrier(op) || is_collective(m, op);
      p.blocking[b.index] = p.blocking[b.index] || waits;
      p.escapes[b.index] = p.escapes[b.index] || op.kind == OpKind::break_ || op.kind == OpKind::continue_;
      for (BlockId inner : op.blocks) {
        self(self, inner);
        bool loop = op.kind == OpKind::for_ || op.kind == OpKind::while_;
        if (op.kind != OpKind::parallel) p.blocking[b.index] = p.blocking[b.index] || p.blocking[inner.index];
        if (!loop) p.escapes[b.index] = p.escapes[b.index] || p.escapes[inner.index];
      }
    }
  };
  blocks(blocks, f.body);
}

// Symbols that are an extent of a tensor have its value; the first tensor decides.
SymbolValues bind_symbols(const Program& p, const Func& f, std::span<runtime::Tensor> args, const SymbolValues& given) {
  SymbolValues bound = given;
  auto known = [&](const std::string& name) {
    return std::any_of(bound.begin(), bound.end(), [&](const auto& s) { return s.first == name; });
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const Type& type = p.m[f.params[i]].type;
    for (size_t d = 0; d < std::min(type.shape.size(), args[i].shape.size()); ++d) {
      const MetaInt& e = type.shape[d];
      if (!e.dynamic() || p.m[e.expr].kind != MetaKind::symbol || known(p.m[e.expr].name)) continue;
      bound.emplace_back(p.m[e.expr].name, static_cast<int64_t>(args[i].shape[d]));
    }
  }
  return bound;
}

// Parameters lie in the host tensors themselves. A strided parameter lies in memory as its strides say; the host tensor
// is its row-major contents. A tensor of an element type that the runtime lacks is given as bytes.
Status load_params(Program& p, const Func& f, std::span<runtime::Tensor> args, std::vector<Slot>& env) {
  if (args.size() != f.params.size())
    return input_error(f.loc, "'" + f.name + "' has " + std::to_string(f.params.size()) + " parameters, " +
                                  std::to_string(args.size()) + " tensors are given");
  for (size_t i = 0; i < args.size(); ++i) {
    const Type& type = p.m[f.params[i]].type;
    const std::string& name = p.m[f.params[i]].name;
    auto dtype = runtime_dtype(type.dtype);
    if (dtype && *dtype != args[i].dtype) return input_error(f.loc, "tensor '" + name + "' has the wrong element type");
    std::vector<int64_t> shape = shape_at_launch(p.m, f, type, p.symbols);
    Memory mem = make_memory(type, shape, false);
    int64_t count = type.kind == TypeKind::scalar ? 1 : mem.elements();
    int64_t bytes = bytes_for(type.dtype, count * type.lanes);
    if (static_cast<int64_t>(args[i].bytes.size()) != bytes)
      return input_error(f.loc, "tensor '" + name + "' has " + std::to_string(args[i].elements()) +
                                    " elements, the parameter " + std::to_string(count));
    if (type.kind == TypeKind::scalar) {
      if (type.lanes > 1) return input_error(f.loc, "parameter '" + name + "' is a vector");
      env[p.slot_of[f.params[i].index]].uniform = load(type.dtype, args[i].bytes.data(), 0);
      continue;
    }
    mem.data = args[i].bytes.data();
    mem.bytes = mem.root_bytes = bytes;
    mem.root = p.slot_of[f.params[i].index];
    p.regions.push_back({parameter_address(i), mem.data, bytes});
    p.globals[mem.root] = std::move(mem);
  }
  return {};
}

// CTAs that have to run together: those of a cluster, or of a grid that synchronises.
int64_t cluster_size(const Module& m, const Op& launch, int64_t total) {
  bool whole = false;
  walk(m, launch.blocks[0],
       [&](OpId id) { whole |= m[id].kind == OpKind::call && text_attr(m[id], "name", "") == "sync_grid"; });
  if (whole) return total;
  const AttrValue* a = find_attr(launch.attrs, "cluster");
  const auto* dims = a ? std::get_if<std::vector<MetaInt>>(a) : nullptr;
  int64_t n = 1;
  if (dims)
    for (const MetaInt& d : *dims) n *= d.value;
  return n;
}

// Threads along x, y, z.
std::array<int64_t, 3> block_of(const Op& launch, int64_t threads) {
  std::array<int64_t, 3> block{threads, 1, 1};
  if (const AttrValue* a = find_attr(launch.attrs, "block"))
    if (const auto* dims = std::get_if<std::vector<MetaInt>>(a))
      for (size_t d = 0; d < std::min<size_t>(3, dims->size()); ++d) block[d] = (*dims)[d].value;
  return block;
}

// All CTAs of one launch; the failure of the lowest CTA counts, whatever the threads do first.
void run_launch(Program& p, const Op& launch, const std::vector<Slot>& env, unsigned threads) {
  p.grid.clear();
  int64_t total = 1;
  for (ValueId v : launch.operands)
    if (__builtin_mul_overflow(total, p.grid.emplace_back(env[p.slot_of[v.index]].uniform.i), &total))
      stop(launch, "the grid has more CTAs than 64 bits count");
  int64_t together = cluster_size(p.m, launch, total);
  if (together > 1 && together < total && (p.grid.empty() || p.grid[0] % together != 0))
    stop_unsupported(launch, "clusters along another dimension than x, in the tile interpreter");
  p.cta_count = total, p.cluster_count = together, p.next_cta = 0;
  std::atomic<int64_t> first_failure{INT64_MAX};
  std::mutex lock;
  std::optional<Diag> failure;
  auto work = [&] {
    for (int64_t n = p.next_cta.fetch_add(together); n < total && n < first_failure;
         n = p.next_cta.fetch_add(together)) {
      std::vector<std::unique_ptr<Cta>> ctas;
      std::vector<std::vector<std::pair<ValueId, int64_t>>> index;
      for (int64_t k = 0; k < together; ++k) {
        ctas.push_back(std::make_unique<Cta>(Cta{.p = p, .thread_count = int_attr(launch, "threads", 128), .rank = k}));
        ctas.back()->block = block_of(launch, ctas.back()->thread_count);
        int64_t rest = n + k;
        auto& of_cta = index.emplace_back();
        for (size_t d = 0; d < p.grid.size(); ++d) {
          of_cta.emplace_back(p.m[launch.blocks[0]].args[d], rest % p.grid[d]);
          rest /= p.grid[d];
        }
      }
      for (auto& cta : ctas)
        for (auto& peer : ctas) cta->cluster.push_back(peer.get());
      try {
        run_ctas(ctas, launch.blocks[0], env, index);
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
  for (unsigned i = 1; i < std::min<int64_t>(threads, total / together); ++i) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
  if (failure) throw Stop{*failure};
}

// Memory of T.alloc_global: all launches of the function see it.
void allocate_global(Program& p, const Func& f) {
  walk(p.m, f.body, [&](OpId id) {
    const Op& op = p.m[id];
    if (op.kind != OpKind::alloc || p.m[op.results[0]].type.space != Space::global) return;
    const Type& type = p.m[op.results[0]].type;
    std::vector<int64_t> shape = shape_at_launch(p.m, f, type, p.symbols);
    check_size(op, type, shape, 1);
    Memory mem = make_memory(type, shape, true);
    mem.root = p.slot_of[op.results[0].index];
    p.regions.push_back({uint64_t{p.regions.size() + 1} << 52, mem.data, mem.bytes});
    p.globals[mem.root] = std::move(mem);
  });
}

}  // namespace

std::vector<int64_t> shape_at_launch(const Module& m, const Func& f, const Type& type, const SymbolValues& symbols) {
  std::vector<int64_t> shape;
  for (const MetaInt& e : type.shape)
    shape.push_back(e.dynamic() ? meta_value(m, f, e.expr, symbols).value_or(0) : e.value);
  return shape;
}

std::optional<runtime::DType> runtime_dtype(DType type) { return runtime::dtype_named(info(type).short_name); }

Status interpret(const Module& m, const Func& f, std::span<runtime::Tensor> args, const InterpOptions& options) {
  if (m.level != Level::tile) return input_error(f.loc, "the interpreter runs tile IR; this module is at device level");
  Program p{.m = m, .f = f, .max_steps = options.max_steps};
  number_values(p, f);
  decode(p, f);
  std::vector<Slot> env(p.slots);
  if (args.size() == f.params.size()) p.symbols = bind_symbols(p, f, args, options.symbols);
  for (ValueId v : f.symbols)
    for (const auto& [name, value] : p.symbols)
      if (name == m[v].name) env[p.slot_of[v.index]].uniform = of(value);
  if (Status s = load_params(p, f, args, env); !s) return s;
  try {
    allocate_global(p, f);
    // Before the launch there are only scalars: one thread computes them.
    Cta host{.p = p, .thread_count = 1, .is_host = true};
    for (size_t i = 0; i < options.memory.size(); ++i)
      p.regions.push_back(
          {memory_address(i), options.memory[i].bytes.data(), static_cast<int64_t>(options.memory[i].bytes.size())});
    Group& g = host.groups.emplace_back();
    g.threads = {0};
    g.lanes = 1;
    g.env = env;
    for (OpId id : m[f.body].ops) {
      Mask one(1, 1);
      if (m[id].kind == OpKind::launch) run_launch(p, m[id], g.env, options.threads);
      else if (!exec_plain_op(host, g, id, one))
        stop_unsupported(m[id], "'" + std::string(row_of(m[id]).name) + "' outside of a launch");
    }
  } catch (const Stop& s) {
    return s.diag;
  }
  return {};
}

}  // namespace tc::ir
