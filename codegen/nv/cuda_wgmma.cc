// The matrix instructions: one function an (N, type) that the kernel uses, and the descriptors of its operands.
// Operand regions are in tile coordinates; their byte address is the panel address before the XOR (SMEM-25), the
// leading and stride offsets follow from the panels (SMEM-20 … SMEM-23):
//                      leading (LBO)      stride (SBO)
//   K-major,  swizzled   16 (ignored)       8 * span
//   K-major,  span 16    rows * 16          128
//   MN-major, swizzled   rows * span        8 * span
//   MN-major, span 16    128                rows * 16
#include "codegen/nv/cuda_printer.h"

namespace tc::codegen {

using namespace ir;

namespace {

std::string descriptor(CudaPrinter& p, ValueId region, bool mn_major) {
  ValueId buffer = buffer_of(p.m, region);
  const Type& type = p.m[buffer].type;
  SharedShape shape = shared_shape(type);
  std::vector<ValueId> at = p.region_offsets(region);
  int64_t span = type.layout.span, bytes = bytes_of(type.dtype), panel = shape.rows * span;
  int64_t leading = span == 16 ? (mn_major ? 128 : panel) : (mn_major ? panel : 16);
  int64_t stride = span == 16 ? (mn_major ? panel : 128) : 8 * span;
  std::string address = "tl_shared + " + std::to_string(int_attr(p.m[p.m[buffer].def], "offset", 0));
  if (type.rank() > 2) {
    assert(type.rank() == 3 && "rings have one slot dimension");
    std::string slot = p.expr(at[0]);
    if (slot != "0") address += " + (" + slot + ") * " + std::to_string(shape.tile_bytes);
  }
  std::string row = p.expr(at[type.rank() - 2]), col = p.expr(at[type.rank() - 1]);
  if (row != "0") address += " + (" + row + ") * " + std::to_string(span);
  if (auto c = constant_value(p.m, at[type.rank() - 1])) {
    int64_t offset = c->value / shape.panel_cols * panel + c->value % shape.panel_cols * bytes;
    if (offset) address += " + " + std::to_string(offset);
  } else {
    std::string n = std::to_string(shape.panel_cols);
    address += " + (" + col + ") / " + n + " * " + std::to_string(panel) + " + (" + col + ") % " + n + " * " +
               std::to_string(bytes);
  }
  return "tl::descriptor<" + std::to_string(span) + ", " + std::to_string(leading) + ", " + std::to_string(stride) +
         ">(" + address + ")";
}

std::string function_name(int64_t n, DType t) {
  return "wgmma_n" + std::to_string(n) + "_" + std::string(info(t).short_name);
}

std::string operand_list(int64_t n, std::string_view before, std::string_view after) {
  std::string s;
  for (int64_t i = 0; i < n; ++i) s += (i ? ", " : "") + std::string(before) + std::to_string(i) + std::string(after);
  return s;
}

}  // namespace

void CudaPrinter::wgmma(const Op& op) {
  int64_t n = int_attr(op, "n", 0);
  DType t = m[buffer_of(m, op.operands[0])].type.dtype;
  wgmmas.insert({n, t});
  bool trans_a = int_attr(op, "trans_a", 0) != 0, trans_b = int_attr(op, "trans_b", 0) != 0;
  ValueId acc = op.operands[2];
  if (std::find(accumulators.begin(), accumulators.end(), acc) == accumulators.end()) accumulators.push_back(acc);
  emit(function_name(n, t) + "<" + std::to_string(trans_a) + ", " + std::to_string(trans_b) + ">(" +
       names.at(acc.index) + " + " + std::to_string(int_attr(op, "acc", 0)) + ", " +
       descriptor(*this, op.operands[0], trans_a) + ", " + descriptor(*this, op.operands[1], trans_b) + ", " +
       (int_attr(op, "clear", 0) ? "0" : "1") + ");");
}

std::string CudaPrinter::wgmma_functions() const {
  std::string s;
  for (auto [n, t] : wgmmas) {
    int64_t r = n / 2;
    std::string type(info(t).short_name);
    s += "// D[64, " + std::to_string(n) + "] += A B; scale_d 0 clears D first; a transposed operand is MN-major.\n";
    s += "template <int TransA, int TransB>\nTL_DEV void " + function_name(n, t) +
         "(float* d, tl::u64 a, tl::u64 b, int scale_d) {\n";
    s += "  asm volatile(\n      \"{\\n.reg .pred p;\\nsetp.ne.b32 p, %" + std::to_string(r + 2) + ", 0;\\n\"\n";
    s += "      \"wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k16.f32." + type + "." + type + " {" +
         operand_list(r, "%", "") + "}, %" + std::to_string(r) + ", %" + std::to_string(r + 1) + ", p, 1, 1, %" +
         std::to_string(r + 3) + ", %" + std::to_string(r + 4) + ";\\n}\\n\"\n";
    s += "      : " + operand_list(r, "\"+f\"(d[", "])") + "\n";
    s += "      : \"l\"(a), \"l\"(b), \"r\"(scale_d), \"n\"(TransA), \"n\"(TransB)\n      : \"memory\");\n}\n\n";
  }
  return s;
}

}  // namespace tc::codegen
