// Module → text. Every value gets a unique name (its hint, or a number), every op its source range as loc(#file
// l:c-l:c).
#include <charconv>
#include <map>
#include <set>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

std::string_view symbol(MetaKind kind) {
  switch (kind) {
    case MetaKind::add: return " + ";
    case MetaKind::sub: return " - ";
    case MetaKind::mul: return "*";
    case MetaKind::floordiv: return " // ";
    case MetaKind::floormod: return " % ";
    case MetaKind::bit_and: return " & ";
    case MetaKind::bit_or: return " | ";
    case MetaKind::bit_xor: return " ^ ";
    case MetaKind::shift_left: return " << ";
    case MetaKind::shift_right: return " >> ";
    case MetaKind::ceildiv: return "ceildiv";
    case MetaKind::min: return "min";
    case MetaKind::max: return "max";
    case MetaKind::neg: return "-";
    case MetaKind::literal:
    case MetaKind::param:
    case MetaKind::symbol: return "";
  }
  return "";
}

std::string expr_text(const Module& m, MetaId id, bool nested) {
  const MetaNode& n = m[id];
  switch (n.kind) {
    case MetaKind::literal: return std::to_string(n.value);
    case MetaKind::param: return n.name;
    case MetaKind::symbol: return "$" + n.name;
    case MetaKind::neg: return "-" + expr_text(m, n.lhs, true);
    case MetaKind::ceildiv:
    case MetaKind::min:
    case MetaKind::max:
      return std::string(symbol(n.kind)) + "(" + expr_text(m, n.lhs, false) + ", " + expr_text(m, n.rhs, false) + ")";
    case MetaKind::add:
    case MetaKind::sub:
    case MetaKind::mul:
    case MetaKind::floordiv:
    case MetaKind::floormod:
    case MetaKind::bit_and:
    case MetaKind::bit_or:
    case MetaKind::bit_xor:
    case MetaKind::shift_left:
    case MetaKind::shift_right: {
      std::string s = expr_text(m, n.lhs, true) + std::string(symbol(n.kind)) + expr_text(m, n.rhs, true);
      return nested ? "(" + s + ")" : s;
    }
  }
  return {};
}

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

std::string double_text(double v) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  std::string s(buffer, end);
  if (s.find_first_of(".enai") == std::string::npos) s += ".0";
  return s;
}

std::string int_text(const Module& m, const MetaInt& v) {
  std::string s = v.dynamic() ? "?" : std::to_string(v.value);
  return v.expr.valid() ? s + ":" + quoted(expr_text(m, v.expr, false)) : s;
}

std::string list_text(const Module& m, const std::vector<MetaInt>& list) {
  std::string s = "[";
  for (size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + int_text(m, list[i]);
  return s + "]";
}

struct Printer {
  const Module& m;
  std::string out;
  std::map<uint32_t, std::string> names;
  std::set<std::string, std::less<>> taken;
  std::map<std::string, int> suffixes;
  std::vector<FileId> files;
  uint32_t next = 0;

  std::string define(ValueId v) {
    std::string name = m[v].name;
    if (name.empty()) {
      do name = std::to_string(next++);
      while (taken.contains(name));
    } else if (taken.contains(name)) {
      int& n = suffixes[name];  // those below are taken
      do ++n;
      while (taken.contains(name + "_" + std::to_string(n)));
      name += "_" + std::to_string(n);
    }
    taken.insert(name);
    return names[v.index] = "%" + name;
  }
  std::string use(ValueId v) const {
    auto it = names.find(v.index);
    return it == names.end() ? "%?" + std::to_string(v.index) : it->second;
  }
  std::string loc(const SourceRange& r) {
    if (!r.valid()) return "";
    size_t n = 0;
    while (n < files.size() && files[n] != r.file) ++n;
    return " loc(#" + std::to_string(n) + " " + std::to_string(r.line) + ":" + std::to_string(r.column) + "-" +
           std::to_string(r.end_line) + ":" + std::to_string(r.end_column) + ")";
  }
  void note_file(const SourceRange& r) {
    if (r.valid() && std::find(files.begin(), files.end(), r.file) == files.end()) files.push_back(r.file);
  }
  std::string attrs(const std::vector<Attr>& list) {
    std::string s;
    for (const Attr& a : list) {
      s += (s.empty() ? "" : ", ") + a.name + "=";
      if (auto i = std::get_if<MetaInt>(&a.value)) s += int_text(m, *i);
      else if (auto d = std::get_if<double>(&a.value)) s += double_text(*d);
      else if (auto t = std::get_if<std::string>(&a.value)) s += quoted(*t);
      else s += list_text(m, std::get<std::vector<MetaInt>>(a.value));
    }
    return s.empty() ? s : " {" + s + "}";
  }
  std::string args(const std::vector<ValueId>& list) {
    std::string s;
    for (ValueId v : list) {
      s += s.empty() ? "" : ", ";
      s += define(v) + ": " + type_text(m, m[v].type);
    }
    return s;
  }
  void block(BlockId id, size_t depth) {
    if (!m[id].args.empty()) out += " |" + args(m[id].args) + "|";
    out += " {\n";
    for (OpId o : m[id].ops) op(o, depth + 1);
    out += std::string(2 * depth, ' ') + "}";
  }
  void op(OpId id, size_t depth) {
    const Op& o = m[id];
    out += std::string(2 * depth, ' ');
    for (size_t i = 0; i < o.results.size(); ++i) out += (i ? ", " : "") + define(o.results[i]);
    if (!o.results.empty()) out += " = ";
    out += info(o.kind).name;
    for (size_t i = 0; i < o.operands.size(); ++i) out += (i ? ", " : " ") + use(o.operands[i]);
    out += attrs(o.attrs);
    for (size_t i = 0; i < o.results.size(); ++i) out += (i ? ", " : " : ") + type_text(m, m[o.results[i]].type);
    out += loc(o.loc);
    for (size_t i = 0; i < o.blocks.size(); ++i) {
      if (i) out += " else";
      block(o.blocks[i], depth);
    }
    out += "\n";
  }
  void func(const Func& f) {
    taken.clear();
    suffixes.clear();
    names.clear();
    next = 0;
    out += "\nfunc @" + f.name + " (" + args(f.params) + ")";
    if (!f.symbols.empty()) out += " symbols (" + args(f.symbols) + ")";
    out += " {instance=" + quoted(f.instance) + ", specialisation=" + quoted(f.specialisation) + "}";
    out += " args [";
    for (size_t i = 0; i < f.args.size(); ++i)
      out += (i ? ", " : "") + f.args[i].first + "=" + std::to_string(f.args[i].second);
    out += "] outputs [";
    for (size_t i = 0; i < f.outputs.size(); ++i) out += (i ? ", " : "") + std::to_string(f.outputs[i]);
    out += "] attrs" + (f.attrs.empty() ? std::string(" {}") : attrs(f.attrs)) + loc(f.loc) + "\n";
    for (const Precondition& p : f.preconditions) {
      out += "  pre " + quoted(p.text) + " [";
      for (size_t i = 0; i < p.params.size(); ++i) out += (i ? ", " : "") + p.params[i];
      out += "]" + loc(p.loc) + "\n";
    }
    out += " ";
    block(f.body, 0);
    out += "\n";
  }
};

std::string_view space_name(Space s) {
  switch (s) {
    case Space::global: return "global";
    case Space::shared: return "shared";
    case Space::fragment: return "fragment";
    case Space::local: return "local";
    case Space::barrier: return "barrier";
    case Space::tmem: return "tmem";
  }
  return "";
}

}  // namespace

std::string meta_text(const Module& m, const MetaInt& value) {
  return value.expr.valid() ? expr_text(m, value.expr, false) : std::to_string(value.value);
}

std::string type_text(const Module& m, const Type& t) {
  std::string name(info(t.dtype).short_name);
  if (t.lanes != 1) name += "x" + std::to_string(t.lanes);
  switch (t.kind) {
    case TypeKind::scalar: return name;
    case TypeKind::map: return "map";
    case TypeKind::tile: return "tile " + name + list_text(m, t.shape);
    case TypeKind::buffer: {
      std::string s = std::string(space_name(t.space)) + " " + name + list_text(m, t.shape);
      if (!t.strides.empty()) s += " strides " + list_text(m, t.strides);
      if (t.layout.span) s += " span " + std::to_string(t.layout.span);
      return s;
    }
  }
  return {};
}

std::string print(const Module& m) {
  Printer p{.m = m, .out = {}, .names = {}, .taken = {}, .suffixes = {}, .files = {}};
  for (const Func& f : m.funcs) {
    p.note_file(f.loc);
    for (const Precondition& c : f.preconditions) p.note_file(c.loc);
    walk(m, f.body, [&](OpId id) { p.note_file(m[id].loc); });
  }
  p.out = "module level=" + std::string(m.level == Level::tile ? "tile" : "device") + " arch=" + quoted(m.arch) + "\n";
  for (size_t i = 0; i < p.files.size(); ++i)
    p.out += "file #" + std::to_string(i) + " " + quoted(source_file_name(p.files[i])) + "\n";
  for (const Func& f : m.funcs) p.func(f);
  return p.out;
}

}  // namespace tc::ir
