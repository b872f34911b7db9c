// Scalars as C expressions and the addresses of elements. A pure operation that is used once is printed in place.
// Python's // and % floor where C's truncate: where both operands are provably not negative C's operators serve
// (k / 3, k % 3), else tl::floordiv and tl::floormod.
#include <charconv>
#include <cmath>

#include "codegen/nv/cuda_printer.h"

namespace tc::codegen {

using namespace ir;

namespace {

struct BinaryRow {
  OpKind kind;
  std::string_view symbol;
};
constexpr BinaryRow kBinary[] = {
    {OpKind::add, "+"},          {OpKind::sub, "-"},    {OpKind::mul, "*"},     {OpKind::div, "/"},
    {OpKind::bit_and, "&"},      {OpKind::bit_or, "|"}, {OpKind::bit_xor, "^"}, {OpKind::shift_left, "<<"},
    {OpKind::shift_right, ">>"}, {OpKind::eq, "=="},    {OpKind::ne, "!="},     {OpKind::lt, "<"},
    {OpKind::le, "<="},          {OpKind::gt, ">"},     {OpKind::ge, ">="},     {OpKind::logical_and, "&&"},
    {OpKind::logical_or, "||"},
};
struct CallRow {
  OpKind kind;
  std::string_view function;
};
constexpr CallRow kCalls[] = {
    {OpKind::min, "tl::min"},     {OpKind::max, "tl::max"},   {OpKind::abs, "tl::abs"},   {OpKind::exp, "tl::exp"},
    {OpKind::exp2, "tl::exp2"},   {OpKind::log, "tl::log"},   {OpKind::log2, "tl::log2"}, {OpKind::sqrt, "tl::sqrt"},
    {OpKind::rsqrt, "tl::rsqrt"}, {OpKind::tanh, "tl::tanh"},
};

bool is_pure_scalar(const Op& op) {
  const OpInfo& row = info(op.kind);
  return op.results.size() == 1 && op.blocks.empty() && row.proxy == Proxy::none && row.sync == Sync::none &&
         op.kind != OpKind::alloc && op.kind != OpKind::region && op.kind != OpKind::tensor_map;
}

bool is_small_float(DType t) { return t == DType::f16 || t == DType::bf16; }

std::string float_literal(double v, DType t) {
  if (std::isnan(v)) return t == DType::f64 ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (std::isinf(v)) return std::string(v < 0 ? "-" : "") + (t == DType::f64 ? "__builtin_inf()" : "__builtin_inff()");
  char buffer[40];
  auto end = t == DType::f64 ? std::to_chars(buffer, buffer + sizeof buffer, v).ptr
                             : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v)).ptr;
  std::string s(buffer, end);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return t == DType::f64 ? s : s + "f";
}

std::string literal(const Module& m, const Op& op) {
  DType t = m[op.results[0]].type.dtype;
  const AttrValue& a = *find_attr(op.attrs, "value");
  const MetaInt* i = std::get_if<MetaInt>(&a);
  if (t == DType::b1) return i && i->value ? "true" : "false";
  if (is_float(t)) {
    double v = i ? static_cast<double>(i->value) : std::get<double>(a);
    std::string s = float_literal(v, is_small_float(t) ? DType::f32 : t);
    return is_small_float(t) ? "tl::cast<" + std::string(info(t).cuda) + ">(" + s + ")" : s;
  }
  int64_t v = i ? i->value : static_cast<int64_t>(std::get<double>(a));
  if (t == DType::i32 && v == INT32_MIN) return "(-2147483647 - 1)";
  return std::to_string(v) + (t == DType::u32 ? "u" : t == DType::i64 ? "ll" : t == DType::u64 ? "ull" : "");
}

}  // namespace

bool CudaPrinter::inlined(ValueId v) const {
  OpId def = m[v].def;
  if (!def.valid()) return false;
  const Op& op = m[def];
  if (op.kind == OpKind::constant) return true;
  auto it = uses.find(v.index);
  return is_pure_scalar(op) && (it == uses.end() || it->second <= 1);
}

std::string CudaPrinter::expr(ValueId v) {
  if (auto it = names.find(v.index); it != names.end()) return it->second;
  OpId def = m[v].def;
  assert(def.valid() && "a value is defined before its use");
  const Op& op = m[def];
  DType t = m[v].type.dtype;
  if (op.kind == OpKind::constant) return literal(m, op);
  if (op.kind == OpKind::thread_index) return "tl::thread_index()";
  auto arg = [&](size_t i) {
    std::string s = expr(op.operands[i]);
    return is_small_float(m[op.operands[i]].type.dtype) && op.kind != OpKind::cast && op.kind != OpKind::select
               ? "tl::up(" + s + ")"
               : s;
  };
  std::string s;
  if (op.kind == OpKind::floordiv || op.kind == OpKind::floormod) {
    bool plain = ranges.of(op.operands[0]).lo >= 0 && ranges.of(op.operands[1]).lo > 0;
    bool divide = op.kind == OpKind::floordiv;
    return plain ? "(" + arg(0) + (divide ? " / " : " % ") + arg(1) + ")"
                 : std::string(divide ? "tl::floordiv(" : "tl::floormod(") + arg(0) + ", " + arg(1) + ")";
  }
  for (const BinaryRow& row : kBinary)
    if (row.kind == op.kind) s = "(" + arg(0) + " " + std::string(row.symbol) + " " + arg(1) + ")";
  for (const CallRow& row : kCalls)
    if (row.kind == op.kind) {
      s = std::string(row.function) + "(" + arg(0);
      if (op.operands.size() > 1) s += ", " + arg(1);
      s += ")";
    }
  if (op.kind == OpKind::neg) s = "(-" + arg(0) + ")";
  if (op.kind == OpKind::logical_not) s = "(!" + arg(0) + ")";
  if (op.kind == OpKind::select) return "(" + arg(0) + " ? " + arg(1) + " : " + arg(2) + ")";
  if (op.kind == OpKind::cast) return "tl::cast<" + std::string(info(t).cuda) + ">(" + arg(0) + ")";
  assert(!s.empty() && "every pure operation has a spelling");
  return is_small_float(t) ? "tl::cast<" + std::string(info(t).cuda) + ">(" + s + ")" : s;
}

std::vector<ValueId> CudaPrinter::region_offsets(ValueId region) const {
  const Op& op = m[m[region].def];
  size_t rank = m[op.operands[0]].type.rank();
  return {op.operands.begin() + 1, op.operands.begin() + 1 + static_cast<std::ptrdiff_t>(rank)};
}

namespace {
// Row-major index of the given dimensions, as a C expression.
std::string linear_index(CudaPrinter& p, const Type& type, const std::vector<ValueId>& indices, size_t first,
                         size_t last) {
  std::string s;
  for (size_t d = first; d < last; ++d) {
    std::string i = p.expr(indices[d]);
    int64_t stride = 1;
    for (size_t e = d + 1; e < last; ++e) stride *= type.shape[e].value;
    if (i == "0") continue;
    s += (s.empty() ? "" : " + ") + i + (stride == 1 ? "" : " * " + std::to_string(stride));
  }
  return s.empty() ? "0" : s;
}
}  // namespace

std::string CudaPrinter::shared_offset(ValueId buffer, const std::vector<ValueId>& indices) {
  const Op& alloc = m[m[buffer].def];
  const Type& type = m[buffer].type;
  std::string base = std::to_string(int_attr(alloc, "offset", 0));
  int64_t bytes = bytes_of(type.dtype);
  if (type.layout.span == 0)
    return base + " + (" + linear_index(*this, type, indices, 0, type.rank()) + ") * " + std::to_string(bytes);
  SharedShape shape = shared_shape(type);
  std::string tile = base;
  if (type.rank() > 2)
    tile += " + (" + linear_index(*this, type, indices, 0, type.rank() - 2) + ") * " + std::to_string(shape.tile_bytes);
  return "tl::panel_offset<" + std::to_string(shape.rows) + ", " + std::to_string(type.layout.span) + ", " +
         std::to_string(bytes) + ">(" + tile + ", " + expr(indices[type.rank() - 2]) + ", " +
         expr(indices[type.rank() - 1]) + ")";
}

std::string CudaPrinter::pointer(ValueId buffer, const std::vector<ValueId>& indices) {
  const Type& type = m[buffer].type;
  std::string cuda(info(type.dtype).cuda);
  if (type.space == Space::shared)
    return "reinterpret_cast<" + cuda + "*>(tl_base + (" + shared_offset(buffer, indices) + "))";
  if (type.space == Space::local) return "&" + element(buffer, indices);
  std::string s;
  for (size_t d = 0; d < type.rank(); ++d) {
    std::string i = expr(indices[d]);
    int64_t stride = stride_of(type, d);
    if (i == "0") continue;
    s += (s.empty() ? "" : " + ") + ("(long long)(" + i + ")") + (stride == 1 ? "" : " * " + std::to_string(stride));
  }
  return "(" + names.at(buffer.index) + (s.empty() ? "" : " + " + s) + ")";
}

std::string CudaPrinter::element(ValueId buffer, const std::vector<ValueId>& indices) {
  const Type& type = m[buffer].type;
  if (type.space == Space::local)
    return names.at(buffer.index) + "[" + linear_index(*this, type, indices, 0, type.rank()) + "]";
  return "*" + pointer(buffer, indices);
}

std::string CudaPrinter::region_shared_address(ValueId region) {
  return "tl_shared + (" + shared_offset(buffer_of(m, region), region_offsets(region)) + ")";
}

std::string CudaPrinter::region_pointer(ValueId region) {
  return pointer(buffer_of(m, region), region_offsets(region));
}

std::string CudaPrinter::barrier_address(ValueId barrier, ValueId index) {
  int64_t offset = int_attr(m[m[barrier].def], "offset", 0);
  std::string i = expr(index);
  return "tl_shared + " + std::to_string(offset) + (i == "0" ? "" : " + 8 * (" + i + ")");
}

}  // namespace tc::codegen
