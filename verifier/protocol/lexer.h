// One line of a protocol text as tokens with their columns, and the expression grammar over them.
//   "one wait full[i % S] 1  # note"  →  one · wait · full · [ · i · % · S · ] · 1
// The first mistake sticks; reading goes on without effect, so that callers check once a line.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "verifier/protocol/expr.h"

namespace tc::verify {

enum class TokenKind : uint8_t { word, number, text, symbol, end };
struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;             // of a `text` token without its quotes
  uint32_t begin = 0, end = 0;  // byte offsets in the line
};

class LineReader {
 public:
  LineReader(FileId file, uint32_t line, std::string_view text);
  bool empty() const { return tokens_.size() == 1; }
  uint32_t indent() const { return tokens_.front().begin; }
  const Token& peek() const { return tokens_[at_]; }
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool is(std::string_view text) const;  // a word or symbol
  bool accept(std::string_view text);    // … and go past it
  void expect(std::string_view text);
  std::string word(std::string_view what);  // an identifier; "S", "bit" and "and" are taken
  std::string quoted(std::string_view what);
  int64_t number(std::string_view what);
  Expr expression();                      // without comparisons
  Expr condition();                       // comparisons joined by `and`
  std::optional<SourceRange> location();  // loc FILE:L:C-L:C at the end of a line
  std::string rest();                     // the text from here to the end, which it goes to
  SourceRange whole() const;              // the statement, first token to last but a location
  SourceRange here() const;
  void fail(std::string message) { fail_at(here(), std::move(message)); }
  void fail_at(SourceRange where, std::string message);
  const std::optional<Diag>& error() const { return error_; }

 private:
  SourceRange range(uint32_t begin, uint32_t end) const;
  Expr level(int strength);
  Expr unary();
  Expr atom();
  void tokenize(std::string_view text);
  FileId file_;
  uint32_t line_, statement_end_ = 0;
  int depth_ = 0;
  size_t at_ = 0;
  std::string text_;
  std::vector<Token> tokens_;
  std::optional<Diag> error_;
};

}  // namespace tc::verify
