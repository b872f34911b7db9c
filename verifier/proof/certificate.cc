#include "verifier/proof/certificate.h"

#include <algorithm>
#include <array>

namespace tc::verify {
namespace {
Linear linear(const Terms& t, const Aff& a) {
  Linear out;
  for (const auto& [s, c] : a.terms()) out.emplace_back(t.definition(s).name, c);
  return out;
}
CertificateNum number(const Terms& t, const Num& n) {
  return {linear(t, n.w), linear(t, n.k), n.K ? linear(t, *n.K) : Linear{}, n.K.has_value()};
}
std::string_view kind_name(NodeKind k) {
  switch (k) {
    case NodeKind::happened: return "happened";
    case NodeKind::reached: return "reached";
    case NodeKind::done: return "done";
    case NodeKind::complete: return "complete";
    case NodeKind::pending: return "pending";
  }
  return "";
}
CertificateNode node(const Terms& t, const Node& n) {
  CertificateNode out;
  out.kind = kind_name(n.kind);
  if (n.on_ticket()) {
    out.ring = n.ring;
    out.ticket = number(t, n.ticket);
    return out;
  }
  out.event = n.id;
  if (n.thread) {
    out.warp = n.thread->warp;
    out.lane = n.thread->lane;
  }
  for (const Aff& a : n.vec) out.vec.push_back(linear(t, a));
  return out;
}
}  // namespace

Certificate make_certificate(const Protocol& p, const Proof& proof) {
  const Model& m = *proof.model;
  Certificate c;
  c.protocol = print(p);
  c.slots = m.slots;
  for (const EventClass& e : m.classes) {
    CertificateEvent x;
    x.text = e.is_mark ? "loop" : m.event_text(e.id);
    if (e.ticket) x.ticket = number(m.terms, *e.ticket);
    if (e.tile) x.tile = number(m.terms, *e.tile);
    x.offsets = proof.schedule->offsets[static_cast<size_t>(e.id)];
    c.events.push_back(std::move(x));
  }
  c.flat = proof.schedule->flat;
  c.outer = proof.schedule->outer;
  for (Sym s : proof.schedule->symbols) c.symbols.push_back(m.terms.definition(s).name);
  c.dependencies = proof.schedule->proofs;
  for (const std::vector<Path>& paths : proof.paths) {
    c.questions.emplace_back();
    for (const Path& path : paths) {
      CertificatePath q;
      for (const Node& n : path.nodes) q.nodes.push_back(node(m.terms, n));
      for (const Aff& a : path.constraints) q.constraints.push_back(linear(m.terms, a));
      c.questions.back().push_back(std::move(q));
    }
  }
  return c;
}

std::vector<std::string> certificate_text(const Model& m, const Proof& proof) {
  const Schedule& s = *proof.schedule;
  std::vector<std::string> out;
  std::string params;
  for (const ModelParam& q : m.params) params += (params.empty() ? "" : ", ") + q.name + " >= 0";
  out.push_back("certificate for " + (params.empty() ? "the one instance" : "all " + params) +
                ": times = " + std::to_string(s.flat) + " * step" +
                (s.outer ? " + " + std::to_string(s.outer) + " * tile" : "") + " + offset");
  for (const EventClass& e : m.classes) {
    if (e.is_mark) continue;
    const std::vector<int64_t>& d = s.offsets[static_cast<size_t>(e.id)];
    Aff offset = d.back();
    for (size_t i = 0; i < s.symbols.size(); ++i) offset.add(Aff::of(s.symbols[i]), d[i]);
    std::string line =
        "  offset " + m.terms.text(offset) + ": " + m.role_of(e.id).name + " '" + m.event_text(e.id) + "'";
    auto text = [&](const Num& n) {
      return (n.K ? "(" + m.terms.text(n.w) + ")*(" + m.terms.text(*n.K) + ") + " : "") + m.terms.text(n.k);
    };
    if (e.ticket) line += ", ticket " + text(*e.ticket);
    if (e.tile) line += ", tile " + text(*e.tile);
    out.push_back(std::move(line));
  }
  size_t questions = 0, paths = 0;
  for (const auto& q : proof.paths) {
    questions += !q.empty();
    paths += q.size();
  }
  out.push_back("  order: " + std::to_string(questions) + " questions by " + std::to_string(paths) +
                " happens-before paths, for example");
  const std::vector<Path>* longest = nullptr;
  for (const auto& q : proof.paths)
    if (!q.empty() && (!longest || q[0].nodes.size() > (*longest)[0].nodes.size())) longest = &q;
  if (longest)
    for (size_t n = 0; n < (*longest)[0].nodes.size(); ++n)
      out.push_back(std::string(n ? "      -> " : "         ") + text_of(m, (*longest)[0].nodes[n]));
  return out;
}

}  // namespace tc::verify
