#include "sim/check/history.h"

namespace tc::sim {
namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

}  // namespace

void Histories::clear() {
  events_.assign(1, {});
  nodes_.assign(1, {});
  ++generation_;
}

Histories::Numbers Histories::event(const Touch& e) {
  RecentEvent& r = recent_events_[mix(e.place, uint64_t{e.row} << 8 | static_cast<uint64_t>(e.kind)) % kRecentEvents];
  if (r.generation != generation_ || !(r.touch == e)) {
    events_.push_back(e);
    const auto number = static_cast<uint32_t>(events_.size() - 1);
    r = {e, {number, on_top(0, {number, 0, kWholeWord, 0})}, generation_};
  }
  return r.numbers;
}

uint32_t Histories::on_top(uint32_t older, const Entry& e) {
  const uint64_t hash = mix(mix(older, uint64_t{e.event} << 32 | e.lanes), uint64_t{e.bytes} << 8 | e.part);
  RecentNode& r = recent_nodes_[hash % kRecentNodes];
  if (r.generation != generation_ || r.node.older != older || !(r.node.entry == e)) {
    nodes_.push_back({e, older});
    r = {nodes_.back(), static_cast<uint32_t>(nodes_.size() - 1), generation_};
  }
  return r.number;
}

std::vector<uint32_t> Histories::compact(std::vector<bool>& used) {
  for (size_t n = used.size(); n-- > 1;)  // what a kept history stands on is kept; it has a smaller number
    if (used[n]) used[nodes_[n].older] = true;
  std::vector<uint32_t> numbers(nodes_.size(), 0), event_numbers(events_.size(), 0);
  std::vector<Touch> events(1);
  std::vector<Node> nodes(1);
  for (uint32_t n = 1; n < nodes_.size(); ++n) {
    if (!used[n]) continue;
    Node node = nodes_[n];
    uint32_t& event = event_numbers[node.entry.event];
    if (event == 0) {
      event = static_cast<uint32_t>(events.size());
      events.push_back(events_[node.entry.event]);
    }
    node.entry.event = event, node.older = numbers[node.older];
    numbers[n] = static_cast<uint32_t>(nodes.size());
    nodes.push_back(node);
  }
  events_ = std::move(events), nodes_ = std::move(nodes);
  ++generation_;
  return numbers;
}

}  // namespace tc::sim
