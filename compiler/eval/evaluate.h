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
// Further keys: docs/language.md. --manifest names another file, or a folder where it is looked for by the file's path.
// Failures: the errors of every kernel, each located; the kernels without one are in the module.
#pragma once
#include <optional>
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
  std::string name, instance;  // the kernel; what this instance of it is called
  std::optional<int64_t> sm_count;
  std::vector<std::pair<std::string, std::string>> dtypes;  // of the tensors of `shapes`
  std::vector<std::pair<std::string, ArgValue>> args;
  std::vector<std::pair<std::string, ArgValue>> pass_configs;
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  SourceRange where;
};

// Of one evaluation; each ends it with a diagnostic (the errors of a kernel: those beyond are not said).
struct Bounds {
  int64_t steps = 2'000'000;       // statements and items
  int64_t calls = 100;             // of functions inside each other
  int64_t items = 10'000'000;      // of all lists and tuples, and characters of texts
  int64_t operations = 4'000'000;  // of all kernels
  int64_t modules = 100;           // beside the file
  int64_t errors = 20;             // of a kernel
};
// "steps=5000000".
Status set_bound(Bounds& bounds, const std::string& text);

struct EvalOptions {
  std::string arch = "sm_90a";
  std::string kernel;                                             // only this factory or prim_func; "" = all
  std::vector<std::pair<std::string, std::string>> args;          // --arg NAME=VALUE
  std::vector<std::pair<std::string, std::string>> pass_configs;  // --pass-config KEY=VALUE
  bool all_configs = false;                                       // every configuration of @autotune, not the first
  std::string manifest;                                           // a file or a folder; "": beside the input
  Bounds bounds;
};

// For --list: a kernel of the file, its parameters as written, and the instances found.
struct FoundInstance {
  std::string text, from, error;  // error: why it is not in the module, or empty
  SourceRange where;              // the call
};
struct FoundKernel {
  std::string name, params;
  SourceRange where;
  std::vector<FoundInstance> instances;
  std::string unresolved;  // why there is none
};

struct Evaluated {
  ir::Module module;
  std::vector<Diag> diags;
  std::vector<FoundKernel> kernels;
  std::vector<Diag> not_followed;  // statements of host code that failed: what they bind is unknown
  std::vector<Diag> warnings;
};

// `file` was registered with add_source_file. Reads the manifest beside it if `path` is not empty.
Evaluated evaluate(FileId file, const std::string& path, const EvalOptions& options);
// Reads the file first.
Evaluated evaluate_file(const std::string& path, const EvalOptions& options);

struct Manifest {
  std::vector<KernelRequest> kernels;
  std::optional<int64_t> sm_count;
  bool keep_found = false;  // the instances found without it count as well
};
Result<Manifest> parse_manifest(FileId file);

}  // namespace tc::eval
