// The table of the language's names, made from the tables that the evaluator itself goes by: a name with a row is read,
// with its parameters; one without is refused by name. docs/language-names.md is this text; a test keeps it so.
#include "compiler/eval/builtin.h"
#include "compiler/eval/language_names.h"

namespace tc::eval {
namespace {
// As in a row's params, of a function or a class that is written in the language itself.
std::string written_params(const Value& v) {
  auto* const* type = v.as<ClassObject*>();
  const Value* init = type ? class_lookup(**type, "__init__") : &v;
  auto* const* f = init ? init->as<FunctionObject*>() : nullptr;
  std::string out;
  for (size_t i = type ? 1 : 0; f && i < (*f)->params->list.size(); ++i) {
    const ast::Param& p = (*f)->params->list[i];
    out += (out.empty() ? "" : ", ") + p.name + (p.default_value ? "=" : "");
  }
  return out;
}

std::string without_other(std::string_view params, std::string& other) {
  std::string kept;
  while (!params.empty()) {
    size_t end = params.find(", ");
    std::string item(params.substr(0, end));
    params = end == std::string_view::npos ? std::string_view() : params.substr(end + 2);
    bool of_other = item.ends_with('~') || item.ends_with('!');
    if (of_other) item.resize(item.size() - 2);
    std::string& list = of_other ? other : kept;
    list += (list.empty() ? "" : ", ") + item;
  }
  if (!other.empty() && kept.ends_with(", *")) kept.resize(kept.size() - 3);
  return kept;
}

std::string other_versions() {
  std::string out;
  for (const OtherName& other : other_names())
    out += "| `" + std::string(other.name) + "` | `" + std::string(other.row) + "` |\n";
  return out;
}
}  // namespace

std::string language_table() {
  EvalOptions options;
  Session s;
  s.options = &options;
  s.host = false;  // as in a kernel: host code may name anything
  std::string read, refused, types;
  for (const std::string& name : language_names()) {
    if (is_language_dtype(name)) {
      types += (types.empty() ? "" : ", ") + ("`" + name + "`");
      continue;
    }
    Value value;
    try {
      value = namespace_attribute(s, NamespaceV{"T"}, name, {});
    } catch (const Failure&) {
      refused += (refused.empty() ? "" : ", ") + ("`" + name + "`");
      continue;
    }
    const Builtin* row = find_builtin("T", name);
    std::string other, params = row ? without_other(row->params, other) : written_params(value);
    auto quoted = [](const std::string& t) { return t.empty() ? t : "`" + t + "`"; };
    read += "| `" + name + "` | " + quoted(params) + " | " + quoted(other) + " |\n";
  }
  return "# Names of the language\n\n"
         "Every name that `tilelang.language` exports in release 0.1.15. Printed by `build/tools/language-table`; do not "
         "edit.\n"
         "A parameter with `=` may be left out. What is read is traced into the tile IR; whether a target lowers it "
         "is\n"
         "another matter ([language.md](language.md)).\n\n"
         "## Read\n\nThe last column has parameters of other versions, which are accepted with a note.\n\n"
         "| name | parameters | of other versions |\n|---|---|---|\n" +
         read + "\n## Names of other versions\n\nAccepted with a note.\n\n| name | means |\n|---|---|\n" +
         other_versions() + "\n## Element types\n\n" + types + "\n\n## Refused by name, at its place\n\n" + refused +
         "\n";
}

}  // namespace tc::eval
