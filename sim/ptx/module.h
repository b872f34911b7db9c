// A PTX translation unit as a value: what the parser makes of the text and the printer turns back into it.
//   text ─ parse ─► Module ─ print ─► text     parse(print(m)) == m;  print(parse(t)) == t for printed t
// Statements keep the order and nesting of the text: `{ ... }` is a Block with registers and labels of its own (inline
// assembly repeats names). Comments and debug sections are not kept; `.loc` and `.file` are.
// Every instruction knows its place in the PTX text and, by `.loc`, in the source it was compiled from. Places take no
// part in ==.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sim/ptx/types.h"

namespace tc::ptx {

// A place that == ignores.
struct Where {
  SourceRange range;
  bool operator==(const Where&) const { return true; }
};

struct Operand {
  enum class Kind : uint8_t {
    name,     // %r1, smem, smem+16, $L__BB0_2, %tid.x
    integer,  // 7, -1, 0x10: `bits`, two's complement
    real,     // 0f3F800000, 0d..., 1.5: `bits` of an f32 (type f32) or an f64
    address,  // [base+offset, parts...]: base is `name`, or `bits` where the name is empty
    vector,   // {parts...}
    pair,     // a|b: parts
    group,    // (parts...) of a call
    sink,     // _
  };
  Kind kind = Kind::name;
  Type type = Type::f64;  // of a real
  bool negated = false;   // !p
  bool minus = false;     // -a, of video instructions
  std::string name;
  int64_t offset = 0;
  uint64_t bits = 0;
  bool generic = false;  // generic(name): an initial value
  uint64_t mask = 0;     // 0xFF00(name): the byte of the address under the mask, an initial value of .b8; 0: none
  std::vector<Operand> parts;
  Where where;
  bool operator==(const Operand&) const = default;
};

// A source line that an instruction came from; `inlined_at` is index + 1 into Function::locations, 0 for none.
struct Location {
  uint32_t file = 0, line = 0, column = 0;  // file: the number of a .file directive
  uint32_t inlined_at = 0;
  bool operator==(const Location&) const = default;
};

struct Instruction {
  std::string guard;  // predicate register, "" for none
  bool guard_negated = false;
  std::string opcode;  // with all modifiers: "add.s32"
  std::vector<Operand> operands;
  Where where;
  uint32_t location = 0;  // index + 1 into Function::locations, 0 where unknown
  bool operator==(const Instruction& o) const {
    return guard == o.guard && guard_negated == o.guard_negated && opcode == o.opcode && operands == o.operands;
  }
};

struct Label {
  std::string name;
  Where where;
  bool operator==(const Label&) const = default;
};

struct RegisterDecl {
  Type type = Type::b32;
  uint32_t vector = 1;
  struct Name {
    std::string name;
    uint32_t count = 0;  // %r<5>: 5, a plain name: 0
    bool operator==(const Name&) const = default;
  };
  std::vector<Name> names;
  Where where;
  bool operator==(const RegisterDecl&) const = default;
};

struct Variable {
  std::vector<std::string> linkage;  // visible, extern, weak, common
  Space space = Space::global;
  uint32_t align = 0;  // 0: natural
  uint32_t vector = 1;
  Type type = Type::b8;
  std::vector<std::string> attributes;  // of a parameter: ptr, global, align 4 ...; of a variable: attribute(.managed)
  std::string name;
  std::vector<uint64_t> dims;   // 0 = [] (extern)
  std::vector<Operand> values;  // initialisers, flattened
  Where where;
  uint64_t elements() const;
  uint64_t bytes() const { return elements() * vector * byte_size(type); }
  uint32_t alignment() const { return align ? align : vector * byte_size(type); }
  bool operator==(const Variable&) const = default;
};

// .loc file line column [, function_name symbol, inlined_at file line column]
struct LocDirective {
  Location at;
  std::string function;
  Location inlined_at;               // valid where function is not empty
  std::vector<Location> call_sites;  // LLVM's form, a comment: innermost first
  bool operator==(const LocDirective&) const = default;
};

struct Pragma {
  std::string text;
  bool operator==(const Pragma&) const = default;
};

// .branchtargets, .calltargets, .callprototype and the like: kept as words, after their label.
struct TargetList {
  std::string directive;
  std::vector<std::string> words;
  bool operator==(const TargetList&) const = default;
};

struct Statement;
struct Block {
  std::vector<Statement> body;
  bool operator==(const Block&) const;
};

struct Statement {
  std::variant<Instruction, Label, RegisterDecl, Variable, LocDirective, Pragma, TargetList, Block> value;
  bool operator==(const Statement&) const = default;
};
inline bool Block::operator==(const Block& o) const { return body == o.body; }

// .maxntid 128, 1, 1
struct Directive {
  std::string name;
  std::vector<uint64_t> values;
  bool operator==(const Directive&) const = default;
};

struct Function {
  std::vector<std::string> linkage;
  bool is_entry = false;
  std::string name;
  std::vector<Variable> results, params;
  std::vector<Directive> directives;
  bool has_body = false;
  Block body;
  std::vector<Location> locations;  // derived from .loc
  Where where;
  bool operator==(const Function& o) const {
    return linkage == o.linkage && is_entry == o.is_entry && name == o.name && results == o.results &&
           params == o.params && directives == o.directives && has_body == o.has_body && body == o.body;
  }
};

// .alias name, of;
struct Alias {
  std::string name, of;
  bool operator==(const Alias&) const = default;
};

struct SourceFile {
  uint32_t number = 0;
  std::string path;
  FileId id = 0;
  bool operator==(const SourceFile& o) const { return number == o.number && path == o.path; }
};

struct Module {
  std::string version;  // "9.0"
  std::vector<std::string> target;
  uint32_t address_size = 64;
  std::vector<SourceFile> files;
  std::vector<std::variant<Variable, Function, Pragma, Alias>> items;
  FileId text = 0;  // the PTX itself
  bool operator==(const Module& o) const {
    return version == o.version && target == o.target && address_size == o.address_size && files == o.files &&
           items == o.items;
  }
  const Function* function_named(std::string_view name) const;
  std::vector<const Function*> entries() const;
  const Variable* variable_named(std::string_view name) const;
};

// `name` is what diagnostics print. The files that .file names are read where they exist, for the lines of diagnostics.
Result<Module> parse(std::string_view text, std::string_view name);
std::string print(const Module& module);
std::string print(const Instruction& instruction);

// Where an instruction comes from: the outermost place in the source (the call site of inlined helpers) first, then
// the places inside; without .loc the PTX line alone.
std::vector<SourceRange> places(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace tc::ptx
