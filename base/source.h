// Where something stands in a text: file, line and column, both 1-based; columns count bytes.
// A range is half-open: `end_column` is one past the last byte, so "abc" at 3:5 is {3, 5, 3, 8}.
// A line of 0 means "no place" (never print it as 0:0).
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tc {

// Index into the process-wide table of file texts; 0 is "no file".
using FileId = uint32_t;

struct SourceRange {
  FileId file = 0;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  bool valid() const { return line != 0; }
  auto operator<=>(const SourceRange&) const = default;
};

// Registers a file under the name that diagnostics print. Same name and text: same id. Thread-safe.
FileId add_source_file(std::string_view name, std::string_view text);
// The printed name, "" for id 0.
std::string_view source_file_name(FileId id);
std::string_view source_file_text(FileId id);
// Line `line` (1-based) without its newline; "" past the end.
std::string_view source_line(FileId id, uint32_t line);
// "file:line:col", "file" where the range has no line, "<unknown>" without a file.
std::string place_text(const SourceRange& where);

}  // namespace tc
