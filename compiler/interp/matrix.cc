// Matrix instructions of a warp in the interpreter: ldmatrix, mma and sparse mma on the threads' own arrays. The maps
// between registers and matrices are those of specs/mma.h; products are summed in double (integers exactly) and rounded
// once to the accumulator's type. Shapes and types that no machine has are errors.
//   m16n8k16 f16: element 3 of lane 5's A fragment is A[9, 3]; lane 5 holds C[1, 2] and C[1, 3], C[9, 2] and C[9, 3]
// Source: PTX ISA 9.7.14.5, 9.7.14.6.
#include <array>

#include "compiler/interp/machine.h"
#include "specs/mma.h"

namespace tc::ir::interp {
namespace {
constexpr size_t kWarp = 32;
using Lanes = std::array<size_t, kWarp>;

// The types by the names that programs use.
constexpr std::pair<std::string_view, MmaType> kNames[] = {{"fp16", MmaType::f16},
                                                           {"float16", MmaType::f16},
                                                           {"bf16", MmaType::bf16},
                                                           {"bfloat16", MmaType::bf16},
                                                           {"tf32", MmaType::tf32},
                                                           {"fp32", MmaType::f32},
                                                           {"float32", MmaType::f32},
                                                           {"fp64", MmaType::f64},
                                                           {"float64", MmaType::f64},
                                                           {"int32", MmaType::s32},
                                                           {"int8", MmaType::s8},
                                                           {"uint8", MmaType::u8},
                                                           {"int4", MmaType::s4},
                                                           {"uint4", MmaType::u4},
                                                           {"e4m3", MmaType::e4m3},
                                                           {"float8_e4m3", MmaType::e4m3},
                                                           {"float8_e4m3fn", MmaType::e4m3},
                                                           {"e5m2", MmaType::e5m2},
                                                           {"float8_e5m2", MmaType::e5m2}};
constexpr std::pair<MmaType, DType> kElements[] = {
    {MmaType::f16, DType::f16}, {MmaType::bf16, DType::bf16}, {MmaType::tf32, DType::f32},
    {MmaType::f32, DType::f32}, {MmaType::f64, DType::f64},   {MmaType::s32, DType::i32},
    {MmaType::s8, DType::i8},   {MmaType::u8, DType::u8},     {MmaType::s4, DType::i4},
    {MmaType::u4, DType::u4},   {MmaType::e4m3, DType::e4m3}, {MmaType::e5m2, DType::e5m2}};

struct Instruction {
  const MmaShape* shape;
  MmaType a, b, c;
};

MmaType type_named(const Op& op, std::string_view attr) {
  std::string_view name = text_attr(op, attr, "");
  for (auto [text, type] : kNames)
    if (text == name) return type;
  if (auto type = mma_type_named(name)) return *type;
  stop_unsupported(op, "elements of type '" + std::string(name) + "' of a matrix instruction, in the tile interpreter");
}

DType element(const Op& op, MmaType type) {
  for (auto [mma, dtype] : kElements)
    if (mma == type) return dtype;
  stop_unsupported(op, "matrix instructions of " + std::string(row(type).name) + ", in the tile interpreter");
}

uint8_t accumulator_bit(MmaType c) {
  return c == MmaType::f16   ? kAccF16
         : c == MmaType::f32 ? kAccF32
         : c == MmaType::s32 ? kAccS32
         : c == MmaType::f64 ? kAccF64
                             : 0;
}

Instruction instruction(const Op& op, bool sparse) {
  Instruction in{nullptr, type_named(op, "A_dtype"), type_named(op, "B_dtype"), type_named(op, "C_dtype")};
  std::string shape(text_attr(op, "shape", ""));
  unsigned m = 0, n = 0, k = 0;
  if (std::sscanf(shape.c_str(), "m%un%uk%u", &m, &n, &k) != 3)
    stop(op, "'" + shape + "' is no shape of a matrix instruction");
  for (const MmaShape& s : kMmaShapes)
    if (s.kind == MmaKind::plain && s.op == BitOp::none && s.sparse == sparse && s.m == m && s.n == n && s.k == k &&
        (s.group.types & bit(in.a)) && (s.group.types & bit(in.b)) && (s.group.mixed || in.a == in.b) &&
        (s.accumulators & accumulator_bit(in.c)))
      in.shape = &s;
  if (!in.shape || text_attr(op, "A_layout", "row") != "row" || text_attr(op, "B_layout", "col") != "col")
    stop(op, "there is no matrix instruction " + shape + " of these types and layouts");
  if (in.shape->k == 4 && in.a == MmaType::f16) stop_unsupported(op, "m8n8k4 of float16, in the tile interpreter");
  return in;
}

struct Warp {
  Cta& cta;
  Group& g;
  const Op& op;
  Lanes lanes;

  // The bytes that an operand names in a lane, from element `index` on; `count` bytes have to be there.
  uint8_t* bytes(size_t operand, int64_t index, size_t lane, int64_t count) const {
    const Module& m = cta.p.m;
    ValueId v = op.operands[operand], b = buffer_of(m, v);
    if (m[b].type.space == Space::fragment)
      stop_unsupported(op, "a matrix instruction on a fragment, whose layout is chosen later; use T.alloc_local");
    Memory mem = memory_for(cta, g, op, b, lane);
    int64_t at = index;
    for (size_t d = 0; b != v && d < mem.shape.size(); ++d)
      at += lane_int(cta.p, g, m[m[v].def].operands[1 + d], lane) * mem.strides[d];
    int64_t bits = at * info(mem.dtype).bits;
    if (at < 0 || bits % 8 != 0 || bits / 8 + count > mem.bytes) stop(op, "the instruction leaves its operand's array");
    return mem.data + bits / 8;
  }
  int64_t scalar(size_t operand, size_t lane) const { return lane_int(cta.p, g, op.operands[operand], lane); }
};

// A matrix as numbers, row-major.
struct Matrix {
  uint32_t rows, cols;
  std::vector<Number> at;
  Matrix(uint32_t r, uint32_t c) : rows(r), cols(c), at(size_t{r} * c) {}
  Number& operator()(uint32_t r, uint32_t c) { return at[size_t{r} * cols + c]; }
};

// Element i of a lane's fragment of A (or of B transposed), of a matrix with so many rows.
MatrixPlace operand_place(uint32_t lane, uint32_t i, uint32_t rows, uint32_t bits) {
  uint32_t each = bits >= 32 ? 1 : 32 / bits, r = i / each, blocks = rows / 8;
  uint32_t width = bits == 64 ? 4 : 128 / bits;
  return {r % blocks * 8 + lane / 4, r / blocks * width + lane % 4 * each + i % each};
}
MatrixPlace result_place(uint32_t lane, uint32_t i, uint32_t rows) {
  uint32_t blocks = rows / 8, b = i / 2;
  return {b % blocks * 8 + lane / 4, b / blocks * 8 + 2 * (lane % 4) + i % 2};
}

Number operand_value(DType dtype, MmaType type, const uint8_t* data, uint32_t i) {
  if (type == MmaType::tf32) {  // the low 13 bits do not count
    uint32_t bits;
    std::memcpy(&bits, data + 4 * i, 4);
    bits &= 0xFFFFE000;
    return load(DType::f32, reinterpret_cast<const uint8_t*>(&bits), 0);
  }
  return load(dtype, data, i);
}

Matrix gather(const Warp& w, size_t operand, MmaType type, uint32_t rows, uint32_t cols) {
  Matrix out(rows, cols);
  DType dtype = element(w.op, type);
  uint32_t bits = row(type).bits, count = rows * cols / kWarp;
  for (uint32_t l = 0; l < kWarp; ++l) {
    const uint8_t* data = w.bytes(operand, w.scalar(operand + 1, w.lanes[l]), w.lanes[l], int64_t{count} * bits / 8);
    for (uint32_t i = 0; i < count; ++i) {
      MatrixPlace p = operand_place(l, i, rows, bits);
      out(p.row, p.col) = operand_value(dtype, type, data, i);
    }
  }
  return out;
}

// A with its zeros, from the kept elements and the metadata in operands 6 and 7, selector in 8.
Matrix spread(const Warp& w, const Instruction& in, Matrix kept) {
  const MmaShape& s = *in.shape;
  uint32_t bits = row(in.a).bits, chunk = sparse_chunk(bits), chunks = s.k / chunk, held = chunk / 2;
  std::array<uint32_t, kWarp> words;
  for (size_t l = 0; l < kWarp; ++l) std::memcpy(&words[l], w.bytes(6, w.scalar(7, w.lanes[l]), w.lanes[l], 4), 4);
  int64_t selector = w.scalar(8, w.lanes[0]);
  if (selector < 0 || selector >= s.selectors)
    stop(w.op,
         "the selector of this shape is below " + std::to_string(s.selectors) + ", not " + std::to_string(selector));
  Matrix out(s.m, s.k);
  bool floats = is_float(element(w.op, in.a));
  for (Number& n : out.at) n = floats ? of(0.0) : of(int64_t{0});
  for (uint32_t r = 0; r < s.m; ++r)
    for (uint32_t c = 0; c < chunks; ++c) {
      MetadataPlace place = sparse_metadata(chunks, bits <= 8, static_cast<uint32_t>(selector), r, c);
      uint32_t nibble = words[place.lane] >> (4 * place.nibble) & 15;
      for (uint32_t e = 0; e < held; ++e) {
        uint32_t position = bits == 32  ? (nibble & 3) / 2
                            : bits == 4 ? 2 * (e < 2 ? nibble & 3 : nibble >> 2) + e % 2
                                        : (e == 0 ? nibble & 3 : nibble >> 2);
        out(r, c * chunk + position) = kept(r, c * held + e);
      }
    }
  return out;
}

void mma(Warp& w, bool sparse) {
  Instruction in = instruction(w.op, sparse);
  const MmaShape& s = *in.shape;
  uint32_t kept_k = sparse ? s.k / 2u : s.k;
  Matrix a = gather(w, 0, in.a, s.m, kept_k), b = gather(w, 2, in.b, s.n, s.k);
  if (sparse) a = spread(w, in, std::move(a));
  DType c = element(w.op, in.c);
  uint32_t count = s.m * s.n / kWarp;
  for (uint32_t l = 0; l < kWarp; ++l) {
    uint8_t* data = w.bytes(4, w.scalar(5, w.lanes[l]), w.lanes[l], int64_t{count} * row(in.c).bits / 8);
    for (uint32_t i = 0; i < count; ++i) {
      MatrixPlace p = result_place(l, i, s.m);
      Number sum = load(c, data, i);
      for (uint32_t k = 0; k < s.k; ++k) {
        if (is_float(c)) sum.f += a(p.row, k).f * b(p.col, k).f;
        else sum.i += a(p.row, k).i * b(p.col, k).i;
      }
      if (!is_float(c) && int_attr(w.op, "saturate", 0)) sum.i = std::clamp<int64_t>(sum.i, INT32_MIN, INT32_MAX);
      store(c, data, i, round_to(c, sum));
    }
  }
}

// Lane 8 q + r names row r of matrix q; lane 4 g + t gets words t of the rows g, or of the columns with `trans`.
void ldmatrix(Warp& w) {
  int64_t num = int_attr(w.op, "num", 1);
  if (num != 1 && num != 2 && num != 4) stop(w.op, "ldmatrix loads 1, 2 or 4 matrices, not " + std::to_string(num));
  bool trans = int_attr(w.op, "trans", 0) != 0;
  std::vector<std::array<uint8_t, 16>> rows(static_cast<size_t>(8 * num));
  for (size_t r = 0; r < rows.size(); ++r) std::memcpy(rows[r].data(), w.bytes(0, 0, w.lanes[r], 16), 16);
  for (size_t l = 0; l < kWarp; ++l) {
    uint8_t* out = w.bytes(1, 0, w.lanes[l], 4 * num);
    for (size_t q = 0; q < static_cast<size_t>(num); ++q)
      for (size_t h = 0; h < 2; ++h) {
        const auto& from = rows[8 * q + (trans ? 2 * (l % 4) + h : l / 4)];
        std::memcpy(out + 4 * q + 2 * h, from.data() + 2 * (trans ? l / 4 : 2 * (l % 4) + h), 2);
      }
  }
}

constexpr std::string_view kInstructions[] = {"ptx_ldmatrix", "ptx_mma", "ptx_mma_sp"};
}  // namespace

bool is_matrix_instruction(std::string_view name) {
  return std::find(std::begin(kInstructions), std::end(kInstructions), name) != std::end(kInstructions);
}

void exec_matrix(Cta& cta, Group& g, const Op& op, const Mask* mask) {
  std::string_view name = text_attr(op, "name", "");
  for (size_t first = 0; first < g.lanes;) {
    int32_t warp = g.threads[first] / static_cast<int32_t>(kWarp);
    Warp w{cta, g, op, {}};
    size_t present = 0, l = first;
    for (; l < g.lanes && g.threads[l] / static_cast<int32_t>(kWarp) == warp; ++l)
      if (!mask || (*mask)[l]) w.lanes[present++] = l;
    first = l;
    if (present == 0) continue;
    if (present != kWarp)
      stop(op, "only " + std::to_string(present) + " lanes of warp " + std::to_string(warp) +
                   " execute the matrix instruction; all 32 have to");
    if (name == "ptx_ldmatrix") ldmatrix(w);
    else mma(w, name == "ptx_mma_sp");
  }
}

}  // namespace tc::ir::interp
