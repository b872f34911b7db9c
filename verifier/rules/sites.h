// Where the events of a protocol stand, and edits at such places.
#pragma once
#include <string>
#include <vector>

#include "verifier/protocol/protocol.h"

namespace tc::verify {

struct Site {
  size_t role = 0;
  std::vector<size_t> path;  // indices from the role's body down to the event
  const Event* event = nullptr;
  std::vector<std::string> names;  // loop variables and counters here, innermost first
};
std::vector<Site> sites_of(const Protocol& p);
// The body that holds the statement, and the statement itself.
std::vector<Stmt>& body_at(Protocol& p, const Site& s);
Event& event_at(Protocol& p, const Site& s);
void erase_at(Protocol& p, const Site& s);
void insert_at(Protocol& p, const Site& s, size_t after, Stmt stmt);  // after: 0 before the statement, 1 behind it
// The enclosing statement (one level up), or nullptr at the top.
Stmt* parent_at(Protocol& p, const Site& s);

struct LoopSite {
  size_t role = 0;
  std::vector<size_t> path;
  const Loop* loop = nullptr;
};
std::vector<LoopSite> loops_of(const Protocol& p);
Loop& loop_at(Protocol& p, const LoopSite& s);
// Threads that execute an event.
int64_t threads_of(const Protocol& p, const Site& s);

}  // namespace tc::verify
