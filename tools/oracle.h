// The tile interpreter's answer for a kernel: what simulator and GPU are compared with.
#pragma once
#include "runtime/inputs.h"
#include "tools/pipeline.h"

namespace tc::tools {

// Tensors after the interpreter's run, in the order of `inputs` (make_inputs()).
Result<std::vector<runtime::Tensor>> run_oracle(const Kernel& kernel, const std::vector<runtime::Tensor>& inputs);

}  // namespace tc::tools
