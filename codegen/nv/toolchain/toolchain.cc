#include "codegen/nv/toolchain/toolchain.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "codegen/nv/toolchain/clang_abi.h"
#include "codegen/nv/toolchain/process.h"
#include "codegen/nv/toolchain/tl_header.h"

namespace tc::toolchain {
namespace {

// The plug-in lies beside the program, or where it was built or installed.
tc_clang_compile_t load_clang() {
  static tc_clang_compile_t function = [] {
    std::error_code ignored;
    std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const std::filesystem::path& folder :
         {self, self / "../lib/tilecheck", std::filesystem::path(TC_PLUGIN_BUILD_DIR)}) {
      void* library = ::dlopen((folder / "libtc_clang.so").c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library) return reinterpret_cast<tc_clang_compile_t>(::dlsym(library, "tc_clang_compile"));
    }
    return static_cast<tc_clang_compile_t>(nullptr);
  }();
  return function;
}

Result<std::string> by_clang(const std::string& name, const std::string& source, const std::string& arch) {
  tc_clang_compile_t compile = load_clang();
  if (!compile) return unsupported({}, "CUDA to PTX: the clang plug-in (libtc_clang.so) is not there");
  char* text = nullptr;
  int failed = compile(name.c_str(), source.c_str(), std::string(device_header()).c_str(), arch.c_str(), &text);
  std::string result = text ? text : "";
  std::free(text);
  if (failed) return input_error({}, "clang refuses " + name + ":\n" + result);
  return result;
}

std::string architecture_flags(const std::string& arch) {
  std::string number = arch.starts_with("sm_") ? arch.substr(3) : arch;
  return "arch=compute_" + number + ",code=compute_" + number;
}

std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<std::string> by_nvcc(const std::string& name, const std::string& source, const std::string& arch, int seconds) {
  auto nvcc = find_tool("nvcc");
  if (!nvcc) return unsupported({}, "nvcc is not there");
  TemporaryFolder folder;
  if (folder.path().empty()) return input_error({}, "cannot make a temporary folder");
  std::filesystem::create_directories(folder.path() + "/tl");
  std::string cu = folder.path() + "/kernel.cu", ptx = folder.path() + "/kernel.ptx";
  // Messages and .loc name the user's file, and what lies beside it can be included.
  if (Status s = write_file(cu, "#line 1 \"" + name + "\"\n" + source); !s) return s.error();
  if (Status s = write_file(folder.path() + "/tl/tl.h", device_header()); !s) return s.error();
  auto run = run_process({*nvcc, "-std=c++17", "-ptx", "-O3", "-lineinfo", "-gencode", architecture_flags(arch), "-I",
                          folder.path(), "-I", folder_of(name), cu, "-o", ptx},
                         seconds);
  if (!run.ok()) return run.error();
  if (run->timed_out) return input_error({}, "nvcc took more than " + std::to_string(seconds) + " s on " + name);
  if (run->status) return input_error({}, "nvcc refuses " + name + ":\n" + run->output);
  return read_file(ptx);
}

}  // namespace

bool has_clang() { return load_clang() != nullptr; }

std::string_view device_header() { return kTlHeader; }

std::optional<std::string> find_tool(std::string_view name) {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  path += ":/usr/local/cuda/bin";
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string file = path.substr(at, end - at) + "/" + std::string(name);
    if (end > at && ::access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return std::nullopt;
}

Result<std::string> compile_to_ptx(Compiler compiler, const std::string& name, const std::string& source,
                                   const std::string& arch, int seconds) {
  return compiler == Compiler::clang ? by_clang(name, source, arch) : by_nvcc(name, source, arch, seconds);
}

Result<std::string> assemble(const std::string& ptx, const std::string& arch, std::string* log, int seconds) {
  auto ptxas = find_tool("ptxas");
  if (!ptxas) return unsupported({}, "ptxas is not there");
  TemporaryFolder folder;
  if (folder.path().empty()) return input_error({}, "cannot make a temporary folder");
  std::string in = folder.path() + "/kernel.ptx", out = folder.path() + "/kernel.cubin";
  if (Status s = write_file(in, ptx); !s) return s.error();
  auto run = run_process({*ptxas, "-arch=" + arch, "-v", in, "-o", out}, seconds);
  if (!run.ok()) return run.error();
  if (log) *log = run->output;
  if (run->timed_out) return input_error({}, "ptxas took more than " + std::to_string(seconds) + " s");
  if (run->status) return input_error({}, "ptxas refuses the kernel:\n" + run->output);
  return read_file(out);
}

}  // namespace tc::toolchain
