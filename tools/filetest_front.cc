// Stages of the front end.
//   eval       the tile IR of a .py file; options are factory arguments, besides arch=, kernel= and pass.KEY=
//   roundtrip  parse(print(x)) prints the same; the text of a .py or .ir file's IR
//   interp     runs each kernel: input element i is i % 7 - 3, outputs start as NaN; prints the first 16 elements of
//   outputs
#include <cmath>

#include "compiler/eval/evaluate.h"
#include "compiler/interp/interp.h"
#include "tools/filetest.h"

namespace tc::filetest {
namespace {

eval::EvalOptions eval_options(const Input& input) {
  eval::EvalOptions options;
  for (const auto& [key, value] : input.options) {
    if (key == "arch") options.arch = value;
    else if (key == "kernel") options.kernel = value;
    else if (key.starts_with("pass.")) options.pass_configs.emplace_back(key.substr(5), value);
    else options.args.emplace_back(key, value);
  }
  return options;
}

eval::Evaluated module_of(const Input& input) {
  if (!input.path.ends_with(".ir")) return eval::evaluate(input.file, input.path, eval_options(input));
  eval::Evaluated out;
  auto parsed = ir::parse(input.path, source_file_text(input.file));
  if (parsed) out.module = std::move(*parsed);
  else out.diags.push_back(parsed.error());
  return out;
}

Output run_eval(const Input& input) {
  eval::Evaluated e = module_of(input);
  if (Status valid = ir::validate(e.module); !valid) e.diags.push_back(valid.error());
  return {ir::print(e.module), std::move(e.diags)};
}

Output run_roundtrip(const Input& input) {
  Output out = run_eval(input);
  auto again = ir::parse(input.path + ".printed", out.text);
  if (!again) out.diags.push_back(again.error());
  else if (ir::print(*again) != out.text)
    out.diags.push_back(input_error({}, "the printed module reads back differently"));
  return out;
}

std::vector<runtime::Tensor> tensors(const ir::Module& m, const ir::Func& f, std::vector<Diag>& diags) {
  std::vector<runtime::Tensor> out;
  for (ir::ValueId v : f.params) {
    auto dtype = ir::runtime_dtype(m[v].type.dtype);
    if (!dtype) {
      diags.push_back(input_error(f.loc, "a parameter whose type does not cross a launch"));
      return {};
    }
    runtime::Tensor t{.name = m[v].name, .dtype = *dtype, .shape = {}, .bytes = {}};
    uint64_t count = 1;
    for (const ir::MetaInt& e : m[v].type.shape) count *= t.shape.emplace_back(static_cast<uint64_t>(e.value));
    t.bytes.resize(count * runtime::row(*dtype).bytes);
    for (uint64_t i = 0; i < count; ++i) t.set(i, static_cast<double>(i % 7) - 3);
    out.push_back(std::move(t));
  }
  for (int64_t o : f.outputs)
    for (uint64_t i = 0; i < out[static_cast<size_t>(o)].elements(); ++i)
      out[static_cast<size_t>(o)].set(i, std::nan(""));
  return out;
}

std::string tensor_text(const runtime::Tensor& t) {
  std::string out = t.name + " =";
  for (uint64_t i = 0; i < std::min<uint64_t>(16, t.elements()); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, " %g", t.at(i));
    out += number;
  }
  return out + "\n";
}

Output run_interp(const Input& input) {
  eval::Evaluated e = module_of(input);
  Output out{{}, std::move(e.diags)};
  for (const ir::Func& f : e.module.funcs) {
    std::vector<runtime::Tensor> t = tensors(e.module, f, out.diags);
    if (t.size() != f.params.size()) continue;
    Status status = ir::interpret(e.module, f, t);
    if (!status) out.diags.push_back(status.error());
    out.text += f.name + "\n";
    for (int64_t o : f.outputs) out.text += tensor_text(t[static_cast<size_t>(o)]);
  }
  return out;
}

}  // namespace

void add_front_stages(Stages& stages) {
  stages["eval"] = run_eval;
  stages["roundtrip"] = run_roundtrip;
  stages["interp"] = run_interp;
}

}  // namespace tc::filetest
