// decode FILE.ptx...: does every kernel of these modules decode? One line an entry: "ok NAME", or "FAIL NAME LINE
// MESSAGE"; one line for a file that does not parse. Exit 1 where anything failed. For corpora of foreign PTX and for
// tools/ptx_forms.py, which puts one form of an instruction into each entry.
#include <cstdio>

#include "base/files.h"
#include "sim/exec/builder.h"

namespace {

// Threads of the launch that the kernels are decoded for; directives such as .reqntid are not judged here.
constexpr uint32_t kBlockThreads = 32;

bool decode(const char* path) {
  auto text = tc::read_file(path);
  if (!text.ok()) return std::printf("FAIL %s 0 %s\n", path, text.error().message.c_str()), false;
  auto module = tc::ptx::parse(*text, path);
  if (!module.ok())
    return std::printf("FAIL %s %u %s\n", path, module.error().where.line, module.error().message.c_str()), false;
  bool good = tc::ptx::print(*module) == tc::ptx::print(*tc::ptx::parse(tc::ptx::print(*module), "printed"));
  if (!good) std::printf("FAIL %s 0 printing and parsing again gives another text\n", path);
  for (const tc::ptx::Function* entry : module->entries()) {
    tc::sim::GlobalMemory global;
    auto program = tc::sim::build_program(*module, *entry, global, 0, kBlockThreads);
    good &= program.ok();
    if (program.ok()) std::printf("ok %s\n", entry->name.c_str());
    else
      std::printf("FAIL %s %u %s\n", entry->name.c_str(), program.error().where.line, program.error().message.c_str());
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good &= decode(argv[i]);
  return good ? 0 : 1;
}
