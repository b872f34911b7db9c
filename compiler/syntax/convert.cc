// One function per class of `_ast`, found by the class's name in two tables. A class without a row becomes OtherExpr or
// OtherStmt. Attributes are read by the names of CPython 3.11's Python.asdl.
// Nodes inside an f-string get the place of the whole string: 3.11 misplaces them over several lines.
#include "compiler/syntax/convert.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace tc::syntax {
namespace {
using namespace tc::ast;

// Raised inside the conversion only, and caught by convert_module.
struct ConvertFailure {
  Diag diag;
};

struct Converter {
  Module& module;
  uint32_t first_line_skip;
  int depth = 0;
  SourceRange last{};                         // of the innermost located node
  std::optional<SourceRange> string_place{};  // set inside an f-string

  ExprRef expr(PyObject* node);
  const Stmt* stmt(PyObject* node);
};

[[noreturn]] void fail(const Converter& c, std::string message) {
  throw ConvertFailure{input_error(c.last, std::move(message))};
}

PyRef field(Converter& c, PyObject* node, const char* name) {
  PyRef value(PyObject_GetAttrString(node, name));
  if (!value) {
    PyErr_Clear();
    fail(c, std::string("the parser gave no field ") + name);
  }
  return value;
}

std::string class_name(PyObject* node) {
  std::string_view name = Py_TYPE(node)->tp_name;  // "ast.Name" or "_ast.Name" or "Name"
  return std::string(name.substr(name.rfind('.') + 1));
}

std::string text_field(Converter& c, PyObject* node, const char* name) {
  PyRef value = field(c, node, name);
  if (value.get() == Py_None) return {};
  const char* text = PyUnicode_AsUTF8(value.get());
  if (!text) {
    PyErr_Clear();
    fail(c, "a name is no valid text");
  }
  return text;
}

uint32_t number_field(Converter& c, PyObject* node, const char* name) {
  PyRef value = field(c, node, name);
  return value.get() == Py_None ? 0 : static_cast<uint32_t>(std::max(0L, PyLong_AsLong(value.get())));
}

SourceRange place(Converter& c, PyObject* node) {
  if (c.string_place) return *c.string_place;
  SourceRange r{c.module.file, number_field(c, node, "lineno"), number_field(c, node, "col_offset") + 1,
                number_field(c, node, "end_lineno"), number_field(c, node, "end_col_offset") + 1};
  if (r.line == 1) r.column += c.first_line_skip;
  if (r.end_line == 1) r.end_column += c.first_line_skip;
  return r;
}

template <class F>
void each(Converter& c, PyObject* node, const char* name, F&& f) {
  PyRef list = field(c, node, name);
  Py_ssize_t n = PyList_Check(list.get()) ? PyList_GET_SIZE(list.get()) : 0;
  for (Py_ssize_t i = 0; i < n; ++i) f(PyList_GET_ITEM(list.get(), i));
}

ExprRef expr_field(Converter& c, PyObject* node, const char* name) {
  PyRef value = field(c, node, name);
  return value.get() == Py_None ? nullptr : c.expr(value.get());
}
Exprs exprs_field(Converter& c, PyObject* node, const char* name) {
  Exprs out;
  each(c, node, name, [&](PyObject* item) { out.push_back(item == Py_None ? nullptr : c.expr(item)); });
  return out;
}
Body body_field(Converter& c, PyObject* node, const char* name) {
  Body out;
  each(c, node, name, [&](PyObject* item) { out.push_back(c.stmt(item)); });
  return out;
}

// ---- operators: the position in these lists is the enum's value ----
template <class Enum, size_t N>
Enum operator_named(Converter& c, const std::string& name, const std::array<std::string_view, N>& names) {
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) fail(c, "unknown operator " + name);
  return static_cast<Enum>(it - names.begin());
}
constexpr std::array<std::string_view, 13> kBinOpClasses = {
    "Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift", "RShift", "BitOr", "BitXor", "BitAnd", "FloorDiv"};
constexpr std::array<std::string_view, 4> kUnaryOpClasses = {"Invert", "Not", "UAdd", "USub"};
constexpr std::array<std::string_view, 2> kBoolOpClasses = {"And", "Or"};
constexpr std::array<std::string_view, 10> kCmpOpClasses = {"Eq",  "NotEq", "Lt",    "LtE", "Gt",
                                                            "GtE", "Is",    "IsNot", "In",  "NotIn"};

BinOp bin_op(Converter& c, PyObject* node) {
  return operator_named<BinOp>(c, class_name(field(c, node, "op").get()), kBinOpClasses);
}

// ---- expressions ----
using ExprNode = decltype(Expr::node);

ExprNode convert_integer(PyObject* value) {
  int overflow = 0;
  int64_t n = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (!overflow) return Constant{n};
  PyRef text(PyObject_CallMethod(value, "__format__", "s", "x"));
  if (!text) PyErr_Clear();
  return Constant{
      BigIntLit{text ? std::string("0x") + PyUnicode_AsUTF8(text.get()) : std::string("a very long integer")}};
}

ExprNode convert_constant(Converter& c, PyObject* node) {
  PyRef value = field(c, node, "value");
  PyObject* v = value.get();
  if (v == Py_None) return Constant{NoneLit{}};
  if (v == Py_Ellipsis) return Constant{EllipsisLit{}};
  if (PyBool_Check(v)) return Constant{v == Py_True};
  if (PyLong_Check(v)) return convert_integer(v);
  if (PyFloat_Check(v)) return Constant{PyFloat_AS_DOUBLE(v)};
  if (PyUnicode_Check(v)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(v, &size);
    if (text) return Constant{std::string(text, static_cast<size_t>(size))};
    PyErr_Clear();  // a lone surrogate
  }
  return OtherExpr{"Constant"};
}

Params convert_params(Converter& c, PyObject* args) {
  Params out;
  Exprs defaults = exprs_field(c, args, "defaults"), kw_defaults = exprs_field(c, args, "kw_defaults");
  auto add = [&](PyObject* arg, bool keyword_only) {
    out.list.push_back(
        {text_field(c, arg, "arg"), expr_field(c, arg, "annotation"), nullptr, keyword_only, place(c, arg)});
  };
  each(c, args, "posonlyargs", [&](PyObject* arg) { add(arg, false); });
  each(c, args, "args", [&](PyObject* arg) { add(arg, false); });
  for (size_t i = 0; i < defaults.size(); ++i)
    out.list[out.list.size() - defaults.size() + i].default_value = defaults[i];
  size_t index = 0;
  each(c, args, "kwonlyargs", [&](PyObject* arg) {
    add(arg, true);
    out.list.back().default_value = index < kw_defaults.size() ? kw_defaults[index] : nullptr;
    ++index;
  });
  auto rest = [&](const char* name) {
    PyRef arg = field(c, args, name);
    return arg.get() == Py_None ? std::string() : text_field(c, arg.get(), "arg");
  };
  out.vararg = rest("vararg");
  out.kwarg = rest("kwarg");
  return out;
}

std::vector<Keyword> convert_keywords(Converter& c, PyObject* call) {
  std::vector<Keyword> out;
  each(c, call, "keywords", [&](PyObject* k) {
    out.push_back({text_field(c, k, "arg"), expr_field(c, k, "value"), place(c, k)});
  });
  return out;
}

ExprNode convert_compare(Converter& c, PyObject* node) {
  Compare out{expr_field(c, node, "left"), {}, {}};
  each(c, node, "ops",
       [&](PyObject* op) { out.ops.push_back(operator_named<CmpOp>(c, class_name(op), kCmpOpClasses)); });
  out.rest = exprs_field(c, node, "comparators");
  return out;
}

template <ComprehensionKind kind>
ExprNode convert_comprehension(Converter& c, PyObject* node) {
  constexpr bool is_dict = kind == ComprehensionKind::dict;
  ListComp out{
      expr_field(c, node, is_dict ? "key" : "elt"), {}, kind, is_dict ? expr_field(c, node, "value") : nullptr};
  each(c, node, "generators", [&](PyObject* g) {
    out.generators.push_back({expr_field(c, g, "target"), expr_field(c, g, "iter"), exprs_field(c, g, "ifs")});
  });
  return out;
}

ExprNode convert_joined_str(Converter& c, PyObject* node) {
  std::optional<SourceRange> outer = c.string_place;
  if (!outer) c.string_place = place(c, node);
  JoinedStr out{exprs_field(c, node, "values")};
  c.string_place = outer;
  return out;
}

char conversion_of(Converter& c, PyObject* node) {
  long code = PyLong_AsLong(field(c, node, "conversion").get());
  return code > 0 ? static_cast<char>(code) : '\0';
}

using ExprConverter = ExprNode (*)(Converter&, PyObject*);
const std::unordered_map<std::string, ExprConverter>& expr_table() {
  static const std::unordered_map<std::string, ExprConverter> table = {
      {"Constant", convert_constant},
      {"Compare", convert_compare},
      {"ListComp", convert_comprehension<ComprehensionKind::list>},
      {"GeneratorExp", convert_comprehension<ComprehensionKind::generator>},
      {"SetComp", convert_comprehension<ComprehensionKind::set>},
      {"DictComp", convert_comprehension<ComprehensionKind::dict>},
      {"Set", [](Converter& c, PyObject* n) -> ExprNode { return SetExpr{exprs_field(c, n, "elts")}; }},
      {"NamedExpr",
       [](Converter& c, PyObject* n) -> ExprNode {
         return NamedExpr{expr_field(c, n, "target"), expr_field(c, n, "value")};
       }},
      {"JoinedStr", convert_joined_str},
      {"Name", [](Converter& c, PyObject* n) -> ExprNode { return Name{text_field(c, n, "id")}; }},
      {"Attribute",
       [](Converter& c, PyObject* n) -> ExprNode {
         return Attribute{expr_field(c, n, "value"), text_field(c, n, "attr")};
       }},
      {"Subscript",
       [](Converter& c, PyObject* n) -> ExprNode {
         return Subscript{expr_field(c, n, "value"), expr_field(c, n, "slice")};
       }},
      {"Slice",
       [](Converter& c, PyObject* n) -> ExprNode {
         return Slice{expr_field(c, n, "lower"), expr_field(c, n, "upper"), expr_field(c, n, "step")};
       }},
      {"Call",
       [](Converter& c, PyObject* n) -> ExprNode {
         return Call{expr_field(c, n, "func"), exprs_field(c, n, "args"), convert_keywords(c, n)};
       }},
      {"BinOp",
       [](Converter& c, PyObject* n) -> ExprNode {
         return BinaryExpr{bin_op(c, n), expr_field(c, n, "left"), expr_field(c, n, "right")};
       }},
      {"UnaryOp",
       [](Converter& c, PyObject* n) -> ExprNode {
         return UnaryExpr{operator_named<UnaryOp>(c, class_name(field(c, n, "op").get()), kUnaryOpClasses),
                          expr_field(c, n, "operand")};
       }},
      {"BoolOp",
       [](Converter& c, PyObject* n) -> ExprNode {
         return BoolExpr{operator_named<BoolOp>(c, class_name(field(c, n, "op").get()), kBoolOpClasses),
                         exprs_field(c, n, "values")};
       }},
      {"IfExp",
       [](Converter& c, PyObject* n) -> ExprNode {
         return IfExpr{expr_field(c, n, "test"), expr_field(c, n, "body"), expr_field(c, n, "orelse")};
       }},
      {"Tuple", [](Converter& c, PyObject* n) -> ExprNode { return TupleExpr{exprs_field(c, n, "elts")}; }},
      {"List", [](Converter& c, PyObject* n) -> ExprNode { return ListExpr{exprs_field(c, n, "elts")}; }},
      {"Dict",
       [](Converter& c, PyObject* n) -> ExprNode {
         return DictExpr{exprs_field(c, n, "keys"), exprs_field(c, n, "values")};
       }},
      {"Starred", [](Converter& c, PyObject* n) -> ExprNode { return Starred{expr_field(c, n, "value")}; }},
      {"FormattedValue",
       [](Converter& c, PyObject* n) -> ExprNode {
         return FormattedValue{expr_field(c, n, "value"), conversion_of(c, n), expr_field(c, n, "format_spec")};
       }},
      {"Lambda",
       [](Converter& c, PyObject* n) -> ExprNode {
         return Lambda{convert_params(c, field(c, n, "args").get()), expr_field(c, n, "body")};
       }},
  };
  return table;
}

// ---- statements ----
using StmtNode = decltype(Stmt::node);

// "def name" from the statement's place, which does not include the decorators.
SourceRange name_place(const SourceRange& def, const std::string& name, std::string_view keyword) {
  SourceRange r = def;
  r.end_line = r.line;
  r.end_column = r.column + static_cast<uint32_t>(keyword.size() + 1 + name.size());
  return r;
}

StmtNode convert_function(Converter& c, PyObject* node) {
  FunctionDef out;
  out.name = text_field(c, node, "name");
  out.name_where = name_place(c.last, out.name, "def");
  out.decorators = exprs_field(c, node, "decorator_list");
  out.params = convert_params(c, field(c, node, "args").get());
  out.body = body_field(c, node, "body");
  return out;
}

StmtNode convert_with(Converter& c, PyObject* node) {
  With out;
  each(c, node, "items", [&](PyObject* item) {
    out.items.push_back({expr_field(c, item, "context_expr"), expr_field(c, item, "optional_vars")});
  });
  out.body = body_field(c, node, "body");
  return out;
}

// `import a.b` binds a; `import a.b as x` binds x; `from m import n as x` binds x.
StmtNode convert_imports(Converter& c, PyObject* node, bool from) {
  Import out;
  std::string module = from ? text_field(c, node, "module") : std::string();
  each(c, node, "names", [&](PyObject* alias) {
    std::string name = text_field(c, alias, "name"), as = text_field(c, alias, "asname");
    if (from) out.names.push_back({module, name, as.empty() ? name : as});
    else if (as.empty()) out.names.push_back({name.substr(0, name.find('.')), "", name.substr(0, name.find('.'))});
    else out.names.push_back({name, "", as});
  });
  return out;
}

StmtNode convert_try(Converter& c, PyObject* node) {
  Try out{body_field(c, node, "body"), {}, body_field(c, node, "orelse"), body_field(c, node, "finalbody")};
  each(c, node, "handlers", [&](PyObject* h) {
    out.handlers.push_back({expr_field(c, h, "type"), text_field(c, h, "name"), body_field(c, h, "body")});
  });
  return out;
}

StmtNode convert_class(Converter& c, PyObject* node) {
  ClassDef out;
  out.name = text_field(c, node, "name");
  out.name_where = name_place(c.last, out.name, "class");
  out.bases = exprs_field(c, node, "bases");
  out.decorators = exprs_field(c, node, "decorator_list");
  out.body = body_field(c, node, "body");
  return out;
}

StmtNode convert_outer(Converter& c, PyObject* node, bool global) {
  Outer out{{}, global};
  each(c, node, "names", [&](PyObject* name) {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    else out.names.push_back(text);
  });
  return out;
}

using StmtConverter = StmtNode (*)(Converter&, PyObject*);
const std::unordered_map<std::string, StmtConverter>& stmt_table() {
  static const std::unordered_map<std::string, StmtConverter> table = {
      {"FunctionDef", convert_function},
      {"With", convert_with},
      {"Try", convert_try},
      {"Import", [](Converter& c, PyObject* n) { return convert_imports(c, n, false); }},
      {"ImportFrom", [](Converter& c, PyObject* n) { return convert_imports(c, n, true); }},
      {"Return", [](Converter& c, PyObject* n) -> StmtNode { return Return{expr_field(c, n, "value")}; }},
      {"Assign",
       [](Converter& c, PyObject* n) -> StmtNode {
         return Assign{exprs_field(c, n, "targets"), expr_field(c, n, "value")};
       }},
      {"AugAssign",
       [](Converter& c, PyObject* n) -> StmtNode {
         return AugAssign{expr_field(c, n, "target"), bin_op(c, n), expr_field(c, n, "value")};
       }},
      {"AnnAssign",
       [](Converter& c, PyObject* n) -> StmtNode {
         return AnnAssign{expr_field(c, n, "target"), expr_field(c, n, "annotation"), expr_field(c, n, "value")};
       }},
      {"For",
       [](Converter& c, PyObject* n) -> StmtNode {
         return For{expr_field(c, n, "target"), expr_field(c, n, "iter"), body_field(c, n, "body"),
                    body_field(c, n, "orelse")};
       }},
      {"While",
       [](Converter& c, PyObject* n) -> StmtNode {
         return While{expr_field(c, n, "test"), body_field(c, n, "body"), body_field(c, n, "orelse")};
       }},
      {"If",
       [](Converter& c, PyObject* n) -> StmtNode {
         return If{expr_field(c, n, "test"), body_field(c, n, "body"), body_field(c, n, "orelse")};
       }},
      {"Assert",
       [](Converter& c, PyObject* n) -> StmtNode {
         return Assert{expr_field(c, n, "test"), expr_field(c, n, "msg")};
       }},
      {"Raise", [](Converter& c, PyObject* n) -> StmtNode { return Raise{expr_field(c, n, "exc")}; }},
      {"Expr", [](Converter& c, PyObject* n) -> StmtNode { return ExprStmt{expr_field(c, n, "value")}; }},
      {"ClassDef", convert_class},
      {"Global", [](Converter& c, PyObject* n) { return convert_outer(c, n, true); }},
      {"Nonlocal", [](Converter& c, PyObject* n) { return convert_outer(c, n, false); }},
      {"Delete", [](Converter& c, PyObject* n) -> StmtNode { return Delete{exprs_field(c, n, "targets")}; }},
      {"Pass", [](Converter&, PyObject*) -> StmtNode { return Pass{}; }},
      {"Break", [](Converter&, PyObject*) -> StmtNode { return Break{}; }},
      {"Continue", [](Converter&, PyObject*) -> StmtNode { return Continue{}; }},
  };
  return table;
}

// Counts the nesting, and puts the outer node's place back on the way out.
class Nesting {
 public:
  Nesting(Converter& c, PyObject* node) : c_(c), outer_(c.last) {
    SourceRange where = place(c, node);
    if (where.valid()) c.last = where;
    if (++c.depth > kMaxDepth) fail(c, "the program is nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }
  ~Nesting() {
    --c_.depth;
    c_.last = outer_;
  }

 private:
  Converter& c_;
  SourceRange outer_;
};

ExprRef Converter::expr(PyObject* node) {
  Nesting nesting(*this, node);
  auto row = expr_table().find(class_name(node));
  ExprNode converted = row == expr_table().end() ? OtherExpr{class_name(node)} : row->second(*this, node);
  return &module.exprs.emplace_back(Expr{last, std::move(converted)});
}

const Stmt* Converter::stmt(PyObject* node) {
  Nesting nesting(*this, node);
  auto row = stmt_table().find(class_name(node));
  StmtNode converted = row == stmt_table().end() ? OtherStmt{class_name(node)} : row->second(*this, node);
  return &module.stmts.emplace_back(Stmt{last, std::move(converted)});
}

}  // namespace

Result<ModulePtr> convert_module(PyObject* python_module, FileId file, uint32_t first_line_skip) {
  auto module = std::make_shared<Module>();
  module->file = file;
  Converter converter{*module, first_line_skip};
  try {
    module->body = body_field(converter, python_module, "body");
  } catch (const ConvertFailure& failure) {
    return failure.diag;
  }
  return ModulePtr(module);
}

}  // namespace tc::syntax
