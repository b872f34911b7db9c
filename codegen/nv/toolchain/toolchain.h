// CUDA C++ → PTX → cubin.
//   clang: in process, a plug-in loaded at run time (libtc_clang.so), no CUDA toolkit needed
//   nvcc:  a child process, where one is found (PATH, then /usr/local/cuda/bin)
//   ptxas: PTX → cubin, where one is found
// The header "tl/tl.h" is built into the program; nothing is looked up beside it. Fails: unsupported where the tool is
// not there, input errors with the tool's own text where it refuses the source.
#pragma once
#include <optional>
#include <string>

#include "base/result.h"

namespace tc::toolchain {

enum class Compiler { clang, nvcc };

bool has_clang();                                             // the plug-in can be loaded
std::optional<std::string> find_tool(std::string_view name);  // nvcc, ptxas: full path
// `name` is how messages call the source. arch: "sm_90a". seconds: limit of a child process.
Result<std::string> compile_to_ptx(Compiler compiler, const std::string& name, const std::string& source,
                                   const std::string& arch, int seconds = 120);
// The cubin's bytes; `log` receives ptxas' notes if not null.
Result<std::string> assemble(const std::string& ptx, const std::string& arch, std::string* log = nullptr,
                             int seconds = 120);
std::string_view device_header();  // text of tl/tl.h

}  // namespace tc::toolchain
