// Protocol → text; parse_protocol(print(p)) == p.
#include <algorithm>

#include "verifier/protocol/protocol.h"

namespace tc::verify {
namespace {
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}
bool is_plain_path(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' || c == '-' || c == '+' ||
           c == '@';
  });
}
bool is_plain_word(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}
std::string loc_text(const Origin& o) {
  const SourceRange& r = o.loc.range;
  if (!r.file || !r.valid()) return {};
  std::string name(source_file_name(r.file));
  return " loc " + (is_plain_path(name) ? name : quote(name)) + ":" + std::to_string(r.line) + ":" +
         std::to_string(r.column) + "-" + std::to_string(r.end_line) + ":" + std::to_string(r.end_column);
}

std::string arguments(const Protocol& p, const Event& e) {
  std::string ring = e.ring >= 0 ? " " + p.rings[static_cast<size_t>(e.ring)].name + "[" + print(e.slot) + "]" : "";
  std::string buffer =
      e.buffer >= 0 ? " " + p.buffers[static_cast<size_t>(e.buffer)].name + "[" + print(e.at) + "]" : "";
  if (e.tile) buffer += " tile " + print(*e.tile);
  switch (e.kind) {
    case EventKind::wait: return ring + " " + print(*e.parity) + (e.meant ? " meant " + print(*e.meant) : "");
    case EventKind::arrive:
      return ring + (e.count != 1 ? " x " + std::to_string(e.count) : "") + (e.tx ? " tx " + std::to_string(e.tx) : "");
    case EventKind::expect: return ring + " " + std::to_string(e.tx);
    case EventKind::copy: return buffer + " bytes " + std::to_string(e.bytes) + " on" + ring;
    case EventKind::read:
    case EventKind::write:
    case EventKind::mma:
    case EventKind::aread: return buffer;
    case EventKind::mma_wait: return " " + std::to_string(e.pending);
    case EventKind::increment: return " " + e.variable;
    case EventKind::flip: return " " + e.variable + "[" + print(e.slot) + "]";
    case EventKind::sync_warp:
    case EventKind::sync_role:
    case EventKind::sync_threads: return "";
  }
  return "";
}

bool has_who(EventKind kind) {
  switch (kind) {
    case EventKind::sync_warp:
    case EventKind::sync_role:
    case EventKind::sync_threads:
    case EventKind::increment:
    case EventKind::flip: return false;
    case EventKind::wait:
    case EventKind::arrive:
    case EventKind::expect:
    case EventKind::copy:
    case EventKind::read:
    case EventKind::write:
    case EventKind::mma:
    case EventKind::aread:
    case EventKind::mma_wait: return true;
  }
  return true;
}

void print_body(const Protocol& p, const std::vector<Stmt>& body, size_t depth, std::string& out) {
  std::string indent(2 * depth, ' ');
  for (const Stmt& s : body) {
    if (const auto* e = std::get_if<Event>(&s.node)) {
      out += indent + print(p, *e) + loc_text(e->origin) + "\n";
    } else if (const auto* l = std::get_if<Loop>(&s.node)) {
      out += indent + "for " + l->var + " < " + print(l->trip) + loc_text(l->origin) + "\n";
      print_body(p, l->body, depth + 1, out);
    } else {
      const auto& b = std::get<Branch>(s.node);
      out += indent + (b.predicate.empty() ? "if " + print(b.condition) : "ifdata " + b.predicate) +
             loc_text(b.origin) + "\n";
      print_body(p, b.body, depth + 1, out);
    }
  }
}
}  // namespace

bool Loc::operator==(const Loc& other) const {
  const SourceRange &a = range, &b = other.range;
  return a.line == b.line && a.column == b.column && a.end_line == b.end_line && a.end_column == b.end_column &&
         source_file_name(a.file) == source_file_name(b.file);
}
bool Loop::operator==(const Loop&) const = default;
bool Branch::operator==(const Branch&) const = default;

std::string_view name_of(Who who) {
  switch (who) {
    case Who::one: return "one";
    case Who::warp: return "warp";
    case Who::all: return "all";
  }
  return "";
}

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::wait: return "wait";
    case EventKind::arrive: return "arrive";
    case EventKind::expect: return "expect";
    case EventKind::copy: return "copy";
    case EventKind::read: return "read";
    case EventKind::write: return "write";
    case EventKind::mma: return "mma";
    case EventKind::aread: return "aread";
    case EventKind::mma_wait: return "mmawait";
    case EventKind::sync_warp: return "syncwarp";
    case EventKind::sync_role: return "syncrole";
    case EventKind::sync_threads: return "syncthreads";
    case EventKind::increment: return "inc";
    case EventKind::flip: return "flip";
  }
  return "";
}

std::string print(const Protocol& p, const Event& e) {
  return (has_who(e.kind) ? std::string(name_of(e.who)) + " " : "") + std::string(name_of(e.kind)) + arguments(p, e);
}

std::string print(const Protocol& p) {
  std::string out;
  if (!p.kernel.empty()) {
    out += "kernel " + (is_plain_word(p.kernel) && p.kernel != "S" && p.kernel != "bit" && p.kernel != "and"
                            ? p.kernel
                            : quote(p.kernel));
    out += (p.arch.empty() ? "" : " arch " + p.arch) + "\n";
  }
  out += "S " + std::to_string(p.stages) + "\n";
  if (p.params.empty()) out += "param\n";
  for (const Param& q : p.params) {
    out += "param " + q.name + (q.actual ? "=" + std::to_string(*q.actual) : "");
    if (!q.means.empty()) out += " means " + quote(q.means);
    for (size_t i = 0; i < q.generalises.size(); ++i) out += (i ? ", " : " of ") + quote(q.generalises[i]);
    out += "\n";
  }
  for (const Assumption& a : p.assumptions)
    out += "assume " + print(a.condition) + (a.text.empty() ? "" : " because " + quote(a.text)) + loc_text(a.origin) +
           "\n";
  for (const Ring& r : p.rings)
    out += "ring " + r.name + " " + std::to_string(r.slots) + " count " + std::to_string(r.count) + loc_text(r.origin) +
           "\n";
  for (const Buffer& b : p.buffers) out += "buf " + b.name + " " + std::to_string(b.slots) + loc_text(b.origin) + "\n";
  for (const Role& r : p.roles) {
    out += "role " + r.name + " " + std::to_string(r.warps) + "x" + std::to_string(r.lanes);
    out += (r.first_thread >= 0 ? " at " + std::to_string(r.first_thread) : "") + loc_text(r.origin) + "\n";
    print_body(p, r.body, 1, out);
  }
  return out;
}

std::vector<const Event*> events_in(const std::vector<Stmt>& body) {
  std::vector<const Event*> out;
  for (const Stmt& s : body) {
    if (const auto* e = std::get_if<Event>(&s.node)) {
      out.push_back(e);
      continue;
    }
    const auto* l = std::get_if<Loop>(&s.node);
    for (const Event* e : events_in(l ? l->body : std::get<Branch>(s.node).body)) out.push_back(e);
  }
  return out;
}

}  // namespace tc::verify
