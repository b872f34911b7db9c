// Modules that are evaluated like the input, as host code and once. Beside the input: `from quantize import helper`
// reads quantize.py or quantize/__init__.py of the input's folder. Of the library: tilelang.cuda.intrinsics, which is
// written in the language itself (library/matrix.py). Nothing else is looked for: every other import is opaque.
#include <filesystem>

#include "base/files.h"
#include "compiler/eval/matrix_library.h"
#include "compiler/eval/session.h"
#include "compiler/syntax/parse.h"

namespace tc::eval {
namespace {
constexpr size_t kMaxModules = 100;

std::string file_of(const std::string& directory, std::string dotted) {
  dotted.erase(0, std::min(dotted.find_first_not_of('.'), dotted.size()));
  std::replace(dotted.begin(), dotted.end(), '.', '/');
  std::filesystem::path base = std::filesystem::path(directory.empty() ? "." : directory) / dotted;
  for (const std::string& candidate : {base.string() + ".py", (base / "__init__.py").string()}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error)) return candidate;
  }
  return {};
}

Scope& run_module(Session& s, const std::string& path, const std::string& name, std::string source) {
  Scope& scope = s.heap.scopes.emplace_back();
  s.modules[path] = &scope;  // before it is evaluated: modules may import each other
  auto module = syntax::parse(add_source_file(path, std::move(source)));
  if (!module) throw Failure{module.error()};
  s.parsed.push_back(std::move(*module));
  scope.names["__name__"] = tc::eval::text(name);
  bool host = std::exchange(s.host, true), main = std::exchange(s.in_main, false);
  Trace* trace = std::exchange(s.trace, nullptr);
  exec(s, scope, s.parsed.back()->body);
  s.trace = trace;
  s.host = host;
  s.in_main = main;
  return scope;
}
}  // namespace

const Value* matrix_library(Session& s, const std::string& name) {
  static const std::string kPath = "<tilelang.cuda.intrinsics>";
  if (!s.library) s.library = add_source_file(kPath, kMatrixLibrary);
  auto known = s.modules.find(kPath);
  Scope& scope = known != s.modules.end()
                     ? *known->second
                     : run_module(s, kPath, "tilelang.cuda.intrinsics", std::string(kMatrixLibrary));
  auto found = scope.names.find(name);
  return found == scope.names.end() || name.starts_with('_') ? nullptr : &found->second;
}

Scope* local_module(Session& s, const std::string& dotted, const SourceRange& where) {
  std::string path = file_of(s.directory, dotted);
  if (path.empty()) return nullptr;
  if (auto known = s.modules.find(path); known != s.modules.end()) return known->second;
  if (s.modules.size() >= kMaxModules)
    fail(where, "the file imports more than " + std::to_string(kMaxModules) + " modules beside it");
  auto text = read_file(path);
  if (!text) throw Failure{text.error()};
  std::string outer = std::exchange(s.directory, std::filesystem::path(path).parent_path().string());
  Scope& scope = run_module(s, path, dotted, std::move(*text));
  s.directory = outer;
  return &scope;
}

}  // namespace tc::eval
