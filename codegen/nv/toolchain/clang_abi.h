// The plug-in's one function, in plain C: LLVM is built without RTTI and exceptions, and stays behind this line.
#pragma once

extern "C" {
// Compiles `source` (called `name` in messages), which may include "tl/tl.h" = `header`, for `arch` ("sm_90a").
// Returns 0 and the PTX, or 1 and the messages, in `text` (malloc'ed, the caller frees it). Thread-safe, one at a time.
int tc_clang_compile(const char* name, const char* source, const char* header, const char* arch, char** text);
}
typedef int (*tc_clang_compile_t)(const char*, const char*, const char*, const char*, char**);
