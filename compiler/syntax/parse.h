// Python text → ast::Module, by CPython's own parser. The text is parsed, never run.
// The interpreter is started once per process, isolated: no site, no environment, no user directories, and every path
// fixed to the system Python's at build time, so that neither files beside the kernel nor a foreign Python found on
// PATH lend a single line of code. Only this folder includes Python.h.
// Fails with one located Diag: syntax errors, NUL bytes, invalid UTF-8, nesting deeper than kMaxDepth, text longer than
// kMaxSourceBytes. Thread-safe.
#pragma once
#include <memory>
#include <string_view>

#include "base/result.h"
#include "compiler/syntax/ast.h"

namespace tc::syntax {

inline constexpr int kMaxDepth = 400;                       // levels of nodes inside nodes
inline constexpr size_t kMaxSourceBytes = size_t{8} << 20;  // 8 MiB; the largest kernel file seen has 60 KiB

using ModulePtr = std::shared_ptr<const ast::Module>;

// `file` was registered with add_source_file and holds the text.
Result<ModulePtr> parse(FileId file);

}  // namespace tc::syntax
