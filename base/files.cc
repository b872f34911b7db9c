#include "base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tc {
namespace {
Diag file_error(const std::string& path, std::string_view what) {
  return input_error({}, path + ": " + std::string(what) + ": " + std::strerror(errno));
}
}  // namespace

Result<std::string> read_file(const std::string& path) {
  errno = 0;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return input_error({}, path + ": cannot read: is a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_error(path, "cannot open");
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return file_error(path, "cannot read");
  return std::move(text).str();
}

Status write_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".tmp" + std::to_string(::getpid());
  errno = 0;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.flush();
    if (!out) {
      Diag diag = file_error(path, "cannot write");
      std::remove(temporary.c_str());
      return diag;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    Diag diag = file_error(path, "cannot rename to its final name");
    std::remove(temporary.c_str());
    return diag;
  }
  return {};
}

}  // namespace tc
