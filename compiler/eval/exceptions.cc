// Exceptions of host code and of plain Python functions. What the program raises by itself (raise, assert, a missing
// key, an index outside of a list) goes to the first handler around it that names its type or one that contains it, as
// long as no unknown condition lies between. A statement that the abstract run cannot follow raises nothing: what it
// binds is unknown, and no handler runs. Where the program expects a failure (pytest.raises) the kernels made are not
// looked at.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
using namespace tc::ast;

constexpr std::pair<std::string_view, std::string_view> kParents[] = {
    {"KeyError", "LookupError"},
    {"IndexError", "LookupError"},
    {"ModuleNotFoundError", "ImportError"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"FileNotFoundError", "OSError"},
    {"UnicodeError", "ValueError"},
};

std::string type_name(const Expr& e) {
  if (const auto* call = std::get_if<Call>(&e.node)) return type_name(*call->func);
  if (const auto* a = std::get_if<Attribute>(&e.node)) return a->attr;
  const auto* name = std::get_if<Name>(&e.node);
  return name ? name->id : std::string();
}

bool contains(Scope& scope, const std::string& handler, const std::string& raised) {
  if (handler == raised || handler == "Exception" || handler == "BaseException") return true;
  for (auto [child, parent] : kParents)
    if (child == raised && parent == handler) return true;
  const Value* known = lookup(scope, raised);
  auto* const* type = known ? known->as<ClassObject*>() : nullptr;
  return type && derives_from(**type, handler);
}
}  // namespace

void fail_raised(const SourceRange& where, std::string type, std::string message) {
  Failure f{input_error(where, std::move(message))};
  f.raised = std::move(type);
  throw f;
}

void raise(Session& s, Scope& scope, const Raise& n, const SourceRange& where) {
  if (!n.exception) {
    if (!s.handled.empty()) throw Failure(s.handled.back());
    fail_raised(where, "RuntimeError", "the program raises an error");
  }
  std::string type = type_name(*n.exception), what = "the program raises an error";
  if (const auto* call = std::get_if<Call>(&n.exception->node); call && !call->args.empty())
    what = "the program raises: " + format(s, eval(s, scope, *call->args[0]));
  fail_raised(where, type.empty() ? "Exception" : type, what);
}

bool is_caught(const Session& s, const Failure& failure) {
  return !failure.raised.empty() && !s.tries.empty() && s.tries.back() == s.uncertain;
}

bool handles(Session&, Scope& scope, const Handler& h, const std::string& raised) {
  if (!h.type) return true;
  if (const auto* several = std::get_if<TupleExpr>(&h.type->node))
    return std::any_of(several->items.begin(), several->items.end(),
                       [&](ExprRef e) { return contains(scope, type_name(*e), raised); });
  return contains(scope, type_name(*h.type), raised);
}

bool expects_failure(const Value& context) {
  const auto* o = context.as<const OpaqueObject*>();
  return o && ((*o)->what.starts_with("pytest.raises(") || (*o)->what.find(".assertRaises") != std::string::npos);
}

Outcome exec_expecting_failure(Session& s, Scope& scope, const Body& body) {
  size_t instances = s.heap.instances.size(), diags = s.diags.size();
  Outcome o = exec(s, scope, body);
  for (size_t i = instances; i < s.heap.instances.size(); ++i) s.heap.instances[i].extra = true;
  s.diags.resize(std::min(diags, s.diags.size()));
  return o;
}

}  // namespace tc::eval
