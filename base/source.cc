#include "base/source.h"

#include <deque>
#include <mutex>

namespace tc {
namespace {
struct SourceFile {
  std::string name, text;
};
// Entries never move or go away, so the views handed out stay valid.
struct SourceTable {
  std::mutex lock;
  std::deque<SourceFile> files{{"", ""}};
};
SourceTable& table() {
  static SourceTable t;
  return t;
}
const SourceFile& file(FileId id) {
  std::lock_guard guard(table().lock);
  return table().files[id < table().files.size() ? id : 0];
}
}  // namespace

FileId add_source_file(std::string_view name, std::string_view text) {
  std::lock_guard guard(table().lock);
  auto& files = table().files;
  for (size_t i = 1; i < files.size(); ++i)
    if (files[i].name == name && files[i].text == text) return static_cast<FileId>(i);
  files.push_back({std::string(name), std::string(text)});
  return static_cast<FileId>(files.size() - 1);
}

std::string_view source_file_name(FileId id) { return file(id).name; }
std::string_view source_file_text(FileId id) { return file(id).text; }

std::string_view source_line(FileId id, uint32_t line) {
  std::string_view text = file(id).text;
  for (uint32_t n = 1; n < line; ++n) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return line == 0 ? std::string_view{} : text.substr(0, text.find('\n'));
}

std::string place_text(const SourceRange& where) {
  if (where.file == 0) return "<unknown>";
  std::string out(source_file_name(where.file));
  if (where.valid()) out += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  return out;
}

}  // namespace tc
