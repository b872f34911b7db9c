// A Python file → tile IR, one function for each kernel instance found in it. The file is interpreted, never run:
// module level, main() and factory bodies by a small abstract evaluator, kernel bodies by tracing them.
//
// Which instances: those a request names (a manifest); else those that an abstract run of the module and of its main()
// calls; else factories whose parameters all have defaults. `args` override parameters by name in every case, and make
// instances of factories that nothing calls if they leave no parameter open. Each instance says where it came from.
// A manifest is NAME.tilecheck.toml beside the file:
//   [[kernel]]
//   name = "matmul"                        # factory or prim_func
//   args = { M = 1024, N = 1024, dtype = "float16", sizes = [64, 128] }
//   shapes = { A = [1024, 512] }           # of the tensors of an eager kernel's call, for its T.const names
//   pass_configs = { "tl.disable_warp_specialized" = true }
// Failures: every kernel's first error, each located; the kernels without an error are in the module.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "compiler/ir/ir.h"

namespace tc::eval {

using ArgValue = std::variant<int64_t, bool, double, std::string, std::vector<int64_t>>;
// "1024" is an integer, "1.5" a float, "True"/"False" a truth value, everything else text (a dtype, a name).
ArgValue parse_arg(const std::string& text);

struct KernelRequest {
  std::string name;
  std::vector<std::pair<std::string, ArgValue>> args;
  std::vector<std::pair<std::string, ArgValue>> pass_configs;
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  SourceRange where;
};

struct EvalOptions {
  std::string arch = "sm_90a";
  std::string kernel;                                             // only this factory or prim_func; "" = all
  std::vector<std::pair<std::string, std::string>> args;          // --arg NAME=VALUE
  std::vector<std::pair<std::string, std::string>> pass_configs;  // --pass-config KEY=VALUE
  bool all_configs = false;                                       // every configuration of @autotune, not the first
};

struct Evaluated {
  ir::Module module;
  std::vector<Diag> diags;
};

// `file` was registered with add_source_file. Reads the manifest beside it if `path` is not empty.
Evaluated evaluate(FileId file, const std::string& path, const EvalOptions& options);
// Reads the file first.
Evaluated evaluate_file(const std::string& path, const EvalOptions& options);

Result<std::vector<KernelRequest>> parse_manifest(FileId file);

}  // namespace tc::eval
