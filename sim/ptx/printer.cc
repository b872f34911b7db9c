#include <cstdio>
#include <cstring>

#include "sim/ptx/module.h"

namespace tc::ptx {
namespace {

std::string hex(uint64_t v, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llX", digits, static_cast<unsigned long long>(v));
  return text;
}

std::string offset_text(int64_t offset) { return offset ? "+" + std::to_string(offset) : std::string(); }

std::string join(const std::vector<Operand>& parts, std::string_view separator);

std::string text_of(const Operand& o) {
  const std::string bang = o.negated ? "!" : o.minus ? "-" : "";
  switch (o.kind) {
    case Operand::Kind::name:
      if (o.generic) return "generic(" + o.name + ")" + offset_text(o.offset);
      if (o.mask) return "0x" + hex(o.mask, 1) + "(" + o.name + ")" + offset_text(o.offset);
      return bang + o.name + offset_text(o.offset);
    case Operand::Kind::integer: return bang + std::to_string(static_cast<int64_t>(o.bits));
    case Operand::Kind::real: return o.type == Type::f32 ? "0f" + hex(o.bits, 8) : "0d" + hex(o.bits, 16);
    case Operand::Kind::address: {
      std::string out =
          "[" + (o.name.empty() ? std::to_string(static_cast<int64_t>(o.bits)) : o.name) + offset_text(o.offset);
      if (!o.parts.empty()) out += ", " + join(o.parts, ", ");
      return out + "]";
    }
    case Operand::Kind::vector: return "{" + join(o.parts, ", ") + "}";
    case Operand::Kind::pair: return join(o.parts, "|");
    case Operand::Kind::group: return "(" + join(o.parts, ", ") + ")";
    case Operand::Kind::sink: return "_";
  }
  return {};
}

std::string join(const std::vector<Operand>& parts, std::string_view separator) {
  std::string out;
  for (const Operand& p : parts) {
    if (&p != &parts.front()) out += separator;
    out += text_of(p);
  }
  return out;
}

std::string text_of(const Variable& v) {
  std::string out;
  for (const std::string& l : v.linkage) out += "." + l + " ";
  const bool is_reg = !v.attributes.empty() && v.attributes.front() == "reg";
  out += "." + (is_reg ? std::string("reg") : std::string(kSpaceNames[static_cast<size_t>(v.space)]));
  for (const std::string& a : v.attributes)
    if (a.starts_with("attribute")) out += " ." + a;
  if (v.align) out += " .align " + std::to_string(v.align);
  if (v.vector > 1) out += " .v" + std::to_string(v.vector);
  out += " ." + std::string(row(v.type).name);
  for (const std::string& a : v.attributes)
    if (a != "reg" && !a.starts_with("attribute")) out += " ." + a;
  out += " " + v.name;
  for (uint64_t d : v.dims) out += d ? "[" + std::to_string(d) + "]" : "[]";
  if (!v.values.empty()) out += v.dims.empty() ? " = " + text_of(v.values[0]) : " = {" + join(v.values, ", ") + "}";
  return out;
}

std::string text_of(const Location& l) {
  return std::to_string(l.file) + " " + std::to_string(l.line) + " " + std::to_string(l.column);
}

class Printer {
 public:
  std::string module(const Module& m) {
    files_ = &m.files;
    out_ += ".version " + m.version + "\n.target ";
    for (size_t i = 0; i < m.target.size(); ++i) out_ += (i ? ", " : "") + m.target[i];
    out_ += "\n.address_size " + std::to_string(m.address_size) + "\n";
    for (const auto& item : m.items) {
      if (auto* v = std::get_if<Variable>(&item)) out_ += text_of(*v) + ";\n";
      else if (auto* p = std::get_if<Pragma>(&item)) out_ += ".pragma \"" + p->text + "\";\n";
      else if (auto* a = std::get_if<Alias>(&item)) out_ += ".alias " + a->name + ", " + a->of + ";\n";
      else function(std::get<Function>(item));
    }
    for (const SourceFile& f : m.files) out_ += ".file " + std::to_string(f.number) + " \"" + f.path + "\"\n";
    return std::move(out_);
  }

 private:
  void line(std::string_view text) { out_.append(2 * indent_, ' ').append(text).append("\n"); }

  void function(const Function& f) {
    out_ += "\n";
    for (const std::string& l : f.linkage) out_ += "." + l + " ";
    out_ += f.is_entry ? ".entry " : ".func ";
    if (!f.results.empty()) out_ += "(" + parameters(f.results) + ") ";
    out_ += f.name + "(" + parameters(f.params) + ")";
    for (const Directive& d : f.directives) {
      out_ += "\n." + d.name;
      for (size_t i = 0; i < d.values.size(); ++i) out_ += (i ? ", " : " ") + std::to_string(d.values[i]);
    }
    if (!f.has_body) {
      out_ += ";\n";
      return;
    }
    out_ += "\n";
    block(f.body);
  }

  static std::string parameters(const std::vector<Variable>& params) {
    std::string out;
    for (const Variable& p : params) out += (&p == &params.front() ? "" : ", ") + text_of(p);
    return out;
  }

  void block(const Block& b) {
    line("{");
    ++indent_;
    for (const Statement& s : b.body) std::visit([&](const auto& v) { statement(v); }, s.value);
    --indent_;
    line("}");
  }

  void statement(const Instruction& i) { line(print(i)); }
  void statement(const Label& l) { out_ += l.name + ":\n"; }
  void statement(const RegisterDecl& d) {
    std::string text = ".reg " + (d.vector > 1 ? ".v" + std::to_string(d.vector) + " " : std::string()) + "." +
                       std::string(row(d.type).name) + " ";
    for (const auto& n : d.names) {
      if (&n != &d.names.front()) text += ", ";
      text += n.name + (n.count ? "<" + std::to_string(n.count) + ">" : std::string());
    }
    line(text + ";");
  }
  void statement(const Variable& v) { line(text_of(v) + ";"); }
  void statement(const LocDirective& d) {
    std::string text = ".loc " + text_of(d.at);
    if (!d.function.empty()) text += ", function_name " + d.function + ", inlined_at " + text_of(d.inlined_at);
    line(text + call_sites(d.call_sites));
  }
  std::string call_sites(const std::vector<Location>& sites) const {
    std::string out = sites.empty() ? "" : "  //", close;
    for (const Location& l : sites) {
      const auto f = std::ranges::find(*files_, l.file, &SourceFile::number);
      if (f == files_->end()) continue;
      out += " @[ " + f->path + ":" + std::to_string(l.line) + ":" + std::to_string(l.column);
      close += " ]";
    }
    return out + close;
  }
  void statement(const Pragma& p) { line(".pragma \"" + p.text + "\";"); }
  void statement(const TargetList& t) {
    std::string text = "." + t.directive;
    for (const std::string& w : t.words) text += " " + w;
    line(text + ";");
  }
  void statement(const Block& b) { block(b); }

  const std::vector<SourceFile>* files_ = nullptr;
  std::string out_;
  size_t indent_ = 0;
};

}  // namespace

std::string print(const Instruction& i) {
  std::string out;
  if (!i.guard.empty()) out = "@" + std::string(i.guard_negated ? "!" : "") + i.guard + " ";
  out += i.opcode;
  if (!i.operands.empty()) out += " " + join(i.operands, ", ");
  return out + ";";
}

std::string print(const Module& module) { return Printer().module(module); }

}  // namespace tc::ptx
