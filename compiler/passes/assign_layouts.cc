// Pass assign_layouts, tile → tile. A shared buffer that is an operand of a gemm gets column panels of the widest span
// (128, 64, 32 bytes, else 16: core matrices) that divides its rows; all others stay row-major.
//   f16[3, 64, 128]: rows of 256 bytes → span 128, two panels.
#include "compiler/passes/passes.h"

namespace tc::ir {
namespace {

Result<uint32_t> span_for(const Type& t, const Op& gemm) {
  int64_t row_bytes = t.shape.back().value * bytes_of(t.dtype);
  for (uint32_t span : {128u, 64u, 32u, 16u})
    if (row_bytes % span == 0) return span;
  Diag d = unsupported(place(gemm),
                       "a gemm operand with rows of " + std::to_string(row_bytes) + " bytes, no multiple of 16");
  d.notes = origin_notes(gemm);
  return d;
}

}  // namespace

Status assign_layouts(Module& m, const PassContext&) {
  for (const Func& f : m.funcs) {
    Status failure;
    walk(m, f.body, [&](OpId id) {
      if (!failure.ok() || m[id].kind != OpKind::gemm) return;
      for (size_t i = 0; i < 2; ++i) {
        Type& t = m[buffer_of(m, m[id].operands[i])].type;
        if (t.space != Space::shared || t.rank() < 2) continue;
        auto span = span_for(t, m[id]);
        if (!span.ok()) failure = span.error();
        else t.layout.span = *span;
      }
    });
    if (!failure.ok()) return failure;
  }
  return {};
}

}  // namespace tc::ir
