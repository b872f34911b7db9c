// Scalar ops, loads and stores of the tile interpreter.
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

Slot& slot(const Program& p, Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }
const Slot& slot(const Program& p, const Group& g, ValueId v) { return g.env[p.slot_of[v.index]]; }

int64_t uniform_int(const Program& p, const Group& g, const Op& op, ValueId v) {
  const Slot& s = slot(p, g, v);
  for (Number n : s.lanes)
    if (n != s.lanes[0]) {
      Diag d = unsupported(place(op), "a tile operation whose operand differs between threads");
      d.notes = origin_notes(op);
      throw Stop{d};
    }
  return static_cast<int64_t>(s.is_uniform() ? s.uniform : s.lanes[0]);
}

Memory& memory_of(Cta& cta, ValueId buffer) {
  auto own = cta.memory.find(buffer.index);
  if (own != cta.memory.end()) return own->second;
  auto global = cta.p.globals.find(buffer.index);
  assert(global != cta.p.globals.end() && "every buffer is a parameter or was allocated");
  return const_cast<Memory&>(global->second);  // its elements are shared by all CTAs, the description is not changed
}

void alloc_local(Cta& cta, Group& g, OpId id) {
  const Op& op = cta.p.m[id];
  const Type& type = cta.p.m[op.results[0]].type;
  size_t size = static_cast<size_t>(element_count(type));
  g.locals[op.results[0].index].assign(g.threads.size(), std::vector<Number>(size, unwritten(type.dtype)));
}

namespace {

void set_lanes(Slot& s, std::vector<Number> lanes) {
  bool same = std::all_of(lanes.begin(), lanes.end(), [&](Number n) { return n == lanes[0]; });
  if (same) {
    s.uniform = lanes[0];
    s.lanes.clear();
  } else {
    s.lanes = std::move(lanes);
  }
}

// f(lane) for one lane if all operands are uniform, else for each.
template <class F>
void for_lanes(const Program& p, Group& g, const Op& op, F&& f) {
  bool uniform = true;
  for (ValueId v : op.operands) uniform &= p.m[v].type.kind != TypeKind::scalar || slot(p, g, v).is_uniform();
  Slot& out = slot(p, g, op.results[0]);
  if (uniform) {
    out.uniform = f(size_t{0});
    out.lanes.clear();
    return;
  }
  std::vector<Number> lanes(g.threads.size());
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = f(i);
  set_lanes(out, std::move(lanes));
}

Number constant_number(const Op& op) {
  const AttrValue* a = find_attr(op.attrs, "value");
  if (const auto* i = a ? std::get_if<MetaInt>(a) : nullptr) return static_cast<Number>(i->value);
  if (const auto* d = a ? std::get_if<double>(a) : nullptr) return *d;
  stop(op, "a constant without a value");
}

// Element offset, or -1 outside of the buffer.
int64_t offset_of(const Program& p, const Group& g, const Op& op, const Memory& mem, size_t lane) {
  int64_t offset = 0;
  for (size_t d = 0; d < mem.shape.size(); ++d) {
    int64_t i = static_cast<int64_t>(slot(p, g, op.operands[1 + d]).at(lane));
    if (i < 0 || i >= mem.shape[d]) return -1;
    offset += i * mem.strides[d];
  }
  return offset;
}

[[noreturn]] void outside(const Program& p, const Group& g, const Op& op, const std::vector<int64_t>& shape,
                          size_t lane) {
  std::string at, size;
  for (size_t d = 0; d < shape.size(); ++d) {
    at += (d ? ", " : "") + std::to_string(static_cast<int64_t>(slot(p, g, op.operands[1 + d]).at(lane)));
    size += (d ? ", " : "") + std::to_string(shape[d]);
  }
  stop(op, "element [" + at + "] of '" + p.m[op.operands[0]].name + "', which has shape [" + size + "]");
}

// Global elements may be touched by several host threads.
Number read(Memory& mem, int64_t offset) { return std::atomic_ref(mem.data[offset]).load(std::memory_order_relaxed); }
void write(Memory& mem, int64_t offset, Number v) {
  std::atomic_ref(mem.data[offset]).store(v, std::memory_order_relaxed);
}

Memory local_view(const Module& m, ValueId buffer) {
  const Type& type = m[buffer].type;
  Memory mem;
  mem.dtype = type.dtype;
  mem.space = Space::local;
  mem.strides.assign(type.rank(), 1);
  for (const MetaInt& e : type.shape) mem.shape.push_back(e.value);
  for (size_t d = type.rank(); d-- > 1;) mem.strides[d - 1] = mem.strides[d] * mem.shape[d];
  return mem;
}

void exec_load(Cta& cta, Group& g, const Op& op) {
  const Program& p = cta.p;
  ValueId buffer = op.operands[0];
  if (p.m[buffer].type.space == Space::local) {
    Memory view = local_view(p.m, buffer);
    auto& cells = g.locals.at(buffer.index);
    std::vector<Number> lanes(g.threads.size());
    for (size_t i = 0; i < lanes.size(); ++i) {
      int64_t offset = offset_of(p, g, op, view, i);
      if (offset < 0) outside(p, g, op, view.shape, i);
      lanes[i] = cells[i][static_cast<size_t>(offset)];
    }
    return set_lanes(slot(p, g, op.results[0]), std::move(lanes));
  }
  Memory& mem = memory_of(cta, buffer);
  for_lanes(p, g, op, [&](size_t lane) -> Number {
    int64_t offset = offset_of(p, g, op, mem, lane);
    if (offset >= 0) return read(mem, offset);
    if (mem.space != Space::global) outside(p, g, op, mem.shape, lane);
    return 0;
  });
}

void exec_store(Cta& cta, Group& g, const Op& op) {
  const Program& p = cta.p;
  ValueId buffer = op.operands[0];
  const Slot& value = slot(p, g, op.operands.back());
  if (p.m[buffer].type.space == Space::local) {
    Memory view = local_view(p.m, buffer);
    auto& cells = g.locals.at(buffer.index);
    for (size_t i = 0; i < g.threads.size(); ++i) {
      int64_t offset = offset_of(p, g, op, view, i);
      if (offset < 0) outside(p, g, op, view.shape, i);
      cells[i][static_cast<size_t>(offset)] = round_to(view.dtype, value.at(i));
    }
    return;
  }
  Memory& mem = memory_of(cta, buffer);
  bool uniform = true;
  for (size_t i = 1; i < op.operands.size(); ++i) uniform &= slot(p, g, op.operands[i]).is_uniform();
  for (size_t lane = 0; lane < (uniform ? 1 : g.threads.size()); ++lane) {
    int64_t offset = offset_of(p, g, op, mem, lane);
    if (offset < 0 && mem.space != Space::global) outside(p, g, op, mem.shape, lane);
    if (offset >= 0) write(mem, offset, round_to(mem.dtype, value.at(lane)));
  }
}

bool exec_pure(const Program& p, Group& g, const Op& op) {
  DType result = p.m[op.results[0]].type.dtype;
  auto at = [&](size_t n, size_t lane) { return slot(p, g, op.operands[n]).at(lane); };
  auto checked = [&](std::optional<Number> n) {
    if (!n)
      stop(op, "'" + std::string(info(op.kind).name) +
                   "' has no exact value here (division by zero, a shift out of range, an integer beyond 2^53)");
    return *n;
  };
  if (op.kind == OpKind::constant) {
    Slot& out = slot(p, g, op.results[0]);
    out.uniform = round_to(result, constant_number(op));
    out.lanes.clear();
    return true;
  }
  if (op.kind == OpKind::thread_index) {
    set_lanes(slot(p, g, op.results[0]), std::vector<Number>(g.threads.begin(), g.threads.end()));
    return true;
  }
  if (op.operands.empty() || p.m[op.operands[0]].type.kind != TypeKind::scalar) return false;
  DType type = p.m[op.operands[0]].type.dtype;
  if (op.kind == OpKind::cast)
    return for_lanes(p, g, op, [&](size_t l) { return apply_cast(type, result, at(0, l)); }), true;
  if (op.kind == OpKind::select)
    return for_lanes(p, g, op, [&](size_t l) { return at(0, l) != 0 ? at(1, l) : at(2, l); }), true;
  std::string_view operands = info(op.kind).operands;
  if (operands == "vv")
    return for_lanes(p, g, op, [&](size_t l) { return checked(apply_binary(op.kind, type, at(0, l), at(1, l))); }),
           true;
  if (operands == "v")
    return for_lanes(p, g, op, [&](size_t l) { return checked(apply_unary(op.kind, type, at(0, l))); }), true;
  return false;
}

}  // namespace

bool exec_scalar(Cta& cta, Group& g, OpId id) {
  const Op& op = cta.p.m[id];
  if (op.kind == OpKind::load) return exec_load(cta, g, op), true;
  if (op.kind == OpKind::store) return exec_store(cta, g, op), true;
  if (op.kind == OpKind::region) return true;  // read where it is used
  if (op.kind == OpKind::assume) return true;
  if (op.kind == OpKind::alloc) {
    if (cta.p.m[op.results[0]].type.space == Space::local) alloc_local(cta, g, id);
    return true;
  }
  return op.results.size() == 1 && op.blocks.empty() && exec_pure(cta.p, g, op);
}

}  // namespace tc::ir::interp
