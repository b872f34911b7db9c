// Python's `_ast` objects → ast::Module. Internal to this folder; needs the interpreter lock.
#pragma once
#include "compiler/syntax/parse.h"
#include "compiler/syntax/python.h"

namespace tc::syntax {

// `first_line_skip`: bytes cut off the first line before parsing (a byte order mark).
Result<ModulePtr> convert_module(PyObject* python_module, FileId file, uint32_t first_line_skip);

}  // namespace tc::syntax
