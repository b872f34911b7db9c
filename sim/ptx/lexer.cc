#include "sim/ptx/lexer.h"

#include <cctype>

namespace tc::ptx {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(FileId file, std::string_view text) : file_(file), text_(text) {}

  Result<Tokens> run() {
    for (;;) {
      const size_t before = at_;
      if (!skip_space()) return input_error(place(1), "unterminated comment");
      Token t{Token::Kind::end, at_ == before && !out_.tokens.empty(), {}, line_, column()};
      if (at_ == text_.size()) return out_.tokens.push_back(t), std::move(out_);
      if (!next(t)) return input_error(place(1), "unexpected character '" + std::string(1, text_[at_]) + "'");
      out_.tokens.push_back(t);
    }
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  uint32_t column() const { return static_cast<uint32_t>(at_ - line_start_ + 1); }
  SourceRange place(uint32_t width) const { return {file_, line_, column(), line_, column() + width}; }

  bool skip_space() {
    for (;;) {
      if (peek() == '\n') ++at_, ++line_, line_start_ = at_;
      else if (std::isspace(static_cast<unsigned char>(peek()))) ++at_;
      else if (peek() == '/' && peek(1) == '/') line_comment();
      else if (peek() == '@' && peek(1) == '@') line_comment();  // @@DWARF of old compilers
      else if (peek() == '/' && peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) return false;
        for (; at_ < end + 2; ++at_)
          if (text_[at_] == '\n') ++line_, line_start_ = at_ + 1;
      } else return true;
    }
  }

  void line_comment() {
    const size_t end = std::min(text_.find('\n', at_), text_.size()), sites = text_.find("@[", at_);
    if (sites < end) out_.call_sites.push_back({line_, text_.substr(sites, end - sites)});
    at_ = end;
  }

  bool next(Token& t) {
    const size_t start = at_;
    const char c = peek();
    if (c == '"') {
      const size_t end = text_.find_first_of("\"\n", at_ + 1);  // a string ends on its line
      if (end == text_.npos || text_[end] == '\n') return false;
      t.kind = Token::Kind::string;
      t.text = text_.substr(start + 1, end - start - 1);
      at_ = end + 1;
      return true;
    }
    if (is_digit(c)) t.kind = Token::Kind::number, number();
    else if (c == '.' && is_word_char(peek(1))) t.kind = Token::Kind::dotted, dotted();
    else if (is_word_char(c)) t.kind = Token::Kind::word, word();
    else if (std::string_view("{}[](),;:+-!@|=<>&^~*/?").find(c) != std::string_view::npos)
      t.kind = Token::Kind::punct, ++at_;
    else return false;
    t.text = text_.substr(start, at_ - start);
    return true;
  }

  void word() {
    while (is_word_char(peek())) ++at_;
  }
  void dotted() {
    ++at_;
    word();
    while (peek() == ':' && peek(1) == ':' && is_word_char(peek(2))) at_ += 2, word();
  }
  void number() {
    while (std::isalnum(static_cast<unsigned char>(peek()))) ++at_;  // covers 0x, 0f, 0d and the U suffix
    if (peek() != '.' || !is_digit(peek(1))) return;
    ++at_;
    while (std::isalnum(static_cast<unsigned char>(peek()))) ++at_;
    if ((peek() == '-' || peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')) {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
  }

  FileId file_;
  std::string_view text_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
  Tokens out_;
};

}  // namespace

Result<Tokens> lex(FileId file, std::string_view text) { return Lexer(file, text).run(); }

}  // namespace tc::ptx
