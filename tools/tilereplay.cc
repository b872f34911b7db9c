// tilereplay DIR… [--device cuda:N] [--image ptx|cubin] [--bench] [--timeout SECONDS] [--record DIR]: runs bundles on a
// GPU.
// --record writes what the device gave (of the last image run) as DIR/<bundle>.txt, in the form of expected.txt:
// digests where the bundle expects bits, samples where it expects samples. Builds alone where only a C++ compiler and a
// driver are:  g++ -std=c++20 -O2 -I. runtime/*.cc tools/tilereplay.cc -ldl -lpthread One line an output and image;
// exit 0 all equal, 1 a difference, 2 bad input or no device, 3 a kernel that does not end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/bundle.h"
#include "runtime/device.h"
#include "runtime/inputs.h"

namespace {

using namespace tc::runtime;

struct Options {
  std::vector<std::string> folders;
  DeviceOptions device;
  std::string image, record;
};

int usage(const char* what) {
  std::fprintf(stderr,
               "tilereplay: error: %s\nusage: tilereplay DIR... [--device cuda:N] [--image ptx|cubin] [--bench] "
               "[--timeout SECONDS] [--record DIR]\n",
               what);
  return 2;
}

int replay(const std::string& folder, const char* kind, const std::string& image, const Bundle& b, const Options& o) {
  auto inputs = make_inputs(b.manifest, b.given);
  if (!inputs) {
    std::fprintf(stderr, "%s: error: %s\n", folder.c_str(), inputs.error().message.c_str());
    return 2;
  }
  auto run = run_on_cuda(b.manifest, image, *inputs, o.device);
  if (!run) {
    std::printf("FAIL  %s  %s: %s\n", folder.c_str(), kind, run.error().message.c_str());
    return 1;
  }
  int code = 0;
  for (const ExpectedOutput& e : b.expected) {
    const Tensor* t = tensor_named(run->tensors, e.tensor);
    Comparison c = t ? compare(*t, e) : Comparison{false, 1, "no such tensor"};
    std::printf("%s  %s  %s  %s  %s  (%s, driver %s)\n", c.equal ? "equal" : "DIFFERS", folder.c_str(), kind,
                e.tensor.c_str(), c.detail.c_str(), run->device.c_str(), run->driver.c_str());
    if (!c.equal) code = 1;
  }
  if (!o.record.empty()) {
    std::vector<ExpectedOutput> seen;
    for (const ExpectedOutput& e : b.expected)
      if (const Tensor* t = tensor_named(run->tensors, e.tensor))
        seen.push_back(e.digest.empty() ? expect_samples(*t, e.samples.size(), e.tolerance) : expect_bits(*t));
    std::string path = o.record + "/" + std::filesystem::path(folder).filename().string() + ".txt";
    std::ofstream out(path);
    out << "# " << run->device << ", driver " << run->driver << ", " << kind << "\n" << print_expected(seen);
    if (!out.flush()) {
      std::fprintf(stderr, "tilereplay: error: cannot write %s\n", path.c_str());
      return 2;
    }
  }
  if (b.expected.empty())
    for (const TensorSpec& s : b.manifest.tensors)
      if (s.role != Role::in)
        std::printf("ran  %s  %s  %s  digest %s\n", folder.c_str(), kind, s.name.c_str(),
                    digest(*tensor_named(run->tensors, s.name)).c_str());
  if (!run->milliseconds.empty()) {
    std::sort(run->milliseconds.begin(), run->milliseconds.end());
    std::printf("time  %s  %s  median %.4f ms, least %.4f, most %.4f of %zu launches\n", folder.c_str(), kind,
                run->milliseconds[run->milliseconds.size() / 2], run->milliseconds.front(), run->milliseconds.back(),
                run->milliseconds.size());
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&]() -> const char* { return i + 1 < argc ? argv[++i] : ""; };
    if (a == "--bench") o.device.timed_launches = 20;
    else if (a == "--image") o.image = value();
    else if (a == "--record") o.record = value();
    else if (a == "--timeout") o.device.timeout_seconds = std::atoi(value());
    else if (a == "--device") {
      std::string d = value();
      if (d.rfind("cuda:", 0) != 0) return usage("--device is cuda:N");
      o.device.device = std::atoi(d.c_str() + 5);
    } else if (a.rfind("-", 0) == 0) return usage(("no option " + a).c_str());
    else o.folders.push_back(a);
  }
  if (o.folders.empty()) return usage("no bundle folder");
  if (!o.image.empty() && o.image != "ptx" && o.image != "cubin") return usage("--image is ptx or cubin");
  if (o.device.timeout_seconds < 1) return usage("--timeout is at least 1");
  if (!cuda_device_present()) return usage("no CUDA device (libcuda.so.1)");
  int code = 0;
  for (const std::string& folder : o.folders) {
    auto b = read_bundle(folder);
    if (!b) {
      std::fprintf(stderr, "tilereplay: error: %s\n", b.error().message.c_str());
      code = std::max(code, 2);
      continue;
    }
    if (!b->ptx.empty() && o.image != "cubin") code = std::max(code, replay(folder, "ptx", b->ptx, *b, o));
    if (!b->cubin.empty() && o.image != "ptx") code = std::max(code, replay(folder, "cubin", b->cubin, *b, o));
  }
  return code;
}
