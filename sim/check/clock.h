// Vector clocks of a CTA: what an agent knows to have happened.
//   index 0 ... 32W-1         generic accesses of lane l of warp w: 32w + l, in epochs of warp w
//   index 32W ... 64W-1       cp.async of the same lanes, in commit groups
//   index 64W ...             one slot for each further agent: copies tracked by an mbarrier (in phases), bulk groups
//   of a
//                             lane, wgmma groups of a warpgroup; given out as they appear
// `known` is happens-before; `visible` is the part of it that the async proxy sees as well (FENCE-01). Entries that are
// not there are 0. An event of epoch e of agent a is known where known[a] >= e.
#pragma once
#include <cstdint>
#include <vector>

namespace tc::sim {

struct Clock {
  std::vector<uint32_t> known, visible;
};

inline void join(std::vector<uint32_t>& into, const std::vector<uint32_t>& other) {
  if (into.size() < other.size()) into.resize(other.size(), 0);
  for (size_t i = 0; i < other.size(); ++i) into[i] = into[i] < other[i] ? other[i] : into[i];
}
inline void join(Clock& into, const Clock& other) {
  join(into.known, other.known);
  join(into.visible, other.visible);
}
inline uint32_t entry(const std::vector<uint32_t>& v, uint32_t i) { return i < v.size() ? v[i] : 0; }
inline void raise(std::vector<uint32_t>& v, uint32_t i, uint32_t to) {
  if (i >= v.size()) v.resize(i + 1, 0);
  if (v[i] < to) v[i] = to;
}

}  // namespace tc::sim
