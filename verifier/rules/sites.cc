#include "verifier/rules/sites.h"

#include <algorithm>
#include <cassert>

namespace tc::verify {
namespace {
std::vector<Stmt>* inside(Stmt& s) {
  if (auto* l = std::get_if<Loop>(&s.node)) return &l->body;
  if (auto* b = std::get_if<Branch>(&s.node)) return &b->body;
  return nullptr;
}
void collect(const std::vector<Stmt>& body, Site at, std::vector<Site>& out) {
  at.path.push_back(0);
  for (size_t i = 0; i < body.size(); ++i) {
    at.path.back() = i;
    if (const auto* e = std::get_if<Event>(&body[i].node)) {
      out.push_back(at);
      out.back().event = e;
    } else if (const auto* l = std::get_if<Loop>(&body[i].node)) {
      Site inner = at;
      inner.names.insert(inner.names.begin(), l->var);
      collect(l->body, inner, out);
    } else {
      collect(std::get<Branch>(body[i].node).body, at, out);
    }
  }
}
void collect_loops(const std::vector<Stmt>& body, LoopSite at, std::vector<LoopSite>& out) {
  at.path.push_back(0);
  for (size_t i = 0; i < body.size(); ++i) {
    at.path.back() = i;
    const auto* l = std::get_if<Loop>(&body[i].node);
    if (l) {
      out.push_back(at);
      out.back().loop = l;
    }
    if (!std::holds_alternative<Event>(body[i].node))
      collect_loops(l ? l->body : std::get<Branch>(body[i].node).body, at, out);
  }
}
}  // namespace

std::vector<Site> sites_of(const Protocol& p) {
  std::vector<Site> out;
  for (size_t r = 0; r < p.roles.size(); ++r) {
    Site at{.role = r, .path = {}, .event = nullptr, .names = {}};
    for (const Event* e : events_in(p.roles[r].body))
      if (e->kind == EventKind::increment && std::ranges::find(at.names, e->variable) == at.names.end())
        at.names.push_back(e->variable);
    collect(p.roles[r].body, at, out);
  }
  return out;
}
std::vector<Stmt>& body_at(Protocol& p, const Site& s) {
  std::vector<Stmt>* body = &p.roles[s.role].body;
  for (size_t i = 0; i + 1 < s.path.size(); ++i) {
    body = inside((*body)[s.path[i]]);
    assert(body && "a site's path leads through loops and branches");
  }
  return *body;
}
Event& event_at(Protocol& p, const Site& s) { return std::get<Event>(body_at(p, s)[s.path.back()].node); }
void erase_at(Protocol& p, const Site& s) {
  auto& body = body_at(p, s);
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(s.path.back()));
}
void insert_at(Protocol& p, const Site& s, size_t after, Stmt stmt) {
  auto& body = body_at(p, s);
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(s.path.back() + after), std::move(stmt));
}
Stmt* parent_at(Protocol& p, const Site& s) {
  if (s.path.size() < 2) return nullptr;
  std::vector<Stmt>* body = &p.roles[s.role].body;
  for (size_t i = 0; i + 2 < s.path.size(); ++i) body = inside((*body)[s.path[i]]);
  return &(*body)[s.path[s.path.size() - 2]];
}
std::vector<LoopSite> loops_of(const Protocol& p) {
  std::vector<LoopSite> out;
  for (size_t r = 0; r < p.roles.size(); ++r)
    collect_loops(p.roles[r].body, {.role = r, .path = {}, .loop = nullptr}, out);
  return out;
}
Loop& loop_at(Protocol& p, const LoopSite& s) {
  std::vector<Stmt>* body = &p.roles[s.role].body;
  for (size_t i = 0; i + 1 < s.path.size(); ++i) body = inside((*body)[s.path[i]]);
  return std::get<Loop>((*body)[s.path.back()].node);
}
int64_t threads_of(const Protocol& p, const Site& s) {
  const Role& r = p.roles[s.role];
  switch (s.event->who) {
    case Who::one: return 1;
    case Who::warp: return r.warps;
    case Who::all: return r.threads();
  }
  return 0;
}

}  // namespace tc::verify
