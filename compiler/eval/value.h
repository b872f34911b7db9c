// What a Python expression of a tile program can be worth while the program is being evaluated.
// Integers are pairs of a value and, where it came from factory parameters, an expression over them (ir::MetaInt);
// truth values that were decided on such integers remember the condition, floats the parameters they depend on. Lists,
// dicts, functions and scopes are shared as in Python; the Session's heap owns them and nothing is freed before the
// evaluation ends.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/diag.h"
#include "compiler/ir/ir.h"
#include "compiler/syntax/ast.h"

namespace tc::eval {

struct Value;
struct Scope;
struct Builtin;
struct Instance;
struct LibraryObject;

struct NoneV {};
// `if_true` and `if_false` state in words of the source what holds when the truth value is that; e.g. "K >= 64" and
// "K < 64". Empty where the value depends on no factory parameter.
struct Decision {
  std::string if_true, if_false;
  std::vector<std::string> params;
};
struct BoolV {
  bool value = false;
  const Decision* decision = nullptr;
};
struct FloatV {
  double value = 0;
  const std::vector<std::string>* params = nullptr;  // factory parameters it was computed from
};
struct ListObject {
  std::vector<Value> items;
  ir::MetaInt length_expr;  // expr valid: the length as an expression, from `[x] * STAGES`
  int level = 0;            // Session::uncertain where it was made
  bool uncertain = false;   // changed under a condition that is unknown: the items are not all
};
struct DictObject {
  std::vector<std::pair<Value, Value>> items;
  bool is_set = false;  // keys alone
};
struct TupleObject {
  std::vector<Value> items;
};
struct RangeObject {
  ir::MetaInt start, stop, step;
};
// A name space of the library: T, tilelang, PassConfigKey …
struct NamespaceV {
  const char* name;
};
struct BufferV {
  ir::ValueId id;
  bool is_var = false;  // T.alloc_var: assignment stores, use loads
  bool fresh = false;   // just allocated: the assignment that receives it names it
};
// buffer[...]: per dimension an offset and, for a slice, its extent. All dimensions are there.
struct RegionDim {
  ir::ValueId offset;
  std::optional<ir::MetaInt> extent;  // nullopt: a plain index
  int64_t step = 1;                   // of a slice
};
struct RegionObject {
  BufferV buffer;
  std::vector<RegionDim> dims;
  bool has_slice = false;
  bool is_ref = false;  // what a T.Ref parameter of a macro stands for: assignment stores
};
struct ScalarV {
  ir::ValueId id;
};
// A run-time integer of a kernel by its name: T.dynamic; and T.const as long as its value is looked for.
struct SymbolObject {
  std::string name;
  DType dtype = DType::i32;
  SourceRange where;
};
struct TensorType {
  DType dtype = DType::f32;
  std::vector<ir::MetaInt> shape, strides;
  uint32_t lanes = 1;
};
enum class FunctionKind { plain, prim_func, macro, jit };
enum class MethodRole { method, static_method, class_method, property };
struct CompileOptions {
  std::optional<std::vector<int64_t>> out_idx;
  std::vector<ir::Attr> pass_configs;
};
struct InnerKernel {  // a @tilelang.jit function or a factory that a function defines
  std::string name;
  SourceRange where;
};
struct FunctionObject {
  FunctionKind kind = FunctionKind::plain;
  std::string name;
  const ast::Params* params = nullptr;
  const ast::Body* body = nullptr;  // null for a lambda
  ast::ExprRef lambda_body = nullptr;
  Scope* closure = nullptr;
  std::vector<std::optional<Value>> defaults;  // one a parameter
  SourceRange where;                           // "def name"
  bool is_factory = false;                     // contains a @T.prim_func
  bool is_eager = false;                       // launches a kernel itself
  std::vector<InnerKernel> inner_kernels;      // of one that is no kernel itself (makers.cc)
  std::string made_by;                         // "attention[heads=8]": of one that run_makers has made
  bool of_trace = false;                       // defined while a factory or a kernel runs: no kernel of the file
  bool of_host_code = false;                   // a prim_func inside of a function of host code
  CompileOptions options;                      // of @tilelang.jit
  const Value* configs = nullptr;              // of @autotune: a list of dicts of arguments
  MethodRole role = MethodRole::method;        // where it is an attribute of a class
  std::vector<std::pair<std::string, Value>> test_values;  // of pytest.mark.parametrize: names and a list of values
};
// A decorator that waits for its function: tilelang.jit(out_idx=…), functools.wraps …
struct DecoratorObject {
  FunctionKind kind = FunctionKind::plain;  // plain: leaves the function as it is
  CompileOptions options;
  const Value* configs = nullptr;
};
struct MethodObject;   // a method of a type that the evaluator has: self and name
struct PartialObject;  // functools.partial, and a bound method of a class of the program
// A class of the program. What is found in no class of the program is unknown where a base is.
struct ClassObject {
  std::string name;
  SourceRange where;
  std::vector<Value> bases;
  std::unordered_map<std::string, Value> attrs;
  std::vector<std::string> fields;  // annotated names in order: of dataclasses and NamedTuples
  bool is_record = false;           // dataclass or NamedTuple: makes objects of its fields
  bool is_enum = false;
};
struct ObjectObject {
  ClassObject* type = nullptr;
  std::unordered_map<std::string, Value> attrs;
};
enum class LoopKind { serial, unroll, vectorized, pipelined, parallel, grid, persistent, thread };
struct LoopObject {
  LoopKind kind = LoopKind::serial;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> bounds;  // lo, hi a dimension
  std::optional<ir::ValueId> step;                          // index = lo + step * v
  ir::ValueId wave, index, group;         // persistent: CTAs at work, which one this is, tiles a group
  const LibraryObject* layout = nullptr;  // parallel: loop_layout
  ir::MetaInt num_stages;
  std::vector<ir::Attr> attrs;
};
// if_, then, otherwise: of T.If, T.Then, T.Else.
enum class FrameKind { launch, ws, attribute, if_, then, otherwise };
struct FrameObject {
  FrameKind kind = FrameKind::launch;
  std::vector<ir::ValueId> extents;  // launch
  std::vector<ir::MetaInt> threads;  // launch: x, y, z
  std::vector<ir::MetaInt> cluster;  // launch: x, y, z; empty: none
  std::vector<ir::Attr> attrs;       // launch: more of its attributes; attribute: of every effect in the body
  // ws: threads lo <= tid < hi of each range
  std::vector<std::pair<ir::MetaInt, ir::MetaInt>> ranges;
  std::vector<Value> condition;  // if_
};
// Nothing is known about it. `cause` says why where a failed statement made it.
struct OpaqueObject {
  std::string what;  // "torch.randn(...)"
  SourceRange where;
  std::optional<Diag> cause;
  bool reported = false;  // the cause is among the diagnostics: what follows from it is not said again
};
// A name that may not be used (again): bound inside a run-time block that has ended.
struct PoisonObject {
  std::string why;
  SourceRange where;
};
// What is known of a tensor of the host program: torch.randn(M, K, dtype=torch.float16) has a shape and a dtype.
struct HostTensor {
  std::string what;
  SourceRange where;
  std::optional<DType> dtype;
  std::optional<std::vector<Value>> shape;          // items may be opaque
  std::optional<std::vector<int64_t>> values = {};  // of small integer tensors of one dimension or none
};
// An object of host code that the abstract run follows, by the names of its attributes.
// context: of an autograd function; super: what super() gives; layer: torch.nn.Linear; marker: pytest.mark.parametrize.
enum class HostKind { parser, record, tuner, context, super, layer, marker };
struct HostObject {
  HostKind kind = HostKind::record;
  std::string what;
  SourceRange where;
  std::unordered_map<std::string, Value> attrs;
};
struct VectorTypeV {  // float16x4
  DType element;
  uint32_t lanes;
};

enum class PolicyV { square, full_row, full_col };
constexpr std::string_view policy_name(PolicyV p) {
  return p == PolicyV::square ? "Square" : p == PolicyV::full_row ? "FullRow" : "FullCol";
}

struct Value {
  std::variant<NoneV, BoolV, ir::MetaInt, FloatV, std::string, const TupleObject*, ListObject*, DictObject*,
               const RangeObject*, DType, FunctionObject*, const DecoratorObject*, const Builtin*, NamespaceV, BufferV,
               const RegionObject*, ScalarV, const MethodObject*, const LoopObject*, const FrameObject*,
               const TensorType*, Instance*, const OpaqueObject*, const PoisonObject*, VectorTypeV, PolicyV,
               const SymbolObject*, const HostTensor*, HostObject*, ClassObject*, ObjectObject*, const PartialObject*,
               const LibraryObject*>
      v;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&v);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(v);
  }
};
struct MethodObject {
  Value self;
  std::string name;
};
struct PartialObject {
  Value callee;
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};
// What the library makes and takes back: layouts, pointers, the parts of a schedule, tile schedulers.
enum class LibraryKind {
  pointer,      // buffer (a buffer or region), access
  layout,       // name; shape and forward, or buffer and parameters
  fragment,     // shape, forward | forward_thread and forward_index, replicate
  ws_role,      // name, warps_lo, warps_hi, max_nreg
  ws_pipeline,  // name, buffers, depth
  ws_sync,      // kind, pipeline, stage
  ws_scope,     // id, bodies
  ws_schedule,  // num_warps, roles, pipelines, scopes
  reducer,      // of T.comm_reducer: op
  slice,        // lower, upper, step: of slice(…), and T.Ramp as an index
};
struct LibraryObject {
  LibraryKind kind;
  std::string what;  // "T.WSRole"
  std::vector<std::pair<std::string, Value>> fields;
  const Value* field(std::string_view name) const {
    for (const auto& [n, v] : fields)
      if (n == name) return &v;
    return nullptr;
  }
};

// One level of names. Python's function scope, plus one child for each run-time block inside it (a name bound in such a
// block is gone after it).
struct Scope {
  Scope* parent = nullptr;
  std::unordered_map<std::string, Value> names;
  bool is_function = true;   // false: a run-time block of the enclosing function
  bool is_loop = false;      // a run-time loop body
  bool is_parallel = false;  // of T.Parallel
  bool staged = false;       // statements of this function build the kernel (range is a run-time loop)
  std::unordered_map<std::string, SourceRange> outer_reads;  // loop bodies: names read from outside the loop
  std::unordered_map<std::string, Scope*> elsewhere;         // names of global and nonlocal statements
  std::vector<Value> maybe_returned;                         // host functions: returned under unknown conditions
};

std::string kind_name(const Value& v);  // "an integer", "a buffer": for messages

}  // namespace tc::eval
