// cp.async.bulk.tensor, tiled mode, 1 to 5 dimensions: loads into swizzled shared memory with fill outside the tensor,
// stores clipped to it. PTX ISA 9.7.9.27, 5.5; rules TMA-02 ... 06, TX-04, SMEM-01 ... 10.
//   row r of the box (everything but dimension 0) goes to dst + r * pitch; pitch = swizzle span, or the row without one
//   each 16-byte chunk goes to the XOR of its absolute address
// A load always completes the bytes of the whole box.
#include <cstring>

#include "sim/exec/bulk.h"

namespace tc::sim {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t kPieces = 4;
constexpr uint32_t kChunk = 16;

struct Box {
  const TensorMap* map = nullptr;
  std::array<int64_t, kTmaMaxRank> start{};
  uint32_t shared = 0;

  uint32_t pitch() const {
    const uint32_t span = row(map->swizzle).span_bytes;
    return span ? span : static_cast<uint32_t>(map->row_bytes());
  }
  uint32_t rows() const { return static_cast<uint32_t>(map->rows()); }
  uint32_t footprint() const { return pitch() * rows(); }
  uint32_t place_of(uint32_t r, uint32_t byte) const { return swizzled(map->swizzle, shared + r * pitch() + byte); }
  // Where row r lies in global memory (of its element 0, which may be outside); false: the row is outside.
  bool row_address(uint32_t r, uint64_t& address) const {
    int64_t a = static_cast<int64_t>(map->address);
    for (uint32_t d = 1; d < map->rank; ++d) {
      const int64_t x = start[d] + static_cast<int64_t>(r % map->counts[d]) * map->steps[d];
      r /= map->counts[d];
      if (x < 0 || static_cast<uint64_t>(x) >= map->dims[d]) return false;
      a += x * static_cast<int64_t>(map->strides[d]);
    }
    address = static_cast<uint64_t>(a);
    return true;
  }
  // Elements [first, last) of a row are inside the tensor.
  void inside(uint32_t& first, uint32_t& last) const {
    const int64_t n = map->counts[0], x = start[0], dim = static_cast<int64_t>(map->dims[0]);
    first = static_cast<uint32_t>(std::clamp<int64_t>(-x, 0, n));
    last = static_cast<uint32_t>(std::clamp<int64_t>(dim - x, first, n));
  }
};

uint8_t* global_row(Cta& c, const Box& b, uint32_t r, uint32_t first, uint32_t last, uint32_t place) {
  uint64_t address = 0;
  if (first == last || !b.row_address(r, address)) return nullptr;
  const uint32_t e = b.map->element_bytes;
  address += static_cast<uint64_t>(b.start[0] + first) * e;
  uint8_t* p = c.global.find(address, uint64_t{last - first} * e);
  if (!p) c.fault("BOUND-01", place, "tensor map '" + b.map->name + "' reaches outside of its tensor");
  return p;
}

struct TensorLoad : LoadOp {
  Box box;
  uint32_t done = 0;  // rows

  bool step(Cta& c) override {
    const TensorMap& m = *box.map;
    const uint32_t piece = (box.rows() + kPieces - 1) / kPieces, end = std::min(box.rows(), done + piece);
    const auto row_bytes = static_cast<uint32_t>(m.row_bytes());
    std::vector<uint8_t> line(row_bytes);
    uint32_t first = 0, last = 0;
    box.inside(first, last);
    const uint32_t bytes = (end - done) * row_bytes;
    for (; done < end; ++done) {
      const uint8_t* p = global_row(c, box, done, first, last, place);
      if (c.trap) return true;
      fill(line);
      if (p) std::memcpy(line.data() + first * m.element_bytes, p, size_t{last - first} * m.element_bytes);
      for (uint32_t at = 0; at < row_bytes; at += kChunk)
        std::memcpy(c.shared.data() + box.place_of(done, at), line.data() + at, kChunk);
    }
    return !landed(c, bytes) || done == box.rows();
  }
  void fill(std::vector<uint8_t>& line) const {
    const TensorMap& m = *box.map;
    if (!m.nan_fill) return std::fill(line.begin(), line.end(), uint8_t{0});
    for (size_t at = 0; at < line.size(); at += m.element_bytes)
      std::memcpy(line.data() + at, &m.nan_bits, m.element_bytes);
  }
  std::string describe(const Cta& c) const override {
    return "tensor load through '" + box.map->name + "' to " + c.shared_text(box.shared);
  }
};

struct TensorStore : StoreOp {
  Box box;

  bool step(Cta& c) override {
    const auto row_bytes = static_cast<uint32_t>(box.map->row_bytes());
    if (!reads_done) {
      data.resize(size_t{row_bytes} * box.rows());
      for (uint32_t r = 0; r < box.rows(); ++r)
        for (uint32_t at = 0; at < row_bytes; at += kChunk)
          std::memcpy(data.data() + size_t{r} * row_bytes + at, c.shared.data() + box.place_of(r, at), kChunk);
      reads_done = true;
      return false;
    }
    uint32_t first = 0, last = 0;
    box.inside(first, last);
    for (uint32_t r = 0; r < box.rows(); ++r) {
      uint8_t* p = global_row(c, box, r, first, last, place);
      if (c.trap) return true;
      if (p)
        std::memcpy(p, data.data() + size_t{r} * row_bytes + first * box.map->element_bytes,
                    size_t{last - first} * box.map->element_bytes);
    }
    return true;
  }
  std::string describe(const Cta& c) const override {
    return "tensor store through '" + box.map->name + "' from " + c.shared_text(box.shared);
  }
};

// Tells the race checker which bytes of shared memory the box covers.
template <class Note>
void each_range(const Box& b, Note note) {
  const auto row_bytes = static_cast<uint32_t>(b.map->row_bytes());
  const uint32_t span = row(b.map->swizzle).span_bytes;
  if (row_bytes == b.pitch() && (span == 0 || b.shared % span == 0)) return note(b.shared, b.footprint());
  for (uint32_t r = 0; r < b.rows(); ++r)
    for (uint32_t at = 0; at < row_bytes; at += kChunk) note(b.place_of(r, at), kChunk);
}

// The same of global memory: what of each row is inside the tensor.
template <class Note>
void each_global_range(const Box& b, Note note) {
  uint32_t first = 0, last = 0;
  b.inside(first, last);
  const uint64_t e = b.map->element_bytes;
  for (uint32_t r = 0; r < b.rows(); ++r)
    if (uint64_t address = 0; first < last && b.row_address(r, address))
      note(address + static_cast<uint64_t>(b.start[0] + first) * e, (last - first) * e);
}

// Finds the tensor map that a generic address names: the machine's copy carries its number (see sim/run.cc).
const TensorMap* map_at(Warp& w, const Insn& i, uint32_t lane, uint64_t address) {
  Cta& c = *w.cta;
  const uint64_t original = address;
  const Space space = resolve(address);
  if (original % kTensorMapAlign) return c.fault("TMA-12", i.place, "the tensor map is not 64-byte aligned"), nullptr;
  const uint8_t* p = host_memory(w, i, lane, space, address, kTensorMapBytes, false);
  if (!p) return nullptr;
  uint32_t index = 0;
  std::memcpy(&index, p + 8, sizeof index);
  if (std::memcmp(p, "tensmap", 8) != 0 || index >= c.launch.tensor_maps.size())
    return c.fault("TMA-12", i.place, "there is no tensor map at this address"), nullptr;
  return &c.launch.tensor_maps[index];
}

// lists[imm ...]: addresses of map, shared memory, mbarrier (three entries each), then the coordinates.
bool box_of(Warp& w, const Insn& i, uint32_t lane, bool load, Box& box) {
  Cta& c = *w.cta;
  const uint32_t* l = c.program.lists.data() + i.imm;
  box.map = map_at(w, i, lane, stored_address(w, l, lane));
  if (!box.map) return false;
  if (box.map->rank != i.a)
    return c.fault(
               "TMA-03", i.place,
               "a " + std::to_string(i.a) + "-dimensional copy with a map of rank " + std::to_string(box.map->rank)),
           false;
  for (uint32_t d = 0; d < i.a; ++d) box.start[d] = static_cast<int32_t>(w.reg<uint32_t>(l[9 + d])[lane]);
  if (box.start[0] * box.map->element_bytes % kTmaInnerAlign)
    return c.fault("TMA-04", i.place,
                   "the first coordinate " + std::to_string(box.start[0]) + " is no multiple of 16 bytes"),
           false;
  for (uint32_t d = 0; d < i.a && !load; ++d)
    if (box.start[d] < 0)
      return c.fault("TMA-06", i.place, "a store starts at the negative coordinate " + std::to_string(box.start[d])),
             false;
  return shared_address(w, i, stored_address(w, l + 3, lane), box.footprint(), kTmaTensorSmemAlign, box.shared);
}

Step tensor_load(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<TensorLoad>();
    if (!box_of(w, i, l, true, op->box)) return Step::trap;
    if (!load_barrier(w, i, stored_address(w, c.program.lists.data() + i.imm + 6, l), *op)) return Step::trap;
    note_copy(w, c, *c.mbarrier_at(op->barrier), op->barrier, i.place);
    each_range(op->box, [&](uint32_t at, uint32_t bytes) { note_load_write(w, l, *op, at, bytes); });
    if (c.race) each_global_range(op->box, [&](uint64_t at, uint64_t bytes) { note_load_read(w, l, *op, at, bytes); });
    c.issue(std::move(op), kLoadLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

Step tensor_store(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<TensorStore>();
    if (!box_of(w, i, l, false, op->box)) return Step::trap;
    enter_group(w, l, i, *op);
    each_range(op->box, [&](uint32_t at, uint32_t bytes) { note_store_read(w, l, *op, at, bytes); });
    if (c.race)
      each_global_range(op->box, [&](uint64_t at, uint64_t bytes) { note_store_write(w, l, *op, at, bytes, Access::write); });
    c.issue(std::move(op), kStoreLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

}  // namespace

void build_tensor_copy(Builder& b) {
  uint8_t rank = 0;
  for (std::string_view d : {"1d", "2d", "3d", "4d", "5d"}) {
    ++rank;
    if (b.mods().take(d)) break;
    if (rank == kTmaMaxRank) return b.unsupported_form(b.insn().opcode);
  }
  const bool load = b.mods().take("mbarrier::complete_tx::bytes"), store = b.mods().take("bulk_group");
  const bool hint = b.mods().take("L2::cache_hint");
  b.mods().take("tile");
  if (b.mods().take("multicast::cluster")) return b.unsupported_form("multicast (clusters of more than one CTA)");
  const auto to = b.mods().take_any(), from = b.mods().take_any();
  const bool known = (load && to && to->starts_with("shared::") && from == "global") ||
                     (store && to == "global" && from == "shared::cta");
  if (load == store || !known) return b.unsupported_form(b.insn().opcode);
  const size_t count = load ? 3 : 2;
  b.expect_operands(count, count + (hint ? 1 : 0));
  const Operand& map = b.operand(load ? 1 : 0);
  if (map.parts.size() != 1 || map.parts[0].parts.size() != rank)
    return b.fail("expected " + std::to_string(rank) + " coordinates");
  std::vector<uint32_t> list;
  append_address(list, b.address(map));
  append_address(list, b.address(b.operand(load ? 0 : 1)));
  append_address(list, load ? b.address(b.operand(2)) : AddressOperand{});
  for (const Operand& x : map.parts[0].parts) list.push_back(b.source(x, Type::s32));
  const uint32_t at = b.list(list);
  Insn& i = b.emit(load ? tensor_load : tensor_store);
  i.imm = at, i.a = rank;
}

}  // namespace tc::sim
