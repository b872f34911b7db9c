// Happens-before (obligations 0, 2, 4): is there a path from one event to another, and under which constraints?
// Edges: program order; arrival → completion of its ticket → wait for it; copy issue → copy done → completion;
// completion of ticket t - S → completion of t; into a warp or role barrier of one thread → out of it for all; an mma
// issued by every thread → done → mmawait of any of them.
// The search runs at a concrete point, over *symbolic* instances: the path found there holds wherever all its instances
// exist and its steps keep their direction; those constraints come with it.
//   consumer read(i - 3) → arrive empty(i - 3) → empty#(i - 3) complete → producer wait(i) → copy(i)     where i >= 3
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verifier/proof/schedule.h"

namespace tc::verify {

struct Lane {
  int64_t warp = 0, lane = 0;
  auto operator<=>(const Lane&) const = default;
};

enum class NodeKind : uint8_t {
  happened,  // event `id` of that thread in iteration `vec` has happened (a wait: has returned)
  reached,   // the thread has come to it (a barrier: it stands there; a wait: it starts)
  done,      // the asynchronous operation is complete (mma: of the whole role, no thread)
  complete,  // ticket of a ring is complete
  pending,   // one of the ticket's arrivals is still to come
};
struct Node {
  NodeKind kind = NodeKind::happened;
  int id = -1;
  std::optional<Lane> thread;
  std::vector<Aff> vec;
  int ring = -1;
  Num ticket;
  bool on_ticket() const { return kind == NodeKind::complete || kind == NodeKind::pending; }
  bool operator==(const Node&) const = default;
};
struct Path {
  std::vector<Node> nodes;
  std::vector<Aff> constraints;  // each >= 0 where the path exists
};

class Order {
 public:
  Order(Model& m, Algebra& algebra, const Timing& timing, const Schedule* schedule)
      : m_(m), algebra_(algebra), timing_(timing), schedule_(schedule) {}
  // A shortest path goal → … → target at the point.
  std::optional<Path> search(const Node& target, const Node& goal, const Point& at);
  size_t steps() const { return steps_; }

 private:
  struct Step;
  struct Previous;
  std::vector<Previous> predecessors(const Node& n, const Point& at, const Node& goal);
  void completed_by(const Node& n, const Point& at, const Node& goal, std::vector<Previous>& out);
  void waited_by(const Node& n, const Point& at, const Node& goal, std::vector<Previous>& out);
  std::vector<Lane> crew(int role, const Node& goal, std::optional<Lane> more) const;
  std::optional<std::vector<Aff>> before(int a, const std::vector<Aff>& x, int e, const std::vector<Aff>& y,
                                         const Point& at) const;
  std::vector<std::vector<Aff>> earlier(int a, int e, const std::vector<Aff>& vec, const Point& at,
                                        bool latest_only) const;
  std::optional<std::vector<Aff>> reaches(const Node& n, const Node& goal, const Point& at) const;
  int64_t date(const Node& n, const Point& at) const;
  Model& m_;
  Algebra& algebra_;
  const Timing& timing_;
  const Schedule* schedule_;
  size_t steps_ = 0;
};

std::string text_of(const Model& m, const Node& n);

}  // namespace tc::verify
