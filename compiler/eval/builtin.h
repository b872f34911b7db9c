// A function of the library or of Python, one row each: name space, name, parameters, what it does.
// Parameters are written as in Python, with "=" behind those that may be left out: "src, dst, *, disable_tma=".
// "*blocks" takes all further positional arguments, "**" at the end keywords of every name. "k_pack=~" is a parameter
// of other versions than the release that is followed, "sync=!" one of these that means nothing here. Internal to
// compiler/eval.
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

std::span<const Builtin> host_builtins();       // Python's own, tilelang.*, math.*
std::span<const Builtin> python_builtins();     // more of Python's own
std::span<const Builtin> eager_builtins();      // T.const, T.dynamic, T.empty
std::span<const Builtin> alloc_builtins();      // T.alloc_*, T.Tensor
std::span<const Builtin> view_builtins();       // view, reshape, make_tensor, pointers
std::span<const Builtin> copy_builtins();       // copy and its asynchronous kinds
std::span<const Builtin> gemm_builtins();       // gemm and its kinds
std::span<const Builtin> tile_builtins();       // fill, reductions, scans
std::span<const Builtin> atomic_builtins();     // atomic_*
std::span<const Builtin> layout_builtins();     // layouts and other annotations
std::span<const Builtin> schedule_builtins();   // warp-specialisation schedules, tile schedulers
std::span<const Builtin> launch_builtins();     // Kernel, ws, thread and block indices
std::span<const Builtin> intrinsic_builtins();  // rows of intrinsic.def
std::span<const Builtin> memory_builtins();     // ldg, stg, print, call_extern
std::span<const Builtin> dtype_builtins();      // is_float4, min_value …
std::span<const Builtin> loop_builtins();       // Parallel, Pipelined …
std::span<const Builtin> sync_builtins();       // barriers
std::span<const Builtin> node_builtins();       // T.And, T.If …: TVM's names
std::span<const Builtin> scalar_builtins();     // ceildiv, max, exp, cast …

const Builtin* find_builtin(std::string_view space, std::string_view name);
CompileOptions compile_options(Session& s, const Args& args);
Value library(Session& s, LibraryKind kind, std::string what, std::vector<std::pair<std::string, Value>> fields);
// ---- arguments (args.cc)
Trace& in_launch(Session& s, const Args& a);
Trace& collective(Session& s, const Args& a);  // in a launch and not inside T.Parallel
Trace& traced(Session& s, const Args& a);      // in a kernel, launched or not yet
bool flag(Session& s, const Args& a, std::string_view name, bool otherwise = false);
// An attribute from an argument, where it is given.
void copy_int(Session& s, const Args& a, ir::OpId op, std::string_view name);
void copy_text(Session& s, const Args& a, ir::OpId op, std::string_view name, std::string_view attr);
void set(Session& s, ir::OpId op, std::string_view name, ir::AttrValue value);
void add_annotations(Session& s, const Args& a, ir::OpId op);  // of annotations={…}
void add_annotations(Session& s, const Args& a, std::vector<ir::Attr>& attrs);
std::optional<ir::AttrValue> to_attribute(Session& s, const Value& v, const SourceRange& where);
ir::ValueId scalar_arg(Session& s, const Args& a, std::string_view name);
ir::ValueId index_arg(Session& s, const Args& a, std::string_view name);
Box box_arg(Session& s, const Args& a, std::string_view name);  // a buffer or region that is no barrier
ir::ValueId region_arg(Session& s, const Args& a, std::string_view name);
// What a pointer, an element or a buffer points to, as a region.
Box pointed_to(Session& s, const Value& v, const SourceRange& where, std::string_view what);
std::vector<ir::ValueId> element_arg(Session& s, const Args& a, std::string_view name);  // buffer, indices
// The memory behind a box as a buffer of another type.
Value view_of(Session& s, const Args& a, const Box& source, ElementType element, std::vector<ir::MetaInt> shape,
              std::vector<ir::MetaInt> strides);
// The layout of the op `user`, which was just made, or of the loop whose body is being built.
void emit_loop_layout(Session& s, const Value& layout, std::optional<ir::OpId> user, const SourceRange& where);
Value call_layout(Session& s, const LibraryObject& object, const std::vector<Value>& indices, const SourceRange& where);
ir::ValueId thread_index_of(Session& s, int64_t dim);  // of the launch's threads; dimension 0 is the fastest
std::optional<Value> buffer_attribute(Session& s, const Value& buffer, const std::string& name,
                                      const SourceRange& where);
Value call_buffer_method(Session& s, const Value& buffer, const std::string& name, const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
// The array and the index of the barrier that a value names.
std::pair<ir::ValueId, ir::ValueId> to_barrier(Session& s, const Value& v, const SourceRange& where);

}  // namespace tc::eval
