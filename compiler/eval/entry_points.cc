// What of a file is run, abstractly, to find its kernels: module level first; then, while kernels are left that nothing
// has reached, main(), the tests (test_* of a file without main, with the first values of their marks) and run_*(), as
// far as they can be called without arguments; and last the program with other values on its command line, one at a
// time (choices of argparse, flags). An entry point after main() adds only kernels that were not reached.
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
constexpr size_t kMaxAlternatives = 16;

bool reached(const Session& s, const FunctionObject& f) {
  auto of_f = [&](const Instance& i) { return i.factory && i.factory->where == f.where; };
  return std::any_of(s.heap.instances.begin(), s.heap.instances.end(), of_f) ||
         std::find(s.failed.begin(), s.failed.end(), f.where) != s.failed.end();
}

bool all_reached(const Session& s, FileId file) {
  return std::none_of(s.heap.functions.begin(), s.heap.functions.end(), [&](const FunctionObject& f) {
    bool factory = f.kind == FunctionKind::jit || (f.kind == FunctionKind::plain && f.is_factory);
    return factory && !f.of_trace && f.where.file == file && !reached(s, f);
  });
}

FunctionObject* plain_function(const Value& v) {
  auto* const* f = v.as<FunctionObject*>();
  return f && (*f)->kind == FunctionKind::plain && !(*f)->is_factory && !(*f)->is_eager ? *f : nullptr;
}

std::vector<std::string> words(const std::string& names) {
  std::vector<std::string> out(1);
  for (char c : names)
    if (c != ',' && c != ' ') out.back() += c;
    else if (!out.back().empty()) out.emplace_back();
  if (out.back().empty()) out.pop_back();
  return out;
}

// The first values of pytest.mark.parametrize.
std::vector<std::pair<std::string, Value>> test_arguments(Session& s, const FunctionObject& f) {
  std::vector<std::pair<std::string, Value>> out;
  for (const auto& [names, values] : f.test_values) {
    std::vector<std::string> targets = words(names);
    std::vector<Value> rows = to_items(s, values, f.where, "the values of a mark");
    if (rows.empty() || targets.empty()) continue;
    std::vector<Value> row = targets.size() == 1 ? std::vector{rows[0]} : to_items(s, rows[0], f.where, "the values");
    for (size_t i = 0; i < std::min(row.size(), targets.size()); ++i) out.emplace_back(targets[i], row[i]);
  }
  return out;
}

void run(Session& s, FunctionObject& f, bool main) {
  bool was_main = std::exchange(s.in_main, main);
  std::string outer = std::exchange(s.entry, f.name);
  try {
    call_function(s, f, bind_params(s, f, {}, test_arguments(s, f), f.where, false), {});
  } catch (const Failure& failure) {
    // Host code that cannot be followed names no kernel; a bound that was reached ends the run.
    if (failure.fatal) throw;
  }
  s.in_main = was_main;
  s.entry = outer;
}

// The functions of the file with such names, in its order.
std::vector<FunctionObject*> functions_named(Session& s, std::string_view prefix) {
  std::vector<FunctionObject*> out;
  for (auto& [name, value] : s.globals->names)
    if (FunctionObject* f = name.starts_with(prefix) ? plain_function(value) : nullptr) out.push_back(f);
  std::sort(out.begin(), out.end(), [](const FunctionObject* a, const FunctionObject* b) {
    return std::pair(a->where.line, a->name) < std::pair(b->where.line, b->name);
  });
  return out;
}

// Forgets the instances since `before` of kernels that had been reached then.
void keep_new(Session& s, size_t before) {
  std::vector<SourceRange> had;
  for (size_t i = 0; i < before; ++i)
    if (s.heap.instances[i].factory) had.push_back(s.heap.instances[i].factory->where);
  for (size_t i = before; i < s.heap.instances.size(); ++i) {
    Instance& made = s.heap.instances[i];
    made.extra = made.factory && std::find(had.begin(), had.end(), made.factory->where) != had.end();
  }
}

void run_for_more(Session& s, FunctionObject& f) {
  size_t before = s.heap.instances.size();
  run(s, f, false);
  keep_new(s, before);
}

// The program once more for every other value of one argument of its command line.
void run_alternatives(Session& s, const ast::Module& module, FunctionObject* main) {
  std::vector<Session::Alternative> all = s.alternatives;
  if (all.size() > kMaxAlternatives) all.resize(kMaxAlternatives);
  for (const auto& alternative : all) {
    if (all_reached(s, module.file)) break;
    size_t before = s.heap.instances.size();
    s.command_line = {{alternative.name, alternative.value}};
    std::string outer = std::exchange(s.entry, "main " + alternative.shown);
    bool any = false;
    for (const ast::Stmt* stmt : module.body)
      if (const auto* test = std::get_if<ast::If>(&stmt->node); test && is_main_test(*test->test))
        any = true, exec(s, *s.globals, test->body);
    if (!any && main) run(s, *main, false);
    s.entry = outer;
    keep_new(s, before);
  }
  s.command_line.clear();
}
}  // namespace

void run_tests(Session& s) {
  if (std::exchange(s.tests_ran, true)) return;
  for (FunctionObject* f : functions_named(s, "test")) run(s, *f, false);
}

void run_entry_points(Session& s, const ast::Module& module) {
  FileId file = module.file;
  if (all_reached(s, file)) return;
  std::vector<FunctionObject*> mains = functions_named(s, "main");
  std::erase_if(mains, [](FunctionObject* f) { return f->name != "main"; });
  if (!mains.empty() && !s.main_ran) run(s, *mains[0], true);
  if (mains.empty() && !all_reached(s, file)) run_tests(s);
  for (std::string_view prefix : {"run", "test", "bench"})
    for (FunctionObject* f : functions_named(s, prefix)) {
      if (all_reached(s, file)) return;
      run_for_more(s, *f);
    }
  run_alternatives(s, module, mains.empty() ? nullptr : mains[0]);
}

}  // namespace tc::eval
