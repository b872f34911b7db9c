// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: loads into swizzled shared memory of one CTA or several with
// fill outside the tensor, stores and reductions clipped to it. PTX ISA 9.7.9.27, 5.5; rules TMA-02 ... 06, TX-04, 05,
// 07. A load always completes the bytes of the whole box, on the mbarrier of each CTA that it writes to.
#include <cstring>

#include "sim/exec/reduce.h"
#include "sim/exec/tensor_box.h"
#include "sim/exec/tensor_form.h"

namespace tc::sim {
namespace {

constexpr uint32_t kPieces = 4;

// The global bytes of row r that are inside the tensor; null where there are none, or after a trap.
uint8_t* global_row(Cta& c, const TensorBox& b, uint32_t r, uint32_t place) {
  if (!b.has(r)) return nullptr;
  uint8_t* p = c.global.find(b.address(r), b.inside_bytes());
  if (!p) c.fault("BOUND-01", place, "tensor map '" + map_name(c, b.map) + "' reaches outside of its tensor");
  return p;
}

struct TensorLoad : LoadOp {
  TensorBox box;
  uint32_t done = 0;  // rows

  bool step(Cta& c) override {
    const auto count = static_cast<uint32_t>(box.rows.size()),
               end = std::min(count, done + (count + kPieces - 1) / kPieces);
    const uint32_t bytes = (end - done) * box.row_bytes;
    std::vector<uint8_t> line(box.row_bytes);
    for (; done < end; ++done) {
      const uint8_t* p = global_row(c, box, done, place);
      if (c.trap) return true;
      if (!p || box.inside_bytes() != box.row_bytes) {
        fill(line);
        if (p) std::memcpy(line.data() + box.first * box.map.element_bytes(), p, box.inside_bytes());
        p = line.data();
      }
      for (const CopyTarget& t : targets) scatter_row(box, done, p, t.cta->shared.data(), t.to);
    }
    return !landed(c, bytes) || done == count;
  }
  void fill(std::vector<uint8_t>& line) const {
    const TmaTypeRow& type = row(box.map.type);
    if (!box.map.nan_fill) return std::fill(line.begin(), line.end(), uint8_t{0});
    for (size_t at = 0; at < line.size(); at += type.bytes) std::memcpy(line.data() + at, &type.nan, type.bytes);
  }
  std::string describe(const Cta& c) const override {
    return "tensor load through '" + map_name(c, box.map) + "' to " + where();
  }
};

struct TensorStore : StoreOp {
  TensorBox box;
  uint32_t from = 0;
  ReduceFn reduce = nullptr;

  bool step(Cta& c) override {
    const auto count = static_cast<uint32_t>(box.rows.size());
    if (!reads_done) {
      data.resize(size_t{box.row_bytes} * count);
      for (uint32_t r = 0; r < count; ++r)
        gather_row(box, r, data.data() + size_t{r} * box.row_bytes, c.shared.data(), from);
      reads_done = true;
      return false;
    }
    for (uint32_t r = 0; r < count; ++r) {
      uint8_t* p = global_row(c, box, r, place);
      if (c.trap) return true;
      if (!p) continue;
      const uint8_t* line = data.data() + size_t{r} * box.row_bytes + box.first * box.map.element_bytes();
      if (reduce) reduce(p, line, box.inside_bytes());
      else std::memcpy(p, line, box.inside_bytes());
    }
    return true;
  }
  std::string describe(const Cta& c) const override {
    return "tensor store through '" + map_name(c, box.map) + "' from " + c.shared_text(from);
  }
};

const uint32_t* operands(const Warp& w, const Insn& i) { return w.cta->program.lists.data() + i.imm; }

// Map and coordinates of a lane; false after a trap.
bool box_of(Warp& w, const Insn& i, uint32_t lane, bool load, TensorBox& box) {
  Cta& c = *w.cta;
  const uint32_t* l = operands(w, i);
  const TensorMap* map = map_at(w, i, lane, stored_address(w, l + kMapAt, lane));
  if (!map) return false;
  if (map->rank != i.a)
    return c.fault("TMA-03", i.place,
                   "a " + std::to_string(i.a) + "-dimensional copy with a map of rank " + std::to_string(map->rank)),
           false;
  if (map->im2col != (static_cast<TensorMode>(i.b & ~kClusterSpace) == TensorMode::im2col))
    return c.fault("TMA-03", i.place,
                   map->im2col ? "a tiled copy with an im2col map" : "an im2col copy with a tiled map"),
           false;
  BoxStart start;
  for (uint32_t d = 0; d < i.a; ++d) start.at[d] = static_cast<int32_t>(w.reg<uint32_t>(l[kCoordinatesAt + d])[lane]);
  for (uint32_t d = 0; map->im2col && load && d + 2 < i.a; ++d)
    start.offsets[d] = static_cast<uint16_t>(w.reg<uint32_t>(l[kCoordinatesAt + i.a + d])[lane]);
  if (start.at[0] * map->element_bytes() % kTmaInnerAlign)
    return c.fault("TMA-04", i.place,
                   "the first coordinate " + std::to_string(start.at[0]) + " is no multiple of 16 bytes"),
           false;
  for (uint32_t d = 0; d < i.a && !load && !map->im2col; ++d)
    if (start.at[d] < 0)
      return c.fault("TMA-06", i.place, "a store starts at the negative coordinate " + std::to_string(start.at[d])),
             false;
  box = make_box(*map, start);
  return true;
}

}  // namespace

Step tensor_load(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  const uint32_t* list = operands(w, i);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<TensorLoad>();
    if (!box_of(w, i, l, true, op->box)) return Step::trap;
    LoadEnds ends{stored_address(w, list + kSharedAt, l),
                  stored_address(w, list + kBarrierAt, l),
                  op->box.footprint(),
                  kTmaTensorSmemAlign,
                  (i.c & kOwnCta) != 0,
                  {}};
    if (i.c & kMulticast) ends.multicast_mask = static_cast<uint16_t>(w.reg<uint32_t>(i.src[2])[l]);
    if (!find_targets(w, i, ends, *op)) return Step::trap;
    if (op->targets.empty()) continue;
    note_phases(w, *op);
    if (c.race) {
      each_shared_range(op->box, op->targets.front().to,
                        [&](uint32_t at, uint32_t bytes) { note_load_write(w, l, *op, at, bytes); });
      for (size_t r = 0; r < op->box.rows.size(); ++r)
        if (op->box.has(r)) note_load_read(w, l, *op, op->box.address(r), op->box.inside_bytes());
    }
    c.issue(std::move(op), kLoadLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

// Lanes of one warp may all issue the very same store (CUTLASS epilogues do): its writes are the same bytes, so they are
// noted once.
Step tensor_store(Warp& w, const Insn& i) {
  Cta& c = *w.cta;
  const TensorStore* first = nullptr;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    auto op = std::make_unique<TensorStore>();
    if (!box_of(w, i, l, false, op->box)) return Step::trap;
    const TensorBox& b = op->box;
    if (!shared_address(w, i, stored_address(w, operands(w, i) + kSharedAt, l), b.footprint(), kTmaTensorSmemAlign,
                        op->from))
      return Step::trap;
    if (i.c & kTensorReduces) {
      const ReduceRow& reduction = tc::kReduces[i.d];
      const std::string_view type = row(b.map.type).name;
      if (!names_type(reduction.tensor, type))
        return c.fault("TMA-16", i.place,
                       "there is no ." + std::string(reduction.name) + " of " + std::string(type) + " elements");
      op->reduce = find_reduce(reduction.op, type);
    }
    enter_group(w, l, i, *op);
    const bool again = first && !op->reduce && first->from == op->from && first->box.rows == b.rows;
    if (!first) first = op.get();
    if (c.race && !again) {
      bool any = b.rows.empty();
      each_shared_range(b, op->from, [&](uint32_t at, uint32_t bytes) {
        note_store_read(w, l, *op, op->from + at, bytes);
        any = any || has_value(w, op->from + at, bytes);
      });
      if (!any) report_no_value(w, op->from, i.place);
      for (size_t r = 0; r < b.rows.size(); ++r)
        if (b.has(r))
          note_store_write(w, l, *op, b.address(r), b.inside_bytes(),
                           op->reduce ? Access::strong_write : Access::write);
    }
    c.issue(std::move(op), kStoreLatency);
  }
  c.note_event(EventKind::bulk_issue, w, i.place);
  return Step::next;
}

// No effect; the operands are checked.
Step tensor_prefetch(Warp& w, const Insn& i) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    TensorBox box;
    if (!box_of(w, i, lowest_lane(m), true, box)) return Step::trap;
  }
  return Step::next;
}

}  // namespace tc::sim
