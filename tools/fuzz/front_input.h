// What the fuzz targets of the front end share: one input, tried, and words that mutations put in.
// An input ends in valid tile IR that parses back to itself, or in diagnostics with messages; anything else aborts.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/ir.h"

namespace tc::tools {

constexpr int64_t kSteps = 100'000;     // of the evaluation
constexpr size_t kMostBytes = 1 << 18;  // of an input
inline constexpr const char* kWords[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "16",
                                         "128",
                                         "65536",
                                         "9223372036854775807",
                                         "1e308",
                                         "0.5",
                                         "None",
                                         "True",
                                         "[]",
                                         "()",
                                         "{}",
                                         "\"\"",
                                         "\"float16\"",
                                         "*",
                                         "**",
                                         ":",
                                         "...",
                                         "lambda: 0",
                                         "not",
                                         "is",
                                         "in",
                                         "and",
                                         "for",
                                         "if",
                                         "while",
                                         "try",
                                         "del",
                                         "return",
                                         "yield",
                                         "global",
                                         "class",
                                         "range",
                                         "len",
                                         "T",
                                         "T.serial",
                                         "T.Parallel",
                                         "T.Pipelined",
                                         "T.copy",
                                         "T.gemm",
                                         "T.alloc_shared",
                                         "T.alloc_fragment",
                                         "T.alloc_var",
                                         "T.ceildiv",
                                         "T.float32",
                                         "T.Kernel",
                                         "T.Tensor",
                                         "T.dynamic",
                                         "T.const",
                                         "T.if_then_else",
                                         "T.reduce_sum",
                                         "T.atomic_add",
                                         "self",
                                         "main",
                                         "A",
                                         "N"};

[[noreturn]] inline void stop(const char* what) {
  std::fputs(what, stderr);
  std::abort();
}

inline void try_input(const std::string& text) {
  eval::Evaluated e = eval::evaluate(add_source_file("fuzz.py", text), "", {.bounds = {.steps = kSteps}});
  if (Status valid = ir::validate(e.module); !valid) stop(render(valid.error()).c_str());
  if (e.module.funcs.empty() && e.diags.empty()) stop("neither a kernel nor a diagnostic\n");
  for (const Diag& d : e.diags)
    if (d.message.empty()) stop("a diagnostic without a message\n");
  const std::string printed = ir::print(e.module);
  auto again = ir::parse("printed.ir", printed);
  if (!again) stop(render(again.error()).c_str());
  if (ir::print(*again) != printed) stop("what was printed reads differently\n");
}

}  // namespace tc::tools
