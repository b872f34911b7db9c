// Recursive descent over the tokens, one function a grammar symbol of PTX ISA 4 and 5. Strict: what is not known is an
// error at its place, except debug sections, which are passed over.
#include <charconv>
#include <cstring>

#include "base/files.h"
#include "sim/ptx/constant.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/module.h"

namespace tc::ptx {
namespace {

constexpr std::array<std::string_view, 4> kLinkage = {".visible", ".extern", ".weak", ".common"};

// Entry and function directives with their numbers of values; PTX ISA 11.4.
struct DirectiveRow {
  std::string_view name;
  uint8_t least, most;
};
constexpr std::array kDirectives = {
    DirectiveRow{"maxntid", 1, 3},         DirectiveRow{"reqntid", 1, 3},
    DirectiveRow{"minnctapersm", 1, 1},    DirectiveRow{"maxnctapersm", 1, 1},
    DirectiveRow{"maxnreg", 1, 1},         DirectiveRow{"noreturn", 0, 0},
    DirectiveRow{"explicitcluster", 0, 0}, DirectiveRow{"reqnctapercluster", 1, 3},
    DirectiveRow{"maxclusterrank", 1, 1},  DirectiveRow{"blocksareclusters", 0, 0},
    DirectiveRow{"abi_preserve", 1, 1},    DirectiveRow{"abi_preserve_control", 1, 1},
    DirectiveRow{"unique", 0, 0},
};

// 9.4, which Triton 3.9 writes; of what versions after 9.1 add nothing is decoded.
constexpr uint32_t kNewestVersion = 94;
constexpr uint32_t kMostRegisters = 1u << 18;       // of one .reg directive
constexpr uint64_t kMostBytes = uint64_t{1} << 40;  // of one variable
constexpr uint64_t kMostAlign = uint64_t{1} << 20;
constexpr int kDeepest = 200;  // nesting of blocks, operands, initialisers

class Parser {
 public:
  Parser(FileId file, Tokens tokens)
      : file_(file), tokens_(std::move(tokens.tokens)), call_sites_(std::move(tokens.call_sites)) {}

  Result<Module> run() {
    module_.text = file_;
    collect_files();
    while (error_.empty() && peek().kind != Token::Kind::end) item();
    if (!error_.empty()) return input_error(error_at_, error_);
    if (module_.version.empty()) return input_error({file_, 1, 1, 1, 2}, "no .version directive");
    if (module_.target.empty()) return input_error({file_, 1, 1, 1, 2}, "no .target directive");
    resolve_files();
    return std::move(module_);
  }

 private:
  // ---- tokens
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at(std::string_view text) const {
    return peek().text == text && peek().kind != Token::Kind::string && peek().kind != Token::Kind::end;
  }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view text) { return at(text) ? (take(), true) : false; }
  void fail(std::string message) {
    if (!error_.empty()) return;
    error_ = std::move(message), error_at_ = range(peek());
    at_ = tokens_.size() - 1;  // the end token: every loop stops
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "'" + found());
  }
  std::string found() const {
    return peek().kind == Token::Kind::end ? ", found the end of the text"
                                           : ", found '" + std::string(peek().text) + "'";
  }
  SourceRange range(const Token& t) const {
    return {file_, t.line, t.column, t.line, t.column + static_cast<uint32_t>(std::max<size_t>(t.text.size(), 1))};
  }
  std::string word(std::string_view what) {
    if (peek().kind == Token::Kind::word) return std::string(take().text);
    fail("expected " + std::string(what) + found());
    return {};
  }

  // ---- module
  void item() {
    if (accept(".version")) {
      version();
    } else if (module_.version.empty()) {
      fail("expected .version" + found());
    } else if (accept(".target")) {
      do module_.target.emplace_back(take().text);
      while (accept(","));
    } else if (accept(".address_size")) {
      module_.address_size = static_cast<uint32_t>(unsigned_number());
      if (module_.address_size != 64) fail("unsupported: .address_size other than 64");
    } else if (accept(".file")) {
      file_directive();
    } else if (accept(".pragma")) {
      module_.items.emplace_back(pragma());
    } else if (accept(".section")) {
      skip_section();
    } else if (accept(".alias")) {
      Alias a{word("a function name"), {}};
      expect(",");
      a.of = word("a function name");
      expect(";");
      module_.items.emplace_back(std::move(a));
    } else if (module_.target.empty()) {
      fail("expected .target" + found());
    } else {
      declaration();
    }
  }

  void version() {
    const std::string_view text = peek().text;
    uint32_t major = 0, minor = 0;
    const auto dot = text.find('.');
    const auto [end, ec] = std::from_chars(text.data(), text.data() + std::min(dot, text.size()), major);
    const bool whole = dot != text.npos && ec == std::errc() && end == text.data() + dot;
    if (!whole ||
        std::from_chars(text.data() + dot + 1, text.data() + text.size(), minor).ptr != text.data() + text.size())
      return fail("malformed version" + found());
    if (10 * major + minor > kNewestVersion) return fail("unsupported: PTX version " + std::string(text));
    module_.version = take().text;
  }

  // The names that call-site comments use may be declared behind them.
  void collect_files() {
    for (size_t i = 0; i + 2 < tokens_.size(); ++i)
      if (tokens_[i].text == ".file" && tokens_[i + 2].kind == Token::Kind::string)
        file_names_.emplace_back(tokens_[i + 2].text,
                                 static_cast<uint32_t>(std::atoi(std::string(tokens_[i + 1].text).c_str())));
  }

  void file_directive() {
    SourceFile f;
    f.number = static_cast<uint32_t>(unsigned_number());
    if (peek().kind != Token::Kind::string) return fail("expected a file name" + found());
    f.path = take().text;
    if (f.path.find_first_of("\n\r") != f.path.npos) return fail("a line end in a file name");
    f.path.erase(0, f.path.find_first_not_of(' '));
    while (accept(",")) unsigned_number();  // time stamp and size
    module_.files.push_back(std::move(f));
  }

  void skip_section() {
    take();
    expect("{");
    for (int depth = 1; depth > 0 && peek().kind != Token::Kind::end;) {
      if (at("{")) ++depth;
      if (at("}")) --depth;
      take();
    }
  }

  std::vector<std::string> linkage() {
    std::vector<std::string> out;
    for (bool more = true; more;) {
      more = false;
      for (std::string_view l : kLinkage)
        if (accept(l)) out.emplace_back(l.substr(1)), more = true;
    }
    return out;
  }

  void declaration() {
    std::vector<std::string> link = linkage();
    if (at(".entry") || at(".func")) return function(std::move(link));
    if (!space_named(peek().text.substr(std::min<size_t>(1, peek().text.size()))))
      return fail("expected a directive" + found());
    module_.items.emplace_back(variable(std::move(link)));
    expect(";");
  }

  // ---- functions
  void function(std::vector<std::string> link) {
    Function f;
    f.linkage = std::move(link);
    f.is_entry = take().text == ".entry";
    if (at("(")) f.results = parameters();
    f.where.range = range(peek());
    f.name = word("a function name");
    if (at("(")) f.params = parameters();
    directives(f);
    if (accept(";")) return void(module_.items.emplace_back(std::move(f)));
    f.has_body = true;
    function_ = &f;
    location_ = 0;
    f.body = block();
    function_ = nullptr;
    module_.items.emplace_back(std::move(f));
  }

  void directives(Function& f) {
    while (peek().kind == Token::Kind::dotted) {
      const std::string_view name = peek().text.substr(1);
      const auto* known = std::find_if(kDirectives.begin(), kDirectives.end(), [&](auto& d) { return d.name == name; });
      if (known == kDirectives.end()) return fail("unknown directive ." + std::string(name));
      take();
      Directive d{std::string(name), {}};
      if (known->most > 0) {
        do d.values.push_back(size_number());
        while (accept(","));
      }
      if (d.values.size() < known->least || d.values.size() > known->most)
        return fail("wrong number of values of ." + d.name);
      f.directives.push_back(std::move(d));
    }
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> out;
    expect("(");
    if (accept(")")) return out;
    do out.push_back(variable({}));
    while (accept(","));
    expect(")");
    return out;
  }

  // .space [.align n] [.v2] .type [.ptr ...] name[dims] [= values]
  Variable variable(std::vector<std::string> link) {
    Variable v;
    v.linkage = std::move(link);
    v.where.range = range(peek());
    const std::string_view space = peek().text;
    if (at(".reg")) v.space = Space::param, v.attributes.push_back("reg"), take();
    else if (auto s = space.empty() ? std::nullopt : space_named(space.substr(1))) v.space = *s, take();
    else fail("expected a state space" + found());
    attribute(v);
    if (accept(".align")) v.align = alignment();
    attribute(v);
    if (accept(".v2")) v.vector = 2;
    if (accept(".v4")) v.vector = 4;
    v.type = type();
    if (accept(".ptr")) {
      v.attributes.push_back("ptr");
      if (at(".global") || at(".shared") || at(".const") || at(".local"))
        v.attributes.emplace_back(take().text.substr(1));
      if (accept(".align")) v.attributes.push_back("align " + std::to_string(alignment()));
    }
    v.name = word("a name");
    while (accept("[")) {
      v.dims.push_back(at("]") ? 0 : size_number());
      expect("]");
    }
    call_ = false;
    if (accept("=")) initialiser(v.values);
    uint64_t bytes = uint64_t{v.vector} * byte_size(v.type);
    for (uint64_t d : v.dims)
      if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMostBytes) fail("a variable is too large");
    return v;
  }

  uint32_t alignment() {
    const uint64_t a = size_number();
    if (a == 0 || a > kMostAlign || (a & (a - 1))) fail(".align is no power of two up to 2^20");
    return static_cast<uint32_t>(a);
  }

  // .attribute(.managed), .attribute(.unified(1, 2)): kept as text.
  void attribute(Variable& v) {
    if (!accept(".attribute")) return;
    std::string text = "attribute";
    int depth = 0;
    do {
      if (at("(")) ++depth;
      if (at(")")) --depth;
      if (peek().kind == Token::Kind::end) fail("expected ')'" + found());
      text += take().text;
    } while (depth > 0 && error_.empty());
    v.attributes.push_back(std::move(text));
  }

  void initialiser(std::vector<Operand>& out) {
    if (!accept("{")) return out.push_back(initial_value());
    if (accept("}")) return;
    if (++depth_ > kDeepest) fail("initialisers are nested too deeply");
    do initialiser(out);
    while (accept(","));
    expect("}");
    --depth_;
  }

  // A constant, name+8, generic(name)+8, or 0xFF00(name): one byte of an address.
  Operand initial_value() {
    const bool masked = peek().kind == Token::Kind::number && peek(1).text == "(";
    if (!masked && !(at("generic") && peek(1).text == "(")) return operand();
    const uint64_t mask = masked ? unsigned_number() : (take(), 0);
    if (masked && mask == 0) fail("a mask of an address is not 0");
    Operand o;
    expect("(");
    const bool wrapped = masked && at("generic") && accept("generic");
    if (wrapped) expect("(");
    name(o);
    if (wrapped) expect(")");
    expect(")");
    o.offset += displacement();
    o.generic = !masked || wrapped, o.mask = mask;
    return o;
  }

  Type type() {
    if (peek().kind == Token::Kind::dotted)
      if (auto t = type_named(peek().text.substr(1))) return take(), *t;
    fail("expected a type" + found());
    return Type::b32;
  }

  // ---- statements
  Block block() {
    Block b;
    if (++depth_ > kDeepest) fail("blocks are nested too deeply");
    expect("{");
    while (error_.empty() && !at("}")) {
      if (peek().kind == Token::Kind::end) fail("expected '}'" + found());
      else statement(b.body);
    }
    expect("}");
    --depth_;
    return b;
  }

  void statement(std::vector<Statement>& out) {
    if (accept(";")) return;
    if (at("{")) return out.push_back({block()});
    if (peek().kind == Token::Kind::dotted) return directive_statement(out);
    if (peek().kind == Token::Kind::word && peek(1).text == ":" && peek(1).kind == Token::Kind::punct) {
      Label l;
      l.where.range = range(peek());
      l.name = take().text;
      take();
      return out.push_back({std::move(l)});
    }
    out.push_back({instruction()});
  }

  void directive_statement(std::vector<Statement>& out) {
    if (at(".reg")) {
      out.push_back({register_decl()});
    } else if (accept(".loc")) {
      return out.push_back({loc()});
    } else if (accept(".pragma")) {
      return out.push_back({pragma()});
    } else if (at(".branchtargets") || at(".calltargets") || at(".callprototype")) {
      TargetList t;
      t.directive = take().text.substr(1);
      while (!at(";") && peek().kind != Token::Kind::end) t.words.emplace_back(take().text);
      out.push_back({std::move(t)});
    } else if (at(".section")) {
      take();
      return skip_section();
    } else {
      out.push_back({variable(linkage())});
    }
    expect(";");
  }

  RegisterDecl register_decl() {
    RegisterDecl d;
    d.where.range = range(take());
    if (accept(".v2")) d.vector = 2;
    if (accept(".v4")) d.vector = 4;
    d.type = type();
    do {
      RegisterDecl::Name n{word("a register name"), 0};
      if (accept("<")) {
        n.count = static_cast<uint32_t>(std::min<uint64_t>(unsigned_number(), UINT32_MAX));
        if (n.count == 0 || n.count > kMostRegisters) fail("unreasonable register count");
        expect(">");
      }
      d.names.push_back(std::move(n));
    } while (accept(","));
    return d;
  }

  // .pragma "a", "b"; : kept as one text, with the quotes between.
  Pragma pragma() {
    Pragma p;
    do {
      if (peek().kind != Token::Kind::string) fail("expected a string" + found());
      p.text += (p.text.empty() ? "" : "\", \"") + std::string(take().text);
    } while (accept(","));
    expect(";");
    return p;
  }

  Location location() {
    Location l;
    l.file = static_cast<uint32_t>(unsigned_number());
    l.line = static_cast<uint32_t>(unsigned_number());
    l.column = static_cast<uint32_t>(unsigned_number());
    return l;
  }

  // "@[ k.cu:11:24 @[ main.cu:3:1 ] ]": names are those of .file, or their ends.
  std::vector<Location> call_sites(std::string_view text) const {
    std::vector<Location> out;
    for (size_t at = 0; (at = text.find("@[ ", at)) != text.npos;) {
      at += 3;
      const std::string_view site = text.substr(at, std::min(text.find(" @[", at), text.find(" ]", at)) - at);
      const size_t column = site.rfind(':'), line = column == site.npos ? site.npos : site.rfind(':', column - 1);
      if (line == site.npos) break;
      Location l;
      l.line = static_cast<uint32_t>(std::atoi(std::string(site.substr(line + 1)).c_str()));
      l.column = static_cast<uint32_t>(std::atoi(std::string(site.substr(column + 1)).c_str()));
      for (const auto& [path, number] : file_names_)
        if (path == site.substr(0, line) || path.ends_with("/" + std::string(site.substr(0, line)))) l.file = number;
      if (l.file == 0) break;
      out.push_back(l);
    }
    return out;
  }

  LocDirective loc() {
    LocDirective d;
    const uint32_t line = peek().line;
    d.at = location();
    const auto note = std::lower_bound(call_sites_.begin(), call_sites_.end(), line,
                                       [](const auto& n, uint32_t l) { return n.line < l; });
    if (note != call_sites_.end() && note->line == line) d.call_sites = call_sites(note->text);
    while (accept(",")) {
      if (accept("function_name")) {
        d.function = take().text;
        if (accept("+")) d.function += "+" + std::to_string(unsigned_number());
      } else if (accept("inlined_at")) {
        d.inlined_at = location();
      } else fail("expected function_name or inlined_at" + found());
    }
    if (function_) note_location(d);
    return d;
  }

  // The call sites of inlining are found again by their own, earlier .loc.
  void note_location(const LocDirective& d) {
    if (d.at.line == 0) return;  // compiler-made code belongs to the line before
    auto& all = function_->locations;
    auto find = [&](Location l) {
      for (size_t i = all.size(); i-- > 0;)
        if (all[i].file == l.file && all[i].line == l.line && all[i].column == l.column)
          return static_cast<uint32_t>(i + 1);
      all.push_back(l);
      return static_cast<uint32_t>(all.size());
    };
    Location l = d.at;
    if (!d.function.empty()) l.inlined_at = find(d.inlined_at);
    for (size_t i = d.call_sites.size(); i-- > 0;) {
      Location site = d.call_sites[i];
      site.inlined_at = i + 1 < d.call_sites.size() ? l.inlined_at : 0;
      all.push_back(site);
      l.inlined_at = static_cast<uint32_t>(all.size());
    }
    all.push_back(l);
    location_ = static_cast<uint32_t>(all.size());
  }

  // [@p] opcode operands ;
  Instruction instruction() {
    Instruction in;
    const Token& first = peek();
    if (accept("@")) {
      in.guard_negated = accept("!");
      in.guard = word("a predicate");
    }
    in.where.range = range(peek());
    in.opcode = word("an instruction");
    // ptxas takes modifiers after a space too: `... .bulk_group .L2::cache_hint`.
    while (peek().kind == Token::Kind::dotted) in.opcode += take().text;
    in.location = location_;
    call_ = in.opcode == "call" || in.opcode.starts_with("call.");
    if (!at(";")) {
      do in.operands.push_back(operand());
      while (accept(","));
    }
    const Token& last = peek();
    expect(";");
    SourceRange& r = in.where.range;
    r.line = first.line, r.column = first.column, r.end_line = last.line, r.end_column = last.column;
    return in;
  }

  // ---- operands
  Operand operand() {
    Operand o = simple_operand();
    if (at("|")) {
      Operand pair;
      pair.kind = Operand::Kind::pair;
      pair.where = o.where;
      pair.parts.push_back(std::move(o));
      while (accept("|")) pair.parts.push_back(simple_operand());
      return pair;
    }
    return o;
  }

  std::vector<Operand> operands_until(std::string_view close) {
    std::vector<Operand> out;
    if (++depth_ > kDeepest) fail("operands are nested too deeply");
    if (!at(close)) {
      do out.push_back(operand());
      while (accept(","));
    }
    expect(close);
    --depth_;
    return out;
  }

  bool at_constant() const {
    if (peek().kind == Token::Kind::number || at("-") || at("~") || at("+")) return true;
    return at("!") && (peek(1).kind == Token::Kind::number || peek(1).text == "(");
  }

  Operand simple_operand() {
    Operand o;
    o.where.range = range(peek());
    if (accept("{")) o.kind = Operand::Kind::vector, o.parts = operands_until("}");
    else if (at("(") && call_) take(), o.kind = Operand::Kind::group, o.parts = operands_until(")");
    else if (accept("[")) address(o);
    else if (at("-") && peek(1).kind == Token::Kind::word && peek(1).text != "WARP_SZ") take(), name(o), o.minus = true;
    else if (at_constant() || at("(")) literal(o);
    else if (accept("!")) name(o), o.negated = true;
    else if (at("_")) take(), o.kind = Operand::Kind::sink;
    else name(o);
    return o;
  }

  void name(Operand& o) {
    o.kind = Operand::Kind::name;
    o.name = word("an operand");
    while (peek().kind == Token::Kind::dotted && peek().glued) o.name += take().text;
    o.offset = displacement();
  }

  Constant constant(Extent extent) {
    ConstantReader reader(tokens_, at_);
    const Constant c = reader.read(extent);
    at_ = std::min(reader.at(), tokens_.size() - 1);
    if (!reader.error().empty()) fail(reader.error() + found());
    return c;
  }

  // + 8 - 2 * 4 ... behind a name; addresses wrap.
  int64_t displacement() {
    uint64_t sum = 0;
    while ((at("+") || at("-")) && error_.empty()) {
      const bool minus = take().text == "-";
      const Constant c = constant(Extent::product);
      if (c.is_real) fail("an address takes no real");
      sum += minus ? -c.bits : c.bits;
    }
    return static_cast<int64_t>(sum);
  }

  void address(Operand& o) {
    o.kind = Operand::Kind::address;
    if (++depth_ > kDeepest) fail("operands are nested too deeply");
    Operand base = simple_operand();
    --depth_;
    if (base.kind == Operand::Kind::integer) o.bits = base.bits;
    else if (base.kind == Operand::Kind::name) o.name = base.name, o.offset = base.offset;
    else fail("expected an address");
    if (accept(",")) o.parts = operands_until("]");
    else expect("]");
  }

  void literal(Operand& o) {
    const Constant c = constant(Extent::whole);
    o.kind = c.is_real ? Operand::Kind::real : Operand::Kind::integer;
    if (c.is_real) o.type = c.real_type;
    o.bits = c.bits;
  }

  uint64_t unsigned_number() {
    if (peek().kind != Token::Kind::number) return fail("expected an integer" + found()), 0;
    ConstantReader reader(std::span<const Token>{tokens_}.subspan(at_, 1), 0);  // the one token
    const Constant c = reader.read(Extent::product);
    if (!reader.error().empty() || c.is_real) return fail("expected an integer" + found()), 0;
    take();
    return c.bits;
  }
  // A size: an expression that is not negative.
  uint64_t size_number() {
    const Constant c = constant(Extent::whole);
    if (c.is_real || (!c.is_unsigned && static_cast<int64_t>(c.bits) < 0)) fail("a size is expected");
    return c.bits;
  }

  void resolve_files() {
    for (SourceFile& f : module_.files) {
      auto text = read_file(f.path);
      f.id = add_source_file(f.path, text.ok() ? *text : std::string());
    }
  }

  FileId file_;
  std::vector<Token> tokens_;
  std::vector<CallSiteNote> call_sites_;
  std::vector<std::pair<std::string_view, uint32_t>> file_names_;
  size_t at_ = 0;
  int depth_ = 0;
  Module module_;
  Function* function_ = nullptr;
  uint32_t location_ = 0;
  bool call_ = false;  // the operands are those of a call: (...) is a list
  std::string error_;
  SourceRange error_at_;
};

}  // namespace

Result<Module> parse(std::string_view text, std::string_view name) {
  const FileId file = add_source_file(name, text);
  auto tokens = lex(file, source_file_text(file));
  if (!tokens.ok()) return tokens.error();
  return Parser(file, std::move(*tokens)).run();
}

uint64_t Variable::elements() const {
  uint64_t n = 1;
  for (uint64_t d : dims) n *= d;
  return n;
}

const Function* Module::function_named(std::string_view name) const {
  const Function* found = nullptr;  // a definition hides its declarations
  for (const auto& i : items)
    if (auto* f = std::get_if<Function>(&i); f && f->name == name && (!found || f->has_body)) found = f;
  return found;
}

std::vector<const Function*> Module::entries() const {
  std::vector<const Function*> out;
  for (const auto& i : items)
    if (auto* f = std::get_if<Function>(&i); f && f->is_entry && f->has_body) out.push_back(f);
  return out;
}

const Variable* Module::variable_named(std::string_view name) const {
  for (const auto& i : items)
    if (auto* v = std::get_if<Variable>(&i); v && v->name == name) return v;
  return nullptr;
}

std::vector<SourceRange> places(const Module& module, const Function& function, const Instruction& instruction) {
  std::vector<SourceRange> out;
  for (uint32_t i = instruction.location, depth = 0; i != 0 && depth < 64; ++depth) {
    const Location& l = function.locations[i - 1];
    for (const SourceFile& f : module.files)
      if (f.number == l.file)
        out.insert(out.begin(), SourceRange{f.id, l.line, std::max(l.column, 1u), l.line, std::max(l.column, 1u) + 1});
    i = l.inlined_at;
  }
  if (out.empty()) out.push_back(instruction.where.range);
  return out;
}

}  // namespace tc::ptx
