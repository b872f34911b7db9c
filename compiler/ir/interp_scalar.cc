// Values and elements: pure ops, loads and stores, atomics, views, over the lanes of a group.
#include <algorithm>
#include <atomic>

#include "compiler/ir/interp_machine.h"

namespace tc::ir::interp {

void stop(const Op& op, const std::string& message) {
  Diag d = input_error(place(op), message);
  d.kind = DiagKind::violation;
  d.notes = origin_notes(op);
  throw Stop{d};
}
void stop_unsupported(const Op& op, const std::string& message) {
  Diag d = unsupported(place(op), message);
  d.notes = origin_notes(op);
  throw Stop{d};
}

int64_t Memory::elements() const {
  int64_t n = 1;
  for (int64_t e : shape) n *= e;
  return n;
}

Memory make_memory(const Type& type, const std::vector<int64_t>& shape, bool allocate) {
  Memory mem{
      .dtype = type.dtype, .space = type.space, .shape = shape, .strides = std::vector<int64_t>(shape.size(), 1)};
  for (size_t d = shape.size(); d-- > 1;) mem.strides[d - 1] = mem.strides[d] * shape[d];
  mem.bytes = (bytes_for(type.dtype, mem.elements()) + 7) / 8 * 8;
  if (!allocate) return mem;
  mem.own = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(mem.bytes));
  mem.data = mem.own->data();
  fill_unwritten(type.dtype, mem.data, mem.bytes);
  return mem;
}

Slot& slot(const Program& p, Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }
const Slot& slot(const Program& p, const Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }
int64_t lane_int(const Program& p, const Group& g, ValueId v, size_t lane) { return slot(p, g, v).at(lane).i; }

int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v) {
  const Slot& s = slot(p, g, v);
  for (Number n : s.lanes)
    if (n.i != s.lanes[0].i) stop_unsupported(op, "a tile operation whose operand differs between threads");
  return s.is_uniform() ? s.uniform.i : s.lanes[0].i;
}

void set_lanes(Slot& s, std::vector<Number> lanes) {
  bool same = std::all_of(lanes.begin(), lanes.end(), [&](Number n) { return n.i == lanes[0].i; });
  if (same) {
    s.uniform = lanes[0];
    s.lanes.clear();
  } else {
    s.lanes = std::move(lanes);
  }
}

Memory& memory_of(Cta& cta, ValueId buffer) {
  uint32_t at = cta.p.slot_of[buffer.index];
  if (auto own = cta.memory.find(at); own != cta.memory.end()) return own->second;
  auto global = cta.p.globals.find(at);
  assert(global != cta.p.globals.end() && "every buffer is a parameter or was allocated");
  return global->second;
}

Memory memory_for(Cta& cta, Group& g, ValueId buffer, size_t lane) {
  auto local = g.locals.find(cta.p.slot_of[buffer.index]);
  if (local == g.locals.end()) return memory_of(cta, buffer);
  Memory mem = local->second.shape;
  mem.data = local->second.of(lane);
  return mem;
}

void add_atomically(Program& p, const std::string& op, const Memory& mem, int64_t offset, Number v, Number* before) {
  struct Row {
    std::string_view name;
    OpKind kind;
  };
  static constexpr Row kRows[] = {{"add", OpKind::add},   {"max", OpKind::max},     {"min", OpKind::min},
                                  {"or", OpKind::bit_or}, {"and", OpKind::bit_and}, {"xor", OpKind::bit_xor}};
  std::lock_guard guard(p.atomics);
  Number old = load(mem.dtype, mem.data, offset);
  if (before) *before = old;
  if (op == "exchange") return store(mem.dtype, mem.data, offset, v);
  for (const Row& row : kRows)
    if (row.name == op)
      if (Binary f = binary_function(row.kind, mem.dtype)) store(mem.dtype, mem.data, offset, f(mem.dtype, old, v));
}

namespace {

bool active(const Mask* mask, size_t lane) { return !mask || (*mask)[lane]; }

// Element offset, or -1 outside of the buffer. `first`: the operand that is index 0.
int64_t offset_of(const Program& p, const Group& g, const Op& op, const Memory& mem, size_t first, size_t lane) {
  int64_t offset = 0;
  for (size_t d = 0; d < mem.shape.size(); ++d) {
    int64_t i = lane_int(p, g, op.operands[first + d], lane);
    if (i < 0 || i >= mem.shape[d]) return -1;
    offset += i * mem.strides[d];
  }
  return offset;
}

[[noreturn]] void outside(const Program& p, const Group& g, const Op& op, const Memory& mem, size_t lane) {
  std::string at, size;
  for (size_t d = 0; d < mem.shape.size(); ++d) {
    at += (d ? ", " : "") + std::to_string(lane_int(p, g, op.operands[1 + d], lane));
    size += (d ? ", " : "") + std::to_string(mem.shape[d]);
  }
  stop(op, "element [" + at + "] of '" + p.m[op.operands[0]].name + "', which has shape [" + size + "]");
}

bool uniform_operands(const Program& p, const Group& g, const Op& op, size_t first = 0) {
  for (size_t i = first; i < op.operands.size(); ++i)
    if (p.m[op.operands[i]].type.kind == TypeKind::scalar && !slot(p, g, op.operands[i]).is_uniform()) return false;
  return true;
}

// Elements of global tensors outside of them read as 0 and are not written.
Number read_element(Cta& cta, const Group& g, const Op& op, const Memory& mem, size_t lane) {
  int64_t offset = offset_of(cta.p, g, op, mem, 1, lane);
  if (offset >= 0) return load(mem.dtype, mem.data, offset);
  if (mem.space != Space::global) outside(cta.p, g, op, mem, lane);
  return is_float(mem.dtype) ? of(0.0) : of(int64_t{0});
}

void exec_load(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  const Program& p = cta.p;
  auto local = g.locals.find(p.slot_of[op.operands[0].index]);
  Slot& out = slot(p, g, op.results[0]);
  bool is_local = local != g.locals.end();
  Memory mem = is_local ? local->second.shape : memory_of(cta, op.operands[0]);
  if (!is_local && uniform_operands(p, g, op)) {
    out.uniform = read_element(cta, g, op, mem, 0);
    out.lanes.clear();
    return;
  }
  std::vector<Number> lanes(g.lanes);
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    if (is_local) mem.data = local->second.of(i);
    lanes[i] = read_element(cta, g, op, mem, i);
  }
  if (mask) out.lanes = std::move(lanes);
  else set_lanes(out, std::move(lanes));
}

void exec_store(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  const Program& p = cta.p;
  ValueId buffer = op.operands[0];
  const Slot& value = slot(p, g, op.operands.back());
  DType type = p.m[op.operands.back()].type.dtype;
  auto local = g.locals.find(p.slot_of[buffer.index]);
  bool is_local = local != g.locals.end();
  Memory mem = is_local ? local->second.shape : memory_of(cta, buffer);
  bool once = !is_local && uniform_operands(p, g, op, 1);
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    if (is_local) mem.data = local->second.of(i);
    int64_t offset = offset_of(p, g, op, mem, 1, i);
    if (offset < 0 && mem.space != Space::global) outside(p, g, op, mem, i);
    if (offset >= 0) store(mem.dtype, mem.data, offset, convert(type, mem.dtype, value.at(i)));
    if (once) return;
  }
}

std::string atomic_name(const Module& m, const Op& op) {
  if (op.kind == OpKind::atomic_store) return "exchange";
  if (op.kind != OpKind::reducer_update) return std::string(text_attr(op, "op", "add"));
  OpId def = m[op.operands[0]].def;
  std::string name(def.valid() ? text_attr(m[def], "reducer", "sum") : "sum");
  return name == "sum" ? "add" : name.starts_with("bit") ? name.substr(3) : name;
}

void exec_atomic(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  const Program& p = cta.p;
  std::vector<Number> before(g.lanes);
  DType type = p.m[op.operands.back()].type.dtype;
  bool loads = op.kind == OpKind::atomic_load;
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    Memory mem = memory_for(cta, g, op.operands[0], i);
    int64_t offset = offset_of(p, g, op, mem, 1, i);
    if (offset < 0 && mem.space != Space::global) outside(p, g, op, mem, i);
    if (offset < 0) continue;
    if (loads) {
      before[i] = load(mem.dtype, mem.data, offset);
      continue;
    }
    Number v = convert(type, mem.dtype, slot(p, g, op.operands.back()).at(i));
    add_atomically(cta.p, atomic_name(p.m, op), mem, offset, v, &before[i]);
  }
  if (!op.results.empty()) set_lanes(slot(p, g, op.results[0]), std::move(before));
}

void exec_alloc(Cta& cta, Group& g, const Op& op) {
  const Type& type = cta.p.m[op.results[0]].type;
  if (type.space != Space::local) return;
  std::vector<int64_t> shape;
  for (const MetaInt& e : type.shape) shape.push_back(e.value);
  Local& local = g.locals[cta.p.slot_of[op.results[0].index]];
  local.shape = make_memory(type, shape, false);
  local.cells.assign(static_cast<size_t>(local.shape.bytes) * g.lanes, 0);
  fill_unwritten(type.dtype, local.cells.data(), static_cast<int64_t>(local.cells.size()));
}

// The same memory as another type; of a thread's own array: a view in each lane.
void exec_view(Cta& cta, Group& g, const Op& op) {
  const Type& type = cta.p.m[op.results[0]].type;
  std::vector<int64_t> shape;
  for (const MetaInt& e : type.shape) {
    if (e.dynamic()) stop_unsupported(op, "a view with an extent known at run time only, in the tile interpreter");
    shape.push_back(e.value);
  }
  if (g.locals.contains(cta.p.slot_of[op.operands[0].index]))
    stop_unsupported(op, "a view of a thread's own array, in the tile interpreter");
  const Memory& from = memory_of(cta, op.operands[0]);
  Memory view = make_memory(type, shape, false);
  if (!type.strides.empty())
    for (size_t d = 0; d < shape.size(); ++d) view.strides[d] = type.strides[d].value;
  view.space = from.space;
  int64_t offset = op.operands.size() > 1 ? uniform_int(cta.p, g, op, op.operands[1]) * info(type.dtype).bits / 8 : 0;
  view.data = from.data + offset;
  view.own = from.own;
  if (offset < 0 || offset + bytes_for(type.dtype, view.elements()) > from.bytes)
    stop(op, "the view is larger than '" + cta.p.m[op.operands[0]].name + "'");
  cta.memory[cta.p.slot_of[op.results[0].index]] = std::move(view);
}

Number constant_number(const Op& op, DType type) {
  const AttrValue* a = find_attr(op.attrs, "value");
  if (const auto* i = a ? std::get_if<MetaInt>(a) : nullptr)
    return is_float(type) ? of(round_to(type, static_cast<double>(i->value))) : of(wrap_to(type, i->value));
  if (const auto* d = a ? std::get_if<double>(a) : nullptr)
    return is_float(type) ? of(round_to(type, *d)) : of(wrap_to(type, static_cast<int64_t>(*d)));
  stop(op, "a constant without a value");
}

// f(lane) for one lane if all operands are uniform, else for each.
template <class F>
void for_lanes(const Program& p, Group& g, const Op& op, F&& f) {
  Slot& out = slot(p, g, op.results[0]);
  if (uniform_operands(p, g, op)) {
    out.uniform = f(size_t{0});
    out.lanes.clear();
    return;
  }
  std::vector<Number> lanes(g.lanes);
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = f(i);
  out.lanes = std::move(lanes);
}

bool exec_pure(const Program& p, Group& g, OpId id, const Mask* mask) {
  const Op& op = p.m[id];
  const Decoded& d = p.decoded[id.index];
  auto at = [&](size_t n) -> const Slot& { return slot(p, g, op.operands[n]); };
  if (op.kind == OpKind::constant) {
    Slot& out = slot(p, g, op.results[0]);
    out.uniform = constant_number(op, d.result);
    out.lanes.clear();
    return true;
  }
  if (op.kind == OpKind::thread_index) {
    if (g.iterations) stop_unsupported(op, "the thread index inside a parallel loop");
    std::vector<Number> ids;
    for (int32_t t : g.threads) ids.push_back(of(int64_t{t}));
    set_lanes(slot(p, g, op.results[0]), std::move(ids));
    return true;
  }
  if (op.kind == OpKind::cast)
    return for_lanes(p, g, op, [&](size_t l) { return convert(d.operand, d.result, at(0).at(l)); }), true;
  if (op.kind == OpKind::select)
    return for_lanes(p, g, op, [&](size_t l) { return at(0).at(l).i ? at(1).at(l) : at(2).at(l); }), true;
  if (d.two) {
    bool divides = op.kind == OpKind::floordiv || op.kind == OpKind::floormod;
    if (divides && !is_float(d.operand))
      for (size_t l = 0; l < (at(1).is_uniform() ? 1 : g.lanes); ++l)
        if (at(1).at(l).i == 0 && active(mask, l)) stop(op, "division by zero");
    return for_lanes(p, g, op, [&](size_t l) { return d.two(d.operand, at(0).at(l), at(1).at(l)); }), true;
  }
  if (d.one) return for_lanes(p, g, op, [&](size_t l) { return d.one(d.operand, at(0).at(l)); }), true;
  if (d.pure) {
    const Pure& f = *d.pure;
    for_lanes(p, g, op, [&](size_t l) {
      return f.one   ? f.one(d.operand, at(0).at(l))
             : f.two ? f.two(d.operand, at(0).at(l), at(1).at(l))
                     : f.three(d.operand, at(0).at(l), at(1).at(l), at(2).at(l));
    });
    return true;
  }
  if (op.kind == OpKind::call && text_attr(op, "name", "") == "reinterpret")
    return for_lanes(p, g, op, [&](size_t l) { return reinterpret(d.operand, d.result, at(0).at(l)); }), true;
  return false;
}

}  // namespace

bool exec_scalar(Cta& cta, Group& g, OpId id, const Mask* mask) {
  const Op& op = cta.p.m[id];
  switch (op.kind) {
    case OpKind::load: return exec_load(cta, g, op, mask), true;
    case OpKind::store: return exec_store(cta, g, op, mask), true;
    case OpKind::atomic_element:
    case OpKind::atomic_load:
    case OpKind::atomic_store:
    case OpKind::reducer_update: return exec_atomic(cta, g, op, mask), true;
    case OpKind::region: return true;  // read where it is used
    case OpKind::assume:
    case OpKind::layout:
    case OpKind::loop_layout:
    case OpKind::annotate:
    case OpKind::ws_schedule:
    case OpKind::condition:
    // Asynchronous copies act when they are issued: nothing is left to commit or wait for.
    case OpKind::cp_async_commit:
    case OpKind::cp_async_wait: return true;
    case OpKind::alloc: return exec_alloc(cta, g, op), true;
    case OpKind::view: return exec_view(cta, g, op), true;
    case OpKind::mbarrier_arrive:
    case OpKind::mbarrier_expect_tx:
    case OpKind::mbarrier_arrive_expect_tx:
      for (size_t i = 0; i < g.lanes; ++i)
        if (active(mask, i)) arrive(cta, g, op, i);
      return true;
    default:
      if (op.results.size() == 1 && op.blocks.empty() && exec_pure(cta.p, g, id, mask)) return true;
      return op.kind == OpKind::call && exec_intrinsic(cta, g, op, mask);
  }
}

}  // namespace tc::ir::interp
