// Checks the bytes, parses, converts; turns Python's exceptions into located Diags.
// A SyntaxError counts characters, not bytes: "é = (" fails at offset 5 of Python, byte column 6 here.
#include "compiler/syntax/parse.h"

#include "compiler/syntax/convert.h"
#include "compiler/syntax/python.h"

namespace tc::syntax {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

SourceRange place_of_byte(FileId file, std::string_view text, size_t offset) {
  uint32_t line =
      1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n'));
  size_t start = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  start = start == std::string_view::npos || offset == 0 ? 0 : start + 1;
  uint32_t column = static_cast<uint32_t>(offset - start) + 1;
  return {file, line, column, line, column + 1};
}

// Length of the UTF-8 sequence at the start of `s`, 0 where it is malformed (RFC 3629: no overlong forms, no
// surrogates).
size_t utf8_length(std::string_view s) {
  auto at = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  auto tail = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  unsigned b = at(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return tail(1) ? 2 : 0;
  if ((b & 0xF0) == 0xE0) {
    bool legal = tail(1) && tail(2) && !(b == 0xE0 && at(1) < 0xA0) && !(b == 0xED && at(1) >= 0xA0);
    return legal ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    bool legal = tail(1) && tail(2) && tail(3) && !(b == 0xF0 && at(1) < 0x90) && !(b == 0xF4 && at(1) >= 0x90);
    return legal ? 4 : 0;
  }
  return 0;
}

Status check_bytes(FileId file, std::string_view text) {
  if (text.size() > kMaxSourceBytes) {
    return input_error({file, 0, 0, 0, 0}, "the file has " + std::to_string(text.size()) + " bytes, more than " +
                                               std::to_string(kMaxSourceBytes));
  }
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\0') return input_error(place_of_byte(file, text, i), "the file contains a NUL byte");
    size_t length = utf8_length(text.substr(i));
    if (length == 0) return input_error(place_of_byte(file, text, i), "the file is not valid UTF-8");
    i += length;
  }
  return {};
}

// 1-based character offset in a line → 1-based byte column.
uint32_t byte_column(std::string_view line, long characters) {
  size_t i = 0;
  for (long n = 1; n < characters && i < line.size(); ++n) i += std::max<size_t>(1, utf8_length(line.substr(i)));
  return static_cast<uint32_t>(i) + 1;
}

long long_attribute(PyObject* object, const char* name) {
  PyRef value(PyObject_GetAttrString(object, name));
  long n = value && PyLong_Check(value.get()) ? PyLong_AsLong(value.get()) : 0;
  PyErr_Clear();
  return std::max(0L, n);
}

std::string text_of(PyObject* object) {
  PyRef text(object ? PyObject_Str(object) : nullptr);
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : "";
}

Diag syntax_error(FileId file, PyObject* error, uint32_t first_line_skip) {
  SourceRange r{file, static_cast<uint32_t>(long_attribute(error, "lineno")), 1, 0, 0};
  if (r.line == 0) r.line = 1;
  auto column = [&](uint32_t line, long offset) {
    std::string_view text = source_line(file, line);
    uint32_t skip = line == 1 ? first_line_skip : 0;
    return skip + byte_column(text.substr(std::min<size_t>(skip, text.size())), offset);
  };
  r.column = column(r.line, long_attribute(error, "offset"));
  long end_line = long_attribute(error, "end_lineno"), end_offset = long_attribute(error, "end_offset");
  r.end_line = end_line >= r.line && end_offset > 0 ? static_cast<uint32_t>(end_line) : r.line;
  r.end_column = end_offset > 0 ? column(r.end_line, end_offset) : r.column + 1;
  if (r.end_line == r.line && r.end_column <= r.column) r.end_column = r.column + 1;
  PyRef message(PyObject_GetAttrString(error, "msg"));
  return input_error(r, "syntax error: " + text_of(message.get()));
}

// Takes the pending Python exception.
Diag parse_failure(FileId file, uint32_t first_line_skip) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyRef held_type(type), held_value(value), held_trace(trace);
  if (type && PyErr_GivenExceptionMatches(type, PyExc_SyntaxError)) return syntax_error(file, value, first_line_skip);
  SourceRange whole{file, 1, 1, 1, 2};
  if (type &&
      (PyErr_GivenExceptionMatches(type, PyExc_RecursionError) || PyErr_GivenExceptionMatches(type, PyExc_MemoryError)))
    return input_error(whole, "the program is nested too deeply for the parser");
  return input_error(whole, "the parser refused the file: " + text_of(value));
}

}  // namespace

Result<ModulePtr> parse(FileId file) {
  std::string_view text = source_file_text(file);
  if (Status bytes = check_bytes(file, text); !bytes) return bytes.error();
  uint32_t skip = text.starts_with(kByteOrderMark) ? static_cast<uint32_t>(kByteOrderMark.size()) : 0;
  PythonLock lock;
  if (!lock.status()) return lock.status().error();
  PyRef tree = parse_to_python(std::string(text.substr(skip)));
  if (!tree) return parse_failure(file, skip);
  return convert_module(tree.get(), file, skip);
}

}  // namespace tc::syntax
