// Device IR → text for NVIDIA GPUs: the CUDA C++ of the kernel, its launch manifest, a host wrapper in C.
// The kernel includes "tl/tl.h" (include/tl/), nothing else. #line directives carry the source lines of the program
// into the PTX, so a simulator finding or a debugger points at the user's file. Kernel parameters, in order: for every
// parameter of the function that is accessed directly a pointer (scalars by value), then the tensor maps. The manifest
// lists the same.
#pragma once
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/manifest.h"

namespace tc::codegen {

std::string entry_name(const ir::Func& f);  // "main" → "main_kernel"
// The module is at the device level; `f` is one of its functions.
std::string print_cuda(const ir::Module& m, const ir::Func& f);
runtime::Manifest make_manifest(const ir::Module& m, const ir::Func& f);
// C: NAME_init(image) loads the module and sets the dynamic shared size, NAME_call(tensors…, stream) encodes the tensor
// maps and launches, NAME_free() unloads. Returns CUDA error codes. Source of the calls: CUDA runtime and driver
// API 13.
std::string print_host(const ir::Module& m, const ir::Func& f);

// What print_cuda and make_manifest share: which parameters are passed and the tensor maps.
struct KernelParams {
  std::vector<ir::ValueId> values;  // function parameters that the kernel takes
  std::vector<ir::OpId> maps;       // tensor_map ops
  ir::OpId launch;
};
KernelParams kernel_params(const ir::Module& m, const ir::Func& f);

}  // namespace tc::codegen
