// What the tools share: from a file on the command line to kernels at each stage. The tools sequence the stages;
// compiler, verifier and simulator do not call each other.
#pragma once
#include <string>
#include <vector>

#include "codegen/nv/codegen.h"
#include "codegen/nv/toolchain/toolchain.h"
#include "compiler/eval/evaluate.h"
#include "compiler/passes/passes.h"

namespace tc::tools {

enum class FileKind { python, ir, protocol, cuda, ptx, unknown };
FileKind file_kind(const std::string& path);

// One kernel instance: a module of exactly one function, at the tile level or (from an .ir file) the device level.
struct Kernel {
  ir::Module module;
  const ir::Func& func() const { return module.funcs[0]; }
};
struct Program {
  ir::Module module;                     // all kernels of the file in one
  std::vector<Kernel> kernels;           // each in a module of its own
  std::vector<Diag> diags;               // of kernels that could not be evaluated, and of the file
  std::vector<eval::FoundKernel> found;  // of a .py file
  std::vector<Diag> not_followed;        // its host code that was not
  std::vector<Diag> warnings;            // of the front end
};
// .py and .ir files.
Program load_program(const std::string& path, const eval::EvalOptions& options);

struct Lowered {
  ir::Module device;
  std::string cuda, host;
  runtime::Manifest manifest;
};
using AfterPass = std::function<void(const ir::PassInfo&, const ir::Module&)>;
Result<ir::Module> to_device(const Kernel& kernel, std::vector<std::string>* explain = nullptr,
                             const AfterPass& after = nullptr);
Result<Lowered> lower(const Kernel& kernel);

// A name for the files of a kernel: the function's, with a number where several kernels share it.
std::vector<std::string> file_names(const std::vector<Kernel>& kernels);

// --backend: clang or nvcc; empty: clang where its plug-in is, else nvcc where it is found. No value: no such backend.
std::optional<toolchain::Compiler> backend_named(const std::string& name);

// Exit codes of the contract (design.md). Several kernels: 1 before 2 before 3 before 0.
inline constexpr int kExitOk = 0, kExitFinding = 1, kExitInput = 2, kExitUnknown = 3;
int exit_code_of(const Diag& diag);
int worse_exit(int a, int b);
// Diagnostics go to standard error, in clang's layout.
void report(const Diag& diag);

// "--option is not available yet" for options of the contract that do not work: exit 2.
int refuse_option(const std::string& tool, const std::string& option);

}  // namespace tc::tools
