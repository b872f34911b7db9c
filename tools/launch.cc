#include "tools/launch.h"

#include "base/source.h"

namespace tc::tools {
namespace {

Result<std::string> chosen_kernel(const std::string& file, const LaunchOptions& o,
                                  const std::vector<std::string>& entries) {
  if (!o.kernel.empty()) return o.kernel;
  if (entries.size() == 1) return entries[0];
  std::string names;
  for (const std::string& e : entries) names += " " + e;
  return input_error({}, file + ": choose a kernel by --kernel:" + (names.empty() ? " there is none" : names));
}

// Replaces one field of a Dim3 option; "" keeps it.
Status set_dim(const char* option, const std::string& text, runtime::Dim3& d) {
  if (text.empty()) return {};
  uint32_t v[3] = {1, 1, 1};
  size_t n = 0, at = 0;
  while (at <= text.size() && n < 3) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    if (part.empty() || part.size() > 10 || part.find_first_not_of("0123456789") != part.npos || std::stoull(part) == 0 ||
        std::stoull(part) > UINT32_MAX)
      return input_error({}, std::string(option) + " " + text + ": x[,y[,z]] of positive numbers is expected");
    v[n++] = static_cast<uint32_t>(std::stoull(part));
    at = comma + 1;
    if (comma == text.size()) break;
    if (n == 3) return input_error({}, std::string(option) + " " + text + ": at most three numbers");
  }
  d = {v[0], v[1], v[2]};
  return {};
}

}  // namespace

Result<runtime::Manifest> launch_of(const std::string& file, const std::string& text, const LaunchOptions& o,
                                    const std::vector<std::string>& entries) {
  const bool header = runtime::has_manifest_header(text);
  if (!header && !o.given())
    return input_error(
        {},
        file +
            ": has no `// launch:` line before its first line of code; write one, or give --grid, --block and --param");
  runtime::Manifest m;
  if (header && o.params.empty()) {
    auto parsed = runtime::parse_manifest_header(text);
    if (!parsed.ok()) {
      const auto line = static_cast<uint32_t>(parsed.error().line);
      return input_error({add_source_file(file, text), line, 1, line, 2}, parsed.error().message);
    }
    m = *parsed;
    if (!o.kernel.empty()) m.kernel = o.kernel;
  } else {
    auto kernel = chosen_kernel(file, o, entries);
    if (!kernel.ok()) return kernel.error();
    std::string lines = "launch: kernel=" + *kernel + " grid=1 block=1\n";
    for (const std::string& p : o.params) lines += "arg: " + p + "\n";
    auto parsed = runtime::parse_manifest(lines);
    if (!parsed.ok()) {
      const size_t at = static_cast<size_t>(parsed.error().line);
      const std::string which = at >= 2 && at - 2 < o.params.size() ? "--param \"" + o.params[at - 2] + "\": " : "";
      return input_error({}, which + parsed.error().message);
    }
    m = *parsed;
    if (header)
      if (auto of_file = runtime::parse_manifest_header(text); of_file.ok())
        m.grid = of_file->grid, m.block = of_file->block, m.cluster = of_file->cluster,
        m.smem_bytes = of_file->smem_bytes;
  }
  for (Status s : {set_dim("--grid", o.grid, m.grid), set_dim("--block", o.block, m.block),
                   set_dim("--cluster", o.cluster, m.cluster)})
    if (!s.ok()) return s.error();
  if (!o.smem.empty()) {
    if (o.smem.size() > 9 || o.smem.find_first_not_of("0123456789") != o.smem.npos)
      return input_error({}, "--smem " + o.smem + ": a number of bytes is expected");
    m.smem_bytes = static_cast<uint32_t>(std::stoul(o.smem));
  }
  return m;
}

}  // namespace tc::tools
