// The syntax tree of a Python file, as far as tile programs need it.
//   text ─ parse() ─► Module: statements, with every node's place in the file
// Nodes are immutable and owned by their Module (stable addresses); everything else points at them. Operators keep
// Python's own names. What the evaluator can never need (await, yield, match …) is an `OtherExpr` or
// `OtherStmt` that remembers its Python name, so that host code in a file parses and only *using* it is an error.
// Columns are 1-based and count bytes of UTF-8, as everywhere in Tilecheck (CPython's are the same, 0-based).
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/source.h"

namespace tc::ast {

struct Expr;
struct Stmt;
using ExprRef = const Expr*;  // null where Python has None, e.g. the bounds of a[:]
using Exprs = std::vector<ExprRef>;
using Body = std::vector<const Stmt*>;

enum class BinOp { add, sub, mult, matmult, div, mod, pow, lshift, rshift, bit_or, bit_xor, bit_and, floordiv };
enum class UnaryOp { invert, not_, uadd, usub };
enum class BoolOp { and_, or_ };
enum class CmpOp { eq, ne, lt, le, gt, ge, is, is_not, in, not_in };

// "+", "//" … as written in Python.
std::string_view symbol(BinOp op);
std::string_view symbol(UnaryOp op);
std::string_view symbol(CmpOp op);

struct NoneLit {};
struct EllipsisLit {};
// An integer that does not fit 64 bits keeps only its text.
struct BigIntLit {
  std::string text;
};
struct Constant {
  std::variant<NoneLit, bool, int64_t, BigIntLit, double, std::string, EllipsisLit> value;
};
struct Name {
  std::string id;
};
struct Attribute {
  ExprRef value;
  std::string attr;
};
struct Subscript {
  ExprRef value, index;  // index: Slice, Tuple of items and Slices, or any expression
};
struct Slice {
  ExprRef lower, upper, step;
};
struct Keyword {
  std::string name;  // empty for **value
  ExprRef value;
  SourceRange where;
};
struct Call {
  ExprRef func;
  Exprs args;
  std::vector<Keyword> keywords;
};
struct BinaryExpr {
  BinOp op;
  ExprRef left, right;
};
struct UnaryExpr {
  UnaryOp op;
  ExprRef operand;
};
struct BoolExpr {
  BoolOp op;
  Exprs values;
};
// a < b <= c: first = a, ops = {<, <=}, rest = {b, c}.
struct Compare {
  ExprRef first;
  std::vector<CmpOp> ops;
  Exprs rest;
};
struct IfExpr {
  ExprRef test, body, orelse;
};
struct TupleExpr {
  Exprs items;
};
struct ListExpr {
  Exprs items;
};
struct DictExpr {
  Exprs keys, values;  // a null key is **value
};
struct Comprehension {
  ExprRef target, iter;
  Exprs ifs;
};
enum class ComprehensionKind { list, generator, set, dict };
struct ListComp {
  ExprRef element;
  std::vector<Comprehension> generators;
  ComprehensionKind kind = ComprehensionKind::list;
  ExprRef value = nullptr;  // dict: element is the key
};
struct SetExpr {
  Exprs items;
};
// target := value
struct NamedExpr {
  ExprRef target, value;
};
struct Starred {
  ExprRef value;
};
struct JoinedStr {
  Exprs parts;  // constant strings and FormattedValues
};
struct FormattedValue {
  ExprRef value;
  char conversion;  // 'r' of {x!r}, or 0
  ExprRef spec;     // a JoinedStr, or null
  bool plain() const { return !conversion && !spec; }
};
struct Param {
  std::string name;
  ExprRef annotation;     // or null
  ExprRef default_value;  // or null
  bool keyword_only;
  SourceRange where;
};
struct Params {
  std::vector<Param> list;
  std::string vararg, kwarg;  // of *args and **kwargs, or empty
  bool has_varargs() const { return !vararg.empty() || !kwarg.empty(); }
};
struct Lambda {
  Params params;
  ExprRef body;
};
struct OtherExpr {
  std::string kind;  // Python's class name, e.g. "Await"
};

struct Expr {
  SourceRange where;
  std::variant<Constant, Name, Attribute, Subscript, Slice, Call, BinaryExpr, UnaryExpr, BoolExpr, Compare, IfExpr,
               TupleExpr, ListExpr, DictExpr, SetExpr, ListComp, Starred, JoinedStr, FormattedValue, Lambda, NamedExpr,
               OtherExpr>
      node;
};

struct FunctionDef {
  std::string name;
  Params params;
  Body body;
  Exprs decorators;
  SourceRange name_where;  // "def name"
};
struct Return {
  ExprRef value;  // or null
};
struct Assign {
  Exprs targets;  // a = b = value has two
  ExprRef value;
};
struct AugAssign {
  ExprRef target;
  BinOp op;
  ExprRef value;
};
struct AnnAssign {
  ExprRef target, annotation, value;  // value may be null
};
struct For {
  ExprRef target, iter;
  Body body, orelse;
};
struct While {
  ExprRef test;
  Body body, orelse;
};
struct If {
  ExprRef test;
  Body body, orelse;  // elif: orelse holds one If
};
struct WithItem {
  ExprRef context, target;  // target may be null
};
struct With {
  std::vector<WithItem> items;
  Body body;
};
struct Assert {
  ExprRef test, message;  // message may be null
};
struct Raise {
  ExprRef exception;  // or null
};
struct ExprStmt {
  ExprRef value;
};
struct ImportName {
  std::string module;  // "tilelang.language"; for `from m import n` the module m
  std::string name;    // "" for `import m`, else n or "*"
  std::string bound;   // the name it binds
};
struct Import {
  std::vector<ImportName> names;
};
struct Handler {
  ExprRef type;      // null: every exception
  std::string name;  // "" without `as`
  Body body;
};
struct Try {
  Body body;
  std::vector<Handler> handlers;
  Body orelse, finally;
};
struct ClassDef {
  std::string name;
  Exprs bases, decorators;
  Body body;
  SourceRange name_where;  // "class name"
};
// global, nonlocal
struct Outer {
  std::vector<std::string> names;
  bool global;
};
struct Delete {
  Exprs targets;
};
struct Pass {};
struct Break {};
struct Continue {};
struct OtherStmt {
  std::string kind;
};

struct Stmt {
  SourceRange where;
  std::variant<FunctionDef, Return, Assign, AugAssign, AnnAssign, For, While, If, With, Assert, Raise, ExprStmt, Import,
               Try, ClassDef, Outer, Delete, Pass, Break, Continue, OtherStmt>
      node;
};

struct Module {
  FileId file = 0;
  Body body;
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
};

}  // namespace tc::ast
