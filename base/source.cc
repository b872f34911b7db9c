#include "base/source.h"

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace tc {
namespace {
struct SourceFile {
  std::string name, text;
};
// Entries never move or go away, so the views handed out stay valid.
struct SourceTable {
  std::mutex lock;
  std::deque<SourceFile> files{{"", ""}};
  std::unordered_multimap<size_t, FileId> by_text;  // hash of the text: a long run adds thousands of texts of one name
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
  auto& [lock, files, by_text] = table();
  const size_t hash = std::hash<std::string_view>{}(text);
  for (auto [at, end] = by_text.equal_range(hash); at != end; ++at)
    if (files[at->second].name == name && files[at->second].text == text) return at->second;
  files.push_back({std::string(name), std::string(text)});
  const auto id = static_cast<FileId>(files.size() - 1);
  by_text.emplace(hash, id);
  return id;
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
