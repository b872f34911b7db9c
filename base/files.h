// Files in, files out. Outputs are written to a temporary name beside the target and renamed, so a reader sees the old
// text or the new text, never a part.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tc {

Result<std::string> read_file(const std::string& path);
Status write_file(const std::string& path, std::string_view text);

}  // namespace tc
