#include "tools/oracle.h"

#include "compiler/interp/interp.h"

namespace tc::tools {

Result<std::vector<runtime::Tensor>> run_oracle(const Kernel& kernel, const std::vector<runtime::Tensor>& inputs) {
  const ir::Func& f = kernel.func();
  if (kernel.module.level != ir::Level::tile)
    return input_error(f.text_loc, "the interpreter runs tile programs, this module is at the device level");
  std::vector<runtime::Tensor> args;
  for (ir::ValueId v : f.params) {
    const ir::Value& value = kernel.module[v];
    const runtime::Tensor* t = runtime::tensor_named(inputs, value.name);
    if (t) args.push_back(*t);
    else return unsupported(f.loc, "parameter " + value.name + " without a tensor");
  }
  if (Status s = ir::interpret(kernel.module, f, args); !s) return s.error();
  std::vector<runtime::Tensor> out = inputs;
  for (size_t i = 0; i < args.size(); ++i)
    for (runtime::Tensor& t : out)
      if (t.name == kernel.module[f.params[i]].name) t = args[i];
  return out;
}

}  // namespace tc::tools
