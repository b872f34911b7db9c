// A CUDA device through the driver API, by dlopen: no CUDA header, nothing to link. Builds with a C++ compiler alone.
// run() allocates the manifest's tensors, encodes its tensor maps, loads the image (PTX is compiled by the driver),
// sets the dynamic shared size, launches and copies the outputs back. A kernel that does not end within
// `timeout_seconds` ends the process with exit code 3 after a message: a hung context cannot be saved. Source: CUDA
// driver API 13.0 (cuda.h); enum values are those of that header, used by number.
#pragma once
#include <string>
#include <vector>

#include "runtime/manifest.h"
#include "runtime/tensor.h"

namespace tc::runtime {

struct DeviceRun {
  std::vector<Tensor> tensors;       // all of the manifest, after the launch
  std::string device, driver;        // "NVIDIA H200", "13000"
  std::vector<double> milliseconds;  // of each timed launch
};
struct DeviceOptions {
  int device = 0;
  int timeout_seconds = 20;
  int timed_launches = 0;  // after the one whose outputs are returned
};
// `image`: PTX text or a cubin. `inputs`: make_inputs().
Expected<DeviceRun> run_on_cuda(const Manifest& manifest, const std::string& image, const std::vector<Tensor>& inputs,
                                const DeviceOptions& options);
// The driver's library can be loaded and has a device.
bool cuda_device_present();

}  // namespace tc::runtime
