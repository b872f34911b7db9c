// Calls that read and write memory: loads and stores of N bits, addresses, vector atomics, dp4a, copies of single
// threads, votes over a buffer. A pointer argument is a region: its first element and how many there are.
//   ldg128 of f16 h[8]: four 32-bit words, the first of h[8] and h[9]
// Sources: tilelang/language/builtin.py (ldg32 … sts128), CUDA C++ Programming Guide (__dp4a, __ldg).
#include "compiler/interp/machine.h"

namespace tc::ir::interp {
namespace {

// The region of an operand with at least `bits` bits from its first element on.
Elements words_at(Call& c, size_t operand, size_t lane, int64_t bits) {
  Elements e = elements_of(c.cta, c.g, c.op, c.op.operands[operand], lane);
  int64_t element_bits = int64_t{info(e.mem.dtype).bits} * e.mem.width;
  if (e.mem.space == Space::global && e.first * element_bits + bits > e.mem.elements() * element_bits)
    stop(c.op, "an access of " + std::to_string(bits) + " bits leaves its buffer");
  if (e.first * element_bits % 8 != 0) stop(c.op, "an access that does not begin at a byte");
  e.mem.data += e.first * element_bits / 8;
  e.first = 0;
  return e;
}

// False where the predicate (the operand, if there is one) does not hold.
bool holds(const Call& c, size_t operand, size_t lane) {
  return c.op.operands.size() <= operand || c.at(operand, lane).i != 0;
}

void load_words(Call& c) {
  int64_t bits = int_attr(c.op, "bits", 32);
  auto width = static_cast<uint32_t>(bits / 32);
  Slot out{{}, std::vector<Number>(c.g.lanes * width), width};
  c.each([&](size_t l) {
    if (!holds(c, 1, l)) return;
    Elements from = words_at(c, 0, l, bits);
    for (uint32_t k = 0; k < width; ++k) out.lanes[l * width + k] = load(DType::u32, from.mem.data, k);
  });
  if (width == 1) {
    out.width = 1;
    if (!c.mask) return set_lanes(slot(c.cta.p, c.g, c.op.results[0]), std::move(out.lanes));
  }
  slot(c.cta.p, c.g, c.op.results[0]) = std::move(out);
}

void store_words(Call& c) {
  int64_t bits = int_attr(c.op, "bits", 32);
  const Slot& value = slot(c.cta.p, c.g, c.op.operands[1]);
  const Type& type = c.cta.p.m[c.op.operands[1]].type;
  if (int64_t{info(type.dtype).bits} * type.lanes != bits)
    stop(c.op, "a value of " + std::to_string(info(type.dtype).bits * type.lanes) + " bits is stored as " +
                   std::to_string(bits));
  c.each([&](size_t l) {
    if (!holds(c, 2, l)) return;
    Elements to = words_at(c, 0, l, bits);
    for (uint32_t k = 0; k < type.lanes; ++k) store(type.dtype, to.mem.data, k, value.at(l, k));
  });
}

void load_element(Call& c) {
  uint32_t width = c.cta.p.m[c.op.results[0]].type.lanes;
  Slot out{{}, std::vector<Number>(c.g.lanes * width), width};
  c.each([&](size_t l) {
    Elements from = elements_of(c.cta, c.g, c.op, c.op.operands[0], l);
    if (from.first >= from.mem.elements()) stop(c.op, "the access leaves its buffer");
    for (uint32_t k = 0; k < width; ++k)
      out.lanes[l * width + k] = load(from.mem.dtype, from.mem.data, from.first * width + k);
  });
  if (width == 1 && !c.mask) set_lanes(slot(c.cta.p, c.g, c.op.results[0]), std::move(out.lanes));
  else slot(c.cta.p, c.g, c.op.results[0]) = std::move(out);
}

void address_of(Call& c) {
  c.result([&](size_t l) {
    Memory mem = memory_for(c.cta, c.g, c.op, c.op.operands[0], l);
    int64_t first = 0;
    for (size_t d = 0; d + 1 < c.op.operands.size() && d < mem.shape.size(); ++d)
      first += c.at(d + 1, l).i * mem.strides[d];
    const uint8_t* at = mem.data + first * mem.width * info(mem.dtype).bits / 8;
    for (const Region& r : c.cta.p.regions)
      if (at >= r.data && at < r.data + r.bytes)
        return of(static_cast<int64_t>(r.address + static_cast<uint64_t>(at - r.data)));
    stop_unsupported(c.op, "the address of memory that is not global, in the tile interpreter");
  });
}

void add_vector(Call& c) {
  int64_t lanes = int_attr(c.op, "lanes", 1);
  auto width = static_cast<uint32_t>(lanes);
  Slot before{{}, std::vector<Number>(c.g.lanes * width), width};
  c.each([&](size_t l) {
    Elements from = elements_of(c.cta, c.g, c.op, c.op.operands[0], l),
             to = elements_of(c.cta, c.g, c.op, c.op.operands[1], l);
    if (from.first + lanes > from.mem.elements() || to.first + lanes > to.mem.elements())
      stop(c.op, "the access leaves its buffer");
    for (int64_t k = 0; k < lanes; ++k) {
      Number v = load(from.mem.dtype, from.mem.data, from.first + k);
      add_atomically(c.cta.p, "add", to.mem, to.first + k, convert(from.mem.dtype, to.mem.dtype, v),
                     &before.lanes[l * width + static_cast<size_t>(k)]);
    }
  });
  if (!c.op.results.empty()) slot(c.cta.p, c.g, c.op.results[0]) = std::move(before);
}

// C += the sum of four products of signed bytes.
void dp4a(Call& c) {
  c.each([&](size_t l) {
    Elements e[3];
    for (size_t n = 0; n < 3; ++n) {
      e[n] = elements_of(c.cta, c.g, c.op, c.op.operands[n], l);
      if (e[n].first + (n < 2 ? 4 : 1) > e[n].mem.elements()) stop(c.op, "the access leaves its buffer");
    }
    int64_t sum = load(e[2].mem.dtype, e[2].mem.data, e[2].first).i;
    for (int64_t k = 0; k < 4; ++k)
      sum +=
          load(e[0].mem.dtype, e[0].mem.data, e[0].first + k).i * load(e[1].mem.dtype, e[1].mem.data, e[1].first + k).i;
    store(e[2].mem.dtype, e[2].mem.data, e[2].first, of(wrap_to(e[2].mem.dtype, sum)));
  });
}

void copy_elements(Call& c) {
  int64_t count = int_attr(c.op, "elements", 1);
  c.each([&](size_t l) {
    bool reads = holds(c, 2, l);
    Elements to = elements_of(c.cta, c.g, c.op, c.op.operands[0], l), from;
    if (reads) from = elements_of(c.cta, c.g, c.op, c.op.operands[1], l);
    if (to.first + count > to.mem.elements() || (reads && from.first + count > from.mem.elements()))
      stop(c.op, "the copy leaves its buffer");
    for (int64_t i = 0; i < count; ++i)
      store(to.mem.dtype, to.mem.data, to.first + i,
            reads ? load(from.mem.dtype, from.mem.data, from.first + i) : of(int64_t{0}));
  });
}

void any_or_all(Call& c, bool all) {
  c.result([&](size_t l) {
    Elements e = elements_of(c.cta, c.g, c.op, c.op.operands[0], l);
    bool found = all;
    for (int64_t i = e.first; i < e.first + e.count && i < e.mem.elements(); ++i) {
      Number x = load(e.mem.dtype, e.mem.data, i);
      bool holds = is_float(e.mem.dtype) ? x.f != 0 : x.i != 0;
      found = all ? found && holds : found || holds;
    }
    return of(int64_t{found});
  });
}

constexpr CallRow kRows[] = {
    {"ldg", load_words, true},
    {"lds", load_words, true},
    {"stg", store_words, true},
    {"sts", store_words, true},
    {"ldg_readonly", load_element, true},
    {"address_of", address_of, true},
    {"atomic_add_vector", add_vector, true},
    {"atomic_add_vector_old", add_vector, true},
    {"dp4a", dp4a, true},
    {"ptx_cp_async", copy_elements, true},
    {"any_of", [](Call& c) { any_or_all(c, false); }, true},
    {"all_of", [](Call& c) { any_or_all(c, true); }, true},
};
}  // namespace

std::span<const CallRow> access_rows() { return kRows; }

}  // namespace tc::ir::interp
