// CUDA → PTX by clang 22 as a library: source and header live in memory, no SDK, no temporary file, no resource folder.
// Measured traps and their cures (docs/toolchain.md): the PTX version has to be given; cluster_dims is dropped, so the
// header spells it as an annotation that a module pass turns into "nvvm.cluster_dim"; a backend error aborts the
// process, so the compile runs under a crash recovery context.
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "codegen/nv/toolchain/clang_abi.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::CrashRecoveryContext::Enable();
  });
}

// A fatal backend error would call abort(); exiting through Process::Exit ends only the recovery context.
void on_fatal_error(void* message_out, const char* reason, bool) {
  *static_cast<std::string*>(message_out) += std::string("fatal error: ") + reason + "\n";
  llvm::sys::Process::Exit(70);
}

bool compile(const char* name, const char* source, const char* header, const char* arch, std::string& ptx,
             std::string& messages) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  std::string path = std::string("/src/") + name;
  files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(source));
  files->addFile("/include/tl/tl.h", 0, llvm::MemoryBuffer::getMemBufferCopy(header));
  const char* arguments[] = {"-triple",
                             "nvptx64-nvidia-cuda",
                             "-aux-triple",
                             "x86_64-unknown-linux-gnu",
                             "-x",
                             "cuda",
                             "-fcuda-is-device",
                             "-S",
                             "-target-cpu",
                             arch,
                             "-target-feature",
                             "+ptx90",
                             "-std=c++17",
                             "-O3",
                             "-DTC_NO_SDK",
                             "-nostdsysteminc",
                             "-nobuiltininc",
                             "-fno-jump-tables",
                             "-debug-info-kind=line-directives-only",
                             "-dwarf-version=2",
                             "-fno-dwarf-directory-asm",
                             "-I",
                             "/include",
                             "-main-file-name",
                             name,
                             path.c_str()};
  llvm::raw_string_ostream log(messages);
  clang::DiagnosticOptions options;
  options.ShowCarets = 1;
  clang::TextDiagnosticPrinter printer(log, options);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto engine = clang::CompilerInstance::createDiagnostics(*files, options, &printer, false);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine)) return false;
  clang::CompilerInstance instance(invocation);
  instance.setVirtualFileSystem(files);
  instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());  // "1 error generated"
  instance.createDiagnostics(&printer, false);
  llvm::SmallString<0> buffer;
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(buffer));
  clang::EmitAssemblyAction action;
  bool ok = instance.ExecuteAction(action);
  ptx.assign(buffer.begin(), buffer.end());
  return ok;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int tc_clang_compile(const char* name, const char* source,
                                                                       const char* header, const char* arch,
                                                                       char** text) {
  static std::mutex one_at_a_time;
  std::lock_guard guard(one_at_a_time);
  initialise();
  std::string ptx, messages;
  bool ok = false;
  {
    llvm::ScopedFatalErrorHandler handler(on_fatal_error, &messages);
    llvm::CrashRecoveryContext recovery;
    bool returned = recovery.RunSafely([&] { ok = compile(name, source, header, arch, ptx, messages); });
    ok = ok && returned;
  }
  if (!ok && messages.empty()) messages = "clang failed without a message\n";
  *text = strdup((ok ? ptx : messages).c_str());
  return ok ? 0 : 1;
}
