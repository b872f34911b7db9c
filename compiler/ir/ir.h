// The one typed IR. A module is a set of arenas (values, operations, blocks, meta expressions) addressed by typed
// 32-bit ids; tile operations (copy, gemm) and device operations (tma_load, wgmma) are rows of one table, op.def, and a
// level is the set of rows that validate.cc accepts.
//
// Text form (printer.cc, parser.cc; parse(print(x)) == x):
//   func @matmul level=tile arch="sm_90a" (%A: global f16[1000:"M", 520:"K"], …) attrs {instance="matmul[M=1000]"} {
//     launch %0, %1 {threads=256} |%bx: i32, %by: i32| {
//       %a = alloc : shared f16[3, 128, 64]                                 loc(#0 15:17-15:60)
//       for_ %c0, %n {kind="serial"} |%k: i32| {
//         %s = floormod %k, %c3 : i32
//         %r = region %a, %s, %c0, %c0, %c1, %c128, %c64 : tile f16[1, 128, 64]
// A region of a rank-n buffer has n offsets, then n extents: here slot %s of the ring %a.
//
// Conventions that several folders rely on
//  * Meta integers. A compile-time integer is a value and, where it came from factory parameters, an expression over
//    them: 8:"ceildiv(K, 64)". `constant`, shapes, extents and integer attributes carry such pairs (design.md, scope).
//  * Sections. `ws {lo, hi}` runs its block on threads lo <= tid < hi, concurrently with other sections. The front end
//    makes it of `T.ws` and of an `if` whose condition only compares the thread index with constants. Statements
//    outside of it mean sequence, whichever threads carry them out.
//  * Barriers. An array of mbarriers is a buffer of space `barrier` with one entry an mbarrier; its `alloc` has counts.
//    A use names the array and an index.
//  * tma_copy (tile): a load expects the bytes of its box on the barrier and copies, by one elected thread; it does not
//    arrive. A store (shared → global) has no barrier.
//  * Every op has the range of the source statement that caused it. In a module read from text, `text_loc` is its place
//    in that text and diagnostics point there, with a note at `loc`.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/source.h"
#include "specs/dtype.h"

namespace tc::ir {

using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using BlockId = Id<struct BlockTag>;
using MetaId = Id<struct MetaTag>;

// ------------------------------------------------------------------------------------------------ the op table
enum class OpKind : uint8_t {
#define OP(name, levels, operands, results, blocks, proxy, sync, scope) name,
#include "compiler/ir/op.def"
#undef OP
};
enum class Proxy : uint8_t { none, generic, async };
enum class Sync : uint8_t { none, arrive, expect, arrive_expect, wait, copy, commit, wait_group, barrier, fence };
enum class Scope : uint8_t { thread, elected, warpgroup, threads, host };
enum class Level : uint8_t { tile, device };

struct OpInfo {
  OpKind kind;
  std::string_view name;      // without the trailing underscore of C++ keywords: "for", "if"
  std::string_view levels;    // "T", "D" or "TD"
  std::string_view operands;  // letters of op.def
  int results, blocks;
  Proxy proxy;
  Sync sync;
  Scope scope;
};
const OpInfo& info(OpKind kind);
std::optional<OpKind> op_from_name(std::string_view name);
bool is_legal(OpKind kind, Level level);
// Letter of operand `n` of `count` (v r w u b m B x), following the repeat marks and alternatives; 0 if there is none.
char operand_role(const OpInfo& op, size_t n, size_t count);
// A row of intrinsic.def in the same terms (kind is OpKind::call); null: there is no such intrinsic.
const OpInfo* find_intrinsic(std::string_view name);

// ------------------------------------------------------------------------------------------------ meta integers
// An expression over factory parameters. `param` has a name, `literal` a value, the others operands. `symbol` is a
// run-time integer of the function (Func::symbols) by name: the extent of a tensor that is known at the launch.
enum class MetaKind : uint8_t {
  literal,
  param,
  symbol,
  add,
  sub,
  mul,
  floordiv,
  floormod,
  ceildiv,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  neg
};
struct MetaNode {
  MetaKind kind = MetaKind::literal;
  int64_t value = 0;  // literal
  std::string name;   // param
  MetaId lhs, rhs;
  bool operator==(const MetaNode&) const = default;
};
struct MetaInt {
  static constexpr int64_t kDynamic = INT64_MIN;
  int64_t value = 0;  // kDynamic: known at the launch; `expr` says how it follows from the symbols. Printed as ?:"m"
  MetaId expr;        // invalid: a literal of the source
  bool dynamic() const { return value == kDynamic; }
  MetaInt() = default;
  MetaInt(int64_t v) : value(v) {}
  MetaInt(int64_t v, MetaId e) : value(v), expr(e) {}
};

// ------------------------------------------------------------------------------------------------ types
enum class Space : uint8_t { global, shared, fragment, local, barrier, tmem };
enum class TypeKind : uint8_t { scalar, buffer, tile, map };

// How a shared buffer's innermost two dimensions lie in memory: column panels of `span` bytes, each row-major, XORed
// by the swizzle of that span (specs/swizzle.h). span 0: plain row-major, no swizzle. See layout.h.
struct SharedLayout {
  uint32_t span = 0;
  bool operator==(const SharedLayout&) const = default;
};

struct Type {
  TypeKind kind = TypeKind::scalar;
  DType dtype = DType::i32;
  uint32_t lanes = 1;            // elements of a vector type: f16x4
  Space space = Space::global;   // buffer
  std::vector<MetaInt> shape;    // buffer, tile: elements, outermost first; barrier: {number of mbarriers}
  std::vector<MetaInt> strides;  // global buffer: elements; empty = row-major contiguous
  SharedLayout layout;           // shared buffer
  static Type scalar(DType t, uint32_t lanes = 1) { return Type{.dtype = t, .lanes = lanes}; }
  static Type buffer(Space space, DType t, std::vector<MetaInt> shape) {
    return Type{.kind = TypeKind::buffer, .dtype = t, .space = space, .shape = std::move(shape)};
  }
  static Type tile(DType t, std::vector<MetaInt> shape) {
    return Type{.kind = TypeKind::tile, .dtype = t, .shape = std::move(shape)};
  }
  size_t rank() const { return shape.size(); }
};
int64_t element_count(const Type& type);  // of a type without dynamic extents
bool is_dynamic(const Type& type);

// ------------------------------------------------------------------------------------------------ ops, values, blocks
using AttrValue = std::variant<MetaInt, double, std::string, std::vector<MetaInt>>;
struct Attr {
  std::string name;
  AttrValue value;
};

struct Op {
  OpKind kind{};
  std::vector<ValueId> operands, results;
  std::vector<BlockId> blocks;
  std::vector<Attr> attrs;
  SourceRange loc;       // the source statement
  SourceRange text_loc;  // the line of the .ir file it was read from, if any
};
struct Value {
  Type type;
  std::string name;  // a hint; the printer makes names unique
  OpId def;          // the op it is a result of; invalid for block arguments and parameters
};
struct Block {
  std::vector<ValueId> args;
  std::vector<OpId> ops;
};

// A condition that the front end decided on values that a proof would like to generalise ("K >= 64"): text for people,
// and which parameters it mentions.
struct Precondition {
  std::string text;
  std::vector<std::string> params;
  SourceRange loc;
};

struct Func {
  std::string name;                                   // what a user calls it
  std::string instance;                               // name[args]
  std::string specialisation;                         // arg | manifest | main | default | literal
  std::vector<std::pair<std::string, int64_t>> args;  // integer arguments of the specialisation
  std::vector<ValueId> params;                        // global buffers and scalars, in order
  std::vector<ValueId> symbols;                       // integers that follow from the extents of the params
  std::vector<int64_t> outputs;  // indices of params that are outputs (out_idx resolved; else params written)
  std::vector<Attr> attrs;       // pass configs: "tl.disable_warp_specialized" = 1, …
  std::vector<Precondition> preconditions;
  BlockId body;
  SourceRange loc;
  SourceRange text_loc;
};

struct Module {
  Level level = Level::tile;
  std::string arch = "sm_90a";
  std::vector<Func> funcs;
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<Block> blocks;
  std::vector<MetaNode> metas;

  Value& operator[](ValueId id) { return values[id.index]; }
  const Value& operator[](ValueId id) const { return values[id.index]; }
  Op& operator[](OpId id) { return ops[id.index]; }
  const Op& operator[](OpId id) const { return ops[id.index]; }
  Block& operator[](BlockId id) { return blocks[id.index]; }
  const Block& operator[](BlockId id) const { return blocks[id.index]; }
  const MetaNode& operator[](MetaId id) const { return metas[id.index]; }

  BlockId new_block();
  ValueId new_value(Type type, std::string name = {}, OpId def = {});
  // Appends to the block `at`; the results' types make the results.
  OpId new_op(BlockId at, OpKind kind, std::vector<ValueId> operands, std::vector<Type> results, SourceRange loc);
  MetaId new_meta(MetaNode node);  // same node: same id
};

// ------------------------------------------------------------------------------------------------ questions
// The row that describes an op: of op.def, or for a call of intrinsic.def (of an unknown name: that of `call`).
const OpInfo& row_of(const Op& op);
// Letter of the op's operand n; of an `x` with an attribute {access="r…"} the letter that this has for it.
char operand_role(const Op& op, size_t n);
const AttrValue* find_attr(std::span<const Attr> attrs, std::string_view name);
void set_attr(std::vector<Attr>& attrs, std::string_view name, AttrValue value);
int64_t int_attr(const Op& op, std::string_view name, int64_t otherwise);
std::string_view text_attr(const Op& op, std::string_view name, std::string_view otherwise);
// The value of an integer `constant`, if `v` is one.
std::optional<MetaInt> constant_value(const Module& m, ValueId v);
// The buffer behind a region or a buffer; the value itself otherwise.
ValueId buffer_of(const Module& m, ValueId v);
// Where to report an op: its line in the .ir text if it came from one, else its source line.
const SourceRange& place(const Op& op);
// A note at the source line of an op that came from an .ir text; none otherwise.
std::vector<Note> origin_notes(const Op& op);
std::string meta_text(const Module& m, const MetaInt& value);  // "ceildiv(K, 64)", or "8" without an expression
// With the function's arguments and these symbols; nullopt: a name has no value, a division by zero, an overflow.
std::optional<int64_t> meta_value(const Module& m, const Func& f, MetaId expr,
                                  std::span<const std::pair<std::string, int64_t>> symbols = {});
void meta_params(const Module& m, MetaId expr, std::vector<std::string>& out);
std::string type_text(const Module& m, const Type& type);

// Calls visit(op id, depth) for every op of the block and of its nested blocks, in order.
template <class Visit>
void walk(const Module& m, BlockId block, Visit&& visit) {
  for (OpId id : m[block].ops) {
    visit(id);
    for (BlockId b : m[id].blocks) walk(m, b, visit);
  }
}

// ------------------------------------------------------------------------------------------------ building
// Appends ops to one block, folding integer arithmetic on constants (with their meta expressions) as it goes.
class Builder {
 public:
  Builder(Module& m, BlockId at) : module(m), block(at) {}
  Module& module;
  BlockId block;
  SourceRange loc;

  ValueId constant(MetaInt value, DType type = DType::i32);
  ValueId constant(double value, DType type);
  // Binary and unary scalars; the result type is the operands' (comparisons and logic: bool).
  ValueId binary(OpKind kind, ValueId a, ValueId b);
  ValueId unary(OpKind kind, ValueId a);
  ValueId select(ValueId condition, ValueId a, ValueId b);
  ValueId cast(ValueId a, DType type);
  ValueId thread_index();
  ValueId alloc(Type type, std::string name);
  ValueId region(ValueId buffer, std::span<const ValueId> offsets, std::span<const ValueId> extents);
  ValueId load(ValueId buffer, std::span<const ValueId> indices);
  OpId op(OpKind kind, std::vector<ValueId> operands);
  // A call of a row of intrinsic.def without a result, and with one.
  OpId call(std::string_view name, std::vector<ValueId> operands);
  ValueId call(std::string_view name, std::vector<ValueId> operands, Type result);
  // An op with one nested block whose arguments have the given names (i32).
  OpId nest(OpKind kind, std::vector<ValueId> operands, const std::vector<std::string>& args);
};

// Meta arithmetic: value and expression together. Division by zero and overflow are the caller's to exclude.
MetaInt meta_param(Module& m, std::string name, int64_t value);
MetaInt meta_binary(Module& m, MetaKind kind, const MetaInt& a, const MetaInt& b);

// ------------------------------------------------------------------------------------------------ text, validation
std::string print(const Module& m);
Result<Module> parse(std::string_view file_name, std::string_view text);
// The same program; value names and arena numbers do not count.
bool equal(const Module& a, const Module& b);
// Structure, operand roles, types and level; the first failure.
Status validate(const Module& m);

}  // namespace tc::ir
