// A function of the library or of Python, one row each: name space, name, parameters, what it does.
// Parameters are written as in Python, with "=" behind those that may be left out: "src, dst, *, disable_tma=".
// "*blocks" takes all further positional arguments, "**" at the end keywords of every name. Internal to compiler/eval.
#pragma once
#include <span>

#include "compiler/eval/session.h"

namespace tc::eval {

struct Args {
  const Builtin* builtin;
  SourceRange where;
  std::vector<std::pair<std::string, Value>> named;
  std::vector<Value> rest;  // of *name

  const Value* get(std::string_view name) const;  // null where left out or None
  const Value& need(std::string_view name) const;
  bool given(std::string_view name) const { return get(name) != nullptr; }
  // An argument that would change the meaning and is not supported yet.
  void refuse(std::initializer_list<std::string_view> names) const;
};

struct Builtin {
  const char* space;  // "T", "tilelang", "math", "builtins"
  const char* name;
  const char* params;
  Value (*call)(Session&, Scope&, Args&);
  Value (*lazy)(Session&, Scope&, const ast::Call&, const SourceRange&) = nullptr;  // gets its arguments unevaluated
};

std::span<const Builtin> host_builtins();    // Python's own, tilelang.*, math.*
std::span<const Builtin> python_builtins();  // more of Python's own
std::span<const Builtin> eager_builtins();   // T.const, T.dynamic, T.empty
std::span<const Builtin> alloc_builtins();   // T.alloc_*, T.Tensor
std::span<const Builtin> tile_builtins();    // copy, gemm, fill
std::span<const Builtin> loop_builtins();    // Kernel, ws, Parallel, Pipelined …
std::span<const Builtin> sync_builtins();    // barriers, thread index
std::span<const Builtin> scalar_builtins();  // ceildiv, max, exp, cast …

const Builtin* find_builtin(std::string_view space, std::string_view name);
CompileOptions compile_options(Session& s, const Args& args);
// The array and the index of the barrier that a value names.
std::pair<ir::ValueId, ir::ValueId> to_barrier(Session& s, const Value& v, const SourceRange& where);

}  // namespace tc::eval
