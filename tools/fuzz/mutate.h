// Mutations of a text by line, by token (a number, a word of another place) and by byte: what the fuzz targets share.
#pragma once
#include <cctype>
#include <span>
#include <string>
#include <vector>

#include "runtime/inputs.h"

namespace tc::tools {

struct Random {
  uint64_t state;
  uint64_t next() { return runtime::splitmix64(state++); }
  size_t below(size_t n) { return n ? static_cast<size_t>(next() % n) : 0; }
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$'; }

// Start and length of a token of a line: a word, or a modifier with its dot.
inline std::pair<size_t, size_t> token_of(const std::string& line, Random& r) {
  if (line.empty()) return {0, 0};
  size_t at = r.below(line.size());
  while (at > 0 && is_word(line[at - 1]) && is_word(line[at])) --at;
  size_t end = at + 1;
  while (end < line.size() && is_word(line[end])) ++end;
  return {at, end - at};
}

// `words` are put where a token was; `bytes`: single bytes change too.
inline std::string mutated(std::string text, Random& r, bool bytes, std::span<const char* const> words,
                           size_t most_bytes) {
  for (size_t n = 1 + r.below(6); n; --n) {
    if (bytes && r.below(3) == 0 && !text.empty()) {
      text[r.below(text.size())] = static_cast<char>(r.next());
      continue;
    }
    std::vector<std::string> lines = lines_of(text);
    if (lines.empty()) return text;
    std::string& line = lines[r.below(lines.size())];
    const auto [at, length] = token_of(line, r);
    switch (r.below(7)) {
      case 0: line.erase(at, length); break;
      case 1: line.replace(at, length, words[r.below(words.size())]); break;
      case 2: {
        const std::string& other = lines[r.below(lines.size())];
        const auto [from, n_from] = token_of(other, r);
        line.replace(at, length, other.substr(from, n_from));
        break;
      }
      case 3: line.insert(at, line.substr(at, length)); break;
      case 4: std::swap(line, lines[r.below(lines.size())]); break;
      case 5: line.clear(); break;
      case 6: line += lines[r.below(lines.size())]; break;
    }
    text.clear();
    for (const std::string& l : lines) text += l + "\n";
    if (text.size() > most_bytes) text.resize(most_bytes);
  }
  return text;
}

}  // namespace tc::tools
