// Constant expressions of PTX, evaluated while parsing: literals, unary + - ~ !, casts (.s64) (.u64), binary operators
// of C from * to ||, ?: and parentheses. Integers have 64 bits and are signed unless written with U or too large for
// it; an operator with an unsigned operand is unsigned. Reals know + - * / only.
//   (3 + 4) << 2  =  28        0x10 == 020 ? 1 : -1  =  -1 (020 is octal)
// Fails: a malformed number, division by zero, an operator that reals do not have. Source: PTX ISA 4.5.
#pragma once
#include <span>

#include "sim/ptx/lexer.h"
#include "sim/ptx/types.h"

namespace tc::ptx {

struct Constant {
  bool is_real = false, is_unsigned = false;
  Type real_type = Type::f64;  // f32 for 0f...: `bits` has its 32 bits
  uint64_t bits = 0;
};

// Where an expression may end early: a displacement stops before the next + or -.
enum class Extent : uint8_t { whole, product };

// Reads from tokens[at] on and moves `at` behind the expression; on failure `error` says why, and `at` is where.
class ConstantReader {
 public:
  ConstantReader(std::span<const Token> tokens, size_t at) : tokens_(tokens), at_(at) {}
  Constant read(Extent extent);
  size_t at() const { return at_; }
  const std::string& error() const { return error_; }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool punct(std::string_view text, size_t ahead = 0) const;
  void fail(std::string message);
  Constant conditional();
  Constant binary(int least);
  Constant unary();
  Constant primary();
  Constant number();
  Constant real(std::string_view text);

  std::span<const Token> tokens_;
  size_t at_;
  int depth_ = 0;
  size_t eaten_ = 0;  // leading characters of the token that are used up: `7 %3` is lexed as 7 and the word %3
  std::string error_;
};

}  // namespace tc::ptx
