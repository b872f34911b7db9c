// The state of one evaluation, and the operations on it that every file of this folder shares. Internal to
// compiler/eval. Errors travel as `Failure`, thrown anywhere inside the folder and caught at its border (evaluate.cc)
// and where host code is run only to see what it calls (host.cc).
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/value.h"

namespace tc::eval {

// Thrown by the launch of an eager kernel whose parameters are only looked for.
struct LaunchReached {};

struct Failure {
  Diag diag;
  bool follows = false;  // only from an error that is reported already
  bool fatal = false;    // a bound was reached: nothing goes on
  std::string raised;    // the type of the exception where it is the program's own: "KeyError"
};
[[noreturn]] void fail(const SourceRange& where, std::string message);
[[noreturn]] void fail_rule(const SourceRange& where, std::string_view rule, std::string message);
[[noreturn]] void fail_unsupported(const SourceRange& where, std::string message);

// A kernel that was found: which function, with which arguments.
struct Instance {
  FunctionObject* factory = nullptr;    // a factory or an eager kernel; null for a prim_func at module level
  FunctionObject* prim_func = nullptr;  // null until a factory was run
  std::vector<std::pair<std::string, Value>> args;                 // those known when the kernel is built
  std::vector<std::pair<std::string, int64_t>> consts;             // eager: what T.const stands for
  std::vector<std::pair<std::string, const HostTensor*>> tensors;  // eager: run-time arguments of the call
  std::string from;                                                // arg | manifest | main | default | literal
  SourceRange where;                                               // the call
  CompileOptions options;
  bool traced = false;
  std::optional<size_t> func;  // its place in Session::traced, where tracing succeeded
  // Parameters and output tensors, as far as tracing came.
  std::vector<ir::ValueId> params, results;
  bool failed = false;
  bool extra = false;               // of a kernel that another entry point had reached
  std::optional<int64_t> sm_count;  // of the manifest
  std::string error;                // the first one of its trace
};

// Objects live here; addresses are stable.
struct Heap {
  std::deque<ListObject> lists;
  std::deque<DictObject> dicts;
  std::deque<TupleObject> tuples;
  std::deque<RangeObject> ranges;
  std::deque<FunctionObject> functions;
  std::deque<DecoratorObject> decorators;
  std::deque<RegionObject> regions;
  std::deque<TensorType> tensor_types;
  std::deque<MethodObject> methods;
  std::deque<LoopObject> loops;
  std::deque<FrameObject> frames;
  std::deque<OpaqueObject> opaques;
  std::deque<SymbolObject> symbols;
  std::deque<HostTensor> tensors;
  std::deque<HostObject> objects;
  std::deque<ClassObject> classes;
  std::deque<ObjectObject> instances_of_classes;
  std::deque<PartialObject> partials;
  std::deque<Value> values;
  std::deque<PoisonObject> poisons;
  std::deque<Decision> decisions;
  std::deque<std::vector<std::string>> param_lists;
  std::deque<Scope> scopes;
  std::deque<Instance> instances;
  std::deque<LibraryObject> library;
  std::deque<Instance> built;  // by factories, of the prim_funcs that they return
};

// The state of an eager kernel: its parameters and results are declared while its body runs.
struct Eager {
  const FunctionObject* function = nullptr;
  const Instance* instance = nullptr;
  bool probing = false;             // first run: up to the launch, to see which parameter's extent is which T.const
  std::vector<std::string> consts;  // in the order of their declaration
  std::vector<std::pair<std::string, ir::ValueId>> params;
  std::vector<ir::ValueId> empties;  // of T.empty
  std::vector<SourceRange> empties_at;
  std::vector<ir::ValueId> returned;
};

// Threads lo <= tid < hi of every range, in order.
using ThreadRanges = std::vector<std::pair<int64_t, int64_t>>;

// What is being traced: one kernel.
struct Trace {
  explicit Trace(ir::Module& m, ir::BlockId at) : builder(m, at) {}
  ir::Builder builder;
  std::vector<ir::Precondition> preconditions;
  // Constants that dominate the point being built; a block forgets its own on the way out.
  struct Known {
    ir::MetaInt value;
    DType type;
    ir::ValueId id;
  };
  std::vector<Known> constants;
  std::vector<ir::MetaInt> threads;  // block dimensions of the launch; empty outside of one
  std::vector<ir::MetaInt> cluster;  // its cluster dimensions; empty: none
  ir::OpId launch;
  std::vector<std::pair<std::string, ir::ValueId>> symbols;   // run-time integers by name
  std::vector<std::pair<std::string, ir::ValueId>> lengths;   // of slices, where known at run time only: "length.0"
  std::vector<std::pair<std::string, int64_t>> param_values;  // factory parameters
  Eager* eager = nullptr;
  Instance* instance = nullptr;
  size_t errors = 0;
  // T.If around: its op, or (invalid) whether the condition that is known holds.
  std::vector<std::pair<ir::OpId, bool>> ifs;
  ThreadRanges here;  // the threads that run the current section
  int parallel_depth = 0;
  int lazy_depth = 0;           // inside operands that are evaluated only where they count
};

struct Session {
  ir::Module module;
  Heap heap;
  std::vector<Diag> diags;
  std::vector<Diag> not_followed;  // of host code
  std::vector<Diag> warnings;
  Scope* globals = nullptr;
  const EvalOptions* options = nullptr;
  const std::vector<KernelRequest>* requests = nullptr;
  std::vector<ir::Func> traced;
  std::vector<std::string> constant_names;  // of T.const and T.dynamic, for --arg
  std::map<std::string, Scope*> modules;    // files beside the input that it imports, by path
  std::string directory, input_directory;   // where they are looked for: of the module that imports, of the input
  std::vector<FileId> library;              // texts of the library that are written in the language, once read
  std::vector<std::shared_ptr<const ast::Module>> parsed;
  Trace* trace = nullptr;
  // Host level: outside of any factory. Calls of factories make instances; failures make opaque values.
  bool host = true;
  bool in_main = false;  // the abstract run is inside main() or under `if __name__ == "__main__"`
  int64_t steps = 0;
  int64_t items = 0;  // of all lists and tuples made, and characters of texts
  struct Frame {
    std::string function;
    SourceRange where;  // the call
  };
  std::vector<Frame> calls;         // of functions of the program, outermost first
  std::vector<int> tries;           // of `try` statements around: `uncertain` where they began
  std::vector<Failure> handled;     // by the handlers that run
  int maybe_left_loop = 0;          // breaks under unknown conditions, of the innermost loop
  int uncertain = 0;                // depth of conditions and loops of host code that are unknown
  std::vector<SourceRange> failed;  // factories that a call reached which then failed
  std::vector<std::pair<SourceRange, std::string>> unresolved;  // kernels without an instance, and why
  const char* stack = nullptr;                                  // where the evaluation began
  std::string entry = "literal";  // the function of the file that is run, for Instance::from
  bool main_ran = false, tests_ran = false;
  // Of argparse: other values than the defaults, and the ones that stand for the command line now.
  struct Alternative {
    std::string name, shown;  // "--variant wasp"
    Value value;
  };
  std::vector<Alternative> alternatives;
  std::vector<std::pair<std::string, Value>> command_line;
  std::optional<int64_t> sm_count;  // of the manifest
  bool keep_found = false;          // of the manifest
};

// ---- making values
Value none();
Value boolean(bool b);
Value integer(ir::MetaInt i);
Value real(double d);
Value text(std::string s);
Value tuple(Session& s, std::vector<Value> items);
Value list(Session& s, std::vector<Value> items);
Value scalar(ir::ValueId id);
Value opaque(Session& s, std::string what, const SourceRange& where);
// Unknown because `from` is: it comes from the same place.
Value derived(Session& s, const OpaqueObject& from, std::string what);
Value symbol(Session& s, std::string name, DType dtype, const SourceRange& where);
Value host_tensor(Session& s, HostTensor tensor);
HostObject& host_object(Session& s, HostKind kind, std::string what, const SourceRange& where);
Value partial(Session& s, Value callee, std::vector<Value> positional,
              std::vector<std::pair<std::string, Value>> keywords = {});
DictObject& dict(Session& s);
Value extent(Session& s, const ir::MetaInt& e);  // an integer, or a run-time scalar for a dynamic extent

// ---- evaluation (expr.cc, stmt.cc, call.cc)
// Around a loop of host code: has something in its body that is run under an unknown condition left it?
struct Leaving {
  Session& s;
  const Scope& scope;
  int outer;
  size_t returned;
  Leaving(Session& session, const Scope& function)
      : s(session),
        scope(function),
        outer(std::exchange(s.maybe_left_loop, 0)),
        returned(function.maybe_returned.size()) {}
  ~Leaving() { s.maybe_left_loop = outer; }
  bool loop() const { return s.maybe_left_loop > 0 || scope.maybe_returned.size() > returned; }
};

enum class Flow { normal, returned, broke, continued };
struct Outcome {
  Flow flow = Flow::normal;
  Value value;
  SourceRange where = {};  // of the return
};
Value eval(Session& s, Scope& scope, const ast::Expr& e);
Outcome exec(Session& s, Scope& scope, const ast::Body& body);
// The statements before the launch; those that fail leave their names unknown.
void exec_until_launch(Session& s, Scope& scope, const ast::Body& body);
void assign(Session& s, Scope& scope, const ast::Expr& target, Value value);
// What a loop of host code runs over is not known: one item stands for all. None: it is known.
Value unknown_item(Session& s, const Value& iterable, const SourceRange& where);
Value call_value(Session& s, Scope& scope, const Value& callee, const ast::Call& call, const SourceRange& where);
Value apply(Session& s, Scope& scope, const Value& callee, std::vector<Value> positional,
            std::vector<std::pair<std::string, Value>> keywords, const SourceRange& where);
Value call_function(Session& s, FunctionObject& f, std::vector<std::optional<Value>> args, const SourceRange& where);
// Arguments of a Python function by parameter, defaults filled in; fails on missing and unknown ones.
std::vector<std::optional<Value>> bind_params(Session& s, const FunctionObject& f, const std::vector<Value>& positional,
                                              const std::vector<std::pair<std::string, Value>>& keywords,
                                              const SourceRange& where, bool allow_missing);
Value make_function(Session& s, Scope& scope, const ast::FunctionDef& def, const SourceRange& where);
std::string param_name(const FunctionObject& f, size_t i);  // *args and **kwargs come last
Value get_attribute(Session& s, const Value& base, const std::string& name, const SourceRange& where);
Value subscript(Session& s, Scope& scope, const Value& base, const ast::Expr& index, const SourceRange& where);
void count_step(Session& s, const SourceRange& where);
void count_items(Session& s, size_t n, const SourceRange& where);  // of a list, tuple or text that is made
void check_stack(Session& s, const SourceRange& where);
[[noreturn]] void fail_bound(const SourceRange& where, std::string message);
// A place in the library's own text becomes the call of the program that led there.
SourceRange place_in_program(const Session& s, const SourceRange& where);
void warn(Session& s, const SourceRange& where, std::string message);  // once for each place and text
// Adds the chain of calls, and the diagnostic if it says something new.
void report(Session& s, const Failure& failure);
const Value* lookup(Scope& scope, const std::string& name);
Value read_name(Session& s, Scope& scope, const std::string& name, const SourceRange& where);
void bind_name(Session& s, Scope& scope, const std::string& name, Value value, const SourceRange& where);

// ---- arithmetic (arith.cc)
Value binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where);
Value unary(Session& s, ast::UnaryOp op, const Value& a, const SourceRange& where);
Value compare(Session& s, ast::CmpOp op, const Value& a, const Value& b, const SourceRange& where);
bool equal_values(const Value& a, const Value& b);
ir::MetaInt meta(Session& s, ir::MetaKind kind, const ir::MetaInt& a, const ir::MetaInt& b, const SourceRange& where);
// Two meta integers that have to be the same: equal expressions, or equal values with a precondition.
bool require_equal(Session& s, const ir::MetaInt& a, const ir::MetaInt& b, const SourceRange& where);
void pin(Session& s, const ir::MetaInt& value, const SourceRange& where);  // precondition: expression == value
void add_precondition(Session& s, const std::string& text, const std::vector<std::string>& params,
                      const SourceRange& where);
// Python's truth of a compile-time value (records its precondition); nullopt: known at run time only.
std::optional<bool> truth(Session& s, const Value& v, const SourceRange& where);
bool is_static_number(const Value& v);

// ---- operators on objects of the program's classes (operators.cc); nothing: the classes do not say
std::optional<Value> special_method(Session& s, const Value& self, const std::string& name, std::vector<Value> args,
                                    const SourceRange& where);
std::optional<Value> object_binary(Session& s, ast::BinOp op, const Value& a, const Value& b, const SourceRange& where);
std::optional<Value> object_compare(Session& s, ast::CmpOp op, const Value& a, const Value& b,
                                    const SourceRange& where);
Value plain_member(const Value& v);  // the number or text that a member of IntEnum … is; else v

// ---- exceptions (exceptions.cc)
[[noreturn]] void fail_raised(const SourceRange& where, std::string type, std::string message);
[[noreturn]] void raise(Session& s, Scope& scope, const ast::Raise& n, const SourceRange& where);
bool is_caught(const Session& s, const Failure& failure);
bool handles(Session& s, Scope& scope, const ast::Handler& h, const std::string& raised);
bool expects_failure(const Value& context);
Outcome exec_expecting_failure(Session& s, Scope& scope, const ast::Body& body);

// ---- access to what a builtin needs (convert.cc)
ir::MetaInt to_int(Session& s, const Value& v, const SourceRange& where, std::string_view what);
bool to_bool(Session& s, const Value& v, const SourceRange& where, std::string_view what);
double to_double(const Value& v, const SourceRange& where, std::string_view what);
std::string to_text(const Value& v, const SourceRange& where, std::string_view what);
std::string format(Session& s, const Value& v);  // Python's str(), short
DType to_dtype(Session& s, const Value& v, const SourceRange& where);
struct ElementType {
  DType dtype;
  uint32_t lanes = 1;
};
ElementType to_element(Session& s, const Value& v, const SourceRange& where);  // a dtype or a vector of one
std::optional<ElementType> vector_type(std::string_view name);                 // "float16x4"
std::vector<Value> to_items(Session& s, const Value& v, const SourceRange& where, std::string_view what);
// May be dynamic; no extent is below `least` (strides: 0).
// With `runtime` an extent may be any run-time integer.
std::vector<ir::MetaInt> to_shape(Session& s, const Value& v, const SourceRange& where, int64_t least = 1,
                                  bool runtime = false);
std::vector<ir::MetaInt> to_static_shape(Session& s, const Value& v, const SourceRange& where);
[[noreturn]] void fail_opaque(const OpaqueObject& o, const SourceRange& where, std::string_view what);

// ---- kernel scalars (scalar.cc); need a trace
bool is_runtime(const Value& v);  // a scalar, a symbol, an element of a buffer, a variable
// A dynamic integer becomes the arithmetic on symbols that it stands for.
ir::ValueId constant(Session& s, ir::MetaInt value, DType type = DType::i32);
ir::ValueId symbol_value(Session& s, const std::string& name, DType dtype);
// The scalar as an integer over factory parameters and symbols, if it is one.
std::optional<ir::MetaInt> as_meta(Session& s, ir::ValueId v);
ir::ValueId to_scalar(Session& s, const Value& v, const SourceRange& where, std::string_view what);
ir::ValueId to_index(Session& s, const Value& v, const SourceRange& where, std::string_view what);  // an integer scalar
ir::ValueId convert(Session& s, ir::ValueId v, DType type);
// ---- promotion.cc
// The operands of an operator as it takes them: of one type, in as many lanes. Fails where it does not take them.
std::pair<ir::ValueId, ir::ValueId> promote(Session& s, ir::OpKind kind, ir::ValueId a, ir::ValueId b,
                                            const SourceRange& where);
ir::ValueId scalar_binary(Session& s, ir::OpKind kind, ir::ValueId a, ir::ValueId b, const SourceRange& where);
ir::ValueId scalar_binary(Session& s, ir::OpKind kind, ir::ValueId a, ir::ValueId b);   // reported at the statement
DType common_type(Session& s, ir::ValueId a, ir::ValueId b, const SourceRange& where);  // of two values to choose from
ir::ValueId in_lanes(Session& s, ir::ValueId v, uint32_t lanes);
double largest_finite(DType type);
// A cast as the program writes it: a constant has to be a value of the integer type that it becomes.
Value cast_to(Session& s, const Value& v, const ElementType& type, const SourceRange& where);
Value power(Session& s, const Value& base, const Value& exponent,
            const SourceRange& where);  // static, or to a positive integer
ir::ValueId as_condition(Session& s, const Value& v, const SourceRange& where);
// cond ? a : b with arms evaluated by the given functions, each only where it is chosen.
Value choose(Session& s, ir::ValueId condition, const std::function<Value()>& a, const std::function<Value()>& b,
             const SourceRange& where);
Trace& need_trace(Session& s, const SourceRange& where, std::string_view what);
Trace& need_launch(Session& s, const SourceRange& where, std::string_view what);
DType dtype_of(Session& s, ir::ValueId v);
// An extent that is this run-time value.
ir::MetaInt runtime_extent(Session& s, ir::ValueId length);
// upper - lower where that is a compile-time number whatever the run-time parts are.
std::optional<ir::MetaInt> constant_difference(Session& s, ir::ValueId upper, ir::ValueId lower,
                                               const SourceRange& where);
// The threads 0 <= tid < count for which a condition holds, if it depends on nothing but the thread index.
std::optional<std::vector<bool>> threads_where(Session& s, ir::ValueId condition, int64_t count);

// ---- rules of the language for a whole kernel (checks.cc)
void check_kernel(Session& s, const ir::Func& func);
void check_initialised(Session& s, const ir::Func& func);
bool check_escapes(Session& s, const ir::Func& func);  // escapes.cc; false: errors were added
void check_races(Session& s, const ir::Func& func);
void check_pipelines(Session& s, const ir::Func& func);

// ---- regions (region.cc)
Value load_element(Session& s, const Value& v, const SourceRange& where);
Value index_buffer(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const SourceRange& where);
ir::Type buffer_type(Session& s, const BufferV& b);  // a copy: values move when ops are made
struct Box {  // a buffer, and per dimension offset and extent
  BufferV buffer;
  std::vector<ir::ValueId> offsets;
  std::vector<ir::MetaInt> extents;
  bool whole = false;
};
std::optional<Box> to_box(Session& s, const Value& v, const SourceRange& where);  // extents of an index are 1
ir::ValueId emit_box(Session& s, const Box& box);
std::pair<Box, Box> copy_boxes(Session& s, const Value& src, const Value& dst, const SourceRange& where);

// ---- kernel statements (staged.cc)
Outcome exec_for(Session& s, Scope& scope, const ast::For& loop, const SourceRange& where);
bool is_instrumentation(const OpaqueObject& o);
Outcome exec_with(Session& s, Scope& scope, const ast::With& with, const SourceRange& where);
Outcome exec_if_runtime(Session& s, Scope& scope, const ast::If& stmt, const Value& condition,
                        const SourceRange& where);
// A `while` of a kernel: its condition is evaluated anew before every iteration.
Outcome exec_while_runtime(Session& s, Scope& scope, const ast::While& stmt, const SourceRange& where);
// ---- slices as values (vector.cc)
Value slice_object(Session& s, Value lower, Value upper, Value step);
ir::ValueId vector_of(Session& s, const std::vector<ir::ValueId>& elements, const SourceRange& where);
ir::ValueId slice_value(Session& s, const RegionObject& region, const SourceRange& where);
// A cast to an element type or to a vector type of as many lanes.
ir::ValueId cast_value(Session& s, ir::ValueId v, const ElementType& to, const SourceRange& where);
void store_slice(Session& s, const RegionObject& region, const Value& value, const SourceRange& where);

void store_region(Session& s, const RegionObject& element, const Value& value, const SourceRange& where);
void store_element(Session& s, Scope& scope, const BufferV& buffer, const ast::Expr& index, const Value& value,
                   const SourceRange& where);
void store_var(Session& s, const BufferV& var, const Value& value, const SourceRange& where);
void emit_source_launch(Session& s, const FrameObject& frame, const SourceRange& where);  // of T.CUDASourceCodeKernel
// Runs `body` with the builder in a new block scope; names bound inside are gone afterwards.
Outcome run_block(Session& s, Scope& scope, ir::BlockId block, bool is_loop, const SourceRange& where,
                  const std::function<Outcome(Scope&)>& body);

// ---- builtins (builtins.cc)
Value namespace_attribute(Session& s, const NamespaceV& ns, const std::string& name, const SourceRange& where);
Value call_builtin(Session& s, Scope& scope, const Builtin& b, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
void import_all(Session& s, Scope& scope, const ast::ImportName& name, const SourceRange& where);
Value import_value(Session& s, const ast::ImportName& name, const SourceRange& where);
Value decorate(Session& s, const Value& decorator, const Value& function, const SourceRange& where);
Value call_method(Session& s, Scope& scope, const MethodObject& method, const std::vector<Value>& positional,
                  const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);

// ---- classes of the program (objects.cc)
Value make_class(Session& s, Scope& scope, const ast::ClassDef& def, const SourceRange& where);
Value instantiate(Session& s, Scope& scope, ClassObject& type, const std::vector<Value>& positional,
                  const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
const Value* class_lookup(const ClassObject& type, const std::string& name);
Value enum_member(Session& s, const ClassObject& type, const Value& name, const SourceRange& where);  // Kind["A"]
Value class_attribute(Session& s, ClassObject& type, const std::string& name, const SourceRange& where);
Value object_attribute(Session& s, ObjectObject& o, const std::string& name, const SourceRange& where);
bool derives_from(const ClassObject& type, std::string_view base);  // by the end of the base's name
Value super_attribute(Session& s, const HostObject& super, const std::string& name, const SourceRange& where);
Value apply_autograd(Session& s, Scope& scope, ClassObject& type, const std::vector<Value>& positional,
                     const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);

// ---- methods of Python's own types (python_methods.cc)
bool has_python_method(const Value& self, const std::string& name);
Value call_python_method(Session& s, Scope& scope, const MethodObject& m, const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
std::string format_spec(Session& s, const Value& v, const std::string& spec, const SourceRange& where);

// ---- host code under unknown conditions (uncertain.cc)
// The unknown value that a condition of host code is worth, if it is: null where it is known.
const OpaqueObject* unknown_condition(Session& s, const Value& v, const SourceRange& where);
Value merged(Session& s, const Value& a, const Value& b, const std::string& why, const SourceRange& where);
Outcome exec_unknown_if(Session& s, Scope& scope, const ast::If& stmt, const OpaqueObject& condition,
                        const SourceRange& where);
Outcome exec_unknown_loop(Session& s, Scope& scope, ast::ExprRef target, const Value& item, const ast::Body& body,
                          const std::string& why, const SourceRange& where);

// ---- spelling (spelling.cc)
// ", did you mean 'x'?" where one of the names is near, else nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

// ---- the abstract run of host code (host_tensor.cc, host_object.cc, modules.cc)
bool is_main_test(const ast::Expr& test);
void run_tests(Session& s);
void run_entry_points(Session& s, const ast::Module& module);
std::optional<Value> tensor_attribute(Session& s, const HostTensor& t, const std::string& name,
                                      const SourceRange& where);
Value call_tensor_method(Session& s, const HostTensor& t, const std::string& name, const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
Value tensor_arithmetic(Session& s, const Value& a, const Value& b, bool comparison, const SourceRange& where);
// Of + - * // where the values of both sides are known.
std::optional<std::vector<int64_t>> tensor_values(ast::BinOp op, const Value& a, const Value& b);
Value tensor_item(Session& s, Scope& scope, const HostTensor& t, const ast::Expr& index, const SourceRange& where);
Value call_object_method(Session& s, HostObject& o, const std::string& name, const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
std::optional<Value> call_torch(Session& s, const std::string& name, const std::vector<Value>& positional,
                                const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
std::optional<Value> call_host(Session& s, Scope& scope, const std::string& name, const std::vector<Value>& positional,
                               const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
std::optional<Value> call_host_function(Session& s, Scope& scope, const std::string& name,
                                        const std::vector<Value>& positional,
                                        const std::vector<std::pair<std::string, Value>>& keywords,
                                        const SourceRange& where);
std::optional<Value> call_einops(Session& s, const std::string& name, const std::vector<Value>& positional,
                                 const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
std::optional<Value> call_torch_function(Session& s, const std::string& name, const std::vector<Value>& args,
                                         const std::vector<std::pair<std::string, Value>>& keywords,
                                         const SourceRange& where);
std::optional<Value> call_tensor_operation(Session& s, const HostTensor& x, const std::string& name,
                                           const std::vector<Value>& args,
                                           const std::vector<std::pair<std::string, Value>>& keywords,
                                           const SourceRange& where);
void store_tensor_item(Session& s, Scope& scope, HostTensor& x, const ast::Expr& index, const Value& value);
Value layer_result(Session& s, const HostObject& layer, const std::vector<Value>& positional, const SourceRange& where);
int64_t sm_count(const Session& s);
// A module beside the input; null: there is none.
Scope* local_module(Session& s, const std::string& dotted, const SourceRange& where);
// A name of tilelang.cuda.intrinsics; null: it has none of that name.
// A name of the library that is written in the language itself: of T, or of tilelang.cuda.intrinsics.
const Value* library_name(Session& s, std::string_view space, const std::string& name);
bool of_library(const Session& s, FileId file);

// ---- kernels (kernel.cc, eager.cc, evaluate.cc)
void trace_instance(Session& s, Instance& instance);
void probe_eager(Session& s, Instance& instance);  // finds instance.consts; fails on a missing one
bool declares_parameter(const FunctionObject& f);  // A: T.Tensor(…) in its body
bool is_runtime_param(Session& s, const FunctionObject& f, const ast::Param& p);
void declare_eager_params(Session& s, Scope& scope);
bool declare_eager_param(Session& s, const std::string& name, const Value& type, Scope& scope,
                         const SourceRange& where);
void return_from_eager(Session& s, const Value& value, const SourceRange& where);
// What a call of a built kernel gives the host: tensors of its outputs' types.
Value kernel_result(Session& s, Instance& instance, const std::vector<Value>& given, const SourceRange& where);
Value call_factory(Session& s, FunctionObject& f, const std::vector<Value>& positional,
                   const std::vector<std::pair<std::string, Value>>& keywords, const SourceRange& where);
// Functions that define kernels inside (makers.cc): runs those that nothing has called; returns those that cannot be.
std::vector<std::string> maker_params(Session& s, FileId file);
std::vector<FunctionObject*> run_makers(Session& s, FileId file);
// The kernel of that name, or of the function of that name, made with those of the arguments that are the function's
// parameters; they are taken out. Null: there is none.
FunctionObject* made_kernel(Session& s, const std::string& name, FileId file,
                            std::vector<std::pair<std::string, Value>>& args, const SourceRange& where);
bool override_args(Session& s, const FunctionObject& f, std::vector<std::optional<Value>>& args);
Instance& add_literal(Session& s, FunctionObject& prim_func);  // a kernel that host code defines
std::string instance_text(Session& s, const std::string& name, const Instance& instance);

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace tc::eval
