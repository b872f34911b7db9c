// Text → module. The grammar is what printer.cc writes; white space and `//` comments are free. Errors are located.
#include <charconv>
#include <map>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

enum class Tok { end, word, number, real, text, value, symbol };
struct Token {
  Tok kind = Tok::end;
  std::string_view spelled;
  std::string text;  // unescaped string
  uint32_t line = 1, column = 1;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

struct Lexer {
  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
  size_t line_start = 0;

  void skip() {
    while (at < text.size()) {
      if (text[at] == '\n') ++line, line_start = ++at;
      else if (std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      else if (text.substr(at, 2) == "//") at = std::min(text.find('\n', at), text.size());
      else return;
    }
  }
  Token next() {
    skip();
    Token t{.line = line, .column = static_cast<uint32_t>(at - line_start + 1)};
    if (at >= text.size()) return t;
    size_t start = at;
    char c = text[at];
    if (c == '"') return string(t);
    if (c == '%') {
      t.kind = Tok::value;
      for (++at; at < text.size() && is_word(text[at]);) ++at;
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '-' && at + 1 < text.size() &&
                (std::isdigit(static_cast<unsigned char>(text[at + 1])) || text[at + 1] == 'i'))) {
      t.kind = Tok::number;
      for (++at;
           at < text.size() && (is_word(text[at]) || ((text[at] == '-' || text[at] == '+') && text[at - 1] == 'e'));
           ++at)
        if (text[at] == '.' || text[at] == 'e' || text[at] == 'i' || text[at] == 'n') t.kind = Tok::real;
    } else if (is_word(c)) {
      t.kind = Tok::word;
      while (at < text.size() && is_word(text[at])) ++at;
    } else {
      t.kind = Tok::symbol;
      ++at;
    }
    t.spelled = text.substr(start, at - start);
    return t;
  }
  Token string(Token t) {
    size_t start = at++;
    while (at < text.size() && text[at] != '"' && text[at] != '\n') {
      const bool escaped = text[at] == '\\' && at + 1 < text.size();
      if (escaped) ++at;
      t.text += escaped && text[at] == 'n' ? '\n' : text[at];
      ++at;
    }
    bool closed = at < text.size() && text[at] == '"';
    if (closed) ++at;
    t.kind = closed ? Tok::text : Tok::symbol;
    t.spelled = text.substr(start, at - start);
    return t;
  }
};

struct Failure {
  Diag diag;
};

// Recursive descent; the first error unwinds to parse().
struct Parser {
  Lexer lexer;
  FileId file = 0;
  Module m;
  Token tok;
  std::map<std::string, ValueId, std::less<>> names;
  std::vector<FileId> files;
  int depth = 0;

  [[noreturn]] void fail(const std::string& message) const {
    SourceRange r{file, tok.line, tok.column, tok.line,
                  tok.column + static_cast<uint32_t>(std::max<size_t>(1, tok.spelled.size()))};
    throw Failure{input_error(r, message)};
  }
  void advance() { tok = lexer.next(); }
  bool is(std::string_view s) const { return tok.kind != Tok::text && tok.spelled == s; }
  bool accept(std::string_view s) {
    if (!is(s)) return false;
    advance();
    return true;
  }
  void expect(std::string_view s) {
    if (!accept(s)) fail("expected '" + std::string(s) + "'");
  }
  std::string word() {
    if (tok.kind != Tok::word) fail("expected a name");
    std::string s(tok.spelled);
    advance();
    return s;
  }
  std::string string() {
    if (tok.kind != Tok::text) fail("expected a string");
    std::string s = tok.text;
    advance();
    return s;
  }
  int64_t integer() {
    int64_t v = 0;
    auto [end, error] = std::from_chars(tok.spelled.data(), tok.spelled.data() + tok.spelled.size(), v);
    if (tok.kind != Tok::number || error != std::errc() || end != tok.spelled.data() + tok.spelled.size())
      fail("expected an integer");
    advance();
    return v;
  }
  uint32_t natural() {
    int64_t v = integer();
    if (v < 0 || v > INT32_MAX) fail("number out of range");
    return static_cast<uint32_t>(v);
  }

  // ---- meta expressions: precedence as in Python
  struct MetaParser {
    Parser& p;
    Lexer lexer;
    Token tok;
    int depth = 0;
    MetaParser(Parser& parser, std::string_view text) : p(parser), lexer{text} { advance(); }
    void advance() { tok = lexer.next(); }
    bool is(std::string_view s) const { return tok.spelled == s; }
    std::optional<std::pair<MetaKind, int>> op() {
      static constexpr std::tuple<std::string_view, MetaKind, int> kRows[] = {
          {"|", MetaKind::bit_or, 1},     {"^", MetaKind::bit_xor, 2},     {"&", MetaKind::bit_and, 3},
          {"<", MetaKind::shift_left, 4}, {">", MetaKind::shift_right, 4}, {"+", MetaKind::add, 5},
          {"-", MetaKind::sub, 5},        {"*", MetaKind::mul, 6},         {"%", MetaKind::floormod, 6}};
      for (auto [s, k, level] : kRows)
        if (is(s)) return std::pair(k, level);
      return std::nullopt;
    }
    MetaId binary(int least) {
      if (++depth > 200) p.fail("expression nested too deep");
      MetaId a = unary();
      while (true) {
        // "//" would be a comment to the lexer, so division is found in the raw text.
        auto o = division() ? std::optional(std::pair(MetaKind::floordiv, 6)) : op();
        if (!o || o->second < least) break;
        if (o->first == MetaKind::floordiv) take_division();
        else {
          advance();
          if (o->first == MetaKind::shift_left || o->first == MetaKind::shift_right) advance();
        }
        MetaId b = binary(o->second + 1);
        a = p.m.new_meta({.kind = o->first, .lhs = a, .rhs = b});
      }
      --depth;
      return a;
    }
    // The token after a comment-like "//" was skipped to the end; detect it by what precedes.
    bool division() const { return tok.kind == Tok::symbol && tok.spelled == "\x01"; }
    void take_division() { advance(); }
    MetaId unary() {
      if (is("-")) {
        advance();
        return p.m.new_meta({.kind = MetaKind::neg, .lhs = unary()});
      }
      if (is("(")) {
        advance();
        MetaId e = binary(1);
        if (!is(")")) p.fail("expected ')' in the expression");
        advance();
        return e;
      }
      if (tok.kind == Tok::number) {
        int64_t v = 0;
        std::from_chars(tok.spelled.data(), tok.spelled.data() + tok.spelled.size(), v);
        advance();
        return p.m.new_meta({.kind = MetaKind::literal, .value = v});
      }
      if (is("$")) {
        advance();
        if (tok.kind != Tok::word) p.fail("malformed expression");
        std::string symbol(tok.spelled);
        advance();
        return p.m.new_meta({.kind = MetaKind::symbol, .name = symbol});
      }
      if (tok.kind != Tok::word) p.fail("malformed expression");
      std::string name(tok.spelled);
      advance();
      if (!is("(")) return p.m.new_meta({.kind = MetaKind::param, .name = name});
      static constexpr std::pair<std::string_view, MetaKind> kCalls[] = {
          {"ceildiv", MetaKind::ceildiv}, {"min", MetaKind::min}, {"max", MetaKind::max}};
      for (auto [s, k] : kCalls) {
        if (s != name) continue;
        advance();
        MetaId a = binary(1);
        if (!is(",")) p.fail("expected ',' in the expression");
        advance();
        MetaId b = binary(1);
        if (!is(")")) p.fail("expected ')' in the expression");
        advance();
        return p.m.new_meta({.kind = k, .lhs = a, .rhs = b});
      }
      p.fail("unknown function '" + name + "' in the expression");
    }
  };
  MetaId meta(std::string text) {
    for (size_t i; (i = text.find("//")) != std::string::npos;) text.replace(i, 2, "\x01");
    MetaParser e(*this, text);
    MetaId id = e.binary(1);
    if (e.tok.kind != Tok::end) fail("malformed expression");
    return id;
  }
  MetaInt meta_int() {
    MetaInt v(accept("?") ? MetaInt::kDynamic : integer());
    if (accept(":")) v.expr = meta(string());
    return v;
  }
  std::vector<MetaInt> meta_list() {
    std::vector<MetaInt> list;
    expect("[");
    while (!is("]")) {
      list.push_back(meta_int());
      if (!accept(",")) break;
    }
    expect("]");
    return list;
  }

  // ---- types, attributes, places
  // f16, f16x4: a type of that element and so many lanes.
  Type element() {
    Type type;
    auto t = dtype_from_short_name(tok.spelled);
    size_t x = tok.spelled.rfind('x');
    if (!t && x != std::string_view::npos) {
      std::string_view count = tok.spelled.substr(x + 1);
      auto end = std::from_chars(count.data(), count.data() + count.size(), type.lanes).ptr;
      if (end == count.data() + count.size() && type.lanes > 1) t = dtype_from_short_name(tok.spelled.substr(0, x));
    }
    if (!t) fail("unknown element type");
    type.dtype = *t;
    advance();
    return type;
  }
  Type type() {
    if (accept("map")) return Type{.kind = TypeKind::map};
    if (accept("tile")) {
      Type t = element();
      t.kind = TypeKind::tile;
      t.shape = meta_list();
      return t;
    }
    static constexpr std::pair<std::string_view, Space> kSpaces[] = {
        {"global", Space::global}, {"shared", Space::shared},   {"fragment", Space::fragment},
        {"local", Space::local},   {"barrier", Space::barrier}, {"tmem", Space::tmem}};
    for (auto [name, space] : kSpaces) {
      if (!accept(name)) continue;
      Type t = element();
      t.kind = TypeKind::buffer;
      t.space = space;
      t.shape = meta_list();
      if (accept("strides")) t.strides = meta_list();
      if (accept("span")) t.layout.span = natural();
      return t;
    }
    return element();
  }
  std::vector<Attr> attrs() {
    std::vector<Attr> list;
    expect("{");
    while (!is("}")) {
      Attr a{.name = word(), .value = MetaInt()};
      expect("=");
      if (tok.kind == Tok::text) a.value = string();
      else if (is("[")) a.value = meta_list();
      else if (tok.kind == Tok::real || is("inf") || is("nan")) a.value = real();
      else a.value = meta_int();
      list.push_back(std::move(a));
      if (!accept(",")) break;
    }
    expect("}");
    return list;
  }
  double real() {
    double v = 0;
    auto [end, error] = std::from_chars(tok.spelled.data(), tok.spelled.data() + tok.spelled.size(), v);
    if (error != std::errc() || end != tok.spelled.data() + tok.spelled.size()) fail("expected a number");
    advance();
    return v;
  }
  SourceRange loc() {
    SourceRange r;
    if (!accept("loc")) return r;
    expect("(");
    expect("#");
    uint32_t n = natural();
    if (n >= files.size()) fail("no such file");
    r.file = files[n];
    r.line = natural();
    expect(":");
    r.column = natural();
    dash();
    r.end_line = dash_value;
    expect(":");
    r.end_column = natural();
    expect(")");
    return r;
  }
  uint32_t dash_value = 0;
  // "13-15": the lexer reads "-15" as one number.
  void dash() {
    if (accept("-")) {
      dash_value = natural();
      return;
    }
    int64_t v = integer();
    if (v > 0 || v < -INT32_MAX) fail("expected '-'");
    dash_value = static_cast<uint32_t>(-v);
  }

  // ---- values, ops, blocks
  ValueId use() {
    if (tok.kind != Tok::value) fail("expected a value");
    auto it = names.find(tok.spelled);
    if (it == names.end()) fail("undefined value " + std::string(tok.spelled));
    advance();
    return it->second;
  }
  std::string define_name() {
    if (tok.kind != Tok::value) fail("expected a value");
    std::string s(tok.spelled);
    if (names.contains(s)) fail("value " + s + " is defined twice");
    advance();
    return s;
  }
  static std::string hint(const std::string& name) {
    bool number = name.find_first_not_of("0123456789", 1) == std::string::npos;
    return number ? "" : name.substr(1);
  }
  ValueId define(const std::string& name, Type t, OpId def) {
    ValueId v = m.new_value(std::move(t), hint(name), def);
    names.emplace(name, v);
    return v;
  }
  std::vector<ValueId> typed_args(std::string_view close) {
    std::vector<ValueId> list;
    while (!is(close)) {
      std::string name = define_name();
      expect(":");
      list.push_back(define(name, type(), {}));
      if (!accept(",")) break;
    }
    expect(close);
    return list;
  }
  BlockId block() {
    if (++depth > 200) fail("blocks nested too deep");
    BlockId id = m.new_block();
    auto outer = names;
    if (accept("|")) {
      auto args = typed_args("|");
      m[id].args = std::move(args);
    }
    expect("{");
    while (!is("}")) op(id);
    expect("}");
    names = std::move(outer);
    --depth;
    return id;
  }
  void op(BlockId at) {
    Token first = tok;
    std::vector<std::string> results;
    if (tok.kind == Tok::value) {
      do results.push_back(define_name());
      while (accept(","));
      expect("=");
    }
    if (tok.kind != Tok::word) fail("expected an operation");
    auto kind = op_from_name(tok.spelled);
    if (!kind) fail("unknown operation '" + std::string(tok.spelled) + "'");
    advance();
    OpId id{static_cast<uint32_t>(m.ops.size())};
    m.ops.push_back({.kind = *kind});
    m[at].ops.push_back(id);
    while (tok.kind == Tok::value && !at_next_op()) {
      ValueId v = use();
      m[id].operands.push_back(v);
      if (!accept(",")) break;
    }
    bool takes_block = info(*kind).blocks > 0;
    if (is("{") && (!takes_block || attrs_ahead())) {
      auto list = attrs();
      m[id].attrs = std::move(list);
    }
    if (!results.empty()) {
      expect(":");
      for (size_t i = 0; i < results.size(); ++i) {
        if (i) expect(",");
        ValueId v = define(results[i], type(), id);
        m[id].results.push_back(v);
      }
    }
    m[id].loc = loc();
    m[id].text_loc = {file, first.line, first.column, first.line,
                      static_cast<uint32_t>(source_line(file, first.line).size() + 1)};
    for (int i = 0; i < info(*kind).blocks; ++i) {
      if (i) expect("else");
      BlockId b = block();
      m[id].blocks.push_back(b);
    }
  }
  // An op without operands is followed by the next line, which may begin with a value and "=".
  bool at_next_op() const {
    Lexer ahead = lexer;
    Token t = ahead.next();
    while (t.spelled == ",") {
      t = ahead.next();
      if (t.kind != Tok::value) return false;
      t = ahead.next();
    }
    return t.spelled == "=";
  }
  // "{name=" begins attributes, anything else a block.
  bool attrs_ahead() const {
    Lexer ahead = lexer;
    Token name = ahead.next(), eq = ahead.next();
    return name.kind == Tok::word && eq.spelled == "=";
  }

  void func() {
    Func f;
    Token first = tok;
    expect("func");
    expect("@");
    f.name = word();
    names.clear();
    expect("(");
    f.params = typed_args(")");
    if (accept("symbols")) {
      expect("(");
      f.symbols = typed_args(")");
    }
    for (const Attr& a : attrs()) {
      const std::string* s = std::get_if<std::string>(&a.value);
      if (!s) fail("'" + a.name + "' of a function is a string");
      if (a.name == "instance") f.instance = *s;
      else if (a.name == "specialisation") f.specialisation = *s;
      else fail("unknown attribute '" + a.name + "' of a function");
    }
    expect("args");
    expect("[");
    while (!is("]")) {
      std::string name = word();
      expect("=");
      f.args.emplace_back(name, integer());
      if (!accept(",")) break;
    }
    expect("]");
    expect("outputs");
    for (const MetaInt& v : meta_list()) f.outputs.push_back(v.value);
    expect("attrs");
    f.attrs = attrs();
    f.loc = loc();
    f.text_loc = {file, first.line, first.column, first.line,
                  static_cast<uint32_t>(source_line(file, first.line).size() + 1)};
    while (accept("pre")) {
      Precondition p{.text = string()};
      expect("[");
      while (!is("]")) {
        p.params.push_back(word());
        if (!accept(",")) break;
      }
      expect("]");
      p.loc = loc();
      f.preconditions.push_back(std::move(p));
    }
    f.body = block();
    m.funcs.push_back(std::move(f));
  }

  void module() {
    advance();
    expect("module");
    expect("level");
    expect("=");
    std::string level = word();
    if (level != "tile" && level != "device") fail("level is tile or device");
    m.level = level == "tile" ? Level::tile : Level::device;
    expect("arch");
    expect("=");
    m.arch = string();
    while (accept("file")) {
      expect("#");
      if (natural() != files.size()) fail("files are numbered in order");
      std::string name = string();
      files.push_back(add_source_file(name, ""));
    }
    while (tok.kind != Tok::end) func();
  }
};

}  // namespace

Result<Module> parse(std::string_view file_name, std::string_view text) {
  Parser p{.lexer = {text}, .file = add_source_file(file_name, text), .m = {}, .tok = {}, .names = {}, .files = {}};
  try {
    p.module();
  } catch (Failure& f) {
    return std::move(f.diag);
  }
  return std::move(p.m);
}

}  // namespace tc::ir
