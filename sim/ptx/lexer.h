// PTX text to tokens.
//   word    add  %r1  $L__BB0_2  _ZZ3fooE  (letters, digits, _ $ %; not starting with a digit)
//   dotted  .s32  .shared::cta  .L2::cache_hint  .2d
//   number  7  0x1F  0f3F800000  0d3FF0000000000000  1.5e3
//   string  "..."   punct  one character of { } [ ] ( ) , ; : + - ! @ | = < > & ^ ~ * / ?
// `glued` says that nothing stands between a token and the one before: `add.s32` is one opcode, `%tid.x` one register.
// Fails: a character that no token starts with, an unterminated string or comment. Source: PTX ISA 4.
#pragma once
#include <vector>

#include "base/result.h"

namespace tc::ptx {

struct Token {
  enum class Kind : uint8_t { word, dotted, number, string, punct, end };
  Kind kind = Kind::end;
  bool glued = false;
  std::string_view text;  // a string without its quotes
  uint32_t line = 0, column = 0;
};

// A comment that says where inlined code was called from, as LLVM writes behind .loc: "// f.h:9:3 @[ k.cu:11:24 ]".
struct CallSiteNote {
  uint32_t line = 0;
  std::string_view text;  // from the first "@["
};

struct Tokens {
  std::vector<Token> tokens;
  std::vector<CallSiteNote> call_sites;  // by line
};

// `text` must outlive the tokens (it is that of the registered file).
Result<Tokens> lex(FileId file, std::string_view text);

}  // namespace tc::ptx
