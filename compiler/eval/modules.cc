// Modules that are evaluated like the input, as host code and once. Beside the input: `from quantize import helper`
// reads quantize.py or quantize/__init__.py of the input's folder. Of the library: tilelang.cuda.intrinsics and the
// tile schedulers, which are written in the language itself (library/matrix.py, library/schedule.py). Nothing else is
// looked for: every other import is opaque.
#include <filesystem>

#include "base/files.h"
#include "compiler/eval/matrix_library.h"
#include "compiler/eval/schedule_library.h"
#include "compiler/eval/session.h"
#include "compiler/syntax/parse.h"

namespace tc::eval {
namespace {

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

namespace {
struct LibraryText {
  const char* path;
  const char* name;
  std::string_view text;
};
constexpr LibraryText kMatrix{"<tilelang.cuda.intrinsics>", "tilelang.cuda.intrinsics", kMatrixLibrary};
constexpr LibraryText kSchedule{"<tilelang.language>", "tilelang.language.tile_schedule", kScheduleLibrary};

const Value* find_in(Session& s, const LibraryText& library, const std::string& name) {
  if (name.starts_with('_')) return nullptr;
  auto known = s.modules.find(library.path);
  if (known == s.modules.end()) s.library.push_back(add_source_file(library.path, std::string(library.text)));
  Scope& scope =
      known != s.modules.end() ? *known->second : run_module(s, library.path, library.name, std::string(library.text));
  auto found = scope.names.find(name);
  return found == scope.names.end() ? nullptr : &found->second;
}
}  // namespace

const Value* library_name(Session& s, std::string_view space, const std::string& name) {
  if (space == "T" && name.ends_with("TileScheduler")) return find_in(s, kSchedule, name);
  return find_in(s, kMatrix, name);
}

bool of_library(const Session& s, FileId file) {
  return std::find(s.library.begin(), s.library.end(), file) != s.library.end();
}

Scope* local_module(Session& s, const std::string& dotted, const SourceRange& where) {
  std::string path = file_of(s.directory, dotted);
  // A module in a folder imports by names from the folder of the input, as Python does.
  if (path.empty() && dotted[0] != '.') path = file_of(s.input_directory, dotted);
  // from examples.quantize import x: of a package that holds the file's folder.
  constexpr int kMostLevels = 6;
  std::filesystem::path above = s.directory.empty() ? std::filesystem::path(".") : std::filesystem::path(s.directory);
  bool package = dotted.find('.', 1) != std::string::npos && dotted[0] != '.';
  for (int i = 0; path.empty() && package && i < kMostLevels; ++i) {
    above /= "..";
    path = file_of(above.string(), dotted);
  }
  if (path.empty()) return nullptr;
  if (auto known = s.modules.find(path); known != s.modules.end()) return known->second;
  if (static_cast<int64_t>(s.modules.size()) >= s.options->bounds.modules)
    fail(where, "the file imports more than " + std::to_string(s.options->bounds.modules) +
                    " modules beside it; --bound modules=N allows more");
  auto text = read_file(path);
  if (!text) throw Failure{text.error()};
  std::string outer = std::exchange(s.directory, std::filesystem::path(path).parent_path().string());
  Scope& scope = run_module(s, path, dotted, std::move(*text));
  s.directory = outer;
  return &scope;
}

}  // namespace tc::eval
