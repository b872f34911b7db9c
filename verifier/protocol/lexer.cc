#include "verifier/protocol/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace tc::verify {
namespace {
constexpr int64_t kLargestNumber = INT32_MAX;  // so that sums and products of a few stay in 64 bits
constexpr int kDeepest = 100;                  // nested parentheses

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_path(char c) { return is_word(c) || c == '.' || c == '/' || c == '-' || c == '+' || c == '@'; }

struct Operator {
  std::string_view text;
  ExprOp op;
};
// Level by level, weakest first.
constexpr Operator kCompare[] = {{"<=", ExprOp::le}, {">=", ExprOp::ge}, {"==", ExprOp::eq},
                                 {"!=", ExprOp::ne}, {"<", ExprOp::lt},  {">", ExprOp::gt}};
constexpr Operator kXor[] = {{"^", ExprOp::bit_xor}};
constexpr Operator kAnd[] = {{"&", ExprOp::bit_and}};
constexpr Operator kSum[] = {{"+", ExprOp::add}, {"-", ExprOp::sub}};
constexpr Operator kTerm[] = {{"*", ExprOp::mul}, {"//", ExprOp::div}, {"%", ExprOp::mod}};
std::span<const Operator> operators(int level) {
  constexpr std::array<std::span<const Operator>, 4> all = {kXor, kAnd, kSum, kTerm};
  return all[static_cast<size_t>(level)];
}
constexpr std::array<std::string_view, 5> kLongSymbols = {"//", "<=", ">=", "==", "!="};
}  // namespace

LineReader::LineReader(FileId file, uint32_t line, std::string_view text) : file_(file), line_(line), text_(text) {
  tokenize(text_);
}

void LineReader::tokenize(std::string_view text) {
  size_t i = 0;
  auto push = [&](TokenKind kind, size_t n, std::string value) {
    tokens_.push_back({kind, std::move(value), static_cast<uint32_t>(i), static_cast<uint32_t>(i + n)});
    i += n;
  };
  while (i < text.size() && text[i] != '#') {
    if (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
      ++i;
    } else if (is_word_start(text[i])) {
      size_t n = 1;
      while (i + n < text.size() && is_word(text[i + n])) ++n;
      push(TokenKind::word, n, std::string(text.substr(i, n)));
    } else if (std::isdigit(static_cast<unsigned char>(text[i]))) {
      size_t n = 1;
      while (i + n < text.size() && std::isdigit(static_cast<unsigned char>(text[i + n]))) ++n;
      push(TokenKind::number, n, std::string(text.substr(i, n)));
    } else if (text[i] == '"') {
      size_t n = 1;
      std::string value;
      while (i + n < text.size() && text[i + n] != '"') {
        if (text[i + n] == '\\' && i + n + 1 < text.size()) ++n;
        value += text[i + n++];
      }
      if (i + n >= text.size()) fail_at(range(i, text.size()), "a quote is not closed");
      push(TokenKind::text, std::min(n + 1, text.size() - i), std::move(value));
    } else {
      size_t n = 1;
      for (std::string_view s : kLongSymbols)
        if (text.substr(i, 2) == s) n = 2;
      push(TokenKind::symbol, n, std::string(text.substr(i, n)));
    }
  }
  uint32_t end = tokens_.empty() ? 0 : tokens_.back().end;
  tokens_.push_back({TokenKind::end, "the end of the line", end, end});
}

SourceRange LineReader::range(uint32_t begin, uint32_t end) const { return {file_, line_, begin + 1, line_, end + 1}; }
SourceRange LineReader::here() const { return range(peek().begin, peek().end); }
SourceRange LineReader::whole() const {
  return range(tokens_.front().begin, statement_end_ ? statement_end_ : tokens_.back().end);
}
void LineReader::fail_at(SourceRange where, std::string message) {
  if (!error_) error_ = input_error(where, std::move(message));
}

bool LineReader::is(std::string_view text) const {
  return (peek().kind == TokenKind::word || peek().kind == TokenKind::symbol) && peek().text == text;
}
bool LineReader::accept(std::string_view text) {
  if (!is(text)) return false;
  ++at_;
  return true;
}
void LineReader::expect(std::string_view text) {
  if (!accept(text)) fail("expected '" + std::string(text) + "', found " + peek().text);
}
std::string LineReader::word(std::string_view what) {
  if (peek().kind != TokenKind::word || is("S") || is("bit") || is("and")) {
    fail("expected " + std::string(what) + ", found " + peek().text);
    return {};
  }
  return tokens_[at_++].text;
}
std::string LineReader::quoted(std::string_view what) {
  if (peek().kind != TokenKind::text) {
    fail("expected " + std::string(what) + " in quotes, found " + peek().text);
    return {};
  }
  return tokens_[at_++].text;
}
int64_t LineReader::number(std::string_view what) {
  if (peek().kind != TokenKind::number) {
    fail("expected " + std::string(what) + ", found " + peek().text);
    return 0;
  }
  const std::string& text = peek().text;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > kLargestNumber) {
    fail(text + " is too large: numbers go to " + std::to_string(kLargestNumber));
    return 0;
  }
  ++at_;
  return value;
}

std::string LineReader::rest() {
  std::string out = at_end() ? std::string() : text_.substr(peek().begin, tokens_.back().end - peek().begin);
  at_ = tokens_.size() - 1;
  return out;
}

Expr LineReader::condition() {
  Expr left;
  for (bool first = true; first || accept("and"); first = false) {
    Expr c = level(0);
    for (const Operator& o : kCompare)
      if (accept(o.text)) {
        c = binary(o.op, std::move(c), level(0));
        break;
      }
    if (!is_comparison(c.op) && c.op != ExprOp::logical_and) fail("expected a comparison, found " + peek().text);
    if (error_) return constant(0);
    left = first ? std::move(c) : binary(ExprOp::logical_and, std::move(left), std::move(c));
  }
  return left;
}

Expr LineReader::expression() { return level(0); }

Expr LineReader::level(int strength) {
  if (strength == 4) return unary();
  Expr left = level(strength + 1);
  for (bool more = true; more && !error_;) {
    more = false;
    for (const Operator& o : operators(strength))
      if (accept(o.text)) {
        left = binary(o.op, std::move(left), level(strength + 1));
        more = true;
        break;
      }
  }
  return left;
}

Expr LineReader::unary() {
  if (++depth_ > kDeepest) fail("the expression is nested too deeply");
  Expr out = constant(0);
  if (!error_) {
    if (accept("-")) out = Expr{.op = ExprOp::neg, .value = 0, .name = {}, .args = {unary()}};
    else out = atom();
  }
  --depth_;
  return out;
}

Expr LineReader::atom() {
  if (peek().kind == TokenKind::number) return constant(number("a number"));
  if (accept("(")) {
    Expr e = level(0);
    expect(")");
    return e;
  }
  if (accept("bit")) {
    expect("(");
    std::string mask = word("a mask");
    expect(",");
    Expr slot = level(0);
    expect(")");
    return mask_bit(std::move(mask), std::move(slot));
  }
  if (accept("S")) return variable("S");
  return variable(word("an expression"));
}

std::optional<SourceRange> LineReader::location() {
  statement_end_ = at_ ? tokens_[at_ - 1].end : 0;
  if (!accept("loc")) return std::nullopt;
  SourceRange out;
  std::string name;
  if (peek().kind == TokenKind::text) {
    name = quoted("a file name");
  } else {  // a plain path: characters up to the last ":L:C-L:C"
    size_t begin = peek().begin, end = begin;
    while (end < text_.size() && is_path(text_[end])) ++end;
    name = text_.substr(begin, end - begin);
    while (!at_end() && peek().begin < end) ++at_;
  }
  auto place = [&](uint32_t& line, uint32_t& column) {
    line = static_cast<uint32_t>(number("a line"));
    expect(":");
    column = static_cast<uint32_t>(number("a column"));
  };
  expect(":");
  place(out.line, out.column);
  expect("-");
  place(out.end_line, out.end_column);
  if (name.empty() || !out.line || !out.column) fail("expected loc FILE:LINE:COLUMN-LINE:COLUMN");
  if (!error_) out.file = add_source_file(name, "");
  return out;
}

}  // namespace tc::verify
