// Buffers of the interpreter: what a lane reaches under a buffer's name, elements, atomics, views and pointers.
// A view holds its byte offset as its value, a pointer its address, so both follow the threads when groups split.
//   s: f32[64, 32] shared;  v = view s, 2, 0 : f16[4, 32]   begins 2 * 32 * 4 = 256 bytes into s
// Fails: an element outside of a buffer that is not global, a view larger than what it views, an address that is none.
#include <algorithm>
#include <atomic>

#include "compiler/interp/machine.h"

namespace tc::ir::interp {

int64_t Memory::elements() const {
  int64_t n = 1;
  for (int64_t e : shape) n *= e;
  return n;
}

Memory make_memory(const Type& type, const std::vector<int64_t>& shape, bool allocate) {
  Memory mem{.dtype = type.dtype,
             .width = type.lanes,
             .space = type.space,
             .shape = shape,
             .strides = std::vector<int64_t>(shape.size(), 1)};
  for (size_t d = shape.size(); d-- > 1;) mem.strides[d - 1] = mem.strides[d] * shape[d];
  mem.bytes = (bytes_for(type.dtype, mem.elements() * mem.width) + 7) / 8 * 8;
  mem.root_bytes = mem.bytes;
  if (!allocate) return mem;
  mem.own = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(mem.bytes));
  mem.data = mem.own->data();
  fill_unwritten(type.dtype, mem.data, mem.bytes);
  return mem;
}

void check_size(const Op& op, const Type& type, const std::vector<int64_t>& shape, size_t lanes) {
  double bytes = static_cast<double>(lanes) * type.lanes * info(type.dtype).bits / 8;
  for (int64_t e : shape) bytes *= static_cast<double>(e);
  if (bytes > static_cast<double>(kMaxBufferBytes))
    stop_unsupported(op, "a buffer of more than 4 GiB, in the tile interpreter");
}

namespace {

const Memory& memory_of(Cta& cta, const Op& op, ValueId buffer) {
  uint32_t at = cta.p.slot_of[buffer.index];
  if (auto own = cta.memory.find(at); own != cta.memory.end()) return own->second;
  auto global = cta.p.globals.find(at);
  if (global == cta.p.globals.end()) stop(op, "'" + cta.p.m[buffer].name + "' is used before it is there");
  return global->second;
}

// The bytes at an address: all of them have to lie in one tensor.
uint8_t* bytes_at(const Program& p, const Op& op, uint64_t address, int64_t bytes) {
  for (const Region& r : p.regions) {
    if (address < r.address || address - r.address > static_cast<uint64_t>(r.bytes)) continue;
    int64_t offset = static_cast<int64_t>(address - r.address);
    if (offset + bytes <= r.bytes) return r.data + offset;
    stop(op, std::to_string(bytes) + " bytes at an address, where the tensor has " + std::to_string(r.bytes - offset));
  }
  stop(op, "no memory at address " + std::to_string(address));
}

bool active(const Mask* mask, size_t lane) { return !mask || (*mask)[lane]; }

// From the first element to the end of the last.
int64_t span_bytes(const Memory& mem) {
  int64_t last = 0;
  for (size_t d = 0; d < mem.shape.size(); ++d) {
    if (mem.shape[d] == 0) return 0;
    last += (mem.shape[d] - 1) * mem.strides[d];
  }
  return bytes_for(mem.dtype, (last + 1) * mem.width);
}
}  // namespace

Reach::Reach(Cta& cta, Group& g, const Op& op, ValueId buffer) : cta_(cta), op_(op) {
  uint32_t at = cta.p.slot_of[buffer.index];
  if (auto local = g.locals.find(at); local != g.locals.end()) {
    local_ = &local->second;
    memory_ = &local_->shape;
    return;
  }
  memory_ = &memory_of(cta, op, buffer);
  if (memory_->is_view) offset_ = &g.env[at];
  if (memory_->base != Base::local) return;
  auto local = g.locals.find(memory_->root);
  if (local == g.locals.end()) stop(op, "a view of an array that this thread does not have");
  local_ = &local->second;
}

uint8_t* Reach::data(size_t lane) const {
  int64_t offset = offset_ ? offset_->at(lane).i : 0;
  if (memory_->base == Base::address) return bytes_at(cta_.p, op_, static_cast<uint64_t>(offset), span_bytes(*memory_));
  return (local_ ? local_->of(lane) : memory_->data) + offset;
}

Memory memory_for(Cta& cta, Group& g, const Op& op, ValueId buffer, size_t lane) {
  Reach reach(cta, g, op, buffer);
  Memory mem = reach.memory();
  mem.data = reach.data(lane);
  return mem;
}

Memory memory_of_peer(Cta& cta, Cta& peer, const Op& op, const Memory& mine) {
  auto here = cta.memory.find(mine.root), there = peer.memory.find(mine.root);
  if (mine.base != Base::memory || mine.space == Space::global) return mine;
  if (here == cta.memory.end() || there == peer.memory.end()) stop(op, "the other CTA does not have this buffer");
  Memory out = mine;
  out.data = there->second.data + (mine.data - here->second.data);
  return out;
}

Elements elements_of(Cta& cta, Group& g, const Op& op, ValueId region, size_t lane) {
  const Module& m = cta.p.m;
  ValueId buffer = buffer_of(m, region);
  Elements e{.mem = memory_for(cta, g, op, buffer, lane)};
  size_t rank = e.mem.shape.size();
  if (buffer == region) {
    e.count = e.mem.elements();
    return e;
  }
  const Op& box = m[m[region].def];
  e.count = 1;
  for (size_t d = 0; d < rank; ++d) {
    int64_t at = lane_int(cta.p, g, box.operands[1 + d], lane);
    if (at < 0 || at > e.mem.shape[d]) stop(op, "the access leaves its buffer");
    e.first += at * e.mem.strides[d];
    e.count *= lane_int(cta.p, g, box.operands[1 + rank + d], lane);
  }
  return e;
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

// Element offset, or -1 outside of the buffer. The indices are operands from the second on.
int64_t offset_of(const Program& p, const Group& g, const Op& op, const Memory& mem, size_t lane) {
  int64_t offset = 0;
  for (size_t d = 0; d < mem.shape.size(); ++d) {
    int64_t i = lane_int(p, g, op.operands[1 + d], lane);
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

// Offset of the lane's element; -1: outside of a global tensor, where reads give 0 and writes are skipped.
int64_t checked_offset(const Program& p, const Group& g, const Op& op, const Memory& mem, size_t lane) {
  int64_t offset = offset_of(p, g, op, mem, lane);
  if (offset < 0 && mem.space != Space::global) outside(p, g, op, mem, lane);
  return offset;
}

bool uniform_scalars(const Program& p, const Group& g, const Op& op) {
  return std::all_of(op.operands.begin() + 1, op.operands.end(),
                     [&](ValueId v) { return p.m[v].type.kind != TypeKind::scalar || slot(p, g, v).is_uniform(); });
}

void exec_load(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  const Program& p = cta.p;
  Slot& out = slot(p, g, op.results[0]);
  Reach reach(cta, g, op, op.operands[0]);
  const Memory& mem = reach.memory();
  bool once = reach.same() && uniform_scalars(p, g, op);
  size_t lanes = once ? 1 : g.lanes;
  const uint8_t* data = reach.same() ? reach.data(0) : nullptr;
  if (once && mem.width == 1) {
    int64_t offset = checked_offset(p, g, op, mem, 0);
    out = {offset < 0 ? Number{} : load(mem.dtype, data, offset), {}};
    return;
  }
  std::vector<Number> numbers(lanes * mem.width);
  for (size_t i = 0; i < lanes; ++i) {
    if (!once && !active(mask, i)) continue;
    int64_t offset = checked_offset(p, g, op, mem, i);
    const uint8_t* from = data ? data : reach.data(i);
    for (uint32_t k = 0; offset >= 0 && k < mem.width; ++k)
      numbers[i * mem.width + k] = load(mem.dtype, from, offset * mem.width + k);
  }
  out.width = mem.width;
  if (mask || mem.width > 1) out.lanes = std::move(numbers);
  else set_lanes(out, std::move(numbers));
}

// The store of an update in iterations of a loop: each takes up what the one before has left.
void exec_update(Cta& cta, Group& g, const Op& op, const Decoded& d, const Mask* mask) {
  const Program& p = cta.p;
  const Op& combine = p.m[d.update];
  DType in = p.decoded[d.update.index].operand, out = p.m[combine.results[0]].type.dtype;
  Binary f = p.decoded[d.update.index].two;
  const Slot& added = slot(p, g, combine.operands[d.added]);
  Reach reach(cta, g, op, op.operands[0]);
  const Memory& mem = reach.memory();
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    int64_t offset = checked_offset(p, g, op, mem, i);
    if (offset < 0) continue;
    uint8_t* data = reach.data(i);
    Number old = convert(mem.dtype, in, load(mem.dtype, data, offset)), x = added.at(i);
    store(mem.dtype, data, offset, convert(out, mem.dtype, d.added == 1 ? f(in, old, x) : f(in, x, old)));
  }
}

void exec_store(Cta& cta, Group& g, const Op& op, const Decoded& d, const Mask* mask) {
  const Program& p = cta.p;
  if (g.iterations && d.update.valid() && !p.decoded[d.update.index].vectors) return exec_update(cta, g, op, d, mask);
  const Slot& value = slot(p, g, op.operands.back());
  DType type = p.m[op.operands.back()].type.dtype;
  Reach reach(cta, g, op, op.operands[0]);
  const Memory& mem = reach.memory();
  if (value.width != mem.width && value.width != 1) stop(op, "the value has another number of lanes than the element");
  bool once = reach.same() && uniform_scalars(p, g, op);
  uint8_t* data = reach.same() ? reach.data(0) : nullptr;
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    int64_t offset = checked_offset(p, g, op, mem, i);
    uint8_t* to = data ? data : reach.data(i);
    for (uint32_t k = 0; offset >= 0 && k < mem.width; ++k)
      store(mem.dtype, to, offset * mem.width + k, convert(type, mem.dtype, value.at(i, k)));
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
  std::string name = atomic_name(p.m, op);
  Reach reach(cta, g, op, op.operands[0]);
  Memory mem = reach.memory();
  for (size_t i = 0; i < g.lanes; ++i) {
    if (!active(mask, i)) continue;
    int64_t offset = checked_offset(p, g, op, mem, i);
    if (offset < 0) continue;
    mem.data = reach.data(i);
    if (op.kind == OpKind::atomic_load) before[i] = load(mem.dtype, mem.data, offset);
    else
      add_atomically(cta.p, name, mem, offset, convert(type, mem.dtype, slot(p, g, op.operands.back()).at(i)),
                     &before[i]);
  }
  if (!op.results.empty()) set_lanes(slot(p, g, op.results[0]), std::move(before));
}

void exec_alloc(Cta& cta, Group& g, const Op& op) {
  const Type& type = cta.p.m[op.results[0]].type;
  if (type.space != Space::local) return;
  Local& local = g.locals[cta.p.slot_of[op.results[0].index]];
  std::vector<int64_t> shape = shape_at_launch(cta.p.m, cta.p.f, type, cta.p.symbols);
  check_size(op, type, shape, g.lanes);
  local.shape = make_memory(type, shape, false);
  local.shape.root = cta.p.slot_of[op.results[0].index];
  local.cells.assign(static_cast<size_t>(local.shape.bytes) * g.lanes, 0);
  fill_unwritten(type.dtype, local.cells.data(), static_cast<int64_t>(local.cells.size()));
}

Memory view_shape(Cta& cta, const Op& op) {
  const Type& type = cta.p.m[op.results[0]].type;
  Memory view = make_memory(type, shape_at_launch(cta.p.m, cta.p.f, type, cta.p.symbols), false);
  view.is_view = true;
  for (size_t d = 0; d < view.shape.size() && type.strides.size() == view.shape.size(); ++d) {
    if (type.strides[d].dynamic()) stop_unsupported(op, "a stride known at run time only, in the tile interpreter");
    view.strides[d] = type.strides[d].value;
  }
  return view;
}

void keep_view(Cta& cta, const Op& op, Memory view) {
  (cta.is_host ? cta.p.globals : cta.memory)[cta.p.slot_of[op.results[0].index]] = std::move(view);
}

void exec_view(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  uint32_t source = cta.p.slot_of[op.operands[0].index];
  bool is_local = g.locals.contains(source);
  Memory from = is_local ? g.locals.at(source).shape : memory_of(cta, op, op.operands[0]), view = view_shape(cta, op);
  view.space = from.space;
  view.base = is_local ? Base::local : from.base;
  view.root = from.root, view.data = from.data, view.own = from.own;
  view.root_bytes = from.root_bytes;
  std::vector<Number> offsets(g.lanes);
  for (size_t l = 0; l < g.lanes; ++l) {
    if (!active(mask, l)) continue;
    int64_t elements = 0, before = from.is_view ? g.env[source].at(l).i : 0;
    for (size_t d = 0; d + 1 < op.operands.size(); ++d)
      elements += lane_int(cta.p, g, op.operands[1 + d], l) * from.strides[d];
    int64_t offset = before + elements * from.width * info(from.dtype).bits / 8;
    bool fits = view.base == Base::address || (offset >= 0 && offset + span_bytes(view) <= view.root_bytes);
    if (!fits) stop(op, "the view is larger than '" + cta.p.m[op.operands[0]].name + "'");
    offsets[l] = of(offset);
  }
  if (mask) slot(cta.p, g, op.results[0]) = {{}, std::move(offsets)};
  else set_lanes(slot(cta.p, g, op.results[0]), std::move(offsets));
  keep_view(cta, op, std::move(view));
}

void exec_pointer_view(Cta& cta, Group& g, const Op& op) {
  Memory view = view_shape(cta, op);
  view.base = Base::address;
  slot(cta.p, g, op.results[0]) = slot(cta.p, g, op.operands[0]);
  keep_view(cta, op, std::move(view));
}
}  // namespace

bool exec_memory(Cta& cta, Group& g, OpId id, const Mask* mask) {
  const Op& op = cta.p.m[id];
  switch (op.kind) {
    case OpKind::load: return exec_load(cta, g, op, mask), true;
    case OpKind::store: return exec_store(cta, g, op, cta.p.decoded[id.index], mask), true;
    case OpKind::atomic_element:
    case OpKind::atomic_load:
    case OpKind::atomic_store:
    case OpKind::reducer_update: return exec_atomic(cta, g, op, mask), true;
    case OpKind::alloc: return exec_alloc(cta, g, op), true;
    case OpKind::view: return exec_view(cta, g, op, mask), true;
    case OpKind::pointer_view: return exec_pointer_view(cta, g, op), true;
    default: return false;
  }
}

}  // namespace tc::ir::interp
