// State of printing one kernel: the text, the C names of values, the indentation. cuda.cc prints statements,
// cuda_expr.cc scalars and addresses, cuda_wgmma.cc the matrix instructions.
#pragma once
#include <map>
#include <set>
#include <string>

#include "codegen/nv/codegen.h"
#include "compiler/ir/box.h"
#include "compiler/ir/layout.h"
#include "compiler/rewrite/range.h"

namespace tc::codegen {

struct CudaPrinter {
  const ir::Module& m;
  const ir::Func& f;
  ir::Ranges ranges;
  std::string out;
  int depth = 1;
  std::map<uint32_t, std::string> names;  // of values that have a C variable
  std::map<uint32_t, int> uses;
  std::set<std::string> taken;
  std::set<std::pair<int64_t, DType>> wgmmas;  // (N, operand type) used: cuda_wgmma.cc prints them before the kernel
  std::vector<ir::ValueId> accumulators;       // of wgmmas issued since the last wait
  FileId line_file = 0;
  uint32_t line = 0;

  CudaPrinter(const ir::Module& module, const ir::Func& func);

  // ---- cuda.cc
  void statement(ir::OpId id);
  void block(ir::BlockId id);
  void emit(const std::string& text);  // one line at the current depth
  void locate(const ir::Op& op);       // a #line directive, where the source line changes
  std::string define(ir::ValueId v, std::string_view hint);

  // ---- cuda_expr.cc
  std::string expr(ir::ValueId v);    // C expression of a scalar
  bool inlined(ir::ValueId v) const;  // printed where it is used
  // "shared" address (u32) or generic pointer of an element; indices one a dimension.
  std::string shared_offset(ir::ValueId buffer, const std::vector<ir::ValueId>& indices);
  std::string element(ir::ValueId buffer, const std::vector<ir::ValueId>& indices);  // an lvalue
  std::string pointer(ir::ValueId buffer, const std::vector<ir::ValueId>& indices);  // generic pointer to it
  std::string region_shared_address(ir::ValueId region);
  std::string region_pointer(ir::ValueId region);
  std::string barrier_address(ir::ValueId barrier, ir::ValueId index);
  std::vector<ir::ValueId> region_offsets(ir::ValueId region) const;

  // ---- cuda_wgmma.cc
  void wgmma(const ir::Op& op);
  std::string wgmma_functions() const;
};

}  // namespace tc::codegen
